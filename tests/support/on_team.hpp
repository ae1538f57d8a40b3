// Runs the workers of a team as threads of one process. If a job hangs, the program ends with a message.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <vector>

#include "steadfold/team.hpp"

namespace steadfold::test {

/// Which thread uses worker 0: a new thread, as for all other workers, or the calling thread.
enum class First : bool { elsewhere, here };

/// What a test runs for every worker. As a template, on_members would compile std::async again for each test, which
/// took half of the compile time of test_capi.
using OfMember = std::function<void(const Team::Member& member)>;

/// Runs body(member) for every worker at once.
inline void on_members(const Team& team, const OfMember& body, First first = First::elsewhere) {
  std::vector<std::future<void>> workers;
  for (int w = first == First::here ? 1 : 0; w < team.size(); ++w)
    workers.push_back(std::async(std::launch::async, [&team, &body, w] { body(team[w]); }));
  if (first == First::here) body(team[0]);
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (auto& worker : workers) {
    if (worker.wait_until(latest) == std::future_status::ready) continue;
    std::fprintf(stderr, "a worker of %d hangs\n", team.size());
    std::_Exit(1);  // threads that wait for each other cannot be ended
  }
  for (auto& worker : workers) worker.get();
}

inline void on_team(int workers, const OfMember& body) { on_members(Team(workers), body); }

}  // namespace steadfold::test
