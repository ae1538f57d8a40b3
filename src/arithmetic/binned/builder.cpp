#include "arithmetic/binned/builder.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "arithmetic/binned/columns.hpp"
#include "arithmetic/binned/dealt_bins.hpp"
#include "arithmetic/binned/tile.hpp"
#include "arithmetic/rows/column_groups.hpp"
#include "arithmetic/rows/dealt_builder.hpp"
#include "arithmetic/rows/few_rows.hpp"
#include "kernels/column_bins.hpp"
#include "kernels/slices.hpp"

namespace steadfold::arithmetic {
namespace {

using binned_record::BinnedShape;
using binned_record::check_rows;
using binned_record::Column;
using binned_record::columns_of_group;
using binned_record::has_groups;
using binned_record::put;
using binned_record::write_value;
using binned_record::write_values;
using kernels::AddSlices;
using kernels::ColumnRows;
using kernels::TermForm;

/// The term of two factors. Products of floats are exact in double; products of doubles are rounded once.
template <class Element>
class BinnedBuilder final : public Builder, private Surveyor {
 public:
  static constexpr Count large_tile = Count{1} << 15;

  explicit BinnedBuilder(const BinnedShape& shape)
      : shape_(shape),
        columns_(shape),
        expected_(surveyed_columns(), lowest_top()),
        surveyed_(surveyed_columns(), lowest_top()),
        add_slices_(kernels::add_slices<Element>(kernels::chosen(), form(), shape.bin_count)),
        largest_(kernels::add_slices<Element>(kernels::chosen(), form(), 0)),
        largest_of_columns_(kernels::largest_of_columns<Element>(kernels::chosen(), form())),
        add_to_groups_(kernels::add_to_groups_of_bins<Element>(kernels::chosen(), form(), shape.bin_count)),
        copy_(shape),
        few_(shape.operation == Operation::sum && shape.columns == 1
                 ? kernels::sum_as_double_double<Element>(kernels::chosen())
                 : nullptr,
             sizeof(Element)) {
    clear();
  }

  void clear() override {
    columns_.clear(expected_, shape_.lowest_top());
    is_untouched_ = columns_.size() == 1 && columns_.single().bins.top == shape_.lowest_top();
    few_.clear();
    std::ranges::fill(surveyed_, lowest_top());
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    push_few();
    const bool waits = rows_ == 0 && few_.may_wait(block);
    rows_ += block.rows;
    if (waits) return few_.let_wait(block);
    add(block);
  }

  Bytes write(std::span<std::byte> out) override {
    push_few();
    if (out.size() < sizeof(Header)) return 0;
    if (status_ != Status::ok) return write_failure(out, Header{}, status_);
    const Bytes size = shape_.record_bytes(rows_);
    if (out.size() < size) return write_failure(out, Header{}, Status::transport_failed);
    set_header(out, Header{});
    std::memcpy(out.data() + sizeof(Header), &rows_, sizeof rows_);
    if (!has_groups(rows_))
      for (Count i = 0; i < columns_.size(); ++i) put(shape_, columns_.at(i), i, out);
    else
      for (Count i = 0; i < columns_.size(); i += columns_of_group) write_group(i, out);
    return size;
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    const Status status = status_ != Status::ok ? status_ : check_rows(shape_, rows_, element_count);
    if (status != Status::ok) return status;
    if (!few_.empty() && finish_few(values)) return Status::ok;
    push_few();
    for (Count i = 0; i < columns_.size(); i += columns_of_group) finish_group(i, values + i * size_of(shape_.result));
    return Status::ok;
  }

  ColumnBuilders* columns() noexcept override { return columns_.size() > 1 ? &views_ : nullptr; }
  Count column_count() const noexcept { return columns_.size(); }
  bool prefers_rows() const noexcept { return add_to_groups_ != nullptr; }
  void push_column(Count column, Index /*begin*/, const Block& block) {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    if (column == 0) rows_ += block.rows;
    columns_.change(column, [&](Column& changed) {
      for_each_tile_of_column(block, [&](const BinnedTile& tile) { add(tile, changed); });
    });
  }
  void survey_column(Count column, Index /*begin*/, const Block& block) {
    if (!readable(block)) return;
    std::uint8_t flags = no_flags;
    for_each_tile_of_column(block, [&](const BinnedTile& tile) { look_at(tile, surveyed_[column], flags); });
  }

