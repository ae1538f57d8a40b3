#include "arithmetic/exact/sums_of_pairs.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "arithmetic/exact/forms.hpp"
#include "arithmetic/exact/several_sums.hpp"

namespace steadfold::arithmetic {
namespace {

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
      const TermOperands operands = operands_of(terms_[i], block.first, block.second);
      Block terms = block;
      terms.first = operands.first;
      terms.second = operands.second;
      builders_[i]->push(begin, terms);
    }
  }
  Bytes write(std::span<std::byte> out) override {
    return several_sums::write(out, several_sums::PrefixOfSums<count>{},
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
    for (std::size_t i = 0; i < count; ++i) sums_[i] = make_exact(operation_of(Form::terms[i]), input, result, 1);
  }

  Bytes capacity(const order::IntervalSet& rows) const override {
    Bytes bytes = sizeof(Prefix);
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
    return several_sums::merge<Prefix>(
        left, right, room,
        [&](std::size_t i, auto a, auto b, auto out) { return arithmetic::merge(*sums_[i], a, b, out); },
        [](const Header& header, const Prefix&, const Prefix&) { return Prefix{.header = header}; });
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& /*pieces*/) const override {
    const Parts parts(partial.head);
    if (parts.status != Status::ok) return parts.status;
    return input_ == Type::f32 ? finish_as<float>(parts, element_count, values)
                               : finish_as<double>(parts, element_count, values);
  }

 private:
  static constexpr std::size_t count = Form::terms.size();
  using Prefix = several_sums::PrefixOfSums<count>;
  using Parts = several_sums::Parts<Prefix>;

  template <class T>
  Status finish_as(const Parts& parts, Count element_count, std::byte* values) const noexcept {
    std::array<ExactSum, count> sums;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_read = several_sums::read(parts.sums[i], digit_count_of<T>(Form::terms[i]), sums[i]);
      if (!is_read || sums[i].rows != sums[0].rows) return Status::transport_failed;
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
