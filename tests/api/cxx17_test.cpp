// The C++ API compiled as C++17: every call has the bits and the errors of the C function below it. Linked with sources
// in C++20.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "steadfold/accumulator.hpp"
#include "steadfold/diagnosis.hpp"
#include "steadfold/memory.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"
#include "support/hostile.hpp"

#if __cplusplus >= 202002L
#error "this file is compiled as C++17"
#endif

namespace steadfold::test::cxx17_test {

// For cxx17_beside_test.cpp, where they are called from C++20.
double sum_in_cxx17(const std::vector<double>& x, const sf::Team::Member& member) { return sf::sum(x, member); }
double mean_in_cxx17(sf::Plan<double>& plan, const std::vector<double>& x) { return plan.run(x); }
void fail_in_cxx17() { sf::sum(std::vector<double>(3), sf::binned({9})); }
bool catches_in_cxx17(void (*call)()) {
  try {
    call();
    return false;
  } catch (const sf::Error& error) {
    return error.status() == SF_INVALID_ARGUMENT;
  }
}

namespace {

/// What a call came to: a result's bytes, or an error.
struct Outcome {
  std::string bytes;
  int status = SF_OK;
  std::string text;
  friend bool operator==(const Outcome& a, const Outcome& b) {
    return std::tie(a.bytes, a.status, a.text) == std::tie(b.bytes, b.status, b.text);
  }
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    out << "status " << outcome.status << " '" << outcome.text << "'" << std::hex;
    for (const char byte : outcome.bytes) out << ' ' << static_cast<int>(static_cast<unsigned char>(byte));
    return out << std::dec;
  }
};

template <class T>
std::string bytes_of(const T* values, std::size_t count = 1) {
  std::string bytes(count * sizeof(T), '\0');
  if (count > 0) std::memcpy(bytes.data(), values, bytes.size());
  return bytes;
}

template <class T>
std::string bytes_of(const sf::Located<T>* located) {  // without the bytes between the two
  return bytes_of(&located->value) + bytes_of(&located->index);
}

template <class Call>
Outcome outcome_of(const Call& call) {
  try {
    const auto result = call();
    return {bytes_of(&result), SF_OK, ""};
  } catch (const sf::Error& error) {
    return {"", error.status(), error.what()};
  }
}

/// What sf_reduce_local, in the C interface, comes to.
template <class Result>
Outcome outcome_in_c(const sf_call& call, const void* first, const void* second = nullptr) {
  Result result{};
  const sf_status status = sf_reduce_local(&call, first, second, &result);
  if (status != SF_OK) return {"", status, sf_error_text()};
  return {bytes_of(&result), SF_OK, ""};
}

template <class Result>
sf_call call_in_c(sf_operation operation, sf_type type, sf_type result, std::uint64_t rows) {
  sf_call call = sf_call_default();
  call.operation = operation;
  call.type = type;
  call.result_type = result;
  call.rows = rows;
  return call;
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least = std::numeric_limits<double>::denorm_min();

/// Numbers that show a wrong order, a lost sign, a lost NaN.
std::vector<std::vector<double>> inputs() {
  return {{},
          {-0.0},
          {-0.0, -0.0, -0.0},
          {0.0, -0.0},
          {0.1, 0.2, 0.3, -0.3},
          {1e300, 1.0, -1e300, 1e-300, 3.0},
          {1e300, 1e300, 1e300},
          {least, -least, least, 3 * least, 1e-310},
          {1.0, infinity, 2.0},
          {infinity, -infinity},
          {-infinity, 1.0, nan, 5.0},
          hostile(100, 7),
          hostile(4097, 8)};
}

template <class T>
std::vector<T> as(const std::vector<double>& x) {
  std::vector<T> converted;
  for (const double each : x) {
    if constexpr (std::is_same_v<T, std::int64_t>)
      converted.push_back(static_cast<std::int64_t>(bits(each) * 0x9E3779B97F4A7C15u));
    else
      converted.push_back(static_cast<T>(each));
  }
  return converted;
}
template <class Complex>
std::vector<Complex> as_complex(const std::vector<double>& x) {
  using T = typename Complex::value_type;
  std::vector<Complex> converted;
  for (std::size_t i = 0; i < x.size(); ++i)
    converted.emplace_back(static_cast<T>(x[i]), static_cast<T>(x[x.size() - 1 - i]));
  return converted;
}

/// One operation over one vector, and with a second one or a mask.
template <class Result, class Op, class T>
void expect_same(const Op& op, sf_operation id, const std::vector<T>& x, sf_type type, sf_type result,
                 const char* name) {
  const sf_call call = call_in_c<Result>(id, type, result, x.size());
  const Outcome wanted = outcome_in_c<Result>(call, x.data());
  EXPECT_EQ(outcome_of([&] { return op(x); }), wanted) << name << ", " << x.size() << " elements";
  EXPECT_EQ(outcome_of([&] { return sf::reduce(sf::view(x.data(), x.size()), op); }), wanted) << name;
}
template <class Result, class Op, class T, class S>
void expect_same(const Op& op, sf_operation id, const std::vector<T>& x, const std::vector<S>& y, sf_type type,
                 sf_type result, const char* name) {
  const sf_call call = call_in_c<Result>(id, type, result, x.size());
  EXPECT_EQ(outcome_of([&] { return op(x, y); }), outcome_in_c<Result>(call, x.data(), y.data()))
      << name << ", " << x.size() << " elements";
}

std::vector<unsigned char> mask_for(std::size_t size) {
  std::vector<unsigned char> mask(size);
  for (std::size_t i = 0; i < size; ++i) mask[i] = static_cast<unsigned char>(i % 3);
  return mask;
}
template <class T>
std::vector<T> reversed(const std::vector<T>& x) {
  return {x.rbegin(), x.rend()};
}

template <class T>
void expect_calls_of_reals(sf_type type) {
  for (const auto& numbers : inputs()) {
    const std::vector<T> x = as<T>(numbers), y = reversed(x);
    expect_same<T>(sf::plus, SF_SUM, x, type, type, "sum");
    expect_same<T>(sf::times, SF_PRODUCT, x, type, type, "times");
    expect_same<T>(sf::min, SF_MIN, x, type, type, "min");
    expect_same<T>(sf::max, SF_MAX, x, type, type, "max");
    expect_same<sf::Located<T>>(sf::min_location, SF_MIN_LOCATION, x, type, type, "min_location");
    expect_same<sf::Located<T>>(sf::max_location, SF_MAX_LOCATION, x, type, type, "max_location");
    expect_same<T>(sf::masked_sum, SF_MASKED_SUM, x, mask_for(x.size()), type, type, "masked_sum");
    if constexpr (!std::is_integral_v<T>) {
      expect_same<T>(sf::abs_sum, SF_ABS_SUM, x, type, type, "abs_sum");
      expect_same<T>(sf::sum_squares, SF_SUM_SQUARES, x, type, type, "sum_squares");
      expect_same<T>(sf::norm2, SF_NORM2, x, type, type, "norm2");
      expect_same<T>(sf::norminf, SF_NORMINF, x, type, type, "norminf");
      expect_same<T>(sf::mean, SF_MEAN, x, type, type, "mean");
      expect_same<T>(sf::dot, SF_DOT, x, y, type, type, "dot");
      expect_same<T>(sf::dotc, SF_DOTC, x, y, type, type, "dotc");
      expect_same<T>(sf::weighted_mean, SF_WEIGHTED_MEAN, x, y, type, type, "weighted_mean");
      expect_same<T>(sf::covariance, SF_COVARIANCE, x, y, type, type, "covariance");
      expect_same<T>(sf::sample_covariance, SF_SAMPLE_COVARIANCE, x, y, type, type, "sample_covariance");
      expect_same<T>(sf::correlation, SF_CORRELATION, x, y, type, type, "correlation");
      expect_same<sf::Statistics>(sf::statistics, SF_STATISTICS, x, type, SF_F64, "statistics");
      expect_same<sf::Statistics>(sf::to<float>(sf::statistics), SF_STATISTICS, x, type, SF_F32, "narrow statistics");
      expect_same<double>(sf::to<double>(sf::plus), SF_SUM, x, type, SF_F64, "wide sum");
    }
  }
}
TEST(Cxx17, CallsOfDoubles) { expect_calls_of_reals<double>(SF_F64); }
TEST(Cxx17, CallsOfFloats) { expect_calls_of_reals<float>(SF_F32); }
TEST(Cxx17, CallsOfIntegers) { expect_calls_of_reals<std::int64_t>(SF_I64); }

template <class T>
void expect_calls_of_complex_numbers(sf_type type, sf_type real) {
  using Complex = std::complex<T>;
  for (const auto& numbers : inputs()) {
    const auto x = as_complex<Complex>(numbers), y = reversed(x);
    expect_same<Complex>(sf::plus, SF_SUM, x, type, type, "sum");
    expect_same<Complex>(sf::mean, SF_MEAN, x, type, type, "mean");
    expect_same<Complex>(sf::dot, SF_DOT, x, y, type, type, "dot");
    expect_same<Complex>(sf::dotc, SF_DOTC, x, y, type, type, "dotc");
    expect_same<T>(sf::norm2, SF_NORM2, x, type, real, "norm2");
    expect_same<T>(sf::sum_squares, SF_SUM_SQUARES, x, type, real, "sum_squares");
  }
}
TEST(Cxx17, CallsOfComplexNumbers) {
  expect_calls_of_complex_numbers<double>(SF_COMPLEX_F64, SF_F64);
  expect_calls_of_complex_numbers<float>(SF_COMPLEX_F32, SF_F32);
}

TEST(Cxx17, NarrowElementsGiveFloats) {
  std::vector<sf::Float16> x;
  std::vector<sf::Bfloat16> y;
  for (unsigned i = 0; i < 1000; ++i) {
    x.push_back({static_cast<std::uint16_t>(i * 40503)});
    y.push_back({static_cast<std::uint16_t>(i * 31)});
  }
  expect_same<float>(sf::plus, SF_SUM, x, SF_F16, SF_F32, "binary16");
  expect_same<float>(sf::plus, SF_SUM, y, SF_BF16, SF_F32, "bfloat16");
}

TEST(Cxx17, MethodsAndOptionsReachTheCall) {
  const std::vector<double> x = hostile(300001, 3);  // enough for threads
  sf_call call = call_in_c<double>(SF_SUM, SF_F64, SF_F64, x.size());
  for (const sf::Method& method :
       {sf::tree(), sf::tree({16}), sf::exact(), sf::plain(), sf::binned(), sf::binned({2}), sf::binned({9})}) {
    call.method = method.id;
    call.bins = method.bins;
    call.lanes = method.lanes;
    const Outcome wanted = outcome_in_c<double>(call, x.data());
    EXPECT_EQ(outcome_of([&] { return sf::sum(x, method); }), wanted) << method.id;
    sf::LocalOptions options;
    options.method = method;
    options.threads = call.threads = 3;
    const Outcome by_threads = outcome_in_c<double>(call, x.data());
    EXPECT_EQ(outcome_of([&] { return sf::sum(x, options); }), by_threads) << method.id;
    EXPECT_EQ(by_threads == wanted, method.id != SF_PLAIN) << "data on which no thread shows";
    call.threads = 1;
  }
  sf::LocalOptions options = sf::plain();
  options.require = sf::layout | sf::ranks;
  call.method = SF_PLAIN;
  call.bins = 0;
  call.require = SF_LAYOUT | SF_RANKS;
  const Outcome refused = outcome_in_c<double>(call, x.data());
  EXPECT_EQ(refused.status, SF_UNSUPPORTED);
  EXPECT_EQ(outcome_of([&] { return sf::sum(x, options); }), refused);
  const double few[] = {0.1, 0.2, 0.3};
  const std::array<double, 3> array = {0.1, 0.2, 0.3};
  EXPECT_EQ(bits(sf::sum(few)), bits(sf::sum(array)));
}

// --- operators of the caller's own -----------------------------------------------------------------------------------

struct Matrix {
  double a, b, c, d;
};
Matrix product(const Matrix& l, const Matrix& r) {
  return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d};
}
struct OnArrays {
  void operator()(const Matrix* left, const Matrix* right, Matrix* result, std::size_t count) const noexcept {
    for (std::size_t i = 0; i < count; ++i) result[i] = product(left[i], right[i]);
  }
};
int product_in_c(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  OnArrays()(static_cast<const Matrix*>(left), static_cast<const Matrix*>(right), static_cast<Matrix*>(result), count);
  return 0;
}

std::vector<Matrix> matrices(std::size_t count) {
  const auto numbers = hostile(4 * count, 11);
  std::vector<Matrix> x;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const n = &numbers[4 * i];
    x.push_back({n[0] * 1e-5, n[1] * 1e-5, n[2] * 1e-5, n[3] * 1e-5});
  }
  return x;
}
sf_call product_call(std::uint64_t rows) {
  sf_call call = call_in_c<Matrix>(SF_USER, SF_BYTES, SF_BYTES, rows);
  call.element_bytes = sizeof(Matrix);
  call.user = product_in_c;
  return call;
}

