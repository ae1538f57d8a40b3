// The transport `rma`: one-sided writes with notifications, like GASPI. Small messages are written into a window of the
// group, where their target reads them. Large messages, messages in two parts, sums and set-up go through the two-sided
// transport.
// Rank order: messages through lanes between two ranks arrive in the order of `put`, and so do two-sided messages; but
// a message of one kind may overtake a message of the other. Cost: see lanes.hpp. Source: End et al.
//
// Whether a message goes through a lane follows from its slot and its number of parts, which both of its ranks know.
// Lanes lead to a slot if it is one of the first 64 and no larger than `RmaSettings::largest`. If the window of any
// rank has no room left for an endpoint, all messages of the endpoint are two-sided.
//
// Words of a window are reused when no rank can still write them: every rank has destroyed its endpoint, all its sent
// messages have been taken, and all credits for them have arrived. Ranks tell each other so when they connect. If an
// endpoint was destroyed with open communications, its words are never reused.
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

/// Destroy the endpoints of this transport before the transport. The window lives until `Window::end`, or until MPI
/// ends.
class RmaTransport final : public ForwardingTransport {
 public:
  RmaTransport(std::shared_ptr<MpiTransport> inner, std::shared_ptr<Window> window, const RmaSettings& settings);

  const char* name() const noexcept override { return "rma"; }
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  /// Starts one MPI_Iallgather of 288 bytes per rank. Only the first nine prepared endpoints get lanes.
  void connect(bool is_prepared) override;
  Connection connected() override;

  /// Records that the endpoint of these lanes is destroyed. Any thread may call this function. `is_idle` says that the
  /// lanes have no open communications.
  void rest(Lanes& lanes, bool is_idle) noexcept;

 private:
  // Largest number of endpoints whose lanes one connection connects; a new group has so many.
  static constexpr std::size_t most_ends = 9;
  static constexpr std::size_t most_settled = 8;
  /// The notice that a rank gives to all others when it connects.
  struct ConnectNotice {
    std::uint32_t is_prepared = 0;
    std::uint32_t settled_count = 0;
    std::array<std::uint64_t, most_settled> settled = {};  // serials of lanes that have settled on this rank
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
  // Lanes prepared since the last connection, by tag.
  std::vector<std::pair<std::uint32_t, std::shared_ptr<Lanes>>> prepared_;
  std::uint64_t connections_ = 0;
  ConnectNotice mine_;
  std::vector<ConnectNotice> notices_;  // notices of all ranks, by rank
  MPI_Request connecting_ = MPI_REQUEST_NULL;
  std::map<std::uint64_t, Rank> settled_;  // number of ranks on which the lanes have settled, by serial
  std::mutex mutex_;                       // guards the following member
  // Lanes of living endpoints, and of destroyed endpoints that have not settled.
  std::vector<std::shared_ptr<Lanes>> lanes_;
};

/// The transport that rank 0's STEADFOLD_TRANSPORT asks for.
enum class TransportChoice : std::uint8_t { automatic, messages, shared, rma };
struct AskedTransport {
  TransportChoice way = TransportChoice::automatic;
  Reads reads = Reads::atomically;
};
/// Reads rank 0's STEADFOLD_TRANSPORT. Collective. Throws std::runtime_error on every rank if the value is unknown.
AskedTransport asked_transport(const MpiTransport& transport);

}  // namespace steadfold::transport
