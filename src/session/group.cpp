#include "session/group.hpp"

#include "schedule/checker/checker.hpp"
#include "session/telling.hpp"
#include "transport/forwarding.hpp"
#include "transport/hardware.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace steadfold::session {

using agreement::LayoutKind;
using order::Index;

namespace {

constexpr std::size_t most_idle = 64;  // calls kept to be used again

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// What ranks tell each other of where they are: on one node, in which part of it their threads are bound.
transport::Whereabouts own_whereabouts(const transport::Transport& transport) noexcept {
  if (transport.rank_count() == 1 || !transport.node_labels().empty()) return {};
  try {
    return transport::Hardware::own().of(transport::usable_processors());
  } catch (...) {  // out of memory: the others must not wait
    return {};
  }
}

std::shared_ptr<const order::Nodes> nodes_of(const transport::Transport& transport,
                                             std::span<const std::span<const std::byte>> told) {
  using order::Nodes;
  const std::span<const Rank> labels = transport.node_labels();
  if (!labels.empty()) {
    const bool are_processes = transport.nodes_are_far();
    return std::make_shared<const Nodes>(labels, are_processes ? Nodes::Between::processes : Nodes::Between::network);
  }
  std::vector<transport::Whereabouts> ranks(static_cast<std::size_t>(transport.rank_count()));
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    std::memcpy(&ranks[rank], told[rank].data(), sizeof ranks[rank]);
  const std::vector<Rank> parts = transport::parts_of(ranks);
  return parts.empty() ? nullptr : std::make_shared<const Nodes>(parts, Nodes::Between::packages);
}

/// What plans prepare their endpoints on whose words are not added in the order of the plans' starts.
class Preparing final : public transport::ForwardingTransport {
 public:
  Preparing(std::shared_ptr<transport::Transport> inner, transport::WordOrder order)
      : ForwardingTransport(std::move(inner)), order_(order) {}
  std::unique_ptr<transport::Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                               transport::Ticket tickets, transport::WordOrder /*order*/) override {
    return inner().prepare(tag, capacities, tickets, order_);
  }

 private:
  transport::WordOrder order_;
};

}  // namespace

Group::Group(std::shared_ptr<transport::Transport> transport, schedule::Rows rows, Surroundings others, Watched watched)
    : transport_(std::move(transport)),
      in_turn_(std::make_shared<Preparing>(transport_, transport::WordOrder::in_turn)),
      apart_(std::make_shared<Preparing>(transport_, transport::WordOrder::apart)),
      others_(others),
      watched_(std::move(watched)),
      means_{.rows = rows} {
  idle_.reserve(most_idle);
}

Group::~Group() = default;

void Group::set_up() {
  if (is_set_up_) return;
  Flow flow;
  Task<> made = make_places(flow, next_number_);
  Wait wait(watched_);
  for (made.start(); !made.done(); wait.look()) flow.resume();
  made.result();
}

/// The first of the calls sets the group up, and those behind it wait; if that fails, the next one tries again.
Task<> Group::set_up_before(Flow& flow, const StartedCall& started) {
  while (!is_set_up_ && first_ != &started) co_await GiveWay{};
  if (!is_set_up_) co_await make_places(flow, started.number_);
}

/// Places for the calls from number `first` on.
Task<> Group::make_places(Flow& flow, std::uint64_t first) {
  std::string wrong;
  try {
    co_await take_what_ranks_tell(flow);
  } catch (const std::exception& error) {
    wrong = agreement::text_of(error);
  }
  std::optional<std::uint32_t> tag = transport_->new_tags(ring + 1);
  while (!tag) {
    co_await GiveWay{};
    tag = transport_->new_tags(ring + 1);
  }
  if (wrong.empty()) try {
      for (std::uint64_t number = first; number < first + ring; ++number) {
        auto& place = places_[number % ring];
        place = std::make_unique<HandshakePlace>(*transport_, (*tag)++, means_.nodes.get());
        place->next = number;
      }
      status_meeting_.emplace(status_exchange_, *transport_, *tag, means_.nodes.get());
    } catch (const std::exception& error) {
      wrong = agreement::text_of(error);
    }
  co_await connect(flow, std::move(wrong));
  is_set_up_ = true;
}

