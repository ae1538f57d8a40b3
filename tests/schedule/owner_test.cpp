// Owner against [S0] section 2.1 and 3.1.1 taken word by word, and the checker against owners broken on purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "order/distribution.hpp"
#include "schedule/checker/checker.hpp"
#include "schedule/make_step.hpp"

namespace steadfold::schedule::owner_test {
namespace {

using order::Distribution;
using order::Interval;
using order::Layout;

constexpr std::array<Distribution, 4> rules = {Distribution::lower, Distribution::upper, Distribution::power2,
                                               Distribution::optimized};

// Each rank walks its elements upwards. An element x > 0 whose parent, x without its lowest bit, lives elsewhere is the
// root of an outbound subtree of at most as many elements as that bit says.
Count by_the_text(const std::vector<Count>& counts, Rank root, Count buffer_size, Count held) {
  std::vector<Rank> holder;
  for (std::size_t rank = 0; rank < counts.size(); ++rank)
    holder.insert(holder.end(), counts[rank], static_cast<Rank>(rank));
  if (holder.empty()) return 0;
  Count messages = holder[0] == root ? 0 : 1;
  Count buffered = 0;
  Rank buffered_for = 0;
  const auto flush = [&] {
    messages += buffered > 0 ? 1 : 0;
    buffered = 0;
  };
  for (std::size_t x = 1; x < holder.size(); ++x) {
    if (holder[x] != holder[x - 1]) flush();  // another rank's buffer
    std::size_t bit = 1;
    while (x % (2 * bit) == 0) bit *= 2;
    const Rank target = holder[x - bit];
    if (target == holder[x]) continue;
    const bool is_large = std::min(bit, holder.size() - x) > held;
    if (is_large || target != buffered_for) flush();
    buffered_for = target;
    if (++buffered == buffer_size) flush();
  }
  flush();
  return messages;
}

Count sends_of(const Algorithm& algorithm, Context c) {
  Count sends = 0;
  for (c.rank = 0; c.rank < c.rank_count; ++c.rank) {
    Steps steps = algorithm.steps(c);
    while (const Step* step = steps.next()) sends += step->kind == StepKind::send ? 1 : 0;
  }
  return sends;
}

std::string text_of(const std::vector<Count>& counts) {
  std::string text;
  for (const Count count : counts) text += std::to_string(count) + " ";
  return text;
}

// Messages by steps and by formula.
void expect_messages(const std::vector<Count>& counts, Rank root) {
  const Layout layout = Layout::contiguous(counts);
  constexpr std::pair<Count, Count> buffers_and_held[] = {{1, 64}, {2, 64},   {3, 64}, {4, 64},
                                                          {4, 1},  {4, 1000}, {64, 64}};
  for (const auto& [buffer, held] : buffers_and_held) {
    const Spec spec =
        parse("owner:buffer=" + std::to_string(buffer) + (held == 64 ? "" : ":held=" + std::to_string(held)));
    Context context{.rank_count = layout.rank_count(),
                    .root = root,
                    .collective = Collective::reduce,
                    .layout = &layout,
                    .spec = &spec};
    const Count wanted = by_the_text(counts, root, buffer, held);
    ASSERT_EQ(sends_of(*spec.algorithm, context), wanted) << text_of(spec) << ", counts " << text_of(counts);
    ASSERT_EQ(spec.algorithm->messages(context), wanted) << text_of(spec) << ", counts " << text_of(counts);
    context.collective = Collective::allreduce;
    const Count of_allreduce = by_the_text(counts, 0, buffer, held) + counts.size() - 1;
    ASSERT_EQ(sends_of(*spec.algorithm, context), of_allreduce) << text_of(spec) << ", counts " << text_of(counts);
    ASSERT_EQ(spec.algorithm->messages(context), of_allreduce) << text_of(spec) << ", counts " << text_of(counts);
  }
}

TEST(Owner, SendsTheMessagesOfTheText) {
  for (const Distribution rule : rules) {
    for (Rank ranks = 1; ranks <= 12; ++ranks) {
      for (Count rows = 0; rows <= 200; ++rows)
        expect_messages(order::counts(rule, rows, ranks), static_cast<Rank>(rows % 3 == 0 ? rows : 0) % ranks);
    }
  }
}

TEST(Owner, SendsTheMessagesOfTheTextForAnyCounts) {
  std::mt19937_64 random(20220401);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Count> counts(1 + random() % 12);
    for (Count& count : counts) count = random() % 3 == 0 ? 0 : random() % (round % 2 == 0 ? 5 : 3000);
    expect_messages(counts, static_cast<Rank>(random() % counts.size()));
  }
}

TEST(Owner, BroadcastsTheResultOfAnAllreduce) {
  const std::string refused =
      "parameter 'reduce' of schedule 'reduce_broadcast' cannot be 'owner' (the messages of that "
      "schedule depend on the layout), use schedule 'owner' by itself, which broadcasts the "
      "result of an allreduce";
  try {
    parse("reduce_broadcast:reduce=[owner]");
    ADD_FAILURE() << "the schedule was taken";
  } catch (const std::invalid_argument& fault) {
    EXPECT_EQ(fault.what(), refused);
  }
  EXPECT_EQ(find("owner")->default_collective, Collective::reduce);
}

// [S0] Tables 3.1 and 3.2.
TEST(Owner, SendsThePublishedNumberOfMessages) {
  const auto messages = [](Distribution rule, const char* schedule) {
    const Layout layout = Layout::contiguous(order::counts(rule, 504850, 256));
    const Spec spec = parse(schedule);
    const Context context{.rank_count = 256, .collective = Collective::reduce, .layout = &layout, .spec = &spec};
    EXPECT_EQ(check(*spec.algorithm, context).value_or(""), "");
    return spec.algorithm->messages(context);
  };
  EXPECT_EQ(messages(Distribution::lower, "owner"), 1640u);
  EXPECT_EQ(messages(Distribution::upper, "owner"), 1401u);
  EXPECT_EQ(messages(Distribution::power2, "owner"), 256u);
  EXPECT_EQ(messages(Distribution::lower, "owner:buffer=4"), 1053u);
  EXPECT_EQ(messages(Distribution::upper, "owner:buffer=4"), 1005u);
}

TEST(Owner, IsProvedOnAnyLayoutInRankOrder) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Count> counts(1 + random() % 40);
    for (Count& count : counts) count = random() % 3 == 0 ? 0 : random() % (round % 2 == 0 ? 5 : 3000);
    const Layout layout = Layout::contiguous(counts);
    const Spec spec = parse("owner:buffer=" + std::to_string(1 + random() % 64) +
                            ":held=" + std::to_string(1 + (std::uint64_t{1} << (random() % 12))));
    const Context context{.rank_count = layout.rank_count(),
                          .root = static_cast<Rank>(random() % counts.size()),
                          .collective = round % 2 == 0 ? Collective::reduce : Collective::allreduce,
                          .segments = 1 + static_cast<std::uint32_t>(random() % 3),
                          .layout = &layout,
                          .spec = &spec};
    ASSERT_EQ(check(*spec.algorithm, context).value_or(""), "") << "round " << round;
  }
}

