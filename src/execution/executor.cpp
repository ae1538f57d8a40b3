#include "execution/executor.hpp"

#include <algorithm>
#include <cstring>

#include "schedule/form.hpp"
#include "schedule/ports.hpp"
#include "transport/packing.hpp"

namespace steadfold::execution {

using transport::Packer;
using transport::Unpacker;

using schedule::Slot;
using schedule::Step;
using schedule::StepKind;

void Executor::begin() noexcept {
  status_ = Status::ok;
  has_left_ = !asks_to_leave_;
  finished_ = nullptr;
  rounds_ = next_receive_ = 0;
  result_ = apart_ == nullptr ? nullptr : apart_->result();
  may_postpone_ = piecewise_ != nullptr && piecewise_->may_postpone();
  if (!tracing_) return;
  std::ranges::fill(send_ports_, 0);
  std::ranges::fill(receive_ports_, 0);
  std::ranges::fill(arrivals_, std::nullopt);
}

bool Executor::advance(schedule::Interpreter& interpreter, bool bounded) {
  bounded_ = bounded;
  spent_ = 0;
  if (!interpreter.advance(*this)) return false;
  if (!has_left_) has_left_ = endpoint_->may_leave();
  return has_left_;
}

bool Executor::compute(const Step& step) {
  const Resolved& at = resolved(step);
  if (bounded_) {
    if (spent_ > 0 && spent_ + at.work > 1) return false;
    spent_ += at.work;
  }
  switch (step.kind) {
    case StepKind::lift: compute_lift(step, at); break;
    case StepKind::merge: return compute_merge(step, at);
    case StepKind::copy: compute_copy(step, at); break;
    case StepKind::finish: return compute_finish(step, at);
    default: break;
  }
  return true;
}

void Executor::compute_lift(const Step& step, const Resolved& at) {
  SlotMemory& to = *at.target;
  written(to, payload_->lift(step.target.segment, step.covers, {to.data, to.capacity}), 0);
}

bool Executor::compute_finish(const Step& step, const Resolved& at) {
  if (&step == finished_) return true;
  SlotMemory& to = *at.target;
  const SlotMemory& from = *at.left;
  const Room out = room_for(step, at, to.data);
  const std::uint32_t segment = step.target.segment;
  if (!comes_in_pieces(at)) {
    const Partial finished = payload_->finish(segment, step.covers, from.held, out);
    if (is_nothing(finished)) return false;
    written(to, finished, from.ready);
    return true;
  }
  const Partial finished = piecewise_->finish_piece(segment, step.covers, from.held, out, pieces_of(step));
  if (!pieces_.more) written(to, finished, from.ready);
  return !pieces_.more;
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
  SlotMemory& to = *at.target;
  const std::uint32_t ready = std::max(at.left->ready, at.right->ready);
  const auto merged =
      apart_->merge_to_result(step.target.segment, at.left->held, at.right->held, {to.data, to.capacity}, values);
  if (merged) written(to, *merged, ready);
  return merged.has_value();
}

bool Executor::compute_merge(const Step& step, const Resolved& at) {
  if (at.merge != nullptr && merge_as_prepared(step, at)) return true;
  std::byte* const due = way_to_result(at);
  if (due != nullptr && merge_to_result(step, at, due)) return true;
  SlotMemory& to = *at.target;
  const std::uint32_t ready = std::max(at.left->ready, at.right->ready);
  std::byte*& room = room_of_merge(at);
  const Room out = room_for(step, at, room);
  const Partial& left = at.left->held;
  const Partial& right = at.right->held;
  const bool in_pieces = comes_in_pieces(at);
  const Partial merged = in_pieces ? piecewise_->merge_piece(step.target.segment, left, right, out, pieces_of(step))
                                   : payload_->merge(step.target.segment, left, right, out);
  if (in_pieces ? pieces_.more : is_nothing(merged)) return false;
  std::swap(to.data, room);
  written(to, merged, ready);
  return true;
}

bool Executor::merge_as_prepared(const Step& step, const Resolved& at) {
  if (at.finishes) return merge_and_finish(step, at);
  SlotMemory& to = *at.target;
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
  SlotMemory& to = *at_finish.target;
  const Room out = room_for(*finish, at_finish, to.data);
  const Bytes size = at.merge->finish(at.left->held, at.right->held, {room_of_merge(at), at.target->capacity}, out);
  if (size == 0) return false;
  finished_ = finish;
  written(to, Partial(out.head.first(size), out.values.data()), std::max(at.left->ready, at.right->ready));
  return true;
}

void Executor::compute_copy(const Step& step, const Resolved& at) {
  const SlotMemory& from = *at.left;
  SlotMemory& to = *at.target;
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
  const SlotMemory& first = *resolved(message.front()).left;
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
  return partial.values == nullptr ? 0
                                   : apart_->values_bytes(slot.segment, partial.head, !schedule::holds_partial(slot));
}

/// Bytes that begin with a head, and the values that belong to it; null: they stand behind it.
Partial Executor::taken_apart(Slot slot, std::span<const std::byte> whole, const std::byte* values) const {
  const auto head = whole.first(apart_->head_bytes(slot.segment, whole, !schedule::holds_partial(slot)));
  if (apart_->values_bytes(slot.segment, head, !schedule::holds_partial(slot)) == 0) return head;
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
      const SlotMemory& from = *at.left;
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
    transport::Ticket complete = done.ticket;
    if (done.failed || at.ending == CompletionAction::other)
      complete = take(done);
    else if (at.ending == CompletionAction::lands_whole)
      land_whole(*at.target, done);
    tickets.complete(complete);
  }
}

