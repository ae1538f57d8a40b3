// Every call of the C++ API, compiled as C++20.
#include "every_call/every_call.hpp"

#include <cmath>
#include <functional>
#include <span>

#include "mpi/reference.hpp"
#include "steadfold/accumulator.hpp"
#include "steadfold/diagnosis.hpp"
#include "steadfold/memory.hpp"
#include "steadfold/started.hpp"
#include "support/environments.hpp"
#include "support/hostile.hpp"

namespace steadfold::test::every_call_in_cxx20 {

#include "every_call/calls.hpp"

}  // namespace steadfold::test::every_call_in_cxx20

namespace steadfold::test {
namespace {
/// What the program in C tells.
struct Notes : notes {
  explicit Notes(Transcript& to)
      : notes{
            [](notes* self, const char* name, sf_status status, const char* text, const void* values, std::size_t size,
               std::size_t count) { static_cast<Notes*>(self)->out.take(name, status, text, values, size, count); },
            [](notes* self, const char* what) {
              static_cast<Notes*>(self)->out.take(what, SF_INTERNAL, "is not so, in C", nullptr, 0, 0);
            }},
        out(to) {}
  Transcript& out;
};

void note_references(Transcript& out, std::span<const double> x, std::span<const double> y,
                     const every_call_in_cxx20::Data& data) {
  out.note("sum", [&] { return reference::exact_sum(x); });
  out.note("array", [&] { return reference::exact_sum(x); });
  out.note("sum by binned", [&] { return reference::binned_sum(x, 3); });
  out.note("abs_sum", [&] { return reference::exact_abs_sum(x); });
  out.note("norm1", [&] { return reference::exact_abs_sum(x); });
  out.note("sum_squares", [&] { return reference::exact_dot(x, x); });
  out.note("norm2", [&] { return reference::exact_norm2(x); });
  for (const char* name : {"dot", "dotc", "weighted_sum"}) out.note(name, [&] { return reference::exact_dot(x, y); });
  out.note("dots", [&] { return std::vector{reference::exact_dot(x, y), reference::exact_dot(x, x)}; });
  out.note("masked_sum", [&] { return reference::exact_masked_sum(x, std::span(std::as_const(data.mask))); });
  out.note("sum_by", [&] {
    std::vector<double> sums;
    for (const int group : {0, 1, 2}) {
      reference::ExactSum sum;
      for (std::size_t i = 0; i < x.size(); ++i)
        if (data.labels[i] == group) sum.add(x[i]);
      sums.push_back(sum.rounded<double>());
    }
    return sums;
  });
  if (x.empty()) return;  // below, nothing has no value, or one that no rule of addition gives
  const auto by_tree = [&](const auto& op) { return [&, op] { return reference::canonical(reference::tree(x, op)); }; };
  for (const char* name : {"sum by tree", "all options", "block_cyclic", "intervals", "grid", "blocks"})
    out.note(name, by_tree(std::plus()));
  out.note("times", by_tree(std::multiplies()));
  out.note("reduce", [&] { return reference::tree(x, [](double a, double b) { return a - b / 3; }); });
  for (const char* name : {"min", "minimum"}) out.note(name, [&] { return reference::extreme<double, false>(x); });
  for (const char* name : {"max", "maximum"}) out.note(name, [&] { return reference::extreme<double, true>(x); });
}
}  // namespace

Transcript transcript_of_references() {
  Transcript out;
  for (const auto& [name, data] : every_call_in_cxx20::inputs()) {
    out.about(name);
    note_references(out, data.x, data.y, data);
  }
  return out;
}

Transcript transcript_in_cxx20(Group group) { return every_call_in_cxx20::transcript(group); }
Check check_in_cxx20() { return &detail::check; }

Transcript transcript_in_c(Group group) {
  Transcript out;
  Notes to(out);
  for (const auto& [name, all] : every_call_in_cxx20::inputs()) {
    const auto mine = all.part(group);
    const auto row = every_call_in_cxx20::row_of(all, group);
    const auto blocks = every_call_in_cxx20::blocks_of(group);
    const bool is_finite = std::ranges::all_of(all.x, [](double each) { return std::isfinite(each); });
    const values given{mine.x.data(), mine.y.data(), mine.mask.data(), mine.x.size(),
                       all.x.size(),  row.data(),    blocks.data(),    is_finite ? 1 : 0};
    out.about(name);
    every_call_in_c(&given, group.handle(), &to);
  }
  return out;
}
}  // namespace steadfold::test
