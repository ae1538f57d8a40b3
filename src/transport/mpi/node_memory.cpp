#include "transport/mpi/node_memory.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "transport/shared/file.hpp"

namespace steadfold::transport {
namespace {

/// Returns the largest number of all ranks.
int largest(int number, MPI_Comm comm) {
  PMPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, comm);
  return number;
}

}  // namespace

NodeMemory::NodeMemory(MPI_Comm node, std::span<const Rank> ranks, Bytes bytes, MPI_Comm progress,
                       std::shared_ptr<const void> keeps)
    : progress_(progress), keeps_(std::move(keeps)), free_(0) {
  int process = 0;
  PMPI_Comm_rank(node, &process);
  for (const Rank count : ranks) bytes_ += static_cast<Bytes>(count) * bytes;
  SharedFile file;
  if (process == 0) file = make_shared_file(bytes_);
  PMPI_Bcast(&file, sizeof file, MPI_BYTE, 0, node);
  all_ = mapped(file, process == 0, bytes_);
  const std::string why = all_ == nullptr ? std::strerror(errno) : "another rank cannot map the shared memory";
  const bool is_mapped = largest(all_ == nullptr ? 1 : 0, node) == 0;
  if (process == 0 && file.descriptor >= 0) close(file.descriptor);
  if (!is_mapped) {
    if (all_ != nullptr) munmap(all_, bytes_);
    throw std::runtime_error("the shared file of the node's first rank cannot be opened: " + why);
  }
  std::byte* part = all_;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Bytes part_bytes = static_cast<Bytes>(ranks[i]) * bytes;
    parts_.insert(parts_.end(), static_cast<std::size_t>(ranks[i]), part);
    if (i == static_cast<std::size_t>(process)) {
      own_ = part;
      free_ = FreeParts(part_bytes / cache_line);
    }
    part += part_bytes;
  }
}

NodeMemory::~NodeMemory() { munmap(all_, bytes_); }

void NodeMemory::make_progress() noexcept {
  int is_there = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, progress_, &is_there, MPI_STATUS_IGNORE);
}

CommonMemory::BlockId NodeMemory::allocate(Bytes bytes) noexcept {
  const auto first = free_.take(bytes / cache_line);
  if (!first) return no_block;
  std::memset(own(*first * cache_line), 0, bytes);
  return *first * cache_line;
}

void NodeMemory::free(BlockId block, Bytes bytes) noexcept { free_.give_back(block / cache_line, bytes / cache_line); }

namespace {

/// Returns the ranks of the node's processes in the group.
std::vector<Rank> processes_of(MPI_Comm node, const MpiTransport& group) {
  int count = 0;
  PMPI_Comm_size(node, &count);
  std::vector<Rank> processes(static_cast<std::size_t>(count));
  const Rank own = group.rank();
  PMPI_Allgather(&own, 1, MPI_INT, processes.data(), 1, MPI_INT, node);
  return processes;
}

/// Makes the node's memory, if every node of the group can have it. If not, `why` receives the reason.
std::shared_ptr<NodeMemory> memory_of(MPI_Comm node, std::span<const Rank> ranks, const MpiTransport& group,
                                      const NodeSettings& settings, std::string& why) {
  std::shared_ptr<NodeMemory> made;
  try {
    made = std::make_shared<NodeMemory>(node, ranks, settings.bytes, group.quiet_comm(), settings.keeps);
  } catch (const std::exception& refused) {
    why = refused.what();
  }
  if (largest(made ? 0 : 1, group.comm()) == 0) return made;
  if (why.empty()) why = "another node gets no shared memory";
  return nullptr;
}

}  // namespace

NodeOfRank make_node_memory(const MpiTransport& group, const NodeSettings& settings) {
  const std::vector<Rank> each_one(static_cast<std::size_t>(group.rank_count()), 1);
  return make_node_memory(group, Workers(each_one), group.shares_cores(), settings);
}

NodeOfRank make_node_memory(const MpiTransport& group, const Workers& workers, bool shares_cores,
                            const NodeSettings& settings) {
  NodeOfRank made;
  if (group.rank_count() == 1) {
    made.why = "there is only one rank";
    return made;
  }
  MPI_Comm node = MPI_COMM_NULL;
  const int error = settings.color < 0
                        ? PMPI_Comm_split_type(group.comm(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node)
                        : PMPI_Comm_split(group.comm(), settings.color, 0, &node);
  if (error != MPI_SUCCESS)
    throw std::runtime_error(
        "the ranks of the node cannot be determined (the MPI library reports an error), see the messages of the MPI "
        "library");
  const std::vector<Rank> processes = processes_of(node, group);
  std::vector<Rank> counts;
  for (const Rank process : processes) {
    counts.push_back(workers.count(process));
    if (process == group.rank()) made.among.own = made.among.ranks.size();
    for (Rank rank = workers.first(process); rank < workers.first(process + 1); ++rank)
      made.among.ranks.push_back(rank);
  }
  made.among.shares_cores = shares_cores;
  if (largest(static_cast<int>(processes.size()), group.comm()) == 1)
    made.why = "every rank is alone on its node";
  else
    made.among.memory = memory_of(node, counts, group, settings, made.why);
  PMPI_Comm_free(&node);
  return made;
}

}  // namespace steadfold::transport
