// The description of a call: the facts that must be equal on all ranks, and properties that follow from them.
// Cost: describing a call takes some 20 ns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "call/call.hpp"
#include "call/whole_word.hpp"

namespace steadfold::call {

inline constexpr std::size_t description_words = 19 + std::size(parameter_table);

/// The facts about a call that must be equal on all ranks, as words that can be compared, hashed and sent.
struct Description {
  WholeWord<arithmetic::Operation> operation;
  WholeWord<Method> method;  // the method of the call; never `automatic`
  WholeWord<arithmetic::Type> type;
  WholeWord<arithmetic::Type> result_type;
  WholeWord<LayoutKind> layout;
  std::uint64_t grid = 0;  // hash of the grid
  WholeWord<Rank> root;    // the rank that gets the result, or all_ranks
  Bytes element_bytes = 0;
  Count columns = 0;
  Count element_count = 0;
  std::uint64_t operator_name = 0;  // hash of the name of the user's operator
  std::uint64_t schedule = 0;       // hash of the name of the schedule
  WholeWord<bool> commutes;
  WholeWord<bool> may_fail;
  std::uint64_t initial = 0;    // hash of the initial value; 0: none
  MethodParameters parameters;  // of the call's method, with the defaults filled in
  WholeWord<Collective> collective;
  std::uint64_t blocks = 0;  // hash of the blocks
  WholeWord<ArrayForm> array;
  Count groups = 0;

  bool has_mask() const noexcept {
    return operation == arithmetic::Operation::masked_sum || array == ArrayForm::masked_rows ||
           array == ArrayForm::masked_elements || array == ArrayForm::masked_and_dealt ||
           array == ArrayForm::masked_and_listed;
  }
  /// Whether a list gives the address of each column's elements.
  bool is_listed() const noexcept { return array == ArrayForm::listed || array == ArrayForm::masked_and_listed; }
  /// Whether labels assign the rows to groups, which have separate columns.
  bool deals_rows() const noexcept { return array == ArrayForm::dealt || array == ArrayForm::masked_and_dealt; }
  Bytes row_bytes() const noexcept { return columns * element_bytes; }
  friend bool operator==(const Description&, const Description&) = default;
};
static_assert(sizeof(Description) == description_words * sizeof(std::uint64_t) &&
                  std::is_trivially_copyable_v<Description>,
              "a Description has no padding, because it is hashed and sent as bytes");

/// Returns the shape of rows with `columns` columns of this call's elements.
arithmetic::RowShape row_shape(const Description& description, Count columns) noexcept;
/// Returns the strides of a call's rows. All other code gets strides from this function. `array` is the call's array,
/// or null.
arithmetic::Strides strides_of(const Description& description, const Array* array) noexcept;
/// Returns the addresses of a call's operands.
inline arithmetic::Operands operands_of(const Description& description, const Data& data) noexcept {
  if (description.operation == arithmetic::Operation::masked_sum)
    return {.first = data.first, .second = nullptr, .mask = data.second};
  return {.first = data.first, .second = data.second, .mask = data.mask, .label = data.label};
}

/// Returns the method of the call, or the method that `automatic` selects for it.
Method resolved_method(const Call& call);
/// Describes a call, with automatic fields filled in. The call need not be valid.
Description describe(const Call& call) noexcept;
std::uint64_t digest_of(const Description& description) noexcept;
/// Returns the digest of a bundle. For a single call this is the call's digest.
std::uint64_t digest_of(std::span<const Description> calls) noexcept;

/// Describes the first field in which two calls differ, in a text for people: "type f64 against f32". Does not compare
/// schedules.
std::string difference(const Description& mine, const Description& other);

/// Whether the order of combining changes no bit, whatever the method.
bool order_free(const Description& description) noexcept;
/// Returns the properties of the call's partials that schedules must know: the properties of its method, except that
/// merging is associative if no order can change a bit.
schedule::Merging merging_of(const Description& description) noexcept;
/// Whether the result depends on which row has which index.
bool needs_indices(const Description& description) noexcept;
/// Whether the rows of every group are numbered, because the bits of the method depend on indices: the first row of a
/// group has number 0.
bool numbers_rows_of_groups(const Description& description) noexcept;
/// Whether the rows of all ranks are read twice. Ranks whose rows are one interval together read their rows once.
bool has_first_sweep(const Description& description) noexcept;
/// Whether ranks must know each other's interval lists, to compute the sizes of partials or to know how many rows come
/// before a rank.
bool needs_lists(const Description& description) noexcept;
/// Whether the agreed layout says which row has which index, or the indices do not affect the bits. Otherwise the
/// layout has only the number of rows of each rank.
bool has_layout_of_indices(const Description& description) noexcept;

/// Returns the operator that combines elements: the built-in operator, or `user`.
const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept;

/// Writes a root as text for people.
std::string text_of_root(Rank rank);
/// Returns the call's name for people: "reduction" for reduce and allreduce, otherwise the name of the collective.
std::string_view asked_name(Collective collective) noexcept;
/// Whether this rank gets a result. `blocks` are the blocks of the call.
bool gets_result(const Description& description, std::span<const Count> blocks, Rank rank) noexcept;
/// Returns the kind of operator as the registry of schedules names it.
schedule::OperatorKind operator_kind(const Description& description) noexcept;
/// Returns the context from which a schedule makes rank 0's steps if columns are not cut into segments.
/// `Segmentation::cut` adds the rank and the segments. The arguments to which the context points must outlive it. The
/// formulas of most algorithms do not need the layout. Pass the machine's `nodes` only if there are several and the
/// schedule must know them. In this case `layout` must be the layout by place (see plan/agreement.hpp).
schedule::Context context_of(const Description& description, const schedule::Spec& schedule, Rank rank_count,
                             const order::Layout* layout = nullptr, const order::Nodes* nodes = nullptr) noexcept;

}  // namespace steadfold::call
