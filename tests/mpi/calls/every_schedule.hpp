// Calls made by every schedule that serves them, and at every root.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/ranks.hpp"

namespace steadfold::tests {

template <class T, class Call>
void expect_by(const std::string& schedule, const T& wanted, Options options, const std::string& what,
               const Call& call) {
  options.schedule = schedule;
  EXPECT_TRUE(is(call(options), wanted)) << what << " by " << text_of(options);
}

/// True at every other call, the first included. Ranks get equal answers, since they ask equally often.
inline bool every_other_time() {
  static bool answer = false;
  return answer = !answer;
}

/// `call` gives `wanted` to all ranks, by every schedule; on many ranks by the default or another one in turn.
template <class T, class Call>
void expect_by_every_schedule(const Ranks& ranks, const T& wanted, const Options& options, const std::string& what,
                              const Call& call) {
  std::vector<std::string> schedules = schedules_of(options.method, false);
  if (!thorough(ranks)) schedules = {every_other_time() ? "" : next_of(schedules)};
  for (const std::string& schedule : schedules) expect_by(schedule, wanted, options, what, call);
}

/// `call` gives `wanted` to each root in turn, by every schedule (on many ranks one each time), and nothing to others.
template <class T, class Call>
void expect_at_every_root(const Ranks& ranks, const T& wanted, Options options, const std::string& what,
                          const Call& call) {
  const T nothing = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{};
  for (int root = 0; root < ranks.size; ++root) {
    options.root = root;
    std::vector<std::string> schedules = schedules_of(options.method, true);
    if (!thorough(ranks)) schedules = {next_of(schedules)};
    for (const std::string& schedule : schedules)
      expect_by(schedule, ranks.rank == root ? wanted : nothing, options, what, call);
  }
}

}  // namespace steadfold::tests
