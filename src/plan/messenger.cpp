#include "plan/messenger.hpp"

#include <algorithm>

#include "transport/packing.hpp"

namespace steadfold::plan {

using schedule::Step;
using schedule::StepKind;

namespace {

constexpr std::size_t most_completions = 64;  // largest number of completed communications that one poll returns

}  // namespace

Messenger::Messenger(const schedule::Program& program, Payload& payload, const ResolvedSteps& steps, Slots& slots,
                     transport::Endpoint& endpoint, std::uint32_t ports)
    : program_(&program),
      payload_(&payload),
      steps_(&steps),
      slots_(&slots),
      endpoint_(&endpoint),
      asks_to_leave_(endpoint.asks_to_leave()),
      rounds_(program, ports),
      words_(program.ticket_count()),
      copies_(program.ticket_count()),
      completions_(std::min<std::size_t>(program.ticket_count(), most_completions)) {
  for (const schedule::Program::Wave& wave : program.waves())
    waves_.push_back({.first = wave.first, .count = wave.count});
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const auto message = program.message(ticket);
    const Step& last = message.back();
    if (last.kind == StepKind::add_words) words_[ticket].resize(payload.words()->word_count(last.left.segment));
    if (last.kind != StepKind::send || message.size() == 1) continue;
    Bytes most = 0;
    for (const Step& step : message) most += transport::bytes_in_message(steps.of(step).left->capacity, message.size());
    copies_[ticket].reserve(most);
  }
}

void Messenger::start(const Step& step, std::uint32_t ticket) {
  const ResolvedStep& at = steps_->of(step);
  const bool has_two_parts = at.is_apart && at.is_alone;
  switch (step.kind) {
    case StepKind::send: {
      const auto bytes = at.is_alone && !rounds_.is_on() ? at.left->held.head : packed(ticket);
      if (has_two_parts)
        endpoint_->put(ticket, step.peer, at.number, bytes, values_of(step));
      else
        endpoint_->put(ticket, step.peer, at.number, bytes);
      break;
    }
    case StepKind::receive:
      if (has_two_parts)
        endpoint_->release(ticket, step.peer, at.number,
                           transport::SecondRoom{slots_->head_room(), second_room(step, at)});
      else
        endpoint_->release(ticket, step.peer, at.number);
      break;
    case StepKind::add_words:
      payload_->words()->to_words(step.left.segment, at.left->held.head, words_[ticket]);
      endpoint_->add_words(ticket, words_[ticket]);
      break;
    default: break;
  }
}

/// Returns a copy of a message's bytes, made because it has several slots or is stamped with its logical time.
std::span<const std::byte> Messenger::packed(std::uint32_t ticket) {
  const auto message = program_->message(ticket);
  std::vector<std::byte>& copy = copies_[ticket];
  std::uint32_t ready = 0;
  for (const Step& step : message) ready = std::max(ready, steps_->of(step).left->ready);
  if (message.size() == 1) {
    const auto head = steps_->of(message.front()).left->held.head;
    copy.assign(head.begin(), head.end());
  } else {
    transport::Packer packer(copy);
    for (const Step& step : message) packer.add(steps_->of(step).left->held.head, values_of(step));
    for (const Step& step : message) packer.add_size(steps_->of(step).left->held.head.size() + values_of(step).size());
  }
  if (rounds_.is_on()) rounds_.stamp(copy, ready);
  return copy;
}

/// Returns the values of a slot that is sent, if the values are stored apart from the head; otherwise nothing.
std::span<const std::byte> Messenger::values_of(const Step& send) const {
  const Partial& from = steps_->of(send).left->held;
  return {from.values, slots_->values_bytes(send.left, from)};
}

/// Returns the memory that receives the values of a message of one slot.
std::span<std::byte> Messenger::second_room(const Step& receive, const ResolvedStep& at) {
  const auto memory = endpoint_->landing(at.number).subspan(slots_->head_room());
  const Bytes value = payload_->value_capacity(receive.target.segment) - sizeof(Header);
  std::byte* const due = at.way_to_result(*slots_);
  return due == nullptr ? memory : std::span(due, value);
}

