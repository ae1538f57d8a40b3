// Workers (threads that are ranks) of several processes: which process each worker belongs to, and how messages reach
// the workers of other processes.
// Rank order: ranks are numbered by process, then by worker.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/shared/common_memory.hpp"
#include "transport/tags.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// The workers of all processes. Each worker is a rank.
class Workers {
 public:
  struct WorkerAddress {
    Rank process = 0;
    Rank worker = 0;  // number of the worker within its process
  };

  /// `counts` has the number of workers of each process.
  explicit Workers(std::span<const Rank> counts) {
    for (const Rank count : counts) {
      const auto process = static_cast<Rank>(first_.size());
      first_.push_back(static_cast<Rank>(addresses_.size()));
      most_ = std::max(most_, count);
      for (Rank worker = 0; worker < count; ++worker) addresses_.push_back({process, worker});
    }
    first_.push_back(static_cast<Rank>(addresses_.size()));
  }

  Rank rank_count() const noexcept { return static_cast<Rank>(addresses_.size()); }
  Rank process_count() const noexcept { return static_cast<Rank>(first_.size()) - 1; }
  /// Returns the rank of a process's first worker; for process_count(), the number of all workers.
  Rank first(Rank process) const noexcept { return first_[static_cast<std::size_t>(process)]; }
  Rank count(Rank process) const noexcept { return first(process + 1) - first(process); }
  /// Returns the number of workers of the process that has most workers.
  Rank most() const noexcept { return most_; }
  WorkerAddress address(Rank rank) const noexcept { return addresses_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<Rank> first_;
  std::vector<WorkerAddress> addresses_;  // by rank: process and worker
  Rank most_ = 0;
};

/// Connects this process with other processes. The endpoints that it prepares keep it alive.
class Outside {
 public:
  Outside() = default;
  virtual ~Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  /// Returns a transport whose ranks are the processes. Only worker 0 of each process uses this transport.
  virtual Transport& processes() noexcept = 0;
  /// Whether several threads of this process may send messages at once. If not, worker 0 sends the messages of all
  /// workers.
  virtual bool serves_threads() const noexcept = 0;
  /// Whether the processes share cores, or may share them.
  virtual bool shares_cores() const noexcept = 0;
  /// Makes memory for the workers on this process's node, if its processes can share memory, and returns these workers.
  /// `own` is the first worker of this process. The memory has room for the mailboxes and the posts of all workers. The
  /// memory is null if the processes do not share it. Collective and blocking. If STEADFOLD_TRANSPORT requires shared
  /// memory and there is none, throws the same std::runtime_error on every process.
  virtual Neighbourhood share_node(const Workers& /*workers*/, bool /*shares_cores*/) { return {}; }
  /// Returns the last tag for endpoints between these workers. Throws std::runtime_error if there are too few tags.
  virtual std::uint32_t last_tag(const Workers& workers) const = 0;
  /// Prepares the endpoint of the worker with the rank `rank`, for messages to and from all other workers. The endpoint
  /// cannot add words. Any thread may call this function. Throws std::runtime_error as Transport::prepare does.
  virtual std::unique_ptr<Endpoint> prepare(std::shared_ptr<const Workers> workers, Rank rank, HeldTag tag,
                                            std::span<const Bytes> capacities, Ticket tickets, bool shares_cores) = 0;
};

}  // namespace steadfold::transport
