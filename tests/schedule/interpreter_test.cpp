// Programs and their interpreter: compiled dependencies, one run asked step by step, and whole jobs run on strings.
#include "schedule/interpreter.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/make_step.hpp"
#include "schedule/registry.hpp"

namespace steadfold::schedule::interpreter_test {
namespace {

Program program_of(std::string_view name, Context context) {
  return Program(find(name)->steps(context), context.segments);
}

std::vector<StepKind> kinds(const Program& program) {
  std::vector<StepKind> result;
  for (const Step& step : program.steps()) result.push_back(step.kind);
  return result;
}

std::vector<std::uint32_t> dependencies(const Program& program, std::uint32_t index) {
  std::vector<std::uint32_t> tickets;
  for (const Program::TicketWait& wait : program.waits())
    if (wait.step == index) tickets.push_back(wait.ticket);
  return tickets;
}

TEST(Program, RecursiveDoublingOfTwoRanksIsShort) {
  using enum StepKind;
  const Program program = program_of("recursive_doubling", {.rank = 0, .rank_count = 2});
  EXPECT_EQ(kinds(program), (std::vector{lift, send, receive, merge, finish}));
  EXPECT_EQ(program.ticket_count(), 2u);
  EXPECT_EQ(dependencies(program, 1), (std::vector<std::uint32_t>{}));
  EXPECT_EQ(dependencies(program, 3), (std::vector<std::uint32_t>{1}));  // the receive, not the send
  EXPECT_EQ(dependencies(program, 4), (std::vector<std::uint32_t>{}));
}

TEST(Program, OneRankNeedsNoMessage) {
  using enum StepKind;
  for (const std::string_view name : {"flat", "linear", "binomial", "recursive_doubling"}) {
    EXPECT_EQ(kinds(program_of(name, {})), (std::vector{lift, finish})) << name;
  }
}

Steps all_hazards(Context) {
  co_yield make::lift(partial(0), 0);                                // 0
  co_yield make::send(1, partial(0), landing(5));                    // 1, ticket 0
  co_yield make::send(2, partial(0), landing(5));                    // 2, ticket 1
  co_yield make::receive(1, landing(3), {1, 1});                     // 3, ticket 2
  co_yield make::receive(1, landing(3), {1, 1});                     // 4, ticket 3: writes what ticket 2 writes
  co_yield make::merge(partial(1), partial(0), landing(3), {0, 2});  // 5: reads what ticket 3 writes
  co_yield make::lift(partial(0), 0);                                // 6: writes what tickets 0 and 1 read
  co_yield make::add_words(partial(2), partial(0), 3);               // 7, ticket 4
  co_yield make::lift(partial(0), 0);                                // 8: writes what ticket 4 reads
  co_yield make::finish(value(0), partial(2));  // 9: reads what ticket 4 writes, known to be complete
}

TEST(Program, WaitsForWritersAndReaders) {
  const Program program(all_hazards({}), 1);
  using Tickets = std::vector<std::uint32_t>;
  const std::vector<Tickets> expected = {{}, {}, {}, {}, {2}, {3}, {0, 1}, {}, {4}, {}};
  for (std::uint32_t i = 0; i < expected.size(); ++i) EXPECT_EQ(dependencies(program, i), expected[i]) << "step " << i;
  EXPECT_EQ(program.ticket_count(), 5u);
  EXPECT_EQ(program.landing_count(), landing_number(landing(3), 1) + 1);
  EXPECT_EQ(program.slots().size(), 5u);
  const Step& merge = program.steps()[5];
  EXPECT_EQ(program.slots()[program.slot_indices(merge).right], landing(3));
  EXPECT_EQ(program.slot_indices(program.steps()[1]).target, Program::no_slot);
}

Steps two_in_a_message(Context) {
  co_yield make::lift(partial(0, 0), 0);                                      // 0
  co_yield make::lift(partial(0, 1), 0);                                      // 1
  co_yield make::with_next(make::send(1, partial(0, 0), landing(0, 0)));      // 2, ticket 0
  co_yield make::send(1, partial(0, 1), landing(0, 1));                       // 3, ticket 0
  co_yield make::with_next(make::receive(1, landing(1, 1), {1, 1}));          // 4, ticket 1
  co_yield make::receive(1, landing(1, 0), {1, 1});                           // 5, ticket 1
  co_yield make::merge(partial(1, 1), partial(0, 1), landing(1, 1), {0, 2});  // 6: reads what ticket 1 brings
  co_yield make::merge(partial(1, 0), partial(0, 0), landing(1, 0), {0, 2});  // 7: the same ticket
  co_yield make::lift(partial(0, 0), 0);                                      // 8: writes what ticket 0 reads
}

TEST(Program, SeveralStepsMayBeOneMessage) {
  const Program program(two_in_a_message({}), 2);
  using Tickets = std::vector<std::uint32_t>;
  const std::vector<Tickets> expected = {{}, {}, {}, {}, {}, {}, {1}, {}, {0}};
  for (std::uint32_t i = 0; i < expected.size(); ++i) EXPECT_EQ(dependencies(program, i), expected[i]) << "step " << i;
  ASSERT_EQ(program.ticket_count(), 2u);
  ASSERT_EQ(program.message(1).size(), 2u);
  EXPECT_EQ(program.message(1).front().target, landing(1, 1));
  EXPECT_EQ(&program.communication(1), &program.message(1).back());
}

TEST(Program, LandingNumbersAreDistinctAndDense) {
  constexpr std::uint32_t segments = 3;
  std::vector<int> used(std::size_t{2} * 4 * segments, 0);
  for (int number = 0; number < 4; ++number) {
    for (std::uint32_t s = 0; s < segments; ++s) {
      ++used.at(landing_number(landing(number, s), segments));
      ++used.at(landing_number(landing_value(number, s), segments));
    }
  }
  EXPECT_EQ(used, std::vector<int>(used.size(), 1));
}

// A number that wraps would be another slot's.
TEST(Program, RefusesMoreLandingSlotsThanThereAreNumbers) {
  const auto of_last_slot = [](std::uint32_t segments) {
    const auto steps = [](std::uint32_t segment) -> Steps {
      co_yield make::receive(1, landing(65535, segment), {1, 1});
    };
    return Program(steps(segments - 1), segments);
  };
  EXPECT_EQ(of_last_slot(7).landing_count(), 65535u * 14 + 13);
  for (const std::uint32_t segments : {32768u, 40000u, 65536u, 1u << 31}) {
    try {
      of_last_slot(segments);
      ADD_FAILURE() << segments << " segments";
    } catch (const std::length_error& error) {
      EXPECT_EQ(std::string(error.what()).find("the schedule needs too many receive buffers (65536 for each of"), 0u);
    }
  }
}

// Records what it does and completes what it is told to.
struct Script final : Machine {
  std::vector<StepKind> done;
  int polls = 0;
  std::vector<std::uint32_t> complete;  // to be told in the next poll

