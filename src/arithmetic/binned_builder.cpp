#include "arithmetic/binned_builder.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "arithmetic/column_groups.hpp"
#include "arithmetic/few_rows.hpp"
#include "kernels/shares.hpp"

namespace steadfold::arithmetic {
namespace {

using binned_record::check_rows;
using binned_record::Column;
using binned_record::convert;
using binned_record::put;
using binned_record::Shape;
using binned_record::with_column;
using binned_record::write_value;
using kernels::ColumnRows;
using kernels::ColumnShares;
using kernels::Shares;
using kernels::TermForm;

template <class Element>
double load(const std::byte* at) noexcept {
  Element x;
  std::memcpy(&x, at, sizeof x);
  return static_cast<double>(x);
}

/// Some rows of one column, the kernel that adds them, and the one that only finds the largest.
struct Tile {
  const void* first = nullptr;
  const void* second = nullptr;
  Count count = 0;
  Shares shares = nullptr;
  Shares largest = nullptr;
};

/// Copies elements that are not contiguous, or have infinities and NaNs among them; products become their terms.
class Copy {
 public:
  static constexpr Count capacity = 512;

  explicit Copy(const Shape& shape) noexcept
      : shares_(kernels::shares<double>(kernels::chosen(), form_of(shape), shape.bin_count)),
        largest_(kernels::shares<double>(kernels::chosen(), form_of(shape), 0)) {}

  template <class Element>
  Tile of(const std::byte* first, const std::byte* second, Count count, Bytes stride) noexcept {
    for (Count i = 0; i < count; ++i) values_[i] = load<Element>(first + i * stride);
    if (second != nullptr)
      for (Count i = 0; i < count; ++i) values_[i] *= load<Element>(second + i * stride);
    return {.first = values_.data(), .count = count, .shares = shares_, .largest = largest_};
  }

  std::span<double> values(Count count) noexcept { return std::span(values_).first(count); }

 private:
  static TermForm form_of(const Shape& shape) noexcept {
    return shape.grid.squares() ? TermForm::square : TermForm::element;
  }

  std::array<double, capacity> values_;
  Shares shares_;
  Shares largest_;
};

/// Takes infinities and NaNs away; returns their flags. Squares are of one sign.
std::uint8_t set_aside_specials(const Shape& shape, std::span<double> values) noexcept {
  unsigned flags = no_flags;
  for (double& value : values) {
    if (std::isfinite(value)) continue;
    const bool is_plus = value > 0 || shape.grid.squares();
    flags |= std::isnan(value) ? has_nan : is_plus ? has_plus_infinity : has_minus_infinity;
    value = 0;
  }
  return static_cast<std::uint8_t>(flags);
}

bool all_minus_zero(std::span<const double> values) noexcept {
  return std::ranges::all_of(values, [](double value) { return value == 0 && std::signbit(value); });
}

/// Products of floats are exact in double; those of doubles are rounded once.
template <class Element>
class BinnedBuilder final : public Builder, private Surveyor {
 public:
  static constexpr Count large_tile = Count{1} << 15;

  explicit BinnedBuilder(const Shape& shape)
      : shape_(shape),
        columns_(shape.columns),
        expected_(shape.columns, shape.lowest_top()),
        surveyed_(shape.columns, shape.lowest_top()),
        shares_(kernels::shares<Element>(kernels::chosen(), form(), shape.bin_count)),
        largest_(kernels::shares<Element>(kernels::chosen(), form(), 0)),
        shares_of_columns_(kernels::shares_of_columns<Element>(kernels::chosen(), form(), shape.bin_count)),
        largest_of_columns_(kernels::shares_of_columns<Element>(kernels::chosen(), form(), 0)),
        copy_(shape),
        few_(shape.operation == Operation::sum && shape.columns == 1 ? kernels::sum_as_pair<Element>(kernels::chosen())
                                                                     : nullptr) {
    clear();
  }

