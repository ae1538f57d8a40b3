#include "transport/mpi_node_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "transport/shared_file.hpp"

namespace steadfold::transport {
namespace {

/// The largest of all ranks' numbers.
int largest(int number, MPI_Comm comm) {
  PMPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm);
  return number;
}

}  // namespace

NodeMemory::NodeMemory(MPI_Comm node, Bytes bytes, MPI_Comm progress)
    : part_bytes_(bytes), progress_(progress), free_(bytes / cache_line) {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(node, &rank);
  PMPI_Comm_size(node, &size);
  rank_ = static_cast<std::size_t>(rank);
  neighbours_ = static_cast<std::size_t>(size);
  SharedFile file;
  if (rank == 0) file = make_shared_file(neighbours_ * bytes);
  PMPI_Bcast(&file, sizeof file, MPI_BYTE, 0, node);
  all_ = mapped(file, rank == 0, neighbours_ * bytes);
  const std::string why = all_ == nullptr ? std::strerror(errno) : "another rank cannot map it";
  const bool is_mapped = largest(all_ == nullptr ? 1 : 0, node) == 0;
  if (rank == 0 && file.descriptor >= 0) close(file.descriptor);
  if (is_mapped) return;
  if (all_ != nullptr) munmap(all_, neighbours_ * bytes);
  throw std::runtime_error("no file of the node's first rank: " + why);
}

NodeMemory::~NodeMemory() { munmap(all_, neighbours_ * part_bytes_); }

void NodeMemory::make_progress() noexcept {
  int is_there = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress_, &is_there, MPI_STATUS_IGNORE);
}

CommonMemory::Place NodeMemory::allocate(Bytes bytes) noexcept {
  const auto first = free_.take(bytes / cache_line);
  if (!first) return no_place;
  std::memset(own(*first * cache_line), 0, bytes);
  return *first * cache_line;
}

void NodeMemory::free(Place place, Bytes bytes) noexcept { free_.give_back(place / cache_line, bytes / cache_line); }

namespace {

/// Which ranks of the group they are.
std::vector<Rank> ranks_of(MPI_Comm node, const MpiTransport& group) {
  int count = 0;
  PMPI_Comm_size(node, &count);
  std::vector<Rank> ranks(static_cast<std::size_t>(count));
  const Rank own = group.rank();
  PMPI_Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, node);
  return ranks;
}

/// The node's memory, if every node of the group gets some; else `why` not.
std::shared_ptr<NodeMemory> memory_of(MPI_Comm node, const MpiTransport& group, Bytes bytes, std::string& why) {
  std::shared_ptr<NodeMemory> made;
  try {
    made = std::make_shared<NodeMemory>(node, bytes, group.quiet_comm());
  } catch (const std::exception& refused) {
    why = refused.what();
  }
  if (largest(made ? 0 : 1, group.comm()) == 0) return made;
  if (why.empty()) why = "another node gets none";
  return nullptr;
}

}  // namespace

NodeOfRank make_node_memory(const MpiTransport& group, Bytes bytes, int color) {
  NodeOfRank made;
  if (group.rank_count() == 1) {
    made.why = "there is one rank";
    return made;
  }
  MPI_Comm node = MPI_COMM_NULL;
  const int error = color < 0 ? PMPI_Comm_split_type(group.comm(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)
                              : PMPI_Comm_split(group.comm(), color, 0, &node);
  if (error != MPI_SUCCESS)
    throw std::runtime_error("ranks of the node not found, see the messages of the MPI library");
  made.among = {.memory = nullptr, .ranks = ranks_of(node, group), .shares_cores = group.shares_cores()};
  const auto own = std::ranges::find(made.among.ranks, group.rank());
  made.among.own = static_cast<std::size_t>(own - made.among.ranks.begin());
  if (largest(static_cast<int>(made.among.ranks.size()), group.comm()) == 1)
    made.why = "every rank is alone on its node";
  else
    made.among.memory = memory_of(node, group, bytes, made.why);
  PMPI_Comm_free(&node);
  return made;
}

}  // namespace steadfold::transport