  bool compute(const Step& step) override {
    done.push_back(step.kind);
    return true;
  }
  void start(const Step& step, std::uint32_t) override { done.push_back(step.kind); }
  void poll(Tickets& tickets) override {
    ++polls;
    for (const std::uint32_t ticket : std::exchange(complete, {})) tickets.complete(ticket);
  }
};

TEST(Interpreter, StartsAMessageWithItsLastStep) {
  using enum StepKind;
  const Program program(two_in_a_message({}), 2);
  Interpreter interpreter(program);
  Script script;
  EXPECT_FALSE(interpreter.advance(script));
  EXPECT_EQ(script.done, (std::vector{lift, lift, send, receive}));
  script.complete = {1, 0};
  EXPECT_TRUE(interpreter.advance(script));
  EXPECT_EQ(script.done, (std::vector{lift, lift, send, receive, merge, merge, lift}));
}

TEST(Interpreter, DoesWhatItCanAndPollsWhileSomethingIsOpen) {
  using enum StepKind;
  const Program program = program_of("recursive_doubling", {.rank = 0, .rank_count = 2});
  Interpreter interpreter(program);
  for (int run = 0; run < 3; ++run) {
    Script script;
    EXPECT_FALSE(interpreter.advance(script));
    EXPECT_EQ(script.done, (std::vector{lift, send, receive}));
    EXPECT_EQ(interpreter.next_step(), 3u);
    EXPECT_EQ(script.polls, 1);
    script.complete = {1};
    EXPECT_FALSE(interpreter.advance(script));  // the send is still under way
    EXPECT_EQ(script.done, (std::vector{lift, send, receive, merge, finish}));
    EXPECT_FALSE(interpreter.advance(script));
    script.complete = {0};
    EXPECT_TRUE(interpreter.advance(script));
    const int polls = script.polls;
    EXPECT_TRUE(interpreter.advance(script));
    EXPECT_EQ(script.polls, polls) << "nothing is open";
    EXPECT_EQ(script.done.size(), 5u);
    interpreter.reset();
  }
}

// Runs a whole job on strings: a partial lists its ranks in the order merged. Ranks take turns at random and messages
// become visible at random, in order between two ranks. Shares nothing with the checker.
class StringJob {
 public:
  StringJob(std::string_view name, Context context, std::uint64_t seed) : random_(seed) {
    for (context.rank = 0; context.rank < context.rank_count; ++context.rank) {
      ranks_.emplace_back(*this, context.rank, program_of(name, context));
    }
  }

