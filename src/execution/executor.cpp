#include "execution/executor.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "schedule/ports.hpp"
#include "transport/packing.hpp"

namespace steadfold::execution {

using transport::bytes_in_message;
using transport::Packer;
using transport::Unpacker;

using schedule::Slot;
using schedule::SlotKind;
using schedule::Step;
using schedule::StepKind;

namespace {

constexpr Bytes cache_line = 64;

bool is_value(Slot slot) { return slot.kind == SlotKind::value || slot.kind == SlotKind::landing_value; }

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
      places_(program.slots().size()),
      value_places_(program.segments(), schedule::Program::no_place),
      send_ports_(ports),
      receive_ports_(ports) {
  for (const Step& step : program.steps()) {
    if (apart_ != nullptr && (step.covers.is_part() || step.covers.ranks.count > 0))
      head_room_ = std::max(head_room_, apart_->head_capacity(step.covers, step.target.segment));
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
  endpoint_ = transport.prepare(tag, landing, program.ticket_count());
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
  const Bytes whole =
      is_value(slot) ? payload_->value_capacity(slot.segment) : payload_->partial_capacity(step.covers, slot.segment);
  return is_apart(slot) && slots == 1 ? head_room_ + whole : bytes_in_message(whole, slots);
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
                         .number = schedule::landing_number(step.target, program_->segments()),
                         .is_apart = is_apart(step.target)});
  }
  for (std::uint32_t ticket = 0; ticket < program_->ticket_count(); ++ticket) {
    const auto message = program_->message(ticket);
    const Step& last = message.back();
    Resolved& at_last = resolved_[program_->index_of(last)];
    at_last.is_alone = message.size() == 1;
    if (last.kind == StepKind::send) at_last.ending = Ending::nothing;
    if (last.kind == StepKind::receive && at_last.is_alone && !at_last.is_apart) at_last.ending = Ending::lands_whole;
    if (last.kind == StepKind::add_words) words_[ticket].resize(payload_->words()->word_count(last.left.segment));
    if (last.kind != StepKind::send || message.size() == 1) continue;
    Bytes most = 0;
    for (const Step& step : message) most += bytes_in_message(resolved(step).left->capacity, message.size());
    staged_[ticket].reserve(most);
  }
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
  for (const schedule::Program::Wait& wait : program_->waits())
    if (wait.step < found.size()) found[wait.step] = false;
  return found;
}

