// A rank whose memory runs out: each of its allocations fails in turn, at the first call of a group and at later ones.
// Every rank that waits hears of it, nobody hangs, results are right or errors, and the next call is right. The other
// ranks take turns, since what they do is alike. STEADFOLD_FULL=1: each at every allocation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ostream>
#include <string>
#include <vector>

#include "steadfold/accumulator.hpp"
#include "steadfold/array.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/group.hpp"
#include "steadfold/plan.hpp"
#include "steadfold/started.hpp"
#include "support/allocations.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/sanitized.hpp"

namespace steadfold::test::refused_memory_test {
namespace {

constexpr std::size_t rows = 60, columns = 1500;
constexpr std::size_t most_rows = 2500;  // more than a tile of rows that are copied has
constexpr int ranks = 3;

using Results = std::array<double, columns>;

// Drawn once, since every attempt has its own input.
const std::vector<double> drawn_rows = hostile(2 * most_rows, 9);
const std::vector<double> drawn_columns = hostile(columns, 7);

/// What a rank brings: there before memory runs out.
struct Input {
  explicit Input(const Team::Member& member, double scale = 1)
      : x(scaled(hostile(rows, 1 + static_cast<unsigned>(member.worker())), scale)),
        many(scaled(drawn_rows, scale)),
        in_order{.method = sf::tree(), .layout = Layout::intervals({{begin(member), begin(member) + rows}})} {
    accumulator.add(x);
  }
  static std::vector<double> scaled(std::vector<double> values, double scale) {
    for (double& value : values) value *= scale;
    return values;
  }
  static std::uint64_t begin(const Team::Member& member) { return rows * static_cast<std::uint64_t>(member.worker()); }