  Surveyor* surveyor() noexcept override { return shape_.sweep == Sweep::double_sweep ? this : nullptr; }

 private:
  void survey(Index /*begin*/, const Block& block) override {
    if (!readable(block)) return;
    std::uint8_t flags = no_flags;
    if (columns_.size() > 1 && prefers_rows())
      for_each_column_group(of_operation(block), columns_.size(), sizeof(Element),
                            [&](Count begin, const ColumnRows& rows) {
                              look_at(rows, std::span(surveyed_).subspan(begin, rows.columns));
                            });
    else
      for_each_tile(block, [&](Count column, const BinnedTile& tile) { look_at(tile, surveyed_[column], flags); });
  }
  void write_survey(std::span<std::byte> out) override {
    std::memcpy(out.data(), surveyed_.data(), surveyed_.size());
    std::ranges::fill(surveyed_, lowest_top());
  }
  void expect(std::span<const std::byte> surveyed) override {
    std::ranges::transform(surveyed, expected_.begin(), [this](std::byte top) {
      return std::clamp(std::to_integer<std::uint8_t>(top), lowest_top(),
                        static_cast<std::uint8_t>(shape_.grid.highest_top()));
    });
  }

  std::uint8_t lowest_top() const noexcept { return static_cast<std::uint8_t>(shape_.lowest_top()); }
  Count surveyed_columns() const noexcept { return shape_.sweep == Sweep::double_sweep ? shape_.columns : 0; }

  /// Calls `use(group, bin_count, columns)` with a group in the form of records of fewer than 2^24 rows.
  template <class Use>
  void with_group(Count first, const Use& use) noexcept {
    with_extent(shape_.bin_count, shape_.group_columns(first), [&](auto bin_count, auto columns) {
      if (columns_.size() > 1 && !columns_.have_two_words()) return use(columns_.group(first), bin_count, columns);
      BinnedGroup group;
      for (std::size_t lane = 0; lane < columns; ++lane) group.set_column(lane, columns_.at(first + lane), bin_count);
      use(group, bin_count, columns);
    });
  }
  void write_group(Count first, std::span<std::byte> record) noexcept {
    with_group(first, [&](const BinnedGroup& group, auto bin_count, auto columns) {
      group.write(record.data() + shape_.group_at(first), bin_count, columns);
    });
  }
  void finish_group(Count first, std::byte* values) noexcept {
    if (has_groups(rows_)) {
      return with_group(first, [&](const BinnedGroup& group, auto bin_count, auto columns) {
        write_values(shape_, group, bin_count, columns, rows_, values);
      });
    }
    for (Count lane = 0; lane < shape_.group_columns(first); ++lane)
      write_value(shape_, columns_.at(first + lane), rows_, values + lane * size_of(shape_.result));
  }

  void push_few() {
    if (!few_.empty()) add(few_.take());
  }
  /// Finishes the few waiting rows, if possible. If no term is rounded, the sum is the exact sum of the terms. The last
  /// bit of a normal term is 52 binary places below its first bit.
  bool finish_few(std::byte* value) const noexcept {
    kernels::DoubleDoubleSum found;
    if (!few_.sum(found)) return false;
    const int top = std::max(shape_.grid.top_of(std::bit_cast<std::uint64_t>(found.largest)), shape_.lowest_top());
    const int lowest = top - shape_.bin_count + 1;
    const auto biased_exponent = static_cast<int>(std::bit_cast<std::uint64_t>(found.least) >> 52);
    const bool is_rounded = lowest > 0 && biased_exponent <= bin_width * lowest;
    return !is_rounded && FewRows::write(found, shape_.result == Type::f32, value);
  }

