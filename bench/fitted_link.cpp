#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "link.hpp"
#include "statistics.hpp"

namespace steadfold::bench {
namespace {

using Row = std::array<double, 3>;

/// x with the least sum of (row x - 1)^2 over all rows, by the normal equations; nullopt if they are singular.
std::optional<Row> least_squares(const std::vector<Row>& rows, std::size_t unknowns) {
  std::array<std::array<double, 4>, 3> a{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) a[i][j] += row[i] * row[j];
      a[i][3] += row[i];
    }
  for (std::size_t k = 0; k < unknowns; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < unknowns; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    if (a[k][k] == 0) return std::nullopt;
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < 4; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  Row x{};
  for (std::size_t k = 0; k < unknowns; ++k) x[k] = a[k][3] / a[k][k];
  return x;
}

/// The relative errors of the model.
std::vector<double> errors(const LinkTimes& times, const transport::LogGP& link) {
  std::vector<double> found;
  for (std::size_t i = 0; i < times.bytes.size(); ++i)
    found.push_back((link.latency + link.duration(times.bytes[i])) / times.one_way[i] - 1);
  return found;
}

double sum_of_squares(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return sum;
}

/// The best link with that eager limit, if there is one. Its latency includes the gap.
std::optional<transport::LogGP> with_limit(const LinkTimes& times, std::size_t eager_limit) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < times.bytes.size(); ++i) {
    const double weight = 1 / times.one_way[i];
    rows.push_back({weight, static_cast<double>(times.bytes[i]) * weight, times.bytes[i] > eager_limit ? weight : 0});
  }
  const bool has_limit = eager_limit < times.bytes.back();
  const auto x = least_squares(rows, has_limit ? 3 : 2);
  if (!x || (*x)[0] < 0 || (*x)[1] < 0 || (*x)[2] < 0) return std::nullopt;
  transport::LogGP link{.latency = (*x)[0], .gap = 0, .per_byte = (*x)[1]};
  if (has_limit) {
    link.eager_limit = eager_limit;
    link.rendezvous = (*x)[2];
  }
  return link;
}

}  // namespace

LinkTimes median_of(const std::vector<LinkTimes>& launches) {
  LinkTimes times = launches.front();
  const auto median = [&](const auto& field) {
    std::vector<double> values;
    for (const LinkTimes& launch : launches) values.push_back(field(launch));
    return quantile(values, 0.5);
  };
  for (std::size_t i = 0; i < times.one_way.size(); ++i)
    times.one_way[i] = median([i](const LinkTimes& launch) { return launch.one_way[i]; });
  times.in_stream = median([](const LinkTimes& launch) { return launch.in_stream; });
  return times;
}

FittedLink fitted(const LinkTimes& times) {
  constexpr double much_smaller = 0.7;  // of the sum of squares
  FittedLink best{.link = with_limit(times, times.bytes.back())
                              .value_or(transport::LogGP{.latency = times.one_way.front(), .gap = 0, .per_byte = 0})};
  double least = much_smaller * sum_of_squares(errors(times, best.link));
  for (std::size_t i = 1; i + 2 < times.bytes.size(); ++i) {
    const auto link = with_limit(times, times.bytes[i]);
    const double squares = link ? sum_of_squares(errors(times, *link)) : least;
    if (squares >= least) continue;
    best.link = *link;
    least = squares;
  }
  std::vector<double> off = errors(times, best.link);
  for (double& each : off) each = std::abs(each);
  best.residual = quantile(off, 0.5);
  best.link.gap = std::min(times.in_stream, best.link.latency);
  best.link.latency -= best.link.gap;
  return best;
}

}  // namespace steadfold::bench