  void run() {
    std::vector<Interpreter> interpreters;
    interpreters.reserve(ranks_.size());
    for (const Member& each : ranks_) interpreters.emplace_back(each.program);
    std::vector<bool> done(ranks_.size());
    std::size_t left = ranks_.size();
    for (int turns = 0; left > 0; ++turns) {
      ASSERT_LT(turns, 1'000'000) << "no end";
      const std::size_t rank = random_() % ranks_.size();
      if (!done[rank] && interpreters[rank].advance(ranks_[rank])) {
        done[rank] = true;
        --left;
      }
    }
  }

  std::string result(Rank rank, std::uint32_t segment) const {
    const auto& slots = ranks_[static_cast<std::size_t>(rank)].slots;
    const auto found = slots.find(key(value(0, segment)));
    return found == slots.end() ? "none" : found->second;
  }

 private:
  using Key = std::tuple<SlotKind, std::uint16_t, std::uint32_t>;
  static Key key(Slot slot) { return {slot.kind, slot.number, slot.segment}; }

  struct Member final : Machine {
    StringJob& job;
    Rank rank;
    Program program;
    std::map<Key, std::string> slots;
    std::map<std::uint32_t, std::size_t> open;        // tickets; a receive's turn among those from its peer
    std::map<Rank, std::size_t> receives;             // started, by peer
    std::map<Rank, std::deque<std::string>> arrived;  // by peer; never shrinks

    Member(StringJob& of, Rank own, Program compiled) : job(of), rank(own), program(std::move(compiled)) {}

    bool compute(const Step& step) override {
      const std::string left = slots[key(step.left)];
      switch (step.kind) {
        case StepKind::lift:
          slots[key(step.target)] = std::to_string(step.target.segment) + ":" + std::to_string(rank) + " ";
          break;
        case StepKind::merge: slots[key(step.target)] = left + slots[key(step.right)]; break;
        case StepKind::finish: slots[key(step.target)] = "= " + left; break;
        default: slots[key(step.target)] = left;
      }
      return true;
    }

    void start(const Step& step, std::uint32_t ticket) override {
      open[ticket] = 0;
      if (step.kind == StepKind::send) {
        job.ranks_[static_cast<std::size_t>(step.peer)].arrived[rank].push_back(slots[key(step.left)]);
      } else {
        open[ticket] = receives[step.peer]++;
      }
    }

    bool is_complete(const Step& step, std::size_t turn) {
      if (job.random_() % 3 == 0) return false;
      if (step.kind == StepKind::send) return true;
      if (arrived[step.peer].size() <= turn) return false;
      slots[key(step.target)] = arrived[step.peer][turn];
      return true;
    }

    void poll(Tickets& tickets) override {
      std::erase_if(open, [&](const auto& each) {
        const bool complete = is_complete(program.communication(each.first), each.second);
        if (complete) tickets.complete(each.first);
        return complete;
      });
    }
  };

  std::mt19937_64 random_;
  std::deque<Member> ranks_;
};

std::string expected(Rank first, Rank rank_count, std::uint32_t segment) {
  std::string text = "= ";
  for (Rank i = 0; i < rank_count; ++i) {
    text += std::to_string(segment) + ":" + std::to_string((first + i) % rank_count) + " ";
  }
  return text;
}

TEST(Interpreter, RunsEveryScheduleOnStringsInRankOrder) {
  std::uint64_t seed = 20240607;
  for (const std::string_view name : {"flat", "linear", "binomial", "recursive_doubling"}) {
    for (Rank rank_count = 1; rank_count <= 17; ++rank_count) {
      for (const std::uint32_t segments : {1u, 3u}) {
        SCOPED_TRACE(testing::Message() << name << " ranks " << rank_count << " seed " << ++seed);
        StringJob job(name, {.rank_count = rank_count, .segments = segments}, seed);
        job.run();
        for (Rank rank = 0; rank < rank_count; ++rank) {
          for (std::uint32_t s = 0; s < segments; ++s) EXPECT_EQ(job.result(rank, s), expected(0, rank_count, s));
        }
      }
    }
  }
}

TEST(Interpreter, RunsRootedSchedulesOnStrings) {
  std::uint64_t seed = 7060420;
  for (const std::string_view name : {"flat", "linear", "binomial"}) {
    for (Rank rank_count = 1; rank_count <= 9; ++rank_count) {
      for (Rank root = 0; root < rank_count; ++root) {
        SCOPED_TRACE(testing::Message() << name << " ranks " << rank_count << " root " << root << " seed " << ++seed);
        StringJob job(name, {.rank_count = rank_count, .root = root, .collective = Collective::reduce, .segments = 2},
                      seed);
        job.run();
        const Rank first = name == "binomial" ? root : 0;
        for (Rank rank = 0; rank < rank_count; ++rank) {
          for (std::uint32_t s = 0; s < 2; ++s) {
            EXPECT_EQ(job.result(rank, s), rank == root ? expected(first, rank_count, s) : "none");
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::schedule::interpreter_test
