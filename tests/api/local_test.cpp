// The API of one process: sums, dot products, norms, reductions and errors, as a user writes them, against references.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/inputs.hpp"
#include "mpi/operators.hpp"
#include "mpi/reference.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::tests::local_test {
namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 129, 1000, 4095, 4096, 4097, 100000};

class LocalTest : public testing::Test {
 protected:
  Random random{20240301};
};

template <class T>
void expect_sums(Random& random) {
  for (const std::size_t n : sizes) {
    const std::vector<T> x = elements<T>(n, random);
    const std::vector<T> before = x;
    EXPECT_TRUE(is(sum(x, tree()), n == 0 ? T{0} : tree_of(x, add))) << n;
    if constexpr (std::floating_point<T>) {
      EXPECT_TRUE(is(sum(x), reference::exact_sum(std::span<const T>(x)))) << n;
      EXPECT_TRUE(is(sum(x, exact()), reference::exact_sum(std::span<const T>(x)))) << n;
    } else {
      EXPECT_TRUE(is(sum(x), n == 0 ? T{0} : tree_of(x, add))) << n;
    }
    EXPECT_TRUE(are(x, before)) << "the input changed";
  }
}

TEST_F(LocalTest, SumsDoubles) { expect_sums<double>(random); }
TEST_F(LocalTest, SumsFloats) { expect_sums<float>(random); }
TEST_F(LocalTest, SumsIntegers) {
  expect_sums<std::int32_t>(random);
  expect_sums<std::int64_t>(random);
  expect_sums<std::uint32_t>(random);
  expect_sums<std::uint64_t>(random);
}

TEST_F(LocalTest, SumsInLanes) {
  const std::vector<double> x = {1e16, 1, -1e16, 1};
  EXPECT_TRUE(is(sum(x, tree()), 0.0));
  EXPECT_TRUE(is(sum(x, tree({.lanes = 1})), 0.0));
  EXPECT_TRUE(is(sum(x, tree({.lanes = 2})), 2.0)) << "(1e16 - 1e16) + (1 + 1)";
  EXPECT_TRUE(is(sum(x, tree({.lanes = 1024})), 0.0)) << "a lane for each element";
  for (const std::size_t n : sizes) {  // integers: no order changes them
    const std::vector<std::int32_t> y = elements<std::int32_t>(n, random);
    EXPECT_TRUE(is(sum(y, tree({.lanes = 7})), sum(y))) << n;
    EXPECT_TRUE(is(sum(y, tree({.lanes = 16})), sum(y))) << n;
  }
}

TEST_F(LocalTest, CombinesAnInitialValueOnTheLeft) {
  int differences = 0;  // from the tree over the initial value and the elements
  for (const std::size_t n : sizes) {
    const std::vector<double> x = elements<double>(n, random);
    const double initial = elements<double>(2, random)[1];
    std::vector<double> all = {initial};
    all.insert(all.end(), x.begin(), x.end());
    const double wanted = n == 0 ? initial : add(initial, tree_of(x, add));
    EXPECT_TRUE(is(reduce_from(initial, x, plus), wanted)) << n;
    EXPECT_TRUE(is(reduce_from(initial, x, plus, {.method = tree(), .threads = 3}), wanted)) << n;
    EXPECT_TRUE(is(reduce_from(-0.0, x, minimum), n == 0 ? -0.0 : std::min(-0.0, reduce(x, minimum)))) << n;
    differences += !same_bits(wanted, tree_of(all, add));
  }
  EXPECT_GT(differences, 0) << "control: an initial value among the elements gives the same bits";

  const auto second_or_throw = [](double a, double b) {
    if (a == 13) throw std::runtime_error("the initial value");
    return b;
  };
  const std::vector<double> x = {1, 2, 3};
  EXPECT_TRUE(is(reduce_from(7.0, x, second_or_throw), 3.0));
  EXPECT_TRUE(is(reduce_from(13.0, std::vector<double>(), second_or_throw), 13.0));
  EXPECT_THROW(reduce_from(13.0, x, second_or_throw), std::runtime_error);
  EXPECT_TRUE(is(reduce_from(7.0, x, second_or_throw), 3.0)) << "after a failure";
  EXPECT_THROW(reduce_from(7.0, x, plus, {.method = exact()}), Error);
}

