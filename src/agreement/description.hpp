// The description of a call: the facts that must be equal on all ranks, and properties that follow from them.
// Cost: describing a call takes some 20 ns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "agreement/call.hpp"

namespace steadfold::agreement {

/// A value of an enumeration or of a small type, stored in a whole word, so that there is no padding after it.
template <class T>
class WholeWord {
 public:
  constexpr WholeWord() = default;
  constexpr WholeWord(T value) noexcept {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_signed_v<T>)
      word_ = static_cast<std::make_unsigned_t<T>>(value);  // without sign extension
    else
      word_ = static_cast<std::uint64_t>(value);
  }
  constexpr operator T() const noexcept { return static_cast<T>(word_); }  // NOLINT(google-explicit-constructor)

 private:
  std::uint64_t word_ = 0;
};

inline constexpr std::size_t description_words = 20;

/// The facts that must be equal on all ranks, as 20 words that can be compared, hashed and sent.
struct Description {
  WholeWord<arithmetic::Operation> operation;
  WholeWord<Method> method;  // resolved: never automatic
  WholeWord<arithmetic::Type> type;
  WholeWord<arithmetic::Type> result_type;
  WholeWord<LayoutKind> layout;
  std::uint64_t grid = 0;  // a hash
  WholeWord<Rank> root;    // or all_ranks
  Bytes element_bytes = 0;
  Count columns = 0;
  Count element_count = 0;
  std::uint64_t operator_name = 0;  // a hash
  std::uint64_t schedule = 0;       // a hash
  WholeWord<bool> commutes;
  WholeWord<bool> may_fail;
  Count bin_count = 0;  // resolved; 0 for methods without bins
  WholeWord<Sweep> sweep;
  WholeWord<Collective> collective;
  std::uint64_t blocks = 0;  // a hash
  WholeWord<ArrayForm> array;
  Count groups = 0;

  bool has_mask() const noexcept {
    return operation == arithmetic::Operation::masked_sum || array == ArrayForm::masked_rows ||
           array == ArrayForm::masked_elements || array == ArrayForm::masked_and_dealt ||
           array == ArrayForm::masked_and_listed;
  }
  /// Whether a list gives the address of each column's elements.
  bool is_listed() const noexcept { return array == ArrayForm::listed || array == ArrayForm::masked_and_listed; }
  /// Whether labels distribute rows to the columns of groups.
  bool deals_rows() const noexcept { return array == ArrayForm::dealt || array == ArrayForm::masked_and_dealt; }
  Bytes row_bytes() const noexcept { return columns * element_bytes; }
  friend bool operator==(const Description&, const Description&) = default;
};
static_assert(sizeof(Description) == description_words * sizeof(std::uint64_t) &&
                  std::is_trivially_copyable_v<Description>,
              "a Description has no padding, because it is hashed and sent as bytes");

/// The shape of `columns` columns of the rows of a call.
arithmetic::RowShape row_shape(const Description& description, Count columns) noexcept;
/// The strides of a call's rows. All other code takes strides from here. `array` is the call's array, or null.
arithmetic::Strides strides_of(const Description& description, const Array* array) noexcept;
/// The addresses of a call's operands.
inline arithmetic::Operands operands_of(const Description& description, const Data& data) noexcept {
  if (description.operation == arithmetic::Operation::masked_sum)
    return {.first = data.first, .second = nullptr, .mask = data.second};
  return {.first = data.first, .second = data.second, .mask = data.mask, .label = data.label};
}

/// The method of the call, or the method that `automatic` selects for it.
Method resolved_method(const Call& call);
/// Resolves automatic fields. The call need not be valid.
Description describe(const Call& call) noexcept;
std::uint64_t digest_of(const Description& description) noexcept;
/// The digest of a bundle. For a single call it is the call's digest.
std::uint64_t digest_of(std::span<const Description> calls) noexcept;

/// The first field in which two calls differ, for people: "type f64 against f32". Does not compare schedules.
std::string difference(const Description& mine, const Description& other);

/// Whether no order of combining changes a bit, with any method.
bool order_free(const Description& description) noexcept;
/// The properties of the call's partials that schedules must know: the properties of its method, except that merging is
/// associative if no order can change a bit.
schedule::Merging merging_of(const Description& description) noexcept;
/// Whether the result depends on which row has which index.
bool needs_indices(const Description& description) noexcept;
/// Whether ranks must know each other's interval lists, either to compute the sizes of partials or to know the rows
/// before a rank.
bool needs_lists(const Description& description) noexcept;
/// Whether the agreed layout says which row has which index, or indices do not count. Otherwise the layout gives only
/// the number of rows of each rank.
bool has_layout_of_indices(const Description& description) noexcept;

/// The operator that combines: the built-in operator, or `user`.
const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept;

/// A root as text for people.
std::string text_of_root(Rank rank);
/// The call's name for people: "reduction" for reduce and allreduce, otherwise the name of the collective.
std::string_view asked_name(Collective collective) noexcept;
/// Whether this rank gets a result. `blocks` are the blocks of the call.
bool gets_result(const Description& description, std::span<const Count> blocks, Rank rank) noexcept;
/// The kind of operator in the terms of the registry.
schedule::OperatorKind operator_kind(const Description& description) noexcept;
/// The context from which a schedule makes rank 0's steps if columns are not cut into segments. `Segmentation::cut`
/// adds the rank and the segments. The arguments to which the context points must outlive it. The formulas of most rows
/// do not need the layout. Pass the machine's `nodes` only if there are several and the schedule must know them. In
/// this case `layout` must be the layout by place (see agreement.hpp).
schedule::Context context_of(const Description& description, const schedule::Spec& schedule, Rank rank_count,
                             const order::Layout* layout = nullptr, const order::Nodes* nodes = nullptr) noexcept;

}  // namespace steadfold::agreement
