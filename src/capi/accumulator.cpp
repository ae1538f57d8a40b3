// The C functions of accumulators. Cost: that of arithmetic/exact/state, and some 10 ns per call.
#include "steadfold/steadfold_accumulator.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "arithmetic/exact/state_bytes.hpp"
#include "arithmetic/exact/state_rows.hpp"
#include "arithmetic/operator.hpp"
#include "call/validation.hpp"
#include "capi/arrays.hpp"
#include "capi/boundary.hpp"
#include "capi/sized.hpp"
#include "plan/thread_pool.hpp"
#include "steadfold/steadfold_group.h"

using steadfold::Status;
using steadfold::arithmetic::Bytes;
using steadfold::arithmetic::Comparison;
using steadfold::arithmetic::Count;
using steadfold::arithmetic::ExactState;
using steadfold::arithmetic::Operation;
using steadfold::arithmetic::StateShape;
using steadfold::arithmetic::Type;
using steadfold::arithmetic::Way;
using steadfold::call::Array;
using steadfold::call::Call;
using steadfold::call::Failure;
using steadfold::call::Method;
using steadfold::call::Missing;
using steadfold::capi::caught;
using steadfold::capi::is_given;
using steadfold::capi::number;
using steadfold::capi::require_address;

static_assert(SF_LESS == static_cast<int>(Comparison::less) && SF_EQUAL == static_cast<int>(Comparison::equal) &&
              SF_GREATER == static_cast<int>(Comparison::greater) &&
              SF_UNORDERED == static_cast<int>(Comparison::unordered));

struct sf_accumulator final {
  explicit sf_accumulator(std::unique_ptr<ExactState> made)
      : state(std::move(made)),
        row_bytes(state->shape().columns * element_bytes(state->shape())),
        most_rows(steadfold::call::most_rows(row_bytes)) {}

  std::unique_ptr<ExactState> state;
  const Bytes row_bytes;
  const Count most_rows;  // largest number of rows that fit in memory
};

namespace {

constexpr Count fewest_per_thread = 1024;

[[noreturn]] void refuse(const std::string& text) { throw Failure(Status::invalid_argument, text); }

void require(const sf_accumulator* accumulator) {
  if (accumulator == nullptr) refuse("no accumulator (the pointer is null), make one with sf_accumulator_create");
}
ExactState& state_of(sf_accumulator* accumulator) {
  require(accumulator);
  return *accumulator->state;
}
const ExactState& state_of(const sf_accumulator* accumulator) {
  require(accumulator);
  return *accumulator->state;
}

std::string text_of(const StateShape& shape) {
  return std::to_string(shape.columns) + (shape.columns == 1 ? " sum of " : " sums of ") +
         (shape.factors == 1 ? "" : "products of ") + (shape.type == Type::f32 ? "floats" : "doubles");
}

void require_alike(const ExactState& a, const ExactState& b) {
  if (a.shape() == b.shape()) return;
  refuse("the accumulators have different shapes (" + text_of(a.shape()) + ", and " + text_of(b.shape()) +
         "), make the accumulators with the same type, terms and columns");
}

void require_products(const StateShape& shape) {
  if (shape.factors == 2) return;
  refuse("products cannot be added to an accumulator of elements (it holds " + text_of(shape) +
         "), make an accumulator of products");
}

void require_room(const ExactState& state) {
  if (state.has_room()) return;
  throw Failure(Status::unsupported, "the accumulator is full (" + std::to_string(state.rows()) +
                                         " rows; an accumulator has room for 2^62 rows, and for sums up to 2^72 times "
                                         "the greatest term), look for a loop that merges the accumulator with itself");
}

Type floating(unsigned type, const char* what) {
  if (type == SF_F64) return Type::f64;
  if (type == SF_F32) return Type::f32;
  if (type > SF_FLOAT128)
    refuse("type " + std::to_string(type) + " is unknown (the last type is " + std::to_string(SF_FLOAT128) +
           "), use a value of sf_type");
  throw Failure(Status::unsupported,
                std::string(what) + " of " + std::string(name_of(static_cast<steadfold::arithmetic::Type>(type))) +
                    " are not supported (accumulators take doubles and floats), convert the numbers");
}

std::unique_ptr<sf_accumulator> made(std::unique_ptr<ExactState> state) {
  return std::make_unique<sf_accumulator>(std::move(state));
}

/// The rows to add or to subtract.
struct OperandRows {
  const std::byte* first;
  const std::byte* second;
  Count count;
  Way way;

