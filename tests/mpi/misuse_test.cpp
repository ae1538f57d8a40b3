// Calls that are wrong on one rank or on all, and calls that ranks disagree about: an error everywhere, a text that
// says what to do, a communicator that goes on working, and never a deadlock.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "misuse.hpp"
#include "run_ranks.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::tests {
namespace {

// --- ranks that disagree ---------------------------------------------------------------------------------------------

TEST_F(MisuseTest, Types) {
  const std::vector<float> floats(5, 0.1f);
  for (const int odd : astray()) {
    for (const std::string schedule : {"", "binomial"}) {
      expect_error(SF_MISMATCH, {"f32", "f64"}, "types", [&] {
        if (is_astray(odd))
          sum(floats, world.comm, {.schedule = schedule});
        else
          sum(x, world.comm, {.schedule = schedule});
      });
    }
    expect_error(SF_MISMATCH, {"f32", "f64"}, "types at bind", [&] {
      if (is_astray(odd))
        Plan<float>(plus, 5, world.comm);
      else
        Plan<double>(plus, 5, world.comm);
    });
  }
}

TEST_F(MisuseTest, ResultTypes) {
  for (const int odd : astray()) {
    sf_call call = call_of_rows(5);
    call.method = SF_EXACT;
    call.result_type = is_astray(odd) ? SF_F32 : SF_F64;
    double result = 0;
    expect_status(SF_MISMATCH, {"f32", "f64"}, "result types",
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
  }
}

TEST_F(MisuseTest, Columns) {
  for (const int odd : astray()) {
    for (const std::size_t columns : {std::size_t{2}, std::size_t{5000}}) {
      for (const Method method : {tree(), exact()}) {
        const std::size_t mine = is_astray(odd) ? columns + 1 : columns;
        const Words words = {std::to_string(columns), std::to_string(columns + 1)};
        std::vector<double> buffer(mine, 1.0);
        expect_error(SF_MISMATCH, words, "columns",
                     [&] { allreduce(std::span{buffer}, plus, world.comm, {.method = method}); });
        expect_error(SF_MISMATCH, words, "columns, rooted",
                     [&] { reduce_to(0, std::span{buffer}, plus, world.comm, {.method = method}); });
        expect_error(SF_MISMATCH, words, "columns at bind",
                     [&] { Plan<double>::of_vectors(plus, mine, world.comm, {.method = method}); });
      }
    }
  }
}

TEST_F(MisuseTest, Operators) {
  for (const int odd : astray()) {
    for (const std::string schedule : {"", "flat"}) {
      const Options options{.schedule = schedule};
      expect_error(SF_MISMATCH, {"sum", "product"}, "sum against product", [&] {
        if (is_astray(odd))
          reduce(x, times, world.comm, {.method = tree(), .schedule = schedule});
        else
          reduce(x, plus, world.comm, {.method = tree(), .schedule = schedule});
      });
      expect_error(SF_MISMATCH, {"min", "max"}, "min against max", [&] {
        if (is_astray(odd))
          reduce(x, minimum, world.comm, options);
        else
          reduce(x, maximum, world.comm, options);
      });
      expect_error(SF_MISMATCH, {"sum", "user"}, "sum against an operator of one's own", [&] {
        if (is_astray(odd))
          reduce(x, plus, world.comm, options);
        else
          reduce(x, subtract, world.comm, options);
      });
      expect_error(SF_MISMATCH, {"sum", "norm2"}, "sum against norm2", [&] {
        if (is_astray(odd))
          norm2(x, world.comm, options);
        else
          sum(x, world.comm, options);
      });
    }
  }
}

TEST_F(MisuseTest, OperatorsOfOnesOwn) {
  const std::vector<Matrix> matrices(2);
  const auto may_throw = [](double a, double b) { return a - b; };
  for (const int odd : astray()) {
    expect_error(SF_MISMATCH, {"32", "8"}, "sizes of elements", [&] {
      if (is_astray(odd))
        reduce(matrices, matrix_product, world.comm);
      else
        reduce(x, may_throw, world.comm);
    });
    expect_error(SF_MISMATCH, {"fail"}, "noexcept or not", [&] {
      if (is_astray(odd))
        reduce(x, named("subtract", subtract), world.comm);
      else
        reduce(x, named("subtract", may_throw), world.comm);
    });
  }
}

double first_of(double a, double /*b*/) { return a; }
double last_of(double /*a*/, double b) { return b; }

/// Operators are told apart by their types, of which every closure has one of its own, and by names.
TEST_F(MisuseTest, OperatorsOfOtherTypes) {
  const auto product = [](double a, double b) { return a * b; };
  const auto greatest = [](double a, double b) { return a < b ? b : a; };
  std::vector<int> odd_ones = astray();
  if (odd_ones.empty()) return;  // nobody to disagree with
  const auto expect_differing = [&](const auto& one, const auto& another, const std::string& what) {
    std::ranges::rotate(odd_ones, odd_ones.begin() + 1);  // another one for each pair
    const bool here = is_astray(odd_ones.front());
    const Words words = {"operators of different names or types"};
    expect_error(SF_MISMATCH, words, what, [&] { here ? reduce(x, one, world.comm) : reduce(x, another, world.comm); });
    expect_error(SF_MISMATCH, words, what + " at bind",
                 [&] { here ? Plan<double>(one, 5, world.comm) : Plan<double>(another, 5, world.comm); });
    expect_error(SF_MISMATCH, words, what + " in a bundle", [&] {
      Bundle bundle;
      here ? bundle.reduce(x, one) : bundle.reduce(x, another);
      bundle.bind(world.comm);
    });
  };
  expect_differing(product, greatest, "two closures");
  expect_differing(std::multiplies<>(), std::plus<>(), "two types of functions");
  expect_differing(std::plus<>(), std::plus<double>(), "a type and its like");
  expect_differing(named("first", first_of), named("last", last_of), "functions with names");
  expect_differing(named("first", product), named("last", product), "one operator with two names");
  expect_differing(named("product", product), product, "a name against a type");
}

TEST_F(MisuseTest, OperatorsOfOneNameOrOneType) {
  const auto product = [](double a, double b) { return a * b; };
  const auto reversed = [](double a, double b) { return b * a; };
  const std::vector<double> mine = {1.0 + world.rank};
  std::vector<double> all;
  for (int r = 0; r < world.size; ++r) all.push_back(1.0 + r);
  for (const int odd : astray()) {
    for (const std::string name : {"product", "a name that is too long for any string to keep it in place"}) {
      const double found = is_astray(odd) ? reduce(mine, named(name, product), world.comm)
                                          : reduce(mine, named(name, reversed), world.comm);
      EXPECT_TRUE(is(found, tree_of(all, multiply)));
      auto plan = is_astray(odd) ? Plan<double>(named(name, product), 1, world.comm)
                                 : Plan<double>(named(name, reversed), 1, world.comm);
      EXPECT_TRUE(is(plan.run(mine), tree_of(all, multiply)));
    }
    double (*const function)(double, double) = is_astray(odd) ? first_of : last_of;
    EXPECT_EQ(outcome_of([&] { reduce(mine, function, world.comm); }).status, SF_OK) << "documented as not told apart";
  }
}

TEST_F(MisuseTest, OperatorsAtBind) {
  const auto bind = [&](bool here, const auto& mine, const auto& others) {
    if (here)
      Plan<double>(mine, 5, world.comm, {.method = tree()});
    else
      Plan<double>(others, 5, world.comm, {.method = tree()});
  };
  const auto may_throw = [](double a, double b) { return a - b; };
  for (const int odd : astray()) {
    const bool here = is_astray(odd);
    expect_error(SF_MISMATCH, {"sum", "product"}, "sum against product", [&] { bind(here, times, plus); });
    expect_error(SF_MISMATCH, {"sum", "user"}, "sum against one's own", [&] { bind(here, subtract, plus); });
    expect_error(SF_MISMATCH, {"fail"}, "noexcept or not",
                 [&] { bind(here, named("subtract", subtract), named("subtract", may_throw)); });
    expect_error(SF_MISMATCH, {"32", "8"}, "sizes of elements", [&] {
      if (here)
        Plan<Matrix>(matrix_product, 5, world.comm);
      else
        Plan<double>(may_throw, 5, world.comm);
    });
    expect_error(SF_MISMATCH, {"layout"}, "kinds of layout", [&] {
      if (here)
        Plan<double>::of_vectors(plus, 1, world.comm, {.method = tree()});
      else
        Plan<double>(plus, 1, world.comm, {.method = tree()});
    });
  }
}

TEST_F(MisuseTest, NamesOfOperators) {
  const auto call_named = [&](const char* name) {
    sf_call call = call_of_rows(5);
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = 8;
    call.operator_name = name;
    call.user = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
    return call;
  };
  double result = 0;
  for (const int odd : astray()) {
    const sf_call call = call_named(is_astray(odd) ? "one" : "another");
    sf_plan* plan = nullptr;
    expect_status(SF_MISMATCH, {"different names"}, "names of operators",
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
    expect_status(SF_MISMATCH, {"different names"}, "names of operators at bind",
                  [&] { return sf_plan_bind(&call, world.comm, &plan); });
  }
}

TEST_F(MisuseTest, Methods) {
  for (const int odd : astray()) {
    expect_error(SF_MISMATCH, {"exact", "tree"}, "methods",
                 [&] { sum(x, world.comm, {.method = is_astray(odd) ? exact() : tree()}); });
    expect_error(SF_MISMATCH, {"plain", "tree"}, "methods at bind",
                 [&] { Plan<double>(plus, 5, world.comm, {.method = is_astray(odd) ? plain() : tree()}); });
  }
}

TEST_F(MisuseTest, Roots) {
  for (const int odd : astray()) {
    expect_error(SF_MISMATCH, {"root", "0", "1"}, "roots",
                 [&] { sum(x, world.comm, {.root = is_astray(odd) ? 0 : 1}); });
    Options options;
    if (is_astray(odd)) options.root = 1;
    expect_error(SF_MISMATCH, {"root", "1"}, "a root against none", [&] { sum(x, world.comm, options); });
    expect_error(SF_MISMATCH, {"root", "1"}, "a root against none at bind",
                 [&] { Plan<double>(plus, 5, world.comm, options); });
  }
}

TEST_F(MisuseTest, Schedules) {
  for (const int odd : astray()) {
    const std::string mine = is_astray(odd) ? "linear" : "binomial";
    expect_error(SF_MISMATCH, {"schedule", "linear", "binomial"}, "schedules",
                 [&] { sum(x, world.comm, {.schedule = mine}); });
    expect_error(SF_MISMATCH, {"schedule"}, "a schedule against none",
                 [&] { sum(x, world.comm, {.schedule = is_astray(odd) ? "linear" : ""}); });
    expect_error(SF_MISMATCH, {"schedule"}, "schedules at bind",
                 [&] { Plan<double>(plus, 5, world.comm, {.schedule = mine}); });
  }
}

TEST_F(MisuseTest, KindsOfLayout) {
  const std::uint64_t begin = 5 * world.index();
  for (const int odd : astray()) {
    for (const Method method : {tree(), exact()}) {
      const Layout mine = is_astray(odd) ? Layout() : Layout::intervals({{begin, begin + 5}});
      expect_error(SF_MISMATCH, {"layout", "intervals"}, "kinds of layout",
                   [&] { sum(x, world.comm, {.method = method, .layout = mine}); });
    }
    expect_error(SF_MISMATCH, {"layout"}, "elements against vectors", [&] {
      std::vector<double> one(1);
      if (is_astray(odd))
        allreduce(std::span{one}, subtract, world.comm);
      else
        reduce(one, subtract, world.comm);
    });
  }
}

TEST_F(MisuseTest, ElementCountsThatDisagree) {
  const std::uint64_t begin = 5 * world.index();
  const std::uint64_t n = 5 * world.count();
  for (const int odd : astray()) {
    const std::uint64_t mine = is_astray(odd) ? n + 1 : n;
    for (const Method method : {tree(), exact()}) {
      const Options options{.method = method, .layout = Layout::intervals({{begin, begin + 5}}, mine)};
      const Words words = {std::to_string(n), std::to_string(n + 1)};
      expect_error(SF_MISMATCH, words, "element counts", [&] { sum(x, world.comm, options); });
      expect_error(SF_MISMATCH, words, "element counts at bind", [&] { Plan<double>(plus, 5, world.comm, options); });
    }
  }
}

/// A right call leaves plans and shapes behind; a wrong one after it must not run them.
TEST_F(MisuseTest, DisagreementsAfterTheSameCallWentWell) {
  const auto call = [&](const std::string& schedule, Method method) {
    return sum(x, world.comm, {.method = method, .schedule = schedule});
  };
  for (const std::string schedule : {"", "linear"}) {
    call(schedule, tree());
    call(schedule, exact());
  }
  for (const int odd : astray())
    for (const std::string schedule : {"", "linear"})
      expect_error(SF_MISMATCH, {"exact", "tree"}, "methods, cached",
                   [&] { call(schedule, is_astray(odd) ? exact() : tree()); });
}

// --- arguments that no call can use ----------------------------------------------------------------------------------

TEST_F(MisuseTest, NullData) {
  for (int odd = 0; odd < world.size; ++odd) {
    for (const char* schedule : {static_cast<const char*>(nullptr), "binomial"}) {
      sf_call call = call_of_rows(5);
      call.schedule = schedule;
      double result = 0;
      expect_status(SF_INVALID_ARGUMENT, {"null"}, "null data", [&] {
        return sf_reduce(&call, is_astray(odd) ? nullptr : x.data(), nullptr, &result, world.comm);
      });
      expect_status(SF_INVALID_ARGUMENT, {"null"}, "null result", [&] {
        return sf_reduce(&call, x.data(), nullptr, is_astray(odd) ? nullptr : &result, world.comm);
      });
      call.rows = is_astray(odd) ? 0 : 5;  // nothing to read there: no error
      EXPECT_EQ(sf_reduce(&call, is_astray(odd) ? nullptr : x.data(), nullptr, &result, world.comm), SF_OK);
    }
  }
}

TEST_F(MisuseTest, NullResultOnTheRoot) {
  sf_call call = call_of_rows(5);
  call.root = world.size - 1;
  const Outcome outcome = outcome_of([&] {
    const sf_status status = sf_reduce(&call, x.data(), nullptr, nullptr, world.comm);
    if (status != SF_OK) throw Error(status, sf_error_text());
  });
  if (world.rank == call.root) {
    EXPECT_EQ(outcome.status, SF_INVALID_ARGUMENT) << outcome.string();
  }
  expect_usable("null result on the root");
}

TEST_F(MisuseTest, NullCalls) {
  double result = 0;
  for (int odd = 0; odd < world.size; ++odd) {
    sf_call call = call_of_rows(5);
    const sf_call* mine = is_astray(odd) ? nullptr : &call;
    expect_status(SF_INVALID_ARGUMENT, {"null"}, "a null call",
                  [&] { return sf_reduce(mine, x.data(), nullptr, &result, world.comm); });
    sf_plan* plan = nullptr;
    expect_status(SF_INVALID_ARGUMENT, {"null"}, "a null call at bind",
                  [&] { return sf_plan_bind(mine, world.comm, &plan); });
    expect_status(SF_INVALID_ARGUMENT, {"null"}, "nowhere to put the plan",
                  [&] { return sf_plan_bind(&call, world.comm, is_astray(odd) ? nullptr : &plan); });
    EXPECT_EQ(plan, nullptr);
  }
}

TEST_F(MisuseTest, NullPlans) {
  double result = 0;
  int done = 0;
  sf_figures figures{};
  EXPECT_EQ(sf_plan_run(nullptr, x.data(), nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_start(nullptr, x.data(), nullptr, &result), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_test(nullptr, &done), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_wait(nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_trace(nullptr, 1), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_plan_figures(nullptr, &figures), SF_INVALID_ARGUMENT);
  EXPECT_STREQ(sf_plan_describe(nullptr), "");
  EXPECT_STREQ(sf_plan_schedule(nullptr), "");
}

/// Wrong fields of sf_call, on one rank or on all: the same error.
TEST_F(MisuseTest, FieldsThatNoCallCanUse) {
  struct Wrong {
    const char* what;
    Words words;
    void (*make)(sf_call&);
  };
  const Wrong wrongs[] = {
      {"an unknown operation", {"99"}, [](sf_call& c) { c.operation = number<sf_operation>(99); }},
      {"an unknown method", {"77"}, [](sf_call& c) { c.method = number<sf_method>(77); }},
      {"an unknown type", {"55"}, [](sf_call& c) { c.type = number<sf_type>(55); }},
      {"an unknown result type", {"55"}, [](sf_call& c) { c.result_type = number<sf_type>(55); }},
      {"an unknown layout", {"44"}, [](sf_call& c) { c.layout = number<sf_layout>(44); }},
      {"an unknown sweep", {"33"}, [](sf_call& c) { c.sweep = number<sf_sweep>(33); }},
      {"too many bins", {"5 bins", "2, 3 or 4"}, [](sf_call& c) { c.method = SF_BINNED, c.bins = 5; }},
      {"no columns", {"0 columns"}, [](sf_call& c) { c.columns = 0; }},
      {"too many columns", {"18446744073709551615"}, [](sf_call& c) { c.columns = UINT64_MAX; }},
      {"a sum of bytes", {"user"}, [](sf_call& c) { c.type = c.result_type = SF_BYTES; }},
      {"no operator",
       {"operator"},
       [](sf_call& c) {
         c.operation = SF_USER;
         c.type = c.result_type = SF_BYTES;
         c.element_bytes = 8;
       }},
      {"no size",
       {"element_bytes"},
       [](sf_call& c) {
         c.operation = SF_USER;
         c.type = c.result_type = SF_BYTES;
         c.user = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
       }},
      {"an operator on numbers", {"SF_BYTES"}, [](sf_call& c) { c.operation = SF_USER; }},
      {"two rows in MPI's shape", {"2 rows"}, [](sf_call& c) { c.layout = SF_ROW_A_RANK, c.rows = 2; }},
      {"a root below", {"-7"}, [](sf_call& c) { c.root = -7; }},
      {"a root beyond", {"1000000"}, [](sf_call& c) { c.root = 1000000; }}};
  double result = 0;
  for (const Wrong& wrong : wrongs) {
    for (int odd = -1; odd < world.size; ++odd) {  // -1: all
      sf_call call = call_of_rows(5);
      if (odd < 0 || is_astray(odd)) wrong.make(call);
      expect_status(SF_INVALID_ARGUMENT, wrong.words, wrong.what,
                    [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
      sf_plan* plan = nullptr;
      expect_status(SF_INVALID_ARGUMENT, wrong.words, wrong.what,
                    [&] { return sf_plan_bind(&call, world.comm, &plan); });
      EXPECT_EQ(plan, nullptr) << wrong.what;
    }
  }
}

TEST_F(MisuseTest, EmptyVectors) {
  std::vector<double> none;
  allreduce(std::span{none}, plus, world.comm);  // as in MPI
  scan(std::span{none}, plus, world.comm);
  auto plan = Plan<double>::of_vectors(plus, 0, world.comm);
  plan.run(none, std::span(none));
  for (const int odd : astray()) {
    std::vector<double> buffer(is_astray(odd) ? 0 : 3, 1.0);
    expect_error(SF_MISMATCH, {"columns", "0"}, "no columns on one rank",
                 [&] { allreduce(std::span{buffer}, plus, world.comm); });
  }
}

TEST_F(MisuseTest, FactorsOfDifferentSize) {
  const std::vector<double> shorter(4, 1.0);
  const std::vector<double> none;
  for (int odd = 0; odd < world.size; ++odd) {
    const auto call = [&](const std::vector<double>& a, const std::vector<double>& b) {
      return is_astray(odd) ? dot(a, b, world.comm) : dot(x, x, world.comm);
    };
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "a shorter second factor", [&] { call(x, shorter); });
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "a longer second factor", [&] { call(shorter, x); });
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "no second factor", [&] { call(x, none); });
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "no first factor", [&] { call(none, x); });
  }
}

TEST_F(MisuseTest, NoSecondFactorFromC) {
  for (int odd = 0; odd < world.size; ++odd) {
    sf_call call = call_of_rows(5);
    call.operation = SF_DOT;
    double result = 0;
    expect_status(SF_INVALID_ARGUMENT, {"second", "null"}, "no second factor",
                  [&] { return sf_reduce(&call, x.data(), is_astray(odd) ? nullptr : x.data(), &result, world.comm); });
  }
}

TEST_F(MisuseTest, SchedulesNobodyKnows) {
  for (const std::string name :
       {"butterfly", "tree", "binomial:", "linear:segments", ":", "flat:x=1", "[", "Binomial"}) {
    expect_error(SF_INVALID_ARGUMENT, {}, "schedule " + name, [&] { sum(x, world.comm, {.schedule = name}); });
    expect_error(SF_INVALID_ARGUMENT, {}, "schedule " + name + " at bind",
                 [&] { Plan<double>(plus, 5, world.comm, {.schedule = name}); });
  }
  expect_error(SF_INVALID_ARGUMENT, {"butterfly", "binomial"}, "a text that names the schedules there are",
               [&] { sum(x, world.comm, {.schedule = "butterfly"}); });
}

TEST_F(MisuseTest, CombinationsThatAreNotOffered) {
  const std::vector<int> integers(3, 1);
  const auto expect = [&](const Words& words, const std::string& what, const auto& call) {
    expect_error(SF_UNSUPPORTED, words, what, call);
  };
  expect({"native", "tree"}, "native with tree", [&] { sum(x, world.comm, {.method = tree(), .schedule = "native"}); });
  expect({"max", "binned"}, "binned with max", [&] { reduce(x, maximum, world.comm, {.method = binned()}); });
  expect({"max", "exact"}, "exact with max", [&] { reduce(x, maximum, world.comm, {.method = exact()}); });
  expect({"product", "exact"}, "exact with times", [&] { reduce(x, times, world.comm, {.method = exact()}); });
  expect({"dot", "tree"}, "dot with tree", [&] { dot(x, x, world.comm, {.method = tree()}); });
  expect({"norm2", "plain"}, "norm2 with plain", [&] { norm2(x, world.comm, {.method = plain()}); });
  expect({"exact"}, "exact with integers", [&] { sum(integers, world.comm, {.method = exact()}); });
  expect({"user", "exact"}, "exact with an operator", [&] { reduce(x, subtract, world.comm, {.method = exact()}); });
  expect({"recursive_doubling", "reduce"}, "recursive doubling to a root",
         [&] { sum(x, world.comm, {.root = 0, .schedule = "recursive_doubling"}); });
  expect({"native"}, "native with tree at bind",
         [&] { Plan<double>(plus, 5, world.comm, {.method = tree(), .schedule = "native"}); });
  expect({"max", "exact"}, "exact with max at bind",
         [&] { Plan<double>(maximum, 5, world.comm, {.method = exact()}); });
  if (world.size == 1) return;
  expect({"binomial", "root"}, "plain without order",
         [&] { reduce(x, subtract, world.comm, {.method = plain(), .root = world.size - 1, .schedule = "binomial"}); });
}

TEST_F(MisuseTest, CommunicatorsWithoutARankOrder) {
  const auto on_null = [&] { sum(x, MPI_COMM_NULL); };
  expect_error(SF_INVALID_ARGUMENT, {"MPI_COMM_NULL"}, "MPI_COMM_NULL", on_null);
  if (world.size == 1) return;
  const Ranks half = Ranks::split(world.rank % 2, world.rank);
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Intercomm_create(half.comm, 0, MPI_COMM_WORLD, 1 - world.rank % 2, 0, &between);
  expect_error(SF_INVALID_ARGUMENT, {"intercommunicator"}, "an intercommunicator", [&] { sum(x, between); });
  expect_error(SF_INVALID_ARGUMENT, {"intercommunicator"}, "an intercommunicator at bind",
               [&] { Plan<double>(plus, 5, between); });
  MPI_Comm_free(&between);
}

TEST_F(MisuseTest, RankOrderWithNowhereToGo) {
  sf_interval mine{};
  std::uint64_t count = 0;
  for (int odd = 0; odd < world.size; ++odd) {
    const sf_status status = sf_rank_order(5, world.comm, is_astray(odd) ? nullptr : &mine, &count);
    EXPECT_EQ(status, is_astray(odd) ? SF_INVALID_ARGUMENT : SF_OK);
    expect_usable("rank order");
  }
}

}  // namespace
}  // namespace steadfold::tests

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv, 60); }