Task<> Group::take_what_ranks_tell(Flow& flow) {
  const std::vector<std::byte> mine = told_by([this] {
    const transport::Whereabouts where = own_whereabouts(*transport_);
    const char* const asked = std::getenv("STEADFOLD_SCHEDULE");
    std::string told(reinterpret_cast<const char*>(&where), sizeof where);
    return told.append(asked == nullptr ? "" : asked);
  });
  const auto gathered = co_await gather(flow, mine);
  const auto all = parts_of(gathered);
  means_.forced_schedule = text_of(all[0].subspan(sizeof(transport::Whereabouts)));
  means_.nodes = nodes_of(*transport_, all);
}

Group::Started Group::begin(Asked asked, std::span<const Call> calls) {
  Started started;
  if (idle_.empty()) {
    started = std::make_shared<StartedCall>();
  } else {
    started = std::move(idle_.back());
    idle_.pop_back();
  }
  started->begin(asked, calls);
  return started;
}

/// A call that its caller does not stay for keeps itself.
Group::Started Group::begun(Started started) {
  started->hold();
  started->self_ = started;
  begin_work(*started);
  return started;
}

/// Takes its place behind those under way, and goes as far as it can.
void Group::begin_work(StartedCall& started) {
  started.work_.emplace(work_of(started));
  started.work_->start();
  started.number_ = next_number_++;
  enqueue(started);
  move(started);
}

void Group::enqueue(StartedCall& started) noexcept {
  started.before_ = first_ == nullptr ? nullptr : last_;
  started.next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = &started;
  last_ = &started;
}

void Group::dequeue(StartedCall& started) noexcept {
  (started.before_ == nullptr ? first_ : started.before_->next_) = started.next_;
  (started.next_ == nullptr ? last_ : started.next_->before_) = started.before_;
}

Task<> Group::work_of(StartedCall& started) {
  switch (started.asked_) {
    case Asked::bind: return carry_out_bind(started.flow_, started);
    case Asked::rank_order: return carry_out_rank_order(started.flow_, started);
    case Asked::barrier: return carry_out_barrier(started.flow_, started);
    default: return carry_out_reduction(started.flow_, started);
  }
}

void Group::move(StartedCall& started) {
  started.flow_.resume();
  if (!started.work_->done()) return;
  try {
    started.work_->result();
  } catch (...) {
    started.thrown_ = std::current_exception();
  }
  started.work_.reset();
  started.is_done_ = true;
  dequeue(started);
  if (started.self_ != nullptr) take_back(std::move(started.self_));
}

void Group::take_back(Started started) {
  if (started->is_done_ && started.use_count() == 1 && idle_.size() < most_idle) idle_.push_back(std::move(started));
}

bool Group::advance(StartedCall& started) {
  if (started.is_done_) return true;
  move(started);
  if (!started.is_done_ && first_->next_ != nullptr) advance_another();
  return started.is_done_;
}

/// Those that wait for a place of the ring have nothing to move.
void Group::advance_another() {
  StartedCall* chosen = first_;
  if (chosen == nullptr) return;
  cursor_ = (cursor_ + 1) % ring;
  for (std::size_t i = 0; i < cursor_ && chosen->next_ != nullptr; ++i) chosen = chosen->next_;
  move(*chosen);
}

void Group::require_usable() const {
  if (has_left_out_)
    throw Failure(Status::transport_failed,
                  "the group's ranks count their calls differently (memory ran out when this one made a call, and the "
                  "others may wait for it), use another group");
  execution::require_usable(*transport_);
}

void Group::require_threads() const {
  try {
    transport_->require_threads();
  } catch (const std::runtime_error& refused) {
    throw Failure(Status::unsupported, refused.what());
  }
}

void Group::wait_for(StartedCall& started) {
  Wait wait(watched_);
  while (!advance(started)) {
    if (others_.is_any != nullptr && others_.is_any()) others_.move();
    wait.look();
  }
}

bool Group::conflicts(const agreement::Footprint& other) const noexcept {
  for (const StartedCall* each = first_; each != nullptr; each = each->next_)
    if (each->footprint_.conflicts(other)) return true;
  return false;
}