/// Merges whose partials stand in one piece may be prepared: the steps say which rows they are of.
void Executor::prepare_merges() {
  const auto steps = program_->steps();
  const std::vector<bool> finishes = find_finishes_of_merges();
  std::vector<const Covers*> covers(places_.size(), nullptr);  // of what a place holds
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const schedule::Program::Places& places = program_->places(step);
    if (step.kind == StepKind::merge && !is_apart(step.target)) {
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

void Executor::begin() noexcept {
  status_ = Status::ok;
  finished_ = nullptr;
  rounds_ = next_receive_ = 0;
  result_ = apart_ == nullptr ? nullptr : apart_->result();
  if (!tracing_) return;
  std::ranges::fill(send_ports_, 0);
  std::ranges::fill(receive_ports_, 0);
  std::ranges::fill(arrivals_, std::nullopt);
}

bool Executor::advance(schedule::Interpreter& interpreter) { return interpreter.advance(*this); }

void Executor::compute(const Step& step) {
  const Resolved& at = resolved(step);
  switch (step.kind) {
    case StepKind::lift: return compute_lift(step, at);
    case StepKind::merge: return compute_merge(step, at);
    case StepKind::copy: return compute_copy(step, at);
    case StepKind::finish: return compute_finish(step, at);
    default: break;
  }
}

void Executor::compute_lift(const Step& step, const Resolved& at) {
  Place& to = *at.target;
  written(to, payload_->lift(step.target.segment, step.covers, {to.data, to.capacity}), 0);
}

void Executor::compute_finish(const Step& step, const Resolved& at) {
  if (&step == finished_) return;
  Place& to = *at.target;
  const Place& from = *at.left;
  const Room out = room_for(step, at, to.data);
  written(to, payload_->finish(step.target.segment, step.covers, from.held, out), from.ready);
}

/// Where a finish or a copy writes its target, or a merge whose result is no more than a partial. The head begins at
/// `data`.
Room Executor::room_for(const Step& step, const Resolved& at, std::byte* data) const {
  std::byte* const due = step.kind == StepKind::merge ? nullptr : way_to_result(at);
  const Bytes capacity = at.target->capacity;
  if (at.is_apart) return {{data, head_room_}, {due != nullptr ? due : data + head_room_, capacity - head_room_}};
  if (due == nullptr) return {{data, capacity}};
  return {{data, sizeof(Header)}, {due, capacity - sizeof(Header)}};
}

bool Executor::merge_to_result(const Step& step, const Resolved& at, std::byte* values) {
  Place& to = *at.target;
  const std::uint32_t ready = std::max(at.left->ready, at.right->ready);
  const auto merged =
      apart_->merge_to_result(step.target.segment, at.left->held, at.right->held, {to.data, to.capacity}, values);
  if (merged) written(to, *merged, ready);
  return merged.has_value();
}

void Executor::compute_merge(const Step& step, const Resolved& at) {
  if (at.merge != nullptr && merge_as_prepared(step, at)) return;
  std::byte* const due = way_to_result(at);
  if (due != nullptr && merge_to_result(step, at, due)) return;
  Place& to = *at.target;
  const std::uint32_t ready = std::max(at.left->ready, at.right->ready);
  std::byte*& room = room_of_merge(at);
  const Partial merged = payload_->merge(step.target.segment, at.left->held, at.right->held, room_for(step, at, room));
  std::swap(to.data, room);
  written(to, merged, ready);
}

bool Executor::merge_as_prepared(const Step& step, const Resolved& at) {
  if (at.finishes) return merge_and_finish(step, at);
  Place& to = *at.target;
  const std::uint32_t ready = std::max(at.left->ready, at.right->ready);
  std::byte*& room = room_of_merge(at);
  const Bytes size = at.merge->merge(at.left->held, at.right->held, {room, to.capacity});
  if (size == 0) return false;
  std::swap(to.data, room);
  written(to, size, ready);
  return true;
}

bool Executor::merge_and_finish(const Step& step, const Resolved& at) {
  const Step* const finish = &step + 1;
  const Resolved& at_finish = resolved(*finish);
  Place& to = *at_finish.target;
  const Room out = room_for(*finish, at_finish, to.data);
  const Bytes size = at.merge->finish(at.left->held, at.right->held, {room_of_merge(at), at.target->capacity}, out);
  if (size == 0) return false;
  finished_ = finish;
  written(to, Partial(out.head.first(size), out.values.data()), std::max(at.left->ready, at.right->ready));
  return true;
}

void Executor::compute_copy(const Step& step, const Resolved& at) {
  const Place& from = *at.left;
  Place& to = *at.target;
  const Room out = room_for(step, at, to.data);
  const Bytes bytes = values_bytes(step.target, from.held);
  const std::span<const std::byte> head = from.held.head;
  const std::byte* const values = from.held.values;
  if (head.size() > out.head.size() || bytes > out.values.size()) return written(to, Bytes{0}, from.ready);
  if (!head.empty()) std::memcpy(out.head.data(), head.data(), head.size());  // a lost message stands nowhere
  if (bytes > 0 && out.values.data() != values) std::memcpy(out.values.data(), values, bytes);
  written(to, Partial{out.head.first(head.size()), bytes > 0 ? out.values.data() : nullptr}, from.ready);
}

/// A copy of a message's bytes: there are several slots, or the message is stamped with its logical time.
std::span<const std::byte> Executor::message_bytes(std::uint32_t ticket) {
  const auto message = program_->message(ticket);
  const Place& first = *resolved(message.front()).left;
  std::vector<std::byte>& copy = staged_[ticket];
  std::uint32_t ready = 0;
  if (message.size() == 1) {
    copy.assign(first.held.head.begin(), first.held.head.end());
    ready = first.ready;
  } else {
    Packer packer(copy);
    for (const Step& step : message) packer.add(resolved(step).left->held.head, values_of(step));
    for (const Step& step : message) packer.add_size(resolved(step).left->held.head.size() + values_of(step).size());
    for (const Step& step : message) ready = std::max(ready, resolved(step).left->ready);
  }
  if (!tracing_) return copy;
  Header header = arithmetic::header_of(copy);
  header.round = schedule::serve(std::span(send_ports_), ready, 1u);
  arithmetic::set_header(copy, header);
  return copy;
}

/// The values of a slot that is sent if they stand apart, else nothing.
std::span<const std::byte> Executor::values_of(const Step& send) {
  const Partial from = resolved(send).left->held;
  return {from.values, values_bytes(send.left, from)};
}

Bytes Executor::values_bytes(Slot slot, const Partial& partial) const {
  return partial.values == nullptr ? 0 : apart_->values_bytes(slot.segment, partial.head, is_value(slot));
}

/// Bytes that begin with a head, and the values that belong to it; null: they stand behind it.
Partial Executor::taken_apart(Slot slot, std::span<const std::byte> whole, const std::byte* values) const {
  const auto head = whole.first(apart_->head_bytes(slot.segment, whole, is_value(slot)));
  if (apart_->values_bytes(slot.segment, head, is_value(slot)) == 0) return head;
  return {head, values != nullptr ? values : head.data() + head.size()};
}

/// Where the values of a message of one slot land.
std::span<std::byte> Executor::second_room(const Step& receive, const Resolved& at) {
  const auto memory = endpoint_->landing(at.number).subspan(head_room_);
  const Bytes value = payload_->value_capacity(receive.target.segment) - sizeof(Header);
  std::byte* const place = way_to_result(at);
  return place == nullptr ? memory : std::span(place, value);
}

void Executor::start(const Step& step, std::uint32_t ticket) {
  const Resolved& at = resolved(step);
  const bool has_two_parts = at.is_apart && at.is_alone;
  switch (step.kind) {
    case StepKind::send: {
      const auto bytes = at.is_alone && !tracing_ ? at.left->held.head : message_bytes(ticket);
      if (has_two_parts)
        endpoint_->put(ticket, step.peer, at.number, bytes, values_of(step));
      else
        endpoint_->put(ticket, step.peer, at.number, bytes);
      break;
    }
    case StepKind::receive:
      if (has_two_parts)
        endpoint_->release(ticket, step.peer, at.number, transport::SecondRoom{head_room_, second_room(step, at)});
      else
        endpoint_->release(ticket, step.peer, at.number);
      break;
    case StepKind::add_words: {
      const Place& from = *at.left;
      payload_->words()->to_words(step.left.segment, from.held.head, words_[ticket]);
      endpoint_->add_words(ticket, words_[ticket]);
      break;
    }
    default: break;
  }
}

void Executor::poll(schedule::Tickets& tickets) {
  const std::size_t count = endpoint_->poll(completions_);
  for (const transport::Completion& done : std::span(completions_).first(count)) {
    if (tracing_) {
      take_traced(done, tickets);
      continue;
    }
    const Resolved& at = resolved_[program_->index_of_communication(done.ticket)];
    if (done.failed || at.ending == Ending::other)
      take(done);
    else if (at.ending == Ending::lands_whole)
      land_whole(*at.target, done);
    tickets.complete(done.ticket);
  }
}

void Executor::take(const transport::Completion& done) {
  const Step& step = program_->communication(done.ticket);
  if (step.kind == StepKind::receive) return land(done);
  if (step.kind == StepKind::add_words) {
    Place& to = *resolved(step).target;
    const std::span<std::byte> out(to.data, to.capacity);
    const Bytes size = done.failed ? 0 : payload_->words()->from_words(step.target.segment, words_[done.ticket], out);
    written(to, size, 0);
  } else if (done.failed) {
    status_ = worse(status_, Status::transport_failed);
  }
}

/// Finds a message's slots where it landed.
void Executor::land(const transport::Completion& done) noexcept {
  const Resolved& last = resolved_[program_->index_of_communication(done.ticket)];
  if (last.is_alone) {
    if (last.is_apart) return land_apart(program_->communication(done.ticket), last, done);
    return done.failed ? written(*last.target, Bytes{0}, 0) : land_whole(*last.target, done);
  }
  const auto message = program_->message(done.ticket);
  Unpacker unpacker(done.failed ? std::span<std::byte>() : std::span(done.data, done.size), message.size());
  for (const Step& step : message) {
    const auto slot = unpacker.next();
    const Resolved& at = resolved(step);
    Place& to = *at.target;
    to.data = slot.data();
    if (at.is_apart)
      written(to, taken_apart(step.target, slot, nullptr), 0);
    else
      written(to, slot.size(), 0);
  }
}

/// The head says how many values there are; a message of another size counts as lost.
void Executor::land_apart(const Step& step, const Resolved& at, const transport::Completion& done) noexcept {
  Place& to = *at.target;
  if (done.failed) return written(to, Partial{}, 0);
  to.data = done.data;
  const std::span<std::byte> room = second_room(step, at);
  const Partial landed = taken_apart(step.target, {to.data, std::min(done.size, head_room_)}, room.data());
  const Bytes values = values_bytes(step.target, landed);
  const bool is_sound = landed.head.size() + values == done.size && values <= room.size();
  written(to, is_sound ? landed : Partial{}, 0);
}

/// While tracing, messages pass the receive port one per round and in the order of the steps, so that the count does
/// not depend on which came first; the checker has proved that order possible.
void Executor::take_traced(const transport::Completion& done, schedule::Tickets& tickets) {
  if (program_->communication(done.ticket).kind != StepKind::receive) {
    take(done);
    return tickets.complete(done.ticket);
  }
  arrivals_[done.ticket] = done;
  for (; next_receive_ < arrivals_.size(); ++next_receive_) {
    if (program_->communication(next_receive_).kind != StepKind::receive) continue;
    if (!arrivals_[next_receive_]) return;
    serve(*arrivals_[next_receive_]);
    tickets.complete(next_receive_);
  }
}

void Executor::serve(const transport::Completion& arrived) {
  land(arrived);
  const auto message = program_->message(arrived.ticket);
  const Place& first = *resolved(message.front()).target;
  const std::uint32_t round = arithmetic::header_of(first.held.head).round;
  const std::uint32_t ready = schedule::serve(std::span(receive_ports_), round, 1u) + 1;
  for (const Step& step : message) resolved(step).target->ready = ready;
  rounds_ = std::max(rounds_, ready);
}

void Executor::trace(bool on) {
  tracing_ = on;
  arrivals_.resize(program_->ticket_count());
}

}  // namespace steadfold::execution
