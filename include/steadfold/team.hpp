// Steadfold for C++20 between the threads of one process: every function of group.hpp, plan.hpp, bundle.hpp and
// started.hpp takes a member of a team where it takes a communicator. No MPI.
//
//   sf::Team team{threads};
//   // on thread t, of any kind (std::thread, OpenMP, TBB):
//   double s = sf::sum(mine, team[t]);                // the bits of one thread that has all elements
//   auto plan = sf::plan(sf::plus, team[t], ...);     // agreed on once, run often
//
// Workers reduce through cache lines, as ranks do through messages. Header-only over the C functions of
// steadfold_team.h.
#pragma once

#include "steadfold/group.hpp"

#if __cplusplus >= 202002L

#include <memory>

#include "steadfold/steadfold_team.h"

namespace steadfold {

/// Workers of one process, one per thread, that reduce with each other. It must outlive the calls of its members; plans
/// may outlive it.
class Team {
 public:
  /// One worker, for one thread at a time. Copies are the same worker.
  class Member {
   public:
    /// The worker's number, and how many there are.
    int worker() const noexcept { return worker_; }
    int size() const noexcept { return sf_team_size(team_); }
    /// Its group. Collective when it is first used: then it waits for the other workers. Throws Error.
    Group group() const {
      sf_group* group = nullptr;
      detail::check(sf_team_group(team_, worker_, &group));
      return Group(group);
    }

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

  int size() const noexcept { return sf_team_size(team_.get()); }
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
struct Over<Team::Member> : OverGroup {
  static Group group(const Team::Member& member) { return member.group(); }
};

}  // namespace detail

}  // namespace steadfold

#endif