TEST(Cxx17, OperatorsThatDoNotCommute) {
  for (const std::size_t count : std::array<std::size_t, 6>{0, 1, 2, 3, 7, 37}) {
    const std::vector<Matrix> x = matrices(count);
    const Outcome wanted = outcome_in_c<Matrix>(product_call(count), x.data());
    EXPECT_EQ(wanted.status, count == 0 ? SF_EMPTY : SF_OK);
    EXPECT_EQ(outcome_of([&] { return sf::reduce(x, product); }), wanted) << count;
    EXPECT_EQ(outcome_of([&] { return sf::reduce(x, OnArrays()); }), wanted) << count;
    EXPECT_EQ(outcome_of([&] { return sf::reduce(x, sf::named("product", product)); }), wanted) << count;
    if (count < 2) continue;
    const auto back = [](const Matrix& l, const Matrix& r) { return product(r, l); };
    EXPECT_FALSE(outcome_of([&] { return sf::reduce(x, back); }) == wanted) << "data on which no order shows";
  }
}

struct Stop {
  int at;
};

TEST(Cxx17, WhatAnOperatorThrowsComesBack) {
  const std::vector<int> x = {1, 2, 3, 4};
  const auto stop = [](int l, int r) -> int { throw Stop{l * 10 + r}; };
  try {
    sf::reduce(x, stop);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Stop& thrown) {
    EXPECT_EQ(thrown.at, 12);
  }
}

