#include "plan/plan.hpp"

#include <algorithm>

#include "call/failure.hpp"
#include "plan/segmentation.hpp"
#include "schedule/checker/checker.hpp"

namespace steadfold::plan {

using call::all_ranks;
using call::Description;
using call::Method;
using call::Sweep;

namespace {

Segmentation segmentation_of(const Agreement& agreed, std::uint32_t asked) {
  const Member& member = agreed.members.front();
  const Description& call = member.description;
  if (agreed.members.size() > 1) return {call.columns, 1};
  const schedule::Context context = context_of(agreed);
  if (asked == 0 || !member.blocks.empty())
    return plan::segmentation_of(context, call.columns, call.element_bytes, member.blocks, agreed.link);
  const auto most = static_cast<std::uint32_t>(std::min<Count>(asked, call.columns));
  return {call.columns, agreed.schedule.algorithm->segments_up_to(most, context)};
}

/// Returns the intervals of this rank's rows. If the indices affect the bits, the call's list is used, since the layout
/// may have only the number of rows.
std::vector<order::Interval> own_intervals(const Member& member, const Call& call, Rank rank) {
  const bool is_listed = call.layout == call::LayoutKind::intervals || call.layout == call::LayoutKind::grid;
  if (is_listed && needs_indices(member.description) && !call.intervals.empty())
    return {call.intervals.begin(), call.intervals.end()};
  return member.layout->intervals(rank);
}

std::vector<std::unique_ptr<RowsPayload>> rows_of(const Agreement& agreed, std::span<const Call> calls,
                                                  const transport::Transport& transport,
                                                  const Segmentation& segmentation, ThreadPool& pool) {
  std::vector<std::unique_ptr<RowsPayload>> members;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Member& member = agreed.members[i];
    members.push_back(std::make_unique<RowsPayload>(
        member, OwnRows{transport.rank(), own_intervals(member, calls[i], transport.rank())},
        operator_of(member.description, calls[i].user),
        calls.size() == 1 ? segmentation : Segmentation(member.description.columns, 1), pool, calls.size() == 1));
  }
  return members;
}

transport::Traffic operator+(const transport::Traffic& a, const transport::Traffic& b) noexcept {
  return {.messages = a.messages + b.messages, .bytes = a.bytes + b.bytes};
}

bool may_fail(const Agreement& agreed) {
  return std::ranges::any_of(agreed.members, [](const Member& member) -> bool { return member.description.may_fail; });
}

std::string text_of(const Member& member) {
  const Description& d = member.description;
  return std::string(arithmetic::name_of(d.operation)) + " over " + std::to_string(member.element_count) + " rows of " +
         std::to_string(d.columns) + " x " + std::string(arithmetic::name_of(d.type)) + " with method " +
         std::string(name_of(d.method)) +
         (d.parameters.sweep == Sweep::double_sweep ? ", with the largest term found in a first sweep\n"
          : numbers_rows_of_groups(d)               ? ", with the rows of each group counted in a first sweep\n"
                                                    : "\n");
}

Bytes survey_bytes(std::span<const std::unique_ptr<RowsPayload>> members) {
  Bytes bytes = 0;
  for (const auto& member : members) bytes += member->survey_bytes();
  return bytes;
}

std::string text_of(const Agreement& agreed, const Segmentation& segmentation) {
  const Rank root = agreed.root();
  const schedule::Algorithm& algorithm = *agreed.schedule.algorithm;
  const schedule::Context context = segmentation.cut(context_of(agreed));
  std::string text = std::string(name_of(agreed.collective())) +
                     (root == all_ranks ? "" : " to rank " + std::to_string(root)) + " on " +
                     std::to_string(context.rank_count) + " ranks\n";
  for (const Member& member : agreed.members) text += text_of(member);
  text += "schedule " + agreed.chosen.schedule + ": " + std::string(algorithm.sentence) + "\n";
  if (const std::string compared = text_of(agreed.chosen); !compared.empty()) text += compared + "\n";
  if (!agreed.unused_profile.empty()) text += agreed.unused_profile + "\n";
  if (algorithm.messages != nullptr) text += "messages " + std::to_string(algorithm.messages(context));
  if (algorithm.rounds != nullptr)
    text +=
        (algorithm.rounds_at_most ? " in at most " : " in ") + std::to_string(algorithm.rounds(context)) + " rounds";
  if (algorithm.messages != nullptr) text += "\n";
  return text;
}

}  // namespace

