// Calls that follow each other on one thread: what was found out about the last one holds for the next where they
// differ in nothing but rows, and nowhere else. A new thread, which knows of no call before, is the reference.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "mpi/bits.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::tests::repeated_test {
namespace {

alignas(16) constexpr std::array<double, 8> x = {0.1, 1e17, -3.5, 0x1p-60, 7, -1e17, 2, 1e-3};
constexpr std::array<sf_interval, 2> backwards = {{{2, 3}, {0, 2}}};

struct Outcome {
  sf_status status = SF_OK;
  std::string text;
  alignas(16) std::array<double, 10> results{};  // as any type and operation wants it
};

Outcome outcome_of(const sf_call& call) {
  Outcome outcome;
  outcome.status = sf_reduce_local(&call, x.data(), nullptr, outcome.results.data());
  if (outcome.status != SF_OK) {
    outcome.text = sf_error_text();
    outcome.results.fill(0);  // without meaning
  }
  return outcome;
}

Outcome outcome_in_a_new_thread(const sf_call& call) {
  Outcome outcome;
  std::thread([&] { outcome = outcome_of(call); }).join();
  return outcome;
}

sf_call call_by(sf_method method) {
  sf_call call = sf_call_default();
  call.method = method;
  call.rows = 3;
  return call;
}

/// Writes any number into an enumeration of C.
template <class Enumeration>
void set(Enumeration& field, unsigned number) {
  static_assert(sizeof field == sizeof number);
  std::memcpy(&field, &number, sizeof number);
}

int add_doubles(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] = static_cast<const double*>(left)[i] + static_cast<const double*>(right)[i];
  return 0;
}

/// Ways in which a call may differ from the one before.
std::vector<std::function<void(sf_call&)>> changes() {
  std::vector<std::function<void(sf_call&)>> all;
  const auto add = [&](auto change) { all.push_back(change); };
  for (const unsigned number : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u, 99u}) {
    add([=](sf_call& call) { set(call.operation, number); });
    add([=](sf_call& call) { set(call.method, number); });
    add([=](sf_call& call) { set(call.type, number); });
    add([=](sf_call& call) { set(call.result_type, number); });
    add([=](sf_call& call) { set(call.layout, number); });
    add([=](sf_call& call) { set(call.sweep, number); });
    add([=](sf_call& call) { set(call.collective, number); });
    add([=](sf_call& call) { call.bins = number; });
    add([=](sf_call& call) { call.element_count = number; });
  }
  for (const std::uint64_t number : {0ull, 1ull, 2ull, 1ull << 60, 1ull << 62, ~0ull}) {
    add([=](sf_call& call) { call.columns = number; });
    add([=](sf_call& call) { call.rows = number < 8 ? number : number + 1; });
  }
  for (const std::uint32_t number : {0u, 1u, 2u, 4u, 64u, 127u, 128u})
    add([=](sf_call& call) { call.require = number; });
  for (const std::uint32_t number : {0u, 1u, 2u, 5000u}) add([=](sf_call& call) { call.threads = number; });
  add([](sf_call& call) { call.root = 5; });
  add([](sf_call& call) { call.schedule = "no such"; });
  add([](sf_call& call) {
    call.layout = SF_INTERVALS;
    call.intervals = backwards.data();
    call.interval_count = backwards.size();
  });
  add([](sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(double);
    call.user = &add_doubles;
  });
  add([](sf_call& call) {
    call.method = SF_BINNED;
    call.bins = 4;
    call.sweep = SF_DOUBLE_SWEEP;
  });
  return all;
}

void expect_equal(const Outcome& found, const Outcome& wanted, std::size_t change) {
  EXPECT_EQ(found.status, wanted.status) << "change " << change;
  EXPECT_EQ(found.text, wanted.text) << "change " << change;
  EXPECT_TRUE(are(std::span<const double>(found.results), std::span<const double>(wanted.results)))
      << "change " << change;
}

TEST(RepeatedCalls, AreLookedAtWhereAnythingButTheirRowsDiffers) {
  const auto all = changes();
  for (const sf_method method : {SF_AUTOMATIC, SF_TREE, SF_EXACT, SF_PLAIN, SF_BINNED}) {
    const sf_call usual = call_by(method);
    for (std::size_t i = 0; i < all.size(); ++i) {
      sf_call changed = usual;
      all[i](changed);
      const Outcome wanted = outcome_in_a_new_thread(changed);
      ASSERT_EQ(outcome_of(usual).status, SF_OK);
      ASSERT_EQ(outcome_of(usual).status, SF_OK);
      expect_equal(outcome_of(changed), wanted, i);
      expect_equal(outcome_of(changed), wanted, i);
      expect_equal(outcome_of(usual), outcome_in_a_new_thread(usual), i);
    }
  }
}

TEST(RepeatedCalls, SayWhatIsWrongWithTheirArguments) {
  double result = 0;
  for (const sf_method method : {SF_AUTOMATIC, SF_TREE, SF_EXACT, SF_PLAIN, SF_BINNED}) {
    sf_call call = call_by(method);
    ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OK);
    EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(sf_error_text()),
              "the address of the data is null (3 rows are to be read), give the address of the data");
    ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OK);
    EXPECT_EQ(sf_reduce_local(&call, x.data(), nullptr, nullptr), SF_INVALID_ARGUMENT);
    ASSERT_EQ(sf_reduce_local(&call, x.data(), nullptr, &result), SF_OK);
    EXPECT_EQ(sf_reduce_local(nullptr, x.data(), nullptr, &result), SF_INVALID_ARGUMENT);
  }
}

/// Within an operator, calls of another shape, and of the shape before.
TEST(RepeatedCalls, MayBeMadeInsideAnOperator) {
  const double wanted = sum(x, tree());
  const auto nested = [&](double left, double right) {
    EXPECT_TRUE(is(sum(x, tree()), wanted));
    const std::array<double, 2> both = {left, right};
    return sum(both, exact());
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(is(sum(x, tree()), wanted));
    const std::array<double, 3> y = {1, 2, 4};
    EXPECT_EQ(reduce(y, nested), 7.0);
    EXPECT_TRUE(is(sum(x, tree()), wanted));
  }
}

/// Made by objects that outlive what the library keeps of a thread.
TEST(RepeatedCalls, MayBeMadeAtTheEndOfAThread) {
  static double found = 0;
  struct Last {
    ~Last() { found = sum(x, exact()); }
  };
  std::thread([] {
    const thread_local Last last;
    (void)&last;
    (void)sum(x, exact());
    (void)sum(x, exact());
  }).join();
  EXPECT_TRUE(is(found, sum(x, exact())));
}

auto fields_of(const sf_call& call) {
  return std::tuple(std::tuple(call.operation, call.method, call.type, call.result_type, call.columns, call.root,
                               call.schedule, call.element_count, call.element_bytes, call.user, call.context),
                    std::tuple(call.operator_name, call.commutative, call.never_fails, call.layout, call.rows,
                               call.intervals, call.interval_count, call.require, call.threads, call.bins, call.sweep,
                               call.collective, call.blocks, call.block_count),
                    std::tuple(call.size, call.arrays, call.grid, call.writes_right));
}

TEST(RepeatedCalls, BeginWithTheDefaultsOfC) {
  EXPECT_EQ(fields_of(detail::call_of_defaults()), fields_of(sf_call_default()));
}

}  // namespace
}  // namespace steadfold::tests::repeated_test