// --- errors ----------------------------------------------------------------------------------------------------------

TEST(Cxx17, ErrorsSayWhatIsWrong) {
  const std::vector<double> x(3), y(4);
  const std::vector<unsigned char> mask(2);
  const auto text_of = [](const auto& call) { return outcome_of(call).text; };
  EXPECT_EQ(text_of([&] { return sf::dot(x, y); }),
            "the factors of a dot product differ in size (3 and 4 elements), give vectors of the same size");
  EXPECT_EQ(text_of([&] { return sf::masked_sum(x, mask); }),
            "elements and mask differ in size (3 and 2), give one byte per element");
  sf::Team team(1);
  EXPECT_EQ(text_of([&] { return sf::dot(x, y, team[0]); }),
            "the factors of a dot product differ in size (3 and 4 elements), give vectors of the same size");
  sf::Options options;
  options.schedule = "none such";
  EXPECT_NE(text_of([&] { return sf::sum(x, team[0], options); }).find("none such"), std::string::npos);
  sf::Options rooted;
  rooted.root = 7;
  const std::string root = text_of([&] { return sf::sum(x, team[0], rooted); });
  EXPECT_NE(root.find("root 7 is not a rank (the ranks are 0 to 0)"), std::string::npos) << root;
  rooted.root = -1;  // SF_ALL_RANKS in C
  std::vector<double> buffer = x;
  const std::string below =
      "root -1 is not a rank (the ranks are 0 to 0), give one of these ranks, or no root to get the result on "
      "all ranks";
  EXPECT_EQ(text_of([&] { return sf::sum(x, team[0], rooted); }), below);
  EXPECT_EQ(text_of([&] { return sf::reduce_to(-1, buffer, sf::plus, team[0]), 0; }), below);
  EXPECT_EQ(text_of([&] { return sf::start_reduce_to(-1, buffer, sf::plus, team[0]).wait(), 0; }), below);
  EXPECT_THROW(sf::Team(0), sf::Error);
  EXPECT_EQ(text_of([&] {
              return sf::sum(sf::Array<double>(x.data(), {3, 1}, {8}));
            }),
            "1 strides for a shape of 2 axes (every axis has one stride), give one stride per axis, or no strides for "
            "contiguous elements");
  const sf::Array<double> column(x.data(), {3, 1});
  for (const int first : {1, 0}) {
    sf::Axes axes;
    axes.keep = {first, 0};
    EXPECT_EQ(text_of([&] { return sf::sum(column, axes).size(); }),
              "the axes to keep are not in ascending order (results have the order of the array's axes), list each "
              "axis once, in ascending order");
  }
  const std::vector<int> labels = {0, 2, 1};
  EXPECT_EQ(text_of([&] { return sf::sum_by(x, labels, 2).size(); }),
            "label 2 of element 1, counted from 0, names no group (the last group is 1), correct the label");
  auto left = sf::start(sf::plus, x, team[0]);
  const auto right = std::move(left);
  const std::string moved = "no call (this Pending was moved from), use the Pending that now holds the call";
  EXPECT_EQ(text_of([&] { return left.test(); }), moved);
  EXPECT_EQ(text_of([&] { return left.get(); }), moved);
  sf::Team of_two(2);  // of whom one never comes
  of_two.set_timeout(std::chrono::milliseconds(50));
  const std::string late = text_of([&] { return sf::sum(x, of_two[0]); });
  EXPECT_NE(late.find("took longer than its limit of 0.05 s (workers of this process that are in no call: 1)"),
            std::string::npos)
      << late;
}