void Messenger::poll(schedule::Tickets& tickets) {
  const std::size_t count = endpoint_->poll(completions_);
  for (const transport::Completion& done : std::span(completions_).first(count)) {
    if (rounds_.is_on()) {
      take_traced(done, tickets);
      continue;
    }
    const ResolvedStep& at = steps_->of_communication(done.ticket);
    transport::Ticket complete = done.ticket;
    if (done.failed || at.ending == CompletionAction::other)
      complete = take(done);
    else if (at.ending == CompletionAction::lands_whole)
      land_whole(*at.target, done);
    tickets.complete(complete);
  }
}

transport::Ticket Messenger::take(const transport::Completion& done) {
  const Step& step = program_->communication(done.ticket);
  if (step.kind == StepKind::receive) {
    const transport::Ticket turn = step.any_order ? turn_of(done.ticket) : done.ticket;
    land(done, turn);
    return turn;
  }
  if (step.kind == StepKind::add_words) {
    SlotMemory& to = *steps_->of(step).target;
    const std::span<std::byte> out(to.data, to.capacity);
    const Bytes size = done.failed ? 0 : payload_->words()->from_words(step.target.segment, words_[done.ticket], out);
    slots_->written(to, size, 0);
  } else if (done.failed) {
    slots_->note(Status::transport_failed);
  }
  return done.ticket;
}

/// Returns the next ticket of the wave to which the received message belongs. All messages of a wave arrive in one run,
/// so after the run the count is ready for the next run.
transport::Ticket Messenger::turn_of(transport::Ticket received) noexcept {
  const auto behind = std::ranges::upper_bound(waves_, received, {}, &WaveProgress::first);
  WaveProgress& wave = *(behind - 1);
  const transport::Ticket turn = wave.first + wave.come++;
  if (wave.come == wave.count) wave.come = 0;
  return turn;
}

/// Makes a message's slots point at the bytes that arrived.
void Messenger::land(const transport::Completion& done, transport::Ticket turn) noexcept {
  const ResolvedStep& last = steps_->of_communication(turn);
  if (last.is_alone) {
    if (last.is_apart) return land_apart(*last.target, program_->communication(done.ticket), done);
    return done.failed ? slots_->written(*last.target, Bytes{0}, 0) : land_whole(*last.target, done);
  }
  const auto message = program_->message(turn);
  transport::Unpacker unpacker(done.failed ? std::span<std::byte>() : std::span(done.data, done.size), message.size());
  for (const Step& step : message) {
    const auto bytes = unpacker.next();
    const ResolvedStep& at = steps_->of(step);
    at.target->data = bytes.data();
    if (at.is_apart)
      slots_->written(*at.target, slots_->taken_apart(step.target, bytes, nullptr), 0);
    else
      slots_->written(*at.target, bytes.size(), 0);
  }
}

/// Takes a message whose head and values are stored apart. The head gives the number of values; a message of another
/// size is treated as lost.
void Messenger::land_apart(SlotMemory& slot, const Step& step, const transport::Completion& done) noexcept {
  if (done.failed) return slots_->written(slot, Partial{}, 0);
  slot.data = done.data;
  const std::span<std::byte> room = second_room(step, steps_->of(step));
  const Partial landed =
      slots_->taken_apart(step.target, {slot.data, std::min(done.size, slots_->head_room())}, room.data());
  const Bytes values = slots_->values_bytes(step.target, landed);
  const bool is_sound = landed.head.size() + values == done.size && values <= room.size();
  slots_->written(slot, is_sound ? landed : Partial{}, 0);
}

/// Takes a completed message while rounds are counted. While rounds are counted, all messages, also messages of waves,
/// are taken in the order of the steps.
void Messenger::take_traced(const transport::Completion& done, schedule::Tickets& tickets) {
  if (program_->communication(done.ticket).kind != StepKind::receive) {
    take(done);
    return tickets.complete(done.ticket);
  }
  rounds_.arrive(done);
  while (const transport::Completion* const arrived = rounds_.next()) {
    land(*arrived, arrived->ticket);
    const auto message = program_->message(arrived->ticket);
    const std::uint32_t ready = rounds_.receive(steps_->of(message.front()).target->held.head);
    for (const Step& step : message) slots_->delay(*steps_->of(step).target, ready);
    tickets.complete(arrived->ticket);
  }
}

}  // namespace steadfold::plan
