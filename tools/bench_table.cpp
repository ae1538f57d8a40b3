// Writes tables of results. The columns are the same as in other benchmarks of MPI: bytes, repetitions, t_min, t_avg,
// t_max, in microseconds.
#include "bench_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "table.hpp"

namespace steadfold::command {
namespace {

std::string range(const Json& interval) {
  return fmt::format("[{:.2f}, {:.2f}]", interval[0].get<double>(), interval[1].get<double>());
}

std::string microseconds(const Json& seconds) { return fmt::format("{:.3f}", seconds.get<double>() * 1e6); }

/// Returns the labels that all rows of one contest (a comparison of candidates with rivals) share.
std::string heading_of(const Json& row) {
  const auto words = [&](const char* field) { return row[field].get<std::string>(); };
  const int ranks = row["ranks"].get<int>();
  const int threads = row["threads"].get<int>();
  const std::size_t rows = row.value("rows", std::size_t{1});
  std::string text = fmt::format("{} of {}{}", words("operator"), rows > 1 ? fmt::format("{} rows of ", rows) : "",
                                 row["count"].get<std::size_t>());
  if (row.contains("type"))
    text += fmt::format(" {} per {} ({} bytes)", words("type"), threads > 1 ? "thread" : "rank",
                        row["bytes"].get<std::size_t>());
  if (words("library") == "none")
    return text + fmt::format(" on {} threads, transport {}\n", threads, words("transport"));
  return text + fmt::format(" on {} ranks{}, {}, transport {}, {} launches\n", ranks,
                            threads > 1 ? fmt::format(" of {} threads", threads) : "", words("library"),
                            words("transport"), row["launches"].get<int>());
}

/// The rivals of one contest, which its table calls A, B, and so on.
class Rivals {
 public:
  explicit Rivals(const std::vector<const Json*>& rows) {
    for (const Json* row : rows) {
      for (const Json& rival : (*row)["rivals"])
        if (place_of(rival["rival"]) == rivals_.size()) rivals_.push_back(&rival);
    }
  }

  std::vector<std::vector<std::string>> lines(bool is_split) const {
    std::vector<std::vector<std::string>> lines;
    for (const Json* rival : rivals_) {
      lines.push_back({letter(*rival), "", ""});
      add_columns(*rival, lines.back());
      if (is_split) add_split_columns(*rival, lines.back());
    }
    return lines;
  }

  std::string names() const {
    std::string text;
    for (const Json* rival : rivals_) {
      const auto name = (*rival)["rival"].get<std::string>();
      const auto library = name.rfind(": ");  // the name of the library is in the heading
      text += fmt::format("{}: {}\n", letter(*rival), library == name.npos ? name : name.substr(library + 2));
    }
    return text;
  }

  /// Writes the ratios to all rivals, the first with its interval: "0.93 [0.90, 0.95] A".
  std::string ratios_of(const Json& row) const {
    std::string text;
    for (const Json& rival : row["rivals"]) {
      const std::string interval = text.empty() ? " " + range(rival["ratio_interval"]) : "";
      text +=
          fmt::format("{}{:.2f}{} {}", text.empty() ? "" : ", ", rival["ratio"].get<double>(), interval, letter(rival));
    }
    return text;
  }

  static void add_columns(const Json& row, std::vector<std::string>& line) {
    line.push_back(std::to_string(row["repetitions"].get<std::size_t>()));
    for (const char* field : {"t_min", "t_avg", "t_max", "seconds"}) line.push_back(microseconds(row[field]));
    if (row.contains("wire_bytes")) line.push_back(fmt::format("{:.0f}", row["wire_bytes"].get<double>()));
  }
  /// Adds columns for started calls: the number of tests, and the part of the communication that a computation hides.
  static void add_split_columns(const Json& row, std::vector<std::string>& line) {
    line.push_back(row.contains("tests") ? fmt::format("{:.1f}", row["tests"].get<double>()) : "");
    line.push_back(row.contains("hidden") ? fmt::format("{:.0f}%", 100 * row["hidden"].get<double>()) : "");
  }

