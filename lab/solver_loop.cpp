#include "solver_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "bench/bench.hpp"
#include "bench/statistics.hpp"
#include "plan/choice.hpp"
#include "prediction/prediction.hpp"
#include "program/launcher.hpp"
#include "program/methods.hpp"
#include "program/mpi_library.hpp"
#include "tools/table.hpp"

namespace steadfold::command {
namespace {

using bench::Contest;
using bench::Entrant;
using bench::Measurement;

constexpr std::size_t tile = 8;  // cells along a side

/// A way of example_sea_ice, and how its table names it. Rivals stand first.
struct Way {
  const char* name;
  const char* method;
  const char* call;
  bool is_rival;
};
constexpr Way ways[] = {{"plain", "loops in order, MPI_Allreduce", "", true},
                        {"side_by_side", "loops of eight sums at once, MPI_Allreduce", "", true},
                        {"integers", "vectors of integers, two MPI_Allreduce", "", true},
                        {"double_double", "pairs of doubles, MPI_Allreduce", "", true},
                        {"exact", "exact", "one call", false},
                        {"exact_each", "exact", "a call each", false},
                        {"exact_plan", "exact", "plan", false},
                        {"binned", "binned", "one call", false},
                        {"binned_plan", "binned", "plan", false}};

std::filesystem::path program() {
  const std::filesystem::path found = this_program().parent_path() / "example_sea_ice";
  if (std::filesystem::exists(found)) return found;
  throw Failure("bench solver-loop has nothing to measure (" + found.string() +
                " is not there), build from source with gfortran");
}

/// The record of one launch of the program.
Json record_of(std::size_t count, int rounds, int rank_count) {
  const std::string side = std::to_string(count);
  const Ran ran = run_ranks(rank_count, Placement::on_cores, program().string(),
                            {"--json", "--cells", side + "," + side, "--tile", "8,8", "--picard", "2", "--iterations",
                             "30", "--tolerance", "0", "--rounds", std::to_string(rounds)});
  const std::size_t begin = std::min(ran.out.find("{\"application\""), ran.out.size());  // launchers say things, too
  Json record = Json::parse(ran.out.substr(begin), nullptr, false);
  if (record.is_object() && ran.status == 0) return record;
  throw Failure(fmt::format("{} failed (exit status {}{}), try {}", ran.command, ran.status,
                            ran.complaint.empty() ? "" : ": " + ran.complaint, program().string()));
}

/// All ways of one method must have the same bits, or what is measured is of no use.
void check_bits(const Json& record) {
  std::map<std::string, std::string> products;
  for (std::size_t i = 0; i < std::size(ways); ++i) {
    const auto found = record.at("ways")[i].at("products").get<std::string>();
    if (ways[i].is_rival || products.try_emplace(ways[i].method, found).first->second == found) continue;
    throw Failure(fmt::format("{} by {} has other bits ({}, not {}), please report it", ways[i].method, ways[i].call,
                              found, products.at(ways[i].method)));
  }
}

/// The samples of one field of the record.
Contest contest_of(const Json& record, const std::string& wanted, const std::string& field) {
  Contest contest{.labels = {{"operator", wanted},
                             {"count", record.at("unknowns")},
                             {"library", mpi_library().name},
                             {"transport", record.at("transport")},
                             {"ranks", record.at("ranks")},
                             {"threads", 1}},
                  .entrants = {},
                  .rival_count = static_cast<std::size_t>(std::ranges::count(ways, true, &Way::is_rival))};
  for (std::size_t i = 0; i < std::size(ways); ++i) {
    const Json& measured = record.at("ways")[i];
    Entrant entrant{.name = mpi_library().name + std::string(": ") + ways[i].method,
                    .labels = {{"method", ways[i].is_rival ? "mpi" : ways[i].method}, {"way", ways[i].name}},
                    .launches = {{.calls = 1, .seconds = measured.at(field).get<std::vector<double>>()}},
                    .rivals = {0, 1, 2, 3}};
    if (!ways[i].is_rival)
      entrant.labels.update({{"schedule", "auto"}, {"call", ways[i].call}, {"passthrough", false}});
    entrant.labels["calls"] = measured.at("calls");  // of k products, at place k - 1
    contest.entrants.push_back(std::move(entrant));
  }
  return contest;
}

/// The network of predictions: nodes of 36 ranks.
constexpr transport::LogGP between_nodes{.latency = 1.5e-6};
constexpr const char* network = "two_level:size=36:latency=281e-9";

/// Seconds of one allreduce of so many columns, a row for each rank.
double predicted_seconds(const std::string& method, std::size_t columns, int ranks) {
  const Method asked = method_named(method);
  const call::Call call{
      .method = static_cast<call::Method>(asked.id), .columns = columns, .parameters = parameters_of(asked)};
  prediction::Scenario scenario{.description = describe(call)};
  scenario.counts.assign(static_cast<std::size_t>(ranks), 1);
  const std::string schedule =
      plan::chosen_schedule(method == "plain" ? "mpich" : "auto", std::span(&scenario.description, 1),
                            order::Layout::contiguous(scenario.counts), plan::Network{.link = between_nodes})
          .schedule;
  scenario.schedule = plan::checked_schedule(schedule, std::span(&scenario.description, 1));
  const auto context = call::context_of(scenario.description, scenario.schedule, ranks);
  scenario.segments = plan::segments_of(context, columns, scenario.description.element_bytes, between_nodes);
  return predict(scenario, *transport::make_topology(network, between_nodes, ranks)).seconds.value();
}

/// What messages take on so many ranks. Several ways ask for the same allreduces.
class Messages {
 public:
  explicit Messages(int ranks) : ranks_(ranks) {}
  int ranks() const { return ranks_; }

