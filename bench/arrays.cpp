// One core's sums of many fields at once: sections with halos, masked and weighted, rows of many columns, groups by
// labels, and statistics, compared with the fastest plain read of the elements and with the loop of a program without
// the library.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

#include "bench.hpp"
#include "contest.hpp"
#include "kernels/target.hpp"
#include "read.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::bench {
namespace {

constexpr std::uint64_t field_count = 30;
constexpr std::uint64_t halo = 2;

/// The measured functions of one comparison, over one block of memory.
class Candidates {
 public:
  explicit Candidates(std::span<const double> memory) {
    for (const ReadLoop& loop : read_loops())
      add(name_of(loop), "read", widest_target(), [loop, memory] { return read(loop, std::as_bytes(memory)); });
  }
  template <class Call>
  void add(const std::string& name, const std::string& kernel, const std::string& target, Call call) {
    candidates_.push_back({name, calls_of([call] { keep(call()); })});
    entrants_.push_back({name, {{"kernel", kernel}, {"target", target}, {"variant", name}}, {}});
  }
  template <class Call>
  void add(const std::string& name, Call call) {
    add(name, name, std::string(kernels::name_of(kernels::chosen())), call);
  }
  Contest measure(const std::string& type, std::size_t elements, int rounds) {
    auto samples = interleave(candidates_, rounds);
    for (std::size_t i = 0; i < samples.size(); ++i) entrants_[i].launches = {std::move(samples[i])};
    return {.labels = {{"type", type}, {"elements", elements}, {"threads", 1}}, .entrants = std::move(entrants_)};
  }

 private:
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
};

std::vector<double> normal_numbers(std::size_t count) {
  std::mt19937_64 random(count);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(count);
  for (double& each : numbers) each = normal(random);
  return numbers;
}

/// Thirty fields of height x width points with a halo, the weights of their points, and a mask of the points that
/// count.
struct Fields {
  std::uint64_t height, width;
  std::uint64_t row = width + 2 * halo;
  std::uint64_t plane = row * (height + 2 * halo);
  std::vector<double> values = normal_numbers(field_count * plane);
  std::vector<double> weights = normal_numbers(plane);
  std::vector<std::uint8_t> counts = std::vector<std::uint8_t>(plane);

  std::size_t begin() const { return halo * row + halo; }
  template <class T>
  Array<T> section(const std::vector<T>& all, bool has_fields) const {
    const auto bytes = [](std::uint64_t count) { return static_cast<std::int64_t>(count * sizeof(T)); };
    const std::uint64_t shape[] = {field_count, height, width};
    const std::int64_t strides[] = {bytes(plane), bytes(row), bytes(1)};
    const std::size_t skipped = has_fields ? 0 : 1;
    return Array<T>(all.data() + begin(), std::span(shape).subspan(skipped), std::span(strides).subspan(skipped));
  }
  /// Computes the sums with the loop of a program without Steadfold, masked and weighted.
  double loop() const {
    double all = 0;
    for (std::uint64_t k = 0; k < field_count; ++k) {
      double sum = 0;
      for (std::uint64_t j = 0; j < height; ++j)
        for (std::uint64_t at = begin() + j * row; at < begin() + j * row + width; ++at)
          sum += counts[at] != 0 ? values[k * plane + at] * weights[at] : 0;
      all += sum;
    }
    return all;
  }
};

const std::pair<std::string, Method> methods[] = {{"exact", exact()}, {"binned", binned()}};

Contest of_fields(std::size_t points, int rounds) {
  const auto width = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(points) * 1.6));
  Fields fields{.height = (points + width - 1) / width, .width = width};
  // Seven tenths of the points are selected.
  for (std::size_t i = 0; i < fields.counts.size(); ++i) fields.counts[i] = i * i % 10 < 7 ? 1 : 0;
  Candidates candidates(fields.values);
  const Array<double> x = fields.section(fields.values, true);
  const Axes whole{.keep = {0}};
  const Axes weighted{
      .keep = {0}, .where = fields.section(fields.counts, false), .weights = fields.section(fields.weights, false)};
  candidates.add("accumulate", "accumulate", "scalar", [&] { return fields.loop(); });
  for (const auto& [name, method] : methods) {
    candidates.add(name, [&x, &whole, method] { return sum(x, whole, {.method = method}).front(); });
    candidates.add(name + " masked", [&x, &weighted, method] { return sum(x, weighted, {.method = method}).front(); });
  }
  return candidates.measure("fields", field_count * fields.height * fields.width, rounds);
}

