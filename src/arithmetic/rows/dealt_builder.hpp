// A builder for sums whose bits do not depend on the order. Labels distribute the rows to columns (the rows are
// "dealt"), and every element is added separately.
// Rank order: none. Cost: that of the sums.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic {

/// The number of elements by which the states of columns are prefetched ahead.
inline constexpr std::size_t prefetched_ahead = 24;

/// Calls `add(state, element)` for every element, with its column's state.
template <class Element, class State, class Add>
void for_each_dealt(std::span<const std::uint32_t> columns, const std::byte* elements, State* states, const Add& add) {
  for (std::size_t i = 0; i < columns.size(); ++i, elements += sizeof(Element)) {
    __builtin_prefetch(states + columns[std::min(i + prefetched_ahead, columns.size() - 1)], 1);
    Element element;
    std::memcpy(&element, elements, sizeof element);
    add(states[columns[i]], element);
  }
}

/// Adds the flags of a term to the flags of its column. Returns whether the term is finite and not 0.
inline bool note_dealt(double term, std::uint8_t& flags) noexcept {
  using F = Format<double>;
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const std::uint64_t magnitude = bits & ~F::sign_bit;
  const bool is_negative = bits != magnitude;
  flags |= magnitude == 0 && is_negative ? has_minus_zero : not_minus_zero;
  if (magnitude < F::infinity) return magnitude != 0;
  flags |= magnitude > F::infinity ? has_nan : is_negative ? has_minus_infinity : has_plus_infinity;
  return false;
}

/// Sorts elements roughly by their columns, so that the columns' states stay in the second-level cache. Every range of
/// columns has a buffer of equal size, and a full buffer is emptied. Cost: some 2 ns per element, and 1 MiB if there
/// are several ranges.
template <class Element>
class RangesOfColumns {
 public:
  RangesOfColumns(Count columns, Bytes bytes_per_column) {
    constexpr Bytes most_at_once = Bytes{3} << 20;  // bytes; somewhat more than the cache has
    constexpr Bytes many = Bytes{1} << 19;          // bytes of states in one of several ranges
    constexpr Count most_ranges = 1024;
    const Count last = columns - 1;
    const Bytes enough = bytes_per_column * columns > most_at_once ? many : most_at_once;
    while (last >> shift_ >= most_ranges || (last >> shift_ > 0 && (bytes_per_column << shift_) < enough)) ++shift_;
    ranges_.resize(((columns - 1) >> shift_) + 1);
    room_ = std::max(all_elements / ranges_.size(), fewest);
  }

  /// Whether there are several ranges.
  bool are_worth_it() const noexcept { return ranges_.size() > 1; }
  void clear() noexcept { std::ranges::fill(ranges_, 0); }
  /// Calls `empty(columns, elements)` for each range that is full.
  template <class Empty>
  void put(std::span<const std::uint32_t> columns, const std::byte* elements, const Empty& empty) {
    if (columns_ == nullptr) make_rooms();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t range = columns[i] >> shift_;
      const std::size_t at = range * room_ + ranges_[range];
      columns_[at] = columns[i];
      std::memcpy(&elements_[at], elements + i * sizeof(Element), sizeof(Element));
      if (++ranges_[range] == room_) take(range, empty);
    }
  }
  /// Calls `empty(columns, elements)` for each range that still has elements.
  template <class Empty>
  void take_rest(const Empty& empty) {
    for (std::size_t range = 0; range < ranges_.size(); ++range)
      if (ranges_[range] > 0) take(range, empty);
  }

 private:
  static constexpr std::size_t all_elements = (std::size_t{1} << 20) / (sizeof(Element) + sizeof(std::uint32_t));
  static constexpr std::size_t fewest = 64;  // smallest number of elements of a buffer

  void make_rooms() {
    elements_ = std::make_unique_for_overwrite<Element[]>(ranges_.size() * room_);
    // Allocated last: both arrays then exist.
    columns_ = std::make_unique_for_overwrite<std::uint32_t[]>(ranges_.size() * room_);
  }
  template <class Empty>
  void take(std::size_t range, const Empty& empty) {
    const std::size_t begin = range * room_;
    empty(std::span(columns_.get() + begin, std::exchange(ranges_[range], 0)),
          reinterpret_cast<const std::byte*>(elements_.get() + begin));
  }

  int shift_ = 0;                      // base-2 logarithm of the number of columns of a range
  std::vector<std::uint32_t> ranges_;  // the number of elements in each range's buffer
  std::size_t room_ = 0;
  std::unique_ptr<std::uint32_t[]> columns_;
  std::unique_ptr<Element[]> elements_;
};