  OperandRows part(Count begin, Count end, Bytes row_bytes) const noexcept {
    return {first + begin * row_bytes, second == nullptr ? nullptr : second + begin * row_bytes, end - begin, way};
  }
};

void add(ExactState& state, const OperandRows& rows) noexcept {
  state.add(rows.first, rows.second, rows.count, rows.way);
}

/// Returns how many of `threads` threads are worth their creation.
unsigned threads_worth(std::uint32_t threads, Count rows, Count columns) noexcept {
  const Count worth_it = rows / std::max<Count>(fewest_per_thread / columns, 1);
  return static_cast<unsigned>(std::clamp<Count>(threads, 1, std::max<Count>(worth_it, 1)));
}

/// `add(state, begin, end)` adds rows begin, ..., end - 1. Every thread adds a part of the rows to a separate state.
/// The caller's state is changed only after all memory has been allocated.
template <class Add>
void add_apart(ExactState& state, Count rows, unsigned threads, const Add& add) {
  steadfold::plan::ThreadPool pool;
  pool.resize(threads);
  const Count thread_count = pool.size();
  std::vector<std::unique_ptr<ExactState>> parts(thread_count);
  for (auto& part : parts) part = ExactState::make(state.shape());
  const auto begin = [&](Count thread) { return rows / thread_count * thread + std::min(thread, rows % thread_count); };
  pool.run(pool.size(), [&](unsigned thread) { add(*parts[thread], begin(thread), begin(thread + Count{1})); });
  for (Count i = 1; i < thread_count; ++i) parts[0]->merge(*parts[i], Way::added);
  state.merge(*parts[0], Way::added);
}

void change(sf_accumulator* accumulator, const OperandRows& rows, std::uint32_t threads, bool has_second) {
  ExactState& state = state_of(accumulator);
  steadfold::call::require_threads(std::max(threads, 1u));
  if (has_second) require_products(state.shape());
  if (rows.count == 0) return;
  if (rows.first == nullptr || (has_second && rows.second == nullptr))
    refuse("no elements (the pointer is null) for " + std::to_string(rows.count) +
           " rows, give the address of the elements");
  if (rows.count > accumulator->most_rows)
    refuse(std::to_string(rows.count) + " rows of " + std::to_string(accumulator->row_bytes) +
           " bytes are too large (no memory holds as much), check the number of rows");
  require_room(state);
  // A few rows are added with integer arithmetic, in this thread.
  if (rows.count < steadfold::arithmetic::fewest_for_kernels) return add(state, rows);
  const steadfold::arithmetic::PromisedEnvironment environment;
  const unsigned wanted = threads_worth(threads, rows.count, state.shape().columns);
  if (wanted == 1) return add(state, rows);
  add_apart(state, rows.count, wanted, [&](ExactState& part, Count begin, Count end) {
    add(part, rows.part(begin, end, accumulator->row_bytes));
  });
}

OperandRows rows_at(const void* first, const void* second, Count count, Way way) noexcept {
  return {static_cast<const std::byte*>(first), static_cast<const std::byte*>(second), count, way};
}

sf_status changed(sf_accumulator* accumulator, const OperandRows& rows, std::uint32_t threads,
                  bool has_second) noexcept {
  return caught([&] { change(accumulator, rows, threads, has_second); });
}

[[noreturn]] void not_offered(const std::string& text) { throw Failure(Status::unsupported, text); }

/// Describes the arrays of an addition as for a call of an exact sum.
Call taken(const sf_arrays& arrays, const StateShape& shape, Array& array) {
  if (arrays.xs != nullptr || arrays.x_count > 0)
    not_offered("a list of " + std::to_string(arrays.x_count) +
                " arrays for an accumulator (an accumulator takes one array), make one accumulator per array");
  if (is_given(arrays.labels) || arrays.groups > 0)
    not_offered("labels for an accumulator (" + std::to_string(arrays.groups) +
                " groups, but all columns of an accumulator have the same number of rows), make one accumulator per "
                "group and use masks");
  const bool has_factors = is_given(arrays.factors);
  if (has_factors) require_products(shape);
  Call call{.operation = has_factors ? Operation::dot : Operation::sum, .method = Method::exact};
  steadfold::capi::take_arrays(arrays, call, array);
  if (call.type != shape.type)
    refuse("elements of type " + std::string(name_of(call.type)) + " (the accumulator holds " + text_of(shape) +
           "), make the accumulator with that type or convert the elements");
  if (call.columns != shape.columns)
    refuse(std::to_string(call.columns) + " results for the kept axes (the accumulator holds " + text_of(shape) +
           "), keep axes whose extents multiply to the number of sums");
  if (array.mask_has_columns && call.columns > 1)
    not_offered(
        "a mask that differs between " + std::to_string(call.columns) +
        " columns (all columns of an accumulator have the same number of rows), make one accumulator per column");
  return call;
}

void change_by_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, std::uint32_t threads, Way way) {
  ExactState& state = state_of(accumulator);
  steadfold::call::require_threads(std::max(threads, 1u));
  if (arrays == nullptr) refuse("no arrays (the pointer is null), give the address of the arrays");
  sf_arrays room;
  Array array;
  const Call call = taken(steadfold::capi::whole(*arrays, room), state.shape(), array);
  const auto description = describe(call);
  const Missing lacked = missing(description, call.rows, steadfold::call::located({}, array.data), false);
  if (lacked != Missing::nothing) throw steadfold::call::failure_of(lacked, call.operation, call.rows);
  if (call.rows == 0) return;
  require_room(state);
  const steadfold::arithmetic::PromisedEnvironment environment;
  const auto shape = row_shape(description, call.columns);
  const auto strides = strides_of(description, &array);
  const steadfold::arithmetic::StridedRows rows{shape, strides, array.data, call.rows};
  // Even one thread adds to a separate state: if there is no memory to copy rows, `state` stays unchanged.
  add_apart(state, call.rows, threads_worth(threads, call.rows, call.columns),
            [&](ExactState& part, Count begin, Count end) { add_strided(part, rows.part(begin, end), way); });
}

