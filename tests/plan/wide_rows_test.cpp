// Rows so wide that their values stand apart from the rest of a partial: sent from where they are and received where
// they are due, or not, where the caller may be gone before the end or the result takes the rows' place. Against the
// recursion, by every schedule.
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "order/recursion.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test::wide_rows_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;

/// Associative up to rounding, and not commutative.
struct Matrix {
  double at[4];
};

Matrix product(const Matrix& a, const Matrix& b) {
  return {{a.at[0] * b.at[0] + a.at[1] * b.at[2], a.at[0] * b.at[1] + a.at[1] * b.at[3],
           a.at[2] * b.at[0] + a.at[3] * b.at[2], a.at[2] * b.at[1] + a.at[3] * b.at[3]}};
}

/// Fails where `context` points to true.
int multiply(const void* left, const void* right, void* result, std::size_t count, void* context) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<Matrix*>(result)[i] =
        product(static_cast<const Matrix*>(left)[i], static_cast<const Matrix*>(right)[i]);
  return context != nullptr && *static_cast<const bool*>(context) ? 1 : 0;
}

/// How a caller may call: who waits within the call lets it work on the caller's own memory.
enum class Way { waiting, starting, in_place };

template <class T>
struct Job {
  Call call;
  Count columns;
  std::vector<T> elements;
  std::vector<T> expected;
};

Job<double> sums(Count rows, Count columns, std::mt19937_64& random) {
  Job<double> job{.call = {.method = Method::tree, .columns = columns, .layout = LayoutKind::rank_order},
                  .columns = columns,
                  .elements = std::vector<double>(rows * columns),
                  .expected = {}};
  std::uniform_real_distribution<double> unit(-1, 1);
  for (double& x : job.elements) x = std::ldexp(unit(random), static_cast<int>(random() % 60));
  for (Count i = 0; i < 3; ++i) job.elements[random() % job.elements.size()] = -std::nan("0xC0FFEE");
  for (Count c = 0; c < columns; ++c) {
    double sum = reference::tree(
        rows, [&](Index row) { return job.elements[row * columns + c]; }, [](double a, double b) { return a + b; });
    if (std::isnan(sum)) sum = std::numeric_limits<double>::quiet_NaN();
    job.expected.push_back(sum);
  }
  return job;
}

Job<Matrix> products(Count rows, Count columns, std::mt19937_64& random) {
  Job<Matrix> job{.call = {.operation = Operation::user,
                           .method = Method::tree,
                           .type = Type::bytes,
                           .result_type = Type::bytes,
                           .columns = columns,
                           .user = {.apply = multiply, .element_bytes = sizeof(Matrix), .is_users = true},
                           .user_may_fail = false,
                           .layout = LayoutKind::rank_order},
                  .columns = columns,
                  .elements = std::vector<Matrix>(rows * columns),
                  .expected = {}};
  std::uniform_real_distribution<double> unit(-1, 1);
  for (Matrix& matrix : job.elements)
    for (double& x : matrix.at) x = unit(random);
  for (Count c = 0; c < columns; ++c)
    job.expected.push_back(reference::tree(
        rows, [&](Index row) { return job.elements[row * columns + c]; }, product));
  return job;
}

