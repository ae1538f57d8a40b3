#include "rates.hpp"

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "arithmetic/exact/kept_rows.hpp"
#include "call/description.hpp"
#include "call/kinds.hpp"
#include "statistics.hpp"

namespace steadfold::bench {
namespace {

using arithmetic::Block;
using arithmetic::Content;
using call::Method;
using order::Bytes;
using order::Count;

constexpr Count columns = 1000;
constexpr Count rows = arithmetic::most_kept_rows;
constexpr Count rows_of_each = rows / 2;  // number of rows in each of the two partials that are merged

/// Returns values whose exponents vary as in usual sums.
std::vector<double> values_of_rows(Count first) {
  std::vector<double> values;
  for (Count i = 0; i < rows_of_each * columns; ++i)
    values.push_back(std::sin(static_cast<double>(first * columns + i)) / static_cast<double>(1 + i % 37));
  return values;
}

/// Returns the kind of partial with this content. A partial of an exact sum keeps its rows unchanged if it is known
/// that there are few of them, for example one row per rank.
std::unique_ptr<arithmetic::PartialKind> kind_of(Content content) {
  static const arithmetic::Operator none;
  const bool in_bins = content == Content::bins;
  const call::Description description = describe(call::Call{.method = in_bins ? Method::binned : Method::exact,
                                                            .columns = columns,
                                                            .parameters = {.bins = in_bins ? 3u : 0u}});
  const call::MergedRows known{.rows = rows, .ranks = static_cast<order::Rank>(rows)};
  return make_kind(description, call::operator_of(description, none), columns,
                   content == Content::values ? known : call::MergedRows{});
}

std::vector<std::byte> partial_of(const arithmetic::PartialKind& kind, Count first) {
  const std::vector<double> values = values_of_rows(first);
  const auto builder = kind.builder();
  builder->push(first, Block{.first = reinterpret_cast<const std::byte*>(values.data()),
                             .rows = rows_of_each,
                             .row_stride = columns * sizeof(double)});
  std::vector<std::byte> partial(kind.working_capacity(order::IntervalSet({first, first + rows_of_each})));
  partial.resize(builder->write(partial));
  return partial;
}

/// Returns the seconds of a call.
template <class Call>
double seconds_of(int rounds, const Call& call) {
  constexpr int calls = 20;
  std::vector<double> samples;
  for (int round = -1; round < rounds; ++round) {  // the first round is not counted
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (round >= 0) samples.push_back(taken.count() / calls);
  }
  return quantile(samples, 0.5);
}

}  // namespace

plan::Rates measured_rates(Content content, int rounds) {
  const auto kind = kind_of(content);
  const std::vector<std::byte> left = partial_of(*kind, 0);
  const std::vector<std::byte> right = partial_of(*kind, rows_of_each);
  std::vector<std::byte> merged(kind->working_capacity(order::IntervalSet({0, rows})));
  std::vector<std::byte> values(kind->value_bytes());
  std::vector<std::byte> spare(kind->value_bytes());
  Bytes bytes = 0;
  const double merge = seconds_of(rounds, [&] { bytes = arithmetic::merge(*kind, left, right, merged); });
  const std::span<const std::byte> all(merged.data(), bytes);
  const double finish = seconds_of(rounds, [&] { kind->finish(all, rows, values.data(), spare.data()); });
  if (kind->content() != content || arithmetic::status_of(all) != Status::ok)
    throw std::logic_error("partial results had unexpected content, or could not be merged");
  return {.merge_per_byte = merge / static_cast<double>(left.size()),
          .finish_per_byte = finish / static_cast<double>(bytes - kind->value_bytes())};
}

}  // namespace steadfold::bench
