// `steadfold report`: results of `bench`, `study` and `verify` as one HTML page that needs nothing else.
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

namespace steadfold::command {
namespace {

using results::Results;

struct ReportOptions {
  std::vector<std::string> files;
  std::string title = "Results of steadfold";
  std::string output;
};

constexpr const char* page_style = R"(
:root{color-scheme:light dark;--ink:#1a1a1a;--ground:#fff;--line:#999;--faint:#ddd;--rival:#555;
--own0:#0b3d75;--own1:#8a3800;--own2:#1b6b3a;--own3:#6a2480;--own4:#7a5c00;--own5:#96203c}
@media (prefers-color-scheme:dark){:root{--ink:#eaeaea;--ground:#161616;--line:#888;--faint:#3a3a3a;--rival:#b0b0b0;
--own0:#8fc1ff;--own1:#ffb27a;--own2:#8fdca8;--own3:#dda6f0;--own4:#e6cf7a;--own5:#ff9fb2}}
body{margin:2em auto;padding:0 1em;max-width:72em;font:15px/1.45 sans-serif;color:var(--ink);background:var(--ground)}
.wide{overflow-x:auto;margin:1em 0}table{border-collapse:collapse;font-size:13px}
th,td{border:1px solid var(--faint);padding:.2em .6em;text-align:left;vertical-align:top}
td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
svg text{font:11px sans-serif;fill:var(--ink)}svg .heading{font-size:13px;font-weight:bold}
.axis{stroke:var(--line)}.grid{stroke:var(--faint)}.lead{stroke:var(--faint)}
.own0{stroke:var(--own0);fill:var(--own0)}.own1{stroke:var(--own1);fill:var(--own1)}
.own2{stroke:var(--own2);fill:var(--own2)}.own3{stroke:var(--own3);fill:var(--own3)}
.own4{stroke:var(--own4);fill:var(--own4)}.own5{stroke:var(--own5);fill:var(--own5)}
.own{stroke-width:1.6}.rival{stroke:var(--rival);stroke-width:1.4;stroke-dasharray:6 3}
.limit{stroke:var(--ink);stroke-width:1.4;stroke-dasharray:1.5 3}
.interval,.mark{stroke-dasharray:none;stroke-width:1.2}.open{fill:var(--ground)}
)";

// Fields that `bench` adds to some rows of a contest only; those rows still stand beside the others.
constexpr std::array<std::string_view, 5> optional_fields = {"chosen", "same_on_all_ranks", "wire_bytes", "tests",
                                                             "hidden"};

/// Rows with the same fields but for the optional ones, of one part of a study.
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
    const auto found = row.find("part");
    const std::string part = found != row.end() && found->is_string() ? found->get<std::string>() : "";
    const auto [place, is_new] = places.try_emplace({part, needed_fields_of(row)}, groups.size());
    if (is_new) groups.push_back({.part = part, .rows = {}});
    groups[place->second].rows.push_back(&row);
  }
  return groups;
}

std::string heading_of(const Results& each) {
  const auto name = each.object.find("study");
  const bool has_name = name != each.object.end() && name->is_string();
  return each.kind + (has_name ? " " + name->get<std::string>() : "") + ": " + each.place;
}

/// What an object has beside its rows and the environment.
Json facts_of(const Json& object) {
  Json facts = Json::object();
  for (const auto& [name, value] : object.items()) {
    const bool is_empty = value.is_null() || (value.is_array() && value.empty());
    if (name != "rows" && name != "environment" && !is_empty) facts[name] = value;
  }
  return facts;
}

std::string section(const Results& each, std::size_t number) {
  std::string text = fmt::format("<section id=\"results{}\">\n<h2>{}</h2>\n", number, escaped_markup(heading_of(each)));
  const Json facts = facts_of(each.object);
  if (!facts.empty()) text += results::table_of_fields(facts);
  const std::vector<Group> groups = groups_of(each.object["rows"]);
  if (groups.empty()) text += "<p>There are no rows.</p>\n";
  for (const Group& group : groups) {
    if (!group.part.empty()) text += "<h3>" + escaped_markup(group.part) + "</h3>\n";
    text += results::plots_of(group.rows) + results::table_of_rows(group.rows);
  }
  const auto environment = each.object.find("environment");
  if (environment != each.object.end()) text += "<h3>Environment</h3>\n" + results::table_of_fields(*environment);
  return text + "</section>\n";
}

std::string page(const std::string& title, const std::vector<Results>& all) {
  std::string contents;
  std::string sections;
  for (std::size_t i = 0; i < all.size(); ++i) {
    contents += fmt::format("<li><a href=\"#results{}\">{}</a></li>\n", i, escaped_markup(heading_of(all[i])));
    sections += section(all[i], i);
  }
  contents = all.size() > 1 ? "<nav><ul>\n" + contents + "</ul></nav>\n" : "";
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}{3}"
      "<p>Numbers with a fraction are shown with four digits; the pointer shows all of them. In brackets: intervals "
      "that hold the median of 95 in 100 other runs, or of as many as --confidence said. In plots, lines with dashes "
      "are rivals, dotted ones limits. Made "
      "by "
      "steadfold {4}.</p>\n</body>\n</html>\n",
      escaped_markup(title), page_style, contents, sections, escaped_markup(sf_version()));
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
  CLI::App& report = *app.add_subcommand("report", "Make one HTML page of what bench, study and verify print as JSON");
  const auto o = std::make_shared<ReportOptions>();
  report.add_option("FILE", o->files, "What they print with --json: one object, or one per line; at most 64 MiB")
      ->required();
  report.add_option("--title", o->title, "What stands above the page")->capture_default_str();
  report.add_option("--output", o->output, "The file to write; default: standard output");
  report.callback([o, &action] { action = [o](const Job& job) { return job.rank() == 0 ? made(*o) : Result{}; }; });
}

}  // namespace steadfold::command
