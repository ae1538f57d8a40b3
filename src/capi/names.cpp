#include "capi/names.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "agreement/failure.hpp"
#include "agreement/methods.hpp"
#include "capi/boundary.hpp"
#include "schedule/registry.hpp"

namespace steadfold::capi {
namespace {

using agreement::Failure;

/// An enumerator with its name, which is the one in C without SF_, in small letters.
template <class Enumeration>
struct Enumerator {
  Enumeration number;
  Named named;
};

/// The names alone. That their places are the enumerators' numbers is checked while this is compiled.
template <class Enumeration, std::size_t count>
consteval std::array<Named, count> in_order(const Enumerator<Enumeration> (&enumerators)[count],
                                            bool are_bits = false) {
  std::array<Named, count> names{};
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<std::size_t>(enumerators[i].number) != (are_bits ? std::size_t{1} << i : i))
      throw "an enumerator is missing, or not at its place";
    names[i] = enumerators[i].named;
  }
  return names;
}

constexpr auto statuses = in_order<sf_status>({
    {SF_OK, {"ok", "the call did what it says"}},
    {SF_EMPTY, {"empty", "nothing to reduce, and the operator has no neutral element"}},
    {SF_GAP, {"gap", "elements that no rank brought"}},
    {SF_OVERLAP, {"overlap", "an element that was brought twice"}},
    {SF_OPERATOR_FAILED, {"operator_failed", "a user operator reported failure"}},
    {SF_MISMATCH, {"mismatch", "the ranks made different calls"}},
    {SF_INVALID_ARGUMENT, {"invalid_argument", "an argument that no call can use"}},
    {SF_UNSUPPORTED, {"unsupported", "a combination that cannot be kept or is not built"}},
    {SF_TRANSPORT_FAILED, {"transport_failed", "the MPI library reported an error, or a message did not fit"}},
    {SF_INTERNAL, {"internal", "out of memory, or a fault of the library"}},
});
constexpr auto types = in_order<sf_type>({
    {SF_F64, {"f64", "double"}},
    {SF_F32, {"f32", "float"}},
    {SF_I32, {"i32", "integers of 32 bits with a sign"}},
    {SF_I64, {"i64", "integers of 64 bits with a sign"}},
    {SF_U32, {"u32", "integers of 32 bits without a sign"}},
    {SF_U64, {"u64", "integers of 64 bits without a sign"}},
    {SF_BYTES, {"bytes", "elements of a user operator, of any size"}},
    {SF_BF16, {"bf16", "bfloat16; only read"}},
    {SF_F16, {"f16", "IEEE binary16; only read"}},
    {SF_COMPLEX_F32, {"complex_f32", "two floats, the real part first"}},
    {SF_COMPLEX_F64, {"complex_f64", "two doubles, the real part first"}},
    {SF_LONG_DOUBLE, {"long_double", "the platform's long double"}},
    {SF_FLOAT128, {"float128", "IEEE binary128, if the compiler that built the library has it"}},
});
constexpr auto operations = in_order<sf_operation>({
    {SF_SUM, {"sum", "the sum"}},
    {SF_PRODUCT, {"product", "the product"}},
    {SF_MIN, {"min", "the least value"}},
    {SF_MAX, {"max", "the greatest value"}},
    {SF_USER, {"user", "an operator of the caller"}},
    {SF_DOT, {"dot", "the sum of products of two vectors"}},
    {SF_NORM2, {"norm2", "the root of the sum of squares"}},
    {SF_MEAN, {"mean", "the sum divided by the number of rows, rounded once"}},
    {SF_MIN_LOCATION, {"min_location", "the least value and the lowest index that has it"}},
    {SF_MAX_LOCATION, {"max_location", "the greatest value and the lowest index that has it"}},
    {SF_ABS_SUM, {"abs_sum", "the sum of absolute values, norm1"}},
    {SF_SUM_SQUARES, {"sum_squares", "the sum of squares"}},
    {SF_MASKED_SUM, {"masked_sum", "the sum of the rows that a mask selects"}},
    {SF_STATISTICS, {"statistics", "count, extremes, mean, variances and deviations in one pass"}},
    {SF_WEIGHTED_MEAN, {"weighted_mean", "the sum of products with weights, divided by the sum of the weights"}},
    {SF_NORMINF, {"norminf", "the greatest absolute value"}},
    {SF_DOTC, {"dotc", "the sum of products, the first factors conjugated"}},
});
constexpr auto methods = in_order<sf_method>({
    {SF_AUTOMATIC, {"automatic", "the library's choice, which depends on operation, type and layout only"}},
    {SF_TREE, {"tree", "the binary tree over element indices: any operator"}},
    {SF_EXACT, {"exact", "the correctly rounded value of sums, means, dot products and norms"}},
    {SF_PLAIN, {"plain", "whatever order the schedule has: the bits are not fixed"}},
    {SF_BINNED, {"binned", "the sum of terms rounded to a unit set by the largest of them"}},
});
constexpr auto sweeps = in_order<sf_sweep>({
    {SF_SINGLE_SWEEP, {"single_sweep", "binned finds the largest term during the sum"}},
    {SF_DOUBLE_SWEEP, {"double_sweep", "binned finds the largest term before the sum"}},
});
constexpr auto guarantees = in_order<sf_guarantee>(
    {
        {SF_RANKS, {"ranks", "the number of ranks"}},
        {SF_THREADS, {"threads", "the number of threads"}},
        {SF_LAYOUT, {"layout", "which rank holds which elements"}},
        {SF_SCHEDULE, {"schedule", "the algorithm that moves partials"}},
        {SF_LIBRARY, {"library", "the MPI library"}},
        {SF_TARGET, {"target", "the instruction set"}},
        {SF_RELEASE, {"release", "the release of Steadfold"}},
    },
    true);
