// The C functions of accumulators.
// Cost: that of arithmetic/exact_state; some 10 ns on the way in and out. Source: ours.
#include "steadfold/steadfold_accumulator.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "arithmetic/exact_state_bytes.hpp"
#include "arithmetic/operator.hpp"
#include "capi/boundary.hpp"
#include "execution/thread_team.hpp"

using steadfold::Status;
using steadfold::agreement::Failure;
using steadfold::arithmetic::Bytes;
using steadfold::arithmetic::Count;
using steadfold::arithmetic::ExactOperation;
using steadfold::arithmetic::ExactState;
using steadfold::arithmetic::ExactType;
using steadfold::arithmetic::Order;
using steadfold::arithmetic::StateShape;
using steadfold::arithmetic::Way;
using steadfold::capi::caught;
using steadfold::capi::number;

static_assert(SF_LESS == static_cast<int>(Order::less) && SF_EQUAL == static_cast<int>(Order::equal) &&
              SF_GREATER == static_cast<int>(Order::greater) && SF_UNORDERED == static_cast<int>(Order::unordered));

struct sf_accumulator final {
  explicit sf_accumulator(std::unique_ptr<ExactState> made)
      : state(std::move(made)),
        row_bytes(state->shape().columns * element_bytes(state->shape())),
        most_rows((~Count{0} >> 1) / row_bytes) {}

  std::unique_ptr<ExactState> state;
  const Bytes row_bytes;
  const Count most_rows;  // that memory holds
};

namespace {

constexpr Count fewest_per_thread = 1024;

[[noreturn]] void refuse(const std::string& text) { throw Failure(Status::invalid_argument, text); }

void require_place(const void* place, const char* what) {
  if (place == nullptr) refuse(std::string(what) + " has nowhere to go (its address is null), give one");
}

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
         (shape.factors == 1 ? "" : "products of ") + (shape.type == ExactType::f32 ? "floats" : "doubles");
}

void require_alike(const ExactState& a, const ExactState& b) {
  if (a.shape() == b.shape()) return;
  refuse("accumulators of different shapes (" + text_of(a.shape()) + ", and " + text_of(b.shape()) +
         "), make them with the same type, terms and columns");
}

void require_room(const ExactState& state) {
  if (state.has_room()) return;
  throw Failure(Status::unsupported,
                "the accumulator is full (" + std::to_string(state.rows()) +
                    " rows; there is room for 2^62 of them, and for sums up to 2^72 of the greatest terms), look for a "
                    "loop that merges it with itself");
}

ExactType floating(unsigned type, const char* what) {
  if (type == SF_F64) return ExactType::f64;
  if (type == SF_F32) return ExactType::f32;
  if (type > SF_FLOAT128)
    refuse("type " + std::to_string(type) + " is unknown (the last is " + std::to_string(SF_FLOAT128) +
           "), take one of sf_type");
  throw Failure(Status::unsupported, std::string(what) + " of " +
                                         std::string(name_of(static_cast<steadfold::arithmetic::Type>(type))) +
                                         " are not offered (accumulators take SF_F64 and SF_F32), convert them");
}

std::unique_ptr<sf_accumulator> made(std::unique_ptr<ExactState> state) {
  return std::make_unique<sf_accumulator>(std::move(state));
}

/// Rows that are to be added or subtracted.
struct Rows {
  const std::byte* first;
  const std::byte* second;
  Count count;
  Way way;

  Rows part(Count begin, Count end, Bytes row_bytes) const noexcept {
    return {first + begin * row_bytes, second == nullptr ? nullptr : second + begin * row_bytes, end - begin, way};
  }
};

void add(ExactState& state, const Rows& rows) noexcept { state.add(rows.first, rows.second, rows.count, rows.way); }

/// Every thread adds a part to a state of its own. These are merged before anything is changed that may lack room.
void add_by_threads(ExactState& state, const Rows& rows, std::uint32_t threads, Bytes row_bytes) {
  const Count columns = state.shape().columns;
  const Count worth_it = rows.count / std::max<Count>(fewest_per_thread / columns, 1);
  const auto wanted = static_cast<unsigned>(std::min<Count>(threads, std::max<Count>(worth_it, 1)));
  if (wanted == 1) return add(state, rows);
  steadfold::execution::ThreadTeam team;
  team.resize(wanted);
  const Count members = team.size();
  std::vector<std::unique_ptr<ExactState>> parts(members);
  for (auto& part : parts) part = ExactState::make(state.shape());
  team.run(team.size(), [&](unsigned member) {
    add(*parts[member],
        rows.part(rows.count / members * member + std::min<Count>(member, rows.count % members),
                  rows.count / members * (member + 1) + std::min<Count>(member + 1, rows.count % members), row_bytes));
  });
  for (Count i = 1; i < members; ++i) parts[0]->merge(*parts[i], Way::added);
  state.merge(*parts[0], Way::added);
}

void change(sf_accumulator* accumulator, const Rows& rows, std::uint32_t threads, bool has_second) {
  ExactState& state = state_of(accumulator);
  if (has_second && state.shape().factors == 1)
    refuse("products for an accumulator of elements (it holds " + text_of(state.shape()) +
           "), make it with SF_PRODUCTS");
  if (rows.count == 0) return;
  if (rows.first == nullptr || (has_second && rows.second == nullptr))
    refuse("no elements (the pointer is null) for " + std::to_string(rows.count) + " rows, give them");
  if (rows.count > accumulator->most_rows)
    refuse(std::to_string(rows.count) + " rows of " + std::to_string(accumulator->row_bytes) +
           " bytes (no memory holds them), check the number");
  require_room(state);
  if (rows.count < steadfold::arithmetic::fewest_for_kernels) return add(state, rows);  // by integers
  const steadfold::arithmetic::PromisedEnvironment environment;
  threads <= 1 ? add(state, rows) : add_by_threads(state, rows, threads, accumulator->row_bytes);
}