// Elements 0 to 4, 5 to 8 and 9 to 14 on three ranks. Rank 1 sends rank 0 the roots 5, 6 and 8; rank 2 sends rank 1 the
// roots 9, 10 and 12, which stand in the subtree of 8. Rank 1's steps: three receives, lift 5, send, lift 6 and 7,
// send, lift 8, three merges, send.
template <bool (*change)(Rank, int, Step&)>
Steps changed(Context c) {
  Steps steps = find("owner")->steps(c);
  int number = 0;
  while (const Step* each = steps.next()) {
    Step step = *each;
    if (change(c.rank, number++, step)) co_yield step;
  }
}

// What the checker says of an owner with changed steps; a step for which `change` returns false is left out.
template <bool (*change)(Rank, int, Step&)>
std::string report() {
  static const Layout layout = Layout::contiguous(std::vector<Count>{5, 4, 6});
  Algorithm algorithm = *find("owner");
  algorithm.steps = changed<change>;
  return check(algorithm, {.rank_count = 3, .collective = Collective::reduce, .layout = &layout}).value_or("nothing");
}

#define EXPECT_REPORTS(report, part) EXPECT_NE((report).find(part), std::string::npos) << (report)

bool unchanged(Rank, int, Step&) { return true; }
bool lost_message(Rank rank, int number, Step&) { return rank != 1 || number != 6; }
bool message_elsewhere(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 4) step.peer = 2;
  return true;
}
bool other_landing(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 4) step.target = landing(7);
  return true;
}
bool half_a_node(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 5) step.covers = Interval{6, 7};
  return true;
}
bool rows_of_another(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 7) step.covers = Interval{8, 10};
  return true;
}
bool rows_of_nobody(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 7) step.covers = Interval{8, 99};
  return true;
}
bool right_op_left(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 8) std::swap(step.left, step.right);
  return true;
}
bool skipped_node(Rank rank, int number, Step&) { return rank != 1 || number != 8; }
bool node_twice(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 9) step.right = landing(1);  // that of 9, of level 0
  return true;
}
bool unclaimed_rows(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 10) step.covers = Interval{8, 14};
  return true;
}
bool early_send(Rank rank, int number, Step& step) {
  if (rank == 1 && number == 10) step = make::send(0, partial(2), landing(4));
  return rank != 1 || number != 11;
}
bool no_value(Rank, int, Step& step) { return step.kind != StepKind::finish; }

