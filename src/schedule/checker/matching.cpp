// Matches the sends and receives of all ranks: sorts them by their pair of ranks and walks through both lists in
// parallel. Cost: O(n) in the number of ranks and their communications. Source: the order of messages that MPI
// guarantees.
#include "schedule/checker/matching.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/form.hpp"

namespace steadfold::schedule {
namespace {

std::string route(Rank source, Rank target) {
  return " from rank " + std::to_string(source) + " to rank " + std::to_string(target);
}

}  // namespace

void Matching::match(std::span<const Program> programs) {
  programs_ = programs;
  fault_.clear();
  communications_.clear();
  first_.clear();
  sends_.clear();
  receives_.clear();
  addition_count_ = 0;
  for (Rank rank = 0; rank < static_cast<Rank>(programs.size()); ++rank) number_rank(rank);
  sort_by_pair();

  auto send = sends_.begin();
  auto receive = receives_.begin();
  for (; send != sends_.end() && receive != receives_.end(); ++send, ++receive) {
    if (send->pair() != receive->pair()) break;
    pair(send->number, receive->number);
  }
  const bool has_send = send != sends_.end();
  const bool has_receive = receive != receives_.end();
  if (!fault_.empty() || (!has_send && !has_receive)) return;
  fault_ = has_send && (!has_receive || send->pair() < receive->pair())
               ? "a message" + route(send->source, send->target) + " is received by no step"
               : "a receive" + route(receive->source, receive->target) + " waits for a message that no rank sends";
}

// Sorts the sends and receives by pair of ranks. Sends are already sorted by source, and receives by target; the
// communications of each rank are in order.
void Matching::sort_by_pair() {
  sort(sends_, &End::target);
  sort(sends_, &End::source);
  sort(receives_, &End::source);
}

// Sorts with a stable counting sort. Cost: proportional to the number of elements and of ranks.
void Matching::sort(std::vector<End>& ends, Rank End::*by) {
  begin_of_.assign(programs_.size() + 1, 0);
  for (const End& each : ends) ++begin_of_[static_cast<std::size_t>(each.*by) + 1];
  std::partial_sum(begin_of_.begin(), begin_of_.end(), begin_of_.begin());
  sorted_.resize(ends.size());
  for (const End& each : ends) sorted_[begin_of_[static_cast<std::size_t>(each.*by)]++] = each;
  ends.swap(sorted_);
}

void Matching::number_rank(Rank rank) {
  const Program& program = programs_[static_cast<std::size_t>(rank)];
  first_.push_back(static_cast<std::uint32_t>(communications_.size()));
  std::uint32_t additions = 0;
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const Step& step = program.communication(ticket);
    const auto own = static_cast<std::uint32_t>(communications_.size());
    Communication communication{.rank = rank, .message = program.message(ticket)};
    if (step.kind == StepKind::send) {
      sends_.push_back({rank, step.peer, own});
    } else if (step.kind == StepKind::receive) {
      receives_.push_back({step.peer, rank, own});
    } else {
      communication.partner = additions++;
    }
    communications_.push_back(communication);
  }
  if (rank > 0 && additions != addition_count_ && fault_.empty()) {
    fault_ = "rank " + std::to_string(rank) + " takes part in " + std::to_string(additions) +
             " additions of words by the MPI library, but lower ranks take part in " + std::to_string(addition_count_);
  }
  addition_count_ = additions;
}

void Matching::pair(std::uint32_t send, std::uint32_t receive) {
  communications_[send].partner = receive;
  communications_[receive].partner = send;
  const auto sent = message(send);
  const auto received = message(receive);
  const auto which = [&] { return "a message" + route(communications_[send].rank, communications_[receive].rank); };
  for (std::size_t i = 0; i < std::min(sent.size(), received.size()) && fault_.empty(); ++i) {
    if (sent[i].target == received[i].target) continue;
    fault_ =
        which() + " goes to " + text_of(sent[i].target) + ", but its receive expects " + text_of(received[i].target);
  }
  if (sent.size() == received.size() || !fault_.empty()) return;
  fault_ = which() + " carries " + std::to_string(sent.size()) + " slots, but its receive expects " +
           std::to_string(received.size());
}

}  // namespace steadfold::schedule