TEST_F(LocalTest, RefusesLanesThatItCannotKeep) {
  const std::vector<double> x = {1, 2, 3};
  const auto refusal = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto expect = [&](const std::string& found, const char* words) {
    EXPECT_NE(found.find(words), std::string::npos) << found;
  };
  expect(refusal([&] { sum(x, tree({.lanes = 1025})); }), "1025 lanes (method tree takes 1 to 1024)");
  expect(refusal([&] { reduce(x, subtract, tree({.lanes = 2})); }), "not declared commutative");
  Method method = exact();
  method.lanes = 2;
  expect(refusal([&] { sum(x, method); }), "2 lanes with method exact (only tree");
}

TEST_F(LocalTest, TakesAnyContiguousRange) {
  const std::array<double, 3> array = {0.1, 0.2, 0.3};
  const double c_array[] = {0.1, 0.2, 0.3};
  std::vector<double> vector = {0.1, 0.2, 0.3};
  const double wanted = reference::exact_sum(std::span<const double>(vector));
  EXPECT_TRUE(is(sum(array), wanted));
  EXPECT_TRUE(is(sum(c_array), wanted));
  EXPECT_TRUE(is(sum(std::span(vector)), wanted));
  EXPECT_TRUE(is(sum(std::vector<double>{0.1, 0.2, 0.3}), wanted));
  EXPECT_TRUE(is(sum(std::span(vector).first(0)), 0.0));
}

template <class T>
void expect_integers() {
  const std::vector<T> x = {3, 1, std::numeric_limits<T>::max(), 2};
  static_assert(std::same_as<decltype(sum(x)), T> && std::same_as<decltype(max_location(x).value), T>);
  EXPECT_EQ(sum(x), tree_of(x, add));
  EXPECT_EQ(max(x), std::numeric_limits<T>::max());
  EXPECT_EQ(min_location(x), (Located<T>{1, 1}));
  EXPECT_EQ(reduce(x, times), tree_of(x, multiply));
}

TEST_F(LocalTest, TakesIntegersByAnyName) {
  expect_integers<int>();
  expect_integers<unsigned>();
  expect_integers<long>();
  expect_integers<unsigned long>();
  expect_integers<long long>();
  expect_integers<unsigned long long>();
}

/// A built-in operator is an argument and a function.
TEST_F(LocalTest, OperatorsAreFunctions) {
  const std::vector<double> x = wide_numbers<double>(500, random);
  const std::vector<double> y = wide_numbers<double>(500, random);
  for (const Method method : {tree(), exact(), binned({.bins = 2})}) {
    EXPECT_TRUE(is(plus(x, method), sum(x, {.method = method})));
    EXPECT_TRUE(is(reduce(x, plus, method), sum(x, method)));
  }
  EXPECT_TRUE(is(sum<float>(x, exact()), to<float>(plus)(x, exact())));
  EXPECT_TRUE(is(min(x), minimum(x, tree())));
  EXPECT_TRUE(is(weighted_sum(x, y, {.threads = 2}), dot(x, y)));
  EXPECT_TRUE(is(times(x, tree()), tree_of(x, multiply)));
}

TEST_F(LocalTest, TheExactSumDoesNotDependOnTheOrder) {
  std::vector<double> x = wide_numbers<double>(3000, random);
  const double wanted = sum(x);
  for (int i = 0; i < 10; ++i) {
    std::shuffle(x.begin(), x.end(), random);
    EXPECT_TRUE(is(sum(x), wanted));
  }
}

/// The control: an ordinary loop's bits depend on the order.
TEST_F(LocalTest, WhereANaiveSumDoes) {
  std::vector<double> x = elements<double>(3000, random);
  const auto naive = [&x] {
    double total = 0;
    for (const double each : x) total += each;
    return total;
  };
  const double first = naive();
  std::shuffle(x.begin(), x.end(), random);
  EXPECT_FALSE(same_bits(naive(), first));
}

