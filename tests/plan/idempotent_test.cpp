// Dissemination in its original form, in which ranks count twice: minima, maxima and their locations of rows with NaNs,
// infinities and both zeros have the bits of the same rows taken one by one, on every rank, in whatever order messages
// come. All else is refused, with one text on all ranks.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "support/simulated_job.hpp"

namespace steadfold::test::idempotent_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;
using Values = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan_with_payload = std::bit_cast<double>(std::uint64_t{0xFFF8000000C0FFEE});
constexpr std::array all_ports = {1, 2, 3, 5, 8};

std::string original(int ports) { return "original_dissemination:n=" + std::to_string(ports); }

/// Few different values, so that ties, zeros and infinities decide. NaNs only now and then: one is the result.
Values values_of(std::mt19937_64& random, Count count) {
  const Values some = {0.0, -0.0, infinity, -infinity, 1.5, -1.5, 5e-324, -5e-324, nan, nan_with_payload};
  const std::size_t kinds = random() % 3 == 0 ? some.size() : some.size() - 2;
  const std::size_t first = random() % 3 == 0 ? 0 : random() % 4;
  Values values(count);
  for (double& each : values) each = some[first + random() % (kinds - first)];
  return values;
}

/// Less by IEEE 754-2019's order of minimum: a NaN before all, -0 before +0; for the maximum the other way round.
bool is_better(double a, double b, bool least) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  if (a == b) return std::signbit(a) != std::signbit(b) && std::signbit(a) == least;
  return least ? a < b : a > b;
}

/// The row that wins in a column: the first of the best.
Index best_row(const Values& values, Count columns, Count column, bool least) {
  Index best = 0;
  for (Index row = 1; row < values.size() / columns; ++row)
    if (is_better(values[row * columns + column], values[best * columns + column], least)) best = row;
  return best;
}

Memory wanted(const Values& values, Count columns, Operation operation) {
  const bool least = operation == Operation::min || operation == Operation::min_location;
  Memory bytes;
  const auto add = [&](auto value) {
    const Memory more = bytes_of(std::vector{value});
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  for (Count column = 0; column < columns; ++column) {
    const Index row = best_row(values, columns, column, least);
    const double best = values[row * columns + column];
    add(std::isnan(best) ? nan : best);
    if (arithmetic::is_location(operation)) add(row);
  }
  return bytes;
}

/// The name must outlive the call.
Call call_of(Operation operation, std::string_view schedule, Count columns = 3) {
  return {.operation = operation,
          .method = Method::plain,
          .columns = columns,
          .schedule = schedule,
          .layout = LayoutKind::rank_order};
}

/// Messages and rounds are those of the formulas, too.
void expect_bits(const Call& call, const Deal& deal, const Values& values, std::uint64_t seed) {
  const auto p = static_cast<Rank>(deal.size());
  const std::vector<Call> calls = calls_for(call, deal);
  const Concluded agreed = concluded(calls);
  ASSERT_TRUE(agreed.agreement) << agreed.text;
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(values, call.columns, intervals));
  const Memory expected = wanted(values, call.columns, call.operation);
  SimulatedRanks ranks(p, seed, seed % 3 == 0 ? Sends::synchronous : Sends::buffered);
  SimulatedJob job(ranks, *agreed.agreement, calls);
  job.trace(true);
  for (int again = 0; again < 2; ++again) {
    expect_result(run(ranks, job, memory, expected.size()), all_ranks, expected);
    const schedule::Context context = plan::context_of(*agreed.agreement);
    EXPECT_EQ(job.messages(), agreed.agreement->schedule.algorithm->messages(context));
    EXPECT_EQ(job.rounds(), agreed.agreement->schedule.algorithm->rounds(context));
  }
}

class Idempotent : public testing::TestWithParam<Rank> {};

