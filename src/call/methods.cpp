#include "call/methods.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "arithmetic/binned/binned.hpp"
#include "arithmetic/converted.hpp"
#include "arithmetic/exact/dealt_forms.hpp"
#include "arithmetic/exact/exact.hpp"
#include "arithmetic/exact/statistics.hpp"
#include "arithmetic/exact/sums_of_pairs.hpp"
#include "arithmetic/location/location.hpp"
#include "arithmetic/plain.hpp"
#include "arithmetic/tree/lanes.hpp"
#include "arithmetic/tree/results.hpp"
#include "arithmetic/tree/tree.hpp"
#include "call/description.hpp"

namespace steadfold::call {
namespace {

using arithmetic::combined_by;
using arithmetic::is_double_or_float;
using arithmetic::is_rounded_once;
using arithmetic::Operation;
using arithmetic::Operator;
using arithmetic::Sweep;
using arithmetic::Type;
using Kind = std::unique_ptr<arithmetic::PartialKind>;

[[noreturn]] void unsupported(const Description& description, const std::string& why) {
  const Operation operation = description.operation;
  const std::string of_type =
      operation == Operation::user ? " operator" : " of " + std::string(arithmetic::name_of(description.type));
  throw Failure(Status::unsupported, std::string(arithmetic::name_of(operation)) + of_type + " with method " +
                                         std::string(name_of(description.method)) + " is not supported (" + why);
}

/// Returns the suggestion for a call that its method cannot make: the methods that round once or, if none of them can
/// make the call, another suggestion.
std::string take_rounding_once(const Description& description, const char* otherwise) {
  const std::string methods = rounding_once(description);
  return methods.empty() ? otherwise : "use method " + methods;
}

/// Checks a call for methods that round once. These methods make only sums of doubles and floats.
void require_sum(const Description& description) {
  const Operation operation = description.operation;
  if (operation == Operation::user)
    unsupported(description, "this method adds numbers, in no fixed order), use method tree");
  if (combined_by(operation) != Operation::sum)
    unsupported(description, "this method computes only sums, mean, dot and norm2), let the library choose the method");
  if (!is_double_or_float(description.type) || !is_double_or_float(description.result_type))
    unsupported(
        description,
        is_rounded_once(operation)
            ? "this method takes doubles, floats and types whose values fit in a float), convert the elements"
            : "this method takes doubles, floats and types whose values fit in a float), use method plain or tree");
}

/// Checks a call for methods that round in every step. These methods need an operator on the terms. `is_served` says
/// whether the method computes the operation although others round it once.
void require_operator(const Description& description, const Operator& op, bool is_served) {
  if (is_rounded_once(description.operation) && !is_served)
    unsupported(description, "the operation rounds once, at the end, but method " +
                                 std::string(name_of(description.method)) + " rounds in every step), " +
                                 take_rounding_once(description, "let the library choose the method"));
  if (description.result_type != description.type) {
    const std::string others = rounding_once(description);
    unsupported(description, "result type " + std::string(arithmetic::name_of(description.result_type)) +
                                 " does not hold every element), use " + others + (others.empty() ? "" : ", or ") +
                                 "another result type");
  }
  if (op.apply == nullptr)
    unsupported(description, "this type has no such operator), see the types in docs/guarantees.md");
  if (is_rounded_once(description.operation) && !is_double_or_float(description.type))
    unsupported(description,
                "this method computes it of doubles, floats, types whose values fit in a float, and complex "
                "numbers), convert the elements");
  if (arithmetic::is_location(description.operation) && description.type > Type::u64)
    unsupported(description, "only numbers of 32 or 64 bits have locations), convert the elements");
}

Kind make_tree(const Description& description, const Operator& op, Count columns) {
  if (description.has_mask())
    unsupported(description, "the tree has no place for rows that the mask leaves out), " +
                                 take_rounding_once(description, "give only the rows that the mask selects"));
  const Operation operation = description.operation;
  require_operator(description, op, properties_of(operation).is_served_by(Method::tree));
  if (arithmetic::is_location(operation))
    unsupported(description, "no order of combining changes its bits), let the library choose the method");
  Kind tree = description.parameters.lanes > 1
                  ? arithmetic::make_tree_with_lanes(op, columns, description.parameters.lanes)
                  : arithmetic::make_tree(op, columns);
  return arithmetic::make_tree_result(std::move(tree), operation, description.type, columns);
}

Kind make_exact(const Description& description, const Operator& /*op*/, Count columns) {
  require_sum(description);
  const Operation operation = description.operation;
  const Type type = description.type;
  const Type result = description.result_type;
  if (description.deals_rows() && (operation == Operation::mean || arithmetic::has_several_sums(operation)))
    return arithmetic::make_form_of_dealt(operation, type, result, columns);
  if (operation == Operation::statistics) return arithmetic::make_statistics(type, result);
  if (arithmetic::has_several_sums(operation)) return arithmetic::make_sums_of_pairs(operation, type, result);
  const Operation made = arithmetic::is_dot(operation)        ? Operation::dot
                         : operation == Operation::masked_sum ? Operation::sum
                                                              : operation;
  if (!description.deals_rows()) return arithmetic::make_exact(made, type, result, columns);
  return arithmetic::make_exact_of_dealt(made, type, result, columns);
}

Kind make_binned(const Description& description, const Operator& /*op*/, Count columns) {
  require_sum(description);
  if (arithmetic::has_several_sums(description.operation))
    unsupported(description, "its result is made from exact sums), use method exact");
  const Operation operation = description.operation;
  const auto bin_count = static_cast<int>(description.parameters.bins);
  const Operation made = arithmetic::is_dot(operation) ? Operation::dot : operation;
  if (description.deals_rows())
    return arithmetic::make_binned_of_dealt(made, description.type, description.result_type, bin_count, columns);
  return arithmetic::make_binned(made, description.type, description.result_type, bin_count,
                                 description.parameters.sweep, columns);
}

Kind make_plain(const Description& description, const Operator& op, Count columns) {
  require_operator(description, op, properties_of(description.operation).is_served_by(Method::plain));
  if (!arithmetic::is_location(description.operation)) return arithmetic::make_plain(op, columns);
  return arithmetic::make_location(description.operation, description.type, columns);
}

constexpr std::array<MethodProperties, 4> all_methods = {{
    {.method = Method::tree,
     .merging = {.method = "tree"},
     .bits_version = "tree-1",
     .keeps = guarantee::all,
     .needs_indices = true,
     .rows_worth_a_call = 16,
     .make = make_tree},
    {.method = Method::exact,
     .merging = {.method = "exact", .offers_words = true},
     .bits_version = "exact-1",
     .keeps = guarantee::all,
     .rounds_once = true,
     .has_absolute_sums = true,
     .may_keep_rows = true,
     .make = make_exact},
    {.method = Method::binned,
     .merging = {.method = "binned", .offers_words = true},
     .bits_version = "binned-1",
     .keeps = guarantee::all,
     .rounds_once = true,
     .has_sweep = true,
     .may_keep_rows = true,
     .make = make_binned},
    {.method = Method::plain,
     .merging = {.method = "plain", .is_associative = false, .may_overlap = true},
     .bits_version = "",
     .keeps = guarantee::target,
     .make = make_plain},
}};

}  // namespace

std::span<const MethodProperties> methods() noexcept { return all_methods; }

const MethodProperties& properties_of(Method method) noexcept {
  const auto* const last = std::prev(all_methods.end());  // the last entry, for numbers that are not methods
  return *std::find_if(all_methods.begin(), last, [=](const MethodProperties& each) { return each.method == method; });
}

const MethodProperties* find_method(std::string_view name) noexcept {
  const auto* const properties =
      std::ranges::find(all_methods, name, [](const MethodProperties& each) { return each.merging.method; });
  return properties == all_methods.end() ? nullptr : properties;
}

schedule::Merging merging_of(const MethodProperties& properties, Sweep sweep) noexcept {
  schedule::Merging merging = properties.merging;
  if (properties.has_sweep && sweep == Sweep::single_sweep) merging.offers_words = false;
  return merging;
}

std::string rounding_once(const Description& description) {
  const auto conversion =
      arithmetic::conversion(description.operation, description.type, description.result_type, true);
  Type type = description.type;
  if (conversion) type = conversion->type;
  if (!is_double_or_float(type)) return "";
  std::string listed;
  for (const MethodProperties& each : all_methods)
    if (each.rounds_once && arithmetic::properties_of(description.operation).is_served_by(each.method))
      listed.append(listed.empty() ? "" : " or ").append(each.merging.method);
  return listed;
}

std::string_view name_of(Method method) noexcept {
  return method == Method::automatic ? "automatic" : properties_of(method).merging.method;
}

}  // namespace steadfold::call