/// The data of a reduction, unless another call under way uses their memory, or none holds them.
void Group::bring(StartedCall& started, const Data& given) try {
  const Call& call = started.calls_.front();
  started.data_ = call.array == nullptr ? given : located(given, call.array->data);
  const Data& data = started.data_;
  const bool is_alone = is_idle() && (others_.is_any == nullptr || !others_.is_any());
  if (is_alone && started.caller_stays_) return;
  require_size(call);
  const Description description = describe(call);
  const auto ranks = static_cast<std::size_t>(rank_count());
  const bool has_blocks = call.collective == schedule::Collective::reduce_scatter;
  Count results = call.columns;
  if (has_blocks)
    results = call.blocks.size() == ranks ? call.blocks[static_cast<std::size_t>(rank())] : call.columns / ranks;
  else if (!gets_result(description, {}, rank()))
    results = 0;
  const agreement::Footprint memory =
      footprint_of(description, strides_of(description, call.array), call.rows, results, data);
  if (conflicts(memory) || (others_.is_any != nullptr && others_.is_any() && others_.use(memory)))
    started.failure_ = agreement::conflict();
  else
    started.footprint_ = memory;
} catch (const Failure& wrong) {
  started.failure_ = wrong;
}

Group::Started Group::start_reduce(const Call& call, const Data& data) {
  Started started = begin(Asked::reduction, {&call, 1});
  bring(*started, data);
  return begun(std::move(started));
}

Group::Started Group::start_bind(std::span<const Call> calls) { return begun(begin(Asked::bind, calls)); }

Group::Started Group::start_refusal(Failure why) {
  static constexpr Call no_call;
  Started started = begin(Asked::reduction, {&no_call, 1});
  started->failure_ = std::move(why);
  return begun(std::move(started));
}

Group::Started Group::start_rank_order(Count rows) {
  Started started = begin(Asked::rank_order, {});
  started->rows_ = rows;
  return begun(std::move(started));
}

Group::Started Group::start_barrier() { return begun(begin(Asked::barrier, {})); }

void Group::reduce(const Call& call, const Data& data) {
  Started started = begin(Asked::reduction, {&call, 1});
  started->caller_stays_ = true;
  bring(*started, data);
  carry_out(std::move(started));
}

/// The whole of a call, to be used again.
void Group::carry_out(Started started) {
  if (watched_.is_on()) started->self_ = started;  // the wait may end before it
  begin_work(*started);
  wait_for(*started);
  const std::exception_ptr thrown = std::move(started->thrown_);
  take_back(std::move(started));
  if (thrown) std::rethrow_exception(thrown);
}

void Group::refuse(Failure why) {
  const Started started = start_refusal(std::move(why));
  wait_for(*started);
  started->require_success();
  throw Failure(Status::internal, "a refusal that no rank has heard of (a fault of the library), please report it");
}

std::unique_ptr<Plan> Group::bind(std::span<const Call> calls) {
  const Started started = start_bind(calls);
  wait_for(*started);
  started->require_success();
  return started->take_plan();
}

RankOrder Group::rank_order(Count rows) {
  const Started started = start_rank_order(rows);
  wait_for(*started);
  started->require_success();
  return started->rank_order();
}

void Group::barrier() { carry_out(begin(Asked::barrier, {})); }

/// Until all calls before this one are done.
Task<> Group::turn_of(Flow& /*flow*/, const StartedCall& started) {
  while (first_ != &started) co_await GiveWay{};
}

Task<transport::Transport::Gathered> Group::gather(Flow& /*flow*/, std::span<const std::byte> bytes) {
  transport_->gather(bytes);
  for (;;) {
    std::optional<transport::Transport::Gathered> all = transport_->gathered();
    if (all) co_return std::move(*all);
    co_await GiveWay{};
  }
}

/// The worst status of all ranks.
Task<Status> Group::agreed_status(Flow& /*flow*/, Status mine) {
  status_exchange_.take({.status = mine});
  status_meeting_->begin();
  while (!status_meeting_->advance()) co_await GiveWay{};
  co_return status_meeting_->status();
}

/// Rank 0 proves a schedule that no sweep of proofs has, and tells the others of a fault.
Task<> Group::require_proof(Flow& flow, const Agreement& agreed) {
  if (!agreed.needs_proof) co_return;
  std::string fault;
  try {
    if (rank() == 0) fault = execution::fault_of_schedule(agreed);
  } catch (const std::exception& error) {
    fault = error.what();
  }
  const std::vector<std::byte> mine = told_by([&] { return std::string_view(fault); });
  const auto gathered = co_await gather(flow, mine);
  const std::string found = text_of(parts_of(gathered)[0]);
  if (found.empty()) co_return;
  throw Failure(Status::unsupported, "schedule '" + agreed.schedule_text + "' cannot be used (its proof fails: " +
                                         found + "), take another and report this one");
}

