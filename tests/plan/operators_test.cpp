// Operators that show every change of order, and every built-in one of every type, through every schedule that may
// serve them. Tree results are the recursion's; plain ones keep rank order, or their operator has none.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "order/distribution.hpp"
#include "order/recursion.hpp"
#include "plan/choice.hpp"
#include "support/inputs.hpp"
#include "support/sanitized.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::operators_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

/// Text up to 500 characters; combined into "(left right)" or, associative but not commutative, into "leftright".
struct Text {
  char at[504];
};

int combine(const void* left, const void* right, void* result, std::size_t count, bool bracketed) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string l = static_cast<const Text*>(left)[i].at;
    const std::string r = static_cast<const Text*>(right)[i].at;
    const std::string text = bracketed ? "(" + l + " " + r + ")" : l + r;
    if (text.size() >= sizeof(Text)) return 1;
    Text both{};
    std::copy(text.begin(), text.end(), both.at);
    static_cast<Text*>(result)[i] = both;
  }
  return 0;
}

int bracket(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  return combine(left, right, result, count, true);
}

int concatenate(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  return combine(left, right, result, count, false);
}

std::vector<Text> letters(Count count) {
  std::vector<Text> all(count);
  for (Count i = 0; i < count; ++i)
    all[i].at[0] = static_cast<char>('A' + i % 26), all[i].at[1] = static_cast<char>('a' + i / 26);
  return all;
}

struct Matrix {
  double at[4];
};

Matrix product(const Matrix& a, const Matrix& b) {
  return {{a.at[0] * b.at[0] + a.at[1] * b.at[2], a.at[0] * b.at[1] + a.at[1] * b.at[3],
           a.at[2] * b.at[0] + a.at[3] * b.at[2], a.at[2] * b.at[1] + a.at[3] * b.at[3]}};
}

/// What steadfold.h promises of 32-byte elements: aligned to 16, and a result that is left or apart from both.
bool as_promised(const void* left, const void* right, const void* result, std::size_t bytes) {
  const auto l = reinterpret_cast<std::uintptr_t>(left);
  const auto r = reinterpret_cast<std::uintptr_t>(right);
  const auto to = reinterpret_cast<std::uintptr_t>(result);
  const auto apart = [bytes](std::uintptr_t a, std::uintptr_t b) { return a + bytes <= b || b + bytes <= a; };
  return l % 16 == 0 && r % 16 == 0 && to % 16 == 0 && apart(r, to) && (l == to || apart(l, to));
}

int multiply(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  if (!as_promised(left, right, result, count * sizeof(Matrix))) return 1;
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<Matrix*>(result)[i] =
        product(static_cast<const Matrix*>(left)[i], static_cast<const Matrix*>(right)[i]);
  }
  return 0;
}

Call user_call(arithmetic::Apply apply, Bytes element_bytes, Method method, bool may_fail) {
  return {.operation = Operation::user,
          .method = method,
          .type = Type::bytes,
          .result_type = Type::bytes,
          .user = {.apply = apply, .element_bytes = element_bytes},
          .operator_name = "test",
          .user_may_fail = may_fail,
          .layout = LayoutKind::intervals};
}

/// Runs a call by every schedule and root that serves it and compares all results.
template <class T>
void expect_from_every_schedule(Call call, const Deal& deal, const std::vector<T>& elements, const Memory& expected,
                                std::uint64_t seed) {
  const auto p = static_cast<Rank>(deal.size());
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(elements, call.columns, intervals));
  int served = 0;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const Rank root : {all_ranks, 0, p / 2, p - 1}) {
      const std::string name(algorithm.name);
      call.root = root;
      call.collective = call::reduction_to(root);
      call.schedule = name;
      const std::vector<Call> calls = calls_for(call, deal);
      const Concluded agreed = concluded(calls);
      if (agreed.status == Status::unsupported) continue;
      ASSERT_TRUE(agreed.agreement) << agreed.text;
      ++served;
      SCOPED_TRACE(testing::Message() << name << ", root " << root << ", p " << p << ", seed " << seed);
      SimulatedRanks ranks(p, seed + static_cast<std::uint64_t>(served),
                           seed % 2 == 0 ? Sends::synchronous : Sends::buffered);
      SimulatedJob job(ranks, *agreed.agreement, calls);
      expect_result(run(ranks, job, memory, expected.size()), root, expected);
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GE(served, 4);
}