std::string fault_of_schedule(const Agreement& agreed) {
  const Segmentation segmentation = segmentation_of(agreed, 0);
  if (segmentation.segments() == 0) return {};  // a plan without columns has no steps
  return schedule::check_when_bound(agreed.schedule, segmentation.cut(context_of(agreed))).value_or("");
}

Plan::Plan(Agreement agreed, std::span<const Call> calls, std::shared_ptr<transport::Transport> transport,
           std::uint32_t tag, std::uint32_t segments)
    : agreed_(std::move(agreed)),
      transport_(std::move(transport)),
      segmentation_(segmentation_of(agreed_, segments)),
      members_(rows_of(agreed_, calls, *transport_, segmentation_, pool_)),
      main_(*agreed_.schedule.algorithm, segmentation_.cut(context_of(agreed_), transport_->rank()), payload(),
            *transport_, tag),
      is_empty_(agreed_.members.front().description.columns == 0),
      gets_result_(agreed_.members.front().gets_result(transport_->rank())),
      due_(segmentation_.segments_of(transport_->rank())),
      statuses_(members_.size(), Status::ok),
      text_(text_of(agreed_, segmentation_) + "transport " + transport_->name() + "\n") {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    use_threads(calls[i].threads, i);
    members_[i]->use_array(calls[i].array);
    initial_.push_back(InitialValue::of(calls[i]));
    has_initial_ = has_initial_ || initial_.back() != nullptr;
  }
  surveyed_.resize(survey_bytes(members_));
  if (!surveyed_.empty()) {
    const Call call = first_sweep(surveyed_.size());
    Agreement sweep = agreed_first_sweep(call, transport_->rank_count(), agreed_.nodes);
    sweep.is_our_choice = agreed_.is_our_choice;
    first_sweep_ = std::make_unique<Plan>(std::move(sweep), std::span(&call, 1), transport_, tag + 2);
  }
  if (may_fail(agreed_) && agreed_.collective() != schedule::Collective::reduce)
    closing_.emplace(status_exchange_, *transport_, tag + 1, agreed_.nodes.get());
  board_reduction_ = make_board_reduction(agreed_, *members_.front(), *transport_, tag);
  text_on_board_ = text_ + "together: ranks read each other's rows in shared memory, without messages\n";
}

const std::string& Plan::description() const noexcept { return may_reduce_on_board() ? text_on_board_ : text_; }

std::uint32_t Plan::tags_of(const Agreement& agreed) noexcept { return agreed.has_first_sweep() ? 3 : 2; }

/// Returns the payload of the plan's messages: the partials of its only member, or the partials of all members
/// together.
Payload& Plan::payload() {
  if (members_.size() == 1) return *members_.front();
  if (!bundle_) bundle_.emplace(members_, agreed_.digest);
  return *bundle_;
}

Failure plan_is_running() {
  return {Status::invalid_argument,
          "the plan is running (it was started, and its run has not been waited for), call wait before the next start"};
}

