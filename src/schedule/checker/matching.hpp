// Which send meets which receive: the k-th from one rank to another meets the k-th receive there from it.
// Cost: O(n) in the communications of all ranks and their number. Source: MPI's rule of order.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "schedule/program.hpp"

namespace steadfold::schedule {

/// The communications of all ranks, numbered through.
class Matching {
 public:
  struct Communication {
    Rank rank = 0;
    std::uint32_t partner = 0;  // the number of the other side; for add_words its place among the rank's
    std::span<const Step> message;
  };

  /// Matches the communications of the programs, given by rank, in place of those before. The programs must stay.
  void match(std::span<const Program> programs);

  /// What does not match; empty if everything does. The other functions may be called only then.
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
  /// How many add_words every rank takes part in.
  std::size_t addition_count() const noexcept { return addition_count_; }

 private:
  /// Source rank, target rank and number of a message's send or receive.
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
  std::vector<std::uint32_t> first_;  // by rank
  std::size_t addition_count_ = 0;
  std::vector<End> sends_;
  std::vector<End> receives_;
  std::vector<End> sorted_;              // what `sort` writes before it takes the other's place
  std::vector<std::uint32_t> begin_of_;  // by rank, in `sort`
};

}  // namespace steadfold::schedule
