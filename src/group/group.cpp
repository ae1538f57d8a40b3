#include "group/group.hpp"

namespace steadfold::group {

namespace {

constexpr std::size_t most_idle = 64;  // the largest number of finished call objects kept for use by later calls

}  // namespace

Group::Group(std::shared_ptr<transport::Transport> transport, schedule::Algorithms algorithms, Surroundings others,
             Watched watched)
    : coordinator_(std::move(transport), algorithms), others_(others), watched_(std::move(watched)) {
  idle_.reserve(most_idle);
}

Group::~Group() = default;

void Group::set_up() {
  if (is_set_up_) return;
  Flow flow;
  Task<> made = make_states(flow, next_number_);
  Wait wait(watched_);
  for (made.start(); !made.done(); wait.look()) flow.resume();
  made.result();
}

/// The first call in the list sets the group up, and the calls behind it wait. If the set-up fails, the next call tries
/// again.
Task<> Group::set_up_before(Flow& flow, const StartedCall& started) {
  while (!is_set_up_ && first_ != &started) co_await GiveWay{};
  if (!is_set_up_) co_await make_states(flow, started.number_);
}

/// Makes the handshake states for the calls from number `first` on.
Task<> Group::make_states(Flow& flow, std::uint64_t first) {
  std::string wrong;
  try {
    co_await coordinator_.take_what_ranks_tell(flow);
  } catch (const std::exception& error) {
    wrong = call::text_of(error);
  }
  std::uint32_t tag = co_await coordinator_.new_tags(flow, ring + 1);
  if (wrong.empty()) try {
      for (std::uint64_t number = first; number < first + ring; ++number) {
        auto& state = states_[number % ring];
        state = std::make_unique<HandshakeState>(coordinator_.transport(), tag++, coordinator_.means().nodes.get());
        state->next = number;
      }
      coordinator_.prepare_status_exchange(tag);
    } catch (const std::exception& error) {
      wrong = call::text_of(error);
    }
  co_await coordinator_.connect(flow, std::move(wrong));
  is_set_up_ = true;
}

Group::Started Group::begin(Asked asked, std::span<const Call> calls, bool caller_stays) {
  Started started;
  if (idle_.empty()) {
    started = std::make_shared<StartedCall>();
  } else {
    started = std::move(idle_.back());
    idle_.pop_back();
  }
  started->begin(asked, calls, caller_stays);
  return started;
}

/// Starts a call whose caller does not wait for its end: the call keeps itself alive.
Group::Started Group::kept(Started started) {
  started->self_ = started;
  begin_work(*started);
  return started;
}

/// Adds the call to the end of the list of calls under way, and runs it until it must wait.
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
  started.offered_.clear();  // the cache may free these plans while this call object is not in use
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

/// Chooses among the first `ring` calls, because later calls wait for a handshake state and cannot advance.
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
                  "the ranks of the group have made different numbers of calls (memory ran out in a call of this rank, "
                  "and other ranks may wait for that call), use another group");
  plan::require_usable(coordinator_.transport());
}

void Group::require_threads() const {
  try {
    coordinator_.transport().require_threads();
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

bool Group::conflicts(const call::Footprint& other) const noexcept {
  for (const StartedCall* each = first_; each != nullptr; each = each->next_)
    if (each->footprint_.conflicts(other)) return true;
  return false;
}

/// Sets the data of a reduction, and records the memory that it uses. If another call under way uses this memory, the
/// call fails. If no other call is under way and the caller waits for the end, nothing is checked.
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
  const call::Footprint memory =
      footprint_of(description, strides_of(description, call.array), call.rows, results, data);
  if (conflicts(memory) || (others_.is_any != nullptr && others_.is_any() && others_.use(memory)))
    started.failure_ = call::conflict();
  else
    started.footprint_ = memory;
} catch (const Failure& wrong) {
  started.failure_ = wrong;
}

Group::Started Group::start_reduce(const Call& call, const Data& data) {
  Started started = begin(Asked::reduction, {&call, 1});
  bring(*started, data);
  return kept(std::move(started));
}

Group::Started Group::start_bind(std::span<const Call> calls) { return kept(begin(Asked::bind, calls)); }

Group::Started Group::start_refusal(Failure why) {
  static constexpr Call no_call;
  Started started = begin(Asked::reduction, {&no_call, 1});
  started->failure_ = std::move(why);
  return kept(std::move(started));
}

Group::Started Group::start_rank_order(Count rows) {
  Started started = begin(Asked::rank_order, {});
  started->rows_ = rows;
  return kept(std::move(started));
}

Group::Started Group::start_barrier() { return kept(begin(Asked::barrier, {})); }

void Group::reduce(const Call& call, const Data& data) {
  Started started = begin(Asked::reduction, {&call, 1}, true);
  bring(*started, data);
  carry_out(std::move(started));
}

/// Runs a call from start to end; afterwards a later call can use its object.
void Group::carry_out(Started started) {
  if (watched_.is_on()) started->self_ = started;  // an exception may end the wait before the call has ended
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
  throw Failure(Status::internal, "no rank says why a call was refused (an error in the library), report this error");
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

/// Waits until all earlier calls of the group are done.
Task<> Group::turn_of(Flow& /*flow*/, const StartedCall& started) {
  while (first_ != &started) co_await GiveWay{};
}

/// Finds the error to throw, together with all other ranks, after every rank has learned that a rank failed.
Task<> Group::diagnose(Flow& flow, StartedCall& started, const Call* call, Status status, std::optional<Failure> mine) {
  co_await turn_of(flow, started);
  const std::span<const Call> calls = call == nullptr ? std::span<const Call>() : std::span(call, 1);
  co_await coordinator_.agree(flow, started.asked_, calls, mine ? &*mine : nullptr);
  throw Failure(status, call::text_of(status));
}

}  // namespace steadfold::group