  std::vector<double> x, many, wide = drawn_columns;
  std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(most_rows, 1);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(rows, 1);
  sf::Array<double> x_by_4{x.data(), {rows / 4, 4}}, spread_by_4{x.data(), {rows / 8, 4}, {64, 16}},
      every_second{many.data(), {most_rows}, {16}};
  Axes masked{.where = sf::Array<std::uint8_t>(mask.data(), {most_rows})};
  Vectors<double> vectors{x, x};
  Axes kept{.keep = {1}};
  Options in_order, binned_by_messages{.method = sf::binned(), .schedule = "recursive_doubling"},
      exact_by_messages{.method = sf::exact(), .schedule = "ring"},
      in_two_sweeps{.method = sf::binned({.sweep = SF_DOUBLE_SWEEP})},
      by_tree{.method = sf::tree(), .schedule = "recursive_doubling"},
      threads_by_messages{.schedule = "ring", .threads = 2}, to_one{.schedule = "binomial"};
  Bundle bundle;
  Result<double> sum = bundle.sum(x), norm = bundle.norm2(x);
  mutable Accumulator<double> accumulator;
};

struct Case {
  const char* name;
  void (*call)(const Team::Member&, const Input&, Results&);
};
void PrintTo(const Case& tried, std::ostream* out) { *out << tried.name; }

template <class Range>
void take(const Range& found, Results& results) {
  std::ranges::copy(found, results.begin());
}

constexpr Case cases[] = {
    {"exact", [](const auto& member, const Input& in, Results& out) { out[0] = sf::sum(in.x, member); }},
    {"tree", [](const auto& member, const Input& in, Results& out) { out[0] = sf::sum(in.x, member, in.in_order); }},
    {"a layout",
     [](const auto& member, const Input&, Results&) { static_cast<void>(Layout::contiguous(rows, member)); }},
    {"binned, by messages",
     [](const auto& member, const Input& in, Results& out) { out[0] = sf::sum(in.x, member, in.binned_by_messages); }},
    {"columns",
     [](const auto& member, const Input& in, Results& out) {
       take(in.wide, out);
       sf::allreduce(out, sf::plus, member);
     }},
    {"columns by messages",
     [](const auto& member, const Input& in, Results& out) {
       take(in.wide, out);
       sf::allreduce(out, sf::plus, member, in.exact_by_messages);
     }},
    {"to a root",
     [](const auto& member, const Input& in, Results& out) {
       take(in.wide, out);
       sf::reduce_to(1, out, sf::plus, member, in.to_one);
     }},
    {"scan",
     [](const auto& member, const Input& in, Results& out) {
       take(in.wide, out);
       sf::scan(out, sf::plus, member);
     }},
    {"an operator that may throw",
     [](const auto& member, const Input& in, Results& out) {
       out[0] = sf::reduce(
           in.x, [](double a, double b) { return a - b / 3; }, member, in.in_order);
     }},
    {"threads",
     [](const auto& member, const Input& in, Results& out) { out[0] = sf::sum(in.x, member, {.threads = 2}); }},
    {"dots", [](const auto& member, const Input& in, Results& out) { take(sf::dots(in.x, in.vectors, member), out); }},
    {"arrays",
     [](const auto& member, const Input& in, Results& out) { take(sf::sum(in.x_by_4, in.kept, member), out); }},
    {"an array by messages",
     [](const auto& member, const Input& in, Results& out) {
       take(sf::sum(in.spread_by_4, in.kept, member, in.exact_by_messages), out);
     }},
    {"a masked array by messages",
     [](const auto& member, const Input& in, Results& out) {
       take(sf::sum(in.every_second, in.masked, member, in.binned_by_messages), out);
     }},
    {"groups by messages",
     [](const auto& member, const Input& in, Results& out) {
       take(sf::sum_by(in.x, in.labels, 3, member, in.exact_by_messages), out);
     }},
    {"trees of groups", [](const auto& member, const Input& in,
                           Results& out) { take(sf::sum_by(in.x, in.labels, 3, member, in.by_tree), out); }},
    {"an initial value",
     [](const auto& member, const Input& in, Results& out) {
       out[0] = sf::reduce_from(in.wide[0], in.x, sf::plus, member, in.by_tree);
     }},
    {"threads by messages",
     [](const auto& member, const Input& in, Results& out) { out[0] = sf::sum(in.x, member, in.threads_by_messages); }},
    {"threads where there was one",
     [](const auto& member, const Input& in, Results& out) {
       out[0] = sf::sum(in.x, member, {.schedule = "ring"});
       out[1] = sf::sum(in.x, member, in.threads_by_messages);
     }},
    {"a masked array in two sweeps",
     [](const auto& member, const Input& in, Results& out) {
       take(sf::sum(in.every_second, in.masked, member, in.in_two_sweeps), out);
     }},
    {"columns in two sweeps",
     [](const auto& member, const Input& in, Results& out) {
       take(sf::sum(in.spread_by_4, in.kept, member, in.in_two_sweeps), out);
     }},
    {"a plan of an array together",
     [](const auto& member, const Input& in, Results& out) {
       ArrayPlan<double> plan(sf::plus, in.every_second, in.masked, member);
       out[0] = plan.run()[0];
       out[1] = plan.run()[0];
     }},
    {"a plan of an array",
     [](const auto& member, const Input& in, Results& out) {
       ArrayPlan<double> plan(sf::plus, in.every_second, in.masked, member, in.exact_by_messages);
       out[0] = plan.run()[0];
       out[1] = plan.run()[0];
     }},
    {"a plan",
     [](const auto& member, const Input& in, Results& out) {
       Plan<double> plan(sf::sum, rows, member);
       out[0] = plan.run(in.x);
       out[1] = plan.run(in.x);
     }},
    {"a bundle",
     [](const auto& member, const Input& in, Results& out) {
       in.bundle.bind(member).run();
       out[0] = in.sum.value();
       out[1] = in.norm.value();
     }},
    {"started",
     [](const auto& member, const Input& in, Results& out) { out[0] = sf::start(sf::sum, in.x, member).get(); }},
    {"a started barrier", [](const auto& member, const Input&, Results&) { sf::start_barrier(member).get(); }},
    {"a started bind", [](const auto& member, const Input& in,
                          Results& out) { out[0] = sf::start_bind<double>(sf::plus, rows, member).get().run(in.x); }},
    {"accumulators",
     [](const auto& member, const Input& in, Results& out) {
       sf::merge_ranks(in.accumulator, member);
       out[0] = in.accumulator.sum();
     }},
};

std::string name_of(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
  return name;
}

/// Until the end of its block the next but `after` of this thread's allocations fails.
class Refusal {
 public:
  explicit Refusal(std::int64_t after) { own_allocations().until_refusal = after; }
  ~Refusal() { own_allocations().until_refusal = -1; }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
};

struct Outcome {
  std::string wrong;  // what was thrown; empty: nothing
  bool was_refused = false;
  Results results{};
  Results next{};  // of the next call, on smaller numbers
};

Outcome outcome_of(const Case& tried, const Team::Member& member, const Input& input, std::int64_t after) {
  Outcome outcome;
  static constexpr std::size_t most = 200;
  std::array<char, most> text{};
  {
    const Refusal refusal(after);
    try {
      tried.call(member, input, outcome.results);
    } catch (const std::exception& error) {
      std::string_view(error.what()).copy(text.data(), most - 1);
    }
    outcome.was_refused = after >= 0 && own_allocations().until_refusal < 0;
  }
  outcome.wrong = text.data();
  return outcome;
}

using AllOutcomes = std::array<Outcome, ranks>;

/// The outcomes of all ranks, where the culprit's allocation behind `after` others fails; then a call that must be
/// right.
AllOutcomes outcomes(const Case& tried, bool is_first, int culprit, std::int64_t after) {
  Team team(ranks);
  team.set_timeout(std::chrono::seconds(8));
  AllOutcomes all;
  on_members(team, [&](const Team::Member& member) {
    const int rank = member.worker();
    const Input input(member);
    if (!is_first) sf::barrier(member);
    Outcome& own = all[static_cast<std::size_t>(rank)];
    own = outcome_of(tried, member, input, rank == culprit ? after : -1);
    const Input smaller(member, 0x1p-200);  // nothing of larger ones may be left in what is kept
    try {
      tried.call(member, smaller, own.next);
      EXPECT_EQ(sf::sum(std::array{1.0, 2.0}, member), 3.0 * ranks);
    } catch (const std::exception& error) {
      ADD_FAILURE() << tried.name << ", allocation " << after << ": the call behind it fails: " << error.what();
    }
  });
  return all;
}

/// Texts of a rank without memory, and of an array call whose results find no room.
bool says_why(const std::string& text) {
  const char* const reasons[] = {"memory",
                                 "bad_alloc",
                                 "no memory for 1 result",
                                 "no memory for 3 results",
                                 "no memory for 4 results",
                                 "an axis to keep does not exist"};
  return std::ranges::any_of(reasons, [&](const char* each) { return text.find(each) != std::string::npos; });
}

class RefusedMemory : public testing::TestWithParam<Case> {
 protected:
  static bool are_equal(const Results& some, const Results& others) {
    return std::ranges::equal(
        some, others, {}, [](double x) { return bits(x); }, [](double x) { return bits(x); });
  }

