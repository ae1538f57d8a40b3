#include "placement.hpp"

#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "command.hpp"
#include "program/shuffle.hpp"

namespace steadfold::command {
namespace {

using order::Bytes;
using order::Rank;
using transport::Topology;

/// A network in which rank i is at the place places[i].
class Placed final : public Topology {
 public:
  Placed(std::unique_ptr<Topology> network, std::vector<Rank> places)
      : network_(std::move(network)), places_(std::move(places)) {}

  double duration(Rank source, Rank target, Bytes bytes) const override {
    return network_->duration(place_of(source), place_of(target), bytes);
  }
  double arrival(Rank source, Rank target, double start, Bytes bytes) override {
    return network_->arrival(place_of(source), place_of(target), start, bytes);
  }
  bool shares_links() const noexcept override { return network_->shares_links(); }

 private:
  Rank place_of(Rank rank) const { return places_[static_cast<std::size_t>(rank)]; }

  std::unique_ptr<Topology> network_;
  std::vector<Rank> places_;
};

/// Returns the places of ranks in turn: rank i is on node i modulo the number of nodes, so some nodes may have an
/// unused place.
std::vector<Rank> dealt_in_turn(Rank rank_count, Rank per_node) {
  const Rank nodes = (rank_count - 1) / per_node + 1;
  std::vector<Rank> places(static_cast<std::size_t>(rank_count));
  for (Rank rank = 0; rank < rank_count; ++rank)
    places[static_cast<std::size_t>(rank)] = rank % nodes * per_node + rank / nodes;
  return places;
}

std::vector<Rank> drawn(Rank rank_count) {
  std::vector<Rank> places(static_cast<std::size_t>(rank_count));
  std::iota(places.begin(), places.end(), 0);
  std::mt19937_64 random(placement_seed);
  shuffle(places, random);
  return places;
}

}  // namespace

void check_placement(const std::string& placement) {
  if (placement != "block" && placement != "round_robin" && placement != "random")
    throw Failure("unknown placement '" + placement +
                  "' (the known placements are block, round_robin and random), choose one of these");
}

std::unique_ptr<Topology> placed(std::unique_ptr<Topology> network, const std::string& placement, Rank rank_count) {
  check_placement(placement);
  if (placement == "block") return network;
  const Rank per_node = network->ranks_per_node();
  return std::make_unique<Placed>(std::move(network),
                                  placement == "random" ? drawn(rank_count) : dealt_in_turn(rank_count, per_node));
}

}  // namespace steadfold::command
