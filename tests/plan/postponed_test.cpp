// Operators that want to be called later, in merges and finishes of every schedule: bits and calls are those of
// operators that do not; the next call is for the same operands, and a test asks once.
#include <gtest/gtest.h>

#include <algorithm>

#include "group/group.hpp"
#include "schedule/served.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"

namespace steadfold::test::postponed_test {
namespace {

using arithmetic::Operation;

/// One rank's operator: how it was called.
struct Asked {
  std::mt19937_64 random{1};
  bool postpones = false;
  Count combined = 0;
  Count postponed = 0;
  const void* left = nullptr;  // of the call that it postponed last
  const void* right = nullptr;
  void* result = nullptr;
  Memory operands = {};
};

Memory operands_of(const void* left, const void* right, Bytes bytes) {
  Memory both(2 * bytes);
  std::memcpy(both.data(), left, bytes);
  std::memcpy(both.data() + bytes, right, bytes);
  return both;
}

/// Neither commutative nor associative.
int blend(const void* left, const void* right, void* result, std::size_t count, void* context) {
  auto& own = *static_cast<Asked*>(context);
  if (own.left != nullptr) {
    EXPECT_TRUE(own.left == left && own.right == right && own.result == result) << "another pair before this one";
    EXPECT_TRUE(own.operands == operands_of(left, right, count * sizeof(double)));
  }
  own.left = nullptr;
  if (own.postpones && own.random() % 3 != 0) {
    own.left = left, own.right = right, own.result = result;
    own.operands = operands_of(left, right, count * sizeof(double));
    ++own.postponed;
    return arithmetic::postponed;
  }
  ++own.combined;
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] =
        0.75 * static_cast<const double*>(left)[i] - static_cast<const double*>(right)[i] / 3;
  return 0;
}

Call call_of(Count columns, const std::string& schedule) {
  return {.operation = Operation::user,
          .method = Method::tree,
          .type = arithmetic::Type::bytes,
          .result_type = arithmetic::Type::bytes,
          .columns = columns,
          .schedule = schedule,
          .user = {.apply = blend, .element_bytes = sizeof(double), .is_users = true, .may_postpone = true},
          .operator_name = "blend",
          .layout = LayoutKind::row_per_rank};
}

/// The plans of a call on one row per rank.
class Postponed {
 public:
  Postponed(Count columns, const std::string& schedule, Rank p, std::uint64_t seed)
      : columns_(columns), ranks_(p, seed), asked_(static_cast<std::size_t>(p)) {
    const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
    const std::vector<Call> calls = calls_for(call_of(columns, schedule), deal);
    const Concluded agreed = concluded(calls);
    EXPECT_TRUE(agreed.agreement) << agreed.text;
    job_.emplace(ranks_, agreed.agreement.value(), calls, 0);
    std::mt19937_64 random(seed);
    const auto elements = summands(random, columns * static_cast<Count>(p));
    for (const auto& intervals : deal) rows_.push_back(memory_of(elements, columns, intervals));
  }

  std::vector<Memory> run(bool postpones, bool stays) {
    std::vector<Memory> results(rows_.size(), Memory(columns_ * sizeof(double)));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      asked_[i] = Asked{.random = std::mt19937_64(i), .postpones = postpones};
      Plan& plan = job_->plan(static_cast<Rank>(i));
      plan.use_operator({.apply = blend,
                         .context = &asked_[i],
                         .element_bytes = sizeof(double),
                         .is_users = true,
                         .may_postpone = true});
      const call::Data data{.first = rows_[i].data(), .result = results[i].data()};
      plan.start(std::span(&data, 1), stays);
    }
    bool all_done = false;
    for (int polls = 0; !all_done && polls < 200000; ++polls) {
      all_done = true;
      for (const Rank rank : ranks_.shuffled()) {
        Asked& asked = asked_[static_cast<std::size_t>(rank)];
        const Count before = asked.postponed;
        all_done &= job_->plan(rank).test();
        EXPECT_LE(asked.postponed, before + 1) << "asked again in the same test";
      }
    }
    EXPECT_TRUE(all_done) << "stuck";
    for (Rank rank = 0; rank < job_->rank_count(); ++rank) EXPECT_EQ(job_->plan(rank).status(), Status::ok);
    return results;
  }
  std::vector<Count> combined() const {
    std::vector<Count> counts;
    for (const Asked& each : asked_) counts.push_back(each.combined);
    return counts;
  }
  Count postponed() const {
    Count sum = 0;
    for (const Asked& each : asked_) sum += each.postponed;
    return sum;
  }

