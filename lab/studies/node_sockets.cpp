// Double sweep and single sweep on two sockets of eight cores, predicted: what one thread of this machine takes to add
// up its share and what two threads take to pass 16 doubles on, measured, and the reductions between threads, from the
// model of node_trees.cpp. Only how much farther the other socket is comes from machines of [S2]'s time. Source: [S2]:
// double sweep takes an allreduce (the largest term) and a reduce (the sums), single sweep one reduce.
#include <algorithm>
#include <map>

#include "bench/harness.hpp"
#include "lab/bench/thread_rivals.hpp"
#include "node.hpp"
#include "node_protocols.hpp"
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

/// What messages take here; to the other socket by the ratio of machines that have two.
MessageTimes measured_messages(int rounds) {
  Protocols<doubles_merged>::Sum sum;
  const Protocols<doubles_merged>::Content other{};
  const std::vector<bench::Candidate> merging = {{.name = "merge", .run = bench::calls_of([&] {
                                                                     sum.merge(other);
                                                                     bench::keep(sum);
                                                                   })}};
  const double merge = std::ranges::min(bench::interleave(merging, rounds).front().seconds);
  const double near = (measured_there_and_back(rounds) - merge) / 2;
  return {.near = near, .far = near * (of_two_sockets.far / of_two_sockets.near), .merge = merge};
}

double reductions(const Summed& method, std::size_t threads, bool is_multi, const MessageTimes& times) {
  const double reduce = predicted_reduce(threads, is_multi, times);
  return method.has_first_sweep ? reduce + predicted_broadcast(threads, times) + reduce : reduce;
}

}  // namespace

Findings sockets(const Asked& asked) {
  Findings found;
  const transport::Core &first = bench::core_of_thread(0), &second = bench::core_of_thread(1);
  if (&first == &second || first.whereabouts.package != second.whereabouts.package) {
    found.left_out.emplace_back(
        "sockets: not predicted (two cores of one socket are measured, and there are none), try "
        "a machine with two");
    return found;
  }
  const MessageTimes times = measured_messages(asked.rounds);
  const Alone alone = measured_alone(asked);
  for (const std::size_t elements : lengths) {
    if (elements > asked.largest) continue;
    for (const bool is_multi : {false, true}) {
      for (std::size_t i = 0; i < std::size(methods); ++i) {
        for (const std::size_t threads : thread_numbers) {
          const double adding = alone.at(elements / threads)[i];
          const double reducing = reductions(methods[i], threads, is_multi, times);
          found.rows.push_back({{"part", "sockets"},
                                {"elements", elements},
                                {"protocol", is_multi ? "multi_notify" : "single_notify"},
                                {"method", methods[i].method},
                                {"threads", threads},
                                {"sockets", threads > threads_per_socket ? 2 : 1},
                                {"measured_message_seconds", times.near},
                                {"measured_merge_seconds", times.merge},
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
