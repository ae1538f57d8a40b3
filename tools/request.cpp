#include "request.hpp"

#include <CLI/CLI.hpp>

#include "catalogue.hpp"
#include "command.hpp"

namespace steadfold::command {

void Request::add_to(CLI::App& app) {
  app.add_option("FILE", file, "The numbers")->required();
  app.add_option("--collective", collective, collective_help);
  app.add_option(
         "--distribution", distribution,
         "Who holds what: lower, upper, power2, optimized[:deviation=x], balanced, or a file with one count per "
         "rank")
      ->capture_default_str();
  app.add_option("--type", type, "f64 or f32; default: the file's own");
  app.add_option("--format", format, "auto, npy, binpsllh, psllh, raw or csv")->capture_default_str();
  app.add_option("--column", column, "Of a csv file: name, or number from 0");
  app.add_flag("--json", json, "Print one JSON object");
}

void Request::check() const {
  if (!collective.empty() && collective != "reduce" && collective != "allreduce")
    throw Failure("a sum cannot be asked for by collective '" + collective +
                  "' (known are reduce and allreduce), choose one of these");
  reader_options();
}

std::vector<std::string> Request::arguments() const {
  std::vector<std::string> result = {"--distribution=" + distribution, "--format=" + format};
  if (!collective.empty()) result.push_back("--collective=" + collective);
  if (!type.empty()) result.push_back("--type=" + type);
  if (!column.empty()) result.push_back("--column=" + column);
  result.insert(result.end(), {"--", file});
  return result;
}

std::string Request::collective_by(const std::string& schedule) const {
  return collective.empty() ? own_collective(schedule) : collective;
}

readers::Options Request::reader_options() const {
  readers::Options options{.format = readers::format_named(format), .column = column};
  if (!type.empty()) options.type = readers::type_named(type);
  return options;
}

std::vector<std::string> built_methods() { return {"tree", "exact", "binned", "plain"}; }

namespace {

/// The value of a `key=value` of `binned`, or a Failure.
void take_parameter(Method& method, const std::string& name, const std::string& text) {
  if (text == "k=2" || text == "k=3" || text == "k=4")
    method.bins = static_cast<std::uint32_t>(text[2] - '0');
  else if (text == "sweep=single")
    method.sweep = SF_SINGLE_SWEEP;
  else if (text == "sweep=double")
    method.sweep = SF_DOUBLE_SWEEP;
  else
    throw Failure("method '" + name + "' cannot be used ('" + text +
                  "' is none of k=2, k=3, k=4, sweep=single and sweep=double), choose among these");
}

}  // namespace

Method method_named(const std::string& name) {
  const std::string head = family_of(name);
  Method method;
  if (head == "tree") method = tree();
  if (head == "exact") method = exact();
  if (head == "binned") method = binned();
  if (head == "plain") method = plain();
  if (method.id == SF_AUTOMATIC)
    throw Failure("unknown method '" + name + "' (known are tree, exact, binned and plain), choose one of these");
  for (std::size_t at = head.size(); at < name.size();) {
    if (method.id != SF_BINNED)
      throw Failure("method '" + name + "' cannot be used (" + head + " takes no parameters), ask for " + head);
    const std::size_t end = std::min(name.find(':', at + 1), name.size());
    take_parameter(method, name, name.substr(at + 1, end - at - 1));
    at = end;
  }
  return method;
}

std::vector<std::string> split(const std::string& text, const std::string& option) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty())
      throw Failure(option + " cannot be understood ('" + text +
                    "' has an empty entry), separate entries with one comma");
    begin = end + 1;
  }
  return parts;
}

}  // namespace steadfold::command
