#include "call/validation.hpp"

#include <algorithm>

#include "arithmetic/binned/bins.hpp"
#include "call/guarantees.hpp"
#include "call/initial_value.hpp"
#include "kernels/target.hpp"
#include "order/laps.hpp"
#include "order/settings.hpp"

namespace steadfold::call {

using arithmetic::Operation;
using arithmetic::Type;

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Failure(Status::invalid_argument, text); }

/// Throws Failure if a setting of the environment cannot be used. The library never falls back silently.
void require_settings() {
  if (!order::fault_of_settings().empty()) refuse(order::fault_of_settings());
  if (kernels::forced_is_available()) return;
  std::string known;
  for (const kernels::Target target : kernels::available())
    known += (known.empty() ? "" : ", ") + std::string(kernels::name_of(target));
  refuse("unknown target '" + std::string(kernels::forced()) +
         "' (STEADFOLD_TARGET names an instruction set that was not built or that this machine lacks), choose one of " +
         known + ", or leave it unset");
}

constexpr const MethodParameter& parameter(std::string_view name) {
  return *std::ranges::find(parameter_table, name, &MethodParameter::name);
}
static_assert(parameter("lanes").most == order::most_lanes);
static_assert(parameter("bins").least == arithmetic::fewest_bins && parameter("bins").most == arithmetic::most_bins);

/// Returns why a parameter cannot have this value, as an error text.
std::string fault_of(const MethodParameter& parameter, std::uint64_t value) {
  const std::string given = std::to_string(value);
  if (!parameter.names.empty())
    return std::string(parameter.name) + " " + given + " is unknown (the last value is " +
           std::to_string(parameter.most) + "), begin with sf_call_init";
  return given + " " + std::string(parameter.name) + " (method " + std::string(name_of(parameter.method)) + " takes " +
         std::to_string(parameter.least) + " to " + std::to_string(parameter.most) +
         "), give one of these numbers, or 0 for the default, " + std::to_string(parameter.by_default);
}

/// Checks the parameters of the call's method, and that the enumerators of every method are known.
void validate_parameters(const Call& call) {
  const ParameterWords words = words_of(call.parameters);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const MethodParameter& parameter = parameter_table[i];
    if (words[i] == 0 || (parameter.least <= words[i] && words[i] <= parameter.most)) continue;
    if (!parameter.names.empty() || parameter.method == resolved_method(call)) refuse(fault_of(parameter, words[i]));
  }
}

/// Checks the lanes, which permute the elements.
void validate_lanes(const Call& call) {
  if (call.parameters.lanes <= 1) return;
  const std::string lanes = std::to_string(call.parameters.lanes) + " lanes";
  const MethodProperties& method = properties_of(resolved_method(call));
  if (method.method != Method::tree)
    throw Failure(Status::unsupported, lanes + " with method " + std::string(method.merging.method) +
                                           " (only tree deals elements to lanes), name method tree or give no lanes");
  if (call.operation == Operation::user && !call.user.commutative)
    throw Failure(Status::unsupported, lanes + " with an operator that is not declared commutative (lanes change the " +
                                           "order of its operands), declare it commutative or use 1 lane");
  if (call.array != nullptr && call.array->labels.groups > 0)
    throw Failure(Status::unsupported, lanes + " with groups (the tree of a group has no lanes), use 1 lane");
  if (call.layout == LayoutKind::row_per_rank)
    throw Failure(Status::unsupported, lanes + " in MPI's shape (each rank brings one vector, and the elements that " +
                                           "lanes would deal are lost), reduce distributed elements or use 1 lane");
}