  bool is_dot() const noexcept { return shape_.operation == Operation::dot; }
  TermForm form() const noexcept {
    return is_dot() ? TermForm::product : shape_.grid.squares() ? TermForm::square : TermForm::element;
  }
  bool readable(const Block& block) const noexcept {
    return block.rows == 0 || (block.first != nullptr && (!is_dot() || block.second != nullptr));
  }
  /// Returns a tile of contiguous elements.
  BinnedTile tile_of(const std::byte* first, const std::byte* second, Count rows) const noexcept {
    return {.first = first, .second = second, .count = rows, .add_slices = add_slices_, .largest = largest_};
  }
  std::uint8_t top_of(std::uint64_t largest) const noexcept {
    return static_cast<std::uint8_t>(shape_.grid.top_of(largest));
  }
  static bool finite(std::uint64_t largest) noexcept { return largest < Format<double>::infinity; }
  static std::uint64_t largest_of(const BinnedTile& tile) noexcept {
    return tile.largest(tile.first, tile.second, tile.count, 1, nullptr, nullptr);
  }

  /// Calls `take(tile)` for parts of the block. Contiguous elements are used in place. Neighbouring columns share cache
  /// lines, so a tile of rows stays in the first-level cache until all columns are done.
  template <class Take>
  void for_each_tile(const Block& block, const Take& take) {
    const bool in_a_row = columns_.size() == 1 && block.row_stride == sizeof(Element);
    const Count most = in_a_row ? large_tile : BinnedCopy::capacity / 4;
    for (Count done = 0, rows = 0; done < block.rows; done += rows) {
      const std::byte* first = block.first + done * block.row_stride;
      rows = std::min(most, block.rows - done);
      if (done == 0 && rows == large_tile && before_line(first) > 0) rows = before_line(first);
      const std::byte* second = is_dot() ? block.second + done * block.row_stride : nullptr;
      if (in_a_row) {
        take(0, tile_of(first, second, rows));
        continue;
      }
      for (Count column = 0; column < columns_.size(); ++column, first += sizeof(Element)) {
        take(column, copy_.of<Element>(first, second, rows, block.row_stride));
        if (second != nullptr) second += sizeof(Element);
      }
    }
  }

  /// Calls `take(tile)` for a block that is one column of several. Contiguous elements are used in place.
  template <class Take>
  void for_each_tile_of_column(const Block& block, const Take& take) {
    const bool in_a_row = block.row_stride == sizeof(Element);
    for (Count done = 0, rows = 0; done < block.rows; done += rows) {
      rows = std::min(in_a_row ? large_tile : BinnedCopy::capacity, block.rows - done);
      const std::byte* first = block.first + done * block.row_stride;
      const std::byte* second = is_dot() ? block.second + done * block.row_stride : nullptr;
      take(in_a_row ? tile_of(first, second, rows) : copy_.of<Element>(first, second, rows, block.row_stride));
    }
  }

  /// Returns the number of elements before the next cache line. Vectors that cross two cache lines cost twice the
  /// loads.
  static Count before_line(const std::byte* first) noexcept {
    const auto beyond = reinterpret_cast<std::uintptr_t>(first) % 64;
    return beyond % sizeof(Element) == 0 ? (64 - beyond) % 64 / sizeof(Element) : 0;
  }

  bool is_copy(const BinnedTile& tile) noexcept { return tile.first == copy_.values(0).data(); }

  /// Calls `take(tile)` for copies of parts of the tile, without infinities and NaNs, whose flags are added
  /// to `flags`.
  template <class Take>
  void without_specials(const BinnedTile& tile, std::uint8_t& flags, const Take& take) {
    if (is_copy(tile)) {
      flags |= set_aside_specials(shape_, copy_.values(tile.count));
      return take(tile);
    }
    const auto* const first = static_cast<const std::byte*>(tile.first);
    const auto* const second = static_cast<const std::byte*>(tile.second);
    for (Count done = 0; done < tile.count; done += BinnedCopy::capacity) {
      const Bytes offset = done * sizeof(Element);
      const Count count = std::min(BinnedCopy::capacity, tile.count - done);
      const BinnedTile copy =
          copy_.of<Element>(first + offset, second == nullptr ? nullptr : second + offset, count, sizeof(Element));
      flags |= set_aside_specials(shape_, copy_.values(count));
      take(copy);
    }
  }

