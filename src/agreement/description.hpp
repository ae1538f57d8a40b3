// What must be equal on all ranks of a call, and what follows from it.
// Cost: describing a call is some 20 ns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "agreement/call.hpp"

namespace steadfold::agreement {

/// A value of an enumeration or of fewer bits that takes a whole word, so that nothing is between it and the next.
template <class T>
class WholeWord {
 public:
  constexpr WholeWord() = default;
  constexpr WholeWord(T value) noexcept {  // NOLINT(google-explicit-constructor)
    if constexpr (std::is_signed_v<T>)
      word_ = static_cast<std::make_unsigned_t<T>>(value);  // without the sign's copies
    else
      word_ = static_cast<std::uint64_t>(value);
  }
  constexpr operator T() const noexcept { return static_cast<T>(word_); }  // NOLINT(google-explicit-constructor)

 private:
  std::uint64_t word_ = 0;
};

inline constexpr std::size_t description_words = 20;

/// What must be equal on all ranks, as 20 words to be compared, hashed and sent.
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
  /// Whether the elements of each column stand where a list says.
  bool is_listed() const noexcept { return array == ArrayForm::listed || array == ArrayForm::masked_and_listed; }
  /// Whether rows are dealt to the columns of groups by labels.
  bool deals_rows() const noexcept { return array == ArrayForm::dealt || array == ArrayForm::masked_and_dealt; }
  Bytes row_bytes() const noexcept { return columns * element_bytes; }
  friend bool operator==(const Description&, const Description&) = default;
};
static_assert(sizeof(Description) == description_words * sizeof(std::uint64_t) &&
                  std::is_trivially_copyable_v<Description>,
              "no padding: it is hashed and sent as bytes");

/// What `columns` of the elements of a call's rows are.
arithmetic::RowShape row_shape(const Description& description, Count columns) noexcept;
/// How the rows of calls stand. No other place gives a call its strides. `array` is the call's, or null.
arithmetic::Strides strides_of(const Description& description, const Array* array) noexcept;
/// Where the operands of a call begin.
inline arithmetic::Operands operands_of(const Description& description, const Data& data) noexcept {
  if (description.operation == arithmetic::Operation::masked_sum)
    return {.first = data.first, .second = nullptr, .mask = data.second};
  return {.first = data.first, .second = data.second, .mask = data.mask, .label = data.label};
}

/// The method that serves the call: its own, or what stands for `automatic`.
Method resolved_method(const Call& call);
/// Resolves what is automatic. The call need not be valid.
Description describe(const Call& call) noexcept;
std::uint64_t digest_of(const Description& description) noexcept;
/// The digest of a bundle; of a single call it is the call's own.
std::uint64_t digest_of(std::span<const Description> calls) noexcept;

/// The first field in which two calls differ, for people: "type f64 against f32". Schedules are not looked at.
std::string difference(const Description& mine, const Description& other);

/// Whether no order of combining changes a bit, whatever the method.
bool order_free(const Description& description) noexcept;
/// What schedules must know of the call's partials: what its method says, but any is associative if no order can change
/// a bit.
schedule::Merging merging_of(const Description& description) noexcept;
/// Whether it matters which row has which index.
bool needs_indices(const Description& description) noexcept;
/// Whether ranks must know each other's interval lists: the sizes of their partials follow from them, or what stands
/// before a rank does.
bool needs_lists(const Description& description) noexcept;
/// Whether the layout that ranks agree on says which row has which index, or it does not matter. Else it says only how
/// many rows each rank has.
bool has_layout_of_indices(const Description& description) noexcept;

/// The operator that combines: the built-in one, or `user`.
const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept;

/// A root, for people.
std::string text_of_root(Rank rank);
/// What a call asks for, for people: "reduction" whoever gets its result, else the collective's name.
std::string_view asked_name(Collective collective) noexcept;
/// Whether this rank gets a result; `blocks` are those of the call.
bool gets_result(const Description& description, std::span<const Count> blocks, Rank rank) noexcept;
/// The kind of operator as the registry names it.
schedule::OperatorKind operator_kind(const Description& description) noexcept;
/// What the schedule makes rank 0's steps of where columns are not cut; `Segmentation::cut` has those of other ranks
/// and of segments. What is pointed to must outlive it; the layout may be left out for the formulas of most rows.
/// `nodes`: those of the machine, if there are several and the schedule is to know; then the layout is that by place.
schedule::Context context_of(const Description& description, const schedule::Spec& schedule, Rank rank_count,
                             const order::Layout* layout = nullptr, const order::Nodes* nodes = nullptr) noexcept;

}  // namespace steadfold::agreement