TEST_F(LocalTest, KeepsItsWordOnHostileValues) {
  for (const Hostile& input : hostile_inputs()) {
    const std::span<const double> x(input.x);
    EXPECT_TRUE(is(sum(input.x), reference::exact_sum(x))) << input.name;
    EXPECT_TRUE(is(norm2(input.x), reference::exact_norm2(x))) << input.name;
    EXPECT_TRUE(is(dot(input.x, input.x), reference::exact_dot(x, x))) << input.name;
    if (input.x.empty()) continue;
    EXPECT_TRUE(is(sum(input.x, tree()), tree_of(input.x, add))) << input.name;
    EXPECT_TRUE(is(reduce(input.x, minimum), tree_of(input.x, lesser))) << input.name;
    EXPECT_TRUE(is(reduce(input.x, maximum), tree_of(input.x, greater))) << input.name;
    EXPECT_TRUE(is(reduce(input.x, times), tree_of(input.x, multiply))) << input.name;
  }
}

template <class T>
std::vector<T> absolute(std::vector<T> x) {
  for (T& each : x) each = std::abs(each);
  return x;
}

/// The greatest absolute value: bits without a sign are as large as their numbers, NaNs the largest.
template <class T>
T greatest_bits_of(const std::vector<T>& x) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  Bits greatest = 0;
  for (const T& each : x) greatest = std::max(greatest, static_cast<Bits>(std::bit_cast<Bits>(each) << 1 >> 1));
  return reference::canonical(std::bit_cast<T>(greatest));
}

template <class T>
void expect_other_sums(const std::vector<T>& x, Random& random, const std::string& what) {
  const std::span<const T> all(x);
  const std::vector<T> positive = absolute(x);
  EXPECT_TRUE(is(abs_sum(x), reference::exact_sum(std::span<const T>(positive)))) << what;
  EXPECT_TRUE(is(abs_sum(x, binned()), sum(positive, binned()))) << what;
  EXPECT_TRUE(is(abs_sum(x, {.method = tree(), .threads = 3}), sum(positive, tree()))) << what;
  EXPECT_TRUE(is(norm1(x), abs_sum(x))) << what;
  for (const Method& method : {Method(), plain(), tree()})
    for (const unsigned threads : {1U, 3U})
      EXPECT_TRUE(is(norminf(x, {.method = method, .threads = threads}), greatest_bits_of(x))) << what;
  EXPECT_TRUE(is(sum_squares(x), reference::exact_dot(all, all))) << what;
  EXPECT_TRUE(is(sum_squares(x, {.threads = 4}), dot(x, x))) << what;
  std::vector<T> weights(x.size());
  for (T& each : weights) each = static_cast<T>(random() % 1000) / 999;
  EXPECT_TRUE(is(weighted_sum(x, weights), reference::exact_dot(all, std::span<const T>(weights)))) << what;
}

TEST_F(LocalTest, OtherSums) {
  for (const std::size_t n : sizes) {
    expect_other_sums(wide_numbers<float>(n, random), random, std::to_string(n) + " floats");
    if (n < 5000) expect_other_sums(wide_numbers<double>(n, random), random, std::to_string(n) + " doubles");
  }
  for (const Hostile& input : hostile_inputs()) expect_other_sums(input.x, random, input.name);
}

TEST_F(LocalTest, MultipliesOverTheWholeRange) {
  for (const std::size_t n : sizes) {
    if (n > 5000) continue;
    const std::vector<double> x = wide_numbers<double>(n, random);
    const std::vector<double> y = wide_numbers<double>(n, random);
    EXPECT_TRUE(is(dot(x, y), reference::exact_dot(std::span<const double>(x), std::span<const double>(y)))) << n;
    EXPECT_TRUE(is(norm2(x), reference::exact_norm2(std::span<const double>(x)))) << n;
    const std::vector<float> f = wide_numbers<float>(n, random);
    const std::vector<float> g = wide_numbers<float>(n, random);
    EXPECT_TRUE(is(dot(f, g), reference::exact_dot(std::span<const float>(f), std::span<const float>(g)))) << n;
    EXPECT_TRUE(is(norm2(f), reference::exact_norm2(std::span<const float>(f)))) << n;
  }
}

