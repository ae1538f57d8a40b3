// Sorts sends and receives by their pair of ranks and walks the two lists side by side.
// Cost: O(n log n) in the communications of all ranks. Source: MPI's rule of order.
#include "schedule/checker/matching.hpp"

#include <algorithm>

#include "schedule/form.hpp"

namespace steadfold::schedule {
namespace {

std::string route(Rank source, Rank target) {
  return " from rank " + std::to_string(source) + " to rank " + std::to_string(target);
}

}  // namespace

/// Source rank, target rank and number of every message's send and receive. Sorts by pair of ranks, then by order.
struct Matching::Ends {
  struct End {
    Rank source;
    Rank target;
    std::uint32_t number;

    auto pair() const { return std::pair(source, target); }
    friend auto operator<=>(const End&, const End&) = default;
  };

  std::vector<End> sends;
  std::vector<End> receives;
};

Matching::Matching(std::span<const Program> programs) : programs_(programs) {
  Ends ends;
  for (Rank rank = 0; rank < static_cast<Rank>(programs.size()); ++rank) number_rank(rank, ends);
  std::sort(ends.sends.begin(), ends.sends.end());
  std::sort(ends.receives.begin(), ends.receives.end());
  message_count_ = ends.sends.size();

  auto send = ends.sends.begin();
  auto receive = ends.receives.begin();
  for (; send != ends.sends.end() && receive != ends.receives.end(); ++send, ++receive) {
    if (send->pair() != receive->pair()) break;
    pair(send->number, receive->number);
  }
  const bool has_send = send != ends.sends.end();
  const bool has_receive = receive != ends.receives.end();
  if (!fault_.empty() || (!has_send && !has_receive)) return;
  fault_ = has_send && (!has_receive || send->pair() < receive->pair())
               ? "a message" + route(send->source, send->target) + " is never received"
               : "a receive" + route(receive->source, receive->target) + " waits for a message that is never sent";
}

void Matching::number_rank(Rank rank, Ends& ends) {
  const Program& program = programs_[static_cast<std::size_t>(rank)];
  first_.push_back(static_cast<std::uint32_t>(communications_.size()));
  std::uint32_t additions = 0;
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const Step& step = program.communication(ticket);
    const auto own = static_cast<std::uint32_t>(communications_.size());
    Communication communication{.rank = rank};
    if (step.kind == StepKind::send) {
      ends.sends.push_back({rank, step.peer, own});
    } else if (step.kind == StepKind::receive) {
      ends.receives.push_back({step.peer, rank, own});
    } else {
      communication.partner = additions++;
    }
    communications_.push_back(communication);
  }
  if (rank > 0 && additions != addition_count_ && fault_.empty()) {
    fault_ = "rank " + std::to_string(rank) + " takes part in " + std::to_string(additions) +
             " add_words, the ranks before it in " + std::to_string(addition_count_);
  }
  addition_count_ = additions;
}

void Matching::pair(std::uint32_t send, std::uint32_t receive) {
  communications_[send].partner = receive;
  communications_[receive].partner = send;
  const auto sent = message(send);
  const auto received = message(receive);
  const std::string which = "a message" + route(communications_[send].rank, communications_[receive].rank);
  for (std::size_t i = 0; i < std::min(sent.size(), received.size()) && fault_.empty(); ++i) {
    if (sent[i].target == received[i].target) continue;
    fault_ = which + " goes to " + text_of(sent[i].target) + ", its receive names " + text_of(received[i].target);
  }
  if (sent.size() == received.size() || !fault_.empty()) return;
  fault_ = which + " carries " + std::to_string(sent.size()) + " slots, its receive names " +
           std::to_string(received.size());
}

std::span<const Step> Matching::message(std::uint32_t number) const noexcept {
  return programs_[static_cast<std::size_t>(communications_[number].rank)].message(ticket(number));
}

}  // namespace steadfold::schedule
