#include "arithmetic/binned.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "arithmetic/bins.hpp"

namespace steadfold::arithmetic {
namespace {

// The record: Header, number of rows, then for every column its Descriptor and bins, the top one first.
struct Descriptor {
  std::uint8_t top;
  std::uint8_t flags;
  std::array<std::uint8_t, 6> reserved;
};
static_assert(sizeof(Descriptor) == 8);

constexpr Bytes fixed_bytes = sizeof(Header) + sizeof(Count);
constexpr unsigned all_flags = has_nan | has_plus_infinity | has_minus_infinity | not_minus_zero;

struct Column {
  Bins bins;
  std::uint8_t flags = no_flags;
};

/// What all parts of a kind share.
struct Shape {
  Operation operation;
  Type input;
  Type result;
  int bin_count;
  Sweep sweep;
  Count columns;
  Grid grid;

  Bytes bin_bytes() const noexcept { return static_cast<Bytes>(bin_count) * sizeof(Int128); }
  Bytes column_bytes() const noexcept { return sizeof(Descriptor) + bin_bytes(); }
  Bytes record_bytes() const noexcept { return fixed_bytes + columns * column_bytes(); }
  /// The window never reaches below the lowest bin.
  int lowest_top() const noexcept { return bin_count - 1; }
};

Count rows_of(std::span<const std::byte> record) noexcept {
  Count rows = 0;
  std::memcpy(&rows, record.data() + sizeof(Header), sizeof rows);
  return rows;
}

/// Reads a column of a record; false where it is not what `put` writes.
bool take(const Shape& shape, std::span<const std::byte> record, Count number, Column& column) noexcept {
  const std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  Descriptor descriptor;
  std::memcpy(&descriptor, at, sizeof descriptor);
  std::memcpy(column.bins.sums.data(), at + sizeof descriptor, shape.bin_bytes());
  column.bins.top = descriptor.top;
  column.flags = descriptor.flags;
  if (column.bins.top < shape.lowest_top() || column.bins.top > shape.grid.highest_top()) return false;
  if ((descriptor.flags & ~all_flags) != 0 || descriptor.reserved != decltype(descriptor.reserved){}) return false;
  const Int128 most = static_cast<Int128>(rows_of(record)) << (bin_width - 1);
  return std::all_of(column.bins.sums.begin(), column.bins.sums.begin() + shape.bin_count,
                     [&](Int128 sum) { return -most <= sum && sum <= most; });
}

void put(const Shape& shape, const Column& column, Count number, std::span<std::byte> record) noexcept {
  std::byte* at = record.data() + fixed_bytes + number * shape.column_bytes();
  const Descriptor descriptor{static_cast<std::uint8_t>(column.bins.top), column.flags, {}};
  std::memcpy(at, &descriptor, sizeof descriptor);
  std::memcpy(at + sizeof descriptor, column.bins.sums.data(), shape.bin_bytes());
}

/// Terms on their way into the bins: few enough to stay in the first-level cache.
struct Tile {
  static constexpr std::size_t capacity = 512;
  std::array<double, capacity> terms;
  std::size_t count = 0;