TEST(Cxx17, NothingIsSelected) {
  const std::vector<double> x(3, 1.0);
  const std::vector<unsigned char> none(3, 0);
  const sf::Array<double> column(x.data(), {3, 1});
  sf::Axes axes;
  axes.keep = {1};
  axes.where = sf::Array<unsigned char>(none.data(), {3, 1});
  EXPECT_TRUE(std::isnan(sf::max(column, axes).at(0)));
  EXPECT_TRUE(std::isnan(sf::mean(column, axes).at(0)));
  EXPECT_EQ(bits(sf::sum(column, axes)), bits(std::vector<double>(1, 0.0)));
}

// --- teams and plans -------------------------------------------------------------------------------------------------

constexpr int workers = 3;

/// Runs body(member) on a thread for every worker of a team.
template <class Body>
void on_team(const Body& body) {
  const sf::Team team(workers);
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w) threads.emplace_back([&team, &body, w] { body(team[w]); });
  for (std::thread& thread : threads) thread.join();
}
/// The part of worker w: unequal ones.
template <class T>
std::vector<T> part_of(const std::vector<T>& all, int w) {
  const std::size_t cuts[] = {0, all.size() / 5, all.size() / 5, all.size()};
  return {all.begin() + static_cast<std::ptrdiff_t>(cuts[w]), all.begin() + static_cast<std::ptrdiff_t>(cuts[w + 1])};
}

