#include "collective/machine.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "collective/pack.hpp"
#include "schedule/ports.hpp"

namespace steadfold::collective {

using schedule::Slot;
using schedule::SlotKind;
using schedule::Step;
using schedule::StepKind;

SlotMachine::SlotMachine(const schedule::Program& program, Content& content, transport::Transport& transport,
                         std::uint32_t tag, std::uint32_t ports)
    : program_(&program),
      content_(&content),
      rank_count_(transport.rank_count()),
      places_(program.slots().size()),
      send_ports_(ports),
      receive_ports_(ports) {
  std::vector<Bytes> landing(program.landing_count(), 0);
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const auto message = program.message(ticket);
    if (message.back().kind != StepKind::receive) continue;
    Bytes needed = 0;
    for (const Step& step : message) {
      const bool is_value = step.target.kind == SlotKind::landing_value;
      needed += bytes_in_message(is_value ? content.value_capacity(step.target.segment)
                                          : content.partial_capacity(step.covers, step.target.segment),
                                 message.size());
    }
    Bytes& capacity = landing[schedule::landing_number(message.back().target, program.segments())];
    capacity = std::max(capacity, needed);
  }
  endpoint_ = transport.bind(tag, landing, program.ticket_count());
  words_.resize(program.ticket_count());
  staged_.resize(program.ticket_count());
  arrivals_.resize(program.ticket_count());
  make_slots(content);
}

/// All partials of a segment are as large as the largest: a merge into one of its operands goes to scratch memory of
/// that size, and the two change places.
void SlotMachine::make_slots(const Content& content) {
  std::vector<Bytes> largest(program_->segments(), sizeof(Header));
  for (const Step& step : program_->steps()) {
    if (step.target.kind != SlotKind::partial) continue;
    Bytes& of_segment = largest[step.target.segment];
    of_segment = std::max(of_segment, content.working_capacity(step.covers, step.target.segment));
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
    if (schedule::is_landing(slot)) {
      const auto bytes = endpoint_->landing(schedule::landing_number(slot, program_->segments()));
      places_[i] = {.data = bytes.data(), .capacity = bytes.size()};
    } else {
      const bool is_value = slot.kind == SlotKind::value;
      const Bytes bytes = is_value ? content.value_capacity(slot.segment) : largest[slot.segment];
      places_[i] = {.data = make(bytes), .capacity = bytes};
      if (!is_value) places_[i].scratch = scratch(bytes);
    }
  }
  for (std::uint32_t ticket = 0; ticket < program_->ticket_count(); ++ticket) {
    const auto message = program_->message(ticket);
    const Step& last = message.back();
    if (last.kind == StepKind::add_words) words_[ticket].resize(content.word_count(last.left.segment));
    if (last.kind != StepKind::send || message.size() == 1) continue;
    Bytes most = 0;
    for (const Step& step : message) most += bytes_in_message(left(step).capacity, message.size());
    staged_[ticket].reserve(most);
  }
}

void SlotMachine::begin() noexcept {
  status_ = Status::ok;
  rounds_ = next_receive_ = 0;
  if (!tracing_) return;
  std::ranges::fill(send_ports_, 0);
  std::ranges::fill(receive_ports_, 0);
  std::ranges::fill(arrivals_, Arrival{});
}

void SlotMachine::written(Place& place, Bytes size, std::uint32_t ready) noexcept {
  place.size = size;
  place.ready = ready;
  rounds_ = std::max(rounds_, ready);
  status_ = worse(status_, arithmetic::header_of({place.data, size}).status);
}

void SlotMachine::compute(const Step& step) {
  Place& to = target(step);
  const std::uint32_t segment = step.target.segment;
  if (step.kind == StepKind::lift) {
    written(to, content_->lift(segment, step.covers, {to.data, to.capacity}), 0);
  } else if (step.kind == StepKind::merge) {
    compute_merge(step);
  } else if (step.kind == StepKind::copy) {
    const Place& from = left(step);
    const bool fits = from.size <= to.capacity;
    if (fits) std::memcpy(to.data, from.data, from.size);
    written(to, fits ? from.size : 0, from.ready);
  } else if (step.kind == StepKind::finish) {
    const Place& from = left(step);
    const Bytes size = content_->finish(segment, step.covers, {from.data, from.size}, {to.data, to.capacity});
    written(to, size, from.ready);
  }
}

void SlotMachine::compute_merge(const Step& step) {
  Place& to = target(step);
  const Place& a = left(step);
  const Place& b = right(step);
  const std::uint32_t ready = std::max(a.ready, b.ready);
  const bool in_place = &to == &a || &to == &b;
  std::byte*& scratch = scratch_[to.scratch];
  std::byte* const out = in_place ? scratch : to.data;
  const Bytes size = content_->merge(step.target.segment, {a.data, a.size}, {b.data, b.size}, {out, to.capacity});
  if (in_place) std::swap(to.data, scratch);
  written(to, size, ready);
}

