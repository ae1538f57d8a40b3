// Distributions of the rows of a job over simulated ranks, and the schedules that serve a call. They are chosen in
// turn, so they are the same in every run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/dealt.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test {

/// Chooses among several items in turn.
class Turns {
 public:
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[next(all.size())];
  }
  std::uint64_t next(std::uint64_t count) {
    turn_ = (turn_ + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
    return (turn_ >> 32) % count;
  }

 private:
  std::uint64_t turn_ = 12;
};

/// The names of schedules that serve the call.
inline std::vector<std::string> names_for(const Call& call) {
  const call::Description description = call::describe(call);
  std::vector<std::string> all;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    if (schedule::refusal(algorithm, description.collective, std::max(call.root, 0), call::merging_of(description),
                          call::operator_kind(description)))
      continue;
    for (const std::string& name : names_of(algorithm)) all.push_back(name);
  }
  return all;
}

/// Consecutive rows per rank, in rank order. Some ranks, maybe the first or the last, have none.
inline Deal in_rank_order(Turns& turns, Count rows, Rank p) {
  std::vector<Index> ends(static_cast<std::size_t>(p));
  for (Index& end : ends) end = turns.next(rows + 1);
  std::ranges::sort(ends);
  ends.back() = rows;
  Deal deal;
  Index begin = 0;
  for (const Index end : ends) deal.push_back({{std::exchange(begin, end), end}});
  return deal;
}

/// Blocks of rows, distributed round robin.
inline Deal cyclic(Turns& turns, Count rows, Rank p) {
  Deal deal(static_cast<std::size_t>(p));
  const Count block = 1 + turns.next(9) + rows / 400;
  for (Index at = 0, worker = 0; at < rows; at += block, ++worker)
    deal[worker % deal.size()].push_back({at, std::min(rows, at + block)});
  return deal;
}

/// A random distribution rule: the rows as an array of two axes, whose blocks are distributed over a grid of ranks.
inline Dealt by_rule(Turns& turns, Count rows, Rank p) {
  const auto some_divisor = [&](Count n) {
    Count divisor = 1 + turns.next(std::max<Count>(n, 1));
    while (n % divisor != 0) --divisor;
    return divisor;
  };
  const Count outer = some_divisor(rows);
  const Count ranks = some_divisor(static_cast<Count>(p));
  Dealt deal{
      {{.extent = outer, .ranks = ranks},
       {.extent = rows / outer, .ranks = static_cast<Count>(p) / ranks, .block = 1 + turns.next(9) + rows / 400}}};
  if (turns.next(2) == 0) deal.axes[0].block = 1 + turns.next(5);
  if (turns.next(2) == 0) deal.axes[1].block = 0;
  deal.axes[1].first = turns.next(deal.axes[1].ranks);
  return deal;
}

inline order::Grid grid_of(const Dealt& deal) {
  order::Grid grid;
  const std::size_t before = grid.axes.size() - deal.axes.size();
  for (std::size_t i = 0; i < deal.axes.size(); ++i)
    grid.axes[before + i] = {deal.axes[i].extent, deal.axes[i].ranks, deal.axes[i].block, deal.axes[i].first};
  return grid;
}

/// Pieces on any ranks, in any order of memory. One rank has none.
inline Deal shuffled(Turns& turns, Count rows, Rank p) {
  Deal deal(static_cast<std::size_t>(p));
  const auto idle = turns.next(deal.size());
  for (Index at = 0; at < rows;) {
    const Index end = std::min(rows, at + 1 + turns.next(rows / 4 + 1));
    const auto worker = turns.next(deal.size());
    auto& pieces = deal[worker == idle ? (worker + 1) % deal.size() : worker];
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(turns.next(pieces.size() + 1)), {at, end});
    at = end;
  }
  return deal;
}

}  // namespace steadfold::test
