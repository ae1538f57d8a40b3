#include "program/methods.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "agreement/methods.hpp"
#include "agreement/parameters.hpp"
#include "program/doctor/method_text.hpp"
#include "program/job.hpp"

namespace steadfold::command {

namespace {

using agreement::MethodRow;
using agreement::ParameterRow;

/// Other spellings of parameters that the command accepts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> other_spellings = {
    {{"k=2", "bins=2"},
     {"k=3", "bins=3"},
     {"k=4", "bins=4"},
     {"sweep=single", "sweep=single_sweep"},
     {"sweep=double", "sweep=double_sweep"}}};

/// Returns the values of a parameter with its name: "lanes=1 to lanes=1024".
std::string values_of(const ParameterRow& row) {
  const std::string name = std::string(row.name) + "=";
  if (row.names.empty()) return name + std::to_string(row.least) + " to " + name + std::to_string(row.most);
  std::string values;
  for (const std::string_view each : row.names) values += (values.empty() ? "" : " or ") + name + std::string(each);
  return values;
}

std::vector<std::string> names_of(bool (*is_wanted)(const MethodRow&)) {
  std::vector<std::string> names;
  for (const MethodRow& row : agreement::methods())
    if (is_wanted(row)) names.emplace_back(row.merging.method);
  return names;
}

std::vector<const ParameterRow*> parameters_of(const MethodRow& method) {
  std::vector<const ParameterRow*> rows;
  for (const ParameterRow& each : agreement::parameter_rows)
    if (each.method == method.method) rows.push_back(&each);
  return rows;
}

/// Sets a parameter `key=value` of a method, and returns the key. Throws Failure.
std::string take_parameter(sf_call& call, const MethodRow& method, const std::string& name, const std::string& text) {
  const auto* const other = std::ranges::find(other_spellings, text, [](const auto& each) { return each.first; });
  std::string key = set_parameter(call, std::string(other == other_spellings.end() ? text : other->second));
  if (!key.empty()) return key;
  std::string known;
  for (const ParameterRow* each : parameters_of(method)) known += (known.empty() ? "" : ", ") + values_of(*each);
  throw Failure("method '" + name + "' cannot be used ('" + text + "' is not " + known + "), use one of these values");
}

}  // namespace

std::string method_help() {
  std::string text;
  for (const MethodRow& method : agreement::methods()) {
    text += (text.empty() ? "" : method.method == agreement::methods().back().method ? " or " : ", ");
    text += method.merging.method;
    for (const ParameterRow* each : parameters_of(method)) {
      const std::string first = each->names.empty() ? std::to_string(each->by_default) : std::string(each->names[0]);
      text += "[:" + std::string(each->name) + "=" + first;
      for (std::size_t i = 1; i < each->names.size(); ++i) text += "|" + std::string(each->names[i]);
      text += "]";
    }
  }
  return text;
}

std::vector<std::string> built_methods() {
  return names_of([](const MethodRow&) { return true; });
}
std::vector<std::string> methods_promising_the_same_bits() {
  return names_of([](const MethodRow& row) { return row.merging.is_associative; });
}
std::vector<std::string> methods_rounding_once() {
  return names_of([](const MethodRow& row) { return row.rounds_once; });
}

const MethodRow& row_named(const std::string& name) {
  if (const auto* const row = agreement::find_method(family_of(name))) return *row;
  throw Failure(schedule::unknown_name("method", family_of(name), built_methods()));
}

bool promises_the_same_bits(const std::string& method) { return row_named(method).merging.is_associative; }

Method method_named(const std::string& name) {
  const MethodRow& row = row_named(name);
  const auto [head, parameters] = split_method(name);
  if (!parameters.empty() && parameters_of(row).empty())
    throw Failure("method '" + name + "' cannot be used (" + head + " takes no parameters), use " + head);
  sf_call call = sf_call_default();
  call.method = static_cast<sf_method>(row.method);
  std::set<std::string> taken;
  for (const std::string& text : parameters) {
    const std::string key = take_parameter(call, row, name, text);
    if (!taken.insert(key).second)
      throw Failure("method '" + name + "' cannot be used (it gives " + key + " twice), write each parameter once");
  }
  return detail::method_of(call);
}

agreement::MethodParameters parameters_of(const Method& method) {
  return agreement::parameters_of(method, [](auto enumerator) { return enumerator; });
}

schedule::Merging merging_named(const std::string& method) {
  return merging_of(row_named(method), static_cast<arithmetic::Sweep>(method_named(method).sweep));
}

}  // namespace steadfold::command