Deal random_deal(std::mt19937_64& random, Rank p, Count n, bool contiguous) {
  Deal deal(static_cast<std::size_t>(p));
  if (contiguous) {
    std::vector<Count> counts(deal.size());
    for (Count i = 0; i < n; ++i) ++counts[random() % counts.size() / (1 + random() % 2)];
    return contiguous_deal(counts);
  }
  for (Index begin = 0; begin < n;) {
    const Interval piece{begin, std::min(n, begin + 1 + random() % 7)};
    deal[random() % deal.size()].push_back(piece);
    begin = piece.end;
  }
  for (auto& pieces : deal) std::shuffle(pieces.begin(), pieces.end(), random);
  return deal;
}

TEST(UserOperators, BracketedTextsAreTheExpressionOfTheTree) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const Rank p = 1 + static_cast<Rank>(random() % 13);
    const Count n = 1 + random() % 60;
    const auto texts = letters(n);
    const auto leaf = [&](Index x) { return std::string(texts[x].at); };
    const std::string whole =
        reference::tree(n, leaf, [](const std::string& l, const std::string& r) { return "(" + l + " " + r + ")"; });
    Memory expected(sizeof(Text));
    std::memcpy(expected.data(), whole.data(), whole.size());
    const Call call = user_call(bracket, sizeof(Text), seed % 3 == 0 ? Method::automatic : Method::tree, seed % 2 == 0);
    expect_from_every_schedule(call, random_deal(random, p, n, seed % 4 == 0), texts, expected, seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(UserOperators, MatrixProductsAreThoseOfTheTree) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    const Rank p = 1 + static_cast<Rank>(random() % 13);
    const Count n = 1 + random() % 200;
    std::vector<Matrix> matrices(2 * n);  // two columns
    for (Matrix& m : matrices)
      for (double& x : m.at) x = static_cast<double>(static_cast<std::int64_t>(random())) * 0x1p-62;
    std::vector<Matrix> expected;
    for (Count column = 0; column < 2; ++column) {
      const auto leaf = [&](Index x) { return matrices[2 * x + column]; };
      expected.push_back(reference::tree(n, leaf, product));
    }
    Call call = user_call(multiply, sizeof(Matrix), Method::tree, seed % 2 == 0);
    call.columns = 2;
    expect_from_every_schedule(call, random_deal(random, p, n, seed % 3 == 0), matrices, bytes_of(expected), seed);
    if (testing::Test::HasFailure()) return;
  }
}

/// Plain with an operator that does not commute is offered only where rank order is kept: texts stand in order.
TEST(UserOperators, PlainTextsStandInRankOrder) {
  for (std::uint64_t seed = 1; seed <= 60; seed += sanitized ? 5 : 1) {
    std::mt19937_64 random(seed);
    const Rank p = 1 + static_cast<Rank>(random() % 20);
    const Count n = 1 + random() % 100;
    const auto texts = letters(n);
    std::string whole;
    for (const Text& text : texts) whole += text.at;
    Memory expected(sizeof(Text));
    std::memcpy(expected.data(), whole.data(), whole.size());
    const Call call = user_call(concatenate, sizeof(Text), Method::plain, seed % 2 == 0);
    expect_from_every_schedule(call, random_deal(random, p, n, true), texts, expected, seed);
    if (testing::Test::HasFailure()) return;
  }
}

