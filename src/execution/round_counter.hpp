// Counts the rounds of a run in logical time: every message is stamped with the round in which it is sent, and received
// messages pass the receive ports one per round and in the order of the steps, so that the count does not depend on
// which came first. The checker has proved that order possible.
// Rank order: that of the steps. Cost: O(ports) per message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arithmetic/partial.hpp"
#include "schedule/ports.hpp"
#include "schedule/program.hpp"
#include "transport/transport.hpp"

namespace steadfold::execution {

class RoundCounter {
 public:
  /// `ports`: how many messages a rank sends, and receives, at once.
  RoundCounter(const schedule::Program& program, std::uint32_t ports)
      : program_(&program), send_ports_(ports), receive_ports_(ports) {}

  void turn(bool on) {
    is_on_ = on;
    arrivals_.resize(program_->ticket_count());
  }
  bool is_on() const noexcept { return is_on_; }

  /// Before each run.
  void begin() noexcept {
    if (!is_on_) return;
    next_ = 0;
    std::ranges::fill(send_ports_, 0);
    std::ranges::fill(receive_ports_, 0);
    std::ranges::fill(arrivals_, std::nullopt);
  }

  /// Stamps a message whose slots are ready at `ready`.
  void stamp(std::span<std::byte> message, std::uint32_t ready) noexcept {
    Header header = arithmetic::header_of(message);
    header.round = schedule::serve(std::span(send_ports_), ready, 1u);
    arithmetic::set_header(message, header);
  }

  void arrive(const transport::Completion& message) noexcept { arrivals_[message.ticket] = message; }
  /// The next message that arrived and has its turn, once; null: another one comes first, or none is left.
  const transport::Completion* next() noexcept {
    const auto is_received = [&] { return program_->communication(next_).kind == schedule::StepKind::receive; };
    while (next_ < arrivals_.size() && !is_received()) ++next_;
    return next_ < arrivals_.size() && arrivals_[next_] ? &*arrivals_[next_++] : nullptr;
  }
  /// When that message has passed the receive port.
  std::uint32_t receive(std::span<const std::byte> message) noexcept {
    return schedule::serve(std::span(receive_ports_), arithmetic::header_of(message).round, 1u) + 1;
  }

 private:
  const schedule::Program* program_;
  bool is_on_ = false;
  std::vector<std::optional<transport::Completion>> arrivals_;  // by ticket
  std::uint32_t next_ = 0;                                      // all receives below this ticket had their turn
  std::vector<std::uint32_t> send_ports_;                       // the first round in which each is free
  std::vector<std::uint32_t> receive_ports_;                    // likewise
};

}  // namespace steadfold::execution
