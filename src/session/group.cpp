#include "session/group.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "agreement/failure.hpp"
#include "schedule/checker.hpp"

namespace steadfold::session {

using agreement::Collective;
using agreement::LayoutKind;
using agreement::Missing;
using execution::in_the_handshake;
using execution::no_way;
using order::Index;

namespace {

constexpr std::size_t most_shapes = 64;  // per group; the oldest is dropped first
constexpr std::size_t most_plans = 16;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string forced_on_rank_0(transport::Transport& transport) {
  const char* const mine = std::getenv("STEADFOLD_SCHEDULE");
  return text_of(transport.gather_all(bytes_of(mine == nullptr ? "" : mine)).of(0));
}

/// Whether no agreement on a layout is needed: this rank knows the indices of its rows, or they do not matter.
bool knows_its_rows(const Call& call, const Description& description) {
  return !needs_indices(description) || call.layout == LayoutKind::intervals || call.layout == LayoutKind::row_per_rank;
}

order::Coverage coverage_of(const Call& call) {
  order::Coverage coverage;
  if (call.layout != LayoutKind::intervals) return coverage;
  for (const auto interval : call.intervals) coverage.add(interval);
  return coverage;
}

}  // namespace

Group::Group(std::shared_ptr<transport::Transport> transport, schedule::Rows rows)
    : transport_(std::move(transport)), rows_(rows), forced_schedule_(forced_on_rank_0(*transport_)) {
  const std::uint32_t tag = transport_->new_tags(2);
  std::string wrong;
  try {
    handshake_stage_.emplace(handshake_, *transport_, tag);
    status_stage_.emplace(status_exchange_, *transport_, tag + 1);
  } catch (const std::exception& error) {
    wrong = agreement::text_of(error);
  }
  connect(wrong);
}

/// The call with everything spelt out: MPI's shape, one interval if no index matters, equal blocks if none are given.
Call Group::placed(const Call& given, order::Interval& mine) {
  Call call = given;
  const auto ranks = static_cast<Count>(rank_count());
  if (call.collective == Collective::reduce_scatter && call.blocks.empty() && call.columns % ranks == 0) {
    equal_blocks_.assign(ranks, call.columns / ranks);
    call.blocks = equal_blocks_;
  }
  if (call.layout == LayoutKind::row_per_rank) {
    mine = {static_cast<Index>(rank()), static_cast<Index>(rank()) + 1};
    call.element_count = static_cast<Count>(rank_count());
    call.intervals = {&mine, 1};
  } else if (call.layout != LayoutKind::intervals) {
    mine = {0, call.rows};
    call.intervals = {&mine, 1};
  }
  return call;
}

void Group::require_data(const Call& call, const Description& description, const Data& data) const {
  const bool is_due = gets_result(description, call.blocks, rank());
  const Missing lacked = missing(call.operation, call.rows, call.columns, data, is_due);
  if (lacked != Missing::nothing) throw failure_of(lacked, call.operation, call.rows);
}

/// A bundle's calls share their messages: one root, one schedule.
void Group::require_usable(std::span<const Call> calls) const {
  if (calls.empty())
    throw Failure(Status::invalid_argument, "no calls (the bundle is empty), add one before it is bound");
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::string where = agreement::in_bundle(i, calls.size());
    try {
      validate(calls[i], rank_count());
      const Description description = describe(calls[i]);
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
}

Group::KnownShape::KnownShape(const Description& given, const Call& call)
    : Shape(given, call),
      digest(digest_of(given)),
      bytes_of_none(kind->capacity({})),
      bytes_of_a_node(kind->capacity(order::IntervalSet({0, 1})) - bytes_of_none) {}

Group::KnownShape& Group::shape_of(const Call& call, const Description& description) {
  const auto found = std::find_if(shapes_.begin(), shapes_.end(),
                                  [&](const auto& shape) { return shape->description == description; });
  if (found != shapes_.end()) {
    if (found != shapes_.begin()) std::iter_swap(found, shapes_.begin());
    if (call.operation == arithmetic::Operation::user) shapes_.front()->op = call.user;
    return *shapes_.front();
  }
  auto shape = std::make_unique<KnownShape>(description, call);
  if (shapes_.size() == most_shapes) shapes_.pop_back();
  shapes_.insert(shapes_.begin(), std::move(shape));
  return *shapes_.front();
}

/// Goes by the largest partial that this rank's rows can have, so that none is built in vain.
bool Group::fits_handshake(const KnownShape& shape, const Call& call) const {
  if (shape.kind->survey_bytes() > 0) return false;  // two reductions, one after the other
  if (is_scan(call.collective)) return false;
  if (!forced_schedule_.empty() || !asked_schedule(call).empty() || !knows_its_rows(call, shape.description))
    return false;
  Bytes bytes = shape.bytes_of_none;
  for (const auto interval : call.intervals) {
    if (interval.empty()) continue;
    bytes += shape.bytes_of_a_node * order::most_nodes(interval);
    if (bytes > Handshake::capacity - Handshake::prefix) return false;
  }
  return bytes <= Handshake::capacity - Handshake::prefix;
}

/// The cached plans that fit this shape and this rank's rows; on other ranks fewer of them may fit.
Ways Group::cached_plans(const KnownShape& shape, const Call& call) const noexcept {
  Ways ways = no_way;
  for (std::size_t place = 0; place < plans_.size(); ++place) {
    const CachedPlan& cached = plans_[place];
    if (cached.plan->agreed().members.front().description != shape.description || cached.rows != call.rows) continue;
    if (call.layout != LayoutKind::intervals ||
        std::equal(cached.intervals.begin(), cached.intervals.end(), call.intervals.begin(), call.intervals.end()))
      ways |= execution::by_cached_plan(place);
  }
  return ways;
}

Bytes Group::build(KnownShape& shape, const Call& call, const Data& data) {
  if (call.threads > team_.size()) team_.resize(call.threads);
  return shape.lifter.lift(shape.rows_of(call, data), team_, call.threads, handshake_.partial());
}

std::span<const std::byte> Group::open(const Header& mine, Ways ways, const Call& call, const KnownShape* shape,
                                       Bytes partial_bytes) {
  handshake_.take(mine, ways, coverage_of(call), shape == nullptr ? nullptr : shape->kind.get(), partial_bytes);
  handshake_stage_->run();
  return handshake_stage_->executor().value(0).head;
}

/// Finishes the handshake's partial on every rank, so that all ranks come to the same status.
Status Group::finish_here(KnownShape& shape, const Call& call, std::span<const std::byte> partial) {
  const Bytes value_bytes = shape.kind->value_bytes();
  shape.values.resize(2 * value_bytes);
  return shape.kind->finish(partial, call.element_count, shape.values.data(), shape.values.data() + value_bytes);
}

/// The worst status of all ranks.
Status Group::agreed_status(Status mine) {
  status_exchange_.take({.status = mine});
  status_stage_->run();
  return status_stage_->executor().status();
}

void Group::reduce(const Call& given, const Data& data, std::optional<Failure> failure) {
  order::Interval mine;
  const Call call = placed(given, mine);
  const Description description = describe(call);
  Header header;
  Ways ways = no_way;
  KnownShape* shape = nullptr;
  Bytes partial_bytes = 0;
  try {
    if (failure) throw Failure(*failure);
    validate(call, rank_count());
    require_data(call, description, data);
    if (call.columns > 0) shape = &shape_of(call, description);
    header.digest = shape != nullptr ? shape->digest : digest_of(description);
    if (shape != nullptr) ways = cached_plans(*shape, call);
    if (shape != nullptr && ways == no_way && fits_handshake(*shape, call)) {
      ways = in_the_handshake;
      partial_bytes = build(*shape, call, data);
      header.status = arithmetic::header_of(handshake_.partial()).status;  // of a layout's fault `diagnose` says more
      if (header.status == Status::operator_failed) failure = agreement::operator_failure();
    }
  } catch (const Failure& wrong) {
    failure = wrong;
  } catch (const std::exception& wrong) {  // out of memory, say: the others must not wait
    failure.emplace(Status::internal, agreement::text_of(wrong));
  }
  if (failure) header = {.status = failure->status(), .digest = digest_of(description)};
  if (header.status != Status::ok) ways = no_way;

  const auto outcome = open(header, ways, call, shape, partial_bytes);
  Status status = worse(handshake_stage_->executor().status(), arithmetic::header_of(outcome).status);
  ways = Handshake::ways_of(outcome);
  const bool is_here = status == Status::ok && (ways & in_the_handshake) != 0;
  if (is_here && call.layout == LayoutKind::intervals && !Handshake::coverage_of(outcome).whole()) status = Status::gap;
  const bool is_finished = is_here && status == Status::ok;
  if (is_finished) status = finish_here(*shape, call, Handshake::partial_of(outcome));
  if (handshake_.operator_failed() || (is_finished && status == Status::operator_failed))
    failure = agreement::operator_failure();
  // All that can differ between ranks by now is that an operator failed in the last merge of one of them; where all go
  // by a plan, nobody merged.
  const bool may_differ = status <= Status::operator_failed && (ways == no_way || (ways & in_the_handshake) != 0);
  if (shape != nullptr && description.may_fail && may_differ) status = agreed_status(status);
  if (status != Status::ok) diagnose(call, status, failure);
  if (call.columns == 0) return;
  if (!is_here)
    run_plan(call, ways, data);
  else if (gets_result(description, call.blocks, rank()))
    deliver(*shape, call, data);
}

/// Copies what was finished here to the result: all of it, or this rank's columns.
void Group::deliver(const KnownShape& shape, const Call& call, const Data& data) const {
  const Bytes column_bytes = shape.kind->value_bytes() / call.columns;
  order::Interval columns{0, call.columns};
  if (call.collective == Collective::reduce_scatter) {
    const auto before = call.blocks.first(static_cast<std::size_t>(rank()));
    columns.begin = std::accumulate(before.begin(), before.end(), Count{0});
    columns.end = columns.begin + call.blocks[before.size()];
  }
  std::memcpy(data.result, shape.values.data() + columns.begin * column_bytes, columns.size() * column_bytes);
}

void Group::run_plan(const Call& call, Ways ways, const Data& data) {
  Plan& plan =
      ways == no_way ? new_cached_plan(call) : *plans_[static_cast<std::size_t>(std::countr_zero(ways)) - 1].plan;
  if (call.operation == arithmetic::Operation::user) plan.use_operator(call.user);
  plan.use_threads(call.threads);
  plan.run(data);
  if (plan.status() != Status::ok) throw plan.failure();
}

/// Every rank makes and drops the same plans in the same order, so that a place holds the same plan everywhere.
Plan& Group::new_cached_plan(const Call& call) {
  const std::span calls(&call, 1);
  Agreement agreed = agree(calls, nullptr);
  if (plans_.size() == most_plans) plans_.pop_front();
  plans_.push_back({.rows = call.rows,
                    .intervals = {call.intervals.begin(), call.intervals.end()},
                    .plan = make_plan(std::move(agreed), calls)});
  return *plans_.back().plan;
}

/// Rank 0 proves a schedule that no sweep of proofs has, and tells the others of a fault.
void Group::require_proof(const Agreement& agreed) {
  if (schedule::is_swept(agreed.schedule)) return;
  std::string fault;
  try {
    if (rank() == 0) fault = execution::fault_of_schedule(agreed);
  } catch (const std::exception& error) {
    fault = error.what();
  }
  const auto told = transport_->gather_all(bytes_of(fault));
  if (told.bytes.empty()) return;
  throw Failure(Status::unsupported, "schedule '" + agreed.schedule_text + "' cannot be used (its proof fails: " +
                                         text_of(told.bytes) + "), take another and report this one");
}

/// Makes the plan on all ranks or on none: memory may run out on one of them.
std::unique_ptr<Plan> Group::make_plan(Agreement agreed, std::span<const Call> calls) {
  require_proof(agreed);
  const std::uint32_t tag = transport_->new_tags(Plan::tags_of(agreed));
  std::unique_ptr<Plan> plan;
  std::string wrong;
  try {
    plan = std::make_unique<Plan>(std::move(agreed), calls, transport_, tag);
  } catch (const std::exception& error) {
    wrong = agreement::text_of(error);
  }
  connect(wrong);
  return plan;
}

/// Connects what all ranks have prepared. Throws on all of them where one could not, with what was wrong there.
void Group::connect(const std::string& wrong) {
  transport_->connect(wrong.empty());
  transport::Connection state = transport_->connected();
  while (state == transport::Connection::pending) state = transport_->connected();
  if (state == transport::Connection::connected) return;
  const auto told = transport_->gather_all(bytes_of(wrong));
  for (Rank i = 0; i < rank_count(); ++i) {
    if (told.of(i).empty()) continue;
    throw Failure(Status::internal, "rank " + std::to_string(i) + ": " + text_of(told.of(i)));
  }
}

Agreement Group::agree(std::span<const Call> calls, const Failure* mine) {
  const auto gathered = transport_->gather_all(propose(calls, rank(), mine));
  std::vector<std::span<const std::byte>> proposals;
  proposals.reserve(gathered.first.size());
  for (Rank i = 0; i < rank_count(); ++i) proposals.push_back(gathered.of(i));
  return agreement::conclude(proposals, forced_schedule_, rows_);
}

/// All ranks know that something failed; together they find out what to say.
void Group::diagnose(const Call& call, Status status, const std::optional<Failure>& mine) {
  agree(std::span(&call, 1), mine ? &*mine : nullptr);
  throw Failure(status, agreement::text_of(status));
}

std::unique_ptr<Plan> Group::bind(std::span<const Call> given, std::optional<Failure> failure) {
  std::vector<order::Interval> mine(given.size());
  std::vector<Call> calls;
  for (std::size_t i = 0; i < given.size(); ++i) calls.push_back(placed(given[i], mine[i]));
  try {
    if (failure) throw Failure(*failure);
    require_usable(calls);
  } catch (const Failure& wrong) {
    failure = wrong;
  } catch (const std::exception& wrong) {
    failure.emplace(Status::internal, agreement::text_of(wrong));
  }
  return make_plan(agree(calls, failure ? &*failure : nullptr), calls);
}

Group::RankOrder Group::rank_order(Count rows) {
  const auto gathered = transport_->gather_all(std::as_bytes(std::span(&rows, 1)));
  RankOrder found{};
  for (Rank i = 0; i < rank_count(); ++i) {
    Count count = 0;
    std::memcpy(&count, gathered.of(i).data(), sizeof count);
    if (i == rank()) found.mine = {found.element_count, found.element_count + count};
    found.element_count = agreement::sum_of_rows(found.element_count, count);
  }
  return found;
}

}  // namespace steadfold::session
