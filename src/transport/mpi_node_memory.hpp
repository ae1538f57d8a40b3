// Memory that the ranks of a node share: each has a part of it, and all see all parts.
// Cost: a communicator's first use makes it, by a few calls of MPI within the node; pages are there once blocks are
// taken. Source: ours.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/common_memory.hpp"
#include "transport/free_parts.hpp"
#include "transport/mpi.hpp"

namespace steadfold::transport {

inline constexpr Bytes default_node_bytes = Bytes{4} << 20;  // of every rank's part

/// A file without a name, which the first rank of the node makes and all of them map: nothing of MPI has to be freed
/// for it, no rank waits for others when it goes, and nothing stays behind, however the ranks end.
class NodeMemory final : public CommonMemory {
 public:
  /// Collective over `node`, whose ranks are on one node; blocks. `bytes` per rank, a multiple of a page. Throws
  /// std::runtime_error on every rank of it if some rank cannot map the file. `progress`: a communicator over which
  /// no message is sent, which lives as long as anybody waits here.
  NodeMemory(MPI_Comm node, Bytes bytes, MPI_Comm progress);
  ~NodeMemory() override;
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  std::size_t neighbour_count() const noexcept override { return neighbours_; }
  std::byte* at(std::size_t neighbour, Place place) const noexcept override {
    return all_ + neighbour * part_bytes_ + place;
  }
  std::byte* own(Place place) const noexcept override { return at(rank_, place); }
  bool is_one_process() const noexcept override { return false; }
  void make_progress() noexcept override;

 private:
  Place allocate(Bytes bytes) noexcept override;
  void free(Place place, Bytes bytes) noexcept override;

  Bytes part_bytes_;
  MPI_Comm progress_;
  std::size_t neighbours_ = 0;
  std::size_t rank_ = 0;  // among them
  std::byte* all_ = nullptr;
  FreeParts free_;  // cache lines of this rank's part
};

/// The ranks of the group that are on this rank's node, and their memory: null if some node gets none, or no two ranks
/// share one; then `why`. `color` says which ranks are on one node, or the MPI library if it is negative. Collective
/// over `group`, blocks.
struct NodeOfRank {
  Neighbourhood among;
  std::string why;
};
NodeOfRank make_node_memory(const MpiTransport& group, Bytes bytes = default_node_bytes, int color = -1);

}  // namespace steadfold::transport
