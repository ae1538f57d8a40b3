// The steps of random programs that leave nothing behind: one-shot calls and bundles of all kinds, against references
// over all inputs, gathered by plain MPI; and wrong calls.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/bits.hpp"
#include "mpi/operators.hpp"
#include "mpi/outcome.hpp"
#include "mpi/ranks.hpp"
#include "mpi/reference.hpp"
#include "mpi/run_ranks.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::tests {

/// One step on one communicator: what to do is drawn from `random`, which is the same on its ranks.
struct Step {
  const Ranks& ranks;
  Random random;
  Random own;  // this rank's data
  std::string what;
};

inline bool chance(Random& random, std::size_t of) { return draw(random, of) == 0; }

/// Everybody's elements, each at its index.
template <class T>
std::vector<T> gather(const Ranks& ranks, const std::vector<T>& mine, const Ownership& ownership) {
  std::vector<int> bytes;
  std::vector<int> starts = {0};
  for (const auto& intervals : ownership) {
    std::uint64_t rows = 0;
    for (const Interval i : intervals) rows += i.end - i.begin;
    bytes.push_back(static_cast<int>(rows * sizeof(T)));
    starts.push_back(starts.back() + bytes.back());
  }
  std::vector<T> in_rank_order(static_cast<std::size_t>(starts.back()) / sizeof(T));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size() * sizeof(T)), MPI_BYTE, in_rank_order.data(), bytes.data(),
                 starts.data(), MPI_BYTE, ranks.comm);
  std::vector<T> all(in_rank_order.size());
  std::size_t from = 0;
  for (const auto& intervals : ownership)
    for (const Interval i : intervals)
      for (std::uint64_t to = i.begin; to < i.end; ++to) all[to] = in_rank_order[from++];
  return all;
}

inline std::size_t random_size(Step& step) {
  const std::size_t sizes[] = {0, 1, step.ranks.count() - 1, step.ranks.count(), 7, 64, 100, 1000, 5000};
  return chance(step.random, 3) ? draw(step.random, 300) : sizes[draw(step.random, std::size(sizes))];
}

/// A layout of any sort, and the same as the library takes it.
struct Placed {
  Ownership ownership;
  Layout layout;
  std::size_t rows = 0;
  bool in_order = false;
};

inline Placed random_layout(Step& step, std::size_t n) {
  Placed placed;
  const std::size_t p = step.ranks.count();
  placed.in_order = chance(step.random, 2);
  if (placed.in_order)
    placed.ownership = in_rank_order(random_counts(n, p, step.random));
  else
    placed.ownership = shuffled(n, p, std::min(n, draw(step.random, 4 * p) + 1), chance(step.random, 2), step.random);
  for (const Interval i : placed.ownership[step.ranks.index()]) placed.rows += i.end - i.begin;
  const std::size_t sort = draw(step.random, 3);
  if (!placed.in_order || sort == 0)
    placed.layout = Layout::intervals(placed.ownership[step.ranks.index()], chance(step.random, 2) ? n : SF_UNKNOWN);
  else if (sort == 1)
    placed.layout = Layout::contiguous(placed.rows, step.ranks.comm);
  return placed;
}

inline Options random_options(Step& step, Method method, const Placed& placed) {
  Options options{.method = method, .layout = placed.layout};
  if (chance(step.random, 3)) options.root = static_cast<int>(draw(step.random, step.ranks.count()));
  std::vector<std::string> schedules = schedules_of(method, options.root.has_value());
  if (options.root && placed.in_order && method.id == SF_TREE)
    schedules.insert(schedules.end(), {"owner", "owner:buffer=4"});
  if (chance(step.random, 2)) options.schedule = schedules[draw(step.random, schedules.size())];
  return options;
}

/// Where this rank gets a result, it is `wanted`.
template <class T>
void expect_result(const Step& step, const Options& options, const T& found, const T& wanted) {
  if (options.root && *options.root != step.ranks.rank) return;
  EXPECT_TRUE(is(found, wanted)) << step.what << " on " << step.ranks.size << " ranks by " << text_of(options);
}