TEST_F(LocalTest, ReducesByAnyOperator) {
  for (const std::size_t n : sizes) {
    if (n == 0) continue;
    const std::vector<double> x = elements<double>(n, random);
    const std::vector<Hash> hashes = elements<Hash>(n, random);
    const std::vector<Matrix> matrices = elements<Matrix>(n, random);
    EXPECT_TRUE(is(reduce(x, subtract), tree_of(x, subtract))) << n;
    EXPECT_TRUE(is(reduce(x, times), tree_of(x, multiply))) << n;
    EXPECT_TRUE(is(reduce(hashes, mix_hashes), tree_of(hashes, mix_hashes))) << n;
    EXPECT_TRUE(is(reduce(hashes, MixArrays()), tree_of(hashes, mix_hashes))) << n;
    EXPECT_TRUE(is(reduce(matrices, matrix_product), tree_of(matrices, matrix_product))) << n;
  }
}

TEST_F(LocalTest, BracketsLettersAsTheTreeDoes) {
  for (std::size_t n = 1; n <= 20; ++n) {
    const std::vector<Text> letters = elements<Text>(n, random);
    EXPECT_EQ(reduce(letters, join).string(), tree_of(letters, join).string());
  }
  std::vector<Text> five;
  for (const char letter : {'a', 'b', 'c', 'd', 'e'}) five.push_back(Text::of(letter));
  EXPECT_EQ(reduce(five, join).string(), "(((ab)(cd))e)");
}

TEST_F(LocalTest, ElementsOfAnySize) {
  const auto one = elements<Mixed<unsigned char, 1>>(300, random);
  const auto three = elements<Mixed<unsigned char, 3>>(300, random);
  const auto large = elements<Mixed<std::uint32_t, 1000>>(30, random);
  EXPECT_TRUE(is(reduce(one, mix), tree_of(one, mix)));
  EXPECT_TRUE(is(reduce(three, mix), tree_of(three, mix)));
  EXPECT_TRUE(is(reduce(large, mix), tree_of(large, mix)));
}

// --- errors ----------------------------------------------------------------------------------------------------------

template <class Call>
void expect_error(sf_status status, const std::string& word, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error, wanted one with '" << word << "'";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.status(), status) << text;
    EXPECT_NE(text.find(word), std::string::npos) << text;
    const std::size_t why = text.find(" (");
    EXPECT_TRUE(why != std::string::npos && text.find("), ", why) != std::string::npos) << text;
  }
}

/// What is left out holds NaNs and infinities; permuting rows with their mask changes nothing.
template <class T>
void expect_masked_sums(std::vector<T> x, Random& random) {
  std::vector<std::uint8_t> mask(x.size());
  std::vector<T> selected;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mask[i] = static_cast<std::uint8_t>(random() % 3);
    if (mask[i] != 0) {
      selected.push_back(x[i]);
    } else if constexpr (std::floating_point<T>) {
      x[i] = random() % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    }
  }
  const T wanted = sum(selected);
  EXPECT_TRUE(is(masked_sum(x, mask), wanted));
  EXPECT_TRUE(is(masked_sum(x, mask, {.threads = 4}), wanted));
  EXPECT_TRUE(is(masked_sum(x, std::as_bytes(std::span(mask))), wanted));
  if constexpr (std::floating_point<T>) {
    EXPECT_TRUE(is(masked_sum(x, mask, exact()), reference::exact_sum(std::span<const T>(selected))));
    EXPECT_TRUE(is(masked_sum(x, mask, binned()), sum(selected, binned())));
  }
  for (std::size_t i = x.size(); i > 1; --i) {
    const std::size_t other = random() % i;
    std::swap(x[i - 1], x[other]);
    std::swap(mask[i - 1], mask[other]);
  }
  EXPECT_TRUE(is(masked_sum(x, mask), wanted));
}

