#include "program/methods.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "call/methods.hpp"
#include "call/parameters.hpp"
#include "program/doctor/method_text.hpp"
#include "program/job.hpp"

namespace steadfold::command {

namespace {

using call::MethodParameter;
using call::MethodProperties;

/// Other spellings of parameters that the command accepts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> other_spellings = {
    {{"k=2", "bins=2"},
     {"k=3", "bins=3"},
     {"k=4", "bins=4"},
     {"sweep=single", "sweep=single_sweep"},
     {"sweep=double", "sweep=double_sweep"}}};

/// Returns the values of a parameter with its name: "lanes=1 to lanes=1024".
std::string values_of(const MethodParameter& parameter) {
  const std::string name = std::string(parameter.name) + "=";
  if (parameter.names.empty())
    return name + std::to_string(parameter.least) + " to " + name + std::to_string(parameter.most);
  std::string values;
  for (const std::string_view each : parameter.names)
    values += (values.empty() ? "" : " or ") + name + std::string(each);
  return values;
}

std::vector<std::string> names_of(bool (*is_wanted)(const MethodProperties&)) {
  std::vector<std::string> names;
  for (const MethodProperties& properties : call::methods())
    if (is_wanted(properties)) names.emplace_back(properties.merging.method);
  return names;
}

std::vector<const MethodParameter*> parameters_of(const MethodProperties& method) {
  std::vector<const MethodParameter*> parameters;
  for (const MethodParameter& each : call::parameter_table)
    if (each.method == method.method) parameters.push_back(&each);
  return parameters;
}

/// Sets a parameter `key=value` of a method, and returns the key. Throws Failure.
std::string take_parameter(sf_call& call, const MethodProperties& method, const std::string& name,
                           const std::string& text) {
  const auto* const other = std::ranges::find(other_spellings, text, [](const auto& each) { return each.first; });
  std::string key = set_parameter(call, std::string(other == other_spellings.end() ? text : other->second));
  if (!key.empty()) return key;
  std::string known;
  for (const MethodParameter* each : parameters_of(method)) known += (known.empty() ? "" : ", ") + values_of(*each);
  throw Failure("method '" + name + "' cannot be used ('" + text + "' is not " + known + "), use one of these values");
}

}  // namespace

std::string method_help() {
  std::string text;
  for (const MethodProperties& method : call::methods()) {
    text += (text.empty() ? "" : method.method == call::methods().back().method ? " or " : ", ");
    text += method.merging.method;
    for (const MethodParameter* each : parameters_of(method)) {
      const std::string first = each->names.empty() ? std::to_string(each->by_default) : std::string(each->names[0]);
      text += "[:" + std::string(each->name) + "=" + first;
      for (std::size_t i = 1; i < each->names.size(); ++i) text += "|" + std::string(each->names[i]);
      text += "]";
    }
  }
  return text;
}

std::vector<std::string> built_methods() {
  return names_of([](const MethodProperties&) { return true; });
}
std::vector<std::string> methods_promising_the_same_bits() {
  return names_of([](const MethodProperties& properties) { return properties.merging.is_associative; });
}
std::vector<std::string> methods_rounding_once() {
  return names_of([](const MethodProperties& properties) { return properties.rounds_once; });
}

const MethodProperties& properties_named(const std::string& name) {
  if (const auto* const properties = call::find_method(family_of(name))) return *properties;
  throw Failure(schedule::unknown_name("method", family_of(name), built_methods()));
}

bool promises_the_same_bits(const std::string& method) { return properties_named(method).merging.is_associative; }

Method method_named(const std::string& name) {
  const MethodProperties& properties = properties_named(name);
  const auto [head, parameters] = split_method(name);
  if (!parameters.empty() && parameters_of(properties).empty())
    throw Failure("method '" + name + "' cannot be used (" + head + " takes no parameters), use " + head);
  sf_call call = sf_call_default();
  call.method = static_cast<sf_method>(properties.method);
  std::set<std::string> taken;
  for (const std::string& text : parameters) {
    const std::string key = take_parameter(call, properties, name, text);
    if (!taken.insert(key).second)
      throw Failure("method '" + name + "' cannot be used (it gives " + key + " twice), write each parameter once");
  }
  return detail::method_of(call);
}

call::MethodParameters parameters_of(const Method& method) {
  return call::parameters_of(method, [](auto enumerator) { return enumerator; });
}

schedule::Merging merging_named(const std::string& method) {
  return merging_of(properties_named(method), static_cast<arithmetic::Sweep>(method_named(method).sweep));
}

}  // namespace steadfold::command