// --- one-shot calls --------------------------------------------------------------------------------------------------

template <class T>
void sum_step(Step& step) {
  const std::size_t n = random_size(step);
  const Placed placed = random_layout(step, n);
  const std::vector<T> mine = elements<T>(placed.rows, step.own);
  const std::vector<T> all = gather(step.ranks, mine, placed.ownership);
  Method method = chance(step.random, 2) ? tree() : Method{};
  if (std::floating_point<T> && chance(step.random, 2)) method = exact();
  if (std::floating_point<T> && chance(step.random, 4))
    method = binned({.bins = 4, .sweep = chance(step.random, 2) ? SF_DOUBLE_SWEEP : SF_SINGLE_SWEEP});
  const Options options = random_options(step, method, placed);
  T wanted = all.empty() ? T{0} : tree_of(all, add);
  if constexpr (std::floating_point<T>) {
    if (method.id != SF_TREE) wanted = reference::exact_sum(std::span<const T>(all));
    if (method.id == SF_BINNED) wanted = reference::binned_sum(std::span<const T>(all), 4);
  }
  expect_result(step, options, sum(mine, step.ranks.comm, options), wanted);
}

template <class T, class Op, class ReferenceOp>
void reduce_step(Step& step, const Op& op, const ReferenceOp& reference_op) {
  const std::size_t n = random_size(step);
  const Placed placed = random_layout(step, n);
  const std::vector<T> mine = elements<T>(placed.rows, step.own);
  const std::vector<T> all = gather(step.ranks, mine, placed.ownership);
  const Options options = random_options(step, {}, placed);
  T found{};
  const Outcome outcome = outcome_of([&] { found = reduce(mine, op, step.ranks.comm, options); });
  if (all.empty()) {
    EXPECT_TRUE(options.root || outcome.status == SF_EMPTY) << step.what << outcome.string();
    return;
  }
  EXPECT_FALSE(outcome.failed()) << step.what << outcome.string();
  expect_result(step, options, found, tree_of(all, reference_op));
}

template <class T>
void product_step(Step& step) {
  const std::size_t n = random_size(step);
  const Placed placed = random_layout(step, n);
  const std::vector<T> my_x = wide_numbers<T>(placed.rows, step.own);
  const std::vector<T> my_y = elements<T>(placed.rows, step.own);
  const std::vector<T> x = gather(step.ranks, my_x, placed.ownership);
  const std::vector<T> y = gather(step.ranks, my_y, placed.ownership);
  const Options options = random_options(step, exact(), placed);
  const std::span<const T> all_x(x);
  if (chance(step.random, 2))
    expect_result(step, options, norm2(my_x, step.ranks.comm, options), reference::exact_norm2(all_x));
  else
    expect_result(step, options, dot(my_x, my_y, step.ranks.comm, options),
                  reference::exact_dot(all_x, std::span<const T>(y)));
}

template <class T, class Op, class ReferenceOp>
void vector_step(Step& step, const Op& op, const ReferenceOp& reference_op) {
  const std::size_t sizes[] = {1, 2, 3, 10, 100, 2000};
  const std::size_t columns = sizes[draw(step.random, std::size(sizes))];
  const std::vector<T> before = elements<T>(columns, step.own);
  const Ownership one_after_another = in_rank_order(std::vector<std::size_t>(step.ranks.count(), columns));
  const std::vector<T> all = gather(step.ranks, before, one_after_another);
  std::vector<T> buffer = before;
  const Options options = random_options(step, {}, {});
  if (options.root)
    reduce_to(*options.root, std::span{buffer}, op, step.ranks.comm, options);
  else
    allreduce(std::span{buffer}, op, step.ranks.comm, options);
  for (std::size_t c = 0; c < columns; c += columns / 10 + 1) {
    std::vector<T> column;
    for (std::size_t r = 0; r < step.ranks.count(); ++r) column.push_back(all[r * columns + c]);
    expect_result(step, options, buffer[c], tree_of(column, reference_op));
    if (options.root && *options.root != step.ranks.rank) {
      EXPECT_TRUE(is(buffer[c], before[c])) << step.what;
    }
  }
}