  /// Raises `top` to the top that the tile's finite terms need. Infinities and NaNs are removed from a copy, and set
  /// flags.
  void look_at(const BinnedTile& tile, std::uint8_t& top, std::uint8_t& flags) {
    const std::uint64_t largest = largest_of(tile);
    if (finite(largest))
      top = std::max(top, top_of(largest));
    else
      without_specials(tile, flags, [&](const BinnedTile& copy) { look_at(copy, top, flags); });
  }

  void add(const Block& block) {
    if (columns_.size() > 1 && prefers_rows())
      for_each_run_of_columns(of_operation(block), columns_.size(), sizeof(Element),
                              [this](Count begin, const ColumnRows& rows) { return add_columns(rows, begin); });
    else
      for_each_tile(block, [this](Count column, const BinnedTile& tile) {
        columns_.change(column, [&](Column& changed) { add(tile, changed); });
      });
  }

  /// Returns the block, without second factors if the operation has none.
  Block of_operation(Block block) const noexcept {
    if (!is_dot()) block.second = nullptr;
    return block;
  }

  /// Returns one column of a group as a tile.
  BinnedTile column_of(const ColumnRows& rows, Count column) noexcept {
    const Bytes offset = column * sizeof(Element);
    return copy_.of<Element>(rows.first + offset, rows.second == nullptr ? nullptr : rows.second + offset, rows.rows,
                             rows.row_stride);
  }

  void look_at(const ColumnRows& rows, std::span<std::uint8_t> tops) {
    kernels::EachColumn<std::uint64_t> largest;
    largest_of_columns_(rows, largest);
    std::uint8_t flags = no_flags;
    for (Count i = 0; i < rows.columns; ++i) {
      if (finite(largest[i]))
        tops[i] = std::max(tops[i], top_of(largest[i]));
      else
        look_at(column_of(rows, i), tops[i], flags);
    }
  }

  /// Adds all rows of the groups of columns that the kernel accepts, from column `begin` on. Returns the number of
  /// these columns. The caller adds the columns that the kernel refuses one by one.
  Count add_columns(ColumnRows rows, Count begin) {
    if (columns_.have_two_words()) {
      rows.columns = std::min(columns_of_group, rows.columns);
      raise(rows, begin);
    }
    std::uint8_t left_out = 0;
    const Count groups = add_to_groups_(rows, lowest_top(), not_minus_zero, &columns_.group(begin), left_out);
    const Count last = (groups - 1) * columns_of_group;  // first column of the last of these groups
    for (Count lane = 0; left_out != 0; ++lane, left_out /= 2)
      if (left_out % 2 != 0)
        columns_.change(begin + last + lane, [&](Column& column) { add(column_of(rows, last + lane), column); });
    return std::min(groups * columns_of_group, rows.columns);
  }

  /// Moves the bin ranges of a group up, as the kernel does. The kernel itself cannot move the second words of sums.
  void raise(const ColumnRows& rows, Count begin) {
    kernels::EachColumn<std::uint8_t> tops = columns_.group(begin).tops;
    look_at(rows, std::span(tops).first(rows.columns));
    for (Count i = 0; i < rows.columns; ++i)
      if (tops[i] != columns_.group(begin).tops[i])
        columns_.change(begin + i, [&](Column& column) { column.bins.raise(tops[i], shape_.bin_count); });
  }

