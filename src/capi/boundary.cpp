// Converts C calls to the library's type. Cost: some 10 ns.
#include "capi/boundary.hpp"

#include <algorithm>

#include "capi/arrays.hpp"
#include "capi/lists.hpp"
#include "capi/sized.hpp"

namespace steadfold::capi {
namespace {

using call::Call;
using call::Failure;

static_assert(SF_INTERNAL == static_cast<int>(Status::internal));
static_assert(SF_BYTES == static_cast<int>(arithmetic::Type::bytes));
static_assert(SF_ALL_RANKS == call::all_ranks);
static_assert((SF_RANKS | SF_THREADS | SF_LAYOUT | SF_SCHEDULE | SF_LIBRARY | SF_TARGET | SF_RELEASE) ==
              call::guarantee::all);
static_assert(SF_RANKS == call::guarantee::ranks && SF_LAYOUT == call::guarantee::layout &&
              SF_TARGET == call::guarantee::target);
static_assert(SF_UNKNOWN == arithmetic::unknown_count);
static_assert(sizeof(sf_interval) == sizeof(order::Interval));
static_assert(SF_MOST_GRID_AXES == std::tuple_size_v<decltype(order::Grid::axes)>);

Failure unknown(const char* what, unsigned value, unsigned last) {
  return {Status::invalid_argument, std::string(what) + " " + std::to_string(value) +
                                        " is unknown (the last value is " + std::to_string(last) +
                                        "), begin with sf_call_init"};
}

/// Maps a C enumerator to the library's enumerator. Both enumerations must have the same values, so the last values of
/// both are compared here.
template <auto last_public, auto last_own, class Enumeration>
auto own(const Enumeration& field, const char* what) {
  constexpr auto last = static_cast<unsigned>(last_public);
  static_assert(last == static_cast<unsigned>(last_own));
  const unsigned value = number(field);
  if (value > last) throw unknown(what, value, last);
  return static_cast<decltype(last_own)>(value);
}

schedule::Collective collective_of(const sf_call& call) {
  switch (number(call.collective)) {
    case SF_REDUCE: return call::reduction_to(call.root);
    case SF_REDUCE_SCATTER: return schedule::Collective::reduce_scatter;
    case SF_SCAN: return schedule::Collective::scan;
    case SF_EXSCAN: return schedule::Collective::exscan;
    default: throw unknown("collective", number(call.collective), SF_EXSCAN);
  }
}

/// Returns the type of results if the caller does not name one.
arithmetic::Type result_of(arithmetic::Operation operation, arithmetic::Type type) {
  using arithmetic::ResultForm;
  using arithmetic::Type;
  const ResultForm form = properties_of(operation).result;
  if (form == ResultForm::statistics) return Type::f64;
  if (type == Type::f16 || type == Type::bf16) return Type::f32;
  return form == ResultForm::real && is_complex(type) ? part_of(type) : type;
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

/// Converts a C grid. Axes that are missing become leading axes, with one index on one rank.
order::Grid grid_of(const sf_grid& given) {
  if (given.axis_count < 1 || given.axis_count > SF_MOST_GRID_AXES)
    throw Failure(Status::invalid_argument, "a grid of " + std::to_string(given.axis_count) +
                                                " axes (a grid has one to three axes), give one to three axes");
  order::Grid grid;
  const std::size_t before = grid.axes.size() - given.axis_count;
  for (std::size_t i = 0; i < given.axis_count; ++i) {
    const sf_grid_axis& axis = given.axes[i];
    grid.axes[before + i] = {.extent = axis.extent, .ranks = axis.ranks, .block = axis.block, .first = axis.first};
  }
  return grid;
}

/// Returns the blocks of columns that the ranks get. Throws before reading the list if its length is not the number of
/// ranks.
std::span<const order::Count> blocks_of(const sf_call& call, int32_t ranks) {
  if (call.blocks == nullptr || number(call.collective) != SF_REDUCE_SCATTER) return {};
  if (call.block_count != static_cast<size_t>(ranks))
    throw Failure(Status::invalid_argument, std::to_string(call.block_count) + " blocks for " + std::to_string(ranks) +
                                                " ranks (each rank gets one block), give one block per rank");
  return {call.blocks, call.block_count};
}

std::span<const order::Interval> intervals_of(const sf_call& call) {
  const auto given = list_of(call.intervals, call.interval_count, "intervals");
  return {reinterpret_cast<const order::Interval*>(given.data()), given.size()};
}

}  // namespace

Call converted_call(const sf_call* given, call::HeldArguments& arguments, int32_t ranks) {
  using arithmetic::Type;
  using call::LayoutKind;
  if (given == nullptr) throw no_call();
  sf_call room;
  const sf_call* const call = &whole(*given, room);
  const bool as_type = number(call->result_type) == SF_AS_TYPE;
  Call made{.operation = own<lists::last_operation, arithmetic::last_operation>(call->operation, "operation"),
            .method = own<lists::last_method, arithmetic::last_method>(call->method, "method"),
            .type = own<SF_FLOAT128, Type::f128>(call->type, "type"),
            .result_type = own<SF_FLOAT128, Type::f128>(as_type ? call->type : call->result_type, "result type"),
            .columns = call->columns,
            .root = call->root,
            .collective = collective_of(*call),
            .blocks = blocks_of(*call, ranks),
            .schedule = text_of(call->schedule),
            .element_count = call->element_count,
            .user = {.apply = call->user,
                     .context = call->context,
                     .element_bytes = call->element_bytes,
                     .commutative = call->commutative != 0,
                     .is_users = true,
                     .writes_right = call->writes_right != 0},
            .operator_name = text_of(call->operator_name),
            .user_may_fail = call->never_fails == 0,
            .layout = own<SF_GRID, LayoutKind::grid>(call->layout, "layout"),
            .rows = call->rows,
            .intervals = intervals_of(*call),
            .parameters = call::parameters_of(*call, [](const auto& field) { return number(field); }),
            .require = call->require,
            .threads = std::max(call->threads, 1u)};
  if (call->arrays != nullptr) take_arrays(*call->arrays, made, arguments.array.emplace());
  if (as_type) made.result_type = result_of(made.operation, made.type);  // the type of the arrays, if there are arrays
  if (call->initial != nullptr)
    made.initial = {static_cast<const std::byte*>(call->initial), made.operation == arithmetic::Operation::user
                                                                      ? made.user.element_bytes
                                                                      : arithmetic::size_of(made.result_type)};
  if (call->grid != nullptr && made.layout == LayoutKind::grid)
    made.grid = &arguments.grid.emplace(grid_of(*call->grid));
  return made;
}

call::Failure no_call() { return {Status::invalid_argument, "no call (the pointer is null), begin with sf_call_init"}; }

void require_count(uint64_t count, size_t bytes, const char* what) {
  if (order::checked_product(count, bytes, order::most_elements)) return;
  throw Failure(Status::invalid_argument,
                std::to_string(count) + " " + what + " (no memory holds as many), give the length of the list");
}

std::vector<Call> converted_calls(const sf_call* calls, size_t count, std::deque<call::HeldArguments>& arguments,
                                  int32_t ranks) {
  require_count(count, sizeof(sf_call), "calls");
  if (calls == nullptr && count > 0)
    throw Failure(Status::invalid_argument, "no calls (the pointer is null), give the address of the calls");
  std::vector<Call> made;
  const sf_call* each = calls;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) each = next(each);
    try {
      made.push_back(converted_call(each, arguments.emplace_back(), ranks));
    } catch (const Failure& wrong) {  // the position of the next call depends on the size of this call
      throw Failure(wrong.status(), steadfold::call::in_bundle(i, count) + wrong.what());
    }
  }
  return made;
}

}  // namespace steadfold::capi
