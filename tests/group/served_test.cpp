// A schedule serves what its entry in the registry says, in binds too: every collective, method, kind of operator,
// layout, root and example of parameters; and a schedule that nobody proved is refused on every rank where its proof
// fails.
#include <gtest/gtest.h>

#include "group/group.hpp"
#include "schedule/served.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"

namespace steadfold::test::served_test {
namespace {

using group::Group;
using schedule::Collective;
using schedule::OperatorKind;

/// What is asked of a schedule.
struct Asked {
  Collective collective;
  Method method;
  OperatorKind kind;
  Rank root;
  LayoutKind layout;
  arithmetic::Sweep sweep;
};

int take_left(const void* left, const void* /*right*/, void* result, std::size_t count, void* /*context*/) {
  std::memcpy(result, left, 8 * count);
  return 0;
}

/// Sums, or an operator of the user's that does not commute.
Call call_of(const Asked& asked, std::string_view name, std::span<const Count> blocks) {
  Call call{.method = asked.method,
            .columns = blocks.size(),
            .root = asked.collective == Collective::reduce ? asked.root : all_ranks,
            .collective = asked.collective,
            .schedule = name,
            .layout = asked.layout,
            .parameters = {.sweep = asked.sweep}};
  if (asked.collective == Collective::reduce_scatter) call.blocks = blocks;
  if (asked.kind == OperatorKind::commutative) return call;
  call.operation = arithmetic::Operation::user;
  call.type = call.result_type = arithmetic::Type::bytes;
  call.user = {.apply = take_left, .element_bytes = 8};
  return call;
}

/// What anybody may ask for, whatever the schedule.
std::vector<Asked> everything_asked(Rank p) {
  std::vector<Asked> all;
  for (const Collective collective : schedule::every_collective) {
    for (const Method method : {Method::tree, Method::exact, Method::binned, Method::plain}) {
      for (const OperatorKind kind : {OperatorKind::commutative, OperatorKind::ordered}) {
        if (kind == OperatorKind::ordered && method != Method::tree && method != Method::plain) continue;
        for (Rank root = 0; root < (collective == Collective::reduce ? p : 1); ++root)
          for (const LayoutKind layout : {LayoutKind::row_per_rank, LayoutKind::rank_order})
            for (const auto sweep : {arithmetic::Sweep::single_sweep, arithmetic::Sweep::double_sweep})
              if (sweep == arithmetic::Sweep::single_sweep || (method == Method::binned && !is_scan(collective)))
                all.push_back({collective, method, kind, root, layout, sweep});
      }
    }
  }
  return all;
}

class Served : public testing::TestWithParam<Rank> {};

TEST_P(Served, IsWhatARowSays) {
  const Rank p = GetParam();
  const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
  const std::vector<Count> blocks(static_cast<std::size_t>(p), 1);
  int served = 0;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const std::string& name : names_of(algorithm)) {
      for (const Asked& asked : everything_asked(p)) {
        SCOPED_TRACE(testing::Message() << name << ", " << name_of(asked.collective) << " by "
                                        << call::name_of(asked.method) << " to root " << asked.root
                                        << (asked.kind == OperatorKind::ordered ? ", an ordered operator" : ", a sum"));
        schedule::Merging merging = call::properties_of(asked.method).merging;
        if (asked.method == Method::binned) merging.offers_words = asked.sweep == arithmetic::Sweep::double_sweep;
        const bool says = says_it_serves(algorithm, asked.collective, asked.root, merging, asked.kind);
        const Concluded found = concluded(calls_for(call_of(asked, name, blocks), deal));
        if (says) {
          ++served;
          ASSERT_TRUE(found.agreement) << found.text;
          ASSERT_EQ(found.agreement->schedule.algorithm, &algorithm);
        } else {
          ASSERT_EQ(found.status, Status::unsupported) << found.text;
          ASSERT_EQ(found.text.find("schedule '" + std::string(algorithm.name) + "' cannot serve"), 0u) << found.text;
        }
      }
    }
  }
  EXPECT_GT(served, 500);
}

/// `flat`, of which the last rank sends nothing.
schedule::Steps without_last(schedule::Context c) {
  for (schedule::Steps all = schedule::find("flat")->steps(c); const schedule::Step* step = all.next();)
    if (c.rank == 0 || c.rank + 1 < c.rank_count || step->kind != schedule::StepKind::send) co_yield *step;
}

/// The failure, as every rank has it, of asking for a schedule, among the registry's and one that is broken.
std::vector<std::string> failures(Rank p, const std::string& name, bool in_one_shot) {
  schedule::Algorithm broken = *schedule::find("flat");
  broken.name = "broken";
  broken.steps = without_last;
  std::vector<const schedule::Algorithm*> algorithms;
  for (const schedule::Algorithm& algorithm : schedule::registry()) algorithms.push_back(&algorithm);
  algorithms.push_back(&broken);
  std::vector<std::string> texts(static_cast<std::size_t>(p));
  on_threads(p, 3, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport, schedule::Algorithms(algorithms, {}));
    const Call call{.schedule = name, .layout = LayoutKind::row_per_rank, .rows = 1};
    const double one = 1;
    double result = 0;
    const call::Data data{.first = reinterpret_cast<const std::byte*>(&one),
                          .result = reinterpret_cast<std::byte*>(&result)};
    std::string& text = texts[static_cast<std::size_t>(group.rank())];
    for (int again = 0; again < 2; ++again) {
      try {
        if (in_one_shot)
          group.reduce(call, data);
        else
          group.bind(std::span(&call, 1))->run(data);
        EXPECT_EQ(result, p);
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), Status::unsupported);
        text += failure.what();
      }
    }
  });
  return texts;
}

TEST_P(Served, OnlyByWhatIsProvedWhenItIsBound) {
  const Rank p = GetParam();
  for (const bool in_one_shot : {false, true}) {
    for (const std::string& text :
         failures(p, "two_level:inner=[flat:open=1]:outer=[two_level:size=1]:size=3", in_one_shot))
      EXPECT_EQ(text, "");
    const std::string nested = "two_level:inner=[broken]:size=8";
    for (const std::string& text : failures(p, nested, in_one_shot)) {
      if (p == 1) {
        EXPECT_EQ(text, "");
        continue;
      }
      const std::string once =
          "schedule '" + nested + "' cannot be used (its check fails: " + nested +
          " allreduce ranks=" + std::to_string(p) + " root=0 segments=1: a receive from rank " + std::to_string(p - 1) +
          " to rank 0 waits for a message that no rank sends), choose another schedule and report this error";
      EXPECT_EQ(text, once + once);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Served, testing::Values(1, 2, 3, 5, 8));

}  // namespace
}  // namespace steadfold::test::served_test
