#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "link.hpp"
#include "statistics.hpp"

namespace steadfold::bench {
namespace {

using transport::LogGP;

using Row = std::array<double, 4>;

/// Solves for the x with the smallest sum of (row x - 1)^2 over all rows, with the normal equations. An element of x is
/// 0 if its column is 0 in all rows.
Row least_squares(const std::vector<Row>& rows) {
  constexpr std::size_t unknowns = std::tuple_size_v<Row>;
  std::array<std::array<double, unknowns + 1>, unknowns> a{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < unknowns; ++i) {
      for (std::size_t j = 0; j < unknowns; ++j) a[i][j] += row[i] * row[j];
      a[i][unknowns] += row[i];
    }
  for (std::size_t k = 0; k < unknowns; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < unknowns; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    if (a[k][k] == 0) continue;
    for (std::size_t i = 0; i < unknowns; ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j <= unknowns; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  Row x{};
  for (std::size_t k = 0; k < unknowns; ++k) x[k] = a[k][k] == 0 ? 0 : a[k][unknowns] / a[k][k];
  return x;
}

/// Returns the relative errors of the model, one per message length.
std::vector<double> errors(const LinkTimes& times, const LogGP& link) {
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

/// The lengths above which messages wait for the receiver, or the time per byte differs.
struct Limits {
  std::size_t eager;
  std::size_t long_from;
};

/// Returns the best link with these limits, if there is one. The largest measured length cannot be a limit. The link's
/// latency includes the gap.
std::optional<LogGP> with_limits(const LinkTimes& times, Limits limits) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < times.bytes.size(); ++i) {
    const double weight = 1 / times.one_way[i];
    const auto bytes = static_cast<double>(times.bytes[i]);
    const double beyond = std::max(bytes - static_cast<double>(limits.long_from), 0.0);
    rows.push_back({weight, (bytes - beyond) * weight, times.bytes[i] > limits.eager ? weight : 0, beyond * weight});
  }
  const Row found = least_squares(rows);
  if (std::ranges::any_of(found, [](double each) { return !(each >= 0); })) return std::nullopt;
  LogGP link{.latency = found[0], .gap = 0, .per_byte = found[1]};
  if (limits.eager < times.bytes.back()) {
    link.eager_limit = limits.eager;
    link.rendezvous = found[2];
  }
  if (limits.long_from < times.bytes.back()) {
    link.long_from = limits.long_from;
    link.long_per_byte = found[3];
  }
  return link;
}

/// A link, and the sum of squares of its errors.
struct Candidate {
  LogGP link;
  double squares;
};

/// Returns the best link with this number of limits, if there is one. Each limit has at least two longer lengths.
std::optional<Candidate> best_with(int limits, const LinkTimes& times) {
  const std::size_t none = times.bytes.back();
  std::vector<std::size_t> lengths = {none};
  for (std::size_t i = 1; i + 2 < times.bytes.size(); ++i) lengths.push_back(times.bytes[i]);
  std::optional<Candidate> best;
  for (const std::size_t eager : lengths) {
    for (const std::size_t long_from : lengths) {
      if ((eager != none) + (long_from != none) != limits) continue;
      const auto link = with_limits(times, {.eager = eager, .long_from = long_from});
      const double squares = link ? sum_of_squares(errors(times, *link)) : HUGE_VAL;
      if (squares < (best ? best->squares : HUGE_VAL)) best = {*link, squares};
    }
  }
  return best;
}

/// Returns the best link with no, one or two limits. The link's latency includes the gap.
LogGP best_link(const LinkTimes& times) {
  constexpr double much_smaller = 0.7;  // for each further limit, the sum of squares must fall to this share
  constexpr double exact = 1e-12;       // below this sum of squares, times are from an invented model
  Candidate best{.link = {.latency = times.one_way.front(), .gap = 0, .per_byte = 0}, .squares = HUGE_VAL};
  int taken = 0;
  for (int limits = 0; limits <= 2 && best.squares > exact; ++limits) {
    const auto other = best_with(limits, times);
    if (!other || !(other->squares < std::pow(much_smaller, limits - taken) * best.squares)) continue;
    best = *other;
    taken = limits;
  }
  return best.link;
}

constexpr double much_longer = 1.5;  // a limit of bytes over time gives the ratio 2

/// Whether a byte takes much longer in a stream of messages than in a single message, latency included.
bool is_limited_over_time(const LinkTimes& times, const LogGP& link) {
  const double alone = (link.latency + link.duration(length_in_stream)) / static_cast<double>(length_in_stream);
  return times.byte_in_stream > much_longer * alone;
}

/// Returns the link whose time per byte is that of the stream. Its other figures come from messages that are at most as
/// long as the stream's messages. Longer messages reach the network's limit: the model would then show a wait or a
/// different rate that does not exist.
LogGP link_of_stream(const LinkTimes& times, const LogGP& of_all) {
  LinkTimes some;
  for (std::size_t i = 0; i < times.bytes.size(); ++i) {
    if (times.bytes[i] > length_in_stream) continue;
    some.bytes.push_back(times.bytes[i]);
    some.one_way.push_back(times.one_way[i]);
  }
  LogGP link = some.bytes.size() < 3 ? of_all : best_link(some);
  const bool long_ones_are_slower = of_all.long_per_byte > much_longer * times.byte_in_stream;
  link.per_byte = times.byte_in_stream;
  link.long_from = long_ones_are_slower ? of_all.long_from : LogGP::no_limit;
  link.long_per_byte = long_ones_are_slower ? of_all.long_per_byte : 0;
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
  times.byte_in_stream = median([](const LinkTimes& launch) { return launch.byte_in_stream; });
  return times;
}

FittedLink fitted(const LinkTimes& times) {
  FittedLink best{.link = best_link(times)};
  std::vector<double> off = errors(times, best.link);
  for (double& each : off) each = std::abs(each);
  best.residual = quantile(off, 0.5);
  if (is_limited_over_time(times, best.link)) best.link = link_of_stream(times, best.link);
  best.link.gap = std::min(times.in_stream, best.link.latency);
  best.link.latency -= best.link.gap;
  return best;
}

}  // namespace steadfold::bench