sf_status merged(sf_accumulator* into, const sf_accumulator* from, Way way) noexcept {
  return caught([&] {
    ExactState& to = state_of(into);
    const ExactState& other = state_of(from);
    require_alike(to, other);
    require_room(to);
    require_room(other);
    to.merge(other, way);
  });
}

/// Merges packed accumulators, as an operator. `context` points to the size of a packed accumulator in bytes.
int merge_over_right(const void* left, const void* /*right*/, void* result, size_t count, void* context) {
  const std::uint64_t bytes = *static_cast<const std::uint64_t*>(context);
  for (std::uint64_t at = 0; at < count * bytes; at += bytes)
    sf_accumulator_merge_packed(static_cast<const std::byte*>(left) + at, static_cast<std::byte*>(result) + at, bytes);
  return 0;
}

Operation ending_of(const ExactState& state, unsigned operation) {
  if (operation == SF_SUM) return Operation::sum;
  if (operation == SF_MEAN && state.rows() > 0) return Operation::mean;
  if (operation == SF_MEAN)
    throw Failure(Status::empty, "no mean (there are " + std::to_string(state.rows()) + " rows), add rows first");
  if (operation == SF_NORM2 && state.shape().factors == 2) return Operation::norm2;
  const std::string asked = operation > static_cast<unsigned>(steadfold::arithmetic::last_operation)
                                ? "operation " + std::to_string(operation)
                                : std::string(name_of(static_cast<steadfold::arithmetic::Operation>(operation)));
  throw Failure(Status::unsupported, asked + " of " + text_of(state.shape()) +
                                         " is not supported (an accumulator gives sums and means, and an accumulator "
                                         "of products also norms), use the sum");
}