void Plan::start(std::span<const Data> data, bool stays) {
  if (running_) throw plan_is_running();
  refusal_.reset();
  given_ = data.size();
  is_on_board_ = may_reduce_on_board() && !is_traced_;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (given_ == members_.size())
      members_[i]->take(data[i], stays && !is_on_board_);
    else
      members_[i]->refuse();
  }
  const bool is_by_posts = is_on_board_ && first_sweep_ == nullptr;
  if (is_by_posts) {  // posted before anything else, because other ranks wait for this post
    const transport::Traffic posted = board_reduction_->traffic();
    board_reduction_->start(given_ == 1 ? data[0] : Data{}, stays);
    before_ = sent() + posted;
  } else {
    before_ = traffic();
  }
  bounded_ = !stays;
  status_ = Status::ok;
  in_closing_ = false;
  running_ = true;
  if (is_empty_ || is_by_posts) return;
  if (first_sweep_)
    begin_first_sweep();
  else
    begin_main();
}

void Plan::refuse(const Failure& failure) {
  start(std::span<const Data>());
  given_ = members_.size();
  refusal_ = failure;
}

/// Begins the first sweep of the members that need one. The other members have no surveyed bytes.
void Plan::begin_first_sweep() {
  std::span<std::byte> rest = surveyed_;
  for (const auto& member : members_) {
    member->write_survey(rest.first(member->survey_bytes()));
    rest = rest.subspan(member->survey_bytes());
  }
  first_sweep_->start({.first = surveyed_.data(), .result = surveyed_.data()});
}

void Plan::take_in_first_sweep() {
  std::span<const std::byte> rest = surveyed_;
  for (const auto& member : members_) {
    member->expect(rest.first(member->survey_bytes()));
    rest = rest.subspan(member->survey_bytes());
  }
}

void Plan::begin_main() {
  main_.begin();
  main_.advance();  // the transport's collectives begin in the order in which plans are started, the same on every rank
}

bool Plan::advance() {
  if (is_empty_) return true;
  if (first_sweep_ && first_sweep_->running()) {
    if (!first_sweep_->test()) return false;
    take_in_first_sweep();
    // With a first sweep, board_reduction_ is a PostedPartials, which does not use its argument `data`.
    if (is_on_board_)
      board_reduction_->start({}, !bounded_);
    else
      begin_main();
  }
  if (is_on_board_) {
    const BoardReduction::TestResult state = board_reduction_->test();
    if (state != BoardReduction::TestResult::by_messages) return state == BoardReduction::TestResult::done;
    is_on_board_ = false;
    begin_main();
  }
  if (!in_closing_) {
    if (!main_.advance(bounded_)) return false;
    if (!closing_) return true;
    Status mine = main_.executor().status();
    // This rank's result is empty, but higher ranks may have a result.
    if (mine == Status::empty && is_scan(agreed_.collective())) mine = Status::ok;
    status_exchange_.take({.status = mine});
    closing_->begin();
    in_closing_ = true;
  }
  return closing_->advance();
}

bool Plan::test() {
  if (running_ && advance()) conclude();
  return !running_;
}

void Plan::wait() {
  while (!test()) {
  }
}

void Plan::give_up() {
  if (!agreed_.schedule.algorithm->adds_words || !first_sweep_ || !first_sweep_->running()) return;
  for (const auto& member : members_) member->refuse();
  begin_main();
}

bool Plan::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (!test())
    if (std::chrono::steady_clock::now() >= deadline) return false;
  return true;
}

/// Sets the status of the plan and of its members. Members succeed or fail together, except that a member may have
/// nothing to reduce. Only a value tells whether a member has nothing to reduce, so on a rank without values no member
/// is `empty`.
void Plan::conclude() {
  running_ = false;
  if (is_on_board_) {
    status_ = worse(board_reduction_->status(), first_sweep_ ? first_sweep_->status() : Status::ok);
    std::ranges::fill(statuses_, status_);
    if (has_initial_) take_initial();
    return;
  }
  status_ = worse(main_.executor().status(), closing_ ? closing_->executor().status() : Status::ok);
  if (first_sweep_) status_ = worse(status_, first_sweep_->status());
  // A wrong number of entries is an error even if no message was sent.
  if (given_ != members_.size()) status_ = worse(status_, Status::invalid_argument);
  std::ranges::fill(statuses_, status_ == Status::empty ? Status::ok : status_);
  if (status_ <= Status::empty && gets_result_) deliver();
  if (has_initial_) take_initial();
}