  void clear() override {
    for (Count i = 0; i < columns_.size(); ++i) columns_[i].clear(expected_[i]);
    is_untouched_ = columns_.size() == 1 && expected_[0] == shape_.lowest_top();
    few_.clear();
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    push_few();
    const bool waits = rows_ == 0 && few_.may_wait(block, sizeof(Element));
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
    with_column(rows_, [&](auto column) {
      for (Count i = 0; i < columns_.size(); ++i) {
        convert(columns_[i], shape_.bin_count, column);
        put(shape_, column, i, out);
      }
    });
    return size;
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    const Status status = status_ != Status::ok ? status_ : check_rows(shape_, rows_, element_count);
    if (status != Status::ok) return status;
    if (!few_.empty() && finish_few(values)) return Status::ok;
    push_few();
    for (const Column& column : columns_) {
      write_value(shape_, column, rows_, values);
      values += size_of(shape_.result);
    }
    return Status::ok;
  }

  ColumnBuilders* columns() noexcept override { return columns_.size() > 1 ? &views_ : nullptr; }
  Count column_count() const noexcept { return columns_.size(); }
  bool prefers_rows() const noexcept { return shares_of_columns_ != nullptr; }
  void push_column(Count column, Index /*begin*/, const Block& block) {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    if (column == 0) rows_ += block.rows;
    for_each_tile_of_column(block, [&](const Tile& tile) { add(tile, columns_[column]); });
  }
  void survey_column(Count column, const Block& block) {
    if (!readable(block)) return;
    std::uint8_t flags = no_flags;
    for_each_tile_of_column(block, [&](const Tile& tile) { look_at(tile, surveyed_[column], flags); });
  }

  Surveyor* surveyor() noexcept override { return shape_.sweep == Sweep::double_sweep ? this : nullptr; }

 private:
  void survey(const Block& block) override {
    if (!readable(block)) return;
    std::uint8_t flags = no_flags;
    if (columns_.size() > 1 && prefers_rows())
      for_each_group(block,
                     [&](Count begin, const ColumnRows& rows) { look_at(rows, std::span(surveyed_).subspan(begin)); });
    else
      for_each_tile(block, [&](Count column, const Tile& tile) { look_at(tile, surveyed_[column], flags); });
  }
  void write_survey(std::span<std::byte> out) override {
    std::ranges::transform(surveyed_, out.begin(), [](int top) { return static_cast<std::byte>(top); });
    std::ranges::fill(surveyed_, shape_.lowest_top());
  }
  void expect(std::span<const std::byte> surveyed) override {
    std::ranges::transform(surveyed, expected_.begin(), [this](std::byte top) {
      return std::clamp(std::to_integer<int>(top), shape_.lowest_top(), shape_.grid.highest_top());
    });
  }

