#include "arithmetic/exact/sums_of_pairs.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "arithmetic/exact/moments.hpp"
#include "arithmetic/exact/several_sums.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"
#include "arithmetic/superaccumulator/natural.hpp"

namespace steadfold::arithmetic {
namespace {

template <std::size_t count>
struct PairSumsPrefix {
  Header header;
  std::array<Bytes, count - 1> sum_bytes{};
};

/// The term that a row adds to one of the sums.
enum class Term : std::uint8_t { product, first, second, square_of_first, square_of_second };

constexpr bool has_factors(Term term) noexcept { return term != Term::first && term != Term::second; }

/// The value of an exact sum: a finite number, an infinity or NaN.
struct SumValue {
  explicit SumValue(const ExactSum& sum) noexcept : size(sum.range) {
    const bool plus = (sum.flags & has_plus_infinity) != 0;
    const bool minus = (sum.flags & has_minus_infinity) != 0;
    is_nan = (sum.flags & has_nan) != 0 || (plus && minus);
    is_infinite = plus || minus;
    const bool has_only_minus_zeros = sum.rows > 0 && (sum.flags & not_minus_zero) == 0;
    is_negative = is_infinite ? minus : size.zero() ? has_only_minus_zeros : sum.range.negative;
  }
  bool is_zero() const noexcept { return !is_infinite && size.zero(); }

  Natural size;
  bool is_nan;
  bool is_infinite;
  bool is_negative;
};

struct WeightedMean {
  static constexpr std::array terms = {Term::product, Term::second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept;
};

template <class T, class Result>
Result WeightedMean::of(const std::array<ExactSum, terms.size()>& sums) noexcept {
  using Limits = std::numeric_limits<Result>;
  const SumValue dividend(sums[0]);
  const SumValue divisor(sums[1]);
  const bool are_alike = (dividend.is_infinite && divisor.is_infinite) || (dividend.is_zero() && divisor.is_zero());
  if (dividend.is_nan || divisor.is_nan || are_alike) return Limits::quiet_NaN();
  const bool is_negative = dividend.is_negative != divisor.is_negative;
  const Result sign = is_negative ? Result{-1} : Result{1};
  if (dividend.is_infinite || divisor.is_zero()) return sign * Limits::infinity();
  if (divisor.is_infinite || dividend.is_zero()) return sign * Result{0};
  // The units are equal, because the unit of products is the square of the unit of weights.
  Leading exact = dividend.size.divided_by(divisor.size, Accumulator<T, 1>::lowest_exponent);
  exact.negative = is_negative;
  return rounded<Result>(not_minus_zero, sums[0].rows, exact);
}

template <Count ddof>
struct Covariance {
  static constexpr std::array terms = {Term::product, Term::first, Term::second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    return rounded_covariance<Result>(sums[0], sums[1], sums[2], ddof, Accumulator<T, 2>::lowest_exponent);
  }
};

struct Correlation {
  static constexpr std::array terms = {Term::product, Term::first, Term::second, Term::square_of_first,
                                       Term::square_of_second};

  template <class T, class Result>
  static Result of(const std::array<ExactSum, terms.size()>& sums) noexcept {
    return rounded_correlation<Result>({sums[0], sums[1], sums[2], sums[3], sums[4]});
  }
};

/// Passes the rows of a block to the builders of the sums.
template <std::size_t count>
class PairsBuilder final : public Builder {
 public:
  using Builders = std::array<std::unique_ptr<Builder>, count>;
  PairsBuilder(const std::array<Term, count>& terms, Builders builders)
      : terms_(terms), builders_(std::move(builders)) {}

  void clear() override {
    for (const auto& each : builders_) each->clear();
  }
  void push(Index begin, const Block& block) override {
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_of_second = terms_[i] == Term::second || terms_[i] == Term::square_of_second;
      Block terms = block;
      if (is_of_second) terms.first = block.second;
      if (terms_[i] != Term::product) terms.second = has_factors(terms_[i]) ? terms.first : nullptr;
      builders_[i]->push(begin, terms);
    }
  }
  Bytes write(std::span<std::byte> out) override {
    return several_sums::write(out, PairSumsPrefix<count>{},
                               [&](std::size_t i, std::span<std::byte> room) { return builders_[i]->write(room); });
  }

