#include "call/kinds.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "arithmetic/converted.hpp"
#include "arithmetic/exact/kept_rows.hpp"
#include "arithmetic/location/location.hpp"
#include "arithmetic/rows/columns_apart.hpp"
#include "arithmetic/rows/masked.hpp"
#include "call/description.hpp"

namespace steadfold::call {

using arithmetic::is_double_or_float;
using arithmetic::Operation;
using arithmetic::Type;

namespace {

/// Returns the result for a column without elements, if other columns have elements and the operation has no result for
/// no elements: NaNs, without an index. Empty for other operations, and for types without NaN.
std::vector<std::byte> of_none(const Description& description) {
  const Operation operation = description.operation;
  if (arithmetic::is_location(operation)) return arithmetic::location_of_none(description.type);
  const bool is_real = is_double_or_float(description.result_type);
  if (!properties_of(operation).needs_rows || !(is_real || is_complex(description.result_type))) return {};
  std::vector<std::byte> bytes(arithmetic::size_of(description.result_type));
  const bool is_float = description.result_type == Type::f32 || description.result_type == Type::cf32;
  const Bytes part = is_float ? sizeof(float) : sizeof(double);
  const float narrow = std::numeric_limits<float>::quiet_NaN();
  const double wide = std::numeric_limits<double>::quiet_NaN();
  for (Bytes at = 0; at < bytes.size(); at += part)
    std::memcpy(bytes.data() + at, is_float ? static_cast<const void*>(&narrow) : &wide, part);
  return bytes;
}

/// Whether some method can make results of this type.
bool is_made(const Description& description, Type result) {
  const Operation operation = description.operation;
  const auto how = [&](bool rounds_once) {
    return arithmetic::conversion(operation, description.type, result, rounds_once)
        .value_or(arithmetic::Conversion{.type = description.type, .result = result});
  };
  const auto once = how(true);
  const bool is_sum = arithmetic::combined_by(operation) == Operation::sum;
  if (is_sum && is_double_or_float(once.type) && is_double_or_float(once.result)) return true;
  const auto by_steps = how(false);
  return !arithmetic::is_rounded_once(operation) && by_steps.type == by_steps.result &&
         arithmetic::built_in(arithmetic::combined_by(operation), by_steps.type).apply != nullptr;
}

/// Throws Failure if no method makes results of this type, although some method makes results of another type for the
/// operation.
void require_result_type(const Description& description) {
  using arithmetic::ResultForm;
  const arithmetic::OperationProperties& properties = properties_of(description.operation);
  const bool is_free = properties.result == ResultForm::own || properties.result == ResultForm::real;
  if (description.operation == Operation::user || !is_free || is_made(description, description.result_type)) return;
  std::string made;
  for (auto type = Type::f64; type <= Type::f128; type = static_cast<Type>(static_cast<std::uint32_t>(type) + 1))
    if (type != Type::bytes && is_made(description, type))
      made.append(made.empty() ? "" : ", ").append(arithmetic::name_of(type));
  if (made.empty()) return;
  throw Failure(Status::unsupported, std::string(arithmetic::name_of(description.operation)) + " of " +
                                         std::string(arithmetic::name_of(description.type)) + " with results of type " +
                                         std::string(arithmetic::name_of(description.result_type)) +
                                         " is not supported (results may be " + made +
                                         "), use one of these result types or convert the elements");
}

/// Makes the kind of partial for elements that may have to be converted first.
std::unique_ptr<arithmetic::PartialKind> make_converted(const Description& description, const arithmetic::Operator& op,
                                                        Count columns) {
  const Type type = description.type;
  const Operation operation = description.operation;
  const MethodProperties& method = properties_of(description.method);
  if (operation == Operation::abs_sum && method.has_absolute_sums && is_double_or_float(type))
    return method.make(description, op, columns);
  const auto conversion = arithmetic::conversion(operation, type, description.result_type, method.rounds_once);
  if (!conversion && arithmetic::takes_absolute_values(operation))
    throw Failure(Status::unsupported, std::string(arithmetic::name_of(operation)) + " of " +
                                           std::string(arithmetic::name_of(type)) +
                                           " is not supported (absolute values are, of real numbers of at most 64 "
                                           "bits), use type double, float, bf16 or f16");
  if (!conversion) return method.make(description, op, columns);
  Description converted = description;
  converted.type = conversion->type;
  converted.result_type = conversion->result;
  return arithmetic::make_converted(method.make(converted, op, columns * conversion->parts), *conversion, type,
                                    columns);
}

/// Whether partials are the rows themselves. If rows are narrow, sending and receiving take longer than combining, so
/// keeping the rows gains nothing. If a rank has many rows, the rows take longer to send than their partial.
bool keeps_rows(const Description& d, const MergedRows& merged) {
  constexpr Count most_of_a_rank = 4;
  constexpr Count most_narrow = 8;  // number of columns up to which rows count as narrow
  const bool is_plain_sum = d.operation == Operation::sum && is_double_or_float(d.type) && d.result_type == d.type &&
                            d.array == ArrayForm::none && d.parameters.sweep == arithmetic::Sweep::single_sweep;
  return is_plain_sum && properties_of(d.method).may_keep_rows && !is_scan(d.collective) && d.columns > most_narrow &&
         merged.rows > 1 && merged.rows <= arithmetic::most_kept_rows &&
         merged.rows <= most_of_a_rank * static_cast<Count>(merged.ranks);
}

/// Whether all groups share one builder, with small states for each group. This serves plain and weighted sums that are
/// rounded once, statistics, and other results of exact sums. For the latter, fewer groups are faster with a builder
/// for each group. The answer is the same for all pieces of the columns, because partials of the two kinds differ.
bool has_small_groups(const Description& d, Count columns) {
  const bool is_sum = (d.operation == Operation::sum || d.operation == Operation::dot) &&
                      properties_of(d.method).rounds_once && d.parameters.sweep == arithmetic::Sweep::single_sweep;
  // Measured with doubles: correlations of 30 groups would take 4 times as long, but of 1000 groups two thirds.
  const bool has_many = d.columns >= 256 || d.operation == Operation::statistics;
  const bool is_of_sums = d.method == Method::exact && has_many &&
                          (d.operation == Operation::mean || arithmetic::has_several_sums(d.operation));
  return d.deals_rows() && (is_sum || is_of_sums) && is_double_or_float(d.type) && is_double_or_float(d.result_type) &&
         columns < arithmetic::ColumnBuilders::no_column;
}

/// Returns the first indices of the intervals of all ranks, in ascending order; at least one index.
std::vector<order::Index> starts_of(const order::Layout* layout) {
  std::vector<order::Index> starts;
  for (Rank rank = 0; layout != nullptr && rank < layout->rank_count(); ++rank)
    for (const order::Interval rows : layout->intervals(rank)) starts.push_back(rows.begin);
  if (starts.empty()) starts.push_back(0);
  std::ranges::sort(starts);
  return starts;
}

}  // namespace

std::unique_ptr<arithmetic::PartialKind> make_kind(const Description& description, const arithmetic::Operator& op,
                                                   Count columns, const MergedRows& merged) {
  if (keeps_rows(description, merged))
    return arithmetic::make_kept_rows(description.type, static_cast<int>(description.parameters.bins), columns);
  require_result_type(description);
  const bool has_masked_elements = description.array == ArrayForm::masked_elements;
  // Whether every column may have other rows than the columns beside it.
  const bool has_own_rows = has_masked_elements || description.deals_rows();
  if (has_small_groups(description, columns)) return properties_of(description.method).make(description, op, columns);
  if (has_own_rows || (arithmetic::has_several_sums(description.operation) && columns != 1)) {
    Description of_a_column = description;
    if (has_masked_elements) of_a_column.array = ArrayForm::masked_rows;
    if (description.deals_rows()) of_a_column.array = ArrayForm::whole;
    const auto starts = numbers_rows_of_groups(description) ? starts_of(merged.layout) : std::vector<order::Index>();
    return arithmetic::make_columns_apart(
        make_kind(of_a_column, op, 1),
        {.columns = columns,
         .element_bytes = description.element_bytes,
         .are_dealt = description.deals_rows(),
         .of_none = has_own_rows ? of_none(description) : std::vector<std::byte>(),
         .starts = starts,
         .columns_of_a_group = description.deals_rows() ? description.columns / description.groups : Count{1}});
  }
  auto kind = make_converted(description, op, columns);
  if (!description.has_mask() || arithmetic::names_rows(description.operation)) return kind;
  return arithmetic::make_masked(std::move(kind), description.element_bytes, columns);
}

}  // namespace steadfold::call