/// Checks the root and the blocks, which say which rank gets which part of the result.
void validate_share(const Call& call, Rank rank_count) {
  if (call.root != all_ranks && (call.root < 0 || call.root >= rank_count))
    refuse("root " + text_of_root(call.root) + " is not a rank (the ranks are 0 to " + std::to_string(rank_count - 1) +
           "), give one of these ranks, or no root to get the result on all ranks");
  const std::string name(name_of(call.collective));
  if (call.root != all_ranks && call.collective != Collective::reduce)
    refuse("root " + std::to_string(call.root) + " of " + name +
           " (in this collective every rank gets its own result), leave out the root");
  if (is_scan(call.collective) && properties_of(resolved_method(call)).has_sweep &&
      call.parameters.sweep == Sweep::double_sweep)
    refuse("the double sweep cannot be used in " + name +
           " (the largest term of all ranks is not the largest term of the first ranks), use the " + "single sweep");
  if (call.collective != Collective::reduce_scatter) return;
  if (call.blocks.empty())
    refuse(name + " without blocks (blocks say how many columns each of the " + std::to_string(rank_count) +
           " ranks gets), give one number per rank");
  for (std::size_t rank = 0; rank < call.blocks.size(); ++rank)
    if (call.blocks[rank] > call.columns)
      refuse("a block of " + order::text_as_given(call.blocks[rank]) + " columns for rank " + std::to_string(rank) +
             " (rows have " + std::to_string(call.columns) + "), give every column to exactly one rank");
  Count sum = 0;
  for (const Count block : call.blocks) sum += std::min(block, call.columns + 1 - std::min(sum, call.columns));
  if (call.blocks.size() != static_cast<std::size_t>(rank_count) || sum != call.columns)
    refuse(std::string("blocks of ") + (sum > call.columns ? "more than " : "") +
           std::to_string(std::min(sum, call.columns)) + " columns for " + std::to_string(call.blocks.size()) +
           " ranks (rows have " + std::to_string(call.columns) + " columns and there are " +
           std::to_string(rank_count) + " ranks), give every column to exactly one rank");
}

}  // namespace

void require_threads(unsigned threads) {
  if (threads < 1 || threads > most_threads)
    refuse(std::to_string(threads) + " threads (the number of threads is out of range), give 1 to " +
           std::to_string(most_threads));
}

/// Throws Failure if the call's rows are too large. The limit allows for partials, which may need 256 times as many
/// bytes as a row.
void require_size(const Call& call) {
  const Bytes element_bytes =
      call.operation == Operation::user ? call.user.element_bytes : arithmetic::size_of(call.type);
  const auto row_bytes = order::checked_product(std::max(call.columns, Count{1}), element_bytes, ~Bytes{0} / 256);
  if (!row_bytes)
    refuse("rows of " + std::to_string(call.columns) + " elements of " + std::to_string(element_bytes) +
           " bytes are too large (no memory holds as much), check columns and element_bytes");
  if (call.rows > most_rows(*row_bytes))
    refuse(std::to_string(call.rows) + " rows of " + std::to_string(call.columns * element_bytes) +
           " bytes are too large (no memory holds as much), check rows, columns and element_bytes");
}

namespace {

std::string text_of(order::Interval interval) {
  return "interval [" + std::to_string(interval.begin) + ", " + std::to_string(interval.end) + ")";
}

/// Returns the number of rows of the intervals. Throws Failure if an interval ends before it begins or beyond the
/// greatest index, or if the intervals have too many rows.
Count rows_of(std::span<const order::Interval> intervals) {
  Count rows = 0;
  for (const order::Interval interval : intervals) {
    if (interval.begin > interval.end)
      refuse(text_of(interval) + " ends before it begins (intervals are half-open), give begin <= end");
    if (interval.end > order::most_elements)
      refuse(text_of(interval) + " ends beyond " + std::to_string(order::most_elements) +
             " (no job has more rows), check begin and end");
    if (interval.size() > order::most_elements - rows)
      refuse("intervals of " + std::to_string(order::most_elements) +
             " rows or more on one rank (no rank has as many), check begin and end");
    rows += interval.size();
  }
  return rows;
}

void require_row_per_rank(const Call& call, Count ranks) {
  if (call.rows != 1)
    refuse(std::to_string(call.rows) +
           " rows on this rank (in layout row_per_rank every rank has one row), give 1 row");
  if (call.element_count == ranks || call.element_count == arithmetic::unknown_count) return;
  throw Failure(call.element_count > ranks ? Status::gap : Status::overlap,
                "an element count of " + std::to_string(call.element_count) + " in layout row_per_rank (" +
                    std::to_string(ranks) + (ranks == 1 ? " rank brings" : " ranks bring") +
                    " one row each), leave the element count unknown");
}

}  // namespace

