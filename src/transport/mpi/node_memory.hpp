// Memory that the ranks of a node share: each process has a part of it, and all see all parts.
// Cost: a communicator's first use makes it, by a few calls of MPI within the node; pages are there once blocks are
// taken.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transport/free_parts.hpp"
#include "transport/mpi/mpi.hpp"
#include "transport/outside.hpp"
#include "transport/shared/common_memory.hpp"

namespace steadfold::transport {

inline constexpr Bytes default_node_bytes = Bytes{16} << 20;  // for every rank

/// A file without a name, which the first rank of the node makes and all of them map: nothing of MPI has to be freed
/// for it, no rank waits for others when it goes, and nothing stays behind, however the ranks end.
class NodeMemory final : public CommonMemory {
 public:
  /// Collective over `node`, whose processes are on one node; blocks. `ranks`: how many ranks each of them is. `bytes`
  /// per rank, a multiple of a page. Throws std::runtime_error on every process of it if one cannot map the file.
  /// `progress`: a communicator over which no message is sent, which lives as long as anybody waits here, or as
  /// `keeps`.
  NodeMemory(MPI_Comm node, std::span<const Rank> ranks, Bytes bytes, MPI_Comm progress,
             std::shared_ptr<const void> keeps);
  ~NodeMemory() override;
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  std::size_t neighbour_count() const noexcept override { return parts_.size(); }
  std::byte* at(std::size_t neighbour, Place place) const noexcept override { return parts_[neighbour] + place; }
  std::byte* own(Place place) const noexcept override { return own_ + place; }
  bool is_one_process() const noexcept override { return false; }
  void make_progress() noexcept override;

 private:
  Place allocate(Bytes bytes) noexcept override;
  void free(Place place, Bytes bytes) noexcept override;

  MPI_Comm progress_;
  std::shared_ptr<const void> keeps_;
  Bytes bytes_ = 0;  // of all parts
  std::byte* all_ = nullptr;
  std::byte* own_ = nullptr;       // this process's part
  std::vector<std::byte*> parts_;  // by neighbour, that of its process
  FreeParts free_;                 // cache lines of this process's part
};

/// Who shares memory on this process's node. The memory is null if some node gets none, or no two processes share a
/// node; then `why`.
struct NodeOfRank {
  Neighbourhood among;
  std::string why;
};
/// How the memory is to be.
struct NodeSettings {
  Bytes bytes = default_node_bytes;        // for every rank
  int color = -1;                          // processes with equal ones are on one node; negative: as MPI says
  std::shared_ptr<const void> keeps = {};  // what the memory keeps
};
/// The group's processes are its ranks, or each is some workers, which are the ranks then. Collective over `group`,
/// blocks.
NodeOfRank make_node_memory(const MpiTransport& group, const NodeSettings& settings = {});
NodeOfRank make_node_memory(const MpiTransport& group, const Workers& workers, bool shares_cores,
                            const NodeSettings& settings = {});

}  // namespace steadfold::transport