TEST(Cxx17, TeamsHaveTheBitsOfOneProcess) {
  const std::vector<double> x = hostile(1000, 5), y = hostile(1000, 6);
  const std::vector<Matrix> m = matrices(41);
  const Matrix wanted = sf::reduce(m, product);
  on_team([&](const sf::Team::Member& member) {
    member.bind();
    const auto mine = part_of(x, member.worker()), other = part_of(y, member.worker());
    const auto my_matrices = part_of(m, member.worker());
    EXPECT_EQ(bits(sf::sum(mine, member)), bits(sf::sum(x, sf::exact())));
    EXPECT_EQ(bits(sf::dot(mine, other, member, sf::binned())), bits(sf::dot(x, y, sf::binned())));
    EXPECT_EQ(bits(sf::sum(mine, member, sf::tree())), bits(sf::sum(x, sf::tree())));
    sf::Options options = sf::tree();
    options.layout = sf::Layout::contiguous(my_matrices.size(), member);
    const Matrix found = sf::reduce(my_matrices, product, sf::group_of(member), options);
    EXPECT_EQ(bytes_of(&found), bytes_of(&wanted));
    sf::Options rooted;
    rooted.root = 1;
    const double sum = sf::sum(mine, member, rooted);
    EXPECT_EQ(bits(sum), member.worker() == 1 ? bits(sf::sum(x)) : bits(nan));
  });
}

