// Carries out the calls of a group, from the handshake to the result.
#include <cstring>

#include "group/group.hpp"
#include "group/telling.hpp"

namespace steadfold::group {

using call::Collective;
using call::LayoutKind;

namespace {

/// Returns the digest that ranks compare in the handshake of a call that is not a reduction.
constexpr std::uint64_t digest_of(Asked asked) noexcept {
  return 0x9E3779B97F4A7C15u * (static_cast<std::uint64_t>(asked) + 1);
}

}  // namespace

Task<> Group::carry_out_reduction(Flow& flow, StartedCall& started) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  HandshakeState& state = state_of(started);
  while (state.next != started.number_) co_await GiveWay{};
  const HandshakeInUse taken(state);
  Contribution own = contributor_.contribution_of(started.calls_.front(), started.arguments_.front(), started.data_,
                                                  started.failure_, started.offered_, state);
  const Call& call = own.call;
  const Data& data = started.data_;
  const bool is_users = own.shape && call.operation == arithmetic::Operation::user;

  state.handshake.take(own.header, own.ways, plan::coverage_of(call), own.shape ? own.shape->kind.get() : nullptr,
                       own.partial_bytes);
  state.meeting.begin();
  const bool is_alone = is_alone_with(started);
  while (!state.meeting.advance()) {
    if (is_alone) continue;
    co_await GiveWay{};
    // Other calls of this shape may have other contexts for the user's operator.
    if (is_users) own.shape->op = call.user;
  }

  const auto outcome = state.meeting.outcome();
  Status status = state.meeting.status();
  const Ways ways = Handshake::ways_of(outcome);
  const bool is_here = status == Status::ok && (ways & in_the_handshake) != 0;
  if (is_here && call.layout == LayoutKind::intervals && !Handshake::coverage_of(outcome).whole()) status = Status::gap;
  const bool is_finished = is_here && status == Status::ok;
  if (is_finished) status = Contributor::finish_here(own, state, Handshake::partial_of(outcome));
  while (state.finish.more) {
    co_await GiveWay{};
    own.shape->op = call.user;
    status = Contributor::finish_here(own, state, Handshake::partial_of(outcome));
  }
  if (state.handshake.operator_failed() || (is_finished && status == Status::operator_failed))
    own.failure = call::operator_failure();
  // At this point ranks can differ only if an operator failed in a merge whose outcome did not reach all ranks. If all
  // ranks run a plan, no rank has merged.
  const bool may_differ = status <= Status::operator_failed && (ways == no_way || (ways & in_the_handshake) != 0);
  if (own.shape && own.shape->description.may_fail && may_differ) {
    co_await turn_of(flow, started);
    status = co_await coordinator_.agreed_status(flow, status);
  }
  bool is_none = is_here && status == Status::empty && own.initial != nullptr;  // no rank has rows
  if (status != Status::ok && !is_none) {
    if (own.initial) own.call.initial = own.initial->element();
    co_await diagnose(flow, started, &call, status, own.failure);
  }
  if (call.columns == 0) co_return;
  if (!is_here)
    is_none = co_await run_plan(flow, started, own, ways);
  else if (!is_none && gets_result(own.shape->description, call.blocks, rank()))
    contributor_.deliver(own, state, data);
  if (is_users) own.shape->op = call.user;
  contributor_.take_initial(own, data, is_none);
}

/// Runs a cached plan, or a plan that is made here. Returns whether a call with an initial value has no rows; without
/// an initial value this is an error.
Task<bool> Group::run_plan(Flow& flow, StartedCall& started, const Contribution& own, Ways ways) {
  co_await turn_of(flow, started);
  const Call& call = own.call;
  std::shared_ptr<CachedPlan> made;
  if (ways == no_way) {
    const std::span calls(&call, 1);
    Agreement agreed = co_await coordinator_.settle(flow, Asked::reduction, calls);
    std::unique_ptr<Plan> plan =
        co_await coordinator_.make_plan(flow, std::move(agreed), calls, coordinator_.in_turn(), &made);
    made->plan = std::move(plan);
    contributor_.plans().keep(made);
  }
  Plan& plan = made != nullptr ? *made->plan : PlanCache::taken(ways, started.offered_);
  if (call.operation == arithmetic::Operation::user) plan.use_operator(call.user);
  plan.use_threads(call.threads);
  if (call.array != nullptr) plan.use_array(*call.array);
  plan.start(std::span(&started.data_, 1), started.caller_stays_);
  const bool is_alone = is_alone_with(started);
  while (!plan.test())
    if (!is_alone) co_await GiveWay{};
  const bool is_none = own.initial != nullptr && (plan.status() == Status::empty || plan.rows_of_result() == 0);
  if (plan.status() != Status::ok && !(is_none && plan.status() == Status::empty)) throw plan.failure();
  co_return is_none;
}

