// multi_notify in every order in which the messages of a rank's children can come: the bits of the tree, whatever the
// method, the layout, the width, and whoever waits. Each order is another run of the same plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/wrapping_transport.hpp"

namespace steadfold::test::arrival_test {
namespace {

using transport::Completion;
using transport::Endpoint;
using transport::SlotNumber;
using transport::Ticket;

/// One rank's order of arrival: waits until a message has come for every receive that is open, then lets them through
/// one by one. `digit` says which of their orders; whoever holds back lets all but the first sender's through.
struct Order {
  Count digit = 0;
  Count most = 1;  // how many orders the open receives had, at most
  bool holds_back = false;
  std::vector<Rank> came;  // senders, in the order in which they were let through
};

class OrderedEndpoint final : public transport::ForwardingEndpoint {
 public:
  OrderedEndpoint(std::unique_ptr<Endpoint> inner, Order& order, Ticket tickets)
      : ForwardingEndpoint(std::move(inner)), order_(order), source_(tickets, -1) {}

  void release(Ticket ticket, Rank source, SlotNumber slot,
               const std::optional<transport::SecondRoom>& second) noexcept override {
    source_[ticket] = source;
    ++open_;
    inner().release(ticket, source, slot, second);
  }
  std::size_t poll(std::span<Completion> completions) noexcept override {
    std::size_t passed = 0;
    std::vector<Completion> all(64);
    all.resize(inner().poll(all));
    for (const Completion& each : all) {
      if (source_[each.ticket] < 0)
        completions[passed++] = each;
      else
        held_.push_back(each);
    }
    if (held_.size() == open_ && open_ > 0 && left_ == 0) put_in_order();
    if (passed < completions.size() && left_ > (order_.holds_back ? 1u : 0u)) {
      completions[passed++] = held_.front();
      order_.came.push_back(source_[held_.front().ticket]);
      held_.erase(held_.begin());
      --left_;
      --open_;
    }
    return passed;
  }

 private:
  void put_in_order() {
    const auto before = [](const Completion& a, const Completion& b) { return a.ticket < b.ticket; };
    std::sort(held_.begin(), held_.end(), before);
    std::vector<Completion> rest = held_;
    Count digit = order_.digit;
    Count orders = 1;
    for (Completion& each : held_) {
      const auto which = static_cast<std::ptrdiff_t>(digit % rest.size());
      digit /= rest.size();
      orders *= rest.size();
      each = rest[static_cast<std::size_t>(which)];
      rest.erase(rest.begin() + which);
    }
    order_.most = std::max(order_.most, orders);
    if (order_.holds_back) std::rotate(held_.begin(), held_.begin() + 1, held_.end());
    left_ = held_.size();
  }

  Order& order_;
  std::vector<Rank> source_;  // by ticket; -1: no receive
  std::vector<Completion> held_;
  std::size_t open_ = 0;  // receives
  std::size_t left_ = 0;  // of those held, in order
};

using OrderedTransport = WrappingTransport<OrderedEndpoint, Order>;

/// Plans on all ranks, whose messages come as told.
class OrderedJob {
 public:
  /// `calls` by rank, each with one call or several.
  OrderedJob(const Agreement& agreed, const std::vector<std::vector<Call>>& calls, std::uint64_t seed)
      : ranks_(static_cast<Rank>(calls.size()), seed, seed % 2 == 0 ? Sends::buffered : Sends::synchronous),
        orders(calls.size()) {
    for (std::size_t i = 0; i < calls.size(); ++i)
      plans.push_back(std::make_unique<Plan>(
          agreed, calls[i], std::make_shared<OrderedTransport>(ranks_.transport(static_cast<Rank>(i)), orders[i]), 2));
    ranks_.connect();
  }

  /// Whether the run came to its end.
  bool finish() {
    for (int sweep = 0; sweep < 4000; ++sweep) {
      bool all_done = true;
      for (const Rank rank : ranks_.shuffled()) all_done &= plans[static_cast<std::size_t>(rank)]->test();
      if (all_done) return true;
    }
    return false;
  }

