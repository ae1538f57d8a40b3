// The calls of a group, from their handshake to their end.
// Rank order and cost: those of the call.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "session/group.hpp"
#include "session/telling.hpp"

namespace steadfold::session {

using agreement::Collective;
using agreement::LayoutKind;
using agreement::Missing;
using execution::in_the_handshake;
using execution::no_way;
using order::Index;

namespace {

/// Whether no agreement on a layout is needed: this rank knows the indices of its rows, or they do not matter.
bool knows_its_rows(const Call& call, const Description& description) {
  const bool is_found_out = call.layout == LayoutKind::anywhere || call.layout == LayoutKind::rank_order;
  return !needs_indices(description) || !is_found_out;
}

/// What ranks compare in the handshake of a call that is no reduction.
constexpr std::uint64_t digest_of(Asked asked) noexcept {
  return 0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(asked) + 1);
}

}  // namespace

/// A place for the length of a call.
class Group::PlaceInUse {
 public:
  explicit PlaceInUse(HandshakePlace& place) noexcept : place_(place) {}
  ~PlaceInUse() { place_.next += ring; }
  PlaceInUse(const PlaceInUse&) = delete;
  PlaceInUse& operator=(const PlaceInUse&) = delete;

 private:
  HandshakePlace& place_;
};

/// The call with everything spelt out: MPI's shape, the rows of a grid, one interval if no index matters, equal blocks
/// if none are given.
Call Group::placed(const Call& given, DefaultArguments& defaults) const {
  Call call = given;
  const auto ranks = static_cast<Count>(rank_count());
  if (call.collective == Collective::reduce_scatter && call.blocks.empty() && call.columns % ranks == 0) {
    defaults.equal_blocks.assign(ranks, call.columns / ranks);
    call.blocks = defaults.equal_blocks;
  }
  if (call.layout == LayoutKind::intervals) return call;
  defaults.mine.assign(1, {0, call.rows});
  if (call.layout == LayoutKind::row_per_rank) {
    defaults.mine.front() = {static_cast<Index>(rank()), static_cast<Index>(rank()) + 1};
    call.element_count = ranks;
  }
  if (call.layout == LayoutKind::grid && call.grid != nullptr && !call.grid->fault(rank_count())) {
    defaults.grid = call.grid->resolved(rank_count());
    call.grid = &defaults.grid;
    if (call.element_count == arithmetic::unknown_count) call.element_count = defaults.grid.element_count();
    const Count count = defaults.grid.count(rank());
    if (count == call.rows && needs_indices(describe(call)))
      defaults.grid.list(rank(), defaults.mine);
    else  // what a wrong number of rows would list may fill the memory
      defaults.mine.front() = {0, count};
  }
  call.intervals = defaults.mine;
  return call;
}

void Group::require_data(const Contribution& own, const Data& data) const {
  const Call& call = own.call;
  const bool is_due = gets_result(own.description, call.blocks, rank());
  const Missing lacked = missing(own.description, call.rows, data, is_due);
  if (lacked != Missing::nothing) throw failure_of(lacked, call.operation, call.rows);
}

bool Group::may_use_handshake(const Contribution& own) const {
  if (own.shape->kind->survey_bytes() > 0) return false;  // two reductions, one after the other
  if (is_scan(own.call.collective)) return false;
  if (!means_.forced_schedule.empty() || !asked_schedule(own.call).empty()) return false;
  return knows_its_rows(own.call, own.description) && own.shape->fits_handshake(own.call.intervals);
}

void Group::build(Contribution& own, const Data& data, HandshakePlace& place) {
  const Call& call = own.call;
  if (call.threads > team_.size()) team_.resize(call.threads);
  place.values.resize(2 * own.shape->kind->value_bytes());  // now, while other ranks can be told that there is no room
  own.partial_bytes =
      own.shape->lifter.lift(own.shape->rows_of(call, data), team_, call.threads, place.handshake.partial());
  own.header.status = arithmetic::header_of(place.handshake.partial()).status;
  if (own.header.status == Status::operator_failed) own.failure = agreement::operator_failure();
  if (own.header.status == Status::invalid_argument && own.description.deals_rows())
    own.failure = agreement::label_failure(own.shape->strides, operands_of(own.description, data), call.rows);
}

/// Checks the call, and finds ways in which it can go on.
void Group::prepare(Contribution& own, StartedCall& started, HandshakePlace& place) {
  if (own.failure) throw Failure(*own.failure);
  validate(own.call, rank_count());
  require_data(own, started.data_);
  if (own.call.columns > 0) own.shape = shapes_.of(own.call, own.description);
  own.header.digest = own.shape ? own.shape->digest : digest_of(own.description);
  if (!own.shape) return;
  if (own.call.operation == arithmetic::Operation::user) own.shape->op = own.call.user;
  own.shape->stand_as(own.call);
  own.ways = plans_.offer(own.description, own.call, started.offered_);
  if (own.ways != no_way || !may_use_handshake(own)) return;
  own.ways = in_the_handshake;
  build(own, started.data_, place);  // of a layout's fault `diagnose` says more
}

