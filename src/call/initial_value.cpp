#include "call/initial_value.hpp"

#include <string>

#include "call/description.hpp"

namespace steadfold::call {

using arithmetic::Operation;
using arithmetic::Operator;

namespace {

/// Returns the number of the operator's elements in `columns` results. A complex result may have two elements.
Count count_of(const Operator& op, Bytes element_bytes, Count columns) noexcept {
  return columns * element_bytes / op.element_bytes;
}

/// Whether a result is a value of the operator with which the operation combines.
bool makes_values_of_operator(Operation operation) noexcept {
  return operation == Operation::user || arithmetic::is_dot(operation) ||
         arithmetic::combined_by(operation) == operation;
}

}  // namespace

void require_initial(const Call& call) {
  if (call.initial.empty()) return;
  const auto refuse = [](const std::string& text) { throw Failure(Status::unsupported, text); };
  const MethodProperties& method = properties_of(resolved_method(call));
  if (!method.needs_indices)
    refuse("an initial value with method " + std::string(method.merging.method) +
           " (only tree combines it with the result), name method tree, or add the value to the elements");
  if (!makes_values_of_operator(call.operation))
    refuse("an initial value of " + std::string(arithmetic::name_of(call.operation)) +
           " (its result is not a value of an operator), combine the value with the result yourself");
  if (call.array != nullptr && call.array->labels.groups > 0)
    refuse("an initial value with groups (one value for all groups), combine the value with the results yourself");
}

InitialValue::InitialValue(std::span<const std::byte> element, Count columns)
    : element_bytes_(element.size()), values_(columns * element.size()), made_(values_.size()) {
  for (Bytes at = 0; at < values_.size(); at += element_bytes_)
    std::memcpy(values_.data() + at, element.data(), element_bytes_);
}

std::unique_ptr<InitialValue> InitialValue::of(const Call& call) {
  if (call.initial.empty()) return nullptr;
  return std::make_unique<InitialValue>(call.initial, std::max<Count>(call.columns, 1));
}

Status InitialValue::combine(const Operator& op, std::byte* results, Count columns) {
  const Count count = count_of(op, element_bytes_, columns);
  std::byte* const out = op.writes_right ? results : made_.data();
  if (arithmetic::combine(op, values_.data(), results, out, count) != 0) return Status::operator_failed;
  if (op.canonicalise != nullptr) op.canonicalise(out, count);
  if (out != results) std::memcpy(results, out, columns * element_bytes_);
  return Status::ok;
}

void InitialValue::write(const Operator& op, std::byte* results, Count columns) const {
  std::memcpy(results, values_.data(), columns * element_bytes_);
  if (op.canonicalise != nullptr) op.canonicalise(results, count_of(op, element_bytes_, columns));
}

bool InitialValue::is_kept_without_rows(const Operator& op) const {
  if (op.of_nothing == nullptr) return true;
  std::vector<std::byte> result(element_bytes_);
  std::vector<std::byte> kept(element_bytes_);
  op.of_nothing(result.data(), count_of(op, element_bytes_, 1));
  write(op, kept.data(), 1);
  InitialValue(element(), 1).combine(op, result.data(), 1);
  return result == kept;
}

}  // namespace steadfold::call
