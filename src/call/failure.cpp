#include "call/failure.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

namespace steadfold::call {

namespace {

using arithmetic::Labels;
using arithmetic::Operand;

/// Returns the label as text, if it names no group and is not the label for "no group".
std::optional<std::string> unknown_label(const std::byte* label_at, const Labels& how) {
  const auto look = [&]<class Label>(Label label) -> std::optional<std::string> {
    std::memcpy(&label, label_at, sizeof label);
    if (std::cmp_less(label, 0) || std::cmp_less(label, how.groups)) return std::nullopt;
    return std::to_string(label);
  };
  switch (how.bytes) {
    case 1: return look(std::uint8_t{});
    case 2: return look(std::uint16_t{});
    case 4: return how.is_signed ? look(std::int32_t{}) : look(std::uint32_t{});
    default: return how.is_signed ? look(std::int64_t{}) : look(std::uint64_t{});
  }
}

}  // namespace

std::string in_bundle(std::size_t call, std::size_t calls) {
  return calls == 1 ? "" : "call " + std::to_string(call) + ": ";
}

std::string text_of(Status status) {
  switch (status) {
    case Status::ok: return "no failure";
    case Status::empty:
      return "nothing to reduce (no rank brought an element and the operator has no neutral element), check the number "
             "of elements first";
    case Status::gap:
      return "elements are missing (the ranks' rows do not cover 0..N-1), check the layout and the element count";
    case Status::overlap:
      return "elements were given twice (the ranks' rows overlap, or there are more than N rows), check the layout and "
             "the element count";
    case Status::operator_failed: return "the user operator failed (on another rank), see that rank's message";
    case Status::mismatch:
      return "the ranks made different calls (method, operator, type, width, layout or schedule differ), make the same "
             "call on every rank";
    case Status::invalid_argument: return "an argument is invalid (on another rank), see that rank's message";
    case Status::unsupported: return "the combination is not supported (on another rank), see that rank's message";
    case Status::transport_failed:
      return "a message was lost or did not fit (the transport reported an error), see the messages of the MPI library";
    case Status::internal:
      return "the reduction failed inside the library (out of memory, or an error in the library), report this error";
  }
  return "unknown status";
}

const char* text_of(const std::exception& wrong) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&wrong) != nullptr)
    return "out of memory (an allocation failed), reduce fewer columns at a time";
  return wrong.what();
}

Failure caught_failure() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure;
  } catch (const std::exception& wrong) {
    return {Status::internal, text_of(wrong)};
  }
}

std::optional<Failure> caught_failure(Status& status) noexcept {
  status = Status::internal;
  try {
    Failure failure = caught_failure();
    status = failure.status();
    return failure;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

Failure operator_failure() {
  return {Status::operator_failed,
          "the user operator failed (on this rank it returned a value other than 0, or threw an exception), see the "
          "operator's own message"};
}

Failure label_failure(const arithmetic::Strides& strides, const arithmetic::Operands& data, order::Count rows) {
  const Labels& how = strides.labels();
  const auto is_selected = [&](const arithmetic::Operands& element) {
    if (strides.has_bitmap()) {
      bool is_valid = true;
      strides.for_each_chunk(element, 1, [&](const auto& row, order::Count, order::Count, const auto& of_chunk) {
        const order::Count bit = of_chunk.bit_of(row.row);
        is_valid = row.mask == nullptr || (std::to_integer<unsigned>(row.mask[bit / 8]) >> bit % 8 & 1) != 0;
      });
      return is_valid;
    }
    const std::byte* const mask = strides.address(element, Operand::mask);
    return mask == nullptr ||
           std::ranges::any_of(std::span(mask, strides.mask_bytes()), [](std::byte b) { return b != std::byte{0}; });
  };
  std::string which = "a label";
  for (order::Count i = 0; i < rows * how.columns && which == "a label"; ++i) {
    const arithmetic::Operands element = data.at(i / how.columns, i % how.columns);
    const auto label = unknown_label(strides.address(element, Operand::label), how);
    if (!label || !is_selected(element)) continue;
    which = "label " + *label + " of element " + std::to_string(i / how.columns) + ", counted from 0,";
    if (how.columns > 1) which += " of kept index " + std::to_string(i % how.columns);
  }
  return {Status::invalid_argument,
          which + " names no group (the last group is " + std::to_string(how.groups - 1) + "), correct the label"};
}

}  // namespace steadfold::call