TEST_F(LocalTest, MaskedSums) {
  for (const std::size_t n : sizes) {
    SCOPED_TRACE(n);
    expect_masked_sums(wide_numbers<double>(n, random), random);
    expect_masked_sums(wide_numbers<float>(n, random), random);
    expect_masked_sums(elements<std::int32_t>(n, random), random);
  }
  const std::vector<double> x = {std::nan(""), -0.0, 1};
  EXPECT_TRUE(is(masked_sum(x, std::array{false, false, false}), 0.0));
  EXPECT_TRUE(is(masked_sum(x, std::array{false, true, false}), -0.0));
  EXPECT_TRUE(is(masked_sum(x, std::array{true, true, true}), reference::canonical(std::nan(""))));
  expect_error(SF_INVALID_ARGUMENT, "mask", [&] { masked_sum(x, std::array{true, true}); });
  expect_error(SF_UNSUPPORTED, "tree", [&] { masked_sum(x, std::array{true, true, true}, tree()); });
}

TEST_F(LocalTest, NothingToReduce) {
  const std::vector<double> none;
  expect_error(SF_EMPTY, "nothing", [&] { reduce(none, minimum); });
  expect_error(SF_EMPTY, "nothing", [&] { reduce(none, maximum); });
  expect_error(SF_EMPTY, "nothing", [&] { reduce(none, subtract); });
  EXPECT_TRUE(is(reduce(none, times), 1.0));
  EXPECT_TRUE(is(sum(none), 0.0));
  EXPECT_TRUE(is(sum(none, tree()), 0.0));
  EXPECT_TRUE(is(dot(none, none), 0.0));
  EXPECT_TRUE(is(norm2(none), 0.0));
  EXPECT_TRUE(is(abs_sum(none), 0.0));
  for (const Method& method : {Method(), plain(), tree()}) EXPECT_TRUE(is(norminf(none, method), 0.0));
  EXPECT_TRUE(is(sum_squares(none), 0.0));
  EXPECT_TRUE(is(masked_sum(none, std::vector<std::uint8_t>()), 0.0));
}

TEST_F(LocalTest, FactorsOfDifferentSize) {
  const std::vector<double> x(3, 1.0);
  const std::vector<double> none;
  expect_error(SF_INVALID_ARGUMENT, "3", [&] { dot(x, std::vector<double>(4, 1.0)); });
  expect_error(SF_INVALID_ARGUMENT, "3", [&] { dot(x, none); });
  expect_error(SF_INVALID_ARGUMENT, "3", [&] { dot(none, x); });
}

TEST_F(LocalTest, CombinationsThatAreNotOffered) {
  const std::vector<double> x(3, 1.0);
  expect_error(SF_UNSUPPORTED, "max", [&] { reduce(x, maximum, exact()); });
  expect_error(SF_UNSUPPORTED, "norminf", [&] { norminf(x, exact()); });
  expect_error(SF_UNSUPPORTED, "user", [&] { reduce(x, subtract, exact()); });
  expect_error(SF_UNSUPPORTED, "exact", [&] { sum(std::vector<int>(3), exact()); });
}

TEST_F(LocalTest, AnOperatorsOwnExceptionComesBack) {
  struct Mine {
    int number;
  };
  const std::vector<double> x(300, 1.0);
  int calls = 0;
  const auto op = [&calls](double a, double b) {
    if (++calls == 100) throw Mine{42};
    return a + b;
  };
  try {
    reduce(x, op);
    ADD_FAILURE() << "nothing thrown";
  } catch (const Mine& mine) {
    EXPECT_EQ(mine.number, 42);
  }
  EXPECT_EQ(calls, 100) << "called on after it threw";
  EXPECT_TRUE(is(reduce(x, op), 300.0)) << "the next call is right";
}

