// Calls that are wrong on one rank or on all: an error everywhere, a text that says what to do, a communicator that
// goes on working, and never a deadlock. Ranks that disagree: disagreement_test.cpp.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mpi/misuse/misuse.hpp"
#include "steadfold/started.hpp"

namespace steadfold::tests::misuse_test {
namespace {

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
      {"too many bins", {"5 bins", "takes 2 to 4"}, [](sf_call& c) { c.method = SF_BINNED, c.bins = 5; }},
      {"too many lanes", {"1025 lanes", "1 to 1024"}, [](sf_call& c) { c.method = SF_TREE, c.lanes = 1025; }},
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
      {"two rows in MPI's shape", {"2 rows"}, [](sf_call& c) { c.layout = SF_ROW_PER_RANK, c.rows = 2; }},
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

/// Lanes where they cannot keep what they promise, on one rank or on all.
TEST_F(MisuseTest, LanesThatAreNotOffered) {
  struct Wrong {
    const char* what;
    Words words;
    void (*make)(sf_call&);
  };
  const auto apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; };
  const Wrong wrongs[] = {
      {"lanes of exact", {"16 lanes", "exact", "only tree"}, [](sf_call& c) { c.method = SF_EXACT; }},
      {"lanes of no method", {"16 lanes", "exact", "name method tree"}, [](sf_call& c) { c.method = SF_AUTOMATIC; }},
      {"lanes of an operator that is not commutative",
       {"16 lanes", "commutative"},
       [](sf_call& c) {
         c.operation = SF_USER;
         c.type = SF_BYTES;
         c.element_bytes = 8;
       }},
      {"lanes in MPI's shape", {"16 lanes", "MPI's shape"}, [](sf_call& c) {
         c.layout = SF_ROW_PER_RANK;
         c.rows = 1;
       }}};
  double result = 0;
  for (const Wrong& wrong : wrongs) {
    for (int odd = -1; odd < world.size; ++odd) {  // -1: all
      sf_call call = call_of_rows(5);
      call.method = SF_TREE;
      call.user = apply;
      if (odd < 0 || is_astray(odd)) {
        call.lanes = 16;
        wrong.make(call);
      }
      expect_status(SF_UNSUPPORTED, wrong.words, wrong.what,
                    [&] { return sf_reduce(&call, x.data(), nullptr, &result, world.comm); });
      sf_plan* plan = nullptr;
      expect_status(SF_UNSUPPORTED, wrong.words, wrong.what, [&] { return sf_plan_bind(&call, world.comm, &plan); });
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
    const std::string differ = "the factors of a dot product differ in size ";
    expect_error(SF_INVALID_ARGUMENT, {differ + "(5 and 4 elements)"}, "a shorter second factor",
                 [&] { call(x, shorter); });
    expect_error(SF_INVALID_ARGUMENT, {differ + "(4 and 5 elements)"}, "a longer second factor",
                 [&] { call(shorter, x); });
    expect_error(SF_INVALID_ARGUMENT, {differ + "(5 and 4 elements)"}, "a shorter second factor, started",
                 [&] { start(dot, x, is_astray(odd) ? shorter : x, world.comm).get(); });
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "no second factor", [&] { call(x, none); });
    expect_error(SF_INVALID_ARGUMENT, {"factor", "size"}, "no first factor", [&] { call(none, x); });
  }
}

/// One label is none for all elements.
TEST_F(MisuseTest, LabelsOfAnotherSize) {
  for (int odd = 0; odd < world.size; ++odd) {
    for (const std::size_t given : {std::size_t{1}, std::size_t{6}}) {
      const std::vector<int> labels(is_astray(odd) ? given : x.size());
      expect_error(SF_INVALID_ARGUMENT, {std::to_string(given) + " labels for 5 elements"}, "labels",
                   [&] { sum_by(x, labels, 2, world.comm); });
    }
  }
}

TEST_F(MisuseTest, BlocksThatDoNotFit) {
  std::vector<std::uint64_t> blocks(world.count(), 0);
  std::vector<double> result(x.size());
  for (int odd = 0; odd < world.size; ++odd) {
    std::fill(blocks.begin(), blocks.end(), 0);
    blocks[static_cast<std::size_t>(odd)] = x.size();
    const std::size_t room = is_astray(odd) ? 3 : 0;
    expect_error(SF_INVALID_ARGUMENT, {"room for 3 results (this rank's block has 5 elements)"}, "room",
                 [&] { reduce_scatter(x, blocks, std::span(result).first(room), plus, world.comm); });
    blocks[static_cast<std::size_t>(odd)] = ~std::uint64_t{0};
    expect_error(SF_INVALID_ARGUMENT,
                 {"a block of -1 columns for rank " + std::to_string(odd) + " (rows have 5), give every column"},
                 "a negative block", [&] { reduce_scatter(x, blocks, std::span(result).first(0), plus, world.comm); });
    std::fill(blocks.begin(), blocks.end(), 0);
    blocks.back() = x.size();
    std::vector<std::uint64_t> more = blocks;
    more.push_back(0);
    const auto own = std::span(result).first(blocks[world.index()]);
    expect_error(SF_INVALID_ARGUMENT,
                 {std::to_string(more.size()) + " blocks for " + std::to_string(world.size) + " ranks"},
                 "a block too many", [&] { reduce_scatter(x, is_astray(odd) ? more : blocks, own, plus, world.comm); });
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
  expect({"weighted mean", "tree"}, "weighted mean with tree",
         [&] { weighted_mean(x, x, world.comm, {.method = tree()}); });
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

TEST_F(MisuseTest, RootsThatAreNoRanks) {
  const std::string ranks = "is not a rank (the ranks are 0 to " + std::to_string(world.size - 1) + ")";
  std::vector<double> buffer = x;
  expect_error(SF_INVALID_ARGUMENT, {"root " + std::to_string(world.size) + " " + ranks}, "a root beyond",
               [&] { sum(x, world.comm, {.root = world.size}); });
  expect_error(SF_INVALID_ARGUMENT, {"root -2 " + ranks}, "a root below",
               [&] { reduce_to(-2, buffer, plus, world.comm); });
  EXPECT_EQ(buffer, x);
}

/// -1 is SF_ALL_RANKS in C. In C++ it is no rank, such as a search that found none returns.
TEST_F(MisuseTest, ARootOfMinusOneIsNotAllRanks) {
  const Words words = {"root -1 is not a rank (the ranks are 0 to " + std::to_string(world.size - 1) + ")"};
  std::vector<double> buffer = x;
  const auto expect = [&](const std::string& what, const auto& call) {
    expect_error(SF_INVALID_ARGUMENT, words, what, call);
    EXPECT_EQ(buffer, x) << what;
  };
  expect("reduce_to", [&] { reduce_to(-1, buffer, plus, world.comm); });
  expect("start_reduce_to", [&] { start_reduce_to(-1, buffer, plus, world.comm).wait(); });
  expect("an option", [&] { sum(x, world.comm, {.root = -1}); });
  const Array<double> column(x.data(), {x.size(), 1});
  const Axes axes{.keep = {1}};
  expect("an option of an array", [&] { sum(column, axes, world.comm, {.root = -1}); });
  expect("a plan", [&] { Plan<double>(plus, x.size(), world.comm, {.root = -1}); });
  Bundle bundle;
  bundle.sum(x);
  expect("a bundle", [&] { bundle.bind(world.comm, {.root = -1}); });
  for (int odd = 0; odd < world.size; ++odd) {
    expect_error(SF_INVALID_ARGUMENT, words, "one rank's", [&] {
      std::vector<double> mine = x;
      is_astray(odd) ? reduce_to(-1, mine, plus, world.comm) : allreduce(mine, plus, world.comm);
    });
  }
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
}  // namespace steadfold::tests::misuse_test
