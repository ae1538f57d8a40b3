// Calls that ranks disagree about: an error everywhere, a text that says what differs, a communicator that goes on
// working, and never a deadlock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "steadfold/bundle.hpp"

namespace steadfold::tests::disagreement_test {
namespace {

class DisagreementTest : public MisuseTest {};

TEST_F(DisagreementTest, Types) {
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

TEST_F(DisagreementTest, Lanes) {
  for (const int odd : astray()) {
    const Method method = tree({.lanes = is_astray(odd) ? 8U : 16U});
    expect_error(SF_MISMATCH, {"lanes", "8", "16"}, "lanes", [&] { sum(x, world.comm, {.method = method}); });
    expect_error(SF_MISMATCH, {"lanes"}, "lanes at bind",
                 [&] { Plan<double>(plus, 5, world.comm, {.method = method}); });
  }
}

TEST_F(DisagreementTest, ResultTypes) {
  for (const int odd : astray()) {
    sf_call call = call_of_rows(5);
    call.method = SF_EXACT;
    call.result_type = is_astray(odd) ? SF_F32 : SF_F64;
    double result = 0;
    expect_status(SF_MISMATCH, {"f32", "f64"}, "result types",
                  [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
  }
}

TEST_F(DisagreementTest, Columns) {
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

TEST_F(DisagreementTest, Operators) {
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

TEST_F(DisagreementTest, OperatorsOfOnesOwn) {
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
TEST_F(DisagreementTest, OperatorsOfOtherTypes) {
  const auto product = [](double a, double b) { return a * b; };
  const auto greatest = [](double a, double b) { return a < b ? b : a; };
  std::vector<int> odd_ones = astray();
  if (odd_ones.empty()) return;  // nobody to disagree with
  const auto expect_differing = [&](const auto& one, const auto& another, const std::string& what) {
    std::ranges::rotate(odd_ones, odd_ones.begin() + 1);  // another one for each pair
    const bool here = is_astray(odd_ones.front());
    const Words words = {"operators with different names or types"};
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

TEST_F(DisagreementTest, OperatorsOfOneNameOrOneType) {
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

TEST_F(DisagreementTest, OperatorsAtBind) {
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

TEST_F(DisagreementTest, NamesOfOperators) {
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

TEST_F(DisagreementTest, Methods) {
  for (const int odd : astray()) {
    expect_error(SF_MISMATCH, {"exact", "tree"}, "methods",
                 [&] { sum(x, world.comm, {.method = is_astray(odd) ? exact() : tree()}); });
    expect_error(SF_MISMATCH, {"plain", "tree"}, "methods at bind",
                 [&] { Plan<double>(plus, 5, world.comm, {.method = is_astray(odd) ? plain() : tree()}); });
  }
}

TEST_F(DisagreementTest, Roots) {
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

TEST_F(DisagreementTest, Schedules) {
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

TEST_F(DisagreementTest, KindsOfLayout) {
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

TEST_F(DisagreementTest, ElementCountsThatDisagree) {
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
TEST_F(DisagreementTest, DisagreementsAfterTheSameCallWentWell) {
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

}  // namespace
}  // namespace steadfold::tests::disagreement_test