void validate(const Call& call, Rank rank_count) {
  require_settings();
  const bool is_user = call.operation == Operation::user;
  if (call.operation > arithmetic::last_operation)
    refuse("operation " + std::to_string(static_cast<std::uint32_t>(call.operation)) +
           " is unknown (it is not a value of sf_operation), give a known operation");
  if (call.columns == 0 && call.layout != LayoutKind::row_per_rank)
    refuse("0 columns (a row has at least one element), give the length of a row");
  if (is_user != (call.type == Type::bytes))
    refuse(
        "operator and type do not fit together (user operators take SF_BYTES, built-in operators a number type), "
        "give " +
        std::string(is_user ? "SF_BYTES and element_bytes" : "a number type or a user operator"));
  if (is_user && call.user.apply == nullptr)
    refuse("no user operator (the function is null), give the function of the operator");
  if (is_user && call.user.element_bytes == 0)
    refuse("elements of 0 bytes (element_bytes is 0), give the size of an element");
  require_size(call);
  if (call.element_count > order::most_elements && call.element_count != arithmetic::unknown_count)
    refuse("an element count of " + std::to_string(call.element_count) + " (no job has more rows than " +
           std::to_string(order::most_elements) + "), give the number of rows of the whole job, or leave it unknown");
  validate_share(call, rank_count);
  validate_parameters(call);
  validate_lanes(call);
  require_initial(call);
  if (call.layout == LayoutKind::row_per_rank) require_row_per_rank(call, static_cast<Count>(rank_count));
  require_threads(call.threads);
  require_kept(call);
  const bool has_grid = call.layout == LayoutKind::grid;
  if (has_grid && call.grid == nullptr)
    refuse("no grid (the layout is a grid, but the address of the grid is null), give the axes of the grid");
  if (has_grid)
    if (const auto fault = call.grid->fault(rank_count)) refuse(*fault);
  if (call.layout != LayoutKind::intervals && !has_grid) return;
  const Count listed = rows_of(call.intervals);
  if (listed != call.rows && has_grid)
    refuse(std::to_string(call.rows) + " rows of data, but a grid of " + call.grid->text() + " has " +
           std::to_string(listed) + " rows for this rank (layout and data differ in size), make the sizes equal");
  if (listed != call.rows)
    refuse(std::to_string(call.rows) + " rows of data for intervals of " + std::to_string(listed) +
           " rows (layout and data of this rank differ in size), make the sizes equal");
}

Missing missing(const Description& description, Count rows, const Data& data, bool is_due) noexcept {
  const bool is_read = rows > 0 && description.columns > 0;
  if (is_read && data.first == nullptr) return Missing::first;
  for (Count i = 0; is_read && description.is_listed() && i < description.columns; ++i)
    if (arithmetic::Strides::listed(data.first, i) == nullptr) return Missing::first;
  if (is_read && arithmetic::has_second(description.operation) && data.second == nullptr) return Missing::second;
  const bool is_array = description.array != ArrayForm::none;
  if (is_array && description.has_mask() && is_read && data.mask == nullptr) return Missing::mask;
  if (description.deals_rows() && is_read && data.label == nullptr) return Missing::label;
  return is_due && data.result == nullptr ? Missing::result : Missing::nothing;
}

Failure failure_of(Missing missing, Operation operation, Count rows) {
  const std::string to_be_read = std::to_string(rows) + (rows == 1 ? " row is" : " rows are") + " to be read";
  const auto null = [](const std::string& text) { return Failure(Status::invalid_argument, text); };
  if (missing == Missing::result)
    return null(
        "the result has no memory (its address is null on a rank that gets the result, or its size differs from the "
        "size of the rank's block), give an address");
  if (missing == Missing::mask)
    return null("the mask is null (" + to_be_read + "), give a mask element for every row, or leave out the mask");
  if (missing == Missing::label)
    return null("the labels are null (" + to_be_read + "), give a label for every row, or leave out the labels");
  if (arithmetic::has_factors(operation))
    return null(std::string("the ") + (missing == Missing::first ? "first" : "second") + " factor of a " +
                std::string(arithmetic::is_dot(operation) ? "dot product" : name_of(operation)) +
                " is null (it is missing or of another size; " + to_be_read + "), give two vectors of the same size");
  if (missing == Missing::second)
    return null("the mask of a masked sum is null (it is missing or of another size; " + to_be_read +
                "), give a byte for every row");
  return null("the address of the data is null (" + to_be_read + "), give the address of the data");
}

}  // namespace steadfold::call