/// Runs it twice, in one way, and holds every rank's result against what is expected.
template <class T>
void expect_runs(const Job<T>& job, const Deal& deal, const std::vector<Call>& calls, const Agreement& agreed,
                 Way way) {
  const auto p = static_cast<Rank>(deal.size());
  const Bytes result_bytes = job.columns * sizeof(T);
  SimulatedRanks ranks(p, 11, p % 2 == 0 ? Sends::buffered : Sends::synchronous);
  SimulatedJob plans(ranks, agreed, calls, 0);
  for (int again = 0; again < 2; ++again) {
    std::vector<Memory> memory;
    std::vector<Memory> results;
    for (const auto& intervals : deal) memory.push_back(memory_of(job.elements, job.columns, intervals));
    for (Memory& rows : memory) {
      results.emplace_back(result_bytes + 16, std::byte{0xEE});
      if (way == Way::in_place) rows.resize(std::max(rows.size(), result_bytes));
    }
    const auto place = [&](std::size_t i) { return way == Way::in_place ? memory[i].data() : results[i].data(); };
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const call::Data data{.first = memory[i].data(), .result = place(i)};
      plans.plan(static_cast<Rank>(i)).start(std::span(&data, 1), way != Way::starting);
    }
    ASSERT_TRUE(finish(ranks, {&plans}, 40)) << "deadlock";
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const auto rank = static_cast<Rank>(i);
      ASSERT_EQ(plans.plan(rank).status(), Status::ok);
      if (agreed.root() == all_ranks || agreed.root() == rank) {
        ASSERT_EQ(std::memcmp(place(i), job.expected.data(), result_bytes), 0) << "rank " << i << ", run " << again;
      } else if (way != Way::in_place) {
        ASSERT_EQ(std::ranges::count(results[i], std::byte{0xEE}), static_cast<long>(results[i].size()));
      }
      ASSERT_EQ(results[i].back(), std::byte{0xEE}) << "written past the result";
    }
  }
}

template <class T>
int expect_everywhere(const Job<T>& job, const Deal& deal) {
  int found = 0;
  for (const schedule::Algorithm& algorithm : schedule::registry()) {
    for (const Rank root : {all_ranks, static_cast<Rank>(deal.size()) - 1}) {
      Call call = job.call;
      const std::string name(algorithm.name);
      call.schedule = name;
      call.root = root;
      call.collective = call::reduction_to(root);
      const std::vector<Call> calls = calls_for(call, deal);
      const Concluded agreed = concluded(calls);
      if (agreed.status == Status::unsupported) continue;
      for (const Way way : {Way::waiting, Way::starting, Way::in_place}) {
        SCOPED_TRACE(testing::Message() << name << ", " << deal.size() << " ranks, root " << root << ", " << job.columns
                                        << " columns, way " << static_cast<int>(way));
        expect_runs(job, deal, calls, agreed.agreement.value(), way);
        if (testing::Test::HasFailure()) return found;
        ++found;
      }
    }
  }
  return found;
}

/// Half a row per rank, so that schedules that deal columns to ranks have wide segments too.
constexpr Count wide_columns(Rank ranks, Bytes element) { return (8192 / element + 1) * static_cast<Count>(ranks); }

class WideRows : public testing::TestWithParam<Rank> {
 protected:
  Rank p = GetParam();
  std::mt19937_64 random{static_cast<std::uint64_t>(p) + 20};
  Deal one_row_per_rank = contiguous_deal(std::vector<Count>(static_cast<std::size_t>(p), 1));
};

TEST_P(WideRows, GiveTheSumsOfTheTree) {
  EXPECT_GT(expect_everywhere(sums(one_row_per_rank.size(), wide_columns(p, 8), random), one_row_per_rank), 50);
}

TEST_P(WideRows, AndNarrowOnesToo) {
  EXPECT_GT(expect_everywhere(sums(one_row_per_rank.size(), 3, random), one_row_per_rank), 50);
  EXPECT_GT(expect_everywhere(products(one_row_per_rank.size(), 3, random), one_row_per_rank), 30);
}

TEST_P(WideRows, KeepTheOrderOfProducts) {
  EXPECT_GT(expect_everywhere(products(one_row_per_rank.size(), wide_columns(p, 32), random), one_row_per_rank), 30);
}

TEST_P(WideRows, OfRanksWithSeveralOrNone) {
  std::vector<Count> counts;
  for (Count i = 0; i < static_cast<Count>(p); ++i) counts.push_back((i * 5 + 2) % 4);
  const Deal deal = contiguous_deal(counts);
  Count rows = 0;
  for (const Count count : counts) rows += count;
  EXPECT_GT(expect_everywhere(sums(rows, wide_columns(1, 8), random), deal), 50);
}

