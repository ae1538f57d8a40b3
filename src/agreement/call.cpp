#include "agreement/call.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "agreement/guarantees.hpp"
#include "arithmetic/binned/bins.hpp"
#include "arithmetic/converted.hpp"
#include "kernels/target.hpp"

namespace steadfold::agreement {

namespace {

using arithmetic::combined_by;
using arithmetic::is_double_or_float;
using arithmetic::is_rounded_once;
using arithmetic::Operation;
using arithmetic::Type;

/// One round of a multiply-xor-shift mix: every bit of the input reaches every bit of the result.
std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

/// What a call's elements are combined as.
Type combined_type(Operation operation, Type type, Type result, bool rounds_once) {
  const auto conversion = arithmetic::conversion(operation, type, result, rounds_once);
  return conversion ? conversion->type : type;
}

Method method_of(arithmetic::DefaultMethod named) noexcept {
  using arithmetic::DefaultMethod;
  return named == DefaultMethod::exact ? Method::exact : named == DefaultMethod::plain ? Method::plain : Method::tree;
}

/// No order can change a bit of min, max and integers: `plain` keeps every promise there, and moves the fewest bytes.
Method resolved_method(const Call& call) {
  if (call.method != Method::automatic) return call.method;
  const arithmetic::OperationRow& row = row_of(call.operation);
  const Method method = method_of(call.layout == LayoutKind::row_per_rank ? row.of_vectors : row.by_default);
  if (call.operation == Operation::user || is_rounded_once(call.operation)) return method;
  if (call.type == Type::bytes) return Method::tree;  // no call at all: validate says so
  const Type type = combined_type(call.operation, call.type, call.result_type, false);
  if (arithmetic::built_in(row.combined_by, type).order_free) return Method::plain;
  return method == Method::exact && row.served_by.tree && !is_double_or_float(type) ? Method::tree : method;
}

bool has_bins(const Call& call) { return row_of(resolved_method(call)).has_bins; }

std::uint64_t hash_of(const order::Grid& grid) {
  std::uint64_t hash = grid.axes.size();
  for (const order::GridAxis& axis : grid.axes)
    for (const Count number : {axis.extent, axis.ranks, axis.block, axis.first}) hash = mix(hash, number);
  return hash;
}

std::string_view layout_name(LayoutKind kind) {
  static constexpr std::array<std::string_view, 5> names = {"anywhere", "rank order", "intervals", "one row per rank",
                                                            "a grid"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view array_name(ArrayForm form) {
  static constexpr std::array<std::string_view, 8> names = {"in rows",
                                                            "of an array",
                                                            "of an array with a mask of rows",
                                                            "of an array with a mask of elements",
                                                            "of an array with labels",
                                                            "of an array with labels and a mask",
                                                            "of a list of arrays",
                                                            "of a list of arrays with a mask"};
  return names[static_cast<std::size_t>(form)];
}

std::string_view sweep_name(Sweep sweep) { return sweep == Sweep::double_sweep ? "double_sweep" : "single_sweep"; }

std::string text_of_count(std::uint64_t count) {
  return count == arithmetic::unknown_count ? "unknown" : std::to_string(count);
}

std::string text_of_root(Rank rank) {
  if (rank == all_ranks) return "none";
  return std::to_string(rank == minus_one ? -1 : rank);
}

[[noreturn]] void refuse(const std::string& text) { throw Failure(Status::invalid_argument, text); }

/// What the environment asks for in vain is an error, never a silent fallback.
void require_target() {
  if (!kernels::forced_prefetch_is_known())
    refuse("unknown prefetch '" + std::string(kernels::forced_prefetch()) +
           "' (STEADFOLD_PREFETCH says where kernels ask for memory ahead), take off, near or far, or leave it unset");
  if (kernels::forced_is_available()) return;
  std::string names;
  for (const kernels::Target target : kernels::available())
    names += (names.empty() ? "" : ", ") + std::string(kernels::name_of(target));
  refuse("unknown target '" + std::string(kernels::forced()) +
         "' (STEADFOLD_TARGET names an instruction set that was not built or that this machine lacks), take one of " +
         names + ", or leave it unset");
}

ArrayForm form_of(const Array& array) {
  const bool has_mask = array.mask_bytes > 0;
  if (array.is_listed) return has_mask ? ArrayForm::masked_and_listed : ArrayForm::listed;
  if (array.labels.groups > 0) return has_mask ? ArrayForm::masked_and_dealt : ArrayForm::dealt;
  if (!has_mask) return ArrayForm::whole;
  return array.mask_has_columns ? ArrayForm::masked_elements : ArrayForm::masked_rows;
}

}  // namespace

Description describe(const Call& call) noexcept {
  const bool is_user = call.operation == Operation::user;
  Description d;
  d.operation = call.operation;
  d.type = call.type;
  d.result_type = call.result_type;
  d.method = resolved_method(call);
  d.layout = call.layout;
  if (call.grid != nullptr && call.layout == LayoutKind::grid) d.grid = hash_of(*call.grid);
  d.root = call.root;
  d.element_bytes = is_user ? call.user.element_bytes : arithmetic::size_of(call.type);
  d.collective = call.collective;
  for (const Count block : call.blocks) d.blocks = mix(d.blocks, block + 1);
  d.columns = call.columns;
  d.element_count = call.element_count;
  d.operator_name = is_user ? hash_of(call.operator_name) : 0;
  d.schedule = hash_of(asked_schedule(call));
  d.commutes = !is_user || call.user.commutative;
  const bool has_labels = call.array != nullptr && call.array->labels.groups > 0;
  d.may_fail = (is_user && call.user_may_fail) || has_labels;  // that no group has
  if (call.array != nullptr) {
    d.array = form_of(*call.array);
    d.groups = call.array->labels.groups;
  }
  if (row_of(d.method).has_bins) {
    d.bin_count = call.bin_count == 0 ? default_bin_count : call.bin_count;
    d.sweep = call.sweep;
  }
  return d;
}

std::uint64_t digest_of(const Description& description) noexcept {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : std::bit_cast<std::array<std::uint64_t, description_words>>(description))
    hash = mix(hash, word);
  return hash;
}

std::uint64_t digest_of(std::span<const Description> calls) noexcept {
  std::uint64_t hash = digest_of(calls.front());
  for (const Description& call : calls.subspan(1)) hash = mix(mix(hash, 0), digest_of(call));  // their order counts
  return hash;
}

std::string difference(const Description& mine, const Description& other) {
  const auto differ = [](std::string_view what, std::string_view a, std::string_view b) {
    return std::string(what) + " " + std::string(a) + " against " + std::string(b);
  };
  using arithmetic::name_of;
  if (mine.operation != other.operation) return differ("operator", name_of(mine.operation), name_of(other.operation));
  if (mine.type != other.type) return differ("type", name_of(mine.type), name_of(other.type));
  if (mine.result_type != other.result_type)
    return differ("result type", name_of(mine.result_type), name_of(other.result_type));
  if (mine.method != other.method)
    return differ("method", agreement::name_of(mine.method), agreement::name_of(other.method));
  if (mine.bin_count != other.bin_count)
    return differ("bins", std::to_string(mine.bin_count), std::to_string(other.bin_count));
  if (mine.sweep != other.sweep) return differ("sweep", sweep_name(mine.sweep), sweep_name(other.sweep));
  if (mine.layout != other.layout) return differ("layout", layout_name(mine.layout), layout_name(other.layout));
  if (mine.grid != other.grid) return "grids of other axes";
  if (asked_name(mine.collective) != asked_name(other.collective))
    return differ("collective", asked_name(mine.collective), asked_name(other.collective));
  if (mine.root != other.root) return differ("root", text_of_root(mine.root), text_of_root(other.root));
  if (mine.groups != other.groups) return differ("groups", std::to_string(mine.groups), std::to_string(other.groups));
  if (mine.columns != other.columns)
    return differ("columns", std::to_string(mine.columns), std::to_string(other.columns));
  if (mine.blocks != other.blocks) return "different blocks of columns";
  if (mine.element_bytes != other.element_bytes)
    return differ("element bytes", std::to_string(mine.element_bytes), std::to_string(other.element_bytes));
  if (mine.element_count != other.element_count)
    return differ("element count", text_of_count(mine.element_count), text_of_count(other.element_count));
  if (mine.operator_name != other.operator_name) return "operators of different names or types";
  if (mine.array != other.array) return differ("elements", array_name(mine.array), array_name(other.array));
  if (mine.commutes != other.commutes) return "one operator commutative, the other not";
  if (mine.may_fail != other.may_fail) return "one operator may fail, the other not";
  return "no difference";
}

namespace {

/// Checks which part of the result ranks get, and its blocks.
void validate_share(const Call& call, Rank rank_count) {
  if (call.root != all_ranks && (call.root < 0 || call.root >= rank_count))
    refuse("root " + text_of_root(call.root) + " (the ranks are 0 to " + std::to_string(rank_count - 1) +
           "), give one of them, or none for all");
  const std::string name(name_of(call.collective));
  if (call.root != all_ranks && call.collective != Collective::reduce)
    refuse("root " + std::to_string(call.root) + " of " + name +
           " (every rank gets a result of its own), leave it out");
  if (is_scan(call.collective) && has_bins(call) && call.sweep == Sweep::double_sweep)
    refuse("double sweep in " + name + " (the largest term of all ranks is not that of the first ones), take the " +
           "single sweep");
  if (call.collective != Collective::reduce_scatter) return;
  if (call.blocks.empty())
    refuse(name + " without blocks (they say how many columns each of the " + std::to_string(rank_count) +
           " ranks gets), give as many numbers");
  Count sum = 0;
  for (const Count block : call.blocks) sum += std::min(block, call.columns + 1 - std::min(sum, call.columns));
  if (call.blocks.size() != static_cast<std::size_t>(rank_count) || sum != call.columns)
    refuse(std::string("blocks of ") + (sum > call.columns ? "more than " : "") +
           std::to_string(std::min(sum, call.columns)) + " columns for " + std::to_string(call.blocks.size()) +
           " ranks (rows have " + std::to_string(call.columns) + " columns and there are " +
           std::to_string(rank_count) + " ranks), deal every column to one rank");
}

}  // namespace

void require_size(const Call& call) {
  const Bytes element_bytes =
      call.operation == Operation::user ? call.user.element_bytes : arithmetic::size_of(call.type);
  if (element_bytes > std::numeric_limits<Bytes>::max() / 256 / std::max(call.columns, Count{1}))
    refuse("rows of " + std::to_string(call.columns) + " elements of " + std::to_string(element_bytes) +
           " bytes (no memory holds as much), check columns and element_bytes");
  if (call.rows > most_rows(std::max(call.columns, Count{1}) * element_bytes))
    refuse(std::to_string(call.rows) + " rows of " + std::to_string(call.columns * element_bytes) +
           " bytes (no memory holds as much), check rows, columns and element_bytes");
}

void validate(const Call& call, Rank rank_count) {
  require_target();
  const bool is_user = call.operation == Operation::user;
  if (call.operation > arithmetic::last_operation)
    refuse("operation " + std::to_string(static_cast<std::uint32_t>(call.operation)) +
           " is unknown (it is no sf_operation), give one of those");
  if (call.columns == 0 && call.layout != LayoutKind::row_per_rank)
    refuse("0 columns (a row has at least one element), give the length of a row");
  if (is_user != (call.type == Type::bytes))
    refuse("operator and type do not go together (user operators take SF_BYTES, built-in ones a number type), give " +
           std::string(is_user ? "SF_BYTES and element_bytes" : "a number type or a user operator"));
  if (is_user && call.user.apply == nullptr) refuse("no user operator (the function is null), give one");
  if (is_user && call.user.element_bytes == 0) refuse("elements of 0 bytes (element_bytes is 0), give their size");
  require_size(call);
  validate_share(call, rank_count);
  if (call.layout == LayoutKind::row_per_rank && call.rows != 1)
    refuse(std::to_string(call.rows) + " rows in MPI's shape (every rank brings one), give 1");
  if (call.threads < 1 || call.threads > most_threads)
    refuse(std::to_string(call.threads) + " threads (no machine runs as many at once), give 1 to " +
           std::to_string(most_threads));
  if (has_bins(call) && call.bin_count != 0 &&
      (call.bin_count < arithmetic::fewest_bins || call.bin_count > arithmetic::most_bins))
    refuse(std::to_string(call.bin_count) + " bins (method binned keeps 2, 3 or 4), give one of these, or 0 for 3");
  require_kept(call);
  const bool has_grid = call.layout == LayoutKind::grid;
  if (has_grid && call.grid == nullptr) refuse("no grid (the layout is one, and its address is null), give its axes");
  if (has_grid)
    if (const auto fault = call.grid->fault(rank_count)) refuse(*fault);
  if (call.layout != LayoutKind::intervals && !has_grid) return;
  Count listed = 0;
  for (const auto interval : call.intervals) {
    if (interval.begin > interval.end)
      refuse("interval [" + std::to_string(interval.begin) + ", " + std::to_string(interval.end) +
             ") ends before it begins (they are half-open), give begin <= end");
    if (interval.size() > most_rows(1) - listed)
      refuse("intervals of " + std::to_string(most_rows(1)) +
             " rows or more (no rank has as many), check begin and end");
    listed += interval.size();
  }
  if (listed != call.rows && has_grid)
    refuse(std::to_string(call.rows) + " rows where a grid of " + call.grid->text() + " has " + std::to_string(listed) +
           " for this rank (its layout and data differ in size), make them equal");
  if (listed != call.rows)
    refuse(std::to_string(call.rows) + " rows for intervals of " + std::to_string(listed) +
           " (this rank's layout and data differ in size), make them equal");
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
        "nowhere to put the result (its address is null on a rank that gets it, or its size is not that of its block), "
        "give an address");
  if (missing == Missing::mask)
    return null("the mask is null (" + to_be_read + "), give an element for every row, or none of the call");
  if (missing == Missing::label)
    return null("the labels are null (" + to_be_read + "), give one for every row, or none of the call");
  if (arithmetic::has_factors(operation))
    return null(std::string("the ") + (missing == Missing::first ? "first" : "second") + " factor of a " +
                std::string(arithmetic::is_dot(operation) ? "dot product" : name_of(operation)) +
                " is null (it is missing or of another size; " + to_be_read + "), give two vectors of the same size");
  if (missing == Missing::second)
    return null("the mask of a masked sum is null (it is missing or of another size; " + to_be_read +
                "), give a byte for every row");
  return null("the data are null (" + to_be_read + "), give their address");
}

namespace {

/// The operator of `tree` and `plain`. Not for users' operators.
const arithmetic::Operator& built_in_operator(const Description& description) noexcept {
  const Operation operation = description.operation;
  const Type combined = combined_type(operation, description.type, description.result_type, false);
  return arithmetic::built_in(combined_by(operation), combined);
}

}  // namespace

bool order_free(const Description& description) noexcept {
  return description.operation != Operation::user && built_in_operator(description).order_free;
}

schedule::Merging merging_of(const Description& description) noexcept {
  schedule::Merging merging = merging_of(row_of(description.method), description.sweep);
  merging.is_associative = merging.is_associative || order_free(description);
  const bool has_own_rows = description.array == ArrayForm::masked_elements || description.deals_rows();
  const bool has_only_sums = !has_own_rows && !arithmetic::has_several_sums(description.operation);
  merging.offers_words = merging.offers_words && has_only_sums;
  return merging;
}

bool needs_indices(const Description& description) noexcept {
  return row_of(description.method).needs_indices || arithmetic::names_rows(description.operation);
}

const arithmetic::Operator& operator_of(const Description& description, const arithmetic::Operator& user) noexcept {
  const Operation operation = description.operation;
  if (operation == Operation::user) return user;
  const Type type =
      combined_type(operation, description.type, description.result_type, row_of(description.method).rounds_once);
  return arithmetic::built_in(combined_by(operation), type);
}

bool needs_lists(const Description& description) noexcept {
  return row_of(description.method).needs_indices || is_scan(description.collective);
}

bool has_layout_of_indices(const Description& description) noexcept {
  const bool is_listed = description.layout == LayoutKind::intervals || description.layout == LayoutKind::grid;
  return !is_listed || needs_lists(description) || !needs_indices(description);
}

arithmetic::RowShape row_shape(const Description& description, Count columns) noexcept {
  return {.element_bytes = description.element_bytes,
          .columns = columns,
          .has_factors = arithmetic::has_factors(description.operation),
          .has_mask = description.has_mask(),
          .has_named_rows = arithmetic::names_rows(description.operation)};
}

arithmetic::Strides strides_of(const Description& description, const Array* array) noexcept {
  const arithmetic::RowShape shape = row_shape(description, description.columns);
  if (array == nullptr) return arithmetic::Strides(shape);
  const std::span<const arithmetic::Axis> axes(array->axes);
  return {shape,
          axes.first(array->row_axes),
          axes.subspan(array->row_axes, array->column_axes),
          array->mask_bytes,
          array->is_aligned,
          array->labels,
          array->is_listed};
}

bool gets_result(const Description& description, std::span<const Count> blocks, Rank rank) noexcept {
  if (description.columns == 0) return false;
  switch (description.collective) {
    case Collective::reduce: return description.root == rank;
    case Collective::reduce_scatter: return blocks[static_cast<std::size_t>(rank)] > 0;
    case Collective::exscan: return rank > 0;
    default: return true;
  }
}

std::string_view asked_name(Collective collective) noexcept {
  const bool is_reduction = collective == Collective::reduce || collective == Collective::allreduce;
  return is_reduction ? "reduction" : name_of(collective);
}

schedule::Context context_of(const Description& description, const schedule::Spec& schedule, Rank rank_count,
                             const order::Layout* layout, const order::Nodes* nodes) noexcept {
  return {.rank_count = rank_count,
          .root = std::max<Rank>(description.root, 0),
          .collective = description.collective,
          .layout = layout,
          .spec = &schedule,
          .nodes = nodes_of(*schedule.row, &schedule, nodes)};
}

schedule::OperatorKind operator_kind(const Description& description) noexcept {
  if (description.operation != Operation::user && built_in_operator(description).idempotent)
    return schedule::OperatorKind::idempotent;
  return description.commutes ? schedule::OperatorKind::commutative : schedule::OperatorKind::ordered;
}

}  // namespace steadfold::agreement