  /// Seconds of `columns` products, by a way.
  double seconds_of(const Way& way, std::size_t columns) {
    constexpr std::size_t levels = 2;  // of integers, in nine of ten calls of this benchmark; in the others one more
    const std::string name = way.name;
    if (name == "integers") return allreduce("plain", columns + 1) + allreduce("plain", levels * columns);
    if (name == "double_double") return allreduce("plain", 2 * columns);
    return allreduce(way.is_rival ? "plain" : way.method, columns);
  }

 private:
  double allreduce(const std::string& method, std::size_t columns) {
    const auto [place, is_new] = known_.try_emplace({method, columns});
    if (is_new) place->second = predicted_seconds(method, columns, ranks_);
    return place->second;
  }

  int ranks_;
  std::map<std::pair<std::string, std::size_t>, double> known_;
};

Json predicted(const Contest& contest, Messages& messages) {
  Json rows = Json::array();
  double of_plain = 0;
  for (std::size_t i = 0; i < std::size(ways); ++i) {
    const Entrant& entrant = contest.entrants[i];
    const std::string call = ways[i].call;
    if (call != "" && call != "plan") continue;  // the messages of calls are those of plans, and a handshake more
    bench::Launches launches;
    for (const bench::Samples& samples : entrant.launches) launches.push_back(samples.seconds);
    const double on_few = bench::summary_of(launches).median;
    double communicating = 0;
    const auto calls = entrant.labels.at("calls").get<std::vector<double>>();
    for (std::size_t k = 0; k < calls.size(); ++k)
      if (calls[k] > 0) communicating += calls[k] * messages.seconds_of(ways[i], k + 1);
    const double computing = on_few * contest.labels.at("ranks").get<double>() / messages.ranks();
    if (i == 0) of_plain = computing + communicating;
    rows.push_back({{"ranks", messages.ranks()},
                    {"count", contest.labels.at("count")},
                    {"way", ways[i].name},
                    {"seconds", computing + communicating},
                    {"seconds_of_messages", communicating},
                    {"ratio", (computing + communicating) / of_plain}});
  }
  return rows;
}

}  // namespace

void check(const SolverLoopOptions& options) {
  for (const std::size_t count : options.counts)
    if (count < 2 * tile || count % tile != 0 || count > 1024)
      throw Failure(
          fmt::format("--counts has {} (cells along a side are cut into tiles of {}), give multiples of {} from "
                      "{} to 1024",
                      count, tile, tile, 2 * tile));
}

Measurement solver_loop(const SolverLoopOptions& options, int rank_count) {
  Measurement measurement{.environment = bench::environment(), .contests = {}};
  for (const std::size_t count : options.counts) {
    const Json record = record_of(count, options.rounds, rank_count);
    check_bits(record);
    measurement.contests.push_back(contest_of(record, "solve", "seconds"));
    measurement.contests.push_back(contest_of(record, "products of a solve", "seconds_of_products"));
  }
  return measurement;
}

Json predicted_solves(const Measurement& measurement) {
  Json rows = Json::array();
  std::vector<Messages> all_messages;
  for (const int ranks : {36, 144, 576, 2304}) all_messages.emplace_back(ranks);
  std::vector<Json> seen;
  for (const Contest& contest : measurement.contests) {
    const Json& count = contest.labels.at("count");
    if (contest.labels.at("operator") != "solve" || std::ranges::count(seen, count) > 0) continue;
    seen.push_back(count);
    for (Messages& messages : all_messages)
      for (Json& row : predicted(contest, messages)) rows.push_back(std::move(row));
  }
  return rows;
}

std::string table_of_predicted_solves(const Json& rows) {
  std::vector<std::vector<std::string>> lines = {
      {"ranks", "velocities", "products by", "solve ms", "of them messages", "times plain"}};
  for (const Json& row : rows)
    lines.push_back({row["ranks"].dump(), row["count"].dump(), row["way"].get<std::string>(),
                     fmt::format("{:.3f}", 1e3 * row["seconds"].get<double>()),
                     fmt::format("{:.3f}", 1e3 * row["seconds_of_messages"].get<double>()),
                     fmt::format("{:.2f}", row["ratio"].get<double>())});
  return "predicted, for nodes of 36 ranks, 0.28 us inside and 1.5 us between them, 10 GB/s\n" + table(lines);
}

}  // namespace steadfold::command
