// Matches sends with receives: the k-th send from rank a to rank b meets b's k-th receive from a. Cost: O(n) in the
// number of ranks and their communications. Source: the order of messages that MPI guarantees.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedule/program.hpp"

namespace steadfold::schedule {

/// The communications of all ranks, numbered consecutively.
class Matching {
 public:
  struct Communication {
    Rank rank = 0;
    // Number of the communication on the other side; for add_words its number among the rank's add_words.
    std::uint32_t partner = 0;
    std::span<const Step> message;
  };

  /// Matches the communications of these programs, one per rank, and forgets all earlier programs. The programs must
  /// outlive the use of this object.
  void match(std::span<const Program> programs);

  /// Returns a description of the first mismatch, or an empty text. The other functions may be called only if it is
  /// empty.
  const std::string& fault() const noexcept { return fault_; }

  std::uint32_t number(Rank rank, std::uint32_t ticket) const noexcept {
    return first_[static_cast<std::size_t>(rank)] + ticket;
  }
  std::uint32_t ticket(std::uint32_t number) const noexcept {
    return number - first_[static_cast<std::size_t>(communications_[number].rank)];
  }
  const Communication& operator[](std::uint32_t number) const noexcept { return communications_[number]; }
  const Step& step(std::uint32_t number) const noexcept { return message(number).back(); }
  std::span<const Step> message(std::uint32_t number) const noexcept { return communications_[number].message; }

  std::size_t size() const noexcept { return communications_.size(); }
  std::size_t message_count() const noexcept { return sends_.size(); }
  /// Returns the number of add_words in which every rank takes part.
  std::size_t addition_count() const noexcept { return addition_count_; }

 private:
  /// Source rank, target rank, and number of a message's send or receive.
  struct End {
    Rank source;
    Rank target;
    std::uint32_t number;

    auto pair() const { return std::pair(source, target); }
  };

  void number_rank(Rank rank);
  void sort_by_pair();
  void sort(std::vector<End>& ends, Rank End::*by);
  void pair(std::uint32_t send, std::uint32_t receive);

  std::span<const Program> programs_;
  std::string fault_;
  std::vector<Communication> communications_;
  std::vector<std::uint32_t> first_;  // by rank: number of its first communication
  std::size_t addition_count_ = 0;
  std::vector<End> sends_;
  std::vector<End> receives_;
  std::vector<End> sorted_;              // output of `sort` before the swap
  std::vector<std::uint32_t> begin_of_;  // next index for each rank's elements; only `sort` uses it
};

}  // namespace steadfold::schedule