transport::Ticket Executor::take(const transport::Completion& done) {
  const Step& step = program_->communication(done.ticket);
  if (step.kind == StepKind::receive) {
    const transport::Ticket turn = step.any_order ? turn_of(done.ticket) : done.ticket;
    land(done, turn);
    return turn;
  }
  if (step.kind == StepKind::add_words) {
    SlotMemory& to = *resolved(step).target;
    const std::span<std::byte> out(to.data, to.capacity);
    const Bytes size = done.failed ? 0 : payload_->words()->from_words(step.target.segment, words_[done.ticket], out);
    written(to, size, 0);
  } else if (done.failed) {
    status_ = worse(status_, Status::transport_failed);
  }
  return done.ticket;
}

/// The next one of the wave. All messages of a wave come in one run, so the count is ready for the next.
transport::Ticket Executor::turn_of(transport::Ticket received) noexcept {
  const auto behind = std::ranges::upper_bound(waves_, received, {}, &WaveProgress::first);
  WaveProgress& wave = *(behind - 1);
  const transport::Ticket turn = wave.first + wave.come++;
  if (wave.come == wave.count) wave.come = 0;
  return turn;
}

/// Finds a message's slots where it landed.
void Executor::land(const transport::Completion& done, transport::Ticket turn) noexcept {
  const Resolved& last = resolved_[program_->index_of_communication(turn)];
  if (last.is_alone) {
    if (last.is_apart) return land_apart(*last.target, program_->communication(done.ticket), done);
    return done.failed ? written(*last.target, Bytes{0}, 0) : land_whole(*last.target, done);
  }
  const auto message = program_->message(turn);
  Unpacker unpacker(done.failed ? std::span<std::byte>() : std::span(done.data, done.size), message.size());
  for (const Step& step : message) {
    const auto slot = unpacker.next();
    const Resolved& at = resolved(step);
    SlotMemory& to = *at.target;
    to.data = slot.data();
    if (at.is_apart)
      written(to, taken_apart(step.target, slot, nullptr), 0);
    else
      written(to, slot.size(), 0);
  }
}

/// The head says how many values there are; a message of another size counts as lost.
void Executor::land_apart(SlotMemory& to, const Step& step, const transport::Completion& done) noexcept {
  if (done.failed) return written(to, Partial{}, 0);
  to.data = done.data;
  const std::span<std::byte> room = second_room(step, resolved(step));
  const Partial landed = taken_apart(step.target, {to.data, std::min(done.size, head_room_)}, room.data());
  const Bytes values = values_bytes(step.target, landed);
  const bool is_sound = landed.head.size() + values == done.size && values <= room.size();
  written(to, is_sound ? landed : Partial{}, 0);
}

/// While tracing, messages pass the receive port one per round and in the order of the steps, so that the count does
/// not depend on which came first; the checker has proved that order possible. So waves come in that order, too.
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
  land(arrived, arrived.ticket);
  const auto message = program_->message(arrived.ticket);
  const SlotMemory& first = *resolved(message.front()).target;
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
