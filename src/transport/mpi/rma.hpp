// The transport `rma`: one-sided and notified, as GASPI is. Small messages are written into a window of the group and
// read there by their target; large ones, those in two parts, sums and set-up go through the two-sided transport.
// Rank order: messages between two ranks that pass through lanes arrive in the order put, and so do all others; but one
// kind may overtake the other. Cost: see lanes.hpp. Source: [S4], ours.
//
// Which way a message goes follows from its slot and its number of parts, which both of its ranks know: a slot that is
// one of the first 64 and no larger than `RmaSettings::largest` is reached through lanes. If the window of any rank has
// no room left for an endpoint, all of its messages are two-sided.
//
// Words of a window are handed out again when nobody can still write them: every rank has destroyed its end, all that
// it sent has been taken out, and all credits for it have come. Ranks tell each other so when they connect. Those of an
// end that was destroyed with communications open are never handed out again.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/forwarding.hpp"
#include "transport/mpi/lanes.hpp"
#include "transport/mpi/mpi.hpp"

namespace steadfold::transport {

/// Destroy its endpoints before it. The window outlives it until `Window::end`, or until MPI ends.
class RmaTransport final : public ForwardingTransport {
 public:
  RmaTransport(std::shared_ptr<MpiTransport> inner, std::shared_ptr<Window> window, const RmaSettings& settings);

  const char* name() const noexcept override { return "rma"; }
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  /// One MPI_Iallgather of 288 bytes per rank. Only the first nine endpoints that were prepared get lanes.
  void connect(bool is_prepared) override;
  Connection connected() override;

  /// The endpoint of these lanes is destroyed. Any thread may call it. `is_idle`: nothing is open in them.
  void rest(Lanes& lanes, bool is_idle) noexcept;

 private:
  static constexpr std::size_t most_ends = 9;  // those of a new group
  static constexpr std::size_t most_settled = 8;
  /// What a rank tells the others when it connects.
  struct ConnectNotice {
    std::uint32_t is_prepared = 0;
    std::uint32_t settled_count = 0;
    std::array<std::uint64_t, most_settled> settled = {};  // serials of lanes
    std::array<LaneNotice, most_ends> ends = {};
  };
  static_assert(sizeof(ConnectNotice) == 288);

  std::unique_ptr<Endpoint> prepare_over(std::unique_ptr<Endpoint> inner, std::uint32_t tag,
                                         std::span<const Bytes> capacities, Ticket tickets);
  void connect_lanes(std::size_t end);
  void take_back_settled();

  std::shared_ptr<MpiTransport> two_sided_;
  std::shared_ptr<Window> window_;
  RmaSettings settings_;
  std::vector<std::pair<std::uint32_t, std::shared_ptr<Lanes>>> prepared_;  // by tag; since the last connection
  std::uint64_t connections_ = 0;
  ConnectNotice mine_;
  std::vector<ConnectNotice> notices_;  // by rank
  MPI_Request connecting_ = MPI_REQUEST_NULL;
  std::map<std::uint64_t, Rank> settled_;      // on how many ranks, by serial
  std::mutex mutex_;                           // guards what follows
  std::vector<std::shared_ptr<Lanes>> lanes_;  // of endpoints that live, and of those gone that have not settled
};

/// What STEADFOLD_TRANSPORT of rank 0 asks for.
enum class TransportChoice : std::uint8_t { automatic, messages, shared, rma };
struct AskedTransport {
  TransportChoice way = TransportChoice::automatic;
  Reads reads = Reads::atomically;
};
/// Collective. Throws std::runtime_error on every rank if it asks for something unknown.
AskedTransport asked_transport(const MpiTransport& transport);

}  // namespace steadfold::transport