TEST_P(Idempotent, OperatorsMayCountRanksTwice) {
  const Rank p = GetParam();
  std::uint64_t seed = 400 * static_cast<std::uint64_t>(p);
  std::mt19937_64 random(seed);
  for (const Operation operation : {Operation::min, Operation::max, Operation::min_location, Operation::max_location}) {
    for (const int ports : all_ports) {
      std::vector<Count> counts(static_cast<std::size_t>(p));
      for (Count& count : counts) count = random() % 3;
      counts.back() += 1;
      const Deal deal = contiguous_deal(counts);
      const std::string name = original(ports);
      const Call call = call_of(operation, name, 1 + random() % 4);
      const Values values = values_of(random, call.columns * std::reduce(counts.begin(), counts.end()));
      SCOPED_TRACE(testing::Message() << name_of(operation) << " by " << call.schedule << ", p " << p << ", columns "
                                      << call.columns << ", seed " << ++seed);
      expect_bits(call, deal, values, seed);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Idempotent, testing::Range(1, 65));

/// Of elements that are converted first, and between the first ranks of groups.
TEST(OriginalDissemination, ServesOtherTypesAndGroups) {
  for (const Rank p : {1, 2, 5, 7, 13, 22}) {
    const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
    std::mt19937_64 random(static_cast<std::uint64_t>(p));
    for (const std::string name : {"original_dissemination", "two_level:size=3:outer=[original_dissemination:n=2]"}) {
      const Call call = call_of(Operation::max, name, 1);
      const std::vector<Call> calls = calls_for(call, deal);
      const Values values = values_of(random, static_cast<Count>(p));
      std::vector<Memory> memory;
      for (const auto& intervals : deal) memory.push_back(memory_of(values, 1, intervals));
      SimulatedRanks ranks(p, 3);
      SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
      expect_result(run(ranks, job, memory, 8), all_ranks, wanted(values, 1, Operation::max));
    }
    for (const Type type : {Type::i32, Type::u64, Type::f32, Type::bf16}) {
      Call call = call_of(Operation::min, "original_dissemination:n=2");
      call.type = type;
      call.result_type = type == Type::bf16 ? Type::f32 : type;
      EXPECT_TRUE(concluded(calls_for(call, deal)).agreement) << name_of(type);
    }
  }
}

TEST(OriginalDissemination, IsNeverTakenUnasked) {
  for (const Rank p : {2, 3, 5, 7, 13, 33, 64}) {
    for (const Count columns : {Count{1}, Count{1000}, Count{100'000}}) {
      for (const std::string_view policy : {"", "auto", "mpich"}) {
        const Deal deal = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
        const Concluded found = concluded(calls_for(call_of(Operation::min, policy, columns), deal));
        ASSERT_TRUE(found.agreement) << found.text;
        EXPECT_EQ(found.agreement->schedule.algorithm->counts, schedule::Counts::once);
      }
    }
  }
}

TEST(OriginalDissemination, RefusesWhatIsNotIdempotent) {
  const Deal deal = contiguous_deal(std::vector<Count>(5, 1));
  const auto refused = [&](Call call, const std::string& method) {
    const Concluded found = concluded(calls_for(call, deal));
    EXPECT_EQ(found.status, Status::unsupported);
    EXPECT_EQ(found.text, "schedule 'original_dissemination' cannot serve method '" + method +
                              "' with this operator (it counts some ranks twice, which is correct only for min, max "
                              "and their locations with method plain), choose another schedule");
  };
  for (const std::string name : {"original_dissemination:n=2", "two_level:outer=[original_dissemination]"}) {
    for (const Operation operation : {Operation::sum, Operation::product, Operation::abs_sum, Operation::masked_sum}) {
      Call call = call_of(operation, name);
      refused(call, "plain");
      call.type = call.result_type = Type::i64;
      if (operation != Operation::abs_sum) refused(call, "plain");
    }
    for (const Method method : {Method::tree, Method::exact, Method::binned}) {
      Call call = call_of(Operation::sum, name);
      call.method = method;
      refused(call, std::string(call::name_of(method)));
    }
    Call least = call_of(Operation::min, name);
    least.method = Method::tree;  // its records would overlap
    refused(least, "tree");
    Call users = call_of(Operation::user, name);
    users.type = users.result_type = Type::bytes;
    users.user = {.apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; },
                  .element_bytes = 8,
                  .commutative = true};
    refused(users, "plain");
  }
  Call rooted = call_of(Operation::min, "original_dissemination");
  rooted.root = 0;
  rooted.collective = schedule::Collective::reduce;
  EXPECT_EQ(
      concluded(calls_for(rooted, deal)).text,
      "schedule 'original_dissemination' cannot serve reduce (it offers allreduce only), choose another schedule");
}

}  // namespace
}  // namespace steadfold::test::idempotent_test
