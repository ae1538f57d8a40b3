// `steadfold report`: makes one HTML page, which needs no other files, from results of `bench`, `study` and `verify`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "command.hpp"
#include "output.hpp"
#include "results/results.hpp"
#include "steadfold/steadfold.h"
#include "svg.hpp"
#include "values.hpp"

namespace steadfold::command {
namespace {

using results::Results;

struct ReportOptions {
  std::vector<std::string> files;
  std::string title = "Results of Steadfold";
  std::string output;
};

constexpr const char* page_style = R"(
:root{color-scheme:light dark;--ink:#1a1a1a;--ground:#fff;--line:#999;--faint:#ddd;--quiet:#595959}
@media (prefers-color-scheme:dark){:root{--ink:#eaeaea;--ground:#161616;--line:#888;--faint:#3a3a3a;--quiet:#a8a8a8}}
body{margin:2em auto;padding:0 1em;max-width:72em;font:15px/1.45 sans-serif;color:var(--ink);background:var(--ground)}
h1,h2{line-height:1.2;overflow-wrap:anywhere}.quiet{color:var(--quiet);overflow-wrap:anywhere}
.findings{font-size:17px;padding-left:1.2em;overflow-wrap:anywhere}summary{cursor:pointer;margin:.6em 0}
.wide{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:13px}
th,td{border:1px solid var(--faint);padding:.2em .6em;text-align:left;vertical-align:top}
td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
figure svg{width:100%;min-width:560px;max-width:1000px;height:auto}
svg text{font:11px sans-serif;fill:var(--ink)}svg .heading{font-size:13px;font-weight:bold}
figure{margin:1em 0}.axis{stroke:var(--line)}.grid{stroke:var(--faint)}.lead{stroke-width:.6}
.own{stroke-width:1.8}.dashes1{stroke-dasharray:10 3}.dashes2{stroke-dasharray:8 3 2 3}
.rival{stroke-width:1.4;stroke-dasharray:5 3}.limit{stroke-width:1.4;stroke-dasharray:1.5 3}
.interval,.mark{stroke-dasharray:none;stroke-width:1.2}svg .open{fill:var(--ground)}
)";

// Fields that `bench` adds only to some rows of a comparison. These rows are in one table with the other rows.
constexpr std::array<std::string_view, 5> optional_fields = {"chosen", "same_on_all_ranks", "wire_bytes", "tests",
                                                             "hidden"};

/// Rows of one part of a study that have the same fields, apart from optional fields.
struct Group {
  std::string part;
  std::vector<const Json*> rows;
};

std::vector<std::string> needed_fields_of(const Json& row) {
  std::vector<std::string> fields;
  for (const auto& [name, value] : row.items())
    if (std::ranges::find(optional_fields, name) == optional_fields.end()) fields.push_back(name);
  return fields;
}

std::vector<Group> groups_of(const Json& rows) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> places;
  for (const Json& row : rows) {
    const std::string part = results::string_in(row, "part");
    const auto [place, is_new] = places.try_emplace({part, needed_fields_of(row)}, groups.size());
    if (is_new) groups.push_back({.part = part, .rows = {}});
    groups[place->second].rows.push_back(&row);
  }
  return groups;
}

bool has_field(const Json& rows, const char* field) {
  return std::ranges::any_of(rows, [field](const Json& row) { return row.contains(field); });
}

/// Returns the title of a measurement or comparison, for people. The title comes from the fields, because files do not
/// name their benchmark.
std::string subject_of(const Results& each) {
  const Json& rows = each.object["rows"];
  if (each.kind == "verify") return "The bits of a sum";
  if (each.kind == "study")
    return "Study " + results::string_in(each.object, "study") +
           (results::string_in(each.object, "source").empty()
                ? ""
                : " of [" + results::string_in(each.object, "source") + "]");
  if (has_field(rows, "kernel")) return "Cost of sums in one process";
  if (has_field(rows, "rival")) return "Cost of reductions, compared with rival implementations";
  return "Measurements";
}

/// Describes the machine in a few words; empty if it is unknown. The names of MPI libraries have a long part after a
/// comma, which is cut off.
std::string machine_of(const Results& each) {
  const auto environment = each.object.find("environment");
  if (environment == each.object.end() || !environment->is_object()) return "";
  std::string text = results::string_in(*environment, "cpu");
  if (const auto cores = environment->find("cores"); cores != environment->end() && cores->is_number_integer())
    text += fmt::format("{}{} core{}", text.empty() ? "" : ", ", cores->dump(), *cores == 1 ? "" : "s");
  for (const char* const field : {"mpi", "date"}) {
    const std::string more = results::string_in(*environment, field);
    if (!more.empty()) text += (text.empty() ? "" : ", ") + more.substr(0, more.find_first_of(",T"));
  }
  return text;
}

/// Returns the fields of an object without its rows and the environment.
Json facts_of(const Json& object) {
  Json facts = Json::object();
  for (const auto& [name, value] : object.items()) {
    const bool is_empty = value.is_null() || (value.is_array() && value.empty());
    if (name != "rows" && name != "environment" && !is_empty) facts[name] = value;
  }
  return facts;
}

std::string folded(const std::string& summary, const std::string& content) {
  return "<details>\n<summary>" + summary + "</summary>\n" + content + "</details>\n";
}

std::string findings(const Results& each, const std::vector<Group>& groups) {
  std::vector<std::vector<const Json*>> rows;
  for (const Group& group : groups) rows.push_back(group.rows);
  std::string items;
  for (std::string sentence : results::findings_of(each, rows)) {
    if (!sentence.ends_with('.')) sentence += '.';
    items += "<li>" + escaped_markup(sentence) + "</li>\n";
  }
  return items.empty() ? "" : "<ul class=\"findings\">\n" + items + "</ul>\n";
}

std::string section(const Results& each, std::size_t number) {
  std::string text = fmt::format("<section id=\"results{}\">\n<h2>{}</h2>\n", number, escaped_markup(subject_of(each)));
  if (const std::string machine = machine_of(each); !machine.empty())
    text += "<p class=\"quiet\">" + escaped_markup(machine) + "</p>\n";
  const std::vector<Group> groups = groups_of(each.object["rows"]);
  text += findings(each, groups);
  if (groups.empty()) text += "<p>The results have no rows.</p>\n";
  for (const Group& group : groups) {
    if (!group.part.empty()) text += "<h3>" + escaped_markup(group.part) + "</h3>\n";
    text += results::plots_of(group.rows) +
            folded(fmt::format("Table of {} row{}", group.rows.size(), group.rows.size() == 1 ? "" : "s"),
                   results::table_of_rows(group.rows));
  }
  const Json facts = facts_of(each.object);
  if (!facts.empty()) text += folded("Values that are the same in all rows", results::table_of_fields(facts));
  const auto environment = each.object.find("environment");
  if (environment != each.object.end()) text += folded("Environment", results::table_of_fields(*environment));
  return text + "<p class=\"quiet\">From " + escaped_markup(each.place) + "</p>\n</section>\n";
}

std::string page(const std::string& title, const std::vector<Results>& all) {
  std::string contents;
  std::string sections;
  for (std::size_t i = 0; i < all.size(); ++i) {
    contents += fmt::format("<li><a href=\"#results{}\">{}</a> <span class=\"quiet\">({})</span></li>\n", i,
                            escaped_markup(subject_of(all[i])), escaped_markup(all[i].place));
    sections += section(all[i], i);
  }
  contents = all.size() > 1 ? "<nav><ul>\n" + contents + "</ul></nav>\n" : "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}{5}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}"
      "<p class=\"quiet\">× compares times: 0.5 × means half the time. Numbers with a fraction are shown with four "
      "digits; "
      "hover over a number to see all digits. Brackets contain an interval in which the median of 95 in 100 further "
      "runs lies, or of the share that --confidence gave. In plots, names of rival implementations begin with "
      "“beside”, and limits are dotted "
      "lines. Made by steadfold {4}.</p>\n"
      "</body>\n</html>\n",
      escaped_markup(title), page_style, contents, sections, escaped_markup(sf_version()), results::style_of_plots());
}

Result made(const ReportOptions& options) {
  if (!options.output.empty()) require_writable("--output", options.output, options.files);
  std::vector<Results> all;
  for (const std::string& file : options.files) {
    for (Results& each : results::read(file)) all.push_back(std::move(each));
  }
  return delivered(page(options.title, all), options.output, options.files);
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  CLI::App& report =
      *app.add_subcommand("report", "Make one HTML page from the JSON output of bench, study and verify");
  const auto o = std::make_shared<ReportOptions>();
  auto* const files = report.add_option(
      "FILE", o->files,
      "Files with the --json output of these subcommands: one JSON object, or one object per line; at most 64 MiB");
  check_words(*files->required(), [](const std::string& path) { require_readable(path, "name a file with results"); });
  report.add_option("--title", o->title, "The title of the page")->capture_default_str();
  report.add_option("--output", o->output, "The file to write; default: standard output");
  report.callback([o, &action] { action = [o](const Job& job) { return job.rank() == 0 ? made(*o) : Result{}; }; });
}

}  // namespace steadfold::command
