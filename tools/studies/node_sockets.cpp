// Double sweep and single sweep on [S2]'s machine, two sockets of eight cores, predicted: what one thread of this
// machine takes to add up its share, measured, and the reductions between threads, from the model of node_trees.cpp.
// Source: [S2]: double sweep takes an allreduce (the largest term) and a reduce (the sums), single sweep one reduce.
#include <algorithm>
#include <map>

#include "bench/harness.hpp"
#include "node.hpp"
#include "node_sum_race.hpp"
#include "program/methods.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::command::studies::node {
namespace {

constexpr std::size_t lengths[] = {256, 1024, 4096, 16384, 65536};
constexpr std::size_t thread_numbers[] = {1, 2, 4, 8, 16};
constexpr std::size_t threads_per_socket = 8;

struct Summed {
  const char* method;
  bool has_first_sweep;
};
constexpr Summed methods[] = {{"plain", false}, {"binned:sweep=single", false}, {"binned:sweep=double", true}};

/// Seconds of one thread for so many elements by each of `methods`: the least of all rounds, since what disturbs this
/// machine is no part of the prediction.
using Alone = std::map<std::size_t, std::array<double, std::size(methods)>>;

Alone measured_alone(const Asked& asked) {
  Alone alone;
  std::vector<double> numbers;
  for (const std::size_t elements : lengths) {
    if (elements > asked.largest) continue;
    for (const std::size_t threads : thread_numbers) alone[elements / threads] = {};
    numbers = numbers_to_add(elements);
  }
  std::vector<bench::Candidate> candidates;
  std::vector<double*> places;
  for (auto& [elements, seconds] : alone) {
    for (std::size_t i = 0; i < std::size(methods); ++i) {
      const LocalOptions options{.method = method_named(methods[i].method)};
      const std::span<const double> share = std::span<const double>(numbers).first(elements);
      candidates.push_back(
          {.name = methods[i].method, .run = bench::calls_of([share, options] { bench::keep(sum(share, options)); })});
      places.push_back(&seconds[i]);
    }
  }
  const auto samples = bench::interleave(candidates, asked.rounds);
  for (std::size_t i = 0; i < samples.size(); ++i) *places[i] = std::ranges::min(samples[i].seconds);
  return alone;
}

double reductions(const Summed& method, std::size_t threads, bool is_multi) {
  const double reduce = predicted_reduce(threads, is_multi);
  return method.has_first_sweep ? reduce + predicted_broadcast(threads) + reduce : reduce;
}

}  // namespace

Findings sockets(const Asked& asked) {
  Findings found;
  const Alone alone = measured_alone(asked);
  for (const std::size_t elements : lengths) {
    if (elements > asked.largest) continue;
    for (const bool is_multi : {false, true}) {
      for (std::size_t i = 0; i < std::size(methods); ++i) {
        for (const std::size_t threads : thread_numbers) {
          const double adding = alone.at(elements / threads)[i];
          const double reducing = reductions(methods[i], threads, is_multi);
          found.rows.push_back({{"part", "sockets"},
                                {"elements", elements},
                                {"protocol", is_multi ? "multi_notify" : "single_notify"},
                                {"method", methods[i].method},
                                {"threads", threads},
                                {"sockets", threads > threads_per_socket ? 2 : 1},
                                {"measured_adding_seconds", adding},
                                {"predicted_reducing_seconds", reducing},
                                {"seconds", adding + reducing},
                                {"speedup", alone.at(elements)[i] / (adding + reducing)}});
        }
      }
    }
  }
  return found;
}

}  // namespace steadfold::command::studies::node