  /// Goes on to the next combination of all ranks' orders; false after the last.
  bool next() {
    for (Order& order : orders) {
      if (++order.digit < order.most) return true;
      order.digit = 0;
    }
    return false;
  }

 private:
  SimulatedRanks ranks_;

 public:
  std::vector<Order> orders;
  std::vector<std::unique_ptr<Plan>> plans;
};

std::vector<std::vector<Call>> each_alone(const std::vector<Call>& calls) {
  std::vector<std::vector<Call>> all;
  for (const Call& call : calls) all.push_back({call});
  return all;
}

/// Rows of doubles on each rank, and what they come to.
struct Input {
  Deal deal;
  Count columns;
  std::vector<Memory> memory;
  std::vector<double> elements;

  Input(Deal given, Count width, std::uint64_t seed) : deal(std::move(given)), columns(width) {
    Count rows = 0;
    for (const auto& intervals : deal) rows += rows_of(intervals);
    std::mt19937_64 random(seed);
    elements = summands(random, rows * columns);
    for (const auto& intervals : deal) memory.push_back(memory_of(elements, columns, intervals));
  }
  Memory expected(Method method) const {
    std::vector<double> sums;
    for (Count c = 0; c < columns; ++c) {
      const std::vector<double> values = column_of(elements, columns, c);
      sums.push_back(method == Method::tree    ? tree_sum(values)
                     : method == Method::exact ? exact_sum(values)
                                               : binned_sum(values, 3));
    }
    return bytes_of(sums);
  }
};

/// Runs the sum in every order; returns how many there were.
int expect_in_every_order(const Input& input, const std::string& schedule, Method method, Rank root) {
  const Call call{.method = method,
                  .columns = input.columns,
                  .root = root,
                  .collective = call::reduction_to(root),
                  .schedule = schedule,
                  .layout = LayoutKind::intervals};
  const std::vector<Call> calls = calls_for(call, input.deal);
  const Memory expected = input.expected(method);
  OrderedJob job(concluded(calls).agreement.value(), each_alone(calls), 5 + input.deal.size());
  int runs = 0;
  for (bool again = true; again; again = job.next(), ++runs) {
    std::vector<Result> results(calls.size(), Result(expected.size()));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const call::Data data{.first = input.memory[i].data(), .result = results[i].data()};
      job.plans[i]->start(std::span(&data, 1), (runs + static_cast<int>(i)) % 2 == 0);
    }
    EXPECT_TRUE(job.finish()) << "deadlock";
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(job.plans[i]->status(), Status::ok) << "rank " << i;
      const bool has_result = root == all_ranks || root == static_cast<Rank>(i);
      if (has_result) {
        EXPECT_EQ(hex(results[i].bytes()), hex(expected)) << "rank " << i;
      }
      EXPECT_TRUE(has_result ? results[i].guard_intact() : results[i].intact());
    }
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "run " << runs;
      break;
    }
  }
  return runs;
}

/// One on each rank; in a row, with ranks that have none; dealt out one by one; every other one on rank 0, and those
/// between on rank 1, so that rank 0's with the last one, which is rank 2's, take more room than any others.
std::vector<Deal> deals(Rank p) {
  const auto ranks = static_cast<Count>(p);
  std::vector<Count> counts;
  for (Count i = 0; i < ranks; ++i) counts.push_back(i % 3 == 1 ? 0 : 5 * i + 1);
  Deal one_by_one(ranks);
  for (Index row = 0; row < 5 * ranks + 2; ++row) one_by_one[(row * 3 + row / ranks) % ranks].push_back({row, row + 1});
  Deal every_other(ranks);
  for (Index row = 0; row < 40; ++row) every_other[row == 39 ? 2 : row % 2].push_back({row, row + 1});
  return {contiguous_deal(std::vector<Count>(ranks, 1)), contiguous_deal(counts), one_by_one, every_other};
}

struct Tree {
  std::string name;
  Rank p;
  int orders;  // of all ranks together
};

void PrintTo(const Tree& tree, std::ostream* out) { *out << tree.name << " of " << tree.p << " ranks"; }

class EveryOrder : public testing::TestWithParam<Tree> {};

