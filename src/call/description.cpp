#include "call/description.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "arithmetic/converted.hpp"

namespace steadfold::call {

namespace {

using arithmetic::combined_by;
using arithmetic::is_double_or_float;
using arithmetic::is_rounded_once;
using arithmetic::Operation;
using arithmetic::Type;

/// Mixes a word into a hash in one round of multiplication, exclusive or and shift: every bit of the input affects
/// every bit of the result.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

/// Returns the type in which a call's elements are combined.
Type combined_type(Operation operation, Type type, Type result, bool rounds_once) {
  const auto conversion = arithmetic::conversion(operation, type, result, rounds_once);
  return conversion ? conversion->type : type;
}

std::uint64_t hash_of(const order::Grid& grid) {
  std::uint64_t hash = grid.axes.size();
  for (const order::GridAxis& axis : grid.axes)
    for (const Count number : {axis.extent, axis.ranks, axis.block, axis.first}) hash = mix(hash, number);
  return hash;
}

std::string_view layout_name(LayoutKind kind) {
  static constexpr std::array<std::string_view, 5> names = {"anywhere", "rank order", "intervals", "one row per rank",
                                                            "a grid"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view array_name(ArrayForm form) {
  static constexpr std::array<std::string_view, 8> names = {"rows without a mask",
                                                            "an array without a mask",
                                                            "an array with a mask of rows",
                                                            "an array with a mask of elements",
                                                            "an array with labels",
                                                            "an array with labels and a mask",
                                                            "a list of arrays without a mask",
                                                            "a list of arrays with a mask"};
  return names[static_cast<std::size_t>(form)];
}

/// Returns the hash of an initial value, without the unused bytes of a number. The hash is not 0.
std::uint64_t hash_of_initial(const Call& call) noexcept {
  std::array<std::byte, 2 * sizeof(long double)> number{};
  std::span<const std::byte> bytes = call.initial;
  if (call.operation != Operation::user && bytes.size() <= number.size()) {
    const auto& op = arithmetic::built_in(combined_by(call.operation), call.result_type);
    std::ranges::copy(bytes, number.begin());
    bytes = std::span(number).first(bytes.size());
    if (op.clear_unused != nullptr) op.clear_unused(number.data(), 1);
  }
  std::uint64_t hash = bytes.size();
  for (const std::byte each : bytes) hash = mix(hash, std::to_integer<std::uint64_t>(each));
  return std::max<std::uint64_t>(hash, 1);
}

std::string text_of(const MethodParameter& parameter, std::uint64_t value) {
  return value < parameter.names.size() ? std::string(parameter.names[value]) : std::to_string(value);
}

std::string text_of_count(std::uint64_t count) {
  return count == arithmetic::unknown_count ? "unknown" : std::to_string(count);
}

ArrayForm form_of(const Array& array) {
  const bool has_mask = array.mask_bytes > 0;
  if (array.is_listed) return has_mask ? ArrayForm::masked_and_listed : ArrayForm::listed;
  if (array.labels.groups > 0) return has_mask ? ArrayForm::masked_and_dealt : ArrayForm::dealt;
  if (!has_mask) return ArrayForm::whole;
  return array.mask_has_columns ? ArrayForm::masked_elements : ArrayForm::masked_rows;
}

}  // namespace

/// Returns the method that `automatic` stands for. For min, max and integers no order changes a bit, so `plain` keeps
/// every promise and moves the fewest bytes.
Method resolved_method(const Call& call) {
  if (call.method != Method::automatic) return call.method;
  const arithmetic::OperationProperties& properties = properties_of(call.operation);
  if (!call.initial.empty() && properties.is_served_by(Method::tree)) return Method::tree;
  const Method method = call.layout == LayoutKind::row_per_rank ? properties.of_vectors : properties.by_default;
  if (call.operation == Operation::user || is_rounded_once(call.operation)) return method;
  if (call.type == Type::bytes) return Method::tree;  // the call is invalid; `validate` reports the error
  const Type type = combined_type(call.operation, call.type, call.result_type, false);
  if (arithmetic::built_in(properties.combined_by, type).order_free) return Method::plain;
  const bool needs_tree = !is_double_or_float(type) && properties_of(method).rounds_once;
  return needs_tree && properties.is_served_by(Method::tree) ? Method::tree : method;
}

Description describe(const Call& call) noexcept {
  const bool is_user = call.operation == Operation::user;
  Description d;
  d.operation = call.operation;
  d.type = call.type;
  d.result_type = call.result_type;
  d.method = resolved_method(call);
  d.layout = call.layout;
  if (call.grid != nullptr && call.layout == LayoutKind::grid) d.grid = hash_of(*call.grid);
  d.root = call.root;
  d.element_bytes = is_user ? call.user.element_bytes : arithmetic::size_of(call.type);
  d.collective = call.collective;
  for (const Count block : call.blocks) d.blocks = mix(d.blocks, block + 1);
  d.columns = call.columns;
  d.element_count = call.element_count;
  d.operator_name = is_user ? hash_of(call.operator_name) : 0;
  d.schedule = hash_of(asked_schedule(call));
  d.commutes = !is_user || call.user.commutative;
  const bool has_labels = call.array != nullptr && call.array->labels.groups > 0;
  d.may_fail = (is_user && call.user_may_fail) || has_labels;  // a label may be invalid
  if (call.array != nullptr) {
    d.array = form_of(*call.array);
    d.groups = call.array->labels.groups;
  }
  if (!call.initial.empty()) d.initial = hash_of_initial(call);
  d.parameters = with_defaults(call.parameters, d.method);
  return d;
}

std::uint64_t digest_of(const Description& description) noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, description_words>>(description))
    hash = mix(hash, word);
  return hash;
}

std::uint64_t digest_of(std::span<const Description> calls) noexcept {
  std::uint64_t hash = digest_of(calls.front());
  // The order of the calls affects the digest.
  for (const Description& call : calls.subspan(1)) hash = mix(mix(hash, 0), digest_of(call));
  return hash;
}

std::string difference(const Description& mine, const Description& other) {
  const auto differ = [](std::string_view what, std::string_view a, std::string_view b) {
    return std::string(what) + " " + std::string(a) + " against " + std::string(b);
  };
  using arithmetic::name_of;
  if (mine.operation != other.operation) return differ("operator", name_of(mine.operation), name_of(other.operation));
  if (mine.type != other.type) return differ("type", name_of(mine.type), name_of(other.type));
  if (mine.result_type != other.result_type)
    return differ("result type", name_of(mine.result_type), name_of(other.result_type));
  if (mine.method != other.method) return differ("method", name_of(mine.method), name_of(other.method));
  if (mine.initial != other.initial) {
    const bool have_both = mine.initial != 0 && other.initial != 0;
    return have_both ? "different initial values" : "an initial value against none";
  }
  for (std::size_t i = 0; i < std::size(parameter_table); ++i)
    if (const auto a = words_of(mine.parameters)[i], b = words_of(other.parameters)[i]; a != b)
      return differ(parameter_table[i].name, text_of(parameter_table[i], a), text_of(parameter_table[i], b));
  if (mine.layout != other.layout) return differ("layout", layout_name(mine.layout), layout_name(other.layout));
  if (mine.grid != other.grid) return "grids with different axes";
  if (asked_name(mine.collective) != asked_name(other.collective))
    return differ("collective", asked_name(mine.collective), asked_name(other.collective));
  if (mine.root != other.root) return differ("root", text_of_root(mine.root), text_of_root(other.root));
  if (mine.groups != other.groups) return differ("groups", std::to_string(mine.groups), std::to_string(other.groups));
  if (mine.columns != other.columns)
    return differ("columns", std::to_string(mine.columns), std::to_string(other.columns));
  if (mine.blocks != other.blocks) return "different blocks of columns";
  if (mine.element_bytes != other.element_bytes)
    return differ("element bytes", std::to_string(mine.element_bytes), std::to_string(other.element_bytes));
  if (mine.element_count != other.element_count)
    return differ("element count", text_of_count(mine.element_count), text_of_count(other.element_count));
  if (mine.operator_name != other.operator_name) return "operators with different names or types";
  if (mine.array != other.array) return differ("elements given as", array_name(mine.array), array_name(other.array));
  if (mine.commutes != other.commutes) return "one operator is commutative, the other is not";
  if (mine.may_fail != other.may_fail) return "one operator may fail, the other cannot";
  return "no difference";
}

namespace {

/// The operator of methods `tree` and `plain`. The function must not be called for user operators.
const arithmetic::Operator& built_in_operator(const Description& description) noexcept {
  const Operation operation = description.operation;
  const Type combined = combined_type(operation, description.type, description.result_type, false);
  return arithmetic::built_in(combined_by(operation), combined);
}

}  // namespace

bool order_free(const Description& description) noexcept {
  return description.operation != Operation::user && built_in_operator(description).order_free;
}

schedule::Merging merging_of(const Description& description) noexcept {
  schedule::Merging merging = merging_of(properties_of(description.method), description.parameters.sweep);
  merging.is_associative = merging.is_associative || order_free(description);
  const bool has_own_rows = description.array == ArrayForm::masked_elements || description.deals_rows();
  const bool has_only_sums = !has_own_rows && !arithmetic::has_several_sums(description.operation);
  merging.offers_words = merging.offers_words && has_only_sums;
  return merging;
}

bool needs_indices(const Description& description) noexcept {
  return properties_of(description.method).needs_indices || arithmetic::names_rows(description.operation);
}

const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept {
  const Operation operation = description.operation;
  if (operation == Operation::user) return user;
  const Type type = combined_type(operation, description.type, description.result_type,
                                  properties_of(description.method).rounds_once);
  return arithmetic::built_in(combined_by(operation), type);
}

bool numbers_rows_of_groups(const Description& description) noexcept {
  return description.deals_rows() && properties_of(description.method).needs_indices;
}

bool has_first_sweep(const Description& description) noexcept {
  return description.parameters.sweep == Sweep::double_sweep || numbers_rows_of_groups(description);
}

bool needs_lists(const Description& description) noexcept {
  return properties_of(description.method).needs_indices || is_scan(description.collective);
}

bool has_layout_of_indices(const Description& description) noexcept {
  const bool is_listed = description.layout == LayoutKind::intervals || description.layout == LayoutKind::grid;
  return !is_listed || needs_lists(description) || !needs_indices(description);
}

arithmetic::RowShape row_shape(const Description& description, Count columns) noexcept {
  return {.element_bytes = description.element_bytes,
          .columns = columns,
          .has_factors = arithmetic::has_factors(description.operation),
          .has_mask = description.has_mask(),
          .has_named_rows = arithmetic::names_rows(description.operation)};
}

arithmetic::Strides strides_of(const Description& description, const Array* array) noexcept {
  const arithmetic::RowShape shape = row_shape(description, description.columns);
  if (array == nullptr) return arithmetic::Strides(shape);
  const std::span<const arithmetic::Axis> axes(array->axes);
  return {shape,
          axes.first(array->row_axes),
          axes.subspan(array->row_axes, array->column_axes),
          {.mask_bytes = array->mask_bytes,
           .is_aligned = array->is_aligned,
           .labels = array->labels,
           .are_listed = array->is_listed,
           .chunk_count = array->chunk_count,
           .has_bitmaps = array->has_bitmaps}};
}

bool gets_result(const Description& description, std::span<const Count> blocks, Rank rank) noexcept {
  if (description.columns == 0) return false;
  switch (description.collective) {
    case Collective::reduce: return description.root == rank;
    case Collective::reduce_scatter: return blocks[static_cast<std::size_t>(rank)] > 0;
    case Collective::exscan: return rank > 0;
    default: return true;
  }
}

std::string text_of_root(Rank rank) {
  if (rank == all_ranks) return "none";
  return std::to_string(rank == minus_one ? -1 : rank);
}

std::string_view asked_name(Collective collective) noexcept {
  const bool is_reduction = collective == Collective::reduce || collective == Collective::allreduce;
  return is_reduction ? "reduction" : name_of(collective);
}

schedule::Context context_of(const Description& description, const schedule::Spec& schedule, Rank rank_count,
                             const order::Layout* layout, const order::Nodes* nodes) noexcept {
  return {.rank_count = rank_count,
          .root = std::max<Rank>(description.root, 0),
          .collective = description.collective,
          .layout = layout,
          .spec = &schedule,
          .nodes = nodes_of(*schedule.algorithm, &schedule, nodes)};
}

schedule::OperatorKind operator_kind(const Description& description) noexcept {
  if (description.operation != Operation::user && built_in_operator(description).idempotent)
    return schedule::OperatorKind::idempotent;
  return description.commutes ? schedule::OperatorKind::commutative : schedule::OperatorKind::ordered;
}

}  // namespace steadfold::call
