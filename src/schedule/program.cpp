// Compiles steps: gives slots places and communications tickets, and works out which completions a step must wait for.
// Rank order: that of the steps. Cost: O(steps).
#include "schedule/program.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "schedule/slot_table.hpp"

namespace steadfold::schedule {

/// Follows, for every slot, which communications still read or write it.
class Program::Compiler {
 public:
  explicit Compiler(Program& program) : program_(program), table_(program.segments_) {}

  void add(const Step& step) {
    const bool receives = step.kind == StepKind::receive;
    if (receives) require_number(step.target);
    Places places;
    if (step.left.kind != SlotKind::none) places.left = read(step.left);
    if (step.right.kind != SlotKind::none) places.right = read(step.right);
    if (step.kind != StepKind::send && step.target.kind != SlotKind::none) places.target = write(step.target);
    if (receives) {
      program_.landing_count_ = std::max(program_.landing_count_, landing_number(step.target, program_.segments_) + 1);
    }
    if (communicates(step.kind)) open(step, places);
    program_.steps_.push_back(step);
    program_.places_.push_back(places);
  }

 private:
  static constexpr std::uint32_t none = no_place;

  struct SlotUsers {
    std::uint32_t writer = none;         // the last communication that writes the slot
    std::vector<std::uint32_t> readers;  // communications that read it since it was last written
  };

  void require_number(Slot slot) const {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    if ((std::uint64_t{slot.number} + 1) * program_.segments_ * 2 <= most) return;
    throw std::length_error("more landing slots than can be numbered (" + std::to_string(slot.number + 1) +
                            " for each of " + std::to_string(program_.segments_) +
                            " segments), take fewer segments or levels");
  }

  std::uint32_t read(Slot slot) {
    const std::uint32_t place = place_of(slot);
    wait_for(traffic_[place].writer);
    return place;
  }

  std::uint32_t write(Slot slot) {
    const std::uint32_t place = place_of(slot);
    SlotUsers& traffic = traffic_[place];
    wait_for(traffic.writer);
    for (const std::uint32_t reader : traffic.readers) wait_for(reader);
    traffic.writer = none;
    traffic.readers.clear();
    return place;
  }

  void open(const Step& step, const Places& places) {
    const std::uint32_t ticket = program_.ticket_count();
    const auto index = static_cast<std::uint32_t>(program_.steps_.size());
    if (!in_message_) first_ = index;
    if (!in_message_) waited_for_.push_back(false);
    in_message_ = step.more;
    if (places.left != none) traffic_[places.left].readers.push_back(ticket);
    if (places.target != none) traffic_[places.target].writer = ticket;
    if (step.more) return;
    program_.communications_.push_back({first_, index});
    if (step.kind == StepKind::receive && step.any_order) add_to_wave(ticket);
  }

  // A wave goes on if its last message's last step is the one before this message's first.
  void add_to_wave(std::uint32_t ticket) {
    std::vector<Wave>& waves = program_.waves_;
    const bool goes_on = !waves.empty() && waves.back().first + waves.back().count == ticket &&
                         program_.communications_[ticket - 1].last + 1 == first_;
    if (!goes_on) waves.push_back({.first = ticket, .count = 0});
    ++waves.back().count;
  }

  // Steps start in order, so what one has waited for is complete for all later ones.
  void wait_for(std::uint32_t ticket) {
    if (ticket == none || waited_for_[ticket]) return;
    waited_for_[ticket] = true;
    program_.waits_.push_back({.step = static_cast<std::uint32_t>(program_.steps_.size()), .ticket = ticket});
  }

  std::uint32_t place_of(Slot slot) {
    const std::uint32_t place = table_.place_of(slot);
    if (place == traffic_.size()) {
      program_.slots_.push_back(slot);
      traffic_.emplace_back();
    }
    return place;
  }

  Program& program_;
  SlotTable table_;
  std::vector<SlotUsers> traffic_;  // by place
  std::vector<bool> waited_for_;    // by ticket
  bool in_message_ = false;         // the step before was not the last of its message
  std::uint32_t first_ = 0;         // the message's first step
};

Program::Program(Steps steps, std::uint32_t segments) : segments_(segments) {
  Compiler compiler(*this);
  while (const Step* step = steps.next()) compiler.add(*step);
  waits_.push_back({.step = static_cast<std::uint32_t>(steps_.size()), .ticket = ticket_count()});
}

}  // namespace steadfold::schedule
