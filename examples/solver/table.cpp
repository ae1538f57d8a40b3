// The tables for people; see table.hpp.
#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>

#include "common/bits.hpp"

namespace solver {
namespace {

/// Digests in tables of several jobs: half of them tells runs apart as well.
constexpr std::size_t shown_digits = 8;

std::string digest_of(const Record& run) { return run.at("residuals").get<std::string>().substr(0, shown_digits); }

std::string problem_of(const Record& record) {
  const Record& points = record.at("points");
  return fmt::format("-div(k grad u) = f on {} x {} x {} points, k from 1 to {:g}; {} to a residual of {:g}",
                     points[0].get<std::uint64_t>(), points[1].get<std::uint64_t>(), points[2].get<std::uint64_t>(),
                     record.at("contrast").get<double>(), record.at("algorithm").get<std::string>(),
                     record.at("tolerance").get<double>());
}

std::string plural(std::uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "3 different runs, 241 to 243 iterations"
std::string runs_by(const std::string& dot, const std::vector<Record>& records) {
  std::set<std::string> histories;
  std::set<std::uint64_t> iterations;
  for (const Record& record : records) {
    const Record& run = record.at("dots").at(dot);
    histories.insert(run.at("residuals"));
    iterations.insert(run.at("iterations").get<std::uint64_t>());
  }
  const std::uint64_t least = *iterations.begin(), most = *iterations.rbegin();
  return fmt::format("{}, {} iterations", plural(histories.size(), "different run"),
                     least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
}

}  // namespace

std::string describe(const Record& record) {
  std::string text = fmt::format(
      "{};\n{} of {}, {}.\n\n"
      "scalar products | iterations  residuals         true residual       time  to plain\n"
      "----------------|--------------------------------------------------------------------\n",
      problem_of(record), plural(record.at("ranks"), "rank"), plural(record.at("threads"), "thread"),
      example::short_name(record.at("mpi")));
  const Record& dots = record.at("dots");
  for (const auto& [name, run] : dots.items()) {
    const double seconds = run.at("seconds");
    const std::string ratio =
        dots.contains("plain") ? fmt::format("{:10.3f}", seconds / dots.at("plain").at("seconds").get<double>()) : "";
    fmt::format_to(std::back_inserter(text), "{:15} | {:10}  {}  {:13.6e}  {:7.3f} s{}{}\n", name,
                   run.at("iterations").get<std::uint64_t>(), run.at("residuals").get<std::string>(),
                   run.at("residual").get<double>(), seconds, ratio,
                   run.at("converged").get<bool>() ? "" : "  (not converged)");
  }
  return text;
}

std::string table_head(const Record& record) {
  std::string text = fmt::format(
      "{};\n{}.\nIterations, a digest of the residuals of all of them, and the time; * marks what differs from the "
      "first "
      "row.\n\n             ",
      problem_of(record), example::short_name(record.at("mpi")));
  const Record& dots = record.at("dots");
  for (const auto& [name, run] : dots.items()) fmt::format_to(std::back_inserter(text), " |  {:24}", name);
  text.resize(text.find_last_not_of(' ') + 1);
  text += "\nranks threads";
  for (std::size_t i = 0; i < dots.size(); ++i) text += " | iter. residuals      time";
  text += "\n-------------";
  for (std::size_t i = 0; i < dots.size(); ++i) text += "-|--------------------------";
  return text + "\n";
}

std::string table_row(const Record& record, const Record& first) {
  std::string row = fmt::format("{:5} {:7}", record.at("ranks").get<int>(), record.at("threads").get<int>());
  for (const auto& [name, run] : record.at("dots").items())
    fmt::format_to(std::back_inserter(row), " | {:5} {} {:7.3f} s", run.at("iterations").get<std::uint64_t>(),
                   example::marked(digest_of(run), digest_of(first.at("dots").at(name))),
                   run.at("seconds").get<double>());
  return row + "\n";
}

bool same_by_steadfold(const std::vector<Record>& records) {
  return std::all_of(records.begin(), records.end(), [&](const Record& record) {
    return record.at("fingerprint_steadfold") == records.front().at("fingerprint_steadfold");
  });
}

std::string conclude(const std::vector<Record>& records) {
  std::string text = fmt::format("On {} numbers of ranks and threads:\n", records.size());
  for (const auto& [name, run] : records.front().at("dots").items())
    fmt::format_to(std::back_inserter(text), "  {:7} {}\n", name, runs_by(name, records));
  if (!same_by_steadfold(records)) text += "Steadfold's bits differ between jobs: please report this.\n";
  return text;
}

}  // namespace solver