INSTANTIATE_TEST_SUITE_P(Ranks, WideRows, testing::Values(1, 2, 3, 4, 5, 8));

/// The bytes of a long double that hold no bits of it are not the caller's in a message, and the rank's only row is not
/// sent from where it is.
TEST(RowsOfLongDoubles, AreThePartialsOfTheirNumbersAlone) {
  constexpr Bytes used = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);  // of an x87's
  constexpr long double number = 1.5L;
  for (const Count columns : {1u, 600u}) {
    const Call call{.method = Method::tree,
                    .type = Type::long_double,
                    .result_type = Type::long_double,
                    .columns = columns,
                    .layout = LayoutKind::row_per_rank,
                    .rows = 1};
    const Agreement agreed = concluded({call}).agreement.value();
    plan::ThreadPool pool;
    plan::RowsPayload rows(agreed.members[0], {0, {{0, 1}}},
                           call::operator_of(agreed.members[0].description, call.user), plan::Segmentation(columns, 1),
                           pool, true);
    plan::Payload& payload = rows;
    EXPECT_EQ(payload.apart()->is_apart(0), columns > 1);
    std::vector<std::string> partials;
    for (const int before : {0x00, 0xFF}) {
      std::vector<long double> row(columns);
      std::memset(row.data(), before, columns * sizeof(long double));
      for (long double& x : row) std::memcpy(&x, &number, used);
      std::vector<long double> result(columns);
      rows.take({.first = reinterpret_cast<const std::byte*>(row.data()),
                 .result = reinterpret_cast<std::byte*>(result.data())},
                true);
      Memory room(rows.working_capacity({0, 1}, 0), static_cast<std::byte>(before));
      const arithmetic::Partial lifted = rows.lift(0, {0, 1}, room);
      partials.push_back(hex(lifted.head));
      if (lifted.values != nullptr) partials.back() += hex({lifted.values, columns * sizeof(long double)});
    }
    EXPECT_EQ(partials[0], partials[1]);
  }
}

/// A result is not touched before it is known that no operator failed, and the next run is good.
TEST(WideRowsOfFailingOperators, LeaveTheResultAlone) {
  std::mt19937_64 random(30);
  bool fails = true;
  Job<Matrix> job = products(4, wide_columns(4, 32), random);
  job.call.user_may_fail = true;
  const Deal deal = contiguous_deal({1, 1, 1, 1});
  for (const std::string name : {"recursive_doubling", "halving_doubling", "ring", "binomial"}) {
    SCOPED_TRACE(name);
    job.call.schedule = name;
    std::vector<Call> calls = calls_for(job.call, deal);
    calls[2].user.context = &fails;
    const Concluded agreed = concluded(calls);
    if (agreed.status == Status::unsupported) continue;
    std::vector<Memory> memory;
    for (const auto& intervals : deal) memory.push_back(memory_of(job.elements, job.columns, intervals));
    SimulatedRanks ranks(4, 12);
    SimulatedJob plans(ranks, agreed.agreement.value(), calls, 0);
    for (const bool failing : {true, false}) {
      fails = failing;
      std::vector<Result> results(4, Result(job.columns * sizeof(Matrix)));
      for (std::size_t i = 0; i < 4; ++i) {
        const call::Data data{.first = memory[i].data(), .result = results[i].data()};
        plans.plan(static_cast<Rank>(i)).start(std::span(&data, 1), true);
      }
      ASSERT_TRUE(finish(ranks, {&plans}, 40));
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(plans.plan(static_cast<Rank>(i)).status(), failing ? Status::operator_failed : Status::ok);
        EXPECT_TRUE(failing ? results[i].intact() : std::ranges::equal(results[i].bytes(), bytes_of(job.expected)));
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::test::wide_rows_test
