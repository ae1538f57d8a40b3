// Sums of the data sets over 1, 17, ..., 241 ranks, all in this process, and over trees that do not depend on the rank
// count: the binary tree, K-ary trees, a gather to one rank.
// Source: [S0] section 4.3, table 4.2, and the transcript of its runs in the author's repository (stelzch/allreduce,
// misc/reproducibility-test-2022-03-24-*.txt), which has the 16 sums of every data set but rokasD7.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "kary_tree.hpp"
#include "order/distribution.hpp"
#include "program/site_likelihoods.hpp"
#include "readers/reader.hpp"
#include "simulated_sum.hpp"
#include "thesis.hpp"

namespace steadfold::command::studies::thesis {
namespace {

using call::Method;

/// Sums by std::accumulate and MPI_Allreduce. Table 4.2 says that it has the largest less the smallest sum; it has the
/// transcript's `maxDeviation`, the largest distance from the mean. It calls rokasA4 rokasA8.
struct Published {
  std::string_view data_set;
  double table;       // table 4.2
  double difference;  // the largest sum of the transcript less the smallest
  int results;        // different sums of 16 in the transcript
};
constexpr Published published[] = {
    {"354", 6.4e-12, 7.275957614183426e-12, 3},        {"multi100", 3.6e-12, 3.637978807091713e-12, 2},
    {"prim", 7.3e-12, 8.185452315956354e-12, 3},       {"fusob", 4.5e-11, 5.093170329928398e-11, 3},
    {"dna_rokasD4", 1.9e-7, 2.123415470123291e-7, 9},  {"aa_rokasA8", 4.5e-8, 5.587935447692871e-8, 6},
    {"dna_rokasD1", 4.5e-6, 4.906207323074341e-6, 13}, {"aa_rokasA4", 2.8e-6, 2.995133399963379e-6, 7},
    {"dna_PeteD8", 6.1e-6, 6.660819053649902e-6, 11}};

struct Way {
  const char* method;
  const char* schedule;
  SimulatedSum sum;
};
const Way ways[] = {
    {"tree", "binomial", {Method::tree, "binomial", true}},
    {"exact", "recursive_doubling", {Method::exact, "recursive_doubling", false}},
    {"plain", "flat", {Method::plain, "flat", true}},
    {"plain", "recursive_doubling", {Method::plain, "recursive_doubling", false}},  // local sums, then MPI_Allreduce
};
constexpr std::size_t fan_ins[] = {2, 3, 4, 8, 16};

struct Elements {
  std::string source;
  std::vector<double> values;
};

/// The data are in files of this name; in the author's repository the largest is packed.
std::string file_of(const DataSet& set, const Asked& asked) {
  return (std::filesystem::path(asked.data) / set.name).string() + ".binpsllh";
}

std::string absence_of(const DataSet& set, const Asked& asked) {
  const bool packed = std::filesystem::is_regular_file(file_of(set, asked) + ".lzma");
  return packed ? fmt::format("{0}: {0}.binpsllh.lzma is packed (in {1}), unpack it with unlzma", set.name, asked.data)
                : fmt::format("{0}: no {0}.binpsllh (not in {1}), put it there", set.name, asked.data);
}

std::optional<Elements> elements_of(const DataSet& set, const Asked& asked) {
  Elements elements{.source = "generated", .values = std::vector<double>(set.element_count)};
  if (asked.data.empty()) {
    for (std::size_t i = 0; i < elements.values.size(); ++i) elements.values[i] = site_likelihood(i);
    return elements;
  }
  const std::string path = file_of(set, asked);
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  const auto source = readers::open(path);
  const std::uint64_t count = source->count(0, 1);
  source->set_counts(std::span(&count, 1));
  elements = {.source = "file", .values = std::vector<double>(count)};
  source->read(0, std::span(elements.values));
  return elements;
}

/// What [S0] has of this way; its own tree and ReproBLAS had one sum each.
Json published_for(const DataSet& set, const Way& way) {
  const auto* const found = std::ranges::find(published, set.name, &Published::data_set);
  if (found == std::end(published) || way.schedule == std::string_view("flat")) return Json::object();
  const bool plain = way.sum.method == Method::plain;
  return {{"published_table", plain ? found->table : 0.0},
          {"published_difference", plain ? found->difference : 0.0},
          {"published_results", plain ? found->results : 1}};
}

/// The row of several sums that should be equal.
Json row_of(const DataSet& set, const Elements& elements, const std::vector<double>& sums, double exact) {
  std::set<std::uint64_t> results;
  double error = 0;
  for (const double sum : sums) {
    results.insert(std::bit_cast<std::uint64_t>(sum));
    error = std::max(error, std::fabs(sum - exact) / std::fabs(exact));
  }
  const auto [least, greatest] = std::ranges::minmax(sums);
  return {{"part", "reproducibility"},
          {"data_set", set.name},
          {"data", elements.source},
          {"elements", elements.values.size()},
          {"method", ""},
          {"schedule", nullptr},
          {"rank_counts", sums.size()},
          {"results", results.size()},
          {"bits", fmt::format("{:016X}", std::bit_cast<std::uint64_t>(sums.front()))},
          {"difference", greatest - least},
          {"published_table", nullptr},
          {"published_difference", nullptr},
          {"published_results", nullptr},
          {"relative_difference", (greatest - least) / std::fabs(exact)},
          {"relative_error", error}};
}

std::vector<double> sums_over_ranks(const std::vector<double>& elements, const SimulatedSum& sum) {
  std::vector<double> sums;
  for (order::Rank ranks = 1; ranks <= 241; ranks += 16) {
    const auto shares = order::closed_form(order::Distribution::upper, elements.size(), ranks).value();
    sums.push_back(simulated_sum(elements, shares, sum));
  }
  return sums;
}

void add_rows(const DataSet& set, const Elements& elements, Json& rows) {
  const order::TwoShares one_rank(1, 1, elements.values.size(), 0);
  const double exact = simulated_sum(elements.values, one_rank, ways[1].sum);
  for (const Way& way : ways) {
    Json row = row_of(set, elements, sums_over_ranks(elements.values, way.sum), exact);
    row.update({{"method", way.method}, {"schedule", way.schedule}});
    row.update(published_for(set, way));
    rows.push_back(row);
  }
  for (const std::size_t k : fan_ins) {
    rows.push_back(row_of(set, elements, {kary_tree_sum(elements.values, k)}, exact));
    rows.back()["method"] = fmt::format("tree:k={}", k);
  }
  rows.push_back(row_of(set, elements, {simulated_sum(elements.values, one_rank, ways[2].sum)}, exact));
  rows.back()["method"] = "gather";
}

}  // namespace

Findings reproducibility(const Asked& asked) {
  Findings found;
  for (const DataSet& set : data_sets) {
    if (set.element_count > asked.largest) continue;
    const std::optional<Elements> elements = elements_of(set, asked);
    if (elements)
      add_rows(set, *elements, found.rows);
    else
      found.left_out.push_back(absence_of(set, asked));
  }
  if (found.rows.empty() && !asked.data.empty())
    throw Failure("no data set is found (" + asked.data +
                  " has no NAME.binpsllh of table 4.1 within the bounds), name another directory");
  return found;
}

}  // namespace steadfold::command::studies::thesis
