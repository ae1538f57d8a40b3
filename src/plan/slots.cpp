#include "plan/slots.hpp"

#include <map>

#include "schedule/form.hpp"
#include "transport/packing.hpp"

namespace steadfold::plan {

using schedule::Program;
using schedule::Slot;
using schedule::SlotKind;
using schedule::Step;
using schedule::StepKind;

namespace {

constexpr Bytes cache_line = 64;

/// The parts that the merges of a wave combine in one segment.
struct Brought {
  std::uint32_t segment;
  std::vector<Covers> parts;
};

/// Returns, for each wave and segment, the parts that its merges combine. The partial of a wave may have gaps until the
/// last message has arrived, so it may become larger than the partial of all parts.
std::vector<Brought> brought_together(const Program& program) {
  std::vector<Brought> all;
  if (program.waves().empty()) return all;
  constexpr std::size_t none = ~std::size_t{0};
  // For each slot, by its index: the rows that its contents cover.
  std::vector<const Covers*> covers(program.slots().size(), nullptr);
  std::vector<std::size_t> open(program.segments(), none);  // by segment: index into `all` as long as a wave continues
  for (const Step& step : program.steps()) {
    const Program::SlotIndices& indices = program.slot_indices(step);
    std::size_t& brought = open[step.target.segment];
    if (step.kind != StepKind::merge || !step.any_order) {
      brought = none;
    } else {
      if (brought == none) {
        brought = all.size();
        all.push_back({.segment = step.target.segment, .parts = {*covers[indices.left]}});
      }
      all[brought].parts.push_back(*covers[indices.right]);
    }
    if (indices.target != Program::no_slot) covers[indices.target] = &step.covers;
  }
  return all;
}

Bytes largest_head(const Program& program, const std::vector<Brought>& waves, const ApartPayload* apart) {
  Bytes most = sizeof(Header);
  if (apart == nullptr) return most;
  for (const Step& step : program.steps())
    if (step.covers.is_part() || step.covers.ranks.count > 0)
      most = std::max(most, apart->head_capacity(step.covers, step.target.segment));
  for (const Brought& brought : waves) {
    Bytes heads = 0;
    for (const Covers& part : brought.parts) heads += apart->head_capacity(part, brought.segment);
    most = std::max(most, heads);
  }
  return most;
}

}  // namespace

SlotSizes slot_sizes(const Program& program, Payload& payload) {
  const ApartPayload* const apart = payload.apart();
  const std::vector<Brought> waves = brought_together(program);
  const Bytes head_room = (largest_head(program, waves, apart) + cache_line - 1) / cache_line * cache_line;
  SlotSizes sizes{.head_room = head_room,
                  .landing = std::vector<Bytes>(program.landing_count(), 0),
                  .partials = std::vector<Bytes>(program.segments(), sizeof(Header))};
  const auto is_apart = [&](std::uint32_t segment) { return apart != nullptr && apart->is_apart(segment); };
  for (std::uint32_t ticket = 0; ticket < program.ticket_count(); ++ticket) {
    const auto message = program.message(ticket);
    if (message.back().kind != StepKind::receive) continue;
    Bytes needed = 0;
    for (const Step& step : message) {
      const Slot slot = step.target;
      const Bytes whole = schedule::holds_partial(slot) ? payload.partial_capacity(step.covers, slot.segment)
                                                        : payload.value_capacity(slot.segment);
      const bool has_two_parts = is_apart(slot.segment) && message.size() == 1;
      needed += has_two_parts ? head_room + whole : transport::bytes_in_message(whole, message.size());
    }
    Bytes& capacity = sizes.landing[schedule::landing_number(message.back().target, program.segments())];
    capacity = std::max(capacity, needed);
  }
  const auto make_room = [&](std::uint32_t segment, Bytes whole) {
    sizes.partials[segment] = std::max(sizes.partials[segment], is_apart(segment) ? head_room + whole : whole);
  };
  for (const Step& step : program.steps())
    if (step.target.kind == SlotKind::partial)
      make_room(step.target.segment, payload.working_capacity(step.covers, step.target.segment));
  for (const Brought& brought : waves)
    make_room(brought.segment, payload.working_capacity_of_any(brought.parts, brought.segment));
  return sizes;
}

/// Lays out the slots. All partials of a segment get the size of the largest partial, and so does their scratch memory.
Slots::Slots(const Program& program, Payload& payload, const SlotSizes& sizes, transport::Endpoint& endpoint)
    : apart_(payload.apart()),
      slots_(program.slots().size()),
      value_indices_(program.segments(), Program::no_slot),
      head_room_(sizes.head_room) {
  const auto make = [this](Bytes bytes) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return memory_.back().get();
  };
  std::map<Bytes, std::uint32_t> scratch_of;  // number of the scratch memory, by its size
  const auto scratch = [&](Bytes bytes) {
    const auto [found, is_new] = scratch_of.try_emplace(bytes, static_cast<std::uint32_t>(scratch_.size()));
    if (is_new) scratch_.push_back(make(bytes));
    return found->second;
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot slot = program.slots()[i];
    if (slot == schedule::value(0, slot.segment)) value_indices_[slot.segment] = static_cast<std::uint32_t>(i);
    if (schedule::is_landing(slot)) {
      const auto bytes = endpoint.landing(schedule::landing_number(slot, program.segments()));
      slots_[i] = {.data = bytes.data(), .capacity = bytes.size()};
    } else if (slot.kind == SlotKind::partial) {
      const Bytes bytes = sizes.partials[slot.segment];
      slots_[i] = {.data = make(bytes), .capacity = bytes};
      slots_[i].scratch = scratch(bytes);
    } else {
      const Bytes bytes = payload.value_capacity(slot.segment) + (is_apart(slot) ? head_room_ : 0);
      slots_[i] = {.data = make(bytes), .capacity = bytes};
    }
  }
}

Bytes Slots::values_bytes(Slot slot, const Partial& partial) const {
  return partial.values == nullptr ? 0
                                   : apart_->values_bytes(slot.segment, partial.head, !schedule::holds_partial(slot));
}

Partial Slots::taken_apart(Slot slot, std::span<const std::byte> whole, const std::byte* values) const {
  const auto head = whole.first(apart_->head_bytes(slot.segment, whole, !schedule::holds_partial(slot)));
  if (apart_->values_bytes(slot.segment, head, !schedule::holds_partial(slot)) == 0) return head;
  return {head, values != nullptr ? values : head.data() + head.size()};
}

}  // namespace steadfold::plan
