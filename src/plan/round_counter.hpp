// Counts the rounds of a run in logical time. Every message is stamped with the round in which it is sent. Received
// messages pass the receive ports one per round, in the order of the steps, so the count does not depend on the order
// of arrival. The checker has proved that this order is possible.
// Rank order: the order of the steps. Cost: O(ports) per message.
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

namespace steadfold::plan {

class RoundCounter {
 public:
  /// `ports` is the number of messages that a rank can send, and receive, at once.
  RoundCounter(const schedule::Program& program, std::uint32_t ports)
      : program_(&program), send_ports_(ports), receive_ports_(ports) {}

  void turn(bool on) {
    is_on_ = on;
    arrivals_.resize(program_->ticket_count());
  }
  bool is_on() const noexcept { return is_on_; }

  /// Prepares the counter for a run. Call this function before each run.
  void begin() noexcept {
    if (!is_on_) return;
    next_ = 0;
    std::ranges::fill(send_ports_, 0);
    std::ranges::fill(receive_ports_, 0);
    std::ranges::fill(arrivals_, std::nullopt);
  }

  /// Writes the round in which it is sent into a message. `ready` is the logical time at which the message's slots are
  /// ready.
  void stamp(std::span<std::byte> message, std::uint32_t ready) noexcept {
    Header header = arithmetic::header_of(message);
    header.round = schedule::serve(std::span(send_ports_), ready, 1u);
    arithmetic::set_header(message, header);
  }

  void arrive(const transport::Completion& message) noexcept { arrivals_[message.ticket] = message; }
  /// Returns the next message in the order of the steps, if it has arrived. Returns each message once. Returns null if
  /// an earlier message is missing or no message is left.
  const transport::Completion* next() noexcept {
    const auto is_received = [&] { return program_->communication(next_).kind == schedule::StepKind::receive; };
    while (next_ < arrivals_.size() && !is_received()) ++next_;
    return next_ < arrivals_.size() && arrivals_[next_] ? &*arrivals_[next_++] : nullptr;
  }
  /// Returns the logical time at which the message has passed a receive port.
  std::uint32_t receive(std::span<const std::byte> message) noexcept {
    return schedule::serve(std::span(receive_ports_), arithmetic::header_of(message).round, 1u) + 1;
  }

 private:
  const schedule::Program* program_;
  bool is_on_ = false;
  // By ticket: messages that have arrived and are not yet returned.
  std::vector<std::optional<transport::Completion>> arrivals_;
  // All receives with tickets below this ticket have been returned.
  std::uint32_t next_ = 0;
  // By send port: the first round in which the port is free.
  std::vector<std::uint32_t> send_ports_;
  // By receive port: the first round in which the port is free.
  std::vector<std::uint32_t> receive_ports_;
};

}  // namespace steadfold::plan