Contest of_rows(std::size_t points, int rounds) {
  const std::vector<double> numbers = normal_numbers(points * field_count);
  Candidates candidates(numbers);
  const Array<double> x(numbers.data(), {points, field_count});
  const Axes columns{.keep = {1}};
  candidates.add("accumulate", "accumulate", "scalar", [&] {
    std::array<double, field_count> sums{};
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % field_count] += numbers[i];
    return sums.front();
  });
  for (const auto& [name, method] : methods)
    candidates.add(name, [&x, &columns, method] { return sum(x, columns, {.method = method}).front(); });
  return candidates.measure("rows", numbers.size(), rounds);
}

/// Points with labels, which say to which group each point belongs.
struct Labelled {
  enum class Form : std::uint8_t { random, sorted, any_exponent };

  std::uint64_t groups;
  std::vector<double> numbers;
  std::vector<std::int32_t> labels;

  Labelled(std::size_t points, std::uint64_t group_count, Form form = Form::random)
      : groups(group_count), numbers(normal_numbers(points)), labels(points) {
    std::mt19937_64 random(groups);
    for (std::int32_t& each : labels) each = static_cast<std::int32_t>(random() % groups);
    if (form == Form::sorted) std::ranges::sort(labels);
    if (form == Form::any_exponent)
      for (double& each : numbers) each = std::ldexp(each, static_cast<int>(random() % 2000) - 1000);
  }
  /// Computes the sums with the loop of a program without Steadfold.
  double loop() const {
    std::vector<double> sums(groups);
    for (std::size_t i = 0; i < numbers.size(); ++i) sums[static_cast<std::size_t>(labels[i])] += numbers[i];
    return sums.front();
  }
};

Contest of_groups(const Labelled& all, const std::string& name, int rounds) {
  Candidates candidates(all.numbers);
  candidates.add("accumulate", "accumulate", "scalar", [&] { return all.loop(); });
  const auto add = [&](const std::string& method_name, const Method& method) {
    candidates.add(method_name,
                   [&, method] { return sum_by(all.numbers, all.labels, all.groups, {.method = method}).front(); });
  };
  for (const auto& [method_name, method] : methods) add(method_name, method);
  add("tree", tree());
  return candidates.measure(std::to_string(all.groups) + " groups" + name, all.numbers.size(), rounds);
}

/// Measures one field's mean, variance and extremes: with one call for all of them, and with one call for each.
Contest of_statistics(std::size_t points, int rounds) {
  const std::vector<double> numbers = normal_numbers(points);
  Candidates candidates(numbers);
  candidates.add("accumulate", "accumulate", "scalar", [&] {
    double mean = 0;
    double squares = 0;
    double least = numbers.front();
    double greatest = numbers.front();
    for (std::size_t i = 0; i < points; ++i) {  // Welford's algorithm
      const double distance = numbers[i] - mean;
      mean += distance / static_cast<double>(i + 1);
      squares += distance * (numbers[i] - mean);
      least = std::min(least, numbers[i]);
      greatest = std::max(greatest, numbers[i]);
    }
    return mean + squares + least + greatest;
  });
  candidates.add("statistics", [&] { return statistics(numbers).variance; });
  candidates.add("calls", [&] {
    return mean(numbers) + sum_squares(numbers) + min_location(numbers).value + max_location(numbers).value;
  });
  return candidates.measure("statistics", points, rounds);
}

}  // namespace

Measurement arrays(const ArraysOptions& options, const Told& told) {
  Measurement measurement{.environment = environment(), .contests = {}};
  const auto add = [&](Contest contest) {
    constexpr std::size_t of_each = 5;
    measurement.contests.push_back(std::move(contest));
    told(measurement, of_each * options.points.size());
  };
  for (const std::size_t points : options.points) {
    add(of_fields(points, options.rounds));
    add(of_rows(points, options.rounds));
    for (const std::uint64_t groups : {30, 10'000}) add(of_groups({points, groups}, "", options.rounds));
    add(of_statistics(points, options.rounds));
  }
  return measurement;
}

Measurement labels(const LabelsOptions& options, const Told& told) {
  using Form = Labelled::Form;
  constexpr std::pair<Form, const char*> forms[] = {
      {Form::random, ""}, {Form::sorted, ", sorted"}, {Form::any_exponent, ", any exponent"}};
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t elements : options.sizes)
    for (const std::size_t groups : options.groups)
      for (const auto& [form, name] : forms) {
        measurement.contests.push_back(of_groups({elements, groups, form}, name, options.rounds));
        told(measurement, std::size(forms) * options.groups.size() * options.sizes.size());
      }
  return measurement;
}

}  // namespace steadfold::bench
