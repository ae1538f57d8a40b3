// Results with accumulators: every rank adds its rows, in parts or as an array, and removes some of the rows again.
// Then all ranks merge.
#include <memory>

#include "runner.hpp"

namespace steadfold::soak {
namespace {

using Accumulator = std::unique_ptr<sf_accumulator, void (*)(sf_accumulator*)>;

bool has_products(const Member& m) { return m.operation == SF_DOT || m.operation == SF_NORM2; }

/// Adds rows `begin` to `end` of the rank, or subtracts them.
sf_status change(sf_accumulator* to, const Member& m, const Data& data, std::uint64_t begin, std::uint64_t end,
                 bool adds) {
  const auto from = [&](const void* rows) {
    return static_cast<const std::byte*>(rows) + begin * m.columns * m.element_bytes();
  };
  const void* const first = from(data.first);
  if (!has_products(m)) return (adds ? sf_accumulator_add : sf_accumulator_subtract)(to, first, end - begin, 0);
  const void* const second = m.operation == SF_DOT ? from(data.second) : first;
  return (adds ? sf_accumulator_add_products : sf_accumulator_subtract_products)(to, first, second, end - begin, 0);
}

sf_status change(sf_accumulator* to, const Member& m, const sf_arrays& given, bool adds) {
  sf_arrays arrays = given;
  if (m.operation == SF_NORM2) arrays.factors = arrays.x;
  return (adds ? sf_accumulator_add_arrays : sf_accumulator_subtract_arrays)(to, &arrays, 0);
}

/// Writes the accumulator as bytes, reads these bytes, and replaces the accumulator by the one read.
sf_status read_again(Accumulator& accumulator) {
  std::uint64_t size = 0;
  sf_accumulator_write(accumulator.get(), nullptr, 0, &size);
  std::vector<std::byte> bytes(size);
  sf_status status = sf_accumulator_write(accumulator.get(), bytes.data(), size, &size);
  sf_accumulator* read = nullptr;
  if (status == SF_OK) status = sf_accumulator_read(bytes.data(), size, &read);
  if (status == SF_OK) accumulator.reset(read);
  return status;
}

}  // namespace

/// Returns the rank's first own error. The ranks merge in any case.
sf_status Runner::accumulated(const Member& m, const sf_call& call, const Data& data, bool may_undo) {
  sf_accumulator* made = nullptr;
  sf_status status = sf_accumulator_create(m.type, has_products(m) ? SF_PRODUCTS : SF_ELEMENTS, m.columns, &made);
  Accumulator accumulator(made, sf_accumulator_free);
  // An array is added as one part.
  const std::uint64_t rows = m.rows_of(rank_), cut = call.arrays != nullptr ? rows : own_.below(rows + 1);
  const auto change_rows = [&](std::uint64_t begin, std::uint64_t end, bool adds) {
    if (status != SF_OK) return;
    status = call.arrays != nullptr ? change(made, m, *call.arrays, adds) : change(made, m, data, begin, end, adds);
  };
  change_rows(0, cut, true);
  if (may_undo && own_.one_in(2)) {
    change_rows(0, cut, false);
    change_rows(0, cut, true);
  }
  if (call.arrays == nullptr) change_rows(cut, rows, true);
  if (status == SF_OK && own_.one_in(3)) status = read_again(accumulator);
  const sf_status merged = library_.merge_ranks(accumulator.get());
  if (status == SF_OK) status = merged;
  const sf_operation operation = m.operation == SF_DOT ? SF_SUM : m.operation;  // of products
  return status == SF_OK ? sf_accumulator_round(accumulator.get(), operation, m.result_type, data.result) : status;
}

void Runner::accumulate(const Case& made) {
  const Member& m = made.members.front();
  for (int run = 0; run < made.runs; ++run) {
    const auto prepared = preparation_.get(made.number, static_cast<std::uint64_t>(run));
    const Calls calls = calls_of(prepared, {0});
    Buffers buffers(*prepared, 0, rank_, nullptr, calls.placements.front().get());
    Data data = buffers.data();
    std::vector<std::byte> elsewhere(m.columns * m.result_bytes());  // every rank has a result
    if (!m.gets_result(rank_)) data.result = elsewhere.data();
    // An added infinity stays, and a subtracted infinity counts with the other sign: docs/guarantees.md.
    const bool may_undo = are_finite(m, prepared->elements.front());
    const sf_status status = accumulated(m, calls.calls.front(), data, may_undo);
    buffers.check(*prepared, status, status == SF_OK ? "" : library_.error_text(), tally_);
  }
}

}  // namespace steadfold::soak