constexpr auto layouts = in_order<sf_layout>({
    {SF_ANYWHERE, {"anywhere", "indices do not matter"}},
    {SF_RANK_ORDER, {"rank_order", "a rank's rows stand after those of the lower ranks"}},
    {SF_INTERVALS, {"intervals", "every rank lists its rows as intervals"}},
    {SF_ROW_PER_RANK, {"row_per_rank", "rank r brings row r, as in MPI"}},
    {SF_GRID, {"grid", "a rule says which rank holds which rows"}},
});
constexpr auto collectives = in_order<sf_collective>({
    {SF_REDUCE, {"reduce", "the result goes to the root, or to all ranks"}},
    {SF_REDUCE_SCATTER, {"reduce_scatter", "every rank gets the columns of its block"}},
    {SF_SCAN, {"scan", "rank r gets the reduction of ranks 0 to r"}},
    {SF_EXSCAN, {"exscan", "rank r gets the reduction of ranks 0 to r-1"}},
});

/// A schedule as texts, which stay as long as the program.
struct Schedule {
  std::string name, about, parameters, collectives, methods, examples, restrictions, source;
};

void append(std::string& names, std::string_view name) { names.append(names.empty() ? "" : " ").append(name); }

Schedule schedule_of(const schedule::Row& row) {
  Schedule texts{.name = std::string(row.name),
                 .about = std::string(row.sentence),
                 .parameters = {},
                 .collectives = {},
                 .methods = {},
                 .examples = {},
                 .restrictions = std::string(row.restrictions),
                 .source = std::string(row.source)};
  for (const std::string_view each : row.parameters) append(texts.parameters, each);
  for (const schedule::Collective each : schedule::every_collective)
    if (offers(row.collectives, each)) append(texts.collectives, name_of(each));
  for (const agreement::MethodRow& each : agreement::methods())
    if (serves(row, each.merging)) append(texts.methods, each.merging.method);
  for (const std::string& each : names_of(row)) append(texts.examples, each);
  return texts;
}

const std::vector<Schedule>& schedules() {
  static const std::vector<Schedule> all = [] {
    std::vector<Schedule> made;
    for (const schedule::Row& row : schedule::registry()) made.push_back(schedule_of(row));
    return made;
  }();
  return all;
}

const std::string* text_of(const Schedule& schedule, std::string_view heading) {
  constexpr std::pair<std::string_view, std::string Schedule::*> headings[] = {
      {"about", &Schedule::about},     {"parameters", &Schedule::parameters}, {"collectives", &Schedule::collectives},
      {"methods", &Schedule::methods}, {"examples", &Schedule::examples},     {"restrictions", &Schedule::restrictions},
      {"source", &Schedule::source},
  };
  const auto* const found =
      std::ranges::find(headings, heading, &std::pair<std::string_view, std::string Schedule::*>::first);
  return found == std::end(headings) ? nullptr : &(schedule.*found->second);
}

