// What an executor works out when it is made: its slots' memory, the places that steps name, what may be written to the
// result at once, merges that can be prepared.
#include <algorithm>
#include <map>

#include "execution/executor.hpp"
#include "schedule/form.hpp"
#include "transport/packing.hpp"

namespace steadfold::execution {

using schedule::Slot;
using schedule::SlotKind;
using schedule::Step;
using schedule::StepKind;
using transport::bytes_in_message;

namespace {

constexpr Bytes cache_line = 64;

/// By step: whether the next step that names its left slot, if there is one, writes it and does not read it.
std::vector<bool> find_last_reads(const schedule::Program& program) {
  const auto steps = program.steps();
  std::vector<bool> is_last(steps.size(), true);
  std::vector<const Step*> next(program.slots().size(), nullptr);  // that names the place
  for (std::size_t i = steps.size(); i-- > 0;) {
    const schedule::Program::Places& places = program.places(steps[i]);
    if (places.left != schedule::Program::no_place) {
      const Step* const later = next[places.left];
      is_last[i] = later == nullptr || (later->left != steps[i].left && later->right != steps[i].left);
    }
    for (const std::uint32_t place : {places.target, places.left, places.right})
      if (place != schedule::Program::no_place) next[place] = &steps[i];
  }
  return is_last;
}

}  // namespace

Executor::Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport,
                   std::uint32_t tag, std::uint32_t ports)
    : program_(&program),
      payload_(&payload),
      apart_(payload.apart()),
      piecewise_(payload.pieces()),
      places_(program.slots().size()),
      value_places_(program.segments(), schedule::Program::no_place),
      send_ports_(ports),
      receive_ports_(ports) {
  for (const Step& step : program.steps()) {
    if (apart_ != nullptr && (step.covers.is_part() || step.covers.ranks.count > 0))
      head_room_ = std::max(head_room_, apart_->head_capacity(step.covers, step.target.segment));
  }
  for (const Brought& brought : brought_together()) {
    Bytes heads = 0;
    for (const Covers& part : brought.parts)
      heads += apart_ == nullptr ? 0 : apart_->head_capacity(part, brought.segment);
    head_room_ = std::max(head_room_, heads);
  }
  head_room_ = (std::max(head_room_, sizeof(Header)) + cache_line - 1) / cache_line * cache_line;
  std::vector<Bytes> landing(program.landing_count(), 0);
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const auto message = program.message(ticket);
    if (message.back().kind != StepKind::receive) continue;
    Bytes needed = 0;
    for (const Step& step : message) needed += most_in_message(step, message.size());
    Bytes& capacity = landing[schedule::landing_number(message.back().target, program.segments())];
    capacity = std::max(capacity, needed);
  }
  endpoint_ = transport.prepare(tag, landing, program.ticket_count(), transport::WordOrder::of_endpoints);
  asks_to_leave_ = endpoint_->asks_to_leave();
  words_.resize(program.ticket_count());
  staged_.resize(program.ticket_count());
  completions_.resize(std::min<std::size_t>(program.ticket_count(), batch));
  make_slots();
  resolve_steps();
  if (apart_ != nullptr) find_ways_to_result();
  prepare_merges();
}

/// Bytes that a slot takes when it is received.
Bytes Executor::most_in_message(const Step& step, std::size_t slots) const {
  const Slot slot = step.target;
  const Bytes whole = schedule::holds_partial(slot) ? payload_->partial_capacity(step.covers, slot.segment)
                                                    : payload_->value_capacity(slot.segment);
  return is_apart(slot) && slots == 1 ? head_room_ + whole : bytes_in_message(whole, slots);
}

/// A merge of a wave may leave gaps between the rows that have come, so its partial may be larger than that of all.
std::vector<Executor::Brought> Executor::brought_together() const {
  std::vector<Brought> all;
  if (program_->waves().empty()) return all;
  constexpr std::size_t none = ~std::size_t{0};
  std::vector<const Covers*> covers(places_.size(), nullptr);  // of what a place holds
  std::vector<std::size_t> open(program_->segments(), none);   // by segment: which of all, if a wave goes on
  for (const Step& step : program_->steps()) {
    const schedule::Program::Places& places = program_->places(step);
    std::size_t& brought = open[step.target.segment];
    if (step.kind != StepKind::merge || !step.any_order) {
      brought = none;
    } else {
      if (brought == none) {
        brought = all.size();
        all.push_back({.segment = step.target.segment, .parts = {*covers[places.left]}});
      }
      all[brought].parts.push_back(*covers[places.right]);
    }
    if (places.target != schedule::Program::no_place) covers[places.target] = &step.covers;
  }
  return all;
}

