#include "results/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace steadfold::command::results {
namespace {

struct Spoken {
  std::string_view field;
  std::string_view name;
};

constexpr std::array<Spoken, 9> spoken_names = {{{"ns_per_element", "time per element"},
                                                 {"seconds", "time"},
                                                 {"us", "time"},
                                                 {"ratio", "ratio to the rival"},
                                                 {"relative_error", "relative error"},
                                                 {"count", "elements"},
                                                 {"width", "columns"},
                                                 {"block", "elements of a block"},
                                                 {"nodes", "nodes of the tree"}}};

bool is_seconds(std::string_view field) { return field == "seconds" || field.ends_with("_seconds"); }
bool is_microseconds(std::string_view field) { return field == "us" || field.ends_with("_us"); }

}  // namespace

std::string spoken(std::string_view field) {
  const auto known = std::ranges::find(spoken_names, field, &Spoken::field);
  if (known != spoken_names.end()) return std::string(known->name);
  for (const std::string_view ending : {"_us", "_seconds"})
    if (field.ends_with(ending)) field.remove_suffix(ending.size());
  std::string text(field);
  std::ranges::replace(text, '_', ' ');
  return text;
}

Unit unit_of(std::string_view field, double largest) {
  if (field == "ns_per_element") return {"ns"};
  if (is_microseconds(field)) return {"µs"};
  if (!is_seconds(field)) return {};
  if (largest >= 1) return {"s"};
  if (largest >= 1e-3) return {"ms", 1e3};
  return largest >= 1e-6 ? Unit{"µs", 1e6} : Unit{"ns", 1e9};
}

std::string axis_label(std::string_view field, const Unit& unit) {
  return unit.name.empty() ? spoken(field) : fmt::format("{} ({})", spoken(field), unit.name);
}

std::string grouped(double count) {
  if (count != std::floor(count) || std::abs(count) >= 1e15) return fmt::format("{:g}", count);
  std::string text = fmt::format("{:.0f}", std::abs(count));
  for (std::size_t at = text.size(); at > 3 && text.size() > 4; text.insert(at, " ")) at -= 3;
  return (count < 0 ? "-" : "") + text;
}

std::string quantity(std::string_view field, double number) {
  const Unit unit = unit_of(field, std::abs(number));
  const double shown = number * unit.factor;
  const std::string text = std::abs(shown) >= 1000 ? grouped(std::round(shown)) : fmt::format("{:.3g}", shown);
  return unit.name.empty() ? text : text + " " + unit.name;
}

std::string size_text(std::string_view field, double size) {
  std::string name = spoken(field);
  if (size == 1 && name.ends_with('s')) name.pop_back();
  return grouped(size) + " " + name;
}

}  // namespace steadfold::command::results
