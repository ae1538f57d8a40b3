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

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "arithmetic/rows/strides.hpp"
#include "call/failure.hpp"
#include "call/methods.hpp"
#include "call/parameters.hpp"
#include "order/grid.hpp"
#include "order/interval.hpp"
#include "order/layout.hpp"
#include "schedule/registry.hpp"

namespace steadfold::call {

using order::Bytes;
using order::Count;
using order::Index;
using order::Rank;

/// How the indices of a call's rows are given. The numbers are equal to the numbers of sf_layout in steadfold.h.
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

inline constexpr unsigned most_threads = 4096;  // largest number of threads for which a rank may ask

/// Describes where a call's operands are if its rows are not contiguous. The axes are in C order: first the axes of
/// rows, then the axes of columns.
struct Array {
  std::array<arithmetic::Axis, arithmetic::most_axes + 1> axes{};
  std::size_t row_axes = 1;
  std::size_t column_axes = 1;
  Bytes mask_bytes = 0;  // bytes of an element of the mask; 0 if there is no mask
  bool mask_has_columns = false;
  bool is_aligned = true;    // whether the first element is aligned; the strides say whether the others are
  bool is_listed = false;    // whether the data are a list of addresses, one for each column
  Count chunk_count = 0;     // if not 0, the data are a list of chunks
  bool has_bitmaps = false;  // whether the mask is in the bitmaps of the chunks
  arithmetic::Labels labels = {};
  arithmetic::Operands data = {};  // the addresses of the operands, used if a call's Data have none
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
  Rank root = all_ranks;  // the rank that gets the result; only for Collective::reduce
  Collective collective = Collective::allreduce;
  std::span<const Count> blocks = {};  // number of columns that each rank gets; only for Collective::reduce_scatter
  std::string_view schedule = {};      // name of the schedule; empty or auto: the library chooses
  Count element_count = arithmetic::unknown_count;

  arithmetic::Operator user;  // the operator of the user, for Operation::user
  std::string_view operator_name;
  bool user_may_fail = true;

  LayoutKind layout = LayoutKind::anywhere;
  Count rows = 0;  // number of rows on this rank
  std::span<const order::Interval> intervals;
  const order::Grid* grid = nullptr;  // rule of distribution, for LayoutKind::grid

  std::span<const std::byte> initial = {};  // one element of the result, the initial value; empty: none

  MethodParameters parameters;

  Guarantees require = guarantee::none;  // guarantees without which the call is refused; they may differ between ranks

  // Number of threads that read this rank's rows and build their partial; it may differ between ranks.
  unsigned threads = 1;

  const Array* array = nullptr;  // null: the rows are contiguous
};

/// The addresses of one call's rows and of its result.
struct Data {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;  // the second factors of a dot product, or the mask of a masked sum
  std::byte* result = nullptr;
  const std::byte* mask = nullptr;   // the mask of an array
  const std::byte* label = nullptr;  // the labels of an array
};

/// Returns the given data, or the data of the array if none are given.
inline Data located(const Data& data, const arithmetic::Operands& array) noexcept {
  return {.first = data.first != nullptr ? data.first : array.first,
          .second = data.second != nullptr ? data.second : array.second,
          .result = data.result,
          .mask = data.mask != nullptr ? data.mask : array.mask,
          .label = data.label != nullptr ? data.label : array.label};
}
/// Returns the schedule that the caller named, or an empty text if the library chooses.
constexpr std::string_view asked_schedule(const Call& call) noexcept {
  return call.schedule == "auto" ? std::string_view() : call.schedule;
}

}  // namespace steadfold::call