/// All partials of a segment are as large as the largest: a merge into one of its operands goes to scratch memory of
/// that size, and the two change places.
void Executor::make_slots() {
  const auto room = [&](Slot slot, Bytes whole) { return is_apart(slot) ? head_room_ + whole : whole; };
  std::vector<Bytes> largest(program_->segments(), sizeof(Header));
  for (const Step& step : program_->steps()) {
    if (step.target.kind != SlotKind::partial) continue;
    Bytes& of_segment = largest[step.target.segment];
    of_segment = std::max(of_segment, room(step.target, payload_->working_capacity(step.covers, step.target.segment)));
  }
  for (const Brought& brought : brought_together()) {
    Bytes& of_segment = largest[brought.segment];
    const Bytes bytes = payload_->working_capacity_of_any(brought.parts, brought.segment);
    of_segment = std::max(of_segment, room(schedule::partial(0, brought.segment), bytes));
  }
  const auto make = [this](Bytes bytes) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return memory_.back().get();
  };
  std::map<Bytes, std::uint32_t> scratch_of;  // by size
  const auto scratch = [&](Bytes bytes) {
    const auto [found, is_new] = scratch_of.try_emplace(bytes, static_cast<std::uint32_t>(scratch_.size()));
    if (is_new) scratch_.push_back(make(bytes));
    return found->second;
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Slot slot = program_->slots()[i];
    if (slot == schedule::value(0, slot.segment)) value_places_[slot.segment] = static_cast<std::uint32_t>(i);
    if (schedule::is_landing(slot)) {
      const auto bytes = endpoint_->landing(schedule::landing_number(slot, program_->segments()));
      places_[i] = {.data = bytes.data(), .capacity = bytes.size()};
    } else {
      const bool is_partial = slot.kind == SlotKind::partial;
      const Bytes bytes = is_partial ? largest[slot.segment] : room(slot, payload_->value_capacity(slot.segment));
      places_[i] = {.data = make(bytes), .capacity = bytes};
      if (is_partial) places_[i].scratch = scratch(bytes);
    }
  }
}

void Executor::resolve_steps() {
  const auto at = [this](std::uint32_t place) {
    return place == schedule::Program::no_place ? nullptr : &places_[place];
  };
  for (const Step& step : program_->steps()) {
    const schedule::Program::Places& places = program_->places(step);
    resolved_.push_back({.target = at(places.target),
                         .left = at(places.left),
                         .right = at(places.right),
                         .work = work_of(step),
                         .number = schedule::landing_number(step.target, program_->segments()),
                         .is_apart = is_apart(step.target)});
  }
  for (std::uint32_t ticket = 0; ticket < program_->ticket_count(); ++ticket) {
    const auto message = program_->message(ticket);
    const Step& last = message.back();
    Resolved& at_last = resolved_[program_->index_of(last)];
    at_last.is_alone = message.size() == 1;
    if (last.kind == StepKind::send) at_last.ending = CompletionAction::nothing;
    if (last.kind == StepKind::receive && at_last.is_alone && !at_last.is_apart && !last.any_order)
      at_last.ending = CompletionAction::lands_whole;
    if (last.kind == StepKind::add_words) words_[ticket].resize(payload_->words()->word_count(last.left.segment));
    if (last.kind != StepKind::send || message.size() == 1) continue;
    Bytes most = 0;
    for (const Step& step : message) most += bytes_in_message(resolved(step).left->capacity, message.size());
    staged_[ticket].reserve(most);
  }
  for (const schedule::Program::Wave& wave : program_->waves())
    waves_.push_back({.first = wave.first, .count = wave.count});
}

