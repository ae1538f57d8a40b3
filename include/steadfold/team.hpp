// Steadfold between the threads of a process: every function of group.hpp, plan.hpp, bundle.hpp and
// started.hpp takes a member of a team where it takes a communicator. Needs no MPI.
//
//   sf::Team team{threads};
//   // on thread t, of any kind (std::thread, OpenMP, TBB):
//   double s = sf::sum(mine, team[t]);                      // the bits of one thread that has all elements
//   sf::Plan<double> plan(sf::plus, mine.size(), team[t]);  // agreed on once, run often
//
// With mpi.hpp, sf::Team team{comm, threads} is one team of the threads of all ranks.
//
// Workers reduce through cache lines, as ranks do through messages. Header-only over the C functions of
// steadfold_team.h.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 201703L

#include "steadfold/steadfold_team.h"

namespace steadfold {

/// Workers, one per thread, that reduce with each other: those of a process, or of several, of which each has its own
/// object. It must outlive the calls of its members; plans may outlive it.
class Team {
 public:
  /// One worker, for one thread at a time. Copies are the same worker.
  class Member {
   public:
    /// The worker's number, and how many there are, on this process. Its group knows its rank among all.
    int worker() const noexcept { return worker_; }
    int size() const noexcept { return sf_team_size(team_); }
    /// Its group. The first call on it waits until every worker has made one. Throws Error.
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

  /// Throws Error unless there are 1 to SF_TEAM_MOST workers.
  explicit Team(int workers) {
    sf_team* made = nullptr;
    detail::check(sf_team_create(workers, &made));
    team_.reset(made);
  }

  /// One team of the workers of all ranks: `workers` on this one, after those of the ranks before it. `comm`: what
  /// mpi.hpp says a communicator is. Collective, for one thread of every rank; it ends in the same way, before
  /// MPI does. Without MPI_THREAD_MULTIPLE worker 0 has to be on the thread that may call MPI. Throws Error, on all
  /// ranks alike.
  template <class C>
  Team(const C& comm, int workers) : team_(detail::GroupOf<C>::team(comm, workers)) {}

  /// How many workers there are on this process.
  int size() const noexcept { return sf_team_size(team_.get()); }
  /// The longest that a call may wait for other workers, as sf_team_set_timeout has it: what lasts longer ends in
  /// Error, and the team is of no more use. To be set before any worker makes a call. Throws Error.
  template <class Count, class Period>
  void set_timeout(std::chrono::duration<Count, Period> timeout) {
    if (!(timeout >= timeout.zero()))
      throw Error(SF_INVALID_ARGUMENT, "a timeout below zero, or no number (it is at least 0), give 0 for none");
    detail::check(sf_team_set_timeout(team_.get(), detail::nanoseconds_of(timeout)));
  }
  /// Worker `worker`, counted from 0. A number that there is none of is refused when the member is used.
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