TEST_F(LocalTest, CallsFromC) {
  const double x[] = {1, 2, 3, 4, 5, 6};
  double result[2] = {};
  sf_call call = sf_call_default();
  call.rows = 3;
  call.columns = 2;
  EXPECT_EQ(sf_reduce_local(&call, x, nullptr, result), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result[0], 9.0));
  EXPECT_TRUE(is(result[1], 12.0));

  const sf_interval backwards[] = {{2, 3}, {0, 2}};  // memory holds rows 2, 0, 1
  call.columns = 1;
  call.layout = SF_INTERVALS;
  call.intervals = backwards;
  call.interval_count = 2;
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = sizeof(double);
  call.user = [](const void* left, const void* right, void* out, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i)
      static_cast<double*>(out)[i] = static_cast<const double*>(left)[i] - static_cast<const double*>(right)[i];
    return 0;
  };
  EXPECT_EQ(sf_reduce_local(&call, x, nullptr, result), SF_OK) << sf_error_text();
  EXPECT_TRUE(is(result[0], (2.0 - 3.0) - 1.0));
}

double difference(double left, double right) { return left - right; }

TEST_F(LocalTest, AFreeFunctionIsAnOperator) {
  const std::vector<double> x = {5, 2, 3, 9, 1};
  EXPECT_EQ(std::bit_cast<std::uint64_t>(reduce(x, difference)),
            std::bit_cast<std::uint64_t>((5. - 2. - (3. - 9.)) - 1.));
}

TEST_F(LocalTest, LayoutsWithFaultsFromC) {
  const double x[] = {1, 2, 3};
  double result = 0;
  sf_call call = sf_call_default();
  call.rows = 3;
  call.layout = SF_INTERVALS;
  call.interval_count = 2;
  const auto status_of = [&](const sf_interval(&intervals)[2], sf_method method) {
    call.intervals = intervals;
    call.method = method;
    return sf_reduce_local(&call, x, nullptr, &result);
  };
  for (const sf_method method : {SF_TREE, SF_EXACT, SF_BINNED, SF_PLAIN}) {
    EXPECT_EQ(status_of({{0, 2}, {1, 2}}, method), SF_OVERLAP) << method;
    EXPECT_EQ(status_of({{0, 2}, {3, 4}}, method), SF_GAP) << method;
    EXPECT_EQ(status_of({{1, 3}, {3, 4}}, method), SF_GAP) << method;
    EXPECT_EQ(status_of({{0, 2}, {2, 2}}, method), SF_INVALID_ARGUMENT) << method << ": two rows listed of three";
    EXPECT_EQ(status_of({{2, 3}, {0, 2}}, method), SF_OK) << method;
  }
}

