#include "request.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "catalogue.hpp"
#include "program/job.hpp"
#include "readers/file.hpp"
#include "values.hpp"

namespace steadfold::command {

void Request::add_to(CLI::App& app) {
  check_words(*app.add_option("FILE", file, "The numbers")->required(), [](const std::string& path) {
    readers::File opened(path);  // throws if the file does not exist
  });
  app.add_option("--collective", collective, collective_help);
  app.add_option("--distribution", distribution, distribution_help)->capture_default_str();
  app.add_option("--type", type,
                 "f64 or f32; default: the file's type, and f64 for integers; integers that the type cannot hold "
                 "exactly are an error");
  app.add_option("--format", format,
                 "auto, npy, npz, binpsllh, psllh, sitelh, raw, csv, tsv or txt (txt: fields between blanks; also for "
                 ".dat); files of any format may be compressed by gzip")
      ->capture_default_str();
  app.add_option("--column", column,
                 "The column of a table (csv, tsv or txt), the array of npz, or the tree of sitelh: its name, or its "
                 "number, counted "
                 "from 0 (digits always mean a number)");
  app.add_option("--column-name", column_name,
                 "The name of the column; use this option if the name consists of digits");
  app.add_option("--header", header,
                 "Whether line 1 of a table has the names of the columns: yes or no; default: yes if a word is above "
                 "numbers, no if its cell in the chosen column is a number; an unclear first line is an error");
  app.add_option(
      "--separator", separator,
      "The mark between the fields of a table: comma, semicolon, tab, blanks (runs of blanks and tabs), or any "
      "other character");
  app.add_option("--decimal", decimal, "The decimal mark of a table: point or comma; default: point");
  app.add_option(
      "--comment", comment,
      "The text with which a comment of a table begins; lines that begin with a comment are left out, and so "
      "are comments behind fields between blanks; default: # for txt, none for csv and tsv");
  app.add_option(
      "--missing", missing,
      "Leave out rows of a table whose field is one of these texts, separated by commas (the report has the number of "
      "rows); an empty text stands for an empty field: --missing NA,,nan; a comma alone: only empty fields; with "
      "--decimal "
      "comma, semicolons separate the texts");
  app.add_option("--byte-order", byte_order, "The byte order of raw numbers: little or big; default: little");
  app.add_flag("--fortran-records", has_fortran_records,
               "The raw numbers are in unformatted records of Fortran, which have their lengths around their data");
  app.add_flag("--force", force, "Read as raw numbers even if the file looks like another format");
  app.add_flag("--json", json, "Print one JSON object");
}

void Request::check() const {
  if (!collective.empty() && collective != "reduce" && collective != "allreduce")
    throw Failure("a sum cannot be computed with collective '" + collective +
                  "' (a sum can use reduce and allreduce), choose one of these");
  if (!header.empty() && header != "yes" && header != "no")
    throw Failure("--header cannot be understood ('" + header + "' is neither yes nor no), give yes or no");
  reader_options();
}

std::vector<std::string> Request::arguments() const {
  std::vector<std::string> result = {"--distribution=" + distribution, "--format=" + format};
  if (!collective.empty()) result.push_back("--collective=" + collective);
  if (!type.empty()) result.push_back("--type=" + type);
  if (!column.empty()) result.push_back("--column=" + column);
  if (!column_name.empty()) result.push_back("--column-name=" + column_name);
  if (!header.empty()) result.push_back("--header=" + header);
  if (!separator.empty()) result.push_back("--separator=" + separator);
  if (!decimal.empty()) result.push_back("--decimal=" + decimal);
  if (!comment.empty()) result.push_back("--comment=" + comment);
  if (!missing.empty()) result.push_back("--missing=" + missing);
  if (!byte_order.empty()) result.push_back("--byte-order=" + byte_order);
  if (has_fortran_records) result.push_back("--fortran-records");
  if (force) result.push_back("--force");
  result.insert(result.end(), {"--", file});
  return result;
}

std::string Request::collective_by(const std::string& schedule) const {
  return collective.empty() ? own_collective(schedule) : collective;
}

readers::Options Request::reader_options() const {
  readers::Options options{.format = readers::format_named(format), .column = column, .column_name = column_name};
  if (!header.empty()) options.header = header == "yes";
  if (!separator.empty()) options.separator = readers::separator_named(separator);
  if (!decimal.empty()) options.decimal_mark = readers::decimal_mark_named(decimal);
  options.comment = comment;
  if (!missing.empty()) options.missing = readers::missing_texts(missing, options.decimal_mark.value_or('.'));
  if (!byte_order.empty()) options.byte_order = readers::byte_order_named(byte_order);
  options.has_fortran_records = has_fortran_records;
  options.forced = force;
  if (!type.empty()) options.type = readers::type_named(type);
  return options;
}

std::vector<std::string> split(const std::string& text, const std::string& option) {
  std::vector<std::string> parts = readers::texts_between(text, ',');
  if (std::ranges::find(parts, "") != parts.end())
    throw Failure(option + " cannot be understood ('" + text +
                  "' has an empty entry), separate entries with one comma");
  return parts;
}

void check_time(const char* option, double seconds) {
  if (!std::isfinite(seconds) || seconds < 0)
    throw Failure(
        fmt::format("{} cannot be used ({} is not a time), give a number of seconds, 0 or more", option, seconds));
}

}  // namespace steadfold::command
