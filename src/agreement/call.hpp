// One reduction as a rank asks for it, and the data that it brings.
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

/// Where one call's rows are and where its result goes.
struct Data {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;  // the other factors of a dot product, or the mask of a masked sum
  std::byte* result = nullptr;
  const std::byte* mask = nullptr;   // of an array
  const std::byte* label = nullptr;  // likewise
};

/// The data where they are given, else those of an array.
inline Data located(const Data& data, const arithmetic::Operands& array) noexcept {
  return {.first = data.first != nullptr ? data.first : array.first,
          .second = data.second != nullptr ? data.second : array.second,
          .result = data.result,
          .mask = data.mask != nullptr ? data.mask : array.mask,
          .label = data.label != nullptr ? data.label : array.label};
}
/// The schedule that was asked for by name; empty where the choice is the library's.
constexpr std::string_view asked_schedule(const Call& call) noexcept {
  return call.schedule == "auto" ? std::string_view() : call.schedule;
}

}  // namespace steadfold::agreement