/// Two factors whose product is not rounded.
struct Factors {
  double first;
  double second;
};

/// `Sums` has a small state for every column: `count()`, `clear()`, `add(columns, terms)`, `write(rows, out)` for a
/// record and `finish(values)`. If `Factor` is a type, terms are products: as Factors, or rounded to doubles.
template <class Sums, class Factor = void>
class DealtBuilder final : public Builder, private ColumnBuilders {
 public:
  explicit DealtBuilder(Sums sums) : sums_(std::move(sums)), ranges_(sums_.count(), Sums::bytes_per_column) {}

  void clear() override {
    if (!std::exchange(is_clear_, true)) sums_.clear();
    ranges_.clear();
    taken_ = 0;
    rows_ = 0;
    status_ = Status::ok;
  }
  /// Refuses rows without labels, because they belong to no column.
  void push(Index /*begin*/, const Block& /*block*/) override { status_ = Status::invalid_argument; }
  Bytes write(std::span<std::byte> out) override {
    add_rest();
    if (status_ == Status::ok) return sums_.write(rows_, out);
    return out.size() < sizeof(Header) ? 0 : write_failure(out, Header{}, status_);
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    add_rest();
    const Status status = std::max(status_, check_row_count(rows_, element_count));
    if (status == Status::ok) sums_.finish(values);
    return status;
  }

  ColumnBuilders* columns() noexcept override { return this; }

 private:
  Count count() const noexcept override { return sums_.count(); }
  Builder& column(Count /*column*/) override { return *this; }
  bool are_only_way() const noexcept override { return true; }
  void deal(Count rows, Status status) override {
    rows_ += rows;
    status_ = std::max(status_, status);
  }
  bool scatters() const noexcept override { return true; }
  void scatter(std::span<const std::uint32_t> columns, Index /*begin*/, const std::byte* elements,
               const std::byte* factors) override {
    is_clear_ = false;
    taken_ += columns.size();
    const std::byte* terms = terms_of(columns.size(), elements, factors);
    if (std::ranges::find(columns, no_column) != columns.end()) {
      columns = keep_dealt(columns, terms);
      terms = reinterpret_cast<const std::byte*>(kept_.data());
    }
    if (!ranges_.are_worth_it() || taken_ <= sums_.count()) return sums_.add(columns, terms);
    ranges_.put(columns, terms, [this](auto some, const std::byte* theirs) { sums_.add(some, theirs); });
  }
  /// Copies the terms that have a column, and returns their columns. Has no branch, because its outcome would be
  /// random.
  std::span<const std::uint32_t> keep_dealt(std::span<const std::uint32_t> columns, const std::byte* terms) {
    kept_.resize(std::max(columns.size(), kept_.size()));
    kept_columns_.resize(kept_.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::memcpy(&kept_[kept], terms + i * sizeof(typename Sums::Term), sizeof(typename Sums::Term));
      kept_columns_[kept] = columns[i];
      kept += columns[i] != no_column ? 1 : 0;
    }
    return std::span(kept_columns_).first(kept);
  }
  const std::byte* terms_of(std::size_t count, const std::byte* elements, const std::byte* factors) {
    if constexpr (std::is_void_v<Factor>) {
      return elements;
    } else {
      products_.resize(std::max(count, products_.size()));
      for (std::size_t i = 0; i < count; ++i) {
        Factor x;
        Factor y;
        std::memcpy(&x, elements + i * sizeof x, sizeof x);
        std::memcpy(&y, factors + i * sizeof y, sizeof y);
        if constexpr (std::is_same_v<typename Sums::Term, Factors>)
          products_[i] = {x, y};
        else
          products_[i] = static_cast<double>(x) * static_cast<double>(y);
      }
      return reinterpret_cast<const std::byte*>(products_.data());
    }
  }
  void add_rest() {
    ranges_.take_rest([this](auto some, const std::byte* theirs) { sums_.add(some, theirs); });
  }

  Sums sums_;
  RangesOfColumns<typename Sums::Term> ranges_;
  std::vector<typename Sums::Term> products_;
  std::vector<typename Sums::Term> kept_;  // terms that have a column, if some have none
  std::vector<std::uint32_t> kept_columns_;
  bool is_clear_ = true;
  Count taken_ = 0;  // number of elements so far; ranges save no time while columns have few elements
  Count rows_ = 0;
  Status status_ = Status::ok;
};

}  // namespace steadfold::arithmetic