Group::Contribution Group::contribution_of(StartedCall& started, HandshakePlace& place) {
  Contribution own{.failure = started.failure_};
  try {
    own.call = placed(started.calls_.front(), place.defaults);
    own.description = describe(own.call);
    prepare(own, started, place);
  } catch (...) {
    own.failure = agreement::caught_failure(own.header.status);
  }
  if (own.failure) own.header = {.status = own.failure->status(), .digest = digest_of(own.description)};
  if (own.header.status != Status::ok) own.ways = no_way;
  return own;
}

/// Finishes the handshake's partial on every rank, so that all ranks come to the same status; says nothing while
/// `place.finish` has more.
Status Group::finish_here(const Contribution& own, HandshakePlace& place, std::span<const std::byte> partial) const {
  const Bytes value_bytes = own.shape->kind->value_bytes();
  std::byte* const values = place.values.data();
  std::byte* const spare = values + value_bytes;
  if (own.shape->op.may_postpone)
    return own.shape->kind->in_pieces()->finish_piece(partial, own.call.element_count, values, spare,
                                                      place.finish.begun());
  return own.shape->kind->finish(partial, own.call.element_count, values, spare);
}

/// Copies what was finished here to the result: all of it, or this rank's columns.
void Group::deliver(const Contribution& own, const HandshakePlace& place, const Data& data) const {
  const Call& call = own.call;
  const Bytes column_bytes = own.shape->kind->value_bytes() / call.columns;
  order::Interval columns{0, call.columns};
  if (call.collective == Collective::reduce_scatter) {
    const auto before = call.blocks.first(static_cast<std::size_t>(rank()));
    columns.begin = std::accumulate(before.begin(), before.end(), Count{0});
    columns.end = columns.begin + call.blocks[before.size()];
  }
  std::memcpy(data.result, place.values.data() + columns.begin * column_bytes, columns.size() * column_bytes);
}

Task<> Group::carry_out_reduction(Flow& flow, StartedCall& started) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  HandshakePlace& place = place_of(started);
  while (place.next != started.number_) co_await GiveWay{};
  const PlaceInUse taken(place);
  Contribution own = contribution_of(started, place);
  const Call& call = own.call;
  const Data& data = started.data_;
  const bool is_users = own.shape && call.operation == arithmetic::Operation::user;

  place.handshake.take(own.header, own.ways, coverage_of(call), own.shape ? own.shape->kind.get() : nullptr,
                       own.partial_bytes, is_users && call.user.may_postpone);
  place.meeting.begin();
  const bool is_alone = is_alone_with(started);
  while (!place.meeting.advance()) {
    if (is_alone) continue;
    co_await GiveWay{};
    if (is_users) own.shape->op = call.user;  // other calls of this shape have contexts of their own
  }

  const auto outcome = place.meeting.outcome();
  Status status = place.meeting.status();
  const Ways ways = Handshake::ways_of(outcome);
  const bool is_here = status == Status::ok && (ways & in_the_handshake) != 0;
  if (is_here && call.layout == LayoutKind::intervals && !Handshake::coverage_of(outcome).whole()) status = Status::gap;
  const bool is_finished = is_here && status == Status::ok;
  if (is_finished) status = finish_here(own, place, Handshake::partial_of(outcome));
  while (place.finish.more) {
    co_await GiveWay{};
    own.shape->op = call.user;
    status = finish_here(own, place, Handshake::partial_of(outcome));
  }
  if (place.handshake.operator_failed() || (is_finished && status == Status::operator_failed))
    own.failure = agreement::operator_failure();
  // All that can differ between ranks by now is that an operator failed in a merge whose outcome went no further; where
  // all go by a plan, nobody merged.
  const bool may_differ = status <= Status::operator_failed && (ways == no_way || (ways & in_the_handshake) != 0);
  if (own.shape && own.description.may_fail && may_differ) {
    co_await turn_of(flow, started);
    status = co_await agreed_status(flow, status);
  }
  if (status != Status::ok) co_await diagnose(flow, started, &call, status, own.failure);
  if (call.columns == 0) co_return;
  if (!is_here)
    co_await run_plan(flow, started, own, ways);
  else if (gets_result(own.description, call.blocks, rank()))
    deliver(own, place, data);
}