 private:
  std::size_t place_of(const Json& name) const {
    const auto found = std::ranges::find_if(rivals_, [&](const Json* rival) { return (*rival)["rival"] == name; });
    return static_cast<std::size_t>(found - rivals_.begin());
  }
  std::string letter(const Json& rival) const {
    return std::string(1, static_cast<char>('A' + place_of(rival["rival"])));
  }

  std::vector<const Json*> rivals_;
};

std::string table_of_contest(const std::vector<const Json*>& rows) {
  const Rivals rivals(rows);
  std::vector<std::vector<std::string>> lines = {
      {"method", "call", "schedule", "repetitions", "t_min us", "t_avg us", "t_max us", "median us"}};
  if (rows.front()->contains("wire_bytes")) lines.front().push_back("wire bytes");
  const bool is_split = std::ranges::any_of(rows, [](const Json* row) { return row->contains("hidden"); });
  if (is_split) lines.front().insert(lines.front().end(), {"tests", "hidden"});
  lines.front().push_back("times");
  for (auto& line : rivals.lines(is_split)) lines.push_back(std::move(line));
  std::string note;
  for (const Json* row : rows) {
    lines.push_back({(*row)["method"], (*row)["call"], (*row)["schedule"]});
    if (!row->value("same_on_all_ranks", true)) {
      lines.back().back() += " *";
      note = "* ranks get different bits: library calls refuse this combination\n";
    }
    Rivals::add_columns(*row, lines.back());
    if (is_split) Rivals::add_split_columns(*row, lines.back());
    lines.back().push_back(rivals.ratios_of(*row));
  }
  return heading_of(*rows.front()) + rivals.names() + table(lines) + note + "\n";
}

}  // namespace

std::string table_of_local(const Json& rows) {
  std::string text;
  const auto name_of = [](const Json& row) { return row[row.contains("prefetch") ? "variant" : "kernel"]; };
  for (const Json& row : rows)
    text += fmt::format(
        "{:13} {:6} {:>9} elements {:>2} threads  {:8.4f} ns/element  {:6.2f} x read {:16}  {:6.2f} x accumulate\n",
        name_of(row).get<std::string>(), row["type"].get<std::string>(), row["elements"].get<std::size_t>(),
        row["threads"].get<int>(), row["ns_per_element"].get<double>(), row["ratio_to_read"].get<double>(),
        range(row["ratio_to_read_interval"]), row["ratio_to_accumulate"].get<double>());
  return text;
}

std::string table_over_ranks(const Json& rows) {
  std::string text;
  std::vector<const Json*> contest;
  for (const Json& row : rows) {
    if (!contest.empty() && heading_of(row) != heading_of(*contest.front())) {
      text += table_of_contest(contest);
      contest.clear();
    }
    contest.push_back(&row);
  }
  return contest.empty() ? text : text + table_of_contest(contest);
}

std::string table_of_choices(const Json& rows) {
  const auto job_of = [](const Json& row) {
    return fmt::format("{} ranks, {}, transport {}, {} launches\n", row["ranks"].get<int>(),
                       row["library"].get<std::string>(), row["transport"].get<std::string>(),
                       row["launches"].get<int>());
  };
  constexpr double near = 1.15;  // schedules within this multiple of the best schedule's time count as near
  const std::vector<std::string> heading = {"method",       "doubles",  "auto takes", "us",
                                            "predicted us", "the best", "us",         "times"};
  std::string text;
  std::vector<std::vector<std::string>> lines = {heading};
  std::size_t near_ones = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Json& row = rows[i];
    const Json& predicted = row["predicted_seconds"];
    lines.push_back({row["method"], std::to_string(row["count"].get<std::size_t>()), row["chosen"],
                     microseconds(row["seconds"]), predicted.is_null() ? "" : microseconds(predicted), row["best"],
                     microseconds(row["best_seconds"]),
                     fmt::format("{:.2f} {}", row["ratio"].get<double>(), range(row["ratio_interval"]))});
    near_ones += row["ratio"].get<double>() <= near ? 1 : 0;
    if (i + 1 < rows.size() && job_of(rows[i + 1]) == job_of(row)) continue;
    text += job_of(row) + table(lines) + "\n";
    lines = {heading};
  }
  return text + fmt::format("{} of {} choices take at most {} times as long as the best schedule\n", near_ones,
                            rows.size(), near);
}

}  // namespace steadfold::command
