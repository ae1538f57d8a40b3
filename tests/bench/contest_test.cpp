#include "bench/contest.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace steadfold::bench::contest_test {
namespace {

Entrant entrant(const std::string& name, Json labels, std::vector<double> seconds) {
  return {name, std::move(labels), {{4, std::move(seconds)}}};
}

Measurement over_ranks(double slowness) {
  const auto times = [slowness](std::vector<double> seconds) {
    for (double& each : seconds) each *= slowness;
    return seconds;
  };
  return {.environment = {{"cpu", "a"}},
          .contests = {{.labels = {{"count", 3}, {"ranks", 2}},
                        .entrants = {entrant("mpi", {{"method", "mpi"}}, times({1, 2, 3})),
                                     entrant("tree", {{"method", "tree"}}, times({2, 4, 6}))}}}};
}

TEST(Contests, TravelAsText) {
  const Measurement measurement = over_ranks(1);
  const Json json = Json::parse(to_json(measurement).dump());
  EXPECT_EQ(to_json(measurement_in(json)), to_json(measurement));
}

TEST(Contests, OverRanksHaveTheFirstAsRival) {
  const Json rows = rows_over_ranks(over_ranks(1));
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0]["method"], "tree");
  EXPECT_EQ(rows[0]["count"], 3);
  EXPECT_EQ(rows[0]["seconds"], 4.0);
  EXPECT_EQ(rows[0]["rival_seconds"], 2.0);
  EXPECT_EQ(rows[0]["ratio"], 2.0);
  EXPECT_EQ(rows[0]["ratio_interval"], Json({2.0, 2.0}));
  EXPECT_EQ(rows[0]["seconds_quartiles"], Json({3.0, 5.0}));
  EXPECT_EQ(rows[0]["launches"], 1);
  EXPECT_EQ(rows[0]["rounds"], 3);
}

TEST(Contests, ArePooledOverLaunches) {
  Measurement pooled = over_ranks(1);
  pool(pooled, over_ranks(10));
  const Json rows = rows_over_ranks(pooled);
  EXPECT_EQ(rows[0]["launches"], 2);
  EXPECT_EQ(rows[0]["rounds"], 6);
  EXPECT_EQ(rows[0]["seconds"], 13.0);
  EXPECT_EQ(rows[0]["rival_seconds"], 6.5);
  EXPECT_EQ(rows[0]["ratio_interval"], Json({2.0, 2.0}));

  Measurement other = over_ranks(1);
  other.contests[0].labels["count"] = 4;
  EXPECT_THROW(pool(pooled, other), std::logic_error);
}

/// One half of the rounds says which schedule is the best, the other half how good it is.
TEST(Contests, OfChoicesAreJudgedByOtherRoundsThanTheyAreChosenBy) {
  const auto by = [](const std::string& schedule, const std::string& method = "tree") {
    return Json{{"method", method}, {"schedule", schedule}, {"chosen", "linear"}};
  };
  Json choice = by("auto");
  choice["predicted_seconds"] = 3.0;
  const Measurement measurement{
      .environment = {},
      .contests = {
          {.labels = {{"count", 3}},
           .entrants = {entrant("mpi", {{"method", "mpi"}}, {1, 1, 1, 1}), entrant("auto", choice, {6, 90, 6, 90}),
                        entrant("lucky", by("linear"), {4, 1, 4, 1}), entrant("good", by("ring"), {2, 2, 2, 2}),
                        entrant("other", by("ring", "exact"), {0.1, 0.1, 0.1, 0.1})}}}};
  const Json rows = rows_of_choices(measurement);
  ASSERT_EQ(rows.size(), 1);
  EXPECT_EQ(rows[0]["best"], "linear");
  EXPECT_EQ(rows[0]["best_seconds"], 4.0);
  EXPECT_EQ(rows[0]["seconds"], 6.0);
  EXPECT_EQ(rows[0]["ratio"], 1.5);
  EXPECT_EQ(rows[0]["measured_to_predicted"], 2.0);
  EXPECT_EQ(rows[0]["chosen"], "linear");
}

TEST(Contests, OfOneProcessAreLimitedByTheFastestRead) {
  const auto kernel = [](const std::string& name) { return Json{{"kernel", name}}; };
  const Measurement measurement{
      .environment = {},
      .contests = {{.labels = {{"elements", 2}, {"type", "f64"}},
                    .entrants = {entrant("read a", kernel("read"), {4e-9, 5e-9, 6e-9}),
                                 entrant("read b", kernel("read"), {2e-9, 4e-9, 6e-9}),
                                 entrant("accumulate", kernel("accumulate"), {8e-9, 8e-9, 8e-9}),
                                 entrant("tree", kernel("tree"), {4e-9, 8e-9, 12e-9})}}}};
  const Json rows = rows_of_local(measurement);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0]["kernel"], "read");
  EXPECT_DOUBLE_EQ(rows[0]["ns_per_element"], 2);
  EXPECT_EQ(rows[2]["kernel"], "tree");
  EXPECT_DOUBLE_EQ(rows[2]["ns_per_element"], 4);
  EXPECT_DOUBLE_EQ(rows[2]["ratio_to_read"], 2);
  EXPECT_DOUBLE_EQ(rows[2]["ratio_to_read_interval"][0], 2);
  EXPECT_DOUBLE_EQ(rows[2]["ratio_to_read_interval"][1], 2);
  EXPECT_DOUBLE_EQ(rows[2]["ratio_to_accumulate"], 1);
}

TEST(Contests, AreWrittenSampleBySample) {
  Measurement measurement = over_ranks(1);
  pool(measurement, over_ranks(2));
  std::stringstream text;
  write_raw("allreduce", measurement, text);
  std::string line;
  ASSERT_TRUE(std::getline(text, line));
  EXPECT_EQ(Json::parse(line)["environment"], measurement.environment);
  double total = 0;
  int lines = 0;
  for (; std::getline(text, line); ++lines) {
    const Json sample = Json::parse(line);
    for (const char* field : {"launch", "round", "candidate", "calls", "count", "ranks"})
      EXPECT_TRUE(sample.contains(field)) << field;
    total += sample["seconds"].get<double>();
  }
  EXPECT_EQ(lines, 2 * 2 * 3);
  EXPECT_EQ(total, 3 * (6.0 + 12));
}

}  // namespace
}  // namespace steadfold::bench::contest_test
