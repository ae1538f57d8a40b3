// An endpoint for tests that ask ticket by ticket. It polls, and keeps the completions that it gets.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/transport.hpp"

namespace steadfold::transport {

enum class Progress { pending, complete, failed };

class Tested {
 public:
  Tested(std::unique_ptr<Endpoint> inner, Ticket tickets)
      : inner_(std::move(inner)), completions_(tickets), told_(tickets) {}

  /// The memory of the last message in a slot.
  std::span<std::byte> landing(SlotNumber slot) {
    const std::span<std::byte> memory = inner_->landing(slot);
    const auto found = stands_at_.find(slot);
    return found == stands_at_.end() ? memory : std::span(found->second, memory.size());
  }
  bool stands_elsewhere(SlotNumber slot) { return landing(slot).data() != inner_->landing(slot).data(); }
  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second = {}) {
    told_[ticket].reset();
    inner_->put(ticket, target, slot, bytes, second);
  }
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second = {}) {
    told_[ticket].reset();
    slot_of_[ticket] = slot;
    stands_at_.erase(slot);
    inner_->release(ticket, source, slot, second);
  }
  void add_words(Ticket ticket, std::span<std::int64_t> words) {
    told_[ticket].reset();
    inner_->add_words(ticket, words);
  }
  Traffic traffic() const { return inner_->traffic(); }

  Progress test(Ticket ticket, Bytes& arrived) {
    const std::size_t count = inner_->poll(completions_);
    for (const Completion& each : std::span(completions_).first(count)) {
      EXPECT_FALSE(told_[each.ticket]) << "ticket " << each.ticket << " is told twice";
      told_[each.ticket] = each;
      if (each.data != nullptr) stands_at_[slot_of_.at(each.ticket)] = each.data;
    }
    if (!told_[ticket]) return Progress::pending;
    arrived = told_[ticket]->size;
    return told_[ticket]->failed ? Progress::failed : Progress::complete;
  }

 private:
  std::unique_ptr<Endpoint> inner_;
  std::vector<Completion> completions_;
  std::vector<std::optional<Completion>> told_;  // one per ticket
  std::map<Ticket, SlotNumber> slot_of_;
  std::map<SlotNumber, std::byte*> stands_at_;
};

}  // namespace steadfold::transport
