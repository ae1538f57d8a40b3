// An endpoint for tests that ask ticket by ticket: polls, and remembers what it was told.
#pragma once

#include <gtest/gtest.h>

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

  std::span<std::byte> landing(SlotNumber slot) { return inner_->landing(slot); }
  void put(Ticket ticket, Rank target, SlotNumber slot, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second = {}) {
    told_[ticket].reset();
    inner_->put(ticket, target, slot, bytes, second);
  }
  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second = {}) {
    told_[ticket].reset();
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
    }
    if (!told_[ticket]) return Progress::pending;
    arrived = told_[ticket]->size;
    return told_[ticket]->failed ? Progress::failed : Progress::complete;
  }

 private:
  std::unique_ptr<Endpoint> inner_;
  std::vector<Completion> completions_;
  std::vector<std::optional<Completion>> told_;  // by ticket
};

}  // namespace steadfold::transport