 private:
  Count columns_;
  SimulatedRanks ranks_;
  std::vector<Asked> asked_;
  std::optional<SimulatedJob> job_;
  std::vector<Memory> rows_;
};

class PostponedCalls : public testing::TestWithParam<Rank> {};

TEST_P(PostponedCalls, OfPlansHaveTheBitsOfOthersByEverySchedule) {
  const Rank p = GetParam();
  Count postponed = 0;
  for (const Count columns : {Count{1}, Count{40}, Count{1100}, Count{20001}}) {
    for (const schedule::Algorithm& algorithm : schedule::registry()) {
      if (!says_it_serves(algorithm, schedule::Collective::allreduce, 0, tree_merging, schedule::OperatorKind::ordered))
        continue;
      Postponed plans(columns, std::string(algorithm.name), p, 23);
      for (const bool stays : {false, true}) {
        const std::vector<Memory> expected = plans.run(false, stays);
        const std::vector<Count> combined = plans.combined();
        const std::vector<Memory> found = plans.run(true, stays);
        EXPECT_TRUE(found == expected) << algorithm.name << ", " << columns << " columns, p " << p;
        // What came first in a run decides which of its merges come in pieces, each of them a call.
        if (!algorithm.merges_on_arrival) {
          EXPECT_EQ(plans.combined(), combined) << algorithm.name << ", " << columns << " columns, p " << p;
        }
        postponed += plans.postponed();
      }
    }
  }
  EXPECT_EQ(postponed > 0, p > 1) << "the control";
}

/// One-shot calls, of which the small ones are merged and finished in the handshake, some under way at once.
TEST_P(PostponedCalls, OfOneShotCallsHaveTheBitsOfOthers) {
  const Rank p = GetParam();
  on_threads(p, 29, [&](std::shared_ptr<transport::Transport> transport) {
    group::Group group(transport);
    const auto rank = static_cast<std::uint64_t>(group.rank());
    std::mt19937_64 own(rank);
    for (const Count columns : {Count{1}, Count{40}, Count{1100}, Count{20001}}) {
      constexpr std::size_t count = 4;
      std::vector<std::vector<double>> rows, expected, found;
      std::vector<Asked> asked(count);
      std::vector<Count> combined;
      for (std::size_t i = 0; i < count; ++i) {
        asked[i].random.seed(10 * rank + i);
        rows.push_back(summands(own, columns));
        expected.emplace_back(columns, -1.0);
        found.emplace_back(columns, -2.0);
      }
      const auto call = [&](std::size_t i) {
        Call made = call_of(columns, "");
        made.rows = 1;
        made.user.context = &asked[i];
        return made;
      };
      const auto data = [&](std::size_t i, std::vector<double>& result) -> call::Data {
        return {.first = reinterpret_cast<const std::byte*>(rows[i].data()),
                .result = reinterpret_cast<std::byte*>(result.data())};
      };
      group.reduce(call(0), data(0, expected[0]));  // where partials outgrow the handshake, all others have a plan
      asked[0].combined = 0;
      for (std::size_t i = 0; i < count; ++i) {
        group.reduce(call(i), data(i, expected[i]));
        combined.push_back(asked[i].combined);
        asked[i].combined = 0;
        asked[i].postpones = true;
      }
      std::vector<group::Group::Started> started;
      for (std::size_t i = 0; i < count; ++i) started.push_back(group.start_reduce(call(i), data(i, found[i])));
      for (const auto& each : started) {
        while (!group.advance(*each)) {
        }
        EXPECT_NO_THROW(each->require_success());
      }
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(found[i] == expected[i]) << columns << " columns, p " << p;
        EXPECT_EQ(asked[i].combined, combined[i]) << columns << " columns, p " << p;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, PostponedCalls, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 13));

}  // namespace
}  // namespace steadfold::test::postponed_test