/// Several reductions in one message, each over rows of its own.
inline void bundle_step(Step& step) {
  Placed places[3] = {random_layout(step, random_size(step)), random_layout(step, random_size(step)),
                      random_layout(step, random_size(step))};
  const std::vector<double> x = elements<double>(places[0].rows, step.own);
  const std::vector<float> y = elements<float>(places[1].rows, step.own);
  const std::vector<Hash> z = elements<Hash>(places[2].rows, step.own);
  const std::vector<double> all_x = gather(step.ranks, x, places[0].ownership);
  const std::vector<float> all_y = gather(step.ranks, y, places[1].ownership);
  const std::vector<Hash> all_z = gather(step.ranks, z, places[2].ownership);
  Bundle bundle;
  const auto sum = bundle.sum(x, {.layout = places[0].layout});
  const auto least = bundle.min(y, {.layout = places[1].layout});
  const auto mixed = bundle.reduce(z, mix_hashes, {.layout = places[2].layout});
  const auto norm = bundle.norm2(x);
  const Options options = random_options(step, tree(), {});
  BundlePlan plan = bundle.bind(step.ranks.comm, {.root = options.root, .schedule = options.schedule});
  for (int run = 0; run < 2; ++run) plan.run();
  if (options.root && *options.root != step.ranks.rank) return;
  EXPECT_TRUE(is(sum.value(), reference::exact_sum(std::span<const double>(all_x)))) << step.what;
  EXPECT_TRUE(is(norm.value(), reference::exact_norm2(std::span<const double>(all_x)))) << step.what;
  if (all_y.empty())
    EXPECT_EQ(outcome_of([&] { (void)least.value(); }).status, SF_EMPTY) << step.what;
  else
    EXPECT_TRUE(is(least.value(), tree_of(all_y, lesser))) << step.what;
  if (all_z.empty())
    EXPECT_EQ(outcome_of([&] { (void)mixed.value(); }).status, SF_EMPTY) << step.what;
  else
    EXPECT_TRUE(is(mixed.value(), tree_of(all_z, mix_hashes))) << step.what;
}

// --- wrong calls among them ------------------------------------------------------------------------------------------

inline void wrong_step(Step& step) {
  const std::uint64_t begin = 3 * step.ranks.index();
  const std::vector<double> mine = elements<double>(3, step.own);
  const std::size_t odd = draw(step.random, step.ranks.count());
  const bool here = step.ranks.index() == odd;
  Options options{.method = tree()};
  if (chance(step.random, 2)) options.schedule = "linear";
  const std::size_t sort = draw(step.random, 3);
  if (sort == 0) {
    options.layout = Layout::intervals({{begin + 1, begin + 4}});
  } else if (sort == 1) {
    options.method = here ? exact() : tree();
  } else {
    options.schedule = here ? "no_such_schedule" : "binomial";
  }
  const bool right = sort == 1 && step.ranks.size == 1;
  const Outcome outcome = outcome_of([&] { sum(mine, step.ranks.comm, options); });
  EXPECT_EQ(outcome.failed(), !right) << step.what << " " << text_of(options);
}

/// What a rank asks for when everyone may deviate; 1.0 in all rows.
struct Asked {
  std::int32_t operation, method, type, root, layout, schedule, columns, null;
};

inline Asked asked_by(Step& step, const Asked& usual) {
  Asked asked = usual;
  Random& own = step.own;
  if (!chance(own, 4)) return asked;
  std::int32_t* const fields[] = {&asked.operation, &asked.method,   &asked.type,    &asked.root,
                                  &asked.layout,    &asked.schedule, &asked.columns, &asked.null};
  const std::size_t deviant = draw(own, std::size(fields));
  *fields[deviant] = deviant == 6 ? 800 : 1 - *fields[deviant];
  return asked;
}