/// Goes from the last step to the first. The result may be written at once by
/// - a finish, if its values stand apart or nothing reads its slot afterwards;
/// - a merge whose partial such a finish reads and nothing else;
/// - a receive whose value is copied to the result's slot before another one comes; and that copy.
/// Not before all of the segment's rows are lifted, since the result may take their place in memory.
void Executor::find_ways_to_result() {
  const auto steps = program_->steps();
  const std::vector<bool> reads_last = find_last_reads(*program_);
  std::vector<bool> lifts_first(program_->segments(), true);
  std::vector<bool> is_lifted(program_->segments(), false);
  std::vector<const Step*> next(places_.size(), nullptr);  // that names the place
  std::vector<bool> is_finished(places_.size(), false);    // and is a finish to the result, after which none reads it
  std::vector<bool> is_copied(places_.size(), false);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Step& step = steps[i];
    const schedule::Program::Places& places = program_->places(step);
    const bool gives_result = step.target == schedule::value(0, step.target.segment);
    bool& to_result = resolved_[i].to_result;
    if (step.kind == StepKind::finish)
      to_result = gives_result && (is_apart(step.target) || next[places.target] == nullptr);
    if (step.kind == StepKind::copy) to_result = gives_result && is_apart(step.target);
    if (step.kind == StepKind::merge) to_result = is_finished[places.target];
    if (step.kind == StepKind::receive) to_result = is_copied[places.target];
    const bool ends = step.kind == StepKind::finish && to_result && reads_last[i];
    for (const std::uint32_t place : {places.target, places.left, places.right}) {
      if (place == schedule::Program::no_place) continue;
      next[place] = &step;
      is_finished[place] = place == places.left && ends;
      if (step.kind == StepKind::receive) is_copied[place] = false;
    }
    if (step.kind == StepKind::copy && gives_result) is_copied[places.left] = true;
    if (step.kind == StepKind::lift) is_lifted[step.target.segment] = true;
    if (to_result || gives_result) lifts_first[step.target.segment] = !is_lifted[step.target.segment];
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t segment = steps[i].target.segment;
    const auto offset = apart_->result_offset(segment);
    resolved_[i].to_result = resolved_[i].to_result && lifts_first[segment] && offset;
    resolved_[i].result_offset = offset.value_or(0);
  }
}

/// By step: whether it finishes what the step before it merged, waits for nothing, and is the last to read it.
std::vector<bool> Executor::find_finishes_of_merges() const {
  const auto steps = program_->steps();
  std::vector<bool> found = find_last_reads(*program_);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool follows = i > 0 && steps[i - 1].kind == StepKind::merge && steps[i - 1].target == steps[i].left;
    found[i] = found[i] && follows && steps[i].kind == StepKind::finish;
  }
  for (const schedule::Program::TicketWait& wait : program_->waits())
    if (wait.step < found.size()) found[wait.step] = false;
  return found;
}

/// Merges whose partials stand in one piece may be prepared: the steps say which rows they are of, but for waves.
void Executor::prepare_merges() {
  const auto steps = program_->steps();
  const std::vector<bool> finishes = find_finishes_of_merges();
  std::vector<const Covers*> covers(places_.size(), nullptr);  // of what a place holds
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const schedule::Program::Places& places = program_->places(step);
    if (step.kind == StepKind::merge && !step.any_order && !is_apart(step.target)) {
      const bool is_finished = i + 1 < steps.size() && finishes[i + 1];
      Preparation made = payload_->prepare_merge(step.target.segment, *covers[places.left], *covers[places.right],
                                                 is_finished ? &steps[i + 1].covers : nullptr);
      Resolved& at = resolved_[i];
      at.merge = made.merge.get();
      at.finishes = made.finishes;
      if (made.merge != nullptr) prepared_.push_back(std::move(made.merge));
    }
    if (places.target != schedule::Program::no_place) covers[places.target] = &step.covers;
  }
}

/// How many pieces the step's merge or finish has; 0 if the payload has no pieces.
float Executor::work_of(const Step& step) const {
  if (schedule::communicates(step.kind) || piecewise_ == nullptr) return 0;
  const order::Count piece = piecewise_->piece_columns(step.target.segment);
  return piece == 0 ? 0 : static_cast<float>(piecewise_->columns(step.target.segment)) / static_cast<float>(piece);
}

}  // namespace steadfold::execution
