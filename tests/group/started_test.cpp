// Calls that are started and ended later, on ranks that are threads: many at once, moved on in another order on every
// rank. Bits and failures are those of the calls that wait; a control shows that the plain way does differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <numeric>
#include <random>

#include "group/group.hpp"
#include "support/inputs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"

namespace steadfold::test::started_test {
namespace {

using arithmetic::Operation;
using arithmetic::Type;
using group::Group;
using schedule::Collective;

/// left * context + right: every call has a context of its own.
int scale_and_add(const void* left, const void* right, void* result, std::size_t count, void* context) {
  const double scale = *static_cast<const double*>(context);
  for (std::size_t i = 0; i < count; ++i)
    static_cast<double*>(result)[i] =
        static_cast<const double*>(left)[i] * scale + static_cast<const double*>(right)[i];
  return 0;
}

/// One call as this rank makes it.
struct Planned {
  Call call;
  std::vector<double> elements;
  double scale = 1;
  std::vector<double> blocking;  // results, of the call that waits, and
  std::vector<double> started;   // of the one that is started
  bool is_barrier = false;

  call::Data data(std::vector<double>& result) const {
    return {.first = reinterpret_cast<const std::byte*>(elements.data()),
            .result = reinterpret_cast<std::byte*>(result.data())};
  }
};

/// A random call: what must be equal on all ranks is drawn from `shared`, this rank's rows and elements from `own`.
Planned planned(std::mt19937_64& shared, std::mt19937_64& own, Rank p) {
  Planned made;
  made.is_barrier = shared() % 8 == 0;
  Call& call = made.call;
  constexpr Method methods[] = {Method::automatic, Method::tree, Method::binned};
  constexpr Collective collectives[] = {Collective::allreduce, Collective::allreduce, Collective::allreduce,
                                        Collective::reduce,    Collective::scan,      Collective::reduce_scatter};
  call.method = methods[shared() % 3];
  call.collective = collectives[shared() % 6];
  if (call.collective == Collective::reduce) call.root = static_cast<Rank>(shared() % static_cast<unsigned>(p));
  constexpr Count columns[] = {1, 1, 2, 30, 700};
  call.columns = columns[shared() % 5] * (call.collective == Collective::reduce_scatter ? static_cast<Count>(p) : 1);
  call.layout = LayoutKind::rank_order;
  if (shared() % 4 == 0) {
    made.scale = static_cast<double>(shared() % 7) / 4;
    call.method = Method::tree;
    call.operation = Operation::user;
    call.type = call.result_type = Type::bytes;
    call.user = {.apply = scale_and_add, .element_bytes = sizeof(double), .is_users = true};
    call.operator_name = "scale and add";
    call.user_may_fail = shared() % 2 == 0;
  }
  call.rows = own() % 5 + (call.operation == Operation::user ? 1 : 0);
  made.elements = summands(own, call.rows * call.columns + 1);
  made.blocking.assign(call.columns, -1);
  made.started = made.blocking;
  return made;
}

bool is_same(const std::vector<double>& a, const std::vector<double>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class StartedCalls : public testing::TestWithParam<Rank> {};

TEST_P(StartedCalls, HaveTheBitsOfThoseThatWaitInAnyOrder) {
  const Rank p = GetParam();
  for (const std::uint64_t seed : {1u, 2u}) {
    on_threads(p, seed, [&](std::shared_ptr<transport::Transport> transport) {
      Group group(transport);
      std::mt19937_64 shared(seed);
      std::mt19937_64 own(100 * seed + static_cast<std::uint64_t>(group.rank()));
      std::vector<Planned> calls;
      for (int i = 0; i < 26; ++i) {
        calls.push_back(planned(shared, own, p));
        calls.back().call.user.context = nullptr;
      }
      for (Planned& each : calls) each.call.user.context = &each.scale;
      for (Planned& each : calls) each.is_barrier ? group.barrier() : group.reduce(each.call, each.data(each.blocking));
      for (int again = 0; again < 2; ++again) {
        std::vector<Group::Started> started;
        for (Planned& each : calls) {
          std::ranges::fill(each.started, -1);
          started.push_back(each.is_barrier ? group.start_barrier()
                                            : group.start_reduce(each.call, each.data(each.started)));
        }
        std::ranges::shuffle(started, own);
        for (const Group::Started& call : started) {
          const bool waits = own() % 2 == 0;
          for (int polls = 0; !call->done() && (waits || polls < 20); ++polls) group.advance(*call);
        }
        for (const Group::Started& call : started) {
          while (!group.advance(*call)) {
          }
          EXPECT_NO_THROW(call->require_success()) << "p " << p << ", seed " << seed;
        }
        EXPECT_TRUE(group.is_idle());
        for (std::size_t i = 0; i < calls.size(); ++i)
          EXPECT_TRUE(is_same(calls[i].started, calls[i].blocking)) << "call " << i << ", p " << p << ", seed " << seed;
      }
    });
  }
}

/// Calls of one shape under way at once: each is combined with its own context, whatever the others do meanwhile.
TEST_P(StartedCalls, KeepTheirOwnContexts) {
  const Rank p = GetParam();
  on_threads(p, 17, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    std::mt19937_64 own(static_cast<std::uint64_t>(group.rank()));
    for (int again = 0; again < 5; ++again) {
      std::vector<Planned> calls(12);
      std::vector<Group::Started> started;
      for (std::size_t i = 0; i < calls.size(); ++i) {
        Planned& each = calls[i];
        each.scale = static_cast<double>(i) + 0.5;
        each.elements = {1.0 + group.rank()};
        each.started = {-1};
        each.call = {.operation = Operation::user,
                     .method = Method::tree,
                     .type = Type::bytes,
                     .result_type = Type::bytes,
                     .user = {.apply = scale_and_add, .context = &each.scale, .element_bytes = 8, .is_users = true},
                     .operator_name = "scale and add",
                     .user_may_fail = false,
                     .layout = LayoutKind::row_per_rank,
                     .rows = 1};
        started.push_back(group.start_reduce(each.call, each.data(each.started)));
      }
      std::vector<std::size_t> order(calls.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::shuffle(order, own);
      for (const std::size_t i : order)
        while (!group.advance(*started[i])) {
        }
      for (Planned& each : calls) {
        each.blocking = {-1};
        group.reduce(each.call, each.data(each.blocking));
        EXPECT_TRUE(is_same(each.started, each.blocking)) << "scale " << each.scale << ", p " << p;
      }
    }
  });
}

/// A call that waits, between one that was started before it and cannot end yet, and others after it.
TEST_P(StartedCalls, LetLaterOnesThatWaitPass) {
  const Rank p = GetParam();
  on_threads(p, 19, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const double one = 1;
    const auto sum_of = [&](double& sum) {
      return call::Data{.first = reinterpret_cast<const std::byte*>(&one),
                        .result = reinterpret_cast<std::byte*>(&sum)};
    };
    for (int again = 1; again <= 4; ++again) {
      double first = 0;
      double second = 0;
      std::vector<double> third(30);
      const std::vector<double> rows(30 * 700, 1.0);
      // It binds and runs a plan, which takes many polls; the sums end in their handshakes.
      const auto large =
          group.start_reduce({.method = Method::tree, .columns = 30, .layout = LayoutKind::rank_order, .rows = 700},
                             {.first = reinterpret_cast<const std::byte*>(rows.data()),
                              .result = reinterpret_cast<std::byte*>(third.data())});
      group.reduce({.rows = 1}, sum_of(first));
      const auto started = group.start_reduce({.rows = 1}, sum_of(second));
      group.reduce({.rows = 1}, sum_of(first));
      for (const auto& each : {large, started})
        while (!group.advance(*each)) {
        }
      EXPECT_NO_THROW(large->require_success());
      EXPECT_TRUE(group.is_idle());
      EXPECT_EQ(first, p);
      EXPECT_EQ(second, p);
      EXPECT_EQ(third, std::vector<double>(30, 700.0 * p));
    }
  });
}

/// A call that fails on one rank fails on all, with one text; those around it do not.
TEST_P(StartedCalls, FailAloneOnAllRanks) {
  const Rank p = GetParam();
  std::vector<std::string> texts(static_cast<std::size_t>(p));
  on_threads(p, 7, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<std::size_t>(group.rank());
    const std::vector<double> x = {1e300, 1, -1e300, static_cast<double>(rank)};
    std::vector<double> sums(3);
    const auto data = [&](std::size_t i) {
      return call::Data{.first = reinterpret_cast<const std::byte*>(x.data()),
                        .result = reinterpret_cast<std::byte*>(&sums[i])};
    };
    const Call call{.rows = x.size()};
    const auto before = group.start_reduce(call, data(0));
    const auto wrong = group.start_reduce(call, rank + 1 == texts.size() ? call::Data{} : data(1));
    const auto after = group.start_reduce(call, data(2));
    for (const auto& each : {after, wrong, before})
      while (!group.advance(*each)) {
      }
    const double expected = static_cast<double>(p) + static_cast<double>(p * (p - 1) / 2);
    EXPECT_EQ(sums[0], expected);
    EXPECT_EQ(sums[2], expected);
    try {
      wrong->require_success();
      ADD_FAILURE() << "no failure on rank " << rank;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status(), Status::invalid_argument);
      texts[rank] = failure.what();
    }
  });
  EXPECT_NE(texts[0], "");
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
}

