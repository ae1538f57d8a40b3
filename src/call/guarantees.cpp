#include "call/guarantees.hpp"

#include <array>
#include <string>

#include "call/description.hpp"
#include "call/methods.hpp"

namespace steadfold::call {
namespace {

struct GuaranteeName {
  Guarantees bit;
  std::string_view name;
  std::string_view meaning;
};
constexpr std::array<GuaranteeName, 7> names = {{
    {guarantee::ranks, "ranks", "the number of ranks"},
    {guarantee::threads, "threads", "the number of threads"},
    {guarantee::layout, "layout", "which rank holds which elements"},
    {guarantee::schedule, "schedule", "the schedule"},
    {guarantee::library, "library", "the MPI library"},
    {guarantee::target, "target", "the instruction set"},
    {guarantee::release, "release", "the release"},
}};

/// Returns the suggestion for an error about a guarantee that is not kept.
std::string advice(Guarantees missing, const Description& description) {
  const bool is_of_ranks = missing == guarantee::ranks || missing == guarantee::layout;
  if (is_of_ranks && description.layout == LayoutKind::row_per_rank)
    return "reduce distributed elements instead of one vector per rank";
  if (is_of_ranks && is_scan(description.collective)) return "use a reduction of all ranks' elements instead of a scan";
  if (missing == guarantee::layout && needs_indices(description)) return "give a layout that has element indices";
  const bool has_tree =
      arithmetic::properties_of(description.operation).is_served_by(Method::tree) && !description.has_mask();
  const bool has_exact = !rounding_once(description).empty();
  if (has_tree) return has_exact ? "use method tree or exact" : "use method tree";
  return has_exact ? "use method exact" : "leave out the guarantee";
}

}  // namespace

Guarantees kept(const Description& description) noexcept {
  const LayoutKind kind = description.layout;
  Guarantees found = order_free(description) ? guarantee::all : properties_of(description.method).keeps;
  // If every rank has one row, the number of rows is the number of ranks, so the bits depend on the ranks. In a scan,
  // the rows before a rank depend on the ranks too.
  if (kind == LayoutKind::row_per_rank || is_scan(description.collective))
    found &= ~(guarantee::ranks | guarantee::layout);
  // Without an interval list or a grid, the index of an element depends on the rank that holds it.
  const bool has_indices = kind == LayoutKind::intervals || kind == LayoutKind::grid;
  if (!has_indices && needs_indices(description)) found &= ~guarantee::layout;
  return found;
}

void require_kept(const Call& call) {
  if (call.require == guarantee::none) return;
  if ((call.require & ~guarantee::all) != 0)
    throw Failure(Status::invalid_argument, "guarantees " + std::to_string(call.require) +
                                                " are unknown (all guarantees together are " +
                                                std::to_string(guarantee::all) + "), combine values of sf_guarantee");
  const Description description = describe(call);
  const Guarantees missing = call.require & ~kept(description);
  for (const GuaranteeName& each : names) {
    if ((missing & each.bit) == 0) continue;
    throw Failure(Status::unsupported, "the bits depend on " + std::string(each.meaning) + " (" +
                                           std::string(arithmetic::name_of(call.operation)) + " with method " +
                                           std::string(name_of(description.method)) + " cannot give guarantee '" +
                                           std::string(each.name) + "' in this layout), " +
                                           advice(each.bit, description));
  }
}

}  // namespace steadfold::call
