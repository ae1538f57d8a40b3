#include "arithmetic/exact/builder.hpp"

#include <algorithm>
#include <vector>

#include "arithmetic/exact/dealt_sums.hpp"
#include "arithmetic/exact/narrow_columns.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/rows/column_groups.hpp"
#include "arithmetic/rows/dealt_builder.hpp"
#include "arithmetic/rows/few_rows.hpp"
#include "arithmetic/rows/turned_rows.hpp"
#include "arithmetic/superaccumulator/accumulator.hpp"

namespace steadfold::arithmetic {
namespace {

using exact_record::columns_of_group;
using exact_record::GroupSums;

/// The builder with an accumulator per column. This builder serves a single column, several columns as a reference for
/// tests, and products of doubles.
template <class Element, int factors>
class WideColumns {
  using Column = Accumulator<Element, factors>;

 public:
  static constexpr int digit_count = Column::digit_count;

  WideColumns(Count columns, Signs signs) : columns_(columns, Column(kernels::chosen(), signs)) {}

  Count count() const noexcept { return columns_.size(); }
  void clear() noexcept {
    for (Column& column : columns_) column.clear();
  }
  void add(const Block& block) noexcept {
    if (block.rows == 0) return;  // a block without rows may have no memory
    const std::byte* second = block.second == nullptr ? block.first : block.second;
    if (columns_.size() > 1 && block.rows >= fewest_for_kernels) return add_turned(block);
    for (Bytes offset = 0; Column & column : columns_) {
      column.add_rows(block.first + offset, second + offset, block.rows, block.row_stride);
      offset += sizeof(Element);
    }
  }
  void add_column(Count column, const std::byte* first, const std::byte* second, Count rows, Bytes stride) noexcept {
    columns_[column].add_rows(first, second, rows, stride);
  }

  /// Returns the only column.
  Column& only() noexcept { return columns_.front(); }
  void write(exact_record::Writer& writer) const noexcept {
    for_each_group([&](Count columns, GroupSums& group) { writer.put(columns, group); });
  }
  template <class Take>
  void for_each_group(const Take& take) const {
    GroupSums group;
    for (Count begin = 0; begin < columns_.size(); begin += columns_of_group) {
      const Count some = std::min(columns_of_group, columns_.size() - begin);
      group.flags = {};
      group.is_narrow = false;
      for (std::size_t lane = 0; lane < some; ++lane) {
        columns_[begin + lane].digit_range(group.wide[lane]);
        group.flags.add(lane, columns_[begin + lane].flags());
      }
      take(some, group);
    }
  }

 private:
  void add_turned(const Block& block) noexcept {
    TurnedRows<Element> turned;
    for_each_column_group(block, columns_.size(), sizeof(Element), [&](Count begin, const kernels::ColumnRows& rows) {
      turned.turn(rows);
      for (Count i = 0; i < rows.columns; ++i)
        columns_[begin + i].add_rows(turned.first(i), turned.second(i), rows.rows, sizeof(Element));
    });
  }

  std::vector<Column> columns_;
};

template <class Element, Operation operation, class Columns>
class ExactBuilder final : public Builder {
  static constexpr bool may_be_one = requires(Columns& columns) { columns.only(); };

 public:
  ExactBuilder(Count columns, const Ending& ending, Signs signs)
      : columns_(columns, signs),
        ending_(ending),
        few_(operation == Operation::sum && ending.operation == Operation::sum && columns == 1
                 ? kernels::sum_as_double_double<Element>(kernels::chosen())
                 : nullptr,
             sizeof(Element), may_be_one && columns == 1 ? most_few : 0) {}

  void clear() override {
    few_.clear();
    columns_.clear();
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    if (!readable(block)) return;
    push_few();
    const bool waits = rows_ == 0 && few_.may_wait(block);
    rows_ += block.rows;
    if (waits) return few_.let_wait(block);
    add(block);
  }

  Bytes write(std::span<std::byte> out) override {
    push_few();
    if (status_ != Status::ok) return out.size() < sizeof(Header) ? 0 : write_failure(out, Header{}, status_);
    exact_record::Writer writer(out, Header{}, rows_, Columns::digit_count);
    if constexpr (may_be_one) {
      if (has_one()) {
        DigitRange range;
        columns_.only().digit_range(range);
        writer.put(columns_.only().flags(), range);
        return writer.finish();
      }
    }
    columns_.write(writer);
    return writer.finish();
  }

