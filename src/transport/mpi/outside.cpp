#include "transport/mpi/outside.hpp"

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/mpi/mpi.hpp"
#include "transport/mpi/node_memory.hpp"
#include "transport/mpi/rma.hpp"

namespace steadfold::transport {
namespace {

class MpiOutside final : public Outside, public std::enable_shared_from_this<MpiOutside> {
 public:
  explicit MpiOutside(MPI_Comm comm) : processes_(comm) {}

  Transport& processes() noexcept override { return processes_; }

  bool serves_threads() const noexcept override {
    int provided = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&provided);
    return provided >= MPI_THREAD_MULTIPLE;
  }

  bool shares_cores() const noexcept override { return processes_.shares_cores(); }

  /// Makes the node's memory as STEADFOLD_TRANSPORT asks. Windows do not connect workers, so with `rma` workers send
  /// messages.
  Neighbourhood share_node(const Workers& workers, bool shares_cores) override {
    const AskedTransport asked = asked_transport(processes_);
    if (asked.way == TransportChoice::messages || asked.way == TransportChoice::rma) return {};
    const NodeOfRank node = make_node_memory(processes_, workers, shares_cores, {.keeps = shared_from_this()});
    if (node.among.memory == nullptr && asked.way == TransportChoice::shared)
      throw std::runtime_error("transport shared cannot be used (" + node.why + "), set STEADFOLD_TRANSPORT=mpi");
    return node.among;
  }

  std::uint32_t last_tag(const Workers& workers) const override {
    const std::uint64_t endpoints = (std::uint64_t{MpiTransport::last_tag()} + 1) / pairs(workers);
    if (endpoints >= least_endpoints) return static_cast<std::uint32_t>(endpoints - 1);
    throw std::runtime_error("no team is possible with " + std::to_string(workers.most()) +
                             " workers per rank (the MPI library's tags end at " +
                             std::to_string(MpiTransport::last_tag()) + ", and every pair of workers needs " +
                             std::to_string(least_endpoints) + " tags), use fewer workers");
  }

  std::unique_ptr<Endpoint> prepare(std::shared_ptr<const Workers> workers, Rank rank, HeldTag tag,
                                    std::span<const Bytes> capacities, Ticket tickets, bool shares_cores) override try {
    return make_mpi_endpoint({.messages = processes_.comm(), .words = MPI_COMM_NULL, .owns = shared_from_this()},
                             {.workers = std::move(workers), .own = rank}, std::move(tag), capacities, tickets,
                             shares_cores);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for messages (a run needs " + std::to_string(tickets) +
                             " messages on this worker), use fewer segments");
  }

 private:
  // Number of endpoints that is enough for a new group and the plans that it keeps.
  static constexpr std::uint64_t least_endpoints = 256;

  static std::uint64_t pairs(const Workers& workers) noexcept {
    return static_cast<std::uint64_t>(workers.most()) * static_cast<std::uint64_t>(workers.most());
  }

  MpiTransport processes_;
};

}  // namespace

std::shared_ptr<Outside> make_mpi_outside(MPI_Comm comm) { return std::make_shared<MpiOutside>(comm); }

}  // namespace steadfold::transport