  std::span<double> used() noexcept { return std::span(terms).first(count); }
};

template <class Element>
double load(const std::byte* at) noexcept {
  Element x;
  std::memcpy(&x, at, sizeof x);
  return static_cast<double>(x);
}

template <class Element>
void fill(Tile& tile, const std::byte* first, const std::byte* second, std::size_t count, Bytes stride) noexcept {
  tile.count = count;
  for (std::size_t i = 0; i < count; ++i) tile.terms[i] = load<Element>(first + i * stride);
  if (second == nullptr) return;
  for (std::size_t i = 0; i < count; ++i) tile.terms[i] *= load<Element>(second + i * stride);
}

/// Takes infinities and NaNs out of the tile, into the flags.
std::uint8_t set_aside_specials(Tile& tile) noexcept {
  unsigned flags = no_flags;
  for (double& term : tile.used()) {
    if (std::isfinite(term)) continue;
    flags |= std::isnan(term) ? has_nan : term > 0 ? has_plus_infinity : has_minus_infinity;
    term = 0;
  }
  return static_cast<std::uint8_t>(flags);
}

void scale(Tile& tile, int exponent) noexcept {
  const double factor = std::ldexp(1.0, exponent);
  for (double& term : tile.used()) term *= factor;
}

void square(Tile& tile) noexcept {
  for (double& term : tile.used()) term *= term;
}

/// Leaves finite terms, or factors; returns the flags of all of them, and raises `top` to theirs.
std::uint8_t look_over(const Shape& shape, Tile& tile, int& top) noexcept {
  if (shape.grid.squares())
    for (double& term : tile.used()) term = std::abs(term);
  Survey found = survey(tile.terms.data(), tile.count);
  unsigned flags = found.other != 0 ? not_minus_zero : no_flags;
  if (found.largest >= Format<double>::infinity) {
    flags |= set_aside_specials(tile);
    found = survey(tile.terms.data(), tile.count);
  }
  top = std::max(top, shape.grid.top_of(found.largest));
  return static_cast<std::uint8_t>(flags);
}

void add(const Shape& shape, Tile& tile, Column& column) noexcept {
  int top = column.bins.top;
  column.flags |= look_over(shape, tile, top);
  column.bins.raise(top, shape.bin_count);
  const int exponent = shape.grid.scale_exponent(column.bins.top);
  if (exponent != 0) scale(tile, exponent);
  if (shape.grid.squares()) square(tile);

  std::array<double, most_bins> extractors;
  std::array<std::int64_t, most_bins> sums{};
  const auto used = std::span(extractors).first(static_cast<std::size_t>(shape.bin_count));
  shape.grid.extractors(column.bins.top, used);
  add_shares(tile.terms.data(), tile.count, used, sums.data());
  for (std::size_t bin = 0; bin < used.size(); ++bin) column.bins.sums[bin] += sums[bin];
}

/// Products of floats are exact in double; those of doubles are rounded once.
template <class Element>
class BinnedBuilder final : public Builder {
 public:
  explicit BinnedBuilder(const Shape& shape)
      : shape_(shape),
        columns_(shape.columns),
        expected_(shape.columns, shape.lowest_top()),
        surveyed_(shape.columns, shape.lowest_top()) {
    clear();
  }

  void clear() override {
    for (Count i = 0; i < columns_.size(); ++i) columns_[i] = {.bins = {.top = expected_[i]}};
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    rows_ += block.rows;
    for_each_tile(block, [this](Count column) { add(shape_, tile_, columns_[column]); });
  }

  Bytes write(std::span<std::byte> out) override {
    if (out.size() < sizeof(Header)) return 0;
    if (status_ != Status::ok) return write_failure(out, Header{}, status_);
    if (out.size() < shape_.record_bytes()) return write_failure(out, Header{}, Status::transport_failed);
    set_header(out, Header{});
    std::memcpy(out.data() + sizeof(Header), &rows_, sizeof rows_);
    for (Count i = 0; i < columns_.size(); ++i) put(shape_, columns_[i], i, out);
    return shape_.record_bytes();
  }

