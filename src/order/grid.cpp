#include "order/grid.hpp"

namespace steadfold::order {
namespace {

/// Writes one number per axis, as in "2 x 3". Leaves out the leading axes that have one index on one rank.
template <class Number>
std::string product_text(const std::array<GridAxis, 3>& axes, Number number) {
  const GridAxis none{};
  std::size_t axis = 0;
  while (axis + 1 < axes.size() && axes[axis] == none) ++axis;
  std::string text = text_as_given(number(axes[axis]));
  for (++axis; axis < axes.size(); ++axis) text += " x " + text_as_given(number(axes[axis]));
  return text;
}

/// Returns the product over the axes, or `nullopt` if it exceeds `most`.
template <class Number>
std::optional<Count> product(const std::array<GridAxis, 3>& axes, Count most, Number number) {
  std::optional<Count> all = 1;
  for (const GridAxis& axis : axes)
    if (all) all = checked_product(*all, number(axis), most);
  return all;
}

}  // namespace

Interval GridAxis::indices(Count b) const noexcept {
  if (block == 0) {
    const Count share = extent / ranks;
    const Count surplus = extent % ranks;
    return {b * share + std::min(b, surplus), (b + 1) * share + std::min(b + 1, surplus)};
  }
  const Index begin = b * block;
  return {begin, begin + std::min(block, extent - begin)};
}

Count GridAxis::count(Count rank) const noexcept {
  const Count position = rank >= first ? rank - first : ranks - first + rank;
  if (block == 0) return indices(position).size();
  const Count whole = extent / block;
  const Count last = whole % ranks;  // the position of the block that is shorter than the others, if there is one
  return whole / ranks * block + (position < last ? block : position == last ? extent % block : 0);
}

Grid Grid::resolved(Rank rank_count) const noexcept {
  Grid found = *this;
  Count given = 1;
  GridAxis* open = nullptr;
  for (GridAxis& axis : found.axes) {
    if (axis.ranks == 0)
      open = &axis;
    else
      given *= axis.ranks;
  }
  if (open != nullptr) open->ranks = std::max<Count>(static_cast<Count>(rank_count) / std::max<Count>(given, 1), 1);
  return found;
}

std::optional<std::string> Grid::fault(Rank rank_count) const {
  const auto of_ranks = [](const GridAxis& axis) { return axis.ranks; };
  const auto of_extent = [](const GridAxis& axis) { return axis.extent; };
  // An extent of 0 must not hide an overflow, so the other extents are multiplied too.
  const auto at_least_one = [](const GridAxis& axis) { return std::max(axis.extent, Count{1}); };
  if (!product(axes, most_elements, at_least_one))
    return "a grid of " + product_text(axes, of_extent) +
           " elements is too large (its elements cannot be counted), check the extents";
  if (std::ranges::count(axes, 0u, of_ranks) > 1)
    return "a grid of " + product_text(axes, of_ranks) +
           " ranks (only one axis may have 0 ranks, which the library fills in), give the number of ranks along the "
           "other axes";
  const Grid whole = resolved(rank_count);
  const auto ranks = static_cast<Count>(rank_count);
  if (product(whole.axes, ranks, of_ranks) != ranks)
    return "a grid of " + product_text(whole.axes, of_ranks) + " ranks for " + std::to_string(rank_count) +
           (rank_count == 1 ? " rank" : " ranks") +
           " (every rank has exactly one place in the grid), make the product of the ranks along the axes equal to the "
           "number of ranks";
  for (const GridAxis& axis : whole.axes) {
    if (axis.first < axis.ranks) continue;
    return "first rank " + std::to_string(axis.first) + " along an axis of " + std::to_string(axis.ranks) +
           " ranks (ranks are counted from 0), give a lower rank";
  }
  return std::nullopt;
}

Count Grid::ranks_from(std::size_t axis) const noexcept {
  Count ranks = 1;
  for (; axis < axes.size(); ++axis) ranks *= axes[axis].ranks;
  return ranks;
}

Count Grid::extent_from(std::size_t axis) const noexcept {
  Count extent = 1;
  for (; axis < axes.size(); ++axis) extent *= axes[axis].extent;
  return extent;
}

Count Grid::count(Rank rank) const noexcept {
  auto rest = static_cast<Count>(rank);
  Count elements = 1;
  for (std::size_t axis = axes.size(); axis-- > 0; rest /= axes[axis].ranks)
    elements *= axes[axis].count(rest % axes[axis].ranks);
  return elements;
}

/// An axis keeps rank order if its blocks do not wrap around its ranks, and if every rank has at most one index of the
/// axes before or the axis is on one rank.
bool Grid::in_rank_order() const noexcept {
  if (element_count() == 0) return true;
  bool may_repeat = false;  // whether some rank has several indices of the axes before
  for (const GridAxis& axis : axes) {
    // Number of blocks that are not empty.
    const Count blocks = axis.ranks == 1 ? 1 : std::min(axis.block_count(), axis.extent);
    if (axis.first + blocks > axis.ranks || (may_repeat && blocks > 1)) return false;
    may_repeat = may_repeat || axis.count(axis.first) > 1;
  }
  return true;
}

std::string Grid::text() const {
  const auto is_any = [&](Count GridAxis::*field) {
    return std::ranges::any_of(axes, [field](const GridAxis& axis) { return axis.*field > 0; });
  };
  const auto text_of = [&](Count GridAxis::*field) {
    return product_text(axes, [field](const GridAxis& axis) { return axis.*field; });
  };
  // "0" stands for all ranks, and is only valid in a grid of one axis.
  const std::string ranks = text_of(&GridAxis::ranks);
  std::string text = text_of(&GridAxis::extent) + " elements on " + (ranks == "0" ? "all" : ranks) + " ranks";
  if (is_any(&GridAxis::block)) text += " in blocks of " + text_of(&GridAxis::block);
  if (is_any(&GridAxis::first)) text += " from rank " + text_of(&GridAxis::first);
  return text;
}

void Grid::list(Rank rank, std::vector<Interval>& out) const {
  out.clear();
  if (count(rank) == 0) return;  // along another axis, a rank without elements may have any number of blocks
  visit(rank, rank + 1, [&](Interval interval) {
    if (interval.empty()) return;
    if (!out.empty() && out.back().end == interval.begin)
      out.back().end = interval.end;
    else
      out.push_back(interval);
  });
}

}  // namespace steadfold::order
