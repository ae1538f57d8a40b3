// What one test of a plan does at most: long merges and finishes come in pieces, with the bits of those that do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::bounded_poll_test {
namespace {

using arithmetic::Operation;

constexpr Count columns = 20001;  // the last piece has another size
constexpr Count piece = 65536 / sizeof(double);

/// Elements that the operator has combined.
Count combined = 0;

/// Neither commutative nor associative.
int blend(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* const l = static_cast<const double*>(left);
  const auto* const r = static_cast<const double*>(right);
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(result)[i] = 0.75 * l[i] + r[i];
  combined += count;
  return 0;
}

/// The plans of a call on one wide row per rank.
class Wide {
 public:
  Wide(Call call, const std::string& schedule, Rank p, std::uint64_t seed)
      : ranks_(p, seed), deal_(contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1))) {
    call.columns = columns;
    call.layout = LayoutKind::row_per_rank;
    call.schedule = schedule;
    calls_ = calls_for(call, deal_);
    const Concluded agreed = concluded(calls_);
    EXPECT_TRUE(agreed.agreement) << agreed.text;
    job_.emplace(ranks_, agreed.agreement.value(), calls_);
    std::mt19937_64 random(seed);
    const auto elements = summands(random, columns * static_cast<Count>(p));
    for (const auto& intervals : deal_) rows_.push_back(memory_of(elements, columns, intervals));
  }

  struct Ended {
    std::vector<Memory> results;
    Count most_in_test = 0;  // elements that one test combined
    int tests = 0;           // of all ranks together, at most
  };

  Ended run(bool stays) {
    Ended ended{.results = std::vector<Memory>(rows_.size(), Memory(columns * sizeof(double)))};
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const call::Data data{.first = rows_[i].data(), .result = ended.results[i].data()};
      job_->plan(static_cast<Rank>(i)).start(std::span(&data, 1), stays);
    }
    for (bool all_done = false; !all_done && ended.tests < 100000;) {
      all_done = true;
      for (const Rank rank : ranks_.shuffled()) {
        combined = 0;
        all_done &= job_->plan(rank).test();
        ended.most_in_test = std::max(ended.most_in_test, combined);
        ++ended.tests;
      }
    }
    for (Rank rank = 0; rank < job_->rank_count(); ++rank) EXPECT_EQ(job_->plan(rank).status(), Status::ok);
    return ended;
  }

 private:
  SimulatedRanks ranks_;
  Deal deal_;
  std::vector<Call> calls_;
  std::optional<SimulatedJob> job_;
  std::vector<Memory> rows_;
};

class BoundedPoll : public testing::TestWithParam<std::string> {};

TEST_P(BoundedPoll, CombinesOnePieceOfAUsersOperator) {
  const arithmetic::Operator user{.apply = blend, .element_bytes = sizeof(double), .is_users = true};
  for (const Rank p : {2, 3, 4, 5, 7, 8}) {
    Wide wide({.operation = Operation::user,
               .method = Method::tree,
               .type = arithmetic::Type::bytes,
               .result_type = arithmetic::Type::bytes,
               .user = user},
              GetParam(), p, 31);
    const auto at_once = wide.run(true);
    const auto bounded = wide.run(false);
    EXPECT_GE(at_once.most_in_test, columns) << "the control";
    // A row may complete a node on every level, one after the other.
    const auto levels = static_cast<Count>(std::bit_width(static_cast<unsigned>(p) - 1));
    EXPECT_LE(bounded.most_in_test, levels * piece) << p << " ranks";
    EXPECT_GT(bounded.most_in_test, 0u);
    for (std::size_t i = 0; i < at_once.results.size(); ++i)
      EXPECT_TRUE(at_once.results[i] == bounded.results[i]) << "rank " << i << " of " << p;
    EXPECT_TRUE(bounded.results.front() == bounded.results.back());
  }
}

TEST_P(BoundedPoll, HasTheBitsOfOthers) {
  for (const Method method : {Method::tree, Method::exact, Method::plain, Method::binned}) {
    for (const Rank p : {3, sanitized ? 4 : 8}) {
      Wide wide({.method = method}, GetParam(), p, 7);
      const auto at_once = wide.run(true);
      const auto bounded = wide.run(false);
      EXPECT_TRUE(at_once.results == bounded.results) << call::name_of(method) << " on " << p << " ranks";
      EXPECT_GT(bounded.tests, at_once.tests) << call::name_of(method);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, BoundedPoll,
                         testing::Values("recursive_doubling", "reduce_broadcast", "ring", "transpose"));

}  // namespace
}  // namespace steadfold::test::bounded_poll_test
