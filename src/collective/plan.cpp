#include "collective/plan.hpp"

#include <algorithm>

#include "collective/failure.hpp"
#include "collective/segmentation.hpp"

namespace steadfold::collective {
namespace {

std::uint32_t segments_of(const Agreement& agreed, Rank rank_count, std::uint32_t asked) {
  if (agreed.members.size() > 1) return 1;
  const Description& call = agreed.members.front().description;
  const auto most = static_cast<std::uint32_t>(std::min<Count>(asked, call.columns));
  if (asked > 0) return agreed.schedule.row->segments_up_to(most, rank_count);
  return collective::segments_of(agreed.schedule, context_of(agreed, 0, rank_count, 1), call.columns,
                                 call.element_bytes);
}

std::vector<std::unique_ptr<Rows>> rows_of(const Agreement& agreed, std::span<const Call> calls,
                                           const transport::Transport& transport, std::uint32_t segments, Crew& crew) {
  std::vector<std::unique_ptr<Rows>> members;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    members.push_back(std::make_unique<Rows>(agreed.members[i], operator_of(calls[i]), transport.rank(),
                                             transport.rank_count(), segments, crew));
  }
  return members;
}

bool may_fail(const Agreement& agreed) {
  return std::ranges::any_of(agreed.members, [](const Member& member) { return member.description.may_fail != 0; });
}

std::string text_of(const Member& member) {
  const Description& d = member.description;
  return std::string(arithmetic::name_of(static_cast<arithmetic::Operation>(d.operation))) + " over " +
         std::to_string(member.element_count) + " rows of " + std::to_string(d.columns) + " x " +
         std::string(arithmetic::name_of(static_cast<arithmetic::Type>(d.type))) + " by method " +
         std::string(name_of(static_cast<Method>(d.method))) + "\n";
}

std::string text_of(const Agreement& agreed, Rank rank_count, std::uint32_t segments) {
  const Rank root = agreed.root();
  const schedule::Row& row = *agreed.schedule.row;
  const schedule::Context context = context_of(agreed, 0, rank_count, segments);
  std::string text = std::string(root == all_ranks ? "allreduce" : "reduce to rank " + std::to_string(root)) + " on " +
                     std::to_string(rank_count) + " ranks\n";
  for (const Member& member : agreed.members) text += text_of(member);
  text += "schedule " + agreed.schedule_text + ": " + std::string(row.sentence) + "\n";
  if (row.messages != nullptr) text += "messages " + std::to_string(row.messages(context));
  if (row.rounds != nullptr) text += " in " + std::to_string(row.rounds(context)) + " rounds";
  if (row.messages != nullptr) text += "\n";
  return text;
}

}  // namespace

Plan::Plan(Agreement agreed, std::span<const Call> calls, std::shared_ptr<transport::Transport> transport,
           std::uint32_t tag, std::uint32_t segments)
    : agreed_(std::move(agreed)),
      transport_(std::move(transport)),
      segments_(segments_of(agreed_, transport_->rank_count(), segments)),
      members_(rows_of(agreed_, calls, *transport_, segments_, crew_)),
      main_(*agreed_.schedule.row, context_of(agreed_, transport_->rank(), transport_->rank_count(), segments_),
            content(), *transport_, tag),
      statuses_(members_.size(), Status::ok),
      text_(text_of(agreed_, transport_->rank_count(), segments_)) {
  for (std::size_t i = 0; i < members_.size(); ++i) use_threads(calls[i].threads, i);
  if (may_fail(agreed_) && agreed_.root() == all_ranks) {
    const schedule::Context context{.rank = transport_->rank(), .rank_count = transport_->rank_count()};
    closing_.emplace(*schedule::find("recursive_doubling"), context, verdict_, *transport_, tag + 1);
  }
}

/// What the messages hold: one member's partials as they are, or several in one.
Content& Plan::content() noexcept {
  if (members_.size() == 1) return *members_.front();
  if (!bundle_) bundle_.emplace(members_, agreed_.digest);
  return *bundle_;
}

void Plan::start(std::span<const Data> data) {
  if (running_)
    throw Failure(Status::invalid_argument,
                  "the plan is running (start was called twice), call wait before the next start");
  if (data.size() != members_.size())
    throw Failure(Status::invalid_argument, "data for " + std::to_string(data.size()) +
                                                " calls (the plan was bound for " + std::to_string(members_.size()) +
                                                "), give an entry for each");
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i]->take(data[i]);
  before_ = traffic();
  status_ = Status::ok;
  in_closing_ = false;
  running_ = true;
  main_.begin();
  main_.advance();  // collectives of the transport begin in the order of the starts, the same on every rank
}

bool Plan::advance() {
  if (!in_closing_) {
    if (!main_.advance()) return false;
    if (!closing_) return true;
    verdict_.take({.status = main_.machine().status()});
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

/// Members succeed or fail together, but that one may have nothing to reduce.
void Plan::conclude() {
  running_ = false;
  status_ = worse(main_.machine().status(), closing_ ? closing_->machine().status() : Status::ok);
  std::ranges::fill(statuses_, status_);
  if (status_ > Status::empty || !gets_result(agreed_.members.front().description, transport_->rank())) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (std::uint32_t s = 0; s < segments_; ++s) {
      const auto value = main_.machine().bytes_of(schedule::value(0, s));
      statuses_[i] = members_[i]->deliver(s, bundle_ ? bundle_->value_of(i, value) : value);
    }
  }
}

transport::Traffic Plan::traffic() const noexcept {
  transport::Traffic sum = main_.machine().traffic();
  if (closing_) {
    sum.messages += closing_->machine().traffic().messages;
    sum.bytes += closing_->machine().traffic().bytes;
  }
  return sum;
}

transport::Traffic Plan::traffic_of_last_run() const noexcept {
  const transport::Traffic now = traffic();
  return {.messages = now.messages - before_.messages, .bytes = now.bytes - before_.bytes};
}

}  // namespace steadfold::collective
