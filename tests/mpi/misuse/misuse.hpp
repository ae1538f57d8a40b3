// What tests of wrong calls share: an error on every rank with a text that says what to do, and right calls after it.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"

namespace steadfold::tests {

using Words = std::vector<std::string>;

/// A value that the enumeration does not have: a caller in C may hand it over. Sanitizers would report it here.
template <class Enumeration>
__attribute__((no_sanitize("undefined"))) Enumeration number(unsigned value) {
  Enumeration result;
  static_assert(sizeof result == sizeof value);
  std::memcpy(&result, &value, sizeof result);
  return result;
}

class MisuseTest : public testing::Test {
 protected:
  /// The call throws Error(status) on every rank; its text has these words; the next call is right.
  template <class Call>
  void expect_error(sf_status status, const Words& words, const std::string& what, const Call& call) {
    for (int round = 0; round < 2; ++round) {  // what the first left behind must not change the second
      const Outcome outcome = outcome_of(call);
      EXPECT_EQ(outcome.status, status) << what << ": " << outcome.string();
      if (outcome.failed()) expect_text(outcome.text, words, what);
      expect_usable(what);
    }
  }

  /// The C function returns `status` on every rank; its error text has these words; the next call is right.
  void expect_status(sf_status status, const Words& words, const std::string& what,
                     const std::function<sf_status()>& call) {
    expect_error(status, words, what, [&] {
      const sf_status found = call();
      if (found != SF_OK) throw Error(found, sf_error_text());
    });
  }

  /// "problem (why), suggestion"
  void expect_text(const std::string& text, const Words& words, const std::string& what) const {
    const std::size_t why = text.find(" (");
    EXPECT_TRUE(why != std::string::npos && text.find("), ", why) != std::string::npos) << what << ": " << text;
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << what << ": no '" << word << "' in: " << text;
  }

  void expect_usable(const std::string& what) {
    std::vector<double> all;
    for (int r = 0; r < world.size; ++r) all.push_back(0.1 * (r + 1));
    const std::vector<double> mine = {all[world.index()]};
    EXPECT_TRUE(is(sum(mine, world.comm), reference::exact_sum(std::span<const double>(all)))) << "after " << what;
    EXPECT_TRUE(is(reduce(mine, subtract, world.comm, {.schedule = "linear"}), tree_of(all, subtract)))
        << "after " << what;
  }

  /// Ranks that go astray, one at a time; none where there is nobody to disagree with.
  std::vector<int> astray() const {
    if (world.size == 1) return {};
    if (world.size == 2) return {0, 1};
    return {0, world.size / 2, world.size - 1};
  }
  bool is_astray(int rank) const { return world.rank == rank; }

  sf_call call_of_rows(std::uint64_t rows) const {
    sf_call call = sf_call_default();
    call.rows = rows;
    return call;
  }
  sf_call call_of_intervals(const std::vector<Interval>& intervals) const {
    sf_call call = sf_call_default();
    call.layout = SF_INTERVALS;
    call.intervals = intervals.data();
    call.interval_count = intervals.size();
    for (const Interval i : intervals) call.rows += i.end - i.begin;
    return call;
  }

  Ranks world;
  const std::vector<double> x = std::vector<double>(5, 0.1);
};

}  // namespace steadfold::tests
