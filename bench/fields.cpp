// Measures global sums of thirty fields, as in climate codes: with one call, with a plan, with loops and an allreduce,
// and with vectors of integers in two reductions, in the same run.
#include <cmath>
#include <random>

#include "integer_vectors.hpp"
#include "order/distribution.hpp"
#include "program/job.hpp"
#include "program/methods.hpp"
#include "ranks.hpp"
#include "steadfold/array.hpp"

namespace steadfold::bench {
namespace {

constexpr std::size_t field_count = 30;

/// The points of every field that this rank has, one field after the other, and the calls and plans that sum them.
class Fields {
 public:
  Fields(std::size_t points, const std::vector<std::string>& methods)
      : mine_(field_count * share(points)), sums_(field_count), vectors_(field_count) {
    std::mt19937_64 random(static_cast<std::uint64_t>(rank_in_world()));
    std::normal_distribution<double> normal;
    for (double& each : mine_) each = normal(random);
    for (const std::string& method : methods) add(method);
  }

  /// Whether the rival is right: its sums may differ from the sums with method `exact` only in the last bits.
  bool is_rival_right() {
    const std::vector<double> expected = steadfold::sum(array(), {.keep = {0}}, MPI_COMM_WORLD);
    vectors_.sum(mine_, sums_);
    for (std::size_t k = 0; k < field_count; ++k)
      if (std::abs(sums_[k] - expected[k]) > 1e-15 * std::abs(expected[k])) return false;
    return true;
  }

  Ways ways() {
    Ways ways;
    ways.add_rival("loops, MPI_Allreduce(MPI_DOUBLE, MPI_SUM)", candidate_of([this] {
                     const std::size_t points = mine_.size() / field_count;
                     for (std::size_t k = 0; k < field_count; ++k) {
                       sums_[k] = 0;
                       for (std::size_t i = 0; i < points; ++i) sums_[k] += mine_[k * points + i];
                     }
                     MPI_Allreduce(MPI_IN_PLACE, sums_.data(), field_count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                   }));
    const std::size_t two =
        ways.add_rival("vectors of integers, two MPI_Allreduce", candidate_of([this] { vectors_.sum(mine_, sums_); }));
    for (const auto& [name, method] : methods_) {
      ways.add({.method = name, .schedule = "auto", .call = "sum", .rivals = {0, two}}, candidate_of([this, method] {
                 sums_ = steadfold::sum(array(), {.keep = {0}}, MPI_COMM_WORLD, {.method = method});
               }));
    }
    for (std::size_t i = 0; i < methods_.size(); ++i)
      ways.add({.method = methods_[i].first, .schedule = "auto", .call = "plan", .rivals = {0, two}},
               candidate_of([this, i] { plans_[i]->run(); }));
    return ways;
  }

 private:
  static std::size_t share(std::size_t points) {
    return order::closed_form(order::Distribution::upper, points, rank_count_of_world())->count(rank_in_world());
  }
  Array<double> array() const { return Array<double>(mine_.data(), {field_count, mine_.size() / field_count}); }

  void add(const std::string& name) {
    const Method method = command::method_named(name);
    methods_.emplace_back(name, method);
    plans_.push_back(std::make_unique<ArrayPlan<double>>(plus, array(), Axes{.keep = {0}}, MPI_COMM_WORLD,
                                                         Options{.method = method}));
  }

  std::vector<double> mine_;
  std::vector<double> sums_;
  IntegerVectors vectors_;
  std::vector<std::pair<std::string, Method>> methods_;
  std::vector<std::unique_ptr<ArrayPlan<double>>> plans_;
};

}  // namespace

Measurement fields(const FieldsOptions& options, const command::Job& job) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::size_t points : options.points) {
    Fields fields(points, options.methods);
    const bool is_right = fields.is_rival_right();
    job.together([&] {
      if (!is_right)
        throw command::Failure("vectors of integers have a wrong sum (an error in the benchmark), report this error");
    });
    measurement.contests.push_back(fields.ways().measure({{"operator", "sum"}, {"count", points}}, options.rounds));
  }
  return measurement;
}

}  // namespace steadfold::bench