 private:
  std::array<Term, count> terms_;
  Builders builders_;
};

/// The kind of partial whose results `Form` computes from the sums of its terms.
template <class Form>
class PairsKind final : public PartialKind {
 public:
  PairsKind(Type input, Type result) : input_(input), result_(result) {
    for (std::size_t i = 0; i < count; ++i) {
      const Operation operation = has_factors(Form::terms[i]) ? Operation::dot : Operation::sum;
      sums_[i] = make_exact(operation, input, result, 1);
    }
  }

  Bytes capacity(const order::IntervalSet& rows) const override {
    Bytes bytes = sizeof(PairSumsPrefix<count>);
    for (const auto& each : sums_) bytes += padded(each->capacity(rows));
    return bytes;
  }
  Bytes value_bytes() const noexcept override { return sums_[0]->value_bytes(); }
  Content content() const noexcept override { return Content::accumulators; }
  std::unique_ptr<Builder> builder() const override {
    typename PairsBuilder<count>::Builders builders;
    for (std::size_t i = 0; i < count; ++i) builders[i] = sums_[i]->builder();
    return std::make_unique<PairsBuilder<count>>(Form::terms, std::move(builders));
  }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& /*pieces*/) const override {
    return several_sums::merge<PairSumsPrefix<count>>(
        left, right, room, [&](std::size_t i) -> const PartialKind& { return *sums_[i]; },
        [](const Header& header, const auto& /*left*/, const auto& /*right*/) {
          return PairSumsPrefix<count>{.header = header};
        });
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& /*pieces*/) const override {
    const Status whole = header_of(partial.head).status;
    if (whole != Status::ok) return whole;
    const Parts parts(partial.head);
    if (!parts.are_there) return Status::transport_failed;
    return input_ == Type::f32 ? finish_as<float>(parts, element_count, values)
                               : finish_as<double>(parts, element_count, values);
  }

 private:
  static constexpr std::size_t count = Form::terms.size();
  using Parts = several_sums::Parts<PairSumsPrefix<count>>;

  template <class T>
  Status finish_as(const Parts& parts, Count element_count, std::byte* values) const noexcept {
    std::array<ExactSum, count> sums;
    for (std::size_t i = 0; i < count; ++i) {
      constexpr int of_products = Accumulator<T, 2>::digit_count, of_numbers = Accumulator<T, 1>::digit_count;
      const int digit_count = has_factors(Form::terms[i]) ? of_products : of_numbers;
      if (!several_sums::read(parts.sums[i], digit_count, sums[i]) || sums[i].rows != sums[0].rows)
        return Status::transport_failed;
    }
    if (const Status status = check_row_count(sums[0].rows, element_count); status != Status::ok) return status;
    if (sums[0].rows == 0) return Status::empty;
    const auto write = [&](auto value) { std::memcpy(values, &value, sizeof value); };
    result_ == Type::f32 ? write(Form::template of<T, float>(sums)) : write(Form::template of<T, double>(sums));
    return Status::ok;
  }

  Type input_;
  Type result_;
  std::array<std::unique_ptr<PartialKind>, count> sums_;
};

}  // namespace

std::unique_ptr<PartialKind> make_sums_of_pairs(Operation operation, Type input, Type result) {
  if (operation == Operation::covariance) return std::make_unique<PairsKind<Covariance<0>>>(input, result);
  if (operation == Operation::sample_covariance) return std::make_unique<PairsKind<Covariance<1>>>(input, result);
  if (operation == Operation::correlation) return std::make_unique<PairsKind<Correlation>>(input, result);
  return std::make_unique<PairsKind<WeightedMean>>(input, result);
}

}  // namespace steadfold::arithmetic
