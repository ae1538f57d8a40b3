// Workers of several processes: which of them are where, and what brings them messages of those of other processes.
// Rank order: by process, then by worker. Cost: not concerned.
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

/// The workers of all processes. Each is a rank.
class Workers {
 public:
  struct WorkerAddress {
    Rank process = 0;
    Rank worker = 0;  // of its process
  };

  /// `counts`: how many each process has.
  explicit Workers(std::span<const Rank> counts) {
    for (const Rank count : counts) {
      const auto process = static_cast<Rank>(first_.size());
      first_.push_back(static_cast<Rank>(places_.size()));
      most_ = std::max(most_, count);
      for (Rank worker = 0; worker < count; ++worker) places_.push_back({process, worker});
    }
    first_.push_back(static_cast<Rank>(places_.size()));
  }

  Rank rank_count() const noexcept { return static_cast<Rank>(places_.size()); }
  Rank process_count() const noexcept { return static_cast<Rank>(first_.size()) - 1; }
  /// The rank of a process's first worker; of process_count(): the number of all workers.
  Rank first(Rank process) const noexcept { return first_[static_cast<std::size_t>(process)]; }
  Rank count(Rank process) const noexcept { return first(process + 1) - first(process); }
  /// The workers of the process that has most of them.
  Rank most() const noexcept { return most_; }
  WorkerAddress place(Rank rank) const noexcept { return places_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<Rank> first_;
  std::vector<WorkerAddress> places_;  // by rank
  Rank most_ = 0;
};

/// What connects this process with others. Its endpoints keep it.
class Outside {
 public:
  Outside() = default;
  virtual ~Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  /// The processes as ranks, for worker 0 of each.
  virtual Transport& processes() noexcept = 0;
  /// Whether several threads of this process may send messages at once; else worker 0's does so for all.
  virtual bool serves_threads() const noexcept = 0;
  /// Whether the processes share cores with each other, or may with others.
  virtual bool shares_cores() const noexcept = 0;
  /// The workers that are on this process's node, if processes there share memory: `own` is its first one, and the
  /// memory has room for mailboxes and posts of all of its workers. Null memory: they do not. Collective, blocks.
  /// Throws std::runtime_error, the same on every process, where it was asked for in vain.
  virtual Neighbourhood share_node(const Workers& /*workers*/, bool /*shares_cores*/) { return {}; }
  /// The last tag of endpoints between such workers. Throws std::runtime_error if there are few.
  virtual std::uint32_t last_tag(const Workers& workers) const = 0;
  /// The end of the worker with this rank, for messages to and from every other; words cannot be added. For any thread.
  /// Throws std::runtime_error as Transport::prepare does.
  virtual std::unique_ptr<Endpoint> prepare(std::shared_ptr<const Workers> workers, Rank rank, HeldTag tag,
                                            std::span<const Bytes> capacities, Ticket tickets, bool shares_cores) = 0;
};

}  // namespace steadfold::transport
