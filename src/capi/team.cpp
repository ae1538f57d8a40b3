// The C functions of teams: workers of one process become groups over memory that all of them see.
// Cost: sf_team_group is a look at a flag, some nanoseconds. Source: [S2].
#include "steadfold/steadfold_team.h"

#include <atomic>
#include <vector>

#include "capi/boundary.hpp"
#include "capi/handles.hpp"
#include "transport/shared.hpp"

using steadfold::Status;
using steadfold::agreement::Failure;
using steadfold::capi::guarded;
using steadfold::capi::require_place;

struct sf_team final {
  enum class State : std::uint8_t { idle, in_making, made };
  struct Worker {
    std::unique_ptr<steadfold::transport::Transport> transport;
    std::unique_ptr<sf_group> group;
    std::atomic<State> state = State::idle;
  };

  explicit sf_team(std::int32_t count) : workers(static_cast<std::size_t>(count)) {
    const bool shares_cores = static_cast<unsigned>(count) > steadfold::transport::usable_cores();
    auto transports = steadfold::transport::make_shared_transports(count, shares_cores);
    for (std::size_t i = 0; i < workers.size(); ++i) workers[i].transport = std::move(transports[i]);
  }

  std::vector<Worker> workers;
};

namespace {

sf_team::Worker& require(sf_team* team, std::int32_t worker) {
  if (team == nullptr)
    throw Failure(Status::invalid_argument, "no team (the pointer is null), make one with sf_team_create");
  if (worker < 0 || static_cast<std::size_t>(worker) >= team->workers.size())
    throw Failure(Status::invalid_argument, "worker " + std::to_string(worker) + " (the team has " +
                                                std::to_string(team->workers.size()) +
                                                "), count from 0 and make a team of as many as there are threads");
  return team->workers[static_cast<std::size_t>(worker)];
}

/// Waits for the other workers.
void make_group(sf_team::Worker& worker) {
  auto found = sf_team::State::idle;
  if (!worker.state.compare_exchange_strong(found, sf_team::State::in_making, std::memory_order_relaxed))
    throw Failure(Status::invalid_argument,
                  "the worker is in use by another thread (it waits there for the rest of its team), give every thread "
                  "a worker of its own");
  try {
    if (worker.transport == nullptr)
      throw Failure(Status::invalid_argument, "the team is unusable (it could not be set up), make another one");
    worker.group = std::make_unique<sf_group>(std::move(worker.transport), steadfold::capi::of_a_worker);
  } catch (...) {
    worker.state.store(sf_team::State::idle, std::memory_order_relaxed);
    throw;
  }
  worker.state.store(sf_team::State::made, std::memory_order_release);
}

}  // namespace

extern "C" {

sf_status sf_team_create(int32_t workers, sf_team** team) {
  return guarded([&] {
    require_place(team, "the team");
    if (workers < 1 || workers > SF_TEAM_MOST)
      throw Failure(Status::invalid_argument, "a team of " + std::to_string(workers) + " workers (there may be 1 to " +
                                                  std::to_string(SF_TEAM_MOST) + "), give one per thread");
    *team = new sf_team(workers);
  });
}

int32_t sf_team_size(const sf_team* team) { return team == nullptr ? -1 : static_cast<int32_t>(team->workers.size()); }

sf_status sf_team_group(sf_team* team, int32_t worker, sf_group** group) {
  return guarded([&] {
    sf_team::Worker& asked = require(team, worker);
    if (asked.state.load(std::memory_order_acquire) != sf_team::State::made) make_group(asked);
    require_place(group, "the group");
    *group = asked.group.get();
  });
}

void sf_team_free(sf_team* team) {
  if (team == nullptr) return;
  for (sf_team::Worker& worker : team->workers) steadfold::capi::end(worker.group.release());
  delete team;
}
}
