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

/// A worker's part of `all`: uneven, and nothing for every fifth worker.
template <class T>
std::span<const T> part_of(const std::vector<T>& all, int worker, int workers) {
  std::vector<std::size_t> ends = {0};
  for (int w = 0; w + 1 < workers; ++w) {
    const auto i = static_cast<std::size_t>(w);
    const std::size_t left = all.size() - ends.back();
    ends.push_back(ends.back() + (i % 5 == 3 ? 0 : left * (i % 3 + 1) / static_cast<std::size_t>(workers + 2)));
  }
  ends.push_back(all.size());
  const auto w = static_cast<std::size_t>(worker);
  return std::span(all).subspan(ends[w], ends[w + 1] - ends[w]);
}

}  // namespace steadfold::test