/// What a bound plan runs over. Words that are added after a first sweep come when that is done on this rank, in no
/// order that all ranks have in common.
Task<std::shared_ptr<transport::Transport>> Group::transport_of(Flow& /*flow*/, const Agreement& agreed) {
  if (!agreed.schedule.row->adds_words || !agreed.has_first_sweep()) co_return transport_;
  transport_->open_apart();
  while (!transport_->opened_apart()) co_await GiveWay{};
  co_return apart_;
}

/// Makes the plan on all ranks or on none: memory may run out on one of them. `cached`: what it will be kept in.
Task<std::unique_ptr<Plan>> Group::make_plan(Flow& flow, Agreement agreed, std::span<const Call> calls,
                                             const std::shared_ptr<transport::Transport>& transport,
                                             std::shared_ptr<CachedPlan>* cached) {
  co_await require_proof(flow, agreed);
  std::optional<std::uint32_t> tag = transport_->new_tags(Plan::tags_of(agreed));
  while (!tag) {
    co_await GiveWay{};
    tag = transport_->new_tags(Plan::tags_of(agreed));
  }
  std::unique_ptr<Plan> plan;
  std::string wrong;
  try {
    if (cached != nullptr) *cached = PlanCache::made_for(calls.front());
    plan = std::make_unique<Plan>(std::move(agreed), calls, transport, *tag);
  } catch (const std::exception& error) {
    wrong = agreement::text_of(error);
  }
  co_await connect(flow, std::move(wrong));
  co_return plan;
}

/// Connects what all ranks have prepared. Throws on all of them where one could not, with what was wrong there.
Task<> Group::connect(Flow& flow, std::string wrong) {
  transport_->connect(wrong.empty());
  transport::Connection state = transport_->connected();
  while (state == transport::Connection::pending) {
    co_await GiveWay{};
    state = transport_->connected();
  }
  if (state == transport::Connection::connected) co_return;
  const std::vector<std::byte> mine = told_by([&] { return std::string_view(wrong); });
  const auto gathered = co_await gather(flow, mine);
  const auto told = parts_of(gathered);
  for (std::size_t i = 0; i < told.size(); ++i)
    if (!told[i].empty()) throw Failure(Status::internal, "rank " + std::to_string(i) + ": " + text_of(told[i]));
}

Task<Agreement> Group::agree(Flow& flow, Asked asked, std::span<const Call> calls, const Failure* mine) {
  const std::vector<std::byte> proposal = told_by([&] { return propose(calls, rank(), mine, asked); });
  const auto gathered = co_await gather(flow, proposal);
  co_return agreement::conclude(parts_of(gathered), means_);
}

/// Agrees on calls that the handshake has found equal on all ranks. Ranks exchange only their rows, or nothing; if
/// interval lists are not whole, `agree` finds out why.
Task<Agreement> Group::settle(Flow& flow, Asked asked, std::span<const Call> calls) {
  std::optional<Agreement> agreed;
  std::optional<Failure> failure;
  Status mine = Status::ok;
  try {
    transport::Transport::Gathered gathered;
    if (agreement::need_to_tell(calls)) {
      const std::vector<std::byte> told = told_by([&] { return agreement::tell(calls); });
      gathered = co_await gather(flow, told);
    }
    agreed = agreement::settle(calls, parts_of(gathered), rank_count(), means_);
  } catch (...) {
    failure = agreement::caught_failure(mine);
  }
  const Status worst = co_await agreed_status(flow, mine);  // all ranks have the same, unless one has no memory
  if (failure) throw Failure(*failure);
  if (worst != Status::ok) throw Failure(worst, agreement::text_of(worst));
  if (!agreed) agreed = co_await agree(flow, asked, calls, nullptr);
  if (agreed->schedule.row->adds_words && !transport_->adds_words())
    throw Failure(Status::unsupported, "no schedule " + agreed->schedule_text +
                                           " (the MPI library adds what ranks have, and these are their threads), take "
                                           "another one");
  co_return std::move(*agreed);
}

/// All ranks know that something failed; together they find out what to say.
Task<> Group::diagnose(Flow& flow, StartedCall& started, const Call* call, Status status, std::optional<Failure> mine) {
  co_await turn_of(flow, started);
  const std::span<const Call> calls = call == nullptr ? std::span<const Call>() : std::span(call, 1);
  co_await agree(flow, started.asked_, calls, mine ? &*mine : nullptr);
  throw Failure(status, agreement::text_of(status));
}

}  // namespace steadfold::session