void require_size(const ExactState& state, std::uint64_t size) {
  const Bytes due = message_bytes(state.shape());
  if (size != due)
    refuse(std::to_string(size) + " bytes for a packed accumulator (it needs " + std::to_string(due) +
           " bytes), get the size from sf_accumulator_packed_size");
}

}  // namespace

extern "C" {

sf_status sf_accumulator_create(sf_type type, sf_terms terms, uint64_t columns, sf_accumulator** accumulator) {
  return caught([&] {
    require_address(accumulator, "the accumulator");
    const Type of = floating(number(type), "sums");
    if (number(terms) > SF_PRODUCTS)
      refuse("terms " + std::to_string(number(terms)) + " are unknown (the last value is " +
             std::to_string(SF_PRODUCTS) + "), use SF_ELEMENTS or SF_PRODUCTS");
    constexpr std::uint64_t most = std::uint64_t{1} << 48;
    if (columns < 1 || columns > most)
      refuse("an accumulator of " + std::to_string(columns) + " columns (an accumulator has 1 to " +
             std::to_string(most) + " columns), give one column per sum");
    *accumulator = made(ExactState::make({of, number(terms) == SF_PRODUCTS ? 2 : 1, columns})).release();
  });
}

sf_status sf_accumulator_copy(const sf_accumulator* from, sf_accumulator** copy) {
  return caught([&] {
    require_address(copy, "the copy");
    *copy = made(state_of(from).copy()).release();
  });
}

void sf_accumulator_free(sf_accumulator* accumulator) { delete accumulator; }

sf_status sf_accumulator_describe(const sf_accumulator* accumulator, sf_accumulator_shape* shape, int64_t* rows) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    const StateShape& of = state.shape();
    if (shape != nullptr)
      *shape = {of.type == Type::f32 ? SF_F32 : SF_F64, of.factors == 2 ? SF_PRODUCTS : SF_ELEMENTS, of.columns};
    if (rows != nullptr) *rows = state.rows();
  });
}

sf_status sf_accumulator_clear(sf_accumulator* accumulator) {
  return caught([&] { state_of(accumulator).clear(); });
}

sf_status sf_accumulator_assign(sf_accumulator* to, const sf_accumulator* from) {
  return caught([&] {
    ExactState& state = state_of(to);
    require_alike(state, state_of(from));
    state.assign(state_of(from));
  });
}

sf_status sf_accumulator_add(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads) {
  return changed(accumulator, rows_at(elements, nullptr, rows, Way::added), threads, false);
}

sf_status sf_accumulator_subtract(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads) {
  return changed(accumulator, rows_at(elements, nullptr, rows, Way::taken_away), threads, false);
}

sf_status sf_accumulator_add_products(sf_accumulator* accumulator, const void* first, const void* second, uint64_t rows,
                                      uint32_t threads) {
  return changed(accumulator, rows_at(first, second, rows, Way::added), threads, true);
}

sf_status sf_accumulator_subtract_products(sf_accumulator* accumulator, const void* first, const void* second,
                                           uint64_t rows, uint32_t threads) {
  return changed(accumulator, rows_at(first, second, rows, Way::taken_away), threads, true);
}

sf_status sf_accumulator_add_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads) {
  return caught([&] { change_by_arrays(accumulator, arrays, threads, Way::added); });
}

sf_status sf_accumulator_subtract_arrays(sf_accumulator* accumulator, const sf_arrays* arrays, uint32_t threads) {
  return caught([&] { change_by_arrays(accumulator, arrays, threads, Way::taken_away); });
}

sf_status sf_accumulator_merge(sf_accumulator* into, const sf_accumulator* from) {
  return merged(into, from, Way::added);
}

sf_status sf_accumulator_unmerge(sf_accumulator* into, const sf_accumulator* from) {
  return merged(into, from, Way::taken_away);
}

sf_status sf_accumulator_negate(sf_accumulator* accumulator) {
  return caught([&] {
    ExactState& state = state_of(accumulator);
    require_room(state);
    state.negate();
  });
}