inline sf_call call_of(const Asked& asked, std::uint64_t rows) {
  static constexpr const char* schedules[] = {nullptr, "linear"};
  sf_call call = sf_call_default();
  call.operation = asked.operation == 0 ? SF_SUM : SF_PRODUCT;
  call.method = asked.method == 0 ? SF_TREE : SF_PLAIN;
  call.type = call.result_type = asked.type == 0 ? SF_F64 : SF_F32;
  call.root = asked.root == 0 ? SF_ALL_RANKS : 0;
  call.layout = asked.layout == 0 ? SF_ANYWHERE : SF_RANK_ORDER;
  call.schedule = schedules[asked.schedule];
  call.columns = static_cast<std::uint64_t>(asked.columns);
  call.rows = rows;
  return call;
}

/// Ranks deviate as they like: all fail, or all asked for the same and succeed.
inline void chaos_step(Step& step) {
  const auto either = [&] { return static_cast<std::int32_t>(draw(step.random, 2)); };
  const Asked usual{either(), either(), either(), either(), either(), either(), 1 + either(), 0};
  const bool bind = chance(step.random, 3);
  const Asked asked = asked_by(step, usual);
  const std::uint64_t rows = 1 + draw(step.own, 3);
  std::vector<Asked> all(step.ranks.count());
  MPI_Allgather(&asked, sizeof asked, MPI_BYTE, all.data(), sizeof asked, MPI_BYTE, step.ranks.comm);
  bool right = bind || asked.null == 0;
  for (const Asked& each : all) {
    Asked compared = each;
    if (bind) compared.null = asked.null;  // binding reads nothing
    right = right && same_bits(compared, asked);
  }

  const sf_call call = call_of(asked, rows);
  const std::vector<double> ones(rows * call.columns, 1.0);
  const std::vector<float> float_ones(rows * call.columns, 1.0f);
  std::vector<double> result(call.columns);
  const void* const data = asked.type == 0 ? static_cast<const void*>(ones.data()) : float_ones.data();
  sf_plan* plan = nullptr;
  const sf_status status =
      bind ? sf_plan_bind(&call, step.ranks.comm, &plan)
           : sf_reduce(&call, asked.null != 0 ? nullptr : data, nullptr, result.data(), step.ranks.comm);
  EXPECT_EQ(status == SF_OK, right) << step.what << ": " << (status == SF_OK ? "no error" : sf_error_text());
  sf_plan_free(plan);
}

/// An operator that throws in the middle of it, on one rank.
inline void throwing_step(Step& step) {
  const std::size_t odd = draw(step.random, step.ranks.count());
  const bool here = step.ranks.index() == odd;
  const Placed placed = random_layout(step, 200);
  const Options options = random_options(step, {}, placed);
  std::size_t fuse = here ? draw(step.random, 100) + 1 : 0;
  bool threw = false;
  const auto op = [&](double a, double b) {
    if (fuse > 0 && --fuse == 0) {
      threw = true;
      throw Thrown{step.ranks.rank};
    }
    return a - b;
  };
  const std::vector<double> mine = elements<double>(placed.rows, step.own);
  const Outcome outcome = outcome_of([&] { reduce(mine, op, step.ranks.comm, options); });
  int own = threw ? 1 : 0;
  int any = 0;
  MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, step.ranks.comm);
  const bool must_fail = threw || (any != 0 && (!options.root || *options.root == step.ranks.rank));
  const bool may_fail = any != 0;
  EXPECT_TRUE(outcome.failed() ? may_fail : !must_fail) << step.what << outcome.string();
  EXPECT_EQ(threw, outcome.thrown_on == step.ranks.rank) << step.what << outcome.string();
}

}  // namespace steadfold::tests
