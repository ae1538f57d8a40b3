#include "arithmetic/exact/dealt_forms.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "arithmetic/exact/forms.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/exact/several_sums.hpp"
#include "arithmetic/rows/dealt_builder.hpp"

namespace steadfold::arithmetic {
namespace {

/// The number of elements of a column.
struct Tally {
  Count rows = 0;

  void take(double /*element*/, Index /*row*/) noexcept { ++rows; }
};
Tally merged(const Tally& a, const Tally& b) noexcept { return {a.rows + b.rows}; }

/// The number of elements of a column, and the extremes.
struct TallyWithExtremes {
  Count rows = 0;
  Extremes extremes;

  void take(double element, Index row) noexcept {
    ++rows;
    const bool is_between = extremes.min.value < element && element < extremes.max.value;
    if (is_between) [[likely]]
      return;
    extremes.take({.value = canonical(element), .index = row});
  }
};
TallyWithExtremes merged(const TallyWithExtremes& a, const TallyWithExtremes& b) noexcept {
  return {a.rows + b.rows, merged(a.extremes, b.extremes)};
}

/// A tally for every column. A record is a Header and the tallies.
template <class Each>
class Tallies {
 public:
  explicit Tallies(Count columns) : tallies_(columns) {}

  void clear() noexcept { std::ranges::fill(tallies_, Each()); }
  /// Takes the elements of rows begin, begin + 1, ..., each to the tally of its column.
  template <class T>
  void add(std::span<const std::uint32_t> columns, Index begin, const std::byte* elements) noexcept {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::uint32_t later = columns[std::min(i + prefetched_ahead, columns.size() - 1)];
      if (later != ColumnBuilders::no_column) __builtin_prefetch(&tallies_[later], 1);
      if (columns[i] == ColumnBuilders::no_column) continue;
      T element;
      std::memcpy(&element, elements + i * sizeof element, sizeof element);
      tallies_[columns[i]].take(element, begin + i);
    }
  }

  static Bytes bytes(Count columns) noexcept { return offset(columns); }
  static bool are_there(std::span<const std::byte> record, Count columns) noexcept {
    return record.size() == bytes(columns);
  }
  static Each of(std::span<const std::byte> record, Count column) noexcept {
    Each tally;
    std::memcpy(&tally, record.data() + offset(column), sizeof tally);
    return tally;
  }

  Bytes write(std::span<std::byte> out) const noexcept {
    return write(out, tallies_.size(), [this](Count column) { return tallies_[column]; });
  }
  static Bytes merge(std::span<const std::byte> a, std::span<const std::byte> b, Count columns,
                     std::span<std::byte> out) noexcept {
    if (!are_there(a, columns) || !are_there(b, columns)) return 0;
    return write(out, columns, [&](Count column) { return merged(of(a, column), of(b, column)); });
  }

 private:
  static Bytes offset(Count column) noexcept { return sizeof(Header) + column * sizeof(Each); }

  template <class OfColumn>
  static Bytes write(std::span<std::byte> out, Count columns, const OfColumn& tally_of) noexcept {
    if (out.size() < bytes(columns)) return 0;
    set_header(out, Header{});
    for (Count column = 0; column < columns; ++column) {
      const Each tally = tally_of(column);
      std::memcpy(out.data() + offset(column), &tally, sizeof tally);
    }
    return bytes(columns);
  }

  std::vector<Each> tallies_;
};

template <class Form>
constexpr bool has_extremes = requires { Form::has_extremes; };
template <class Form>
constexpr std::size_t sum_count = Form::terms.size();
template <class Form>
using TalliesOf = Tallies<std::conditional_t<has_extremes<Form>, TallyWithExtremes, Tally>>;
/// The tallies follow the sums.
template <class Form>
using Prefix = several_sums::PrefixOfSums<sum_count<Form> + 1>;

template <class Form>
class DealtFormBuilder final : public Builder, private ColumnBuilders {
 public:
  using Sums = std::array<std::unique_ptr<Builder>, sum_count<Form>>;

