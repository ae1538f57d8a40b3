#include "arithmetic/weighted_mean.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "arithmetic/accumulator.hpp"
#include "arithmetic/natural.hpp"
#include "arithmetic/two_sums.hpp"

namespace steadfold::arithmetic {
namespace {

// The record: that of two sums, of the products and of the weights.
struct Prefix {
  Header header;
  Bytes first_bytes = 0;
};
using Parts = two_sums::Parts<Prefix>;

class WeightedMeanBuilder final : public Builder {
 public:
  WeightedMeanBuilder(std::unique_ptr<Builder> products, std::unique_ptr<Builder> weights)
      : products_(std::move(products)), weights_(std::move(weights)) {}

  void clear() override {
    products_->clear();
    weights_->clear();
  }
  void push(Index begin, const Block& block) override {
    products_->push(begin, block);
    weights_->push(begin, {.first = block.second, .rows = block.rows, .row_stride = block.row_stride});
  }
  Bytes write(std::span<std::byte> out) override {
    return two_sums::write(
        out, Prefix{}, [&](std::span<std::byte> room) { return products_->write(room); },
        [&](std::span<std::byte> room) { return weights_->write(room); });
  }

 private:
  std::unique_ptr<Builder> products_;
  std::unique_ptr<Builder> weights_;
};

/// A sum as a number, or what it is in place of one.
struct Value {
  explicit Value(const two_sums::Sum& sum) noexcept : size(sum.window) {
    const bool plus = (sum.flags & has_plus_infinity) != 0;
    const bool minus = (sum.flags & has_minus_infinity) != 0;
    is_nan = (sum.flags & has_nan) != 0 || (plus && minus);
    is_infinite = plus || minus;
    const bool has_only_minus_zeros = sum.rows > 0 && (sum.flags & not_minus_zero) == 0;
    is_negative = is_infinite ? minus : size.zero() ? has_only_minus_zeros : sum.window.negative;
  }
  bool is_zero() const noexcept { return !is_infinite && size.zero(); }

  Natural size;
  bool is_nan;
  bool is_infinite;
  bool is_negative;
};

template <class T, class Result>
Result quotient(const two_sums::Sum& products, const two_sums::Sum& weights) noexcept {
  using Limits = std::numeric_limits<Result>;
  const Value dividend(products);
  const Value divisor(weights);
  const bool are_alike = (dividend.is_infinite && divisor.is_infinite) || (dividend.is_zero() && divisor.is_zero());
  if (dividend.is_nan || divisor.is_nan || are_alike) return Limits::quiet_NaN();
  const bool is_negative = dividend.is_negative != divisor.is_negative;
  const Result sign = is_negative ? Result{-1} : Result{1};
  if (dividend.is_infinite || divisor.is_zero()) return sign * Limits::infinity();
  if (divisor.is_infinite || dividend.is_zero()) return sign * Result{0};
  // Products are in units of the square of what weights are in units of.
  Leading exact = dividend.size.divided_by(divisor.size, Accumulator<T, 1>::lowest_exponent);
  exact.negative = is_negative;
  return rounded<Result>(not_minus_zero, products.rows, exact);
}

class WeightedMeanKind final : public PartialKind {
 public:
  WeightedMeanKind(ExactType input, ExactType result)
      : input_(input),
        result_(result),
        products_(make_exact(ExactOperation::dot, input, result, 1)),
        weights_(make_exact(ExactOperation::sum, input, result, 1)) {}

  Bytes capacity(const order::IntervalSet& rows) const override {
    return sizeof(Prefix) + padded(products_->capacity(rows)) + weights_->capacity(rows);
  }
  Bytes value_bytes() const noexcept override { return products_->value_bytes(); }
  std::unique_ptr<Builder> builder() const override {
    return std::make_unique<WeightedMeanBuilder>(products_->builder(), weights_->builder());
  }

  Partial merge(const Partial& left, const Partial& right, const Room& room) const override {
    const MergedHeader merged = merge_headers(left.head, right.head);
    if (room.head.size() < sizeof(Header)) return {};
    if (!merged.ok) return failed(room, merged.header, merged.header.status);
    const Parts a(left.head);
    const Parts b(right.head);
    if (!a.are_there || !b.are_there) return failed(room, merged.header, Status::transport_failed);
    return room.head.first(two_sums::write(
        room.head, Prefix{.header = merged.header},
        [&](std::span<std::byte> out) { return arithmetic::merge(*products_, a.first, b.first, out); },
        [&](std::span<std::byte> out) { return arithmetic::merge(*weights_, a.second, b.second, out); }));
  }

  Status finish(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/) const override {
    const Status whole = header_of(partial.head).status;
    if (whole != Status::ok) return whole;
    const Parts parts(partial.head);
    if (!parts.are_there) return Status::transport_failed;
    return input_ == ExactType::f32 ? finish_as<float>(parts, element_count, values)
                                    : finish_as<double>(parts, element_count, values);
  }

 private:
  template <class T>
  Status finish_as(const Parts& parts, Count element_count, std::byte* values) const noexcept {
    two_sums::Sum products;
    two_sums::Sum weights;
    if (!read(parts.first, Accumulator<T, 2>::digit_count, products) ||
        !read(parts.second, Accumulator<T, 1>::digit_count, weights) || products.rows != weights.rows)
      return Status::transport_failed;
    if (const Status status = check_row_count(products.rows, element_count); status != Status::ok) return status;
    if (products.rows == 0) return Status::empty;
    const auto write = [&](auto value) { std::memcpy(values, &value, sizeof value); };
    result_ == ExactType::f32 ? write(quotient<T, float>(products, weights))
                              : write(quotient<T, double>(products, weights));
    return Status::ok;
  }

  ExactType input_;
  ExactType result_;
  std::unique_ptr<PartialKind> products_;
  std::unique_ptr<PartialKind> weights_;
};

}  // namespace

std::unique_ptr<PartialKind> make_weighted_mean(ExactType input, ExactType result) {
  return std::make_unique<WeightedMeanKind>(input, result);
}

}  // namespace steadfold::arithmetic