Count Plan::rows_of_result(std::size_t member) const noexcept {
  const Member& agreed = agreed_.members[member];
  if (!is_scan(agreed_.collective())) return agreed.element_count;
  const Rank rank = transport_->rank();
  const bool is_inclusive = agreed_.collective() == schedule::Collective::scan;
  return agreed.layout->start(rank) + (is_inclusive ? agreed.layout->local_count(rank) : 0);
}

/// Combines the initial values of the members with their results on this rank. Rank 0 of an exscan, which gets no
/// result of rows, gets the initial value if it has memory for it.
void Plan::take_initial() {
  if (status_ > Status::empty) return;
  const bool is_first_of_exscan = agreed_.collective() == schedule::Collective::exscan && transport_->rank() == 0;
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    if (!initial_[i]) continue;
    const bool is_none = statuses_[i] == Status::empty || rows_of_result(i) == 0;
    statuses_[i] = Status::ok;
    std::byte* const result = members_[i]->given_result();
    if (result == nullptr || !(gets_result_ || is_first_of_exscan)) continue;
    const Count columns = is_first_of_exscan ? agreed_.members[i].description.columns : members_[i]->result_columns();
    if (is_none || is_first_of_exscan)
      initial_[i]->write(members_[i]->op(), result, columns);
    else
      statuses_[i] = initial_[i]->combine(members_[i]->op(), result, columns);
    if (statuses_[i] != Status::ok) status_ = worse(status_, statuses_[i]);
  }
  if (members_.size() == 1) status_ = statuses_.front();
}

void require_usable(const transport::Transport& transport) {
  try {
    transport.require_usable();
  } catch (const std::runtime_error& unusable) {
    throw Failure(Status::invalid_argument, unusable.what());
  }
}

Failure Plan::failure() const {
  if (refusal_ && status_ == refusal_->status()) return *refusal_;
  if (status_ == Status::invalid_argument && given_ != members_.size())
    return {status_, "data for " + std::to_string(given_) + " calls (the plan was bound for " +
                         std::to_string(members_.size()) + "), give one entry per call"};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto own = members_[i]->failure();
    if (own && own->status() == status_) return {status_, call::in_bundle(i, members_.size()) + own->what()};
  }
  return {status_, call::text_of(status_)};
}

void Plan::deliver() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (auto s = static_cast<std::uint32_t>(due_.begin); s < due_.end; ++s) {
      const Partial value = main_.executor().value(s);
      const Status status = members_[i]->deliver(s, bundle_ ? bundle_->value_of(i, value.head) : value);
      statuses_[i] = worse(statuses_[i], status);
      if (status > Status::empty) status_ = worse(status_, status);
    }
  }
}

void Plan::trace(bool on) {
  is_traced_ = on;
  main_.executor().trace(on);
  if (!first_sweep_) return;
  first_sweep_->trace(on);
  const Agreement& sweep = first_sweep_->agreed();
  const Count rounds = sweep.schedule.algorithm->rounds(context_of(sweep));
  rounds_before_ = on ? static_cast<std::uint32_t>(rounds) : 0;
}

/// Returns the messages and bytes that this rank has sent in all runs, without posts on boards.
transport::Traffic Plan::sent() const noexcept {
  transport::Traffic sum = main_.executor().traffic();
  if (closing_) sum = sum + closing_->executor().traffic();
  return first_sweep_ ? sum + first_sweep_->traffic() : sum;
}

/// Returns the messages and bytes that this rank has sent in all runs, including posts on boards.
transport::Traffic Plan::traffic() const noexcept {
  return board_reduction_ ? sent() + board_reduction_->traffic() : sent();
}

transport::Traffic Plan::traffic_of_last_run() const noexcept {
  const transport::Traffic now = traffic();
  return {.messages = now.messages - before_.messages, .bytes = now.bytes - before_.bytes};
}

}  // namespace steadfold::plan