TEST_F(LocalTest, NullsFromC) {
  const double x[] = {1, 2, 3};
  double result = 0;
  sf_call call = sf_call_default();
  call.rows = 3;
  EXPECT_EQ(sf_reduce_local(nullptr, x, nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_reduce_local(&call, x, nullptr, nullptr), SF_INVALID_ARGUMENT);
  call.operation = SF_DOT;
  EXPECT_EQ(sf_reduce_local(&call, x, nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_NE(std::string(sf_error_text()), "");
  call.rows = 0;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &result), SF_OK) << "nothing to read";
}

/// They must be some, though there is one rank and nothing is sent; also in a call that is like the one before.
TEST_F(LocalTest, RootsAndSchedulesFromC) {
  const double x[] = {1, 2, 3};
  double result = 0;
  sf_call call = sf_call_default();
  call.rows = 3;
  const auto expect_sum = [&] {
    result = 0;
    EXPECT_EQ(sf_reduce_local(&call, x, nullptr, &result), SF_OK) << sf_error_text();
    EXPECT_TRUE(is(result, 6.0));
  };
  const auto expect_refused = [&](const std::string& words) {
    EXPECT_EQ(sf_reduce_local(&call, x, nullptr, &result), SF_INVALID_ARGUMENT) << words;
    EXPECT_NE(std::string(sf_error_text()).find(words), std::string::npos) << sf_error_text();
  };
  expect_sum();
  call.root = 3;
  expect_refused("root 3 is not a rank (the ranks are 0 to 0)");
  call.root = 0;
  expect_sum();
  call.root = -2;
  expect_refused("root -2 is not a rank (the ranks are 0 to 0)");
  call.root = SF_ALL_RANKS;
  std::string schedule = "linear";
  call.schedule = schedule.c_str();
  expect_sum();
  schedule = "rng";  // at the same address
  expect_refused("unknown schedule 'rng'");
  schedule = "linear";
  expect_sum();
}

/// Sums read one vector, whatever else a caller gives.
TEST_F(LocalTest, VectorsThatAnOperationDoesNotRead) {
  const std::vector<float> x = elements<float>(1000, random);
  for (const sf_method method : {SF_EXACT, SF_BINNED, SF_TREE}) {
    for (const sf_sweep sweep : {SF_SINGLE_SWEEP, SF_DOUBLE_SWEEP}) {
      for (const sf_type result_type : {SF_F32, SF_F64}) {  // converted, and as it is
        sf_call call = sf_call_default();
        call.rows = x.size();
        call.type = SF_F32;
        call.result_type = result_type;
        call.method = method;
        if (method == SF_BINNED) call.sweep = sweep;
        double alone = 0, beside = 0;
        const sf_status status = sf_reduce_local(&call, x.data(), nullptr, &alone);
        EXPECT_EQ(sf_reduce_local(&call, x.data(), x.data(), &beside), status);
        EXPECT_TRUE(is(beside, alone)) << method << " " << sweep << " " << result_type;
      }
    }
  }
}

TEST_F(LocalTest, BinsInEveryWayOfAskingForThem) {
  std::vector<double> x = elements<double>(3000, random);
  const std::vector<double> y = elements<double>(3000, random);
  std::vector<double> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.push_back(x[i] * y[i]);
  for (const std::uint32_t bins : {2u, 3u, 4u}) {
    const Method once = binned({.bins = bins});
    const Method twice = binned({.bins = bins, .sweep = SF_DOUBLE_SWEEP});
    EXPECT_TRUE(is(dot(x, y, {.method = once}),
                   reference::binned_sum(std::span<const double>(products), static_cast<int>(bins))));
    EXPECT_TRUE(is(dot(x, y, {.method = twice}), dot(x, y, {.method = once})));
    EXPECT_TRUE(is(norm2(x, {.method = twice}), norm2(x, {.method = once})));
    EXPECT_TRUE(is(mean(x, {.method = twice}), mean(x, {.method = once})));
    EXPECT_TRUE(is(sum(x, twice), sum(x, once)));
    EXPECT_TRUE(is(sum(x, {.method = twice, .threads = 3}), sum(x, once)));
    EXPECT_TRUE(is(norm2(x, {.method = once, .threads = 4}), norm2(x, {.method = once})));
  }
  EXPECT_TRUE(is(sum(x, binned()), sum(x, binned({.bins = 3}))));
}

// --- surroundings ----------------------------------------------------------------------------------------------------

TEST_F(LocalTest, TheCallersRoundingDoesNotCountAndComesBack) {
  const std::vector<double> x = elements<double>(500, random);
  const double exactly = sum(x);
  const double by_tree = sum(x, tree());
  const double by_bins = norm2(x, {.method = binned()});
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const double exactly_now = sum(x);
    const double by_tree_now = sum(x, tree());
    const double by_bins_now = norm2(x, {.method = binned()});
    const int after = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(after, mode);
    EXPECT_TRUE(is(exactly_now, exactly));
    EXPECT_TRUE(is(by_tree_now, by_tree));
    EXPECT_TRUE(is(by_bins_now, by_bins));
  }
}

TEST_F(LocalTest, AnyNumberOfThreadsMayCallAtOnce) {
  const std::vector<double> x = elements<double>(2000, random);
  const std::vector<double> none;
  const double exactly = sum(x);
  const double by_tree = sum(x, tree());
  std::array<int, 4> wrong{};
  std::vector<std::thread> threads;
  for (int& mine : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (!same_bits(sum(x), exactly) || !same_bits(sum(x, tree()), by_tree)) ++mine;
        try {
          reduce(none, minimum);
        } catch (const Error& error) {
          if (error.status() != SF_EMPTY) ++mine;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int each : wrong) EXPECT_EQ(each, 0);
}

}  // namespace
}  // namespace steadfold::tests::local_test
