// One reduction as a rank asks for it, and its data.
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

/// The numbers are equal to the numbers of sf_layout in steadfold.h.
enum class LayoutKind : std::uint32_t { anywhere, rank_order, intervals, row_per_rank, grid };

using arithmetic::Sweep;
using schedule::Collective;

/// The root of a call whose result goes to all ranks.
inline constexpr Rank all_ranks = -1;
/// Replaces a caller's root -1 if -1 is not a valid rank for this caller. Otherwise -1 would mean all_ranks
/// (include/steadfold/operators.hpp).
inline constexpr Rank minus_one = std::numeric_limits<Rank>::min();
/// The collective for this root: reduce, or allreduce if the root is all_ranks.
constexpr Collective reduction_to(Rank root) noexcept {
  return root == all_ranks ? Collective::allreduce : Collective::reduce;
}

inline constexpr std::uint32_t default_bin_count = 3;
inline constexpr unsigned most_threads = 4096;  // the most that a rank may ask for

/// Describes where a call's operands are if its rows are not contiguous. The axes are in C order: first the axes of
/// rows, then the axes of columns.
struct Array {
  std::array<arithmetic::Axis, arithmetic::most_axes + 1> axes{};
  std::size_t row_axes = 1;
  std::size_t column_axes = 1;
  Bytes mask_bytes = 0;  // bytes of an element of the mask; 0: no mask
  bool mask_has_columns = false;
  bool is_aligned = true;  // the first element is aligned, and so are all others unless strides say otherwise
  bool is_listed = false;  // the data are a list of addresses, one for each column
  arithmetic::Labels labels = {};
  arithmetic::Operands data = {};  // the beginning of the operands, unless a call's Data say otherwise
};

/// The facts about an array that must be equal on all ranks.
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
  Rank root = all_ranks;  // only for Collective::reduce
  Collective collective = Collective::allreduce;
  std::span<const Count> blocks = {};  // Collective::reduce_scatter: the number of columns of each rank
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

  Guarantees require = guarantee::none;  // refused if the call cannot keep them; may differ between ranks

  unsigned threads = 1;  // threads that lift this rank's rows; may differ between ranks

  const Array* array = nullptr;  // null: rows are contiguous
};

/// The addresses of one call's rows and of its result.
struct Data {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;  // the other factors of a dot product, or the mask of a masked sum
  std::byte* result = nullptr;
  const std::byte* mask = nullptr;   // only for an array
  const std::byte* label = nullptr;  // only for an array
};

/// The data if they are given, otherwise the data of the array.
inline Data located(const Data& data, const arithmetic::Operands& array) noexcept {
  return {.first = data.first != nullptr ? data.first : array.first,
          .second = data.second != nullptr ? data.second : array.second,
          .result = data.result,
          .mask = data.mask != nullptr ? data.mask : array.mask,
          .label = data.label != nullptr ? data.label : array.label};
}
/// The schedule that the caller named, or empty if the library chooses.
constexpr std::string_view asked_schedule(const Call& call) noexcept {
  return call.schedule == "auto" ? std::string_view() : call.schedule;
}

}  // namespace steadfold::agreement