/// Ranks before the first row have nothing; that is no failure of those behind.
TEST(UserOperators, ScansBeginWithTheFirstRow) {
  const std::vector<Text> texts = letters(3);
  const Deal deal = contiguous_deal({0, 1, 0, 1, 1});
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(texts, 1, intervals));
  using schedule::Collective;
  for (const Collective collective : {Collective::scan, Collective::exscan}) {
    const std::size_t first = collective == Collective::scan ? 1 : 2;
    for (const bool may_fail : {true, false}) {
      SCOPED_TRACE(testing::Message() << schedule::name_of(collective) << (may_fail ? ", may fail" : ""));
      Call call = user_call(bracket, sizeof(Text), Method::tree, may_fail);
      call.collective = collective;
      const std::vector<Call> calls = calls_for(call, deal);
      SimulatedRanks ranks(5, 1);
      SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
      const Outcome outcome = run(ranks, job, memory, sizeof(Text));
      ASSERT_FALSE(outcome.stuck);
      for (std::size_t i = 0; i < 5; ++i) {
        const bool is_empty = i < first && (collective == Collective::scan || i > 0);
        EXPECT_EQ(outcome.statuses[i], is_empty ? Status::empty : Status::ok) << i;
      }
    }
  }
}

TEST(UserOperators, OfNothingReportEmpty) {
  for (const Method method : {Method::tree, Method::plain}) {
    for (const bool may_fail : {true, false}) {
      for (const Rank root : {all_ranks, 2}) {
        const Deal deal(5);
        Call call = user_call(bracket, sizeof(Text), method, may_fail);
        call.root = root;
        call.collective = call::reduction_to(root);
        const std::vector<Call> calls = calls_for(call, deal);
        SimulatedRanks ranks(5, 1);
        SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
        const Outcome outcome = run(ranks, job, std::vector<Memory>(5), sizeof(Text));
        ASSERT_FALSE(outcome.stuck);
        for (std::size_t i = 0; i < 5; ++i) {
          if (root == all_ranks || i == 2) {
            EXPECT_EQ(outcome.statuses[i], Status::empty);
          }
          EXPECT_TRUE(outcome.results[i].intact());
        }
      }
    }
  }
}

// --- built-in operators of every type
// ----------------------------------------------------------------------------------

template <class T>
T combined(Operation operation, T a, T b) {
  using U = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (operation) {
    case Operation::sum: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Operation::product: return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    case Operation::min: return a < b ? a : b;
    default: return a > b ? a : b;
  }
}

