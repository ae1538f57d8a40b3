// The rounds of a traced run: messages have their turn in the order of the steps, whichever came first, and pass the
// ports one per round.
#include "plan/round_counter.hpp"

#include <gtest/gtest.h>

#include <array>

#include "schedule/make_step.hpp"

namespace steadfold::test::round_counter_test {
namespace {

using plan::RoundCounter;
using schedule::Program;
using transport::Ticket;

/// Tickets 0, 2 and 3 are received, 1 is sent.
schedule::Steps exchange() {
  co_yield schedule::make::receive(1, schedule::landing(0), {1, 1});
  co_yield schedule::make::send(1, schedule::partial(), schedule::landing());
  co_yield schedule::make::receive(2, schedule::landing(1), {2, 1});
  co_yield schedule::make::receive(3, schedule::landing(2), {3, 1});
}

using Message = std::array<std::byte, sizeof(Header)>;

Message sent_in(std::uint32_t round) {
  Message message = {};
  Header header;
  header.round = round;
  arithmetic::set_header(message, header);
  return message;
}

std::vector<Ticket> all_next(RoundCounter& rounds) {
  std::vector<Ticket> tickets;
  while (const transport::Completion* const message = rounds.next()) tickets.push_back(message->ticket);
  return tickets;
}

TEST(RoundCounters, GiveMessagesTheirTurnsInTheOrderOfTheSteps) {
  const Program program(exchange(), 1);
  RoundCounter rounds(program, 1);
  rounds.turn(true);
  for (int run = 0; run < 2; ++run) {
    rounds.begin();
    rounds.arrive({.ticket = 3});
    EXPECT_EQ(all_next(rounds), std::vector<Ticket>{}) << run;
    rounds.arrive({.ticket = 0});
    EXPECT_EQ(all_next(rounds), std::vector<Ticket>{0}) << run;
    rounds.arrive({.ticket = 2});
    EXPECT_EQ(all_next(rounds), (std::vector<Ticket>{2, 3})) << run;
    EXPECT_EQ(all_next(rounds), std::vector<Ticket>{}) << run;
  }
}

TEST(RoundCounters, LetOneMessagePerRoundPassAPort) {
  const Program program(exchange(), 1);
  const std::array<std::array<std::uint32_t, 4>, 2> received = {{{1, 2, 6, 7}, {1, 1, 6, 6}}};
  const std::array<std::array<std::uint32_t, 3>, 2> sent = {{{0, 1, 4}, {0, 0, 4}}};
  for (const std::uint32_t ports : {1u, 2u}) {
    RoundCounter rounds(program, ports);
    rounds.turn(true);
    for (int run = 0; run < 2; ++run) {
      rounds.begin();
      std::array<std::uint32_t, 4> when = {};
      for (std::size_t i = 0; i < when.size(); ++i) when[i] = rounds.receive(sent_in(i < 2 ? 0 : 5));
      EXPECT_EQ(when, received[ports - 1]) << ports << " ports";
      for (std::size_t i = 0; i < 3; ++i) {
        Message message = sent_in(9);
        rounds.stamp(message, i < 2 ? 0 : 4);
        EXPECT_EQ(arithmetic::header_of(message).round, sent[ports - 1][i]) << ports << " ports";
      }
    }
  }
}

}  // namespace
}  // namespace steadfold::test::round_counter_test