  ColumnBuilders* columns() noexcept override { return has_one() ? nullptr : &views_; }
  Count column_count() const noexcept { return columns_.count(); }
  bool prefers_rows() const noexcept { return !may_be_one; }
  void push_column(Count column, Index /*begin*/, const Block& block) {
    if (!readable(block)) return;
    if (column == 0) rows_ += block.rows;
    columns_.add_column(column, block.first, second_of(block), block.rows, block.row_stride);
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    const Status status = status_ != Status::ok ? status_ : ending_.check(rows_, element_count);
    if (status != Status::ok) return status;
    if (!few_.empty() && finish_few(values)) return Status::ok;
    push_few();
    if constexpr (may_be_one) {
      if (has_one()) {
        ending_.write(columns_.only().flags(), rows_, columns_.only().leading(), values);
        return Status::ok;
      }
    }
    columns_.for_each_group([&](Count columns, const GroupSums& group) {
      values = ending_.write(group, columns, rows_, lowest_exponent, values);
    });
    return Status::ok;
  }

 private:
  /// The most rows that wait. Below a few thousand rows a call's fixed cost counts.
  static constexpr Count most_few = 4096;
  static constexpr int lowest_exponent = (sums_products(operation) ? 2 : 1) * Format<Element>::lowest_exponent;

  bool has_one() const noexcept { return may_be_one && columns_.count() == 1; }
  static const std::byte* second_of(const Block& block) noexcept {
    return operation == Operation::dot ? block.second : block.first;
  }
  bool readable(const Block& block) noexcept {
    const bool is_readable = block.rows == 0 || (block.first != nullptr && second_of(block) != nullptr);
    if (!is_readable) status_ = Status::invalid_argument;
    return is_readable;
  }

  void push_few() {
    if (!few_.empty()) add(few_.take());
  }
  bool finish_few(std::byte* value) noexcept {
    kernels::DoubleDoubleSum found;
    if (few_.sum(found) && FewRows::write(found, ending_.result == Type::f32, value)) return true;
    if constexpr (may_be_one) {
      if (has_one()) {
        const Block block = few_.take();
        Leading sum;
        if (!columns_.only().sum_or_add(block.first, second_of(block), block.rows, sum)) return false;
        ending_.write(columns_.only().flags(), rows_, sum, value);
        return true;
      }
    }
    return false;
  }
  /// Adds a block. The block is copied only if it must be changed; FewRows::let_wait gives the reason.
  void add(const Block& block) {
    const std::byte* const second = sums_products(operation) ? second_of(block) : nullptr;
    if (block.second == second) return columns_.add(block);
    Block taken = block;
    taken.second = second;
    columns_.add(taken);
  }

  Columns columns_;
  ColumnViews<ExactBuilder> views_{*this};
  Ending ending_;
  FewRows few_;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

template <class Element, Operation operation>
std::unique_ptr<Builder> make(Count columns, const Ending& ending) {
  constexpr int factors = sums_products(operation) ? 2 : 1;
  constexpr Signs signs = operation == Operation::abs_sum ? Signs::dropped : Signs::kept;
  if constexpr (factors * sizeof(Element) <= sizeof(double)) {
    using Narrow = NarrowColumns<Element, factors>;
    if (columns > 1 && Narrow::works(signs))
      return std::make_unique<ExactBuilder<Element, operation, Narrow>>(columns, ending, signs);
  }
  return std::make_unique<ExactBuilder<Element, operation, WideColumns<Element, factors>>>(columns, ending, signs);
}

template <class Element, int factors, class Factor>
std::unique_ptr<Builder> make_dealt(Count columns, const Ending& ending) {
  using Sums = DealtSums<Element, factors>;
  return std::make_unique<DealtBuilder<Sums, Factor>>(Sums(columns, ending));
}

template <class Element>
std::unique_ptr<Builder> make_dealt(Count columns, const Ending& ending) {
  return sums_products(ending.operation) ? make_dealt<Element, 2, Element>(columns, ending)
                                         : make_dealt<Element, 1, void>(columns, ending);
}

template <class Element>
std::unique_ptr<Builder> make(Operation operation, Count columns, const Ending& ending) {
  switch (operation) {
    case Operation::abs_sum: return make<Element, Operation::abs_sum>(columns, ending);
    case Operation::dot: return make<Element, Operation::dot>(columns, ending);
    case Operation::sum_squares:
    case Operation::norm2: return make<Element, Operation::sum_squares>(columns, ending);
    default: return make<Element, Operation::sum>(columns, ending);
  }
}

}  // namespace

std::unique_ptr<Builder> make_exact_builder(Operation operation, Type input, Count columns, const Ending& ending) {
  if (ending.is_dealt)
    return input == Type::f32 ? make_dealt<float>(columns, ending) : make_dealt<double>(columns, ending);
  return input == Type::f32 ? make<float>(operation, columns, ending) : make<double>(operation, columns, ending);
}

}  // namespace steadfold::arithmetic