/// Carries out the handshake of a call that is not a reduction: finds out whether all ranks make this call, with the
/// same digest.
Task<Status> Group::meet(Flow& flow, StartedCall& started, Header mine) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  HandshakeState& state = state_of(started);
  while (state.next != started.number_) co_await GiveWay{};
  const HandshakeInUse taken(state);
  mine.digest ^= digest_of(started.asked_);
  state.handshake.take(mine, no_way, {}, nullptr, 0);
  state.meeting.begin();
  while (!state.meeting.advance()) co_await GiveWay{};
  co_return state.meeting.status();
}

/// Returns the descriptions of the calls. Throws Failure if the calls cannot be bound. The calls of a bundle share
/// their messages, so they must have the same root and schedule.
std::vector<Description> Group::usable(std::span<const Call> calls) const {
  if (calls.empty())
    throw Failure(Status::invalid_argument, "no calls (the bundle is empty), add a call before you bind the bundle");
  std::vector<Description> descriptions;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string where = call::in_bundle(i, calls.size());
    try {
      validate(calls[i], rank_count());
      const Description description = descriptions.emplace_back(describe(calls[i]));
      make_kind(description, operator_of(description, calls[i].user), calls[i].columns);
    } catch (const Failure& failure) {
      throw Failure(failure.status(), where + failure.what());
    }
    if (calls.size() > 1 && calls[i].columns == 0)
      throw Failure(Status::invalid_argument,
                    where + "0 columns (every call of a bundle has at least one column), leave out the call");
    if (calls.size() > 1 && calls[i].collective == Collective::reduce_scatter)
      throw Failure(Status::unsupported,
                    where + "reduce_scatter (a bundle cannot divide results among ranks), bind this call separately");
    if (call::asked_name(calls[i].collective) != call::asked_name(calls[0].collective))
      throw Failure(Status::invalid_argument, where +
                                                  "a different collective than in the first call (all calls of a "
                                                  "bundle have the same collective), bind this call separately");
    if (calls[i].root != calls[0].root || asked_schedule(calls[i]) != asked_schedule(calls[0]))
      throw Failure(Status::invalid_argument, where +
                                                  "a different root or schedule than in the first call (all calls of a "
                                                  "bundle share both), use the same root and schedule");
  }
  return descriptions;
}

Task<> Group::carry_out_bind(Flow& flow, StartedCall& started) {
  if (!is_set_up_) co_await set_up_before(flow, started);
  std::vector<Call>& calls = started.calls_;
  Header mine;
  std::optional<Failure> failure;
  try {
    for (std::size_t i = 0; i < calls.size(); ++i) fill_defaults(calls[i], started.arguments_[i], rank(), rank_count());
    mine.digest = digest_of(usable(calls));
  } catch (...) {
    failure = call::caught_failure(mine.status);
  }
  const Status met = co_await meet(flow, started, mine);
  co_await turn_of(flow, started);
  if (met != Status::ok) {
    co_await coordinator_.agree(flow, Asked::bind, calls, failure ? &*failure : nullptr);
    throw Failure(met, call::text_of(met));
  }
  Agreement agreed = co_await coordinator_.settle(flow, Asked::bind, calls);
  const std::shared_ptr<transport::Transport> transport = co_await coordinator_.transport_of(flow, agreed);
  started.plan_ = co_await coordinator_.make_plan(flow, std::move(agreed), calls, transport);
}

Task<> Group::carry_out_rank_order(Flow& flow, StartedCall& started) {
  const Status met = co_await meet(flow, started, {});
  if (met != Status::ok) co_await diagnose(flow, started, nullptr, met, std::nullopt);
  co_await turn_of(flow, started);
  const std::vector<std::byte> mine = told_by([&] { return std::span(&started.rows_, 1); });
  const auto gathered = co_await coordinator_.gather(flow, mine);
  const auto all = parts_of(gathered);
  RankOrder found{};
  for (Rank i = 0; i < rank_count(); ++i) {
    Count count = 0;
    std::memcpy(&count, all[static_cast<std::size_t>(i)].data(), sizeof count);
    if (i == rank()) found.mine = {found.element_count, found.element_count + count};
    found.element_count = plan::sum_of_rows(found.element_count, count);
  }
  started.rank_order_ = found;
}

Task<> Group::carry_out_barrier(Flow& flow, StartedCall& started) {
  const Status met = co_await meet(flow, started, {});
  if (met != Status::ok) co_await diagnose(flow, started, nullptr, met, std::nullopt);
}

}  // namespace steadfold::group
