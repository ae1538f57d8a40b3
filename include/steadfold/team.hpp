// Reductions between the threads of a process: every function of group.hpp, plan.hpp, bundle.hpp and started.hpp takes
// a member of a team in place of a communicator. Needs no MPI.
//
//   sf::Team team{threads};
//   // on thread t, of any kind (std::thread, OpenMP, TBB):
//   double s = sf::sum(mine, team[t]);                      // the bits of one thread that has all elements
//   sf::Plan<double> plan(sf::plus, mine.size(), team[t]);  // agreed on once, run often
//
// With mpi.hpp, sf::Team team{comm, threads} is one team of the threads of all ranks.
//
// Workers reduce through shared memory, as ranks do through messages. Header-only over the C functions of
// steadfold_team.h.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

#include "steadfold/steadfold_team.h"

namespace steadfold {

/// A team of workers, one per thread, that reduce with each other. The workers belong to one process or to several;
/// each process has a Team object. The object must outlive the calls of its members; plans may outlive it.
class Team {
 public:
  /// One worker of the team, for one thread at a time. Copies refer to the same worker.
  class Member {
   public:
    /// Return the worker's number, and the number of workers, on this process. group().rank() is the worker's rank
    /// among all workers.
    int worker() const noexcept { return worker_; }
    int size() const noexcept { return sf_team_size(team_); }
    /// Returns the worker's group. The first call on the group waits until every worker has made a call. Throws Error.
    Group group() const {
      sf_group* group = nullptr;
      detail::check(sf_team_group(team_, worker_, &group));
      return Group(group);
    }
    /// Binds the calling thread to the worker's core, as sf_team_bind does. Throws Error.
    void bind() const { detail::check(sf_team_bind(team_, worker_)); }

   private:
    friend class Team;
    Member(sf_team* team, int worker) noexcept : team_(team), worker_(worker) {}
    sf_team* team_;
    int worker_;
  };

  /// Makes a team of the threads of this process. Throws Error unless `workers` is 1 to SF_TEAM_MOST.
  explicit Team(int workers) {
    sf_team* made = nullptr;
    detail::check(sf_team_create(workers, &made));
    team_.reset(made);
  }

  /// Makes one team of the workers of all ranks: `workers` on this rank, numbered after the workers of the lower ranks.
  /// `comm` is a communicator as in mpi.hpp. Collective: one thread of every rank calls the constructor, and one calls
  /// the destructor, before MPI is finalised. Without MPI_THREAD_MULTIPLE worker 0 must be on the thread that may call
  /// MPI. Throws Error, on all ranks alike.
  template <class C>
  Team(const C& comm, int workers) : team_(detail::GroupOf<C>::team(comm, workers)) {}

  /// Returns the number of workers on this process.
  int size() const noexcept { return sf_team_size(team_.get()); }
  /// Sets the longest time that a call waits for other workers, as sf_team_set_timeout does. A call that waits longer
  /// throws Error; after that the team cannot be used any more. Set the timeout before any worker makes a call. Throws
  /// Error.
  template <class Count, class Period>
  void set_timeout(std::chrono::duration<Count, Period> timeout) {
    if (!(timeout >= timeout.zero()))
      throw Error(SF_INVALID_ARGUMENT, "the timeout is negative or NaN (a timeout is at least 0), give 0 for no limit");
    detail::check(sf_team_set_timeout(team_.get(), detail::nanoseconds_of(timeout)));
  }
  /// Returns the worker with number `worker`, counted from 0. If there is no worker with this number, the first use of
  /// the member throws Error.
  Member operator[](int worker) const noexcept { return {team_.get(), worker}; }

 private:
  struct Free {
    void operator()(sf_team* team) const noexcept { sf_team_free(team); }
  };
  std::unique_ptr<sf_team, Free> team_;
};

namespace detail {

template <>
struct GroupOf<Team::Member> : HasGroup {
  static Group group(const Team::Member& member) { return member.group(); }
};

}  // namespace detail

}  // namespace steadfold

#endif
