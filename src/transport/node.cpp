#include "transport/node.hpp"

#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

namespace steadfold::transport {
namespace {

class NodeTransport final : public SharedTransport {
 public:
  using Posted = SharedTransport::Posted;

  NodeTransport(std::shared_ptr<Transport> inner, Neighbourhood among, std::unique_ptr<CommonBlocks> notices)
      : SharedTransport(std::move(among), posted_in(*notices)),
        inner_(std::move(inner)),
        notices_(std::move(notices)),
        name_(has_boards() ? "shared" : "shared+" + std::string(inner_->name())) {}

  Rank rank() const noexcept override { return inner_->rank(); }
  Rank rank_count() const noexcept override { return inner_->rank_count(); }
  const char* name() const noexcept override { return name_.c_str(); }
  std::span<const Rank> node_labels() const noexcept override { return inner_->node_labels(); }

  std::optional<std::uint32_t> new_tags(std::uint32_t count) override { return inner_->new_tags(count); }
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) override {
    return prepare_over(inner_->prepare(tag, capacities, tickets), tag, capacities, tickets);
  }
  std::unique_ptr<Endpoint> prepare_in_turn(std::uint32_t tag, std::span<const Bytes> capacities,
                                            Ticket tickets) override {
    return prepare_over(inner_->prepare_in_turn(tag, capacities, tickets), tag, capacities, tickets);
  }
  std::unique_ptr<Endpoint> prepare_apart(std::uint32_t tag, std::span<const Bytes> capacities,
                                          Ticket tickets) override {
    return prepare_over(inner_->prepare_apart(tag, capacities, tickets), tag, capacities, tickets);
  }
  void open_apart() override { inner_->open_apart(); }
  bool opened_apart() override { return inner_->opened_apart(); }
  void connect(bool is_prepared) override {
    post_prepared(is_prepared);
    inner_->connect(is_prepared);
    state_ = Connection::pending;
  }
  /// Once the ranks below are connected, all neighbours have posted what they prepared; it may take a moment to be
  /// seen.
  Connection connected() override {
    if (state_ == Connection::pending) state_ = inner_->connected();
    if (state_ == Connection::pending || !all_have_posted()) return Connection::pending;
    connect_prepared(state_ == Connection::connected);
    return state_;
  }
  void gather(std::span<const std::byte> bytes) override { inner_->gather(bytes); }
  std::optional<Gathered> gathered() override { return inner_->gathered(); }
  void require_usable() const override { inner_->require_usable(); }
  void require_threads() const override { inner_->require_threads(); }

 private:
  static std::vector<Posted*> posted_in(const CommonBlocks& notices) {
    std::vector<Posted*> all;
    for (std::size_t i = 0; i < notices.neighbour_count(); ++i) all.push_back(reinterpret_cast<Posted*>(notices.of(i)));
    return all;
  }

  std::shared_ptr<Transport> inner_;
  std::unique_ptr<CommonBlocks> notices_;
  std::string name_;
  Connection state_ = Connection::pending;
};

}  // namespace

std::unique_ptr<Transport> make_node_transport(std::shared_ptr<Transport> inner, Neighbourhood among) {
  auto notices = std::make_unique<CommonBlocks>(among.memory, sizeof(NodeTransport::Posted));
  if (notices->own() == nullptr)
    throw std::runtime_error(
        "no memory that ranks share (there is none for their notices), set STEADFOLD_TRANSPORT=mpi");
  new (notices->own()) NodeTransport::Posted;
  notices->connect(std::vector(among.ranks.size(), notices->place()));
  return std::make_unique<NodeTransport>(std::move(inner), std::move(among), std::move(notices));
}

}  // namespace steadfold::transport