Task<> Group::run_plan(Flow& flow, StartedCall& started, const Contribution& own, Ways ways) {
  co_await turn_of(flow, started);
  const Call& call = own.call;
  std::shared_ptr<CachedPlan> made;
  if (ways == no_way) {
    const std::span calls(&call, 1);
    Agreement agreed = co_await settle(flow, Asked::reduction, calls);
    std::unique_ptr<Plan> plan = co_await make_plan(flow, std::move(agreed), calls, in_turn_, &made);
    made->plan = std::move(plan);
    plans_.keep(made);
  }
  Plan& plan = made != nullptr ? *made->plan : PlanCache::taken(ways, started.offered_);
  if (call.operation == arithmetic::Operation::user) plan.use_operator(call.user);
  plan.use_threads(call.threads);
  if (call.array != nullptr) plan.use_array(*call.array);
  plan.start(std::span(&started.data_, 1), started.caller_stays_);
  const bool is_alone = is_alone_with(started);
  while (!plan.test())
    if (!is_alone) co_await GiveWay{};
  if (plan.status() != Status::ok) throw plan.failure();
}

/// The handshake of a call that is no reduction: whether all ranks make it, and bring the same digest.
Task<Status> Group::meet(Flow& flow, StartedCall& started, Header mine) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  HandshakePlace& place = place_of(started);
  while (place.next != started.number_) co_await GiveWay{};
  const PlaceInUse taken(place);
  mine.digest ^= digest_of(started.asked_);
  place.handshake.take(mine, no_way, {}, nullptr, 0);
  place.meeting.begin();
  while (!place.meeting.advance()) co_await GiveWay{};
  co_return place.meeting.status();
}

/// The calls described, if they can be made. A bundle's calls share their messages: one root, one schedule.
std::vector<Description> Group::usable(std::span<const Call> calls) const {
  if (calls.empty())
    throw Failure(Status::invalid_argument, "no calls (the bundle is empty), add one before it is bound");
  std::vector<Description> descriptions;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string where = agreement::in_bundle(i, calls.size());
    try {
      validate(calls[i], rank_count());
      const Description description = descriptions.emplace_back(describe(calls[i]));
      make_kind(description, operator_of(description, calls[i].user), calls[i].columns);
    } catch (const Failure& failure) {
      throw Failure(failure.status(), where + failure.what());
    }
    if (calls.size() > 1 && calls[i].columns == 0)
      throw Failure(Status::invalid_argument, where + "0 columns (a bundle's calls have some), leave the call out");
    if (calls.size() > 1 && calls[i].collective == Collective::reduce_scatter)
      throw Failure(Status::unsupported,
                    where + "reduce_scatter (a bundle's calls are not cut into blocks), bind it apart");
    if (agreement::asked_name(calls[i].collective) != agreement::asked_name(calls[0].collective))
      throw Failure(Status::invalid_argument,
                    where + "another collective than that of call 0 (a bundle has one), bind it apart");
    if (calls[i].root != calls[0].root || asked_schedule(calls[i]) != asked_schedule(calls[0]))
      throw Failure(Status::invalid_argument,
                    where + "another root or schedule than that of call 0 (a bundle has one of each), make them equal");
  }
  return descriptions;
}

Task<> Group::carry_out_bind(Flow& flow, StartedCall& started) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  std::vector<DefaultArguments> defaults;
  std::vector<Call> calls;
  Header mine;
  std::optional<Failure> failure;
  try {
    defaults.resize(started.calls_.size());
    for (std::size_t i = 0; i < defaults.size(); ++i) calls.push_back(placed(started.calls_[i], defaults[i]));
    mine.digest = digest_of(usable(calls));
  } catch (...) {
    failure = agreement::caught_failure(mine.status);
  }
  const Status met = co_await meet(flow, started, mine);
  co_await turn_of(flow, started);
  if (met != Status::ok) {
    co_await agree(flow, Asked::bind, calls, failure ? &*failure : nullptr);
    throw Failure(met, agreement::text_of(met));
  }
  Agreement agreed = co_await settle(flow, Asked::bind, calls);
  const std::shared_ptr<transport::Transport> transport = co_await transport_of(flow, agreed);
  started.plan_ = co_await make_plan(flow, std::move(agreed), calls, transport);
}

Task<> Group::carry_out_rank_order(Flow& flow, StartedCall& started) {
  const Status met = co_await meet(flow, started, {});
  if (met != Status::ok) co_await diagnose(flow, started, nullptr, met, std::nullopt);
  co_await turn_of(flow, started);
  const std::vector<std::byte> mine = told_by([&] { return std::span(&started.rows_, 1); });
  const auto gathered = co_await gather(flow, mine);
  const auto all = parts_of(gathered);
  RankOrder found{};
  for (Rank i = 0; i < rank_count(); ++i) {
    Count count = 0;
    std::memcpy(&count, all[static_cast<std::size_t>(i)].data(), sizeof count);
    if (i == rank()) found.mine = {found.element_count, found.element_count + count};
    found.element_count = agreement::sum_of_rows(found.element_count, count);
  }
  started.rank_order_ = found;
}

Task<> Group::carry_out_barrier(Flow& flow, StartedCall& started) {
  const Status met = co_await meet(flow, started, {});
  if (met != Status::ok) co_await diagnose(flow, started, nullptr, met, std::nullopt);
}

}  // namespace steadfold::session
