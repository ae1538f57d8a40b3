#include "group/contribution.hpp"

#include <cstring>
#include <numeric>

namespace steadfold::group {

using call::Collective;
using call::Failure;
using call::LayoutKind;
using call::Missing;
using order::Index;

namespace {

/// Returns whether the ranks need no agreement on the layout: this rank knows the indices of its rows, or the indices
/// do not affect the bits.
bool knows_its_rows(const Call& call, const Description& description) {
  const bool is_found_out = call.layout == LayoutKind::anywhere || call.layout == LayoutKind::rank_order;
  return !needs_indices(description) || !is_found_out;
}

/// Removes the initial value from the call, so that the call shares shapes and plans with calls that have another
/// initial value, or none.
std::unique_ptr<call::InitialValue> taken_initial(Call& call) {
  std::unique_ptr<call::InitialValue> initial = call::InitialValue::of(call);
  call.method = resolved_method(call);
  call.initial = {};
  return initial;
}

}  // namespace

void Contributor::require_data(const Call& call, const Description& description, const Data& data) const {
  const bool is_due = gets_result(description, call.blocks, rank_);
  const Missing lacked = missing(description, call.rows, data, is_due);
  if (lacked != Missing::nothing) throw failure_of(lacked, call.operation, call.rows);
}

bool Contributor::may_use_handshake(const Contribution& own) const {
  const Description& description = own.shape->description;
  // A first sweep needs two reductions, one after the other.
  if (has_first_sweep(description)) return false;
  if (is_scan(own.call.collective)) return false;
  // In a plan the ranks know whether there are rows.
  if (own.initial && !own.initial->is_kept_without_rows(own.shape->op)) return false;
  if (!means_.forced_schedule.empty() || !asked_schedule(own.call).empty()) return false;
  return knows_its_rows(own.call, description) && own.shape->fits_handshake(own.call.intervals);
}

void Contributor::build(Contribution& own, const Data& data, HandshakeState& state) {
  const Call& call = own.call;
  if (call.threads > pool_.size()) pool_.resize(call.threads);
  // Allocated here, while this rank can still tell the other ranks of a failure.
  state.values.resize(2 * own.shape->kind->value_bytes());
  own.partial_bytes =
      own.shape->lifter.lift(own.shape->rows_of(call, data), pool_, call.threads, state.handshake.partial());
  own.header.status = arithmetic::header_of(state.handshake.partial()).status;
  if (own.header.status == Status::operator_failed) own.failure = call::operator_failure();
  if (own.header.status == Status::invalid_argument && own.shape->description.deals_rows())
    own.failure = call::label_failure(own.shape->strides, operands_of(own.shape->description, data), call.rows);
}

/// Sets the shape of the call, and the digest that the ranks compare. `description` describes the call.
void Contributor::describe_call(Contribution& own, Description& description) {
  const std::uint64_t hash_of_initial = description.initial;
  if (hash_of_initial != 0) {
    own.initial = taken_initial(own.call);
    description = describe(own.call);
  }
  if (own.call.columns > 0) own.shape = shapes_.of(own.call, description);
  own.header.digest = (own.shape ? own.shape->digest : digest_of(description)) ^ hash_of_initial;
}

void Contributor::prepare(Contribution& own, const Data& data, OfferedPlans& offered, HandshakeState& state) {
  if (!own.shape) return;
  if (own.call.operation == arithmetic::Operation::user) own.shape->op = own.call.user;
  own.shape->stand_as(own.call);
  own.ways = plans_.offer(own.shape->description, own.call, offered);
  if (own.ways != no_way || !may_use_handshake(own)) return;
  own.ways = in_the_handshake;
  build(own, data, state);  // if the layout is wrong, `diagnose` describes the error in more detail
}

Contribution Contributor::contribution_of(Call& call, call::HeldArguments& arguments, const Data& data,
                                          const std::optional<Failure>& failure, OfferedPlans& offered,
                                          HandshakeState& state) {
  Contribution own{.call = call, .failure = failure};
  Description description;
  try {
    fill_defaults(call, arguments, rank_, rank_count_);
    description = describe(call);
    if (failure) throw Failure(*failure);
    validate(call, rank_count_);
    require_data(call, description, data);
    describe_call(own, description);
    prepare(own, data, offered, state);
  } catch (...) {
    own.failure = call::caught_failure(own.header.status);
  }
  if (own.failure) own.header = {.status = own.failure->status(), .digest = digest_of(description)};
  if (own.header.status != Status::ok) own.ways = no_way;
  return own;
}

Status Contributor::finish_here(const Contribution& own, HandshakeState& state, std::span<const std::byte> partial) {
  const Bytes value_bytes = own.shape->kind->value_bytes();
  std::byte* const values = state.values.data();
  std::byte* const spare = values + value_bytes;
  return own.shape->kind->finish_piece(partial, own.call.element_count, values, spare, state.finish.begun());
}

/// Returns the columns of which this rank gets the result.
order::Interval Contributor::own_columns(const Call& call) const {
  if (call.collective != Collective::reduce_scatter) return {0, call.columns};
  const auto before = call.blocks.first(static_cast<std::size_t>(rank_));
  const Count begin = std::accumulate(before.begin(), before.end(), Count{0});
  return {begin, begin + call.blocks[before.size()]};
}

void Contributor::take_initial(Contribution& own, const Data& data, bool is_none) const {
  if (!own.initial) return;
  const bool is_first_of_exscan = own.call.collective == Collective::exscan && rank_ == 0;
  if (is_first_of_exscan ? data.result == nullptr : !gets_result(own.shape->description, own.call.blocks, rank_))
    return;
  const Count columns = own_columns(own.call).size();
  if (is_none || is_first_of_exscan)
    own.initial->write(own.shape->op, data.result, columns);
  else if (own.initial->combine(own.shape->op, data.result, columns) != Status::ok)
    throw call::operator_failure();
}

void Contributor::deliver(const Contribution& own, const HandshakeState& state, const Data& data) const {
  const Call& call = own.call;
  const Bytes column_bytes = own.shape->kind->value_bytes() / call.columns;
  const order::Interval columns = own_columns(call);
  std::memcpy(data.result, state.values.data() + columns.begin * column_bytes, columns.size() * column_bytes);
}

}  // namespace steadfold::group
