// One reduction as every rank asks for it: what is the same on all ranks, and what this rank brings.
// Cost: describing a call is some 20 ns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "agreement/failure.hpp"
#include "agreement/methods.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/rows/strides.hpp"
#include "order/grid.hpp"
#include "order/interval.hpp"
#include "order/layout.hpp"
#include "schedule/registry.hpp"

namespace steadfold::agreement {

using order::Bytes;
using order::Count;
using order::Index;
using order::Rank;

/// The numbers are those of sf_layout in steadfold.h.
enum class LayoutKind : std::uint32_t { anywhere, rank_order, intervals, row_per_rank, grid };

using arithmetic::Sweep;
using schedule::Collective;

/// The root where there is none.
inline constexpr Rank all_ranks = -1;
/// What a root of -1 comes as from callers to whom -1 is no rank, rather than all_ranks
/// (include/steadfold/operators.hpp).
inline constexpr Rank minus_one = std::numeric_limits<Rank>::min();
/// The reduction whose result goes to this root, or to all ranks.
constexpr Collective reduction_to(Rank root) noexcept {
  return root == all_ranks ? Collective::allreduce : Collective::reduce;
}

inline constexpr std::uint32_t default_bin_count = 3;
inline constexpr unsigned most_threads = 4096;  // that a rank may ask for

/// How the operands of a call stand where its rows do not touch: as axes in C order, of the rows and then of the
/// columns.
struct Array {
  std::array<arithmetic::Axis, arithmetic::most_axes + 1> axes{};
  std::size_t row_axes = 1;
  std::size_t column_axes = 1;
  Bytes mask_bytes = 0;  // of an element of the mask; 0: there is none
  bool mask_has_columns = false;
  bool is_aligned = true;  // the first element, and so all of them unless strides say otherwise
  bool is_listed = false;  // the data are a list of addresses, one for every column
  arithmetic::Labels labels = {};
  arithmetic::Operands data = {};  // where the operands begin, unless a call's Data say otherwise
};

/// What ranks know of each other's arrays.
enum class ArrayForm : std::uint32_t {
  none,
  whole,
  masked_rows,
  masked_elements,
  dealt,
  masked_and_dealt,
  listed,
  masked_and_listed
};

struct Call {
  arithmetic::Operation operation = arithmetic::Operation::sum;
  Method method = Method::automatic;
  arithmetic::Type type = arithmetic::Type::f64;
  arithmetic::Type result_type = arithmetic::Type::f64;
  Count columns = 1;
  Rank root = all_ranks;  // Collective::reduce has one
  Collective collective = Collective::allreduce;
  std::span<const Count> blocks = {};  // Collective::reduce_scatter: the columns of each rank
  std::string_view schedule = {};      // empty or auto: the library chooses
  Count element_count = arithmetic::unknown_count;

  arithmetic::Operator user;  // Operation::user
  std::string_view operator_name;
  bool user_may_fail = true;

  LayoutKind layout = LayoutKind::anywhere;
  Count rows = 0;  // of this rank
  std::span<const order::Interval> intervals;
  const order::Grid* grid = nullptr;  // LayoutKind::grid

  std::uint32_t bin_count = 0;  // binned: 2 to 4, or 0 for default_bin_count
  Sweep sweep = Sweep::single_sweep;

  Guarantees require =
      guarantee::none;  // the call is refused where it cannot keep them; ranks need not ask for the same

  unsigned threads = 1;  // that lift this rank's rows; ranks need not have as many

  const Array* array = nullptr;  // null: rows touch
};

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

/// Where one call's rows are and where its result goes.
struct Data {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;  // the other factors of a dot product, or the mask of a masked sum
  std::byte* result = nullptr;
  const std::byte* mask = nullptr;   // of an array
  const std::byte* label = nullptr;  // likewise
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
/// The data where they are given, else those of an array.
inline Data located(const Data& data, const arithmetic::Operands& array) noexcept {
  return {.first = data.first != nullptr ? data.first : array.first,
          .second = data.second != nullptr ? data.second : array.second,
          .result = data.result,
          .mask = data.mask != nullptr ? data.mask : array.mask,
          .label = data.label != nullptr ? data.label : array.label};
}
/// Where the operands of a call begin.
inline arithmetic::Operands operands_of(const Description& description, const Data& data) noexcept {
  if (description.operation == arithmetic::Operation::masked_sum)
    return {.first = data.first, .second = nullptr, .mask = data.second};
  return {.first = data.first, .second = data.second, .mask = data.mask, .label = data.label};
}

/// The schedule that was asked for by name; empty where the choice is the library's.
constexpr std::string_view asked_schedule(const Call& call) noexcept {
  return call.schedule == "auto" ? std::string_view() : call.schedule;
}

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

/// The most rows of `row_bytes` bytes that a call may have: more than any memory holds.
constexpr Count most_rows(Bytes row_bytes) noexcept {
  return static_cast<Count>(std::numeric_limits<std::int64_t>::max()) / std::max<Bytes>(row_bytes, 1);
}

/// Throws Failure if no memory holds the rows of the call.
void require_size(const Call& call);
/// Throws Failure if no rank can make this call: an argument is unusable (`rank_count` bounds the root).
void validate(const Call& call, Rank rank_count);

/// The first pointer that a call needs and does not have.
enum class Missing : std::uint8_t { nothing, first, second, mask, label, result };
/// `rows` are this rank's; `is_due`: it gets a result.
Missing missing(const Description& description, Count rows, const Data& data, bool is_due) noexcept;
/// The failure that says what is missing. Not for `nothing`.
Failure failure_of(Missing missing, arithmetic::Operation operation, Count rows);

/// The operator that combines: the built-in one, or `user`.
const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept;

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
