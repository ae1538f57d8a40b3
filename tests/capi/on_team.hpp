// The workers of a team as threads of one process. A job that hangs ends the program with a message.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

#include "steadfold/team.hpp"

namespace steadfold::test {

/// Runs body(member) for every worker at once.
template <class Body>
void on_members(const Team& team, const Body& body) {
  std::vector<std::future<void>> workers;
  for (int w = 0; w < team.size(); ++w)
    workers.push_back(std::async(std::launch::async, [&team, &body, w] { body(team[w]); }));
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (std::size_t w = 0; w < workers.size(); ++w) {
    if (workers[w].wait_until(latest) == std::future_status::ready) continue;
    std::fprintf(stderr, "worker %zu of %zu hangs\n", w, workers.size());
    std::_Exit(1);  // threads that wait for each other cannot be ended
  }
  for (auto& worker : workers) worker.get();
}

template <class Body>
void on_team(int workers, const Body& body) {
  on_members(Team(workers), body);
}

}  // namespace steadfold::test