TEST_P(EveryOrder, GivesTheBitsOfTheTree) {
  const auto& [name, p, orders] = GetParam();
  for (const Deal& deal : deals(p)) {
    const Input input(deal, 2, 17);
    for (const Method method : {Method::tree, Method::exact, Method::binned})
      for (const Rank root : {all_ranks, 0, p - 1})
        EXPECT_EQ(expect_in_every_order(input, "multi_notify:tree=" + name, method, root), orders)
            << call::name_of(method) << " to " << root;
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, EveryOrder,
                         testing::Values(Tree{"binary", 3, 2}, Tree{"binary", 7, 8}, Tree{"binary", 9, 8},
                                         Tree{"flat", 4, 6}, Tree{"flat", 5, 24}, Tree{"flat", 6, 120},
                                         Tree{"binomial", 7, 12}, Tree{"binomial", 8, 12}, Tree{"kary:k=3", 8, 12},
                                         Tree{"kary:k=3", 10, 48}, Tree{"chain", 5, 1}),
                         [](const auto& test) {
                           std::string name = test.param.name + "Of" + std::to_string(test.param.p);
                           std::erase_if(name, [](char c) { return c == ':' || c == '='; });
                           return name;
                         });

/// Slots, peers and covers of a wave between groups are renamed; its partials cover whole groups.
TEST(Arrival, BetweenGroups) {
  for (const Deal& deal : deals(8))
    for (const Method method : {Method::tree, Method::exact})
      for (const Rank root : {all_ranks, 5})
        EXPECT_EQ(
            expect_in_every_order(Input(deal, 2, 31), "two_level:size=2:outer=[multi_notify:tree=flat]", method, root),
            6);
}

/// Values stand apart from heads, and go to the result at once where nothing else is to be merged.
TEST(WideRowsInEveryOrder, HaveTheBitsOfTheTree) {
  for (const std::string name : {"flat", "binary"}) {
    for (const Rank p : {3, 4, 5}) {
      for (const Deal& deal : deals(p)) {
        const Input input(deal, 1200, 23);
        const int runs = expect_in_every_order(input, "multi_notify:tree=" + name, Method::tree, all_ranks);
        EXPECT_EQ(runs, name == "binary" ? 2 : p == 3 ? 2 : p == 4 ? 6 : 24);
      }
    }
  }
}

/// Calls to the operator below.
int combined = 0;

/// Neither commutative nor associative.
int blend(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* const l = static_cast<const double*>(left);
  const auto* const r = static_cast<const double*>(right);
  for (std::size_t i = 0; i < count; ++i) static_cast<double*>(result)[i] = 0.75 * l[i] + r[i];
  ++combined;
  return 0;
}

/// Rank 1 is the first child and comes last: ranks 2 to 5, of which 2 and 3 are siblings and 4 and 5, are merged
/// before.
TEST(Arrival, NobodyWaitsForTheSlowestChildButTheSend) {
  for (const std::string schedule : {"multi_notify:tree=flat", "single_notify:tree=flat"}) {
    const Input input(contiguous_deal(std::vector<Count>(6, 1)), 1, 3);
    const Call call{.operation = arithmetic::Operation::user,
                    .method = Method::tree,
                    .type = arithmetic::Type::bytes,
                    .result_type = arithmetic::Type::bytes,
                    .root = 0,
                    .collective = schedule::Collective::reduce,
                    .schedule = schedule,
                    .user = {.apply = blend, .element_bytes = sizeof(double), .is_users = true},
                    .layout = LayoutKind::row_per_rank};
    const std::vector<Call> calls = calls_for(call, input.deal);
    OrderedJob job(concluded(calls).agreement.value(), each_alone(calls), 8);
    job.orders[0].holds_back = true;
    std::vector<Result> results(calls.size(), Result(sizeof(double)));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const call::Data data{.first = input.memory[i].data(), .result = results[i].data()};
      job.plans[i]->start(std::span(&data, 1));
    }
    combined = 0;
    EXPECT_FALSE(job.finish());
    EXPECT_EQ(job.orders[0].came, (std::vector<Rank>{2, 3, 4, 5}));
    EXPECT_EQ(combined, schedule.starts_with("multi") ? 2 : 0) << schedule;
    job.orders[0].holds_back = false;
    EXPECT_TRUE(job.finish());
    EXPECT_EQ(combined, 5);
    const double expected = reference::tree(input.elements, [](double a, double b) { return 0.75 * a + b; });
    EXPECT_EQ(hex(results[0].bytes()), hex(bytes_of(std::vector<double>{expected})));
  }
}