TEST(Cxx17, OneThreadStartsForAllWorkers) {
  const std::vector<double> x = hostile(300, 11);
  const sf::Team team(workers);
  std::vector<std::vector<double>> parts;
  for (int w = 0; w < workers; ++w) parts.push_back(part_of(x, w));
  std::vector<sf::Pending<double>> pending;
  for (int w = 0; w < workers; ++w) pending.push_back(sf::start(sf::plus, parts[static_cast<std::size_t>(w)], team[w]));
  for (auto& each : pending) EXPECT_EQ(bits(each.get()), bits(sf::sum(x)));
}

TEST(Cxx17, VectorsInMpisShape) {
  on_team([&](const sf::Team::Member& member) {
    const int w = member.worker();
    const std::vector<double> rows[] = {{0.1, -0.0, 1e300, nan}, {0.2, -0.0, 1.0, 1.0}, {0.3, -0.0, -1e300, 1.0}};
    const auto wanted = [&](int begin, int end) {  // the binary tree over ranks
      std::vector<double> all(4);
      for (std::size_t i = 0; i < 4; ++i) {
        all[i] = rows[begin][i];
        if (end - begin > 1) all[i] = all[i] + rows[begin + 1][i];
        if (end - begin > 2) all[i] = all[i] + rows[begin + 2][i];
      }
      if (begin == 0 && end > 0) all[3] = nan;
      return bits(all);
    };
    std::vector<double> all = rows[w], root = rows[w], up = rows[w], below = rows[w];
    sf::allreduce(all, sf::plus, member);
    EXPECT_EQ(bits(all), wanted(0, 3));
    sf::reduce_to(2, sf::view(root.data(), root.size()), sf::plus, member);
    EXPECT_EQ(bits(root), w == 2 ? wanted(0, 3) : bits(rows[w]));
    sf::scan(up, sf::plus, member);
    EXPECT_EQ(bits(up), wanted(0, w + 1));
    sf::exscan(below, sf::plus, member);
    EXPECT_EQ(bits(below), w == 0 ? bits(rows[0]) : wanted(0, w));
    auto plan = sf::Plan<double>::of_vectors(sf::plus, 4, member);
    std::vector<double> result(4), buffer = rows[w];
    plan.run(rows[w], result);
    EXPECT_EQ(bits(result), wanted(0, 3));
    plan.start(buffer);
    plan.wait();
    EXPECT_EQ(bits(buffer), wanted(0, 3));
    buffer = rows[w];
    sf::Plan<double>::of_scan(sf::plus, 4, member).run(buffer);
    EXPECT_EQ(bits(buffer), wanted(0, w + 1));
    buffer = rows[w];
    sf::Plan<double>::of_exscan(sf::plus, 4, member).run(sf::view(buffer.data(), 4));
    EXPECT_EQ(bits(buffer), w == 0 ? bits(rows[0]) : wanted(0, w));
  });
}

TEST(Cxx17, PlansRunStartTestWaitAndMove) {
  const std::vector<double> x = hostile(500, 1), y = hostile(500, 2);
  const std::vector<unsigned char> mask = mask_for(500);
  on_team([&](const sf::Team::Member& member) {
    const auto mine = part_of(x, member.worker()), other = part_of(y, member.worker());
    const auto my_mask = part_of(mask, member.worker());
    sf::Plan<double> dots(sf::dot, mine.size(), member);
    sf::Plan<double> masked(sf::masked_sum, mine.size(), member);
    sf::Plan<double, sf::Located<double>> greatest(sf::max_location, mine.size(), member);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(bits(dots.run(mine, other)), bits(sf::dot(x, y)));
      EXPECT_EQ(bits(masked.run(mine, my_mask)), bits(sf::masked_sum(x, mask)));
      EXPECT_TRUE(greatest.run(mine) == sf::max_location(x));
    }
    double sum = 0, dot = 0, nothing = 7;
    sf::Plan<double> sums(sf::plus, mine.size(), member, sf::tree());
    sums.start(mine, sum);
    const std::string running =
        "the plan is running (it was started, and its run has not been waited for), call wait before the next start";
    EXPECT_EQ(outcome_of([&] { return sums.start(mine, nothing), 0; }).text, running);
    EXPECT_EQ(outcome_of([&] { return sums.run(mine); }).text, running);
    dots.start(sf::view(mine.data(), mine.size()), other, dot);
    while (!sums.test()) std::this_thread::yield();
    EXPECT_TRUE(dots.wait_for(std::chrono::seconds(60)));
    EXPECT_EQ(bits(sum), bits(sf::sum(x, sf::tree())));
    EXPECT_EQ(bits(dot), bits(sf::dot(x, y)));
    EXPECT_EQ(nothing, 7.0) << "a start that was refused wrote its result";

    static_assert(!std::is_copy_constructible_v<sf::Plan<double>>);
    sf::Plan<double> moved(std::move(sums));
    EXPECT_EQ(bits(moved.run(mine)), bits(sum));
    EXPECT_EQ(outcome_of([&] { return sums.run(mine); }).status, SF_INVALID_ARGUMENT);  // NOLINT
    dots = std::move(moved);
    EXPECT_EQ(bits(dots.run(mine)), bits(sum));
    EXPECT_EQ(dots.schedule().empty(), false);
  });
}