  DealtFormBuilder(Sums sums, Type input, Count columns)
      : sums_(std::move(sums)), input_(input), columns_(columns), tallies_(columns) {}

  void clear() override {
    for (const auto& sum : sums_) sum->clear();
    if (!std::exchange(is_clear_, true)) tallies_.clear();
  }
  /// The sums refuse rows without labels.
  void push(Index begin, const Block& block) override {
    for (const auto& sum : sums_) sum->push(begin, block);
  }
  Bytes write(std::span<std::byte> out) override {
    return several_sums::write(out, Prefix<Form>{}, [&](std::size_t i, std::span<std::byte> room) {
      return i < sums_.size() ? sums_[i]->write(room) : tallies_.write(room);
    });
  }
  ColumnBuilders* columns() noexcept override { return this; }

 private:
  Count count() const noexcept override { return columns_; }
  Builder& column(Count /*column*/) override { return *this; }
  bool are_only_way() const noexcept override { return true; }
  void deal(Count rows, Status status) override {
    for (const auto& sum : sums_) sum->columns()->deal(rows, status);
  }
  bool scatters() const noexcept override { return true; }
  void scatter(std::span<const std::uint32_t> columns, Index begin, const std::byte* elements,
               const std::byte* factors) override {
    is_clear_ = false;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const TermOperands operands = operands_of(Form::terms[i], elements, factors);
      sums_[i]->columns()->scatter(columns, begin, operands.first, operands.second);
    }
    if (input_ == Type::f32)
      tallies_.template add<float>(columns, begin, elements);
    else
      tallies_.template add<double>(columns, begin, elements);
  }

  Sums sums_;
  Type input_;
  Count columns_;
  TalliesOf<Form> tallies_;
  bool is_clear_ = true;
};

template <class Form>
class DealtFormKind final : public PartialKind {
 public:
  DealtFormKind(Type input, Type result, Count columns) : input_(input), result_(result), columns_(columns) {
    for (std::size_t i = 0; i < sums_.size(); ++i)
      sums_[i] = make_exact_of_dealt(operation_of(Form::terms[i]), input, Type::f64, columns);
  }