sf_status changed(sf_accumulator* accumulator, const void* first, const void* second, Count rows, std::uint32_t threads,
                  bool has_second, Way way) noexcept {
  return caught([&] {
    change(accumulator, {static_cast<const std::byte*>(first), static_cast<const std::byte*>(second), rows, way},
           threads, has_second);
  });
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

ExactOperation ending_of(const ExactState& state, unsigned operation) {
  if (operation == SF_SUM) return ExactOperation::sum;
  if (operation == SF_MEAN && state.rows() > 0) return ExactOperation::mean;
  if (operation == SF_MEAN)
    throw Failure(Status::empty,
                  "no mean (there are " + std::to_string(state.rows()) + " rows), add rows before it is taken");
  if (operation == SF_NORM2 && state.shape().factors == 2) return ExactOperation::norm2;
  throw Failure(Status::unsupported, "operation " + std::to_string(operation) + " of " + text_of(state.shape()) +
                                         " is not offered (sums, means, and of products norms are), take SF_SUM");
}

void require_size(const ExactState& state, std::uint64_t size) {
  const Bytes due = message_bytes(state.shape());
  if (size != due)
    refuse(std::to_string(size) + " bytes for a packed accumulator (it has " + std::to_string(due) +
           "), ask sf_accumulator_packed_size");
}

}  // namespace

extern "C" {

sf_status sf_accumulator_create(sf_type type, sf_terms terms, uint64_t columns, sf_accumulator** accumulator) {
  return caught([&] {
    require_place(accumulator, "the accumulator");
    const ExactType of = floating(number(type), "sums");
    if (number(terms) > SF_PRODUCTS)
      refuse("terms " + std::to_string(number(terms)) + " are unknown (the last are " + std::to_string(SF_PRODUCTS) +
             "), take SF_ELEMENTS or SF_PRODUCTS");
    constexpr std::uint64_t most = std::uint64_t{1} << 48;
    if (columns < 1 || columns > most)
      refuse("an accumulator of " + std::to_string(columns) + " columns (there may be 1 to " + std::to_string(most) +
             "), give one per sum");
    *accumulator = made(ExactState::make({of, number(terms) == SF_PRODUCTS ? 2 : 1, columns})).release();
  });
}

sf_status sf_accumulator_copy(const sf_accumulator* from, sf_accumulator** copy) {
  return caught([&] {
    require_place(copy, "the copy");
    *copy = made(state_of(from).copy()).release();
  });
}

void sf_accumulator_free(sf_accumulator* accumulator) { delete accumulator; }

sf_status sf_accumulator_describe(const sf_accumulator* accumulator, sf_accumulator_shape* shape, int64_t* rows) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    const StateShape& of = state.shape();
    if (shape != nullptr)
      *shape = {of.type == ExactType::f32 ? SF_F32 : SF_F64, of.factors == 2 ? SF_PRODUCTS : SF_ELEMENTS, of.columns};
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
  return changed(accumulator, elements, nullptr, rows, threads, false, Way::added);
}

sf_status sf_accumulator_subtract(sf_accumulator* accumulator, const void* elements, uint64_t rows, uint32_t threads) {
  return changed(accumulator, elements, nullptr, rows, threads, false, Way::taken_away);
}

sf_status sf_accumulator_add_products(sf_accumulator* accumulator, const void* first, const void* second, uint64_t rows,
                                      uint32_t threads) {
  return changed(accumulator, first, second, rows, threads, true, Way::added);
}

sf_status sf_accumulator_subtract_products(sf_accumulator* accumulator, const void* first, const void* second,
                                           uint64_t rows, uint32_t threads) {
  return changed(accumulator, first, second, rows, threads, true, Way::taken_away);
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
    require_place(orders, "the order");
    for (Count column = 0; column < left.shape().columns; ++column)
      orders[column] = static_cast<sf_order>(left.compare(right, column));
  });
}

sf_status sf_accumulator_round(const sf_accumulator* accumulator, sf_operation operation, sf_type type, void* values) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    const ExactOperation ending = ending_of(state, number(operation));
    const ExactType result = floating(number(type), "results");
    require_place(values, "the result");
    state.round(ending, result, static_cast<std::byte*>(values));
  });
}

sf_status sf_accumulator_write(const sf_accumulator* accumulator, void* bytes, uint64_t capacity, uint64_t* size) {
  return caught([&] {
    const ExactState& state = state_of(accumulator);
    require_place(size, "the size");
    *size = file_bytes(state);
    if (bytes == nullptr && capacity == 0) return;
    require_place(bytes, "the bytes");
    if (capacity < *size)
      refuse("room for " + std::to_string(capacity) + " bytes (the accumulator has " + std::to_string(*size) +
             "), give more");
    write_file(state, {static_cast<std::byte*>(bytes), *size});
  });
}

sf_status sf_accumulator_read(const void* bytes, uint64_t size, sf_accumulator** accumulator) {
  return caught([&] {
    require_place(accumulator, "the accumulator");
    if (bytes == nullptr && size > 0) refuse("no bytes (the pointer is null), give those that were written");
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
    require_place(packed, "the packed accumulator");
    require_size(state, size);
    write_message(state, {static_cast<std::byte*>(packed), size});
  });
}

sf_status sf_accumulator_unpack(sf_accumulator* accumulator, const void* packed, uint64_t size) {
  return caught([&] {
    ExactState& state = state_of(accumulator);
    if (packed == nullptr) refuse("no packed accumulator (the pointer is null), give what was received");
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
}