  void survey(const Block& block) override {
    if (readable(block)) for_each_tile(block, [this](Count column) { look_over(shape_, tile_, surveyed_[column]); });
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

 private:
  bool is_dot() const noexcept { return shape_.operation == Operation::dot; }
  bool readable(const Block& block) const noexcept {
    return block.rows == 0 || (block.first != nullptr && (!is_dot() || block.second != nullptr));
  }

  /// Neighbouring columns share cache lines: a tile of rows stays in the first-level cache for all of them.
  template <class Take>
  void for_each_tile(const Block& block, const Take& take) {
    const Count most = columns_.size() == 1 ? Tile::capacity : Tile::capacity / 4;
    for (Count done = 0; done < block.rows; done += most) {
      const Count rows = std::min(most, block.rows - done);
      Bytes offset = done * block.row_stride;
      for (Count column = 0; column < columns_.size(); ++column, offset += sizeof(Element)) {
        fill<Element>(tile_, block.first + offset, is_dot() ? block.second + offset : nullptr, rows, block.row_stride);
        take(column);
      }
    }
  }

  Shape shape_;
  std::vector<Column> columns_;
  std::vector<int> expected_;  // the tops that the columns begin with
  std::vector<int> surveyed_;
  Tile tile_;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

class BinnedKind final : public PartialKind {
 public:
  explicit BinnedKind(const Shape& shape) noexcept : shape_(shape) {}

  bool exactly_associative() const noexcept override { return true; }
  Bytes capacity(const order::IntervalSet& /*rows*/) const override { return shape_.record_bytes(); }
  Bytes value_bytes() const noexcept override { return shape_.columns * size_of(shape_.result); }

  std::unique_ptr<Builder> builder() const override {
    if (shape_.input == Type::f32) return std::make_unique<BinnedBuilder<float>>(shape_);
    return std::make_unique<BinnedBuilder<double>>(shape_);
  }

  Bytes survey_bytes() const noexcept override { return shape_.sweep == Sweep::double_sweep ? shape_.columns : 0; }

  Bytes merge(std::span<const std::byte> left, std::span<const std::byte> right,
              std::span<std::byte> out) const override;
  Status finish(std::span<const std::byte> partial, Count element_count, std::byte* values,
                std::byte* spare) const override;

 private:
  template <class Result>
  void write_value(const Column& column, Count rows, std::byte* value) const noexcept {
    const auto round = shape_.operation == Operation::norm2  ? &rounded_root<Result>
                       : shape_.operation == Operation::mean ? &rounded_mean<Result>
                                                             : &rounded<Result>;
    Window window;
    column.bins.window(shape_.bin_count, window);
    const int lowest = shape_.grid.quantum(column.bins.top - shape_.bin_count + 1);
    const Result result = round(static_cast<Flags>(column.flags), rows, window, lowest);
    std::memcpy(value, &result, sizeof result);
  }

  Shape shape_;
};

Bytes BinnedKind::merge(std::span<const std::byte> left, std::span<const std::byte> right,
                        std::span<std::byte> out) const {
  const MergedHeader merged = merge_headers(left, right);
  if (out.size() < sizeof(Header)) return 0;
  if (!merged.ok) return write_failure(out, merged.header, merged.header.status);
  const Bytes size = shape_.record_bytes();
  if (left.size() != size || right.size() != size || out.size() < size)
    return write_failure(out, merged.header, Status::transport_failed);
  const Count rows = rows_of(left) + rows_of(right);
  Column a;
  Column b;
  for (Count column = 0; column < shape_.columns; ++column) {
    if (!take(shape_, left, column, a) || !take(shape_, right, column, b))
      return write_failure(out, merged.header, Status::transport_failed);
    a.bins.add(b.bins, shape_.bin_count);
    a.flags |= b.flags;
    put(shape_, a, column, out);
  }
  set_header(out, merged.header);
  std::memcpy(out.data() + sizeof(Header), &rows, sizeof rows);
  return size;
}

Status BinnedKind::finish(std::span<const std::byte> partial, Count element_count, std::byte* values,
                          std::byte* /*spare*/) const {
  const Status status = header_of(partial).status;
  if (status != Status::ok) return status;
  if (partial.size() != shape_.record_bytes()) return Status::transport_failed;
  const Count rows = rows_of(partial);
  if (element_count != unknown_count && rows != element_count)
    return rows < element_count ? Status::gap : Status::overlap;
  if (shape_.operation == Operation::mean && rows == 0) return Status::empty;
  Column column;
  for (Count i = 0; i < shape_.columns; ++i, values += size_of(shape_.result)) {
    if (!take(shape_, partial, i, column)) return Status::transport_failed;
    if (shape_.result == Type::f32)
      write_value<float>(column, rows, values);
    else
      write_value<double>(column, rows, values);
  }
  return Status::ok;
}

}  // namespace

std::unique_ptr<PartialKind> make_binned(Operation operation, Type input, Type result, int bin_count, Sweep sweep,
                                         Count columns) {
  return std::make_unique<BinnedKind>(Shape{.operation = operation,
                                            .input = input,
                                            .result = result,
                                            .bin_count = bin_count,
                                            .sweep = sweep,
                                            .columns = columns,
                                            .grid = Grid(operation == Operation::norm2 ? 2 : 1)});
}

}  // namespace steadfold::arithmetic
