// The network between ranks in a predicted machine: how long messages take, and which messages wait for the same links.
// Rank order: ranks are numbered node by node. Cost: O(1) per message; in a fat tree O(levels log links), in a torus
// O(links on the way).
// Source: the LogGP model. Nodes of several ranks are as in Lapillonne & Peltekov 2013.
//
// A message of n bytes occupies a port for gap + n per_byte (for long messages, see LogGP). The first byte takes
// `latency` from port to port. The other bytes follow it through every link and are not stored on the way.
#pragma once

#include <memory>
#include <string_view>

#include "order/index.hpp"

namespace steadfold::transport {

using order::Bytes;
using order::Rank;

/// The costs of a link, in seconds. Leaves out LogGP's overhead of the processor: sends and receives take no processor
/// time.
struct LogGP {
  static constexpr Bytes no_limit = ~Bytes{0};

  double latency = 281e-9;  // Stelz 2022, section 3.1.2, for a message of one element
  double gap = 0;
  double per_byte = 1e-10;
  Bytes eager_limit = no_limit;  // a longer message waits for the receiver's permission
  double rendezvous = 0;         // time of the wait for permission, in which the port is occupied
  Bytes long_from = no_limit;    // bytes of a message from which on long_per_byte holds
  double long_per_byte = 0;      // time per byte beyond long_from, instead of per_byte

  friend constexpr bool operator==(const LogGP&, const LogGP&) = default;

  /// Returns the time that a message takes in addition to its latency and to the transfer of its bytes.
  double start(double bytes) const noexcept {
    return gap + (bytes > static_cast<double>(eager_limit) ? rendezvous : 0);
  }
  /// Returns the time needed to transfer a message's bytes. `bytes` need not be an integer, because it may be an
  /// average.
  double transfer(double bytes) const noexcept {
    const auto limit = static_cast<double>(long_from);
    return bytes > limit ? per_byte * limit + long_per_byte * (bytes - limit) : per_byte * bytes;
  }
  double duration(double bytes) const noexcept { return start(bytes) + transfer(bytes); }
  double duration(Bytes bytes) const noexcept { return duration(static_cast<double>(bytes)); }
};

/// The network of one prediction. The object keeps the state of the network's links.
class Topology {
 public:
  virtual ~Topology() = default;

  /// Returns how long a message occupies a port.
  virtual double duration(Rank source, Rank target, Bytes bytes) const = 0;
  /// Returns the time when the first byte of a message sent at `start` reaches the target's port.
  virtual double arrival(Rank source, Rank target, double start, Bytes bytes) = 0;
  /// Whether messages wait for each other. If so, call `arrival` in the order of `start`.
  virtual bool shares_links() const noexcept { return false; }
  /// Returns the number of contiguous ranks on one node, or below one switch of the lowest level.
  virtual Rank ranks_per_node() const noexcept { return 1; }
};

/// Makes the topology of that name. `link` connects any two ranks, but within a node of a two_level topology `inside`
/// does. The names and their parameters:
///   flat
///     every two ranks are connected by `link`
///   two_level:size=8[:latency=s][:gap=s][:per_byte=s][:links=1]
///     nodes of `size` ranks. latency, gap and per_byte replace the values of `inside`; per_byte holds for messages of
///     all sizes. The ranks of a node share `links` links to other nodes; without `links`, each rank has its own.
///   fat_tree:arity=8[:oversubscription=1][:hop=s]
///     switches with `arity` ranks or switches below. Each level has `oversubscription` times fewer links up than down.
///     A switch above the first level adds `hop`, on the way up and on the way down.
///   torus:sides=4x4x2[:hop=s][:half_duplex=1]
///     a box of places with one rank each; ranks are numbered along the first side first. A link connects neighbours,
///     and the two ends of a line. Each link after the first adds `hop`. The two directions of a half-duplex link
///     share it.
/// Throws std::invalid_argument, as "problem (why), suggestion".
std::unique_ptr<Topology> make_topology(std::string_view text, const LogGP& link, const LogGP& inside, Rank rank_count);
inline std::unique_ptr<Topology> make_topology(std::string_view text, const LogGP& link, Rank rank_count) {
  return make_topology(text, link, link, rank_count);
}

}  // namespace steadfold::transport
