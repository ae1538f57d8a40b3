// Describes a case in words, and how to repeat it.
#include "case.hpp"
#include "operators.hpp"
#include "steadfold/operations.hpp"
#include "steadfold/steadfold_names.h"

namespace steadfold::soak {
namespace {

template <class Names>
std::string named(const Names& names, std::size_t which) {
  return which < std::size(names) ? names[which] : std::to_string(which);
}

std::string text_of(const Repeat& repeat) {
  return std::to_string(repeat.run) + "%" + (repeat.period + 1 == 0 ? "-" : std::to_string(repeat.period));
}
std::string text_of(const char* name, const Repeats& repeats) {
  return std::string(" ") + name + " " + text_of(repeats.rows) + "x" + text_of(repeats.columns);
}

std::string text_of(const Member& m) {
  static constexpr const char* collectives[] = {"reduce", "reduce_scatter", "scan", "exscan"};
  static constexpr const char* types[] = {"f64",  "f32", "i32",  "i64",  "u32",         "u64", "bytes",
                                          "bf16", "f16", "cf32", "cf64", "long_double", "f128"};
  static constexpr const char* layouts[] = {"anywhere", "rank_order", "intervals", "row_per_rank", "grid"};
  static constexpr const char* numbers[] = {"ordinary",       "wide",  "subnormal",  "special", "zeros",
                                            "small_integers", "alike", "cancelling", "ties"};
  std::string text = named(collectives, m.collective);
  if (m.root != SF_ALL_RANKS) text += " to " + std::to_string(m.root);
  text += " " + (m.operation == SF_USER
                     ? std::string("'") + user_operator(m.user).name + "'"
                     : std::string(detail::properties_of(m.operation).name) + " of " + named(types, m.type));
  if (m.result_type != m.type) text += " as " + named(types, m.result_type);
  text += std::string(" by ") + sf_list_name(SF_LIST_METHODS, m.method);
  if (m.method == SF_BINNED)
    text += " of " + std::to_string(m.bins) + (m.sweep == SF_DOUBLE_SWEEP ? " bins, double sweep" : " bins");
  if (!m.initial.empty()) text += " from an initial value";
  if (m.lanes > 0) text += " with " + std::to_string(m.lanes) + " lanes";
  text += ", " + std::to_string(m.rows) + " x " + std::to_string(m.columns) + " " +
          named(numbers, static_cast<std::size_t>(m.numbers)) + ", " + named(layouts, m.layout);
  if (m.layout == SF_INTERVALS && m.in_rank_order()) text += " in rank order";
  if (m.is_listed) text += ", listed columns";
  if (m.array.is_given) text += ", array" + text_of("elements", m.array.elements);
  if (m.array.is_given && m.has_factors()) text += text_of("factors", m.array.factors);
  if (m.array.has_mask) text += text_of("mask", m.array.mask);
  if (m.array.groups > 0) text += ", " + std::to_string(m.array.groups) + " groups" + text_of("labels", m.array.labels);
  for (std::uint32_t i = 0; m.layout == SF_GRID && i < m.grid.axis_count; ++i)
    text += (i == 0 ? " of axes " : ", ") + std::to_string(m.grid.axes[i].extent) + " on " +
            std::to_string(m.grid.axes[i].ranks) + " by " + std::to_string(m.grid.axes[i].block) + " from " +
            std::to_string(m.grid.axes[i].first);
  if (m.writes_right) text += ", writes right";
  if (m.names_blocks) text += ", named blocks";
  if (m.require != 0) text += ", requires " + std::to_string(m.require);
  return text + ", schedule '" + m.schedule + "'";
}

}  // namespace

std::string Case::text() const {
  static constexpr const char* forms[] = {"one-shot", "accumulators", "plan", "flight", "kept plan", "kept plan again"};
  static constexpr const char* wrongs[] = {
      "nothing",        "null data",      "null result",  "bad root",         "other root",       "other operation",
      "other type",     "other columns",  "other method", "other collective", "other blocks",     "other grid",
      "shifted layout", "wrong count",    "bad schedule", "unserved",         "failing operator", "failing rank",
      "bad label",      "bad enumerator", "null call",    "null in run",      "empty bundle",     "given up"};
  std::string text = "seed " + std::to_string(seed) + ", case " + std::to_string(number) + ", " +
                     std::to_string(ranks) + " ranks: " + named(forms, static_cast<std::size_t>(form)) + ", " +
                     std::to_string(runs) + " runs";
  if (wrong != Wrong::nothing)
    text += ", wrong on " + std::to_string(culprit) + ": " + named(wrongs, static_cast<std::size_t>(wrong));
  for (const Member& m : members) text += "\n  " + text_of(m);
  return text;
}

}  // namespace steadfold::soak