/// Names that entries had before. They are found as well, and not listed.
struct Older {
  sf_list list;
  std::string_view name, now;
};
constexpr Older older_names[] = {{SF_LIST_LAYOUTS, "row_a_rank", "row_per_rank"}};

std::string_view name_now(sf_list list, std::string_view name) {
  for (const Older& each : older_names)
    if (each.list == list && each.name == name) return each.now;
  return name;
}

bool is_list(sf_list list) { return number(list) <= SF_LIST_OPTIONS; }

std::size_t size_of(sf_list list) {
  if (!is_list(list)) return 0;
  if (list == SF_LIST_SCHEDULES) return schedules().size();
  return list == SF_LIST_OPTIONS ? options().size() : enumerators(list).size();
}

const char* name_in(sf_list list, std::size_t entry) {
  if (entry >= size_of(list)) return nullptr;
  if (list == SF_LIST_SCHEDULES) return schedules()[entry].name.c_str();
  return list == SF_LIST_OPTIONS ? options()[entry].name : enumerators(list)[entry].name;
}

const char* text_in(sf_list list, std::size_t entry, std::string_view heading) {
  if (entry >= size_of(list)) return nullptr;
  if (list == SF_LIST_SCHEDULES) {
    const std::string* const text = text_of(schedules()[entry], heading);
    return text == nullptr ? nullptr : text->c_str();
  }
  if (list == SF_LIST_OPTIONS && heading == "values") return options()[entry].values;
  if (list == SF_LIST_OPTIONS && heading == "arguments") return options()[entry].arguments;
  if (heading != "about") return nullptr;
  return list == SF_LIST_OPTIONS ? options()[entry].about : enumerators(list)[entry].about;
}

/// What `body` returns, or `otherwise` where there is no memory for texts.
template <class Body, class Value>
Value or_else(Value otherwise, Body body) noexcept {
  caught([&] { otherwise = body(); });
  return otherwise;
}

}  // namespace

std::span<const Named> enumerators(sf_list list) noexcept {
  switch (number(list)) {
    case SF_LIST_STATUSES: return statuses;
    case SF_LIST_TYPES: return types;
    case SF_LIST_OPERATIONS: return operations;
    case SF_LIST_METHODS: return methods;
    case SF_LIST_SWEEPS: return sweeps;
    case SF_LIST_GUARANTEES: return guarantees;
    case SF_LIST_LAYOUTS: return layouts;
    case SF_LIST_COLLECTIVES: return collectives;
    default: return {};
  }
}

std::size_t entry_of(sf_list list, std::string_view name, std::string_view what) {
  if (!is_list(list))
    throw Failure(Status::invalid_argument, "list " + std::to_string(number(list)) + " is unknown (the last is " +
                                                std::to_string(SF_LIST_OPTIONS) + "), give an sf_list");
  const std::string_view asked = name_now(list, name);
  std::string known;
  for (std::size_t i = 0; i < size_of(list); ++i) {
    if (name_in(list, i) == asked) return i;
    known.append(i == 0 ? "" : ", ").append(name_in(list, i));
  }
  throw Failure(Status::invalid_argument, "unknown " + std::string(what) + " '" + std::string(name) + "' (known are " +
                                              known + "), choose one of these");
}

}  // namespace steadfold::capi

extern "C" {

size_t sf_list_size(sf_list list) {
  return steadfold::capi::or_else(size_t{0}, [&] { return steadfold::capi::size_of(list); });
}

const char* sf_list_name(sf_list list, size_t entry) {
  return steadfold::capi::or_else<>(static_cast<const char*>(nullptr),
                                    [&] { return steadfold::capi::name_in(list, entry); });
}

const char* sf_list_text(sf_list list, size_t entry, const char* heading) {
  return steadfold::capi::or_else(static_cast<const char*>(nullptr), [&] {
    return heading == nullptr ? nullptr : steadfold::capi::text_in(list, entry, heading);
  });
}

sf_status sf_list_find(sf_list list, const char* name, size_t* entry) {
  return steadfold::capi::caught([&] {
    if (name == nullptr || entry == nullptr)
      throw steadfold::agreement::Failure(steadfold::Status::invalid_argument,
                                          "no name, or no place for its entry (a pointer is null), give both");
    *entry = steadfold::capi::entry_of(list, name, "name");
  });
}
}
