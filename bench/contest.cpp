#include "contest.hpp"

#include <algorithm>
#include <limits>
#include <ostream>
#include <stdexcept>

namespace steadfold::bench {
namespace {

Launches seconds_of(const Entrant& entrant) {
  Launches launches;
  for (const Samples& samples : entrant.launches) launches.push_back(samples.seconds);
  return launches;
}

Json pair_of(const Interval& interval, double scale = 1) { return {interval.low * scale, interval.high * scale}; }

std::size_t rounds_of(const Entrant& entrant) {
  std::size_t rounds = 0;
  for (const Samples& samples : entrant.launches) rounds += samples.seconds.size();
  return rounds;
}

/// Returns the columns that other benchmarks have, too: the number of timed calls; the smallest, largest and mean
/// seconds per call; and the bytes that the busiest rank sent per call, if they were counted.
Json columns_of(const Entrant& entrant) {
  std::size_t repetitions = 0;
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  double total = 0;
  std::vector<double> bytes;
  std::vector<double> tests;
  for (const Samples& samples : entrant.launches) {
    repetitions += samples.calls * samples.seconds.size();
    bytes.insert(bytes.end(), samples.wire_bytes.begin(), samples.wire_bytes.end());
    tests.insert(tests.end(), samples.tests.begin(), samples.tests.end());
    for (const double seconds : samples.seconds) {
      least = std::min(least, seconds);
      greatest = std::max(greatest, seconds);
      total += seconds;
    }
  }
  Json columns = {{"repetitions", repetitions},
                  {"t_min", least},
                  {"t_max", greatest},
                  {"t_avg", total / static_cast<double>(rounds_of(entrant))}};
  if (!bytes.empty()) columns["wire_bytes"] = quantile(bytes, 0.5);
  if (!tests.empty()) columns["tests"] = quantile(tests, 0.5);
  return columns;
}

/// Returns the part of the communication that a computation hides: 1 if both together take as long as the computation
/// alone, 0 if they take as long as one after the other. Noise may move the result a few percent out of [0, 1].
double hidden(const Contest& contest, const Entrant& entrant) {
  const auto median = [](const Entrant& of) { return summary_of(seconds_of(of)).median; };
  const double communication = median(contest.entrants[entrant.overlap->communication]);
  const double computation = median(contest.entrants[entrant.overlap->computation]);
  return (communication + computation - median(entrant)) / communication;
}

/// Returns the columns of a row that do not depend on the benchmark.
Json row_of(const Contest& contest, const Entrant& entrant) {
  Json row = entrant.labels;
  row.update(contest.labels);
  row.update({{"launches", entrant.launches.size()}, {"rounds", rounds_of(entrant)}});
  return row;
}

/// Returns the part of a row that describes a rival: its times, and the ratio of the entrant's time to the rival's.
Json beside(const Contest& contest, const Entrant& rival, const Launches& seconds, double confidence) {
  const Launches its = seconds_of(rival);
  const Summary summary = summary_of(its, confidence);
  Json row = {{"rival", rival.name}, {"seconds", summary.median}, {"seconds_interval", pair_of(summary.interval)}};
  row.update(columns_of(rival));
  row.update({{"ratio", summary_of(seconds).median / summary.median},
              {"ratio_interval", pair_of(interval_of_ratio(seconds, its, confidence))}});
  if (rival.overlap) row["hidden"] = hidden(contest, rival);
  return row;
}

Json row_over_ranks(const Contest& contest, const Entrant& entrant, double confidence) {
  const Launches seconds = seconds_of(entrant);
  const Summary summary = summary_of(seconds, confidence);
  Json rivals = Json::array();
  for (const std::size_t rival : entrant.rivals)
    rivals.push_back(beside(contest, contest.entrants[rival], seconds, confidence));
  Json row = row_of(contest, entrant);
  row.update(columns_of(entrant));
  row.update({{"seconds", summary.median},
              {"seconds_quartiles", pair_of(summary.quartiles)},
              {"seconds_interval", pair_of(summary.interval)},
              {"rival", rivals[0]["rival"]},
              {"rival_seconds", rivals[0]["seconds"]},
              {"rival_seconds_interval", rivals[0]["seconds_interval"]},
              {"ratio", rivals[0]["ratio"]},
              {"ratio_interval", rivals[0]["ratio_interval"]}});
  if (entrant.overlap) row["hidden"] = hidden(contest, entrant);
  row["rivals"] = std::move(rivals);
  return row;
}

void add_local_rows(const Contest& contest, double confidence, Json& rows) {
  const Entrant* read = nullptr;
  const Entrant* accumulate = nullptr;
  for (const Entrant& entrant : contest.entrants) {
    const auto median = [](const Entrant& of) { return summary_of(seconds_of(of)).median; };
    if (entrant.labels["kernel"] == "read" && (read == nullptr || median(entrant) < median(*read))) read = &entrant;
    if (entrant.labels["kernel"] == "accumulate") accumulate = &entrant;
  }
  const double per_element = 1e9 / contest.labels["elements"].get<double>();
  const double limit = summary_of(seconds_of(*read)).median;
  const double common = summary_of(seconds_of(*accumulate)).median;
  for (const Entrant& entrant : contest.entrants) {
    if (entrant.labels["kernel"] == "read" && &entrant != read) continue;
    const Launches seconds = seconds_of(entrant);
    const Summary summary = summary_of(seconds, confidence);
    Json row = row_of(contest, entrant);
    row.update({{"ns_per_element", summary.median * per_element},
                {"ns_quartiles", pair_of(summary.quartiles, per_element)},
                {"ns_interval", pair_of(summary.interval, per_element)},
                {"ratio_to_read", summary.median / limit},
                {"ratio_to_read_interval", pair_of(interval_of_ratio(seconds, seconds_of(*read), confidence))},
                {"ratio_to_accumulate", summary.median / common}});
    rows.push_back(std::move(row));
  }
}

}  // namespace

Json to_json(const Measurement& measurement) {
  Json contests = Json::array();
  for (const Contest& contest : measurement.contests) {
    Json entrants = Json::array();
    for (const Entrant& entrant : contest.entrants) {
      Json launches = Json::array();
      for (const Samples& samples : entrant.launches)
        launches.push_back({{"calls", samples.calls},
                            {"seconds", samples.seconds},
                            {"wire_bytes", samples.wire_bytes},
                            {"tests", samples.tests}});
      entrants.push_back(
          {{"name", entrant.name}, {"labels", entrant.labels}, {"launches", launches}, {"rivals", entrant.rivals}});
      if (entrant.overlap) entrants.back()["overlap"] = {entrant.overlap->communication, entrant.overlap->computation};
    }
    contests.push_back({{"labels", contest.labels}, {"entrants", entrants}, {"rival_count", contest.rival_count}});
  }
  return {{"environment", measurement.environment}, {"contests", contests}};
}

Measurement measurement_in(const Json& json) {
  Measurement measurement{.environment = json.at("environment"), .contests = {}};
  for (const Json& of_contest : json.at("contests")) {
    Contest contest{.labels = of_contest.at("labels"),
                    .entrants = {},
                    .rival_count = of_contest.at("rival_count").get<std::size_t>()};
    for (const Json& of_entrant : of_contest.at("entrants")) {
      Entrant entrant{.name = of_entrant.at("name"),
                      .labels = of_entrant.at("labels"),
                      .launches = {},
                      .rivals = of_entrant.at("rivals").get<std::vector<std::size_t>>()};
      for (const Json& samples : of_entrant.at("launches"))
        entrant.launches.push_back({.calls = samples.at("calls"),
                                    .seconds = samples.at("seconds").get<std::vector<double>>(),
                                    .wire_bytes = samples.at("wire_bytes").get<std::vector<double>>(),
                                    .tests = samples.at("tests").get<std::vector<double>>()});
      if (const auto overlap = of_entrant.find("overlap"); overlap != of_entrant.end())
        entrant.overlap = {.communication = overlap->at(0), .computation = overlap->at(1)};
      contest.entrants.push_back(std::move(entrant));
    }
    measurement.contests.push_back(std::move(contest));
  }
  return measurement;
}

void pool(Measurement& measurement, const Measurement& other) {
  for (std::size_t c = 0; c < measurement.contests.size(); ++c) {
    Contest& contest = measurement.contests[c];
    const Contest& with = other.contests.at(c);
    for (std::size_t e = 0; e < contest.entrants.size(); ++e) {
      Entrant& entrant = contest.entrants[e];
      const Entrant& same = with.entrants.at(e);
      if (contest.labels != with.labels || entrant.labels != same.labels)
        throw std::logic_error("launches measured different operations (" + entrant.name + " and " + same.name +
                               "), report this error");
      entrant.launches.insert(entrant.launches.end(), same.launches.begin(), same.launches.end());
    }
  }
}

Json rows_over_ranks(const Measurement& measurement, double confidence) {
  Json rows = Json::array();
  for (const Contest& contest : measurement.contests) {
    for (std::size_t i = contest.rival_count; i < contest.entrants.size(); ++i)
      rows.push_back(row_over_ranks(contest, contest.entrants[i], confidence));
  }
  return rows;
}

Json rows_by_rival(const Measurement& measurement, double confidence) {
  Json rows = Json::array();
  for (Json row : rows_over_ranks(measurement, confidence)) {
    const Json rivals = std::move(row["rivals"]);
    row.erase("rivals");
    for (const Json& rival : rivals) {
      row.update({{"rival", rival["rival"]},
                  {"rival_seconds", rival["seconds"]},
                  {"rival_seconds_interval", rival["seconds_interval"]},
                  {"ratio", rival["ratio"]},
                  {"ratio_interval", rival["ratio_interval"]}});
      rows.push_back(row);
    }
  }
  return rows;
}

Json rows_of_local(const Measurement& measurement, double confidence) {
  Json rows = Json::array();
  for (const Contest& contest : measurement.contests) add_local_rows(contest, confidence, rows);
  return rows;
}

void write_raw(const std::string& benchmark, const Measurement& measurement, std::ostream& out) {
  out << Json{{"benchmark", benchmark}, {"environment", measurement.environment}}.dump() << '\n';
  for (const Contest& contest : measurement.contests) {
    for (const Entrant& entrant : contest.entrants) {
      for (std::size_t launch = 0; launch < entrant.launches.size(); ++launch) {
        const Samples& samples = entrant.launches[launch];
        for (std::size_t round = 0; round < samples.seconds.size(); ++round) {
          Json line = {{"launch", launch},
                       {"round", round},
                       {"candidate", entrant.name},
                       {"seconds", samples.seconds[round]},
                       {"calls", samples.calls}};
          for (const char* label :
               {"library", "transport", "type", "operator", "elements", "threads", "count", "ranks"})
            if (contest.labels.contains(label)) line[label] = contest.labels[label];
          out << line.dump() << '\n';
        }
      }
    }
  }
}

}  // namespace steadfold::bench