/// Ranks that start different things are told so: nobody waits for ever.
TEST_P(StartedCalls, OfDifferentKindsFail) {
  const Rank p = GetParam();
  if (p == 1) return;  // nobody to differ from
  on_threads(p, 9, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const bool is_other = group.rank() == p - 1;
    const Call call{.rows = 0};
    double sum = 0;
    const call::Data data{.result = reinterpret_cast<std::byte*>(&sum)};
    for (int kind = 0; kind < 3; ++kind) {
      const auto started = !is_other   ? group.start_reduce(call, data)
                           : kind == 0 ? group.start_barrier()
                           : kind == 1 ? group.start_bind(std::span(&call, 1))
                                       : group.start_rank_order(3);
      while (!group.advance(*started)) {
      }
      try {
        started->require_success();
        ADD_FAILURE() << "kind " << kind << " passes on rank " << group.rank();
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), Status::mismatch);
        EXPECT_NE(std::string(failure.what()).find("a reduction against "), std::string::npos) << failure.what();
      }
      group.barrier();  // the group is as good as before
    }
    const auto started = is_other ? group.start_barrier() : group.start_rank_order(3);
    while (!group.advance(*started)) {
    }
    EXPECT_THROW(started->require_success(), Failure) << "a barrier against a layout";
  });
}

