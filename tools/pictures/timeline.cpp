#include "pictures/timeline.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "schedule/checker/matching.hpp"
#include "schedule/form.hpp"
#include "schedule/interpreter.hpp"
#include "schedule/ports.hpp"

namespace steadfold::command::pictures {
namespace {

using schedule::Program;
using schedule::Step;
using schedule::StepKind;

/// The content of a slot, the round from which the slot has it, and the part of the message that brought it.
struct Held {
  Part part;
  Count ready = 0;
  std::size_t message = 0;
  std::size_t part_of_message = 0;
  bool has_landed = false;
};

std::vector<Program> programs_of(const schedule::Algorithm& algorithm, schedule::Context context) {
  std::vector<Program> programs;
  for (context.rank = 0; context.rank < context.rank_count; ++context.rank)
    programs.emplace_back(algorithm.steps(context), context.segments);
  return programs;
}

/// The messages of all ranks that are under way.
class Network {
 public:
  explicit Network(std::span<const Program> programs) {
    matching.match(programs);
    message_of.assign(matching.size(), none);
    if (!matching.fault().empty()) throw std::logic_error(matching.fault());
  }

  static constexpr std::size_t none = ~std::size_t{0};
  schedule::Matching matching;
  std::vector<std::size_t> message_of;  // message of each send, by the number of the send; `none` if it is not sent yet
  Timeline timeline;
};

/// Executes the steps of one rank. Sends are buffered. Receives end in the order of the steps, when a port is free.
class RankRun final : public schedule::Machine {
 public:
  RankRun(Rank rank, const Program& program, std::uint32_t ports, Network& network)
      : rank_(rank),
        program_(program),
        network_(network),
        interpreter_(program),
        slots_(program.slots().size()),
        send_ports_(ports),
        receive_ports_(ports) {}

  /// Executes steps. Returns true if the rank is done. `has_moved` says whether this call changed anything.
  bool advance() {
    has_moved_ = false;
    return interpreter_.advance(*this);
  }
  bool has_moved() const { return has_moved_; }

  std::vector<Part> values() const {
    std::vector<Part> values;
    for (std::size_t index = 0; index < slots_.size(); ++index) {
      const schedule::Slot slot = program_.slots()[index];
      if (slot.kind == schedule::SlotKind::value && slot.number == 0) values.push_back(slots_[index].part);
    }
    std::ranges::sort(values, {}, &Part::segment);
    return values;
  }

  bool compute(const Step& step) override {
    has_moved_ = true;
    const Program::SlotIndices& indices = program_.slot_indices(step);
    Count ready = 0;
    for (const std::uint32_t index : {indices.left, indices.right}) {
      if (index == Program::no_slot) continue;
      ready = std::max(ready, slots_[index].ready);
      if (step.kind == StepKind::merge) note_merge(slots_[index], step.covers);
    }
    const bool is_value = holds_value(step.target);
    const bool is_copied = is_value && step.kind == StepKind::copy;
    const schedule::Covers covers = is_copied ? slots_[indices.left].part.covers : step.covers;
    slots_[indices.target] = {.part = {.segment = step.target.segment, .is_value = is_value, .covers = covers},
                              .ready = ready};
    return true;
  }

  void start(const Step& step, std::uint32_t ticket) override {
    has_moved_ = true;
    if (step.kind == StepKind::send) send(ticket);
    open_.push_back(ticket);
  }

  void poll(schedule::Tickets& tickets) override {
    bool in_turn = true;  // whether receives end in the order of the steps
    std::erase_if(open_, [&](std::uint32_t ticket) {
      const bool is_receive = program_.communication(ticket).kind == StepKind::receive;
      if (is_receive) in_turn = in_turn && receive(ticket);
      if (is_receive && !in_turn) return false;
      tickets.complete(ticket);
      has_moved_ = true;
      return true;
    });
  }

 private:
  void note_merge(Held& held, const schedule::Covers& covers) {
    if (!held.has_landed) return;
    std::optional<schedule::Covers>& merged =
        network_.timeline.messages[held.message].parts[held.part_of_message].merged;
    if (!merged) merged = covers;
  }

  void send(std::uint32_t ticket) {
    const std::uint32_t own = network_.matching.number(rank_, ticket);
    Message message{.source = rank_, .target = program_.communication(ticket).peer, .parts = {}};
    Count ready = 0;
    for (const Step& step : program_.message(ticket)) {
      const Held& held = slots_[program_.slot_indices(step).left];
      message.parts.push_back(held.part);
      ready = std::max(ready, held.ready);
    }
    const Count start = schedule::serve(std::span(send_ports_), ready, Count{1});
    message.sent = start + 1;
    network_.message_of[own] = network_.timeline.messages.size();
    network_.timeline.messages.push_back(std::move(message));
  }

  /// Ends a receive. Returns false if the message has not been sent yet.
  bool receive(std::uint32_t ticket) {
    const std::uint32_t own = network_.matching.number(rank_, ticket);
    const std::size_t index = network_.message_of[network_.matching[own].partner];
    if (index == Network::none) return false;
    Message& message = network_.timeline.messages[index];
    const Count ready = schedule::serve(std::span(receive_ports_), message.sent - 1, Count{1}) + 1;
    message.received = ready;
    network_.timeline.rounds = std::max(network_.timeline.rounds, ready);
    std::size_t part = 0;
    for (const Step& step : program_.message(ticket)) {
      slots_[program_.slot_indices(step).target] = {
          .part = message.parts[part], .ready = ready, .message = index, .part_of_message = part, .has_landed = true};
      ++part;
    }
    return true;
  }

  Rank rank_;
  const Program& program_;
  Network& network_;
  schedule::Interpreter interpreter_;
  std::vector<Held> slots_;  // contents of the slots, in the order of Program::slots
  std::vector<Count> send_ports_;
  std::vector<Count> receive_ports_;
  std::vector<std::uint32_t> open_;  // tickets of open receives, in ascending order
  bool has_moved_ = false;
};

}  // namespace

Timeline timeline_of(const schedule::Algorithm& algorithm, schedule::Context context) {
  const std::vector<Program> programs = programs_of(algorithm, context);
  Network network(programs);
  std::vector<RankRun> ranks;
  for (Rank rank = 0; rank < context.rank_count; ++rank)
    ranks.emplace_back(rank, programs[static_cast<std::size_t>(rank)], algorithm.port_count(context), network);
  for (bool all_done = false; !all_done;) {
    all_done = true;
    bool has_moved = false;
    for (RankRun& rank : ranks) {
      all_done = rank.advance() && all_done;
      has_moved = has_moved || rank.has_moved();
    }
    if (!all_done && !has_moved) throw std::logic_error("the schedule is in a deadlock");
  }
  for (const RankRun& rank : ranks) network.timeline.results.push_back(rank.values());
  return std::move(network.timeline);
}

}  // namespace steadfold::command::pictures
