#include "arithmetic/tree/results.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "arithmetic/tree/record.hpp"
#include "arithmetic/wrapped_kind.hpp"

namespace steadfold::arithmetic {
namespace {

/// Changes the values of `columns` sums of `rows` rows to results.
using MakeResults = void (*)(std::byte* values, Count columns, Count rows);

template <class T, class Make>
void change_each(std::byte* values, Count columns, const Make& make) {
  for (Count i = 0; i < columns; ++i) {
    T value;
    std::memcpy(&value, values + i * sizeof value, sizeof value);
    value = make(value);
    std::memcpy(values + i * sizeof value, &value, sizeof value);
  }
}

/// Returns the quotient, rounded once, if a double holds the number of rows.
template <class T>
T quotient(T sum, Count rows) noexcept {
  return sum / static_cast<T>(rows);
}
/// A float holds numbers of rows up to 2^24 only. The quotient of doubles is rounded to odd, so that rounding it to a
/// float gives the float that is nearest to the exact quotient.
template <>
float quotient<float>(float sum, Count rows) noexcept {
  const auto divisor = static_cast<double>(rows);
  double found = sum / divisor;
  const double rest = std::fma(-found, divisor, sum);
  const auto bits = std::bit_cast<std::uint64_t>(found);
  // NaN, for infinite sums, compares false twice.
  const bool is_inexact = rest < 0 || rest > 0;
  if (is_inexact && bits % 2 == 0) found = std::nextafter(found, rest > 0 ? HUGE_VAL : -HUGE_VAL);
  return static_cast<float>(found);
}

template <class T>
void make_means(std::byte* values, Count columns, Count rows) {
  change_each<T>(values, columns, [rows](T sum) { return quotient(sum, rows); });
}
template <class T>
void make_roots(std::byte* values, Count columns, Count /*rows*/) {
  change_each<T>(values, columns, [](T sum) { return std::sqrt(sum); });
}

template <class T>
MakeResults results_of(Operation operation) {
  return operation == Operation::mean ? make_means<T> : make_roots<T>;
}
MakeResults results_of(Operation operation, Type type) {
  return type == Type::f32 ? results_of<float>(operation) : results_of<double>(operation);
}

/// What is the same for all results of a kind.
struct ResultShape {
  MakeResults make = nullptr;
  Count columns = 1;
  bool needs_rows = false;

  Status change(Status status, Count rows, std::byte* values) const {
    if (status != Status::ok) return status;
    if (rows == 0 && needs_rows) return Status::empty;
    make(values, columns, rows);
    return Status::ok;
  }
};

class ResultBuilder final : public Builder {
 public:
  ResultBuilder(std::unique_ptr<Builder> tree, const ResultShape& shape) : tree_(std::move(tree)), shape_(shape) {}

  void clear() override {
    tree_->clear();
    rows_ = 0;
  }
  void push(Index begin, const Block& block) override {
    tree_->push(begin, block);
    rows_ += block.rows;
  }
  Bytes write(std::span<std::byte> out) override { return tree_->write(out); }
  bool finishes_alone() const noexcept override { return tree_->finishes_alone(); }
  Status finish_alone(Count element_count, std::byte* values, std::byte* spare) override {
    return shape_.change(tree_->finish_alone(element_count, values, spare), rows_, values);
  }

 private:
  std::unique_ptr<Builder> tree_;
  ResultShape shape_;
  Count rows_ = 0;
};

/// Returns the number of rows of a partial of rows 0, 1, ...
Count row_count_of(const Partial& whole) {
  tree_record::Prefix prefix;
  std::memcpy(&prefix, whole.head.data(), sizeof prefix);
  if (prefix.interval_count == 0) return 0;
  tree_record::Interval rows;
  std::memcpy(&rows, whole.head.data() + sizeof prefix, sizeof rows);
  return rows.end;
}

class ResultKind final : public WrappedKind {
 public:
  ResultKind(std::unique_ptr<PartialKind> tree, const ResultShape& shape)
      : WrappedKind(std::move(tree)), shape_(shape) {}

  std::unique_ptr<Builder> builder() const override {
    return std::make_unique<ResultBuilder>(kind().builder(), shape_);
  }

 private:
  Status finish_piece(const Partial& whole, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    const Status status = kind().finish_piece(whole, element_count, values, spare, pieces);
    return status != Status::ok || pieces.more ? status : shape_.change(status, row_count_of(whole), values);
  }

  ResultShape shape_;
};

}  // namespace

std::unique_ptr<PartialKind> make_tree_result(std::unique_ptr<PartialKind> tree, Operation operation, Type type,
                                              Count columns) {
  if (operation != Operation::mean && operation != Operation::norm2) return tree;
  return std::make_unique<ResultKind>(std::move(tree), ResultShape{.make = results_of(operation, type),
                                                                   .columns = columns,
                                                                   .needs_rows = properties_of(operation).needs_rows});
}

}  // namespace steadfold::arithmetic
