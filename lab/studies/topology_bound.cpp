// Errors of sums in several orders, each computed exactly, beside the bound of pairwise summation.
// Source: [S3] eq. 1 and 2, after Higham. It writes that the error is g(log2 N) sum|x|, which is its bound, and also
// g(N), though the argument is the depth of the tree; from 1e-16 to 2e-15 for a million processes, with u = 1e-16.
#include <numeric>

#include "order/index.hpp"
#include "simulated_sum.hpp"
#include "topology.hpp"

namespace steadfold::command::studies::topology {
namespace {

using call::Method;

constexpr std::uint64_t summands[] = {2, 8, 60, 64, 1000, 4096, 65536, 1000000, 1048576};
constexpr int data_sets = 5;
constexpr double roundoff = 0x1p-53;

double g(double roundings) { return roundings * roundoff / (1 - roundings * roundoff); }

double sum_by(Method method, const std::vector<double>& elements) {
  return simulated_sum(elements, order::TwoShares(1, 1, elements.size(), 0),
                       {.method = method, .schedule = "flat", .rooted = true});
}

struct Order {
  const char* name;
  double (*sum)(const std::vector<double>&);
};
const Order orders[] = {
    {"tree", [](const auto& x) { return sum_by(Method::tree, x); }},
    {"exact", [](const auto& x) { return sum_by(Method::exact, x); }},
    {"binned", [](const auto& x) { return sum_by(Method::binned, x); }},
    {"plain, binomial", [](const auto& x) { return binomial_sum(x); }},
    {"plain, x8, root's group last", [](const auto& x) { return root_group_last(x, 8); }},
    {"plain, in a row", [](const auto& x) { return std::accumulate(x.begin() + 1, x.end(), x.front()); }},
};

/// The absolute error of `sum`: exact, then rounded once.
double error_of(double sum, std::vector<double> elements) {
  elements.push_back(-sum);
  return std::fabs(sum_by(Method::exact, elements));
}

/// Elements of one sign, or in every other data set of mixed signs.
std::vector<double> elements_of(std::uint64_t count, int data_set) {
  std::vector<double> elements = vectors(1, static_cast<std::uint64_t>(data_set) << 24, count);
  for (std::size_t i = 0; data_set % 2 == 1 && i < elements.size(); i += 2) elements[i] = -elements[i];
  return elements;
}

double sum_of_magnitudes(std::vector<double> elements) {
  for (double& each : elements) each = std::fabs(each);
  return sum_by(Method::exact, elements);
}

/// `error` is relative to the sum of magnitudes, like the bound.
Json row_of(std::uint64_t count, const Order& order, double error) {
  const double bound = g(order::ceil_log2(count));
  return {{"part", "bound"},
          {"summands", count},
          {"order", order.name},
          {"data_sets", data_sets},
          {"relative_error", error},
          {"bound", bound},
          {"published_bound", count == 1048576 ? Json(2e-15) : Json()},
          {"error_to_bound", error / bound},
          {"holds", error <= bound}};
}

}  // namespace

Findings bound(const Asked& asked) {
  Findings found;
  for (const std::uint64_t count : summands) {
    if (count > asked.largest) continue;
    std::array<double, std::size(orders)> worst{};
    for (int set = 0; set < data_sets; ++set) {
      const std::vector<double> elements = elements_of(count, set);
      const double magnitudes = sum_of_magnitudes(elements);
      for (std::size_t i = 0; i < worst.size(); ++i)
        worst[i] = std::max(worst[i], error_of(orders[i].sum(elements), elements) / magnitudes);
    }
    for (std::size_t i = 0; i < worst.size(); ++i) found.rows.push_back(row_of(count, orders[i], worst[i]));
  }
  return found;
}

}  // namespace steadfold::command::studies::topology
