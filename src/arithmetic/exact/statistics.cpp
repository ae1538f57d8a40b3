#include "arithmetic/exact/statistics.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "arithmetic/exact/forms.hpp"
#include "arithmetic/exact/several_sums.hpp"
#include "arithmetic/location/located.hpp"
#include "arithmetic/rows/selected_rows.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {
namespace {

// The beginning of a record. The record has two sums: of the selected elements, and of their squares.
struct StatisticsPrefix {
  Header header;
  Count rows = 0;  // number of rows, whether selected or not
  Extremes extremes;
  std::array<Bytes, 1> sum_bytes{};
};
static_assert(sizeof(StatisticsPrefix) == sizeof(Header) + 48);
using Parts = several_sums::Parts<StatisticsPrefix>;

template <class T>
class StatisticsBuilder final : public Builder {
 public:
  StatisticsBuilder(std::unique_ptr<Builder> sum, std::unique_ptr<Builder> squares)
      : sum_(std::move(sum)), squares_(std::move(squares)) {}

  void clear() override {
    sum_->clear();
    squares_->clear();
    min_.clear();
    max_.clear();
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index begin, const Block& block) override {
    if (block.rows > 0 && block.first == nullptr) {
      status_ = Status::invalid_argument;
      return;
    }
    if (block.rows == 0) return add(block);
    rows_ += block.rows;
    for (Count done = 0, some = 0; done < block.rows; done += some) {
      some = std::min(block.rows - done, tile);
      Block part = block;
      part.first += done * block.row_stride;
      part.rows = some;
      if (part.mask != nullptr) part.mask += done;
      push_tile(begin + done, part);
    }
  }

  Bytes write(std::span<std::byte> out) override {
    const Extremes extremes{as_double(min_.best()), as_double(max_.best())};
    const StatisticsPrefix prefix{.header = {.status = status_}, .rows = rows_, .extremes = extremes};
    return several_sums::write(
        out, prefix, [&](std::size_t i, std::span<std::byte> room) { return (i == 0 ? sum_ : squares_)->write(room); });
  }

 private:
  static constexpr Count tile = 1024;  // number of rows that stay in the first-level cache

  static Located<double> as_double(const Located<T>& each) noexcept {
    return {.value = static_cast<double>(each.value), .index = each.index};
  }

  void push_tile(Index begin, const Block& block) {
    min_.take(begin, block.first, block.mask, block.rows, block.row_stride);
    max_.take(begin, block.first, block.mask, block.rows, block.row_stride);
    if (block.mask == nullptr) return add(block);
    selected_.for_each_tile(block, [&](const Block& rows) { add(rows); });
  }
  void add(const Block& block) {
    sum_->push(0, block);
    squares_->push(0, block);
  }

  std::unique_ptr<Builder> sum_;
  std::unique_ptr<Builder> squares_;
  Extreme<T, true> min_;
  Extreme<T, false> max_;
  SelectedRows selected_{sizeof(T)};
  Count rows_ = 0;
  Status status_ = Status::ok;
};

class StatisticsKind final : public PartialKind {
 public:
  StatisticsKind(Type input, Type result)
      : input_(input),
        result_(result),
        sum_(make_exact(Operation::sum, input, Type::f64, 1)),
        squares_(make_exact(Operation::sum_squares, input, Type::f64, 1)) {}

  Bytes capacity(const order::IntervalSet& rows) const override {
    return sizeof(StatisticsPrefix) + padded(sum_->capacity(rows)) + squares_->capacity(rows);
  }
  Bytes value_bytes() const noexcept override { return sizeof(Statistics); }
  Content content() const noexcept override { return Content::accumulators; }
  std::unique_ptr<Builder> builder() const override {
    if (input_ == Type::f32) return std::make_unique<StatisticsBuilder<float>>(sum_->builder(), squares_->builder());
    return std::make_unique<StatisticsBuilder<double>>(sum_->builder(), squares_->builder());
  }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& /*pieces*/) const override {
    return several_sums::merge<StatisticsPrefix>(
        left, right, room,
        [&](std::size_t i, auto a, auto b, auto out) {
          return arithmetic::merge(i == 0 ? *sum_ : *squares_, a, b, out);
        },
        [](const Header& header, const StatisticsPrefix& a, const StatisticsPrefix& b) {
          return StatisticsPrefix{
              .header = header, .rows = a.rows + b.rows, .extremes = merged(a.extremes, b.extremes)};
        });
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& /*pieces*/) const override {
    const Parts parts(partial.head);
    if (parts.status != Status::ok) return parts.status;
    if (const Status status = check_row_count(parts.prefix.rows, element_count); status != Status::ok) return status;
    Statistics made{};
    const bool is_read = input_ == Type::f32 ? finish_as<float>(parts, made) : finish_as<double>(parts, made);
    if (!is_read) return Status::transport_failed;
    std::memcpy(values, &made, sizeof made);
    return Status::ok;
  }

 private:
  template <class T>
  bool finish_as(const Parts& parts, Statistics& made) const noexcept {
    return result_ == Type::f32 ? finish_as<T, float>(parts, made) : finish_as<T, double>(parts, made);
  }
  /// Returns false if the kinds of the sums cannot have written the sums.
  template <class T, class Result>
  static bool finish_as(const Parts& parts, Statistics& made) noexcept {
    std::array<ExactSum, 2> sums;
    if (!several_sums::read(parts.sums[0], Accumulator<T, 1>::digit_count, sums[0]) ||
        !several_sums::read(parts.sums[1], Accumulator<T, 2>::digit_count, sums[1]) || sums[0].rows != sums[1].rows)
      return false;
    made = StatisticsForm::of<T, Result>(sums, parts.prefix.extremes);
    return true;
  }

  Type input_;
  Type result_;
  std::unique_ptr<PartialKind> sum_;
  std::unique_ptr<PartialKind> squares_;
};

}  // namespace

std::unique_ptr<PartialKind> make_statistics(Type input, Type result) {
  return std::make_unique<StatisticsKind>(input, result);
}

}  // namespace steadfold::arithmetic
