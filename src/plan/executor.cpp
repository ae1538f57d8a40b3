#include "plan/executor.hpp"

#include <algorithm>
#include <cstring>

namespace steadfold::plan {

using schedule::Step;
using schedule::StepKind;

namespace {

/// Returns the logical time at which both operands of a merge are ready.
std::uint32_t ready_for(const ResolvedStep& at) noexcept { return std::max(at.left->ready, at.right->ready); }

}  // namespace

Executor::Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport,
                   std::uint32_t tag, std::uint32_t ports, const SlotSizes& sizes)
    : payload_(&payload),
      endpoint_(transport.prepare(tag, sizes.landing, program.ticket_count(), transport::WordOrder::of_endpoints)),
      slots_(program, payload, sizes, *endpoint_),
      steps_(program, payload, slots_),
      messenger_(program, payload, steps_, slots_, *endpoint_, ports) {}

bool Executor::advance(schedule::Interpreter& interpreter, bool bounded) {
  bounded_ = bounded;
  spent_ = 0;
  return interpreter.advance(*this) && messenger_.may_leave();
}

bool Executor::compute(const Step& step) {
  const ResolvedStep& at = steps_.of(step);
  if (bounded_) {
    if (spent_ > 0 && spent_ + at.work > 1) return false;
    spent_ += at.work;
  }
  switch (step.kind) {
    case StepKind::lift: lift(step, at); break;
    case StepKind::merge: return merge(step, at);
    case StepKind::copy: copy(step, at); break;
    case StepKind::finish: return finish(step, at);
    default: break;
  }
  return true;
}

void Executor::lift(const Step& step, const ResolvedStep& at) {
  SlotMemory& to = *at.target;
  slots_.written(to, payload_->lift(step.target.segment, step.covers, {to.data, to.capacity}), 0);
}

void Executor::copy(const Step& step, const ResolvedStep& at) {
  const SlotMemory& from = *at.left;
  SlotMemory& to = *at.target;
  const Room out = room_for(step, at, to.data);
  const Bytes bytes = slots_.values_bytes(step.target, from.held);
  const std::span<const std::byte> head = from.held.head;
  const std::byte* const values = from.held.values;
  if (head.size() > out.head.size() || bytes > out.values.size()) return slots_.written(to, Bytes{0}, from.ready);
  // The bytes are empty if the message was lost.
  if (!head.empty()) std::memcpy(out.head.data(), head.data(), head.size());
  if (bytes > 0 && out.values.data() != values) std::memcpy(out.values.data(), values, bytes);
  slots_.written(to, Partial{out.head.first(head.size()), bytes > 0 ? out.values.data() : nullptr}, from.ready);
}

bool Executor::finish(const Step& step, const ResolvedStep& at) {
  if (&step == finished_) return true;
  SlotMemory& to = *at.target;
  const Room out = room_for(step, at, to.data);
  const Partial finished = payload_->finish_piece(step.target.segment, step.covers, at.left->held, out, pieces_of(at));
  if (pieces_.more) return false;
  slots_.written(to, finished, at.left->ready);
  return true;
}

bool Executor::merge(const Step& step, const ResolvedStep& at) {
  if (at.merge != nullptr && merge_as_prepared(step, at)) return true;
  std::byte* const due = at.way_to_result(slots_);
  if (due != nullptr && merge_to_result(step, at, due)) return true;
  std::byte*& room = room_of_merge(at);
  const Partial merged = payload_->merge_piece(step.target.segment, at.left->held, at.right->held,
                                               room_for(step, at, room), pieces_of(at));
  if (pieces_.more) return false;
  const std::uint32_t ready = ready_for(at);
  std::swap(at.target->data, room);
  slots_.written(*at.target, merged, ready);
  return true;
}

bool Executor::merge_to_result(const Step& step, const ResolvedStep& at, std::byte* values) {
  SlotMemory& to = *at.target;
  const auto merged = payload_->apart()->merge_to_result(step.target.segment, at.left->held, at.right->held,
                                                         {to.data, to.capacity}, values);
  if (merged) slots_.written(to, *merged, ready_for(at));
  return merged.has_value();
}

bool Executor::merge_as_prepared(const Step& step, const ResolvedStep& at) {
  if (at.finishes) return merge_and_finish(step, at);
  SlotMemory& to = *at.target;
  std::byte*& room = room_of_merge(at);
  const Bytes size = at.merge->merge(at.left->held, at.right->held, {room, to.capacity});
  if (size == 0) return false;
  std::swap(to.data, room);
  slots_.written(to, size, ready_for(at));
  return true;
}

bool Executor::merge_and_finish(const Step& step, const ResolvedStep& at) {
  const Step* const next = &step + 1;
  const ResolvedStep& at_next = steps_.of(*next);
  SlotMemory& to = *at_next.target;
  const Room out = room_for(*next, at_next, to.data);
  const Bytes size = at.merge->finish(at.left->held, at.right->held, out);
  if (size == 0) return false;
  finished_ = next;
  slots_.written(to, Partial(out.head.first(size), out.values.data()), ready_for(at));
  return true;
}

/// Returns the memory to which a finish or a copy writes its target, or a merge whose target is only a partial. The
/// head of the target begins at `data`.
Room Executor::room_for(const Step& step, const ResolvedStep& at, std::byte* data) const {
  std::byte* const due = step.kind == StepKind::merge ? nullptr : at.way_to_result(slots_);
  const Bytes capacity = at.target->capacity;
  const Bytes head_room = slots_.head_room();
  if (at.is_apart) return {{data, head_room}, {due != nullptr ? due : data + head_room, capacity - head_room}};
  if (due == nullptr) return {{data, capacity}};
  return {{data, sizeof(Header)}, {due, capacity - sizeof(Header)}};
}

}  // namespace steadfold::plan
