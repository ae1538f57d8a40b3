// Memory that the ranks of a node share: each process has a part of it, and all processes see all parts.
// Cost: a communicator's first use makes the memory, with a few MPI calls within the node. Pages occupy memory only
// after blocks are taken.
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

inline constexpr Bytes default_node_bytes = Bytes{16} << 20;  // bytes per rank

/// Memory in a file without a name. The first rank of the node makes the file, and all processes map it. The file needs
/// no MPI resources. No communication is needed to free the memory. The system removes the file however the processes
/// end.
class NodeMemory final : public CommonMemory {
 public:
  /// Makes the memory. Collective over `node`, whose processes are on one node. Blocks until all processes have called.
  /// `ranks` has the number of ranks of each process. `bytes` is the number of bytes per rank, a multiple of a page. If
  /// a process cannot map the file, throws std::runtime_error on every process. `progress` is a communicator without
  /// messages. The communicator must live as long as a rank waits for memory of this object, or `keeps` must keep it
  /// alive.
  NodeMemory(MPI_Comm node, std::span<const Rank> ranks, Bytes bytes, MPI_Comm progress,
             std::shared_ptr<const void> keeps);
  ~NodeMemory() override;
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  std::size_t neighbour_count() const noexcept override { return parts_.size(); }
  std::byte* at(std::size_t neighbour, BlockId block) const noexcept override { return parts_[neighbour] + block; }
  std::byte* own(BlockId block) const noexcept override { return own_ + block; }
  bool is_one_process() const noexcept override { return false; }
  void make_progress() noexcept override;

 private:
  BlockId allocate(Bytes bytes) noexcept override;
  void free(BlockId block, Bytes bytes) noexcept override;

  MPI_Comm progress_;
  std::shared_ptr<const void> keeps_;
  Bytes bytes_ = 0;  // bytes of the parts of all processes
  std::byte* all_ = nullptr;
  std::byte* own_ = nullptr;       // the part of this process
  std::vector<std::byte*> parts_;  // by neighbour: the part of the neighbour's process
  FreeParts free_;                 // free cache lines of this process's part
};

/// The ranks that share memory on this process's node. The memory is null if a node has no shared memory, or if no two
/// processes share a node; then `why` has the reason.
struct NodeOfRank {
  Neighbourhood among;
  std::string why;
};
/// The properties of a node's memory.
struct NodeSettings {
  Bytes bytes = default_node_bytes;        // bytes per rank
  int color = -1;                          // processes with equal colours are on one node; negative: as MPI reports
  std::shared_ptr<const void> keeps = {};  // an object that the memory keeps alive
};
/// Makes the nodes' memory for a group. Its ranks are processes, or workers of processes. Collective over `group`.
/// Blocks until all processes have called.
NodeOfRank make_node_memory(const MpiTransport& group, const NodeSettings& settings = {});
NodeOfRank make_node_memory(const MpiTransport& group, const Workers& workers, bool shares_cores,
                            const NodeSettings& settings = {});

}  // namespace steadfold::transport
