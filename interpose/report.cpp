#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

namespace steadfold::interpose {
namespace {

struct Line {
  steadfold_interpose_index function;
  std::string op;
  std::string type;
  Treatment treatment;
  unsigned long long calls = 0;
  unsigned long long bytes = 0;
};

std::mutex lock;
/// Never destroyed: a program's own objects may finalize MPI when they are.
std::vector<Line>& lines() {
  static std::vector<Line>& all = *new std::vector<Line>;
  return all;
}

/// Types that a program made may have the handle of an older one, so they have one name.
std::string name_of_type(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return "none";
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) return "derived";
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Type_get_name(type, name.data(), &length);
  return name.data();
}

/// Whether no call was passed on whose bits an order may change. Under the lock.
bool is_all_handled(const steadfold_interpose_shim& of) {
  const auto may_change = [](const Line& line) {
    return line.treatment == Treatment::across || line.treatment == Treatment::outside ||
           line.treatment == Treatment::too_large;
  };
  return std::ranges::none_of(lines(), may_change) &&
         std::all_of(of.counts, of.counts + steadfold_interpose_count, [](auto count) { return count == 0; });
}

}  // namespace

void note(steadfold_interpose_index function, MPI_Op op, MPI_Datatype type, std::size_t bytes, Treatment treatment) {
  const std::string op_name = op == MPI_OP_NULL ? "none" : name_of(op);
  const std::string type_name = name_of_type(type);
  const std::lock_guard held(lock);
  auto found = std::ranges::find_if(lines(), [&](const Line& line) {
    return line.function == function && line.treatment == treatment && line.op == op_name && line.type == type_name;
  });
  if (found == lines().end())
    found = lines().insert(found, {.function = function, .op = op_name, .type = type_name, .treatment = treatment});
  ++found->calls;
  found->bytes += bytes;
}

void print_report(const steadfold_interpose_shim& shim, Treatment method, int rank, int size) {
  const std::lock_guard held(lock);
  std::string text = "steadfold: the reductions of rank " + std::to_string(rank) + " of " + std::to_string(size) +
                     ". Sums: " + text_of(method) + ". The same bits again with this number of ranks" +
                     (is_all_handled(shim) ? "" : ", but for calls that were passed on though order may change them") +
                     ".\n";
  const auto add = [&](const char* function, const std::string& op, const std::string& type, const std::string& calls,
                       const std::string& bytes, const char* done) {
    std::array<char, 512> line{};
    std::snprintf(line.data(), line.size(), "%-26s %-12s %-28s %10s %14s  %s\n", function, op.c_str(), type.c_str(),
                  calls.c_str(), bytes.c_str(), done);
    text += line.data();
  };
  add("function", "operator", "type", "calls", "bytes", "what was done");
  for (const Line& line : lines())
    add(shim.names[line.function], line.op, line.type, std::to_string(line.calls), std::to_string(line.bytes),
        text_of(line.treatment));
  for (int i = 0; i < steadfold_interpose_count; ++i)
    if (shim.counts[i] > 0)
      add(shim.names[i], "any", "any", std::to_string(shim.counts[i]), "", "passed on: one-sided");
  std::fputs(text.c_str(), stderr);  // in one piece
}

}  // namespace steadfold::interpose
