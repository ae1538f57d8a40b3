#include "collective/plan.hpp"

#include <algorithm>

#include "collective/failure.hpp"

namespace steadfold::collective {
namespace {

schedule::Context context_of(const Agreement& agreed, const transport::Transport& transport, std::uint32_t segments) {
  const Rank root = root_of(agreed.description);
  return {.rank = transport.rank(),
          .rank_count = transport.rank_count(),
          .root = root == all_ranks ? 0 : root,
          .rooted = root != all_ranks,
          .segments = segments};
}

bool wants_second(const Description& description) {
  return static_cast<arithmetic::Operation>(description.operation) == arithmetic::Operation::dot;
}

std::string text_of(const Agreement& agreed, Rank rank_count, std::uint32_t segments) {
  const Description& d = agreed.description;
  const Rank root = root_of(d);
  const schedule::Row& row = *agreed.schedule.row;
  const schedule::Context context{
      .rank_count = rank_count, .root = std::max(root, 0), .rooted = root != all_ranks, .segments = segments};
  std::string text = std::string(root == all_ranks ? "allreduce" : "reduce to rank " + std::to_string(root)) + " of " +
                     std::string(arithmetic::name_of(static_cast<arithmetic::Operation>(d.operation))) + " over " +
                     std::to_string(agreed.element_count) + " rows of " + std::to_string(d.columns) + " x " +
                     std::string(arithmetic::name_of(static_cast<arithmetic::Type>(d.type))) + " on " +
                     std::to_string(rank_count) + " ranks\nmethod   " +
                     std::string(name_of(static_cast<Method>(d.method))) + "\nschedule " + agreed.schedule_text + ": " +
                     std::string(row.sentence) + "\n";
  if (row.messages != nullptr)
    text += "messages " + std::to_string(row.messages(context)) + " in " + std::to_string(row.rounds(context)) +
            " rounds\n";
  return text;
}

}  // namespace

Plan::Plan(Agreement agreed, const Call& call, std::shared_ptr<transport::Transport> transport, std::uint32_t tag,
           std::uint32_t segments)
    : agreed_(std::move(agreed)),
      transport_(std::move(transport)),
      operator_(operator_of(call)),
      segments_(static_cast<std::uint32_t>(std::min<Count>(segments, agreed_.description.columns))),
      local_rows_(agreed_.layout.local_count(transport_->rank())),
      rows_(agreed_, operator_, transport_->rank(), transport_->rank_count(), segments_),
      main_(agreed_.schedule.row->steps(context_of(agreed_, *transport_, segments_)), segments_, rows_, *transport_,
            tag),
      text_(text_of(agreed_, transport_->rank_count(), segments_)) {
  if (agreed_.description.may_fail != 0 && root_of(agreed_.description) == all_ranks) {
    const schedule::Context context{.rank = transport_->rank(), .rank_count = transport_->rank_count()};
    closing_.emplace(schedule::find("recursive_doubling")->steps(context), 1, verdict_, *transport_, tag + 1);
  }
}

void Plan::start(const std::byte* first, const std::byte* second, std::byte* result) {
  if (running_)
    throw Failure(Status::invalid_argument,
                  "the plan is running (start was called twice), call wait before the next start");
  const bool has_rows = local_rows_ > 0;
  const bool is_missing = has_rows && (first == nullptr || (wants_second(agreed_.description) && second == nullptr));
  const bool has_nowhere = result == nullptr && gets_result(agreed_.description, transport_->rank());
  rows_.take(first, second, is_missing || has_nowhere ? Status::invalid_argument : Status::ok);
  result_ = result;
  before_ = traffic();
  status_ = Status::ok;
  in_closing_ = false;
  running_ = true;
  main_.begin();
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

void Plan::conclude() {
  running_ = false;
  status_ = worse(main_.machine().status(), closing_ ? closing_->machine().status() : Status::ok);
  if (status_ != Status::ok || !gets_result(agreed_.description, transport_->rank())) return;
  for (std::uint32_t s = 0; s < segments_; ++s)
    rows_.deliver(s, main_.machine().bytes_of(schedule::value(0, s)), result_);
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
