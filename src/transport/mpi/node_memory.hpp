// Memory that the ranks of a node share: each process has a part of it, and all processes see all parts.
// Cost: a communicator's first use makes the memory, with a few MPI calls within the node. Pages take memory once
// blocks are taken.
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

inline constexpr Bytes default_node_bytes = Bytes{16} << 20;  // per rank

/// A file without a name, which the first rank of the node makes and all processes map. The file needs no MPI
/// resources. Freeing it needs no communication. The system removes the file however the processes end.
class NodeMemory final : public CommonMemory {
 public:
  /// Collective over `node`, whose processes are on one node. Blocks until all have called. `ranks`: the number of
  /// ranks of each process. `bytes` per rank, a multiple of a page. If a process cannot map the file, throws
  /// std::runtime_error on every process. `progress`: a communicator without messages. It must live as long as a rank
  /// waits here, or `keeps` must keep it alive.
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
  Bytes bytes_ = 0;  // bytes of all parts
  std::byte* all_ = nullptr;
  std::byte* own_ = nullptr;       // this process's part
  std::vector<std::byte*> parts_;  // by neighbour: the part of its process
  FreeParts free_;                 // in cache lines of this process's part
};

/// The ranks that share memory on this process's node. The memory is null if some node gets none, or if no two
/// processes share a node; then `why` has the reason.
struct NodeOfRank {
  Neighbourhood among;
  std::string why;
};
/// The properties of the memory to make.
struct NodeSettings {
  Bytes bytes = default_node_bytes;        // per rank
  int color = -1;                          // processes with equal colours are on one node; negative: as MPI reports
  std::shared_ptr<const void> keeps = {};  // an object that the memory keeps alive
};
/// Makes the memory for a group whose processes are the ranks, or whose processes have the ranks as workers. Collective
/// over `group`. Blocks until all have called.
NodeOfRank make_node_memory(const MpiTransport& group, const NodeSettings& settings = {});
NodeOfRank make_node_memory(const MpiTransport& group, const Workers& workers, bool shares_cores,
                            const NodeSettings& settings = {});

}  // namespace steadfold::transport