TEST(Owner, BrokenOnPurposeIsFoundOut) {
  EXPECT_EQ(report<unchanged>(), "nothing");
  EXPECT_REPORTS(report<lost_message>(), "from rank 1 to rank 0");
  EXPECT_REPORTS(report<message_elsewhere>(),
                 "from rank 1 to rank 0 goes to landing(2, segment 0), but its receive expects");
  EXPECT_REPORTS(report<other_landing>(),
                 "goes to landing(7, segment 0), but its receive expects landing(1, segment 0)");
  EXPECT_REPORTS(report<half_a_node>(), "brings 1 rows from 6, not 2 rows from 6 as declared");
  EXPECT_REPORTS(report<rows_of_another>(), "takes 2 rows from 8, which this rank does not hold");
  EXPECT_REPORTS(report<rows_of_nobody>(), "covers rows that do not exist");
  EXPECT_REPORTS(report<right_op_left>(), "merges ranks out of order, 1 rows from 9 with 1 rows from 8");
  EXPECT_REPORTS(report<skipped_node>(), "merges ranks that are not adjacent, 1 rows from 8 with 2 rows from 10");
  EXPECT_REPORTS(report<node_twice>(), "merges overlapping ranks, 2 rows from 8 with 1 rows from 9");
  EXPECT_REPORTS(report<unclaimed_rows>(), "covers 7 rows from 8, not 6 rows from 8 as declared");
  EXPECT_REPORTS(report<early_send>(), "brings 4 rows from 8, not 7 rows from 8 as declared");
  EXPECT_REPORTS(report<no_value>(), "rank 0 has 0 values, not 1");
}

TEST(Owner, WithAnotherBufferThanTheFormulaIsFoundOut) {
  const Layout layout = Layout::contiguous(std::vector<Count>{3, 3});
  Algorithm algorithm = *find("owner");
  algorithm.steps = [](Context c) {
    static const Spec buffered = parse("owner:buffer=4");
    c.spec = &buffered;
    return find("owner")->steps(c);
  };
  EXPECT_EQ(
      check(algorithm, {.rank_count = 2, .collective = Collective::reduce, .layout = &layout}).value_or(""),
      "owner reduce ranks=2 root=0 segments=1 starts=0,3,6: messages: 1, but the formula gives 2");  // [S0] figure 3.3
}

}  // namespace
}  // namespace steadfold::schedule::owner_test
