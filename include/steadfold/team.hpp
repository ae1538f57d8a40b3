// Steadfold for C++20 between the threads of a process: every function of group.hpp, plan.hpp, bundle.hpp and
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

#if __cplusplus >= 202002L

#include "steadfold/common_team.hpp"

#endif