/// Integers by plain, and a bundle with records of several sizes.
TEST(Arrival, OfBundlesAndIntegers) {
  constexpr Rank p = 6;
  const Input doubles(deals(p)[2], 3, 29);
  std::vector<std::int64_t> integers(doubles.elements.size() / 3);
  std::iota(integers.begin(), integers.end(), std::int64_t{1} << 60);
  std::int64_t sum = 0;
  for (const std::int64_t each : integers)
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(each));
  std::vector<Memory> integer_memory;
  for (const auto& intervals : doubles.deal) integer_memory.push_back(memory_of(integers, 1, intervals));

  const Call by_tree{
      .method = Method::tree, .columns = 3, .schedule = "multi_notify:tree=flat", .layout = LayoutKind::intervals};
  Call by_plain = by_tree;
  by_plain.method = Method::plain;
  by_plain.type = by_plain.result_type = arithmetic::Type::i64;
  by_plain.columns = 1;
  std::vector<std::vector<Call>> calls(p);
  const std::vector<Call> trees = calls_for(by_tree, doubles.deal);
  const std::vector<Call> plains = calls_for(by_plain, doubles.deal);
  std::vector<Memory> proposals;
  std::vector<std::span<const std::byte>> spans;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i] = {trees[i], plains[i]};
    proposals.push_back(plan::propose(calls[i], static_cast<Rank>(i), nullptr));
  }
  const Concluded agreed = concluded(proposals);
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  OrderedJob job(*agreed.agreement, calls, 12);
  int runs = 0;
  for (bool again = true; again && !testing::Test::HasFailure(); again = job.next(), ++runs) {
    std::vector<Result> of_trees(calls.size(), Result(24));
    std::vector<Result> of_plains(calls.size(), Result(8));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::vector<call::Data> data = {{.first = doubles.memory[i].data(), .result = of_trees[i].data()},
                                            {.first = integer_memory[i].data(), .result = of_plains[i].data()}};
      job.plans[i]->start(data);
    }
    ASSERT_TRUE(job.finish());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(job.plans[i]->status(), Status::ok);
      EXPECT_EQ(hex(of_trees[i].bytes()), hex(doubles.expected(Method::tree)));
      EXPECT_EQ(hex(of_plains[i].bytes()), hex(bytes_of(std::vector<std::int64_t>{sum})));
    }
  }
  EXPECT_EQ(runs, 120);
}

/// More children than slots: two waves, each of 64 at most, in orders of which only some are tried.
TEST(Arrival, OfMoreChildrenThanSlots) {
  constexpr Rank p = 70;
  std::mt19937_64 random(41);
  const Input input(contiguous_deal(std::vector<Count>(p, 2)), 1, 37);
  const std::vector<Call> calls = calls_for(
      {.method = Method::tree, .schedule = "multi_notify:tree=flat", .layout = LayoutKind::rank_order}, input.deal);
  OrderedJob job(concluded(calls).agreement.value(), each_alone(calls), 9);
  const Memory expected = input.expected(Method::tree);
  for (int run = 0; run < 20; ++run) {
    job.orders[0].digit = random();
    job.orders[0].came.clear();
    std::vector<Result> results(calls.size(), Result(8));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const call::Data data{.first = input.memory[i].data(), .result = results[i].data()};
      job.plans[i]->start(std::span(&data, 1));
    }
    ASSERT_TRUE(job.finish());
    EXPECT_EQ(job.orders[0].came.size(), 69u);
    EXPECT_FALSE(std::is_sorted(job.orders[0].came.begin(), job.orders[0].came.end()));
    for (const Result& result : results) ASSERT_EQ(hex(result.bytes()), hex(expected)) << "run " << run;
  }
}

}  // namespace
}  // namespace steadfold::test::arrival_test
