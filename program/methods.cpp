#include "program/methods.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "agreement/methods.hpp"
#include "order/laps.hpp"
#include "program/job.hpp"

namespace steadfold::command {

namespace {

/// Other spellings of methods that the command accepts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> other_spellings = {
    {{"k=2", "bins=2"},
     {"k=3", "bins=3"},
     {"k=4", "bins=4"},
     {"sweep=single", "sweep=single_sweep"},
     {"sweep=double", "sweep=double_sweep"}}};

/// Sets the number of lanes of `tree`, and returns the parameter's key. Throws Failure.
std::string_view take_lanes(Method& method, const std::string& name, std::string_view text) {
  constexpr std::string_view key = "lanes";
  const char* const end = text.data() + text.size();
  std::uint32_t lanes = 0;
  const bool is_named = text.starts_with("lanes=");
  const auto read = is_named ? std::from_chars(text.data() + key.size() + 1, end, lanes) : std::from_chars_result{};
  if (!is_named || read.ec != std::errc() || read.ptr != end || lanes < 1 || lanes > order::most_lanes)
    throw Failure("method '" + name + "' cannot be used ('" + std::string(text) +
                  "' is not lanes=1 to lanes=" + std::to_string(order::most_lanes) + "), use one of these numbers");
  method.lanes = lanes;
  return key;
}

/// Sets a parameter `key=value` of `binned`, and returns the key. Throws Failure.
std::string_view take_parameter(Method& method, const std::string& name, const std::string& text) {
  const auto* const other = std::ranges::find(other_spellings, text, [](const auto& each) { return each.first; });
  const std::string_view parameter = other == other_spellings.end() ? text : other->second;
  if (parameter == "bins=2" || parameter == "bins=3" || parameter == "bins=4")
    method.bins = static_cast<std::uint32_t>(parameter.back() - '0');
  else if (parameter == "sweep=single_sweep")
    method.sweep = SF_SINGLE_SWEEP;
  else if (parameter == "sweep=double_sweep")
    method.sweep = SF_DOUBLE_SWEEP;
  else
    throw Failure(
        "method '" + name + "' cannot be used ('" + text +
        "' is not one of bins=2, bins=3, bins=4, sweep=single_sweep and sweep=double_sweep), choose among these");
  return parameter.starts_with("bins") ? "bins" : "sweep";
}

}  // namespace

std::vector<std::string> built_methods() {
  std::vector<std::string> names;
  for (const agreement::MethodRow& row : agreement::methods()) names.emplace_back(row.merging.method);
  return names;
}

const agreement::MethodRow& row_named(const std::string& name) {
  if (const auto* const row = agreement::find_method(family_of(name))) return *row;
  throw Failure(schedule::unknown_name("method", family_of(name), built_methods()));
}

bool promises_the_same_bits(const std::string& method) { return row_named(method).merging.is_associative; }

Method method_named(const std::string& name) {
  const agreement::MethodRow& row = row_named(name);
  const std::string head = family_of(name);
  Method method{.id = static_cast<sf_method>(row.method)};
  std::set<std::string_view> taken;
  for (std::size_t at = head.size(); at < name.size();) {
    if (!row.has_bins && !row.has_lanes)
      throw Failure("method '" + name + "' cannot be used (" + head + " takes no parameters), use " + head);
    const std::size_t end = std::min(name.find(':', at + 1), name.size());
    const std::string text = name.substr(at + 1, end - at - 1);
    const std::string_view key = row.has_lanes ? take_lanes(method, name, text) : take_parameter(method, name, text);
    if (!taken.insert(key).second)
      throw Failure("method '" + name + "' cannot be used (it gives " + std::string(key) +
                    " twice), write each parameter once");
    at = end;
  }
  return method;
}

schedule::Merging merging_named(const std::string& method) {
  return merging_of(row_named(method), static_cast<arithmetic::Sweep>(method_named(method).sweep));
}

}  // namespace steadfold::command