sf_status sf_accumulator_compare(const sf_accumulator* a, const sf_accumulator* b, sf_order* orders) {
  return caught([&] {
    const ExactState& left = state_of(a);
    const ExactState& right = state_of(b);
    require_alike(left, right);
    require_address(orders, "the order");
    for (Count column = 0; column < left.shape().columns; ++column)
      orders[column] = static_cast<sf_order>(left.compare(right, column));
  });
}

sf_status sf_accumulator_round(const sf_accumulator* accumulator, sf_operation operation, sf_type type, void* values) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    const Operation ending = ending_of(state, number(operation));
    const Type result = floating(number(type), "results");
    require_address(values, "the result");
    state.round(ending, result, static_cast<std::byte*>(values));
  });
}

sf_status sf_accumulator_write(const sf_accumulator* accumulator, void* bytes, uint64_t capacity, uint64_t* size) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    require_address(size, "the size");
    *size = file_bytes(state);
    if (bytes == nullptr && capacity == 0) return;
    require_address(bytes, "the accumulator's content");
    if (capacity < *size)
      refuse("room for " + std::to_string(capacity) + " bytes (the accumulator needs " + std::to_string(*size) +
             " bytes), give more room");
    write_file(state, {static_cast<std::byte*>(bytes), *size});
  });
}

sf_status sf_accumulator_read(const void* bytes, uint64_t size, sf_accumulator** accumulator) {
  return caught([&] {
    require_address(accumulator, "the accumulator");
    if (bytes == nullptr && size > 0) refuse("no bytes (the pointer is null), give the bytes that were written");
    std::string wrong;
    auto state = steadfold::arithmetic::read_file({static_cast<const std::byte*>(bytes), size}, wrong);
    if (state == nullptr) refuse(wrong);
    *accumulator = made(std::move(state)).release();
  });
}

uint64_t sf_accumulator_packed_size(const sf_accumulator* accumulator) {
  return accumulator == nullptr ? 0 : message_bytes(accumulator->state->shape());
}

sf_status sf_accumulator_pack(const sf_accumulator* accumulator, void* packed, uint64_t size) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    require_address(packed, "the packed accumulator");
    require_size(state, size);
    write_message(state, {static_cast<std::byte*>(packed), size});
  });
}

sf_status sf_accumulator_unpack(sf_accumulator* accumulator, const void* packed, uint64_t size) {
  return caught([&] {
    ExactState& state = state_of(accumulator);
    if (packed == nullptr) refuse("no packed accumulator (the pointer is null), give the bytes that were received");
    require_size(state, size);
    std::string wrong;
    if (!read_message({static_cast<const std::byte*>(packed), size}, state, wrong)) refuse(wrong);
  });
}

void sf_accumulator_merge_packed(const void* from, void* into, uint64_t size) {
  if (from == nullptr || into == nullptr) return;
  steadfold::arithmetic::merge_messages({static_cast<const std::byte*>(from), size},
                                        {static_cast<std::byte*>(into), size});
}

sf_status sf_accumulator_merge_ranks(sf_accumulator* accumulator, sf_group* group) {
  std::vector<std::uint64_t> packed;
  std::uint64_t bytes = sf_accumulator_packed_size(accumulator);
  const sf_status status = caught([&] {
    require(accumulator);
    packed.resize(bytes / sizeof(std::uint64_t));
    if (sf_accumulator_pack(accumulator, packed.data(), bytes) != SF_OK) refuse(sf_error_text());
  });
  if (status != SF_OK) return sf_group_refuse(group, status, sf_error_text());
  sf_call call = sf_call_default();
  call.operation = SF_USER;
  call.type = call.result_type = SF_BYTES;
  call.element_bytes = bytes;
  call.user = merge_over_right;
  call.context = &bytes;
  call.operator_name = "sf_accumulator_merge_ranks";
  call.commutative = call.never_fails = call.writes_right = 1;
  call.layout = SF_ROW_PER_RANK;
  call.rows = 1;
  const sf_status merged = sf_group_reduce(&call, packed.data(), nullptr, packed.data(), group);
  return merged == SF_OK ? sf_accumulator_unpack(accumulator, packed.data(), bytes) : merged;
}
}