TEST_P(StartedCalls, RefuseMemoryOfCallsUnderWay) {
  const Rank p = GetParam();
  on_threads(p, 11, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    std::vector<double> x(600, 0.1);
    std::vector<double> y(600, 2.0);
    std::vector<double> results(3);
    const auto data = [](const double* from, double* to) {
      return call::Data{.first = reinterpret_cast<const std::byte*>(from), .result = reinterpret_cast<std::byte*>(to)};
    };
    const Call call{.method = Method::tree, .layout = LayoutKind::rank_order, .rows = 600};
    call::Data factors = data(x.data(), &results[2]);
    factors.second = reinterpret_cast<const std::byte*>(y.data());
    const auto first = group.start_reduce(call, data(x.data(), &results[0]));
    const auto dot = group.start_reduce({.operation = Operation::dot, .rows = 600}, factors);
    const auto into_rows = group.start_reduce(call, data(x.data(), &x[599]));
    const auto into_factors = group.start_reduce(call, data(x.data(), &y[599]));
    const auto into_result = group.start_reduce(call, data(x.data(), &results[0]));
    const auto beside = group.start_reduce(call, data(x.data(), &results[1]));
    for (const auto& each : {first, dot, into_rows, into_factors, into_result, beside})
      while (!group.advance(*each)) {
      }
    for (const auto& each : {first, dot, beside}) EXPECT_NO_THROW(each->require_success());
    for (const auto& each : {into_rows, into_factors, into_result}) EXPECT_THROW(each->require_success(), Failure);
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(x[599], 0.1);
    EXPECT_EQ(y[599], 2.0);
    group.reduce(call, data(x.data(), &x[0]));  // nothing is under way any more
    EXPECT_EQ(x[0], results[0]);
  });
}

/// What a call uses may be used again once it is done, whatever is started with what the library kept of it.
TEST_P(StartedCalls, KeepNoMemoryOfEarlierOnes) {
  const Rank p = GetParam();
  std::latch first_rank_has_started(1);
  on_threads(p, 15, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const double one = 1;
    double sum = 0;
    const Call call{.rows = 1};
    const call::Data data{.first = reinterpret_cast<const std::byte*>(&one),
                          .result = reinterpret_cast<std::byte*>(&sum)};
    group.start_reduce(call, data);  // nobody asks for it: the library takes it back, and makes the barrier of it
    while (!group.is_idle()) group.advance_another();
    EXPECT_EQ(sum, p);
    if (group.rank() > 0) first_rank_has_started.wait();  // so that the barrier is under way on rank 0
    const auto barrier = group.start_barrier();
    const auto again = group.start_reduce(call, data);
    if (group.rank() == 0) first_rank_has_started.count_down();
    for (const auto& each : {barrier, again}) {
      while (!group.advance(*each)) {
      }
      EXPECT_NO_THROW(each->require_success());
    }
    EXPECT_EQ(sum, p);
  });
}