  void push_few() {
    if (!few_.empty()) add(few_.take());
  }
  /// If no term is rounded, the sum is that of the terms as they are: the last bit of a normal one is 52 binades below
  /// its first.
  bool finish_few(std::byte* value) const noexcept {
    kernels::PairSum found;
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
  /// Contiguous elements.
  Tile tile_of(const std::byte* first, const std::byte* second, Count rows) const noexcept {
    return {.first = first, .second = second, .count = rows, .shares = shares_, .largest = largest_};
  }
  static bool finite(std::uint64_t largest) noexcept { return largest < Format<double>::infinity; }
  static std::uint64_t largest_of(const Tile& tile) noexcept {
    return tile.largest(tile.first, tile.second, tile.count, 1, nullptr, nullptr);
  }

  /// Contiguous elements are taken as they are. Neighbouring columns share cache lines: a tile of rows stays in the
  /// first-level cache for all of them.
  template <class Take>
  void for_each_tile(const Block& block, const Take& take) {
    const bool in_a_row = columns_.size() == 1 && block.row_stride == sizeof(Element);
    const Count most = in_a_row ? large_tile : Copy::capacity / 4;
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

  /// The same where the block is one column of several.
  template <class Take>
  void for_each_tile_of_column(const Block& block, const Take& take) {
    const bool in_a_row = block.row_stride == sizeof(Element);
    for (Count done = 0, rows = 0; done < block.rows; done += rows) {
      rows = std::min(in_a_row ? large_tile : Copy::capacity, block.rows - done);
      const std::byte* first = block.first + done * block.row_stride;
      const std::byte* second = is_dot() ? block.second + done * block.row_stride : nullptr;
      take(in_a_row ? tile_of(first, second, rows) : copy_.of<Element>(first, second, rows, block.row_stride));
    }
  }

  /// Elements before the next cache line: vectors that lie across two lines cost twice the loads.
  static Count before_line(const std::byte* first) noexcept {
    const auto beyond = reinterpret_cast<std::uintptr_t>(first) % 64;
    return beyond % sizeof(Element) == 0 ? (64 - beyond) % 64 / sizeof(Element) : 0;
  }

  bool is_copy(const Tile& tile) noexcept { return tile.first == copy_.values(0).data(); }

  /// `take(tile)` for copies of parts of the tile without infinities and NaNs, whose flags are added.
  template <class Take>
  void without_specials(const Tile& tile, std::uint8_t& flags, const Take& take) {
    if (is_copy(tile)) {
      flags |= set_aside_specials(shape_, copy_.values(tile.count));
      return take(tile);
    }
    const auto* const first = static_cast<const std::byte*>(tile.first);
    const auto* const second = static_cast<const std::byte*>(tile.second);
    for (Count done = 0; done < tile.count; done += Copy::capacity) {
      const Bytes offset = done * sizeof(Element);
      const Count count = std::min(Copy::capacity, tile.count - done);
      const Tile copy =
          copy_.of<Element>(first + offset, second == nullptr ? nullptr : second + offset, count, sizeof(Element));
      flags |= set_aside_specials(shape_, copy_.values(count));
      take(copy);
    }
  }

  /// Raises `top` to that of the tile's finite terms. A copy loses the others, to the flags.
  void look_at(const Tile& tile, int& top, std::uint8_t& flags) {
    const std::uint64_t largest = largest_of(tile);
    if (finite(largest))
      top = std::max(top, shape_.grid.top_of(largest));
    else
      without_specials(tile, flags, [&](const Tile& copy) { look_at(copy, top, flags); });
  }

  void add(const Block& block) {
    if (columns_.size() > 1 && prefers_rows())
      for_each_group(block,
                     [this](Count begin, const ColumnRows& rows) { add(rows, std::span(columns_).subspan(begin)); });
    else
      for_each_tile(block, [this](Count column, const Tile& tile) { add(tile, columns_[column]); });
  }

  /// `take(first column, rows)` for groups of columns.
  template <class Take>
  void for_each_group(const Block& block, const Take& take) {
    Block taken = block;
    if (!is_dot()) taken.second = nullptr;
    for_each_column_group(taken, columns_.size(), sizeof(Element), take);
  }

  /// One column of a group, by itself.
  Tile column_of(const ColumnRows& rows, Count column) noexcept {
    const Bytes offset = column * sizeof(Element);
    return copy_.of<Element>(rows.first + offset, rows.second == nullptr ? nullptr : rows.second + offset, rows.rows,
                             rows.row_stride);
  }

  void look_at(const ColumnRows& rows, std::span<int> tops) {
    ColumnShares found;
    largest_of_columns_(rows, found);
    std::uint8_t flags = no_flags;
    for (Count i = 0; i < rows.columns; ++i) {
      if (finite(found.largest[i]))
        tops[i] = std::max(tops[i], shape_.grid.top_of(found.largest[i]));
      else
        look_at(column_of(rows, i), tops[i], flags);
    }
  }

  /// Adds a group with the present windows; a column whose window is too low, or that is not finite, comes once more by
  /// itself.
  void add(const ColumnRows& rows, std::span<Column> columns) {
    raise_for_few(rows, columns);
    ColumnShares found;
    for (Count i = 0; i < rows.columns; ++i) {
      window_.follow(shape_.grid, columns[i].bins.top, shape_.bin_count);
      found.scale[i] = window_.scale;
      for (std::size_t bin = 0; bin < most_bins; ++bin) found.extractors[bin][i] = window_.each[bin];
    }
    shares_of_columns_(rows, found);
    for (Count i = 0; i < rows.columns; ++i) {
      const std::uint64_t largest = found.largest[i];
      Column& column = columns[i];
      if (!finite(largest) || shape_.grid.top_of(largest) > column.bins.top) {
        add(column_of(rows, i), column);
        continue;
      }
      for (std::size_t bin = 0; bin < static_cast<std::size_t>(shape_.bin_count); ++bin)
        column.bins.sums[bin] += found.sums[bin][i];
      if (largest != 0)
        column.flags |= not_minus_zero;
      else
        note_zeros(column_of(rows, i), largest, column);
    }
  }

  /// The first few rows tell where windows will be that have no place yet, most likely.
  void raise_for_few(const ColumnRows& rows, std::span<Column> columns) {
    const auto has_no_place = [&](const Column& column) { return column.bins.top == shape_.lowest_top(); };
    if (std::ranges::none_of(columns.first(rows.columns), has_no_place)) return;
    ColumnRows few = rows;
    few.rows = std::min<Count>(rows.rows, 64);
    std::array<int, kernels::most_columns> tops;
    for (Count i = 0; i < rows.columns; ++i) tops[i] = columns[i].bins.top;
    look_at(few, tops);
    for (Count i = 0; i < rows.columns; ++i) columns[i].bins.raise(tops[i], shape_.bin_count);
  }

  /// Adds the tile with the present window, and once more if that was too low. The first tile of a round begins with
  /// the window of the last round's first tile, if two rounds in a row had the same, and is added once more if that is
  /// not its own window.
  void add(const Tile& tile, Column& column) {
    const bool is_first = std::exchange(is_untouched_, false);
    bool is_guess = is_first && is_steady_;
    if (is_guess)
      column.bins.top = last_top_;
    else if (column.bins.top == shape_.lowest_top())
      raise_for_few(tile, column);
    for (;;) {
      window_.follow(shape_.grid, column.bins.top, shape_.bin_count);
      std::array<std::int64_t, most_bins> sums{};
      const std::uint64_t largest =
          tile.shares(tile.first, tile.second, tile.count, window_.scale, window_.each.data(), sums.data());
      if (!finite(largest)) {
        if (is_guess) column.bins.top = shape_.lowest_top();
        return without_specials(tile, column.flags, [&](const Tile& copy) { add(copy, column); });
      }
      const int top = std::max(shape_.grid.top_of(largest), shape_.lowest_top());
      const bool fits = is_guess ? top == column.bins.top : top <= column.bins.top;
      if (fits) {
        for (std::size_t bin = 0; bin < sums.size(); ++bin) column.bins.sums[bin] += sums[bin];
        if (is_first) remember(top);
        return note_zeros(tile, largest, column);
      }
      if (is_guess) column.bins.top = shape_.lowest_top();  // nothing is in the bins yet
      is_guess = false;
      column.bins.raise(top, shape_.bin_count);
    }
  }

  /// The first few terms tell where the window will be, most likely.
  void raise_for_few(const Tile& tile, Column& column) {
    Tile few = tile;
    few.count = std::min<Count>(tile.count, 64);
    int top = column.bins.top;
    look_at(few, top, column.flags);
    column.bins.raise(top, shape_.bin_count);
  }

  /// The top that a round's first tile came to.
  void remember(int top) noexcept {
    is_steady_ = top == last_top_;
    last_top_ = top;
  }

  /// The sum of nothing but -0.0 is -0.0.
  void note_zeros(const Tile& tile, std::uint64_t largest, Column& column) {
    if ((column.flags & not_minus_zero) != 0) return;
    if (largest == 0 && column.flags == no_flags && !shape_.grid.squares()) {
      bool all = true;
      without_specials(tile, column.flags,
                       [&](const Tile& copy) { all = all && all_minus_zero(copy_.values(copy.count)); });
      if (all) return;
    }
    column.flags |= not_minus_zero;
  }

  Shape shape_;
  std::vector<Column> columns_;
  ColumnViews<BinnedBuilder> views_{*this};
  std::vector<int> expected_;  // the tops that the columns begin with
  std::vector<int> surveyed_;
  Shares shares_;
  Shares largest_;
  kernels::SharesOfColumns shares_of_columns_;  // null where lanes are not columns
  kernels::SharesOfColumns largest_of_columns_;
  Copy copy_;
  FewRows few_;
  Extractors window_;
  bool is_untouched_ = false;  // the only column, which begins with no window
  bool is_steady_ = false;     // the last rounds had the same
  int last_top_ = -1;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

}  // namespace

std::unique_ptr<Builder> make_binned_builder(const binned_record::Shape& shape) {
  if (shape.input == Type::f32) return std::make_unique<BinnedBuilder<float>>(shape);
  return std::make_unique<BinnedBuilder<double>>(shape);
}

}  // namespace steadfold::arithmetic