/// A slot as it is; or a copy of several, or of one that is to be stamped with its logical time.
std::span<const std::byte> SlotMachine::message_bytes(std::uint32_t ticket) {
  const auto message = program_->message(ticket);
  const Place& first = left(message.front());
  if (message.size() == 1 && !tracing_) return {first.data, first.size};
  std::vector<std::byte>& copy = staged_[ticket];
  std::uint32_t ready = 0;
  if (message.size() == 1) {
    copy.assign(first.data, first.data + first.size);
    ready = first.ready;
  } else {
    Packer packer(copy);
    for (const Step& step : message) packer.add({left(step).data, left(step).size});
    for (const Step& step : message) packer.add_size(left(step).size);
    for (const Step& step : message) ready = std::max(ready, left(step).ready);
  }
  if (!tracing_) return copy;
  Header header = arithmetic::header_of(copy);
  header.round = schedule::serve(std::span(send_ports_), ready, 1u);
  arithmetic::set_header(copy, header);
  return copy;
}

void SlotMachine::start(const Step& step, std::uint32_t ticket) {
  const std::uint32_t number = schedule::landing_number(step.target, program_->segments());
  switch (step.kind) {
    case StepKind::send: endpoint_->put(ticket, step.peer, number, message_bytes(ticket)); break;
    case StepKind::receive: endpoint_->release(ticket, step.peer, number); break;
    case StepKind::add_words: {
      const Place& from = left(step);
      content_->to_words(step.left.segment, {from.data, from.size}, words_[ticket]);
      endpoint_->add_words(ticket, words_[ticket]);
      break;
    }
    default: break;
  }
}

bool SlotMachine::completed(const Step& step, std::uint32_t ticket) {
  Bytes arrived = 0;
  transport::Progress progress = transport::Progress::pending;
  if (!tracing_ || arrivals_[ticket].progress == transport::Progress::pending)
    progress = endpoint_->test(ticket, arrived);
  if (tracing_ && step.kind == StepKind::receive) return has_turn(ticket, progress, arrived);
  if (progress == transport::Progress::pending) return false;
  if (step.kind == StepKind::receive) {
    land(ticket, progress, arrived);
  } else if (step.kind == StepKind::add_words) {
    Place& to = target(step);
    const bool failed = progress == transport::Progress::failed;
    const Bytes size = failed ? 0 : content_->from_words(step.target.segment, words_[ticket], {to.data, to.capacity});
    written(to, size, 0);
  } else if (progress == transport::Progress::failed) {
    status_ = worse(status_, Status::transport_failed);
  }
  return true;
}

/// A message's slots are where they came to lie in its landing memory.
void SlotMachine::land(std::uint32_t ticket, transport::Progress progress, Bytes arrived) noexcept {
  const auto message = program_->message(ticket);
  const std::uint32_t number = schedule::landing_number(message.back().target, program_->segments());
  const auto bytes = endpoint_->landing(number).first(progress == transport::Progress::failed ? 0 : arrived);
  Unpacker unpacker(bytes, message.size());
  for (const Step& step : message) {
    const auto slot = unpacker.next();
    target(step).data = slot.data();
    written(target(step), slot.size(), 0);
  }
}

/// While tracing, messages pass the receive port one a round and in the order of the steps, so that the count does not
/// depend on which came first; the checker has proved that order possible.
bool SlotMachine::has_turn(std::uint32_t ticket, transport::Progress progress, Bytes arrived) {
  if (progress != transport::Progress::pending) arrivals_[ticket] = {progress, arrived};
  while (next_receive_ < ticket && program_->communication(next_receive_).kind != StepKind::receive) ++next_receive_;
  if (next_receive_ != ticket || arrivals_[ticket].progress == transport::Progress::pending) return false;
  ++next_receive_;
  land(ticket, arrivals_[ticket].progress, arrivals_[ticket].bytes);
  const auto message = program_->message(ticket);
  const Place& first = target(message.front());
  const std::uint32_t round = arithmetic::header_of({first.data, first.size}).round;
  const std::uint32_t ready = schedule::serve(std::span(receive_ports_), round, 1u) + 1;
  for (const Step& step : message) target(step).ready = ready;
  rounds_ = std::max(rounds_, ready);
  return true;
}

std::span<const std::byte> SlotMachine::bytes_of(Slot slot) const noexcept {
  const auto slots = program_->slots();
  const auto found = std::find(slots.begin(), slots.end(), slot);
  if (found == slots.end()) return {};
  const Place& place = places_[static_cast<std::size_t>(found - slots.begin())];
  return {place.data, place.size};
}

void SlotMachine::trace(bool on) { tracing_ = on; }

}  // namespace steadfold::collective