/// Texts, intervals and blocks may go as soon as a call is started.
TEST_P(StartedCalls, CopyAllButTheData) {
  const Rank p = GetParam();
  on_threads(p, 13, [&](std::shared_ptr<transport::Transport> transport) {
    Group group(transport);
    const auto rank = static_cast<Count>(group.rank());
    const auto ranks = static_cast<Count>(p);
    const std::vector<double> x = {0.1, 1e17, -1e17, 0.3};
    std::vector<double> sums(9);
    std::vector<Group::Started> started;
    for (double& sum : sums) {
      std::vector<Interval> intervals = {{rank, rank + 1}, {ranks + 3 * rank, ranks + 3 * rank + 3}};
      std::string schedule = &sum == &sums.front() ? "ring_of_no_kind" : &sum == &sums.back() ? "transpose" : "";
      if (&sum == &sums.front()) schedule = "binary";
      Call call{.method = Method::tree, .schedule = schedule, .layout = LayoutKind::intervals, .rows = 4};
      call.intervals = intervals;
      started.push_back(group.start_reduce(
          call, {.first = reinterpret_cast<const std::byte*>(x.data()), .result = reinterpret_cast<std::byte*>(&sum)}));
      std::ranges::fill(intervals, Interval{0, ranks * 4});
      schedule.assign(schedule.size(), '?');
    }
    double combined = 0;
    double scale = 1;
    std::string name = "scale and add";
    started.push_back(group.start_reduce(
        {.operation = Operation::user,
         .method = Method::tree,
         .type = Type::bytes,
         .result_type = Type::bytes,
         .user = {.apply = scale_and_add, .context = &scale, .element_bytes = 8, .is_users = true},
         .operator_name = name,
         .layout = LayoutKind::row_per_rank,
         .rows = 1},
        {.first = reinterpret_cast<const std::byte*>(&x[3]), .result = reinterpret_cast<std::byte*>(&combined)}));
    name.assign(name.size(), static_cast<char>('a' + group.rank()));  // which would be other operators
    for (const auto& each : started) {
      while (!group.advance(*each)) {
      }
      EXPECT_NO_THROW(each->require_success());
    }
    for (const double sum : sums) EXPECT_EQ(sum, sums[0]);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, StartedCalls, testing::Values(1, 2, 3, 4, 5, 7, 8));

/// There is room for 64 shapes, and those of calls under way are not among what makes room for others.
TEST(KnownShapes, StayWhileCallsUseThem) {
  group::KnownShapes shapes;
  const auto shape_of = [&](Count columns) {
    const Call call{.method = Method::tree, .columns = columns};
    return shapes.of(call, call::describe(call));
  };
  for (Count columns = 1; columns <= 64; ++columns) EXPECT_EQ(shape_of(columns)->calls_under_way, 1u);
  const group::ShapeInUse used = shape_of(65);
  for (Count columns = 2; columns <= 200; ++columns)
    if (columns != 65) shape_of(columns);
  EXPECT_EQ(shape_of(65)->calls_under_way, 2u) << "it is another one";
}

/// The control: over the same inputs plain sums do depend on how many ranks share them.
TEST(StartedCallsControl, PlainSumsDiffer) {
  std::vector<std::uint64_t> bits;
  for (const Rank p : {1, 2, 3, 5}) {
    on_threads(p, 1, [&](std::shared_ptr<transport::Transport> transport) {
      Group group(transport);
      std::mt19937_64 random(5);
      const std::vector<double> all = summands(random, 420);
      const auto each = all.size() / static_cast<std::size_t>(p);
      double sum = 0;
      const auto started = group.start_reduce(
          {.method = Method::plain, .rows = each},
          {.first = reinterpret_cast<const std::byte*>(all.data() + each * static_cast<std::size_t>(group.rank())),
           .result = reinterpret_cast<std::byte*>(&sum)});
      while (!group.advance(*started)) {
      }
      if (group.rank() == 0) bits.push_back(std::bit_cast<std::uint64_t>(sum));
    });
  }
  EXPECT_TRUE(std::ranges::any_of(bits, [&](std::uint64_t each) { return each != bits.front(); }));
}

}  // namespace
}  // namespace steadfold::test::started_test