TEST(Cxx17, PlansKeepTheirOperators) {
  const std::vector<Matrix> all = matrices(41);
  const Matrix wanted = sf::reduce(all, product);
  on_team([&](const sf::Team::Member& member) {
    const auto mine = part_of(all, member.worker());
    std::vector<sf::Plan<Matrix>> plans;
    {
      const std::string name = "product of two rows by two columns";
      plans.emplace_back(sf::named(name, product), mine.size(), member);
      plans.emplace_back([](const Matrix& l, const Matrix& r) { return product(l, r); }, mine.size(), member);
    }
    for (auto& plan : plans) {
      const Matrix found = plan.run(mine);
      EXPECT_EQ(bytes_of(&found), bytes_of(&wanted));
    }
    const char* const name = member.worker() == 1 ? "one" : "another";
    EXPECT_EQ(outcome_of([&] { return sf::reduce(mine, sf::named(name, product), member); }).status, SF_MISMATCH);
    sf::Plan<Matrix> stops(
        [w = member.worker()](const Matrix& l, const Matrix&) -> Matrix {
          if (w == 2) throw Stop{2};
          return l;
        },
        mine.size(), member);
    try {
      stops.run(mine);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Stop&) {
      EXPECT_EQ(member.worker(), 2);
    } catch (const sf::Error& error) {
      EXPECT_NE(member.worker(), 2);
      EXPECT_EQ(error.status(), SF_OPERATOR_FAILED);
    }
  });
}

TEST(Cxx17, PlansCompareSizes) {
  on_team([&](const sf::Team::Member& member) {
    const std::vector<double> x(5, 0.1);
    const std::vector<double> wrong(member.worker() == 1 ? 6 : 5, 0.1);
    sf::Plan<double> sums(sf::plus, 5, member), dots(sf::dot, 5, member);
    const auto expect_fault = [&](const Outcome& found, const char* text) {
      EXPECT_EQ(found.status, SF_INVALID_ARGUMENT) << found;
      EXPECT_EQ(found.text == text, member.worker() == 1) << found;
    };
    expect_fault(outcome_of([&] { return sums.run(wrong); }),
                 "6 elements (the plan was bound for 5 on this rank), give the same number as at binding");
    expect_fault(
        outcome_of([&] { return dots.run(x, wrong); }),
        "6 elements in the second vector (the plan was bound for 5 on this rank), give the same number as at binding");
    double result = 0;
    sums.start(wrong, result);
    expect_fault(outcome_of([&] { return sums.wait(), 0; }),
                 "6 elements (the plan was bound for 5 on this rank), give the same number as at binding");
    auto vectors = sf::Plan<double>::of_vectors(sf::plus, 3, member);
    const std::vector<double> row(3, 0.1);
    std::vector<double> places(member.worker() == 1 ? 2 : 3);
    expect_fault(outcome_of([&] { return vectors.run(row, places), 0; }),
                 "2 places for results (the plan was bound for 3 on this rank), give the same number as at binding");
    EXPECT_EQ(outcome_of([&] { return dots.run(x); }).text,
              "no second vector (a dot product takes two vectors of one type), give a second vector");
    EXPECT_EQ(bits(sums.run(x)), bits(sf::sum(std::vector<double>(15, 0.1))));
  });
}

}  // namespace
}  // namespace steadfold::test::cxx17_test