/// Every operation by tree and, where no order can show, by plain and by the automatic choice.
template <class T>
void expect_built_in(Type type) {
  for (const Operation operation : {Operation::sum, Operation::product, Operation::min, Operation::max}) {
    for (const Method method : {Method::tree, Method::plain, Method::automatic}) {
      const bool order_free = std::is_integral_v<T> || operation == Operation::min || operation == Operation::max;
      if (!order_free && method != Method::tree) continue;
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        std::mt19937_64 random(seed);
        const Rank p = 1 + static_cast<Rank>(random() % 11);
        const Count n = seed == 1 ? 1 : 2 + random() % 100;
        std::vector<T> elements(n);
        for (T& x : elements) {
          x = std::is_integral_v<T> ? static_cast<T>(random()) : static_cast<T>(random() % 20000) / 7 - 1000;
        }
        const T expected = reference::tree(elements, [operation](T a, T b) { return combined(operation, a, b); });
        const Call call{.operation = operation,
                        .method = method,
                        .type = type,
                        .result_type = type,
                        .layout = LayoutKind::intervals};
        SCOPED_TRACE(testing::Message() << arithmetic::name_of(operation) << " of " << arithmetic::name_of(type)
                                        << " by " << call::name_of(method));
        expect_from_every_schedule(call, random_deal(random, p, n, false), elements, bytes_of(std::vector<T>{expected}),
                                   seed);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(BuiltInOperators, OfF64) { expect_built_in<double>(Type::f64); }
TEST(BuiltInOperators, OfF32) { expect_built_in<float>(Type::f32); }
TEST(BuiltInOperators, OfI32) { expect_built_in<std::int32_t>(Type::i32); }
TEST(BuiltInOperators, OfI64) { expect_built_in<std::int64_t>(Type::i64); }
TEST(BuiltInOperators, OfU32) { expect_built_in<std::uint32_t>(Type::u32); }
TEST(BuiltInOperators, OfU64) { expect_built_in<std::uint64_t>(Type::u64); }

/// Small integers, so that the machine's double arithmetic is exact; the exact partial's own tests do the rest.
TEST(ExactOperators, DotAndNorm) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    const Rank p = 1 + static_cast<Rank>(random() % 9);
    const Count n = random() % 60;
    std::vector<double> x(n);
    std::vector<double> y(n);
    for (Count i = 0; i < n; ++i)
      x[i] = static_cast<double>(random() % 2001) - 1000, y[i] = static_cast<double>(random() % 77);
    const Deal deal = random_deal(random, p, n, true);
    std::vector<Memory> first;
    std::vector<Memory> second;
    for (const auto& intervals : deal)
      first.push_back(memory_of(x, 1, intervals)), second.push_back(memory_of(y, 1, intervals));
    for (const Operation operation : {Operation::dot, Operation::norm2}) {
      const bool dot = operation == Operation::dot;
      const double expected = dot ? std::inner_product(x.begin(), x.end(), y.begin(), 0.0)
                                  : std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
      for (const auto* name : {"flat", "linear", "binomial", "recursive_doubling", "native"}) {
        const Call call{.operation = operation, .schedule = name, .layout = LayoutKind::intervals};
        const std::vector<Call> calls = calls_for(call, deal);
        SimulatedRanks ranks(p, seed);
        SimulatedJob job(ranks, concluded(calls).agreement.value(), calls);
        SCOPED_TRACE(testing::Message() << name << ", p " << p << ", seed " << seed);
        expect_result(run(ranks, job, first, 8, 1, dot ? second : std::vector<Memory>{}), all_ranks,
                      bytes_of(std::vector<double>{expected}));
      }
    }
  }
}

/// The mask has one byte per row, however many columns there are and however they are cut into segments; what is left
/// out is NaN. Against the same sums of rows that are zeros instead.
TEST(MaskedOperators, LeaveRowsOutThatStillCount) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    std::mt19937_64 random(seed);
    const Rank p = 1 + static_cast<Rank>(seed % 8);
    const Count n = random() % 80;
    const Count columns = 1 + seed % 3;
    std::vector<std::uint8_t> mask(n);
    for (auto& byte : mask) byte = seed % 6 == 0 ? 0 : static_cast<std::uint8_t>(random() % 3);
    std::vector<double> rows = summands(random, n * columns);
    std::vector<double> selected = rows;
    for (Count i = 0; i < n * columns; ++i)
      if (mask[i / columns] == 0) rows[i] = std::numeric_limits<double>::quiet_NaN(), selected[i] = 0;
    std::vector<double> exactly;
    for (Count column = 0; column < columns; ++column)
      exactly.push_back(exact_sum(column_of(selected, columns, column)));
    const Deal deal = random_deal(random, p, n, false);
    std::vector<Memory> first;
    std::vector<Memory> second;
    for (const auto& intervals : deal)
      first.push_back(memory_of(rows, columns, intervals)), second.push_back(memory_of(mask, 1, intervals));
    for (const auto* name :
         {"flat", "linear", "binomial", "recursive_doubling", "native", "pipelined_linear:block=1"}) {
      for (const unsigned threads : {1U, 3U}) {
        Call call{.operation = Operation::masked_sum,
                  .columns = columns,
                  .schedule = name,
                  .layout = LayoutKind::intervals,
                  .threads = threads};
        std::vector<Call> calls = calls_for(call, deal);
        SCOPED_TRACE(testing::Message() << name << ", p " << p << ", threads " << threads << ", seed " << seed);
        const std::uint32_t segments =
            std::string_view(name).starts_with("pipelined") ? static_cast<std::uint32_t>(columns) : 1;
        SimulatedRanks ranks(p, seed);
        const auto agreed = concluded(calls);
        ASSERT_TRUE(agreed.agreement) << agreed.text;
        SimulatedJob job(ranks, *agreed.agreement, calls, segments);
        expect_result(run(ranks, job, first, 8 * columns, segments, second), all_ranks, bytes_of(exactly));
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::test::operators_test