  Bytes capacity(const order::IntervalSet& rows) const override {
    Bytes bytes = sizeof(Prefix<Form>) + TalliesOf<Form>::bytes(columns_);
    for (const auto& sum : sums_) bytes += padded(sum->capacity(rows));
    return bytes;
  }
  Bytes value_bytes() const noexcept override {
    return columns_ * (has_extremes<Form> ? sizeof(Statistics) : size_of(result_));
  }
  Content content() const noexcept override { return Content::accumulators; }
  std::unique_ptr<Builder> builder() const override {
    typename DealtFormBuilder<Form>::Sums sums;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums_[i]->builder();
    return std::make_unique<DealtFormBuilder<Form>>(std::move(sums), input_, columns_);
  }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& /*pieces*/) const override {
    return several_sums::merge<Prefix<Form>>(
        left, right, room,
        [&](std::size_t i, auto a, auto b, auto out) {
          return i < sums_.size() ? arithmetic::merge(*sums_[i], a, b, out)
                                  : TalliesOf<Form>::merge(a, b, columns_, out);
        },
        [](const Header& header, const auto&, const auto&) { return Prefix<Form>{.header = header}; });
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& /*pieces*/) const override {
    const Parts parts(partial.head);
    if (parts.status != Status::ok) return parts.status;
    if (input_ == Type::f32) return finish_as<float>(parts, element_count, values);
    return finish_as<double>(parts, element_count, values);
  }

 private:
  using Parts = several_sums::Parts<Prefix<Form>>;
  using Reader = exact_record::Reader;
  using Groups = std::array<exact_record::GroupSums, sum_count<Form>>;
  using Sums = std::array<ExactSum, sum_count<Form>>;

  template <class T>
  Status finish_as(const Parts& parts, Count element_count, std::byte* values) const noexcept {
    return result_ == Type::f32 ? finish_as<T, float>(parts, element_count, values)
                                : finish_as<T, double>(parts, element_count, values);
  }

  template <class T, class Result>
  Status finish_as(const Parts& parts, Count element_count, std::byte* values) const noexcept {
    auto readers = readers_of<T>(parts, std::make_index_sequence<sum_count<Form>>());
    const Count rows = readers[0].rows();
    const bool are_alike = std::ranges::all_of(readers, [&](const Reader& reader) { return reader.rows() == rows; });
    if (!are_alike || rows >> 63 != 0) return Status::transport_failed;
    if (const Status status = check_row_count(rows, element_count); status != Status::ok) return status;
    const std::span<const std::byte> tallies = parts.sums.back();
    if (!TalliesOf<Form>::are_there(tallies, columns_)) return Status::transport_failed;
    Groups groups;
    for (Count begin = 0; begin < columns_; begin += exact_record::columns_of_group) {
      const Count some = std::min(exact_record::columns_of_group, columns_ - begin);
      for (std::size_t i = 0; i < groups.size(); ++i)
        if (!readers[i].next(some, groups[i])) return Status::transport_failed;
      for (std::size_t lane = 0; lane < some; ++lane) {
        const auto tally = TalliesOf<Form>::of(tallies, begin + lane);
        if (tally.rows > rows) return Status::transport_failed;
        const auto value = result_of<T, Result>(sums_of(groups, lane, tally.rows), tally);
        std::memcpy(values, &value, sizeof value);
        values += sizeof value;
      }
    }
    const bool are_whole = std::ranges::all_of(readers, [](const Reader& reader) { return reader.at_end(); });
    return are_whole ? Status::ok : Status::transport_failed;
  }

  template <class T, std::size_t... i>
  static std::array<Reader, sum_count<Form>> readers_of(const Parts& parts, std::index_sequence<i...>) noexcept {
    return {Reader(parts.sums[i], digit_count_of<T>(Form::terms[i]))...};
  }

  static Sums sums_of(const Groups& groups, std::size_t lane, Count rows) noexcept {
    Sums sums;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].flags = groups[i].flags.of(lane);
      sums[i].rows = rows;
      if (groups[i].is_narrow)
        groups[i].narrow.digit_range(lane, sums[i].range);
      else
        sums[i].range = groups[i].wide[lane];
    }
    return sums;
  }
  template <class T, class Result, class TallyOfColumn>
  static auto result_of(const Sums& sums, const TallyOfColumn& tally) noexcept {
    if constexpr (has_extremes<Form>)
      return Form::template of<T, Result>(sums, tally.extremes);
    else
      return tally.rows == 0 ? std::numeric_limits<Result>::quiet_NaN() : Form::template of<T, Result>(sums);
  }

  Type input_;
  Type result_;
  Count columns_;
  std::array<std::unique_ptr<PartialKind>, sum_count<Form>> sums_;
};

}  // namespace

std::unique_ptr<PartialKind> make_form_of_dealt(Operation operation, Type input, Type result, Count columns) {
  const auto make = [&]<class Form>(std::type_identity<Form>) -> std::unique_ptr<PartialKind> {
    return std::make_unique<DealtFormKind<Form>>(input, result, columns);
  };
  switch (operation) {
    case Operation::mean: return make(std::type_identity<Mean>());
    case Operation::weighted_mean: return make(std::type_identity<WeightedMean>());
    case Operation::covariance: return make(std::type_identity<Covariance<0>>());
    case Operation::sample_covariance: return make(std::type_identity<Covariance<1>>());
    case Operation::correlation: return make(std::type_identity<Correlation>());
    default: return make(std::type_identity<StatisticsForm>());
  }
}

}  // namespace steadfold::arithmetic