  /// Adds the tile with the current bin range, and again if this range was too low. The first tile of a round begins
  /// with the bin range of the previous round's first tile, if two rounds in a row had the same range. If this is not
  /// the tile's bin range, the tile is added again.
  void add(const BinnedTile& tile, Column& column) {
    const bool is_first = std::exchange(is_untouched_, false);
    bool is_guess = is_first && is_steady_;
    if (is_guess)
      column.bins.top = last_top_;
    else if (column.bins.top == shape_.lowest_top())
      raise_for_few(tile, column);
    for (;;) {
      extractors_.follow(shape_.grid, column.bins.top, shape_.bin_count);
      std::array<std::int64_t, most_bins> sums{};
      const std::uint64_t largest =
          tile.add_slices(tile.first, tile.second, tile.count, extractors_.scale, extractors_.each.data(), sums.data());
      if (!finite(largest)) {
        if (is_guess) column.bins.top = shape_.lowest_top();
        return without_specials(tile, column.flags, [&](const BinnedTile& copy) { add(copy, column); });
      }
      const int top = std::max(shape_.grid.top_of(largest), shape_.lowest_top());
      const bool fits = is_guess ? top == column.bins.top : top <= column.bins.top;
      if (fits) {
        for (std::size_t bin = 0; bin < sums.size(); ++bin) column.bins.sums[bin] += sums[bin];
        if (is_first) remember(top);
        return note_zeros(tile, largest, column);
      }
      if (is_guess) column.bins.top = shape_.lowest_top();  // the bins are still empty, so the top may be lowered
      is_guess = false;
      column.bins.raise(top, shape_.bin_count);
    }
  }

  /// Raises the bin range for the first few terms, which most likely have the bin range of all terms.
  void raise_for_few(const BinnedTile& tile, Column& column) {
    BinnedTile few = tile;
    few.count = std::min<Count>(tile.count, 64);
    auto top = static_cast<std::uint8_t>(column.bins.top);
    look_at(few, top, column.flags);
    column.bins.raise(top, shape_.bin_count);
  }

  /// Records the top that the first tile of a round needed.
  void remember(int top) noexcept {
    is_steady_ = top == last_top_;
    last_top_ = top;
  }

  /// Records a tile of zeros: if all terms of a column are -0.0, the sum is -0.0.
  void note_zeros(const BinnedTile& tile, std::uint64_t largest, Column& column) {
    if ((column.flags & not_minus_zero) != 0) return;
    if (largest == 0 && column.flags == no_flags && !shape_.grid.squares()) {
      bool all = true;
      without_specials(tile, column.flags,
                       [&](const BinnedTile& copy) { all = all && all_minus_zero(copy_.values(copy.count)); });
      if (all) return;
    }
    column.flags |= not_minus_zero;
  }

  BinnedShape shape_;
  BinnedColumns columns_;
  ColumnViews<BinnedBuilder> views_{*this};
  std::vector<std::uint8_t> expected_;  // the columns' tops at the beginning, with a double sweep
  std::vector<std::uint8_t> surveyed_;
  AddSlices add_slices_;
  AddSlices largest_;
  // Null if the kernels of this target do not work on several columns at once.
  kernels::LargestOfColumns largest_of_columns_;
  kernels::AddToGroupsOfBins add_to_groups_;
  BinnedCopy copy_;
  FewRows few_;
  Extractors extractors_;
  bool is_untouched_ = false;  // whether the only column has no bin range yet
  bool is_steady_ = false;     // whether the last two rounds began with the same top
  int last_top_ = -1;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

template <class Element, class Factor>
std::unique_ptr<Builder> make_dealt(const BinnedShape& shape) {
  const auto make = [&]<std::size_t bin_count>(std::integral_constant<std::size_t, bin_count> /*bins*/) {
    using Sums = DealtBins<Element, bin_count>;
    return std::unique_ptr<Builder>(std::make_unique<DealtBuilder<Sums, Factor>>(Sums(shape)));
  };
  static_assert(fewest_bins == 2 && most_bins == 4);
  switch (shape.bin_count) {
    case 2: return make(std::integral_constant<std::size_t, 2>());
    case 3: return make(std::integral_constant<std::size_t, 3>());
    default: return make(std::integral_constant<std::size_t, 4>());
  }
}

}  // namespace

std::unique_ptr<Builder> make_binned_builder(const binned_record::BinnedShape& shape) {
  if (shape.is_dealt && shape.operation == Operation::dot)
    return shape.input == Type::f32 ? make_dealt<double, float>(shape) : make_dealt<double, double>(shape);
  if (shape.is_dealt)
    return shape.input == Type::f32 ? make_dealt<float, void>(shape) : make_dealt<double, void>(shape);
  if (shape.input == Type::f32) return std::make_unique<BinnedBuilder<float>>(shape);
  return std::make_unique<BinnedBuilder<double>>(shape);
}

}  // namespace steadfold::arithmetic