  /// Refuses the rank's allocations in turn, under sanitizers a few of them. How many it has, up to a step more.
  static std::int64_t refuse_each(const Case& tried, bool is_first, int culprit) {
    const AllOutcomes due = outcomes(tried, is_first, culprit, -1);
    const bool all = culprit == 0 || std::getenv("STEADFOLD_FULL") != nullptr;
    const std::int64_t step = sanitized ? (is_first ? 80 : 24) : all ? 1 : ranks - 1;
    for (std::int64_t after = sanitized ? culprit : culprit % step;; after += step) {
      const AllOutcomes found = outcomes(tried, is_first, culprit, after);
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::string where = tried.name + std::string(", allocation ") + std::to_string(after) + " of rank " +
                                  std::to_string(culprit) + " refused, rank " + std::to_string(rank) + ": ";
        if (found[rank].wrong.empty())
          EXPECT_TRUE(are_equal(found[rank].results, due[rank].results)) << where << "wrong results";
        else
          EXPECT_TRUE(says_why(found[rank].wrong)) << where << found[rank].wrong;
        EXPECT_TRUE(are_equal(found[rank].next, due[rank].next)) << where << "the next call has wrong results";
      }
      if (!found[static_cast<std::size_t>(culprit)].was_refused || HasFailure()) return after;
    }
  }
};

TEST_P(RefusedMemory, AtAnyAllocation) {
  for (int culprit = 0; culprit < ranks && !HasFailure(); ++culprit) {
    const std::int64_t allocations = refuse_each(GetParam(), false, culprit);
    EXPECT_GE(allocations, 2) << "the control: what is never refused shows nothing";
  }
}
INSTANTIATE_TEST_SUITE_P(Calls, RefusedMemory, testing::ValuesIn(cases), name_of);

TEST_F(RefusedMemory, AtAnyAllocationOfTheFirstCall) {
  for (int culprit = 0; culprit < ranks; ++culprit) EXPECT_GE(refuse_each(cases[0], true, culprit), 100);
}

/// Until the end of its block all of this thread's allocations fail.
class NoMemory {
 public:
  explicit NoMemory(bool on) { own_allocations().refuses_all = on; }
  ~NoMemory() { own_allocations().refuses_all = false; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

/// A call that waits needs none to tell the others.
TEST_F(RefusedMemory, AllOfIt) {
  on_team(ranks, [&](const Team::Member& member) {
    sf::barrier(member);
    const std::array mine{1.0, 2.0};
    sf_call call = sf_call_default();
    call.rows = mine.size();
    double result = 0;
    {
      const NoMemory no_memory(member.worker() == 1);
      EXPECT_EQ(sf_group_reduce(&call, mine.data(), nullptr, &result, member.group().handle()), SF_INTERNAL);
    }
    if (member.worker() != 1) {
      EXPECT_EQ(std::string(sf_error_text()).find("rank 1: out of memory"), 0u) << sf_error_text();
    }
    EXPECT_EQ(sf::sum(mine, member), 3.0 * ranks);
  });
}

/// One that is started does. A rank that could not tell the others takes part in no call afterwards, since its next one
/// would be taken for the one that it left out.
TEST_F(RefusedMemory, AllOfItForAStart) {
  Team team(ranks);
  team.set_timeout(std::chrono::seconds(2));
  on_members(team, [&](const Team::Member& member) {
    sf::barrier(member);
    const bool is_culprit = member.worker() == 1;
    sf_request* request = nullptr;
    {
      const NoMemory no_memory(is_culprit);
      EXPECT_EQ(sf_group_start_barrier(member.group().handle(), &request), is_culprit ? SF_INTERNAL : SF_OK);
    }
    if (!is_culprit) {
      EXPECT_EQ(sf_request_wait(request), SF_TRANSPORT_FAILED);
    }
    sf_request_free(request);
    try {
      ADD_FAILURE() << sf::sum(std::array{1.0}, member);
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool is_over = text.find("took longer than its limit") != std::string::npos;
      EXPECT_TRUE(is_over || (is_culprit && text.find("memory ran out") != std::string::npos)) << text;
    }
  });
}

}  // namespace
}  // namespace steadfold::test::refused_memory_test
