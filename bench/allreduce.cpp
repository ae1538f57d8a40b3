// Measures an allreduce of one or several vectors per rank: one-shot calls and plans of every schedule. Rivals in the
// same run are MPI_Allreduce with a built-in operator, with a user operator, and with as many bytes as a partial has;
// for `reduce_broadcast`, MPI_Reduce followed by MPI_Bcast. If a rank has several vectors, rivals first add them in a
// loop. Source: Gruber & Freinberger for types, operators and columns.
#include "allreduces.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "call/methods.hpp"
#include "plan/choice.hpp"
#include "race.hpp"
#include "schedule/registry.hpp"

namespace steadfold::bench {
namespace {

constexpr Operator operators[] = {{"sum", false, Wanted::sum},
                                  {"min", false, Wanted::least},
                                  {"max", false, Wanted::greatest},
                                  {"user_sum", true, Wanted::sum},
                                  {"user_max", true, Wanted::greatest}};

Operator operator_named(const std::string& name) {
  const auto* const found = std::ranges::find(operators, name, &Operator::name);
  if (found == std::end(operators))
    throw Failure("unknown operator '" + name +
                  "' (the benchmark does not measure it), use sum, min, max, user_sum or user_max");
  return *found;
}

/// Says why the schedule cannot serve the method, operator and type; `nullopt` if it can.
std::optional<std::string> refusal(const Operator& op, const std::string& type, const std::string& method,
                                   const std::string& schedule) {
  const call::MethodProperties& properties = command::properties_named(method);
  if (properties.rounds_once && (op.user || op.wanted != Wanted::sum || type == "i32"))
    return method + " has no operator " + std::string(op.name) + " of " + type +
           " (the method makes only sums of f64 and f32), use tree or plain";
  if (schedule == "auto" || schedule == "mpich") return std::nullopt;
  schedule::Merging merging = command::merging_named(method);
  merging.may_differ = true;
  return schedule::refusal(schedule::parse(schedule), schedule::Collective::allreduce, 0, merging,
                           schedule::OperatorKind::commutative);
}

/// Returns `auto`, then either every algorithm of the registry (`auto` chooses among them) or every name under which an
/// algorithm is measured.
std::vector<std::string> all_schedules(bool with_ports) {
  std::vector<std::string> names = {"auto"};
  for (const auto& algorithm : schedule::registry()) {
    const std::vector tried =
        with_ports ? plan::names_to_try(algorithm, rank_count_of_world()) : std::vector{std::string(algorithm.name)};
    names.insert(names.end(), tried.begin(), tried.end());
  }
  return names;
}

void check_all(const AllreduceOptions& options) {
  if (!options.interface.empty() && all_ranks_together(options.interface).bytes_sent() <= 0)
    throw Failure(
        "--interface cannot be used (there is no " + options.interface +
        " in /sys/class/net, or this interface has sent nothing yet), name an interface that `ip link` lists");
  for (const std::string& method : options.methods) command::method_named(method);
  for (const std::string& type : options.types) {
    if (type != "f64" && type != "f32" && type != "i32")
      throw Failure("unknown type '" + type + "' (the benchmark does not measure it), use f64, f32 or i32");
    for (const std::string& op : options.operators) pairs_for(operator_named(op), type, options);
  }
  for (const std::size_t count : options.counts)
    if (count < 1 || count > std::numeric_limits<int>::max())
      throw Failure(fmt::format("--counts has {} (MPI_Allreduce takes 1 to {} elements), give numbers in this range",
                                count, std::numeric_limits<int>::max()));
}

/// Allows plans that users cannot bind: End et al. measure sums whose bits differ between ranks.
void let_ranks_differ() {
  sf_group* group = nullptr;
  check(sf_group_of(MPI_COMM_WORLD, &group));
  group->group.let_ranks_differ();
}

}  // namespace

Pairs pairs_for(const Operator& op, const std::string& type, const AllreduceOptions& options) {
  Pairs pairs;
  for (const std::string& schedule : options.schedules.empty() ? all_schedules(options.is_choice) : options.schedules) {
    std::string refused;
    const std::size_t before = pairs.size();
    for (const std::string& method : options.methods) {
      const auto reason = refusal(op, type, method, schedule);
      if (reason)
        refused = *reason;
      else
        pairs.emplace_back(method, schedule);
    }
    if (pairs.size() == before && !options.schedules.empty()) throw Failure(refused);
  }
  if (pairs.empty())
    throw Failure("nothing to measure (no chosen method has the operator " + std::string(op.name) + " of " + type +
                  "), use method tree");
  return pairs;
}

Measurement measure_all(const AllreduceOptions& options, const MeasureOne& measure_one) {
  check_all(options);
  let_ranks_differ();
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::string& op : options.operators) {
    for (const std::string& type : options.types) {
      for (const std::size_t count : options.counts) {
        const Task task{operator_named(op), count, options.rows};
        measurement.contests.push_back(measure_one(type, task));
      }
    }
  }
  return measurement;
}

namespace {

template <class T>
Contest measure(const Task& task, const AllreduceOptions& options, const Job& job) {
  const std::string type = named_type<T>().name;
  Pairs pairs = pairs_for(task.op, type, options);
  std::ranges::stable_sort(pairs, {}, [&](const auto& pair) { return std::ranges::find(options.methods, pair.first); });
  Race<T> race(task, job);
  if (options.is_choice) {
    for (const auto& [method, schedule] : pairs) race.add_plan(method, schedule);
    return race.measure(options.rounds, options.interface);
  }
  for (const std::string& method : options.methods)
    if (!refusal(task.op, type, method, "auto")) race.add_rival_of(method);
  if (std::ranges::any_of(pairs, Race<T>::is_reduce_broadcast, &Pairs::value_type::second))
    race.add_reduce_and_broadcast();
  for (const auto& [method, schedule] : pairs) race.add(method, schedule);
  return race.measure(options.rounds, options.interface);
}

}  // namespace

Measurement allreduce(const AllreduceOptions& options, const Job& job) {
  return measure_all(options, [&](const std::string& type, const Task& task) {
    if (type == "f64") return measure<double>(task, options, job);
    return type == "f32" ? measure<float>(task, options, job) : measure<int>(task, options, job);
  });
}

}  // namespace steadfold::bench
