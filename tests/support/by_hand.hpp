// Computes a reduction with method `plain` without the library's machinery. It carries out every rank's steps on
// vectors of doubles and queues, by independent rules. Only the schedule decides which operands meet in which order;
// slots, messages, segments and partials are not involved.
#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "plan/segmentation.hpp"
#include "schedule/step.hpp"
#include "support/simulated_job.hpp"

namespace steadfold::test {

/// One job: the steps of all ranks on the rows of all ranks.
template <class Combine>
class ByHand {
 public:
  using Values = std::optional<std::vector<double>>;  // nullopt: no rows

  /// `rows`: the rows of each rank in the order of its memory, one after the other.
  ByHand(const Agreement& agreed, const plan::Segmentation& segmentation, const std::vector<std::vector<double>>& rows,
         Combine combine, double of_nothing)
      : agreed_(agreed),
        segmentation_(segmentation),
        rows_(rows),
        combine_(combine),
        of_nothing_(of_nothing),
        ranks_(rows.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) take_steps(rank);
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) moves |= go_on(rank);
    }
    for (const Side& side : ranks_)
      if (side.next < side.steps.size() || !side.open.empty()) throw std::logic_error("the steps wait for ever");
  }

  /// The columns of the result that this rank gets.
  std::vector<double> result(std::size_t rank) const {
    std::vector<double> all;
    const Interval due = segmentation_.segments_of(static_cast<Rank>(rank));
    for (auto s = static_cast<std::uint32_t>(due.begin); s < due.end; ++s) {
      const Values& values = ranks_[rank].slots.at(key(schedule::value(0, s)));
      for (Count i = 0; i < segmentation_.columns(s).size(); ++i) {
        const double x = values ? (*values)[i] : of_nothing_;
        all.push_back(x != x ? std::numeric_limits<double>::quiet_NaN() : x);
      }
    }
    return all;
  }

 private:
  using Key = std::tuple<schedule::SlotKind, std::uint16_t, std::uint32_t>;
  static Key key(schedule::Slot slot) { return {slot.kind, slot.number, slot.segment}; }

  struct Side {
    std::vector<schedule::Step> steps;
    std::size_t next = 0;
    std::map<Key, Values> slots;
    std::vector<schedule::Step> open;  // receives, in the order in which they were posted
  };

  void take_steps(std::size_t rank) {
    const schedule::Context whole = plan::context_of(agreed_);
    schedule::Steps steps = agreed_.schedule.algorithm->steps(segmentation_.cut(whole, static_cast<Rank>(rank)));
    while (const schedule::Step* const step = steps.next()) ranks_[rank].steps.push_back(*step);
  }

  /// Accepts arrived messages and carries out all possible steps. Returns whether anything was done.
  bool go_on(std::size_t rank) {
    Side& side = ranks_[rank];
    bool moved = false;
    for (auto post = side.open.begin(); post != side.open.end();) {
      auto& queue = under_way_[{static_cast<std::size_t>(post->peer), rank}];
      const bool is_first = std::none_of(side.open.begin(), post, [&](const auto& e) { return e.peer == post->peer; });
      if (!is_first || queue.empty()) {
        ++post;
        continue;
      }
      if (queue.front().first != key(post->target)) throw std::logic_error("a message for another slot");
      side.slots[key(post->target)] = queue.front().second;
      queue.pop_front();
      post = side.open.erase(post);
      moved = true;
    }
    for (; side.next < side.steps.size(); ++side.next, moved = true) {
      const schedule::Step& step = side.steps[side.next];
      const bool waits = std::any_of(side.open.begin(), side.open.end(), [&](const schedule::Step& post) {
        return post.target == step.left || post.target == step.right ||
               (post.target == step.target && step.kind != schedule::StepKind::send);
      });
      if (waits) return moved;
      carry_out(rank, step);
    }
    return moved;
  }

  void carry_out(std::size_t rank, const schedule::Step& step) {
    using enum schedule::StepKind;
    Side& side = ranks_[rank];
    Values& target = side.slots[key(step.target)];
    switch (step.kind) {
      case lift: target = own(rank, step); break;
      case send:
        under_way_[{rank, static_cast<std::size_t>(step.peer)}].push_back(
            {key(step.target), side.slots.at(key(step.left))});
        break;
      case receive: side.open.push_back(step); break;
      case merge: target = merged(side.slots.at(key(step.left)), side.slots.at(key(step.right))); break;
      case copy:
      case finish: target = side.slots.at(key(step.left)); break;
      case add_words: throw std::logic_error("plain has no words to add");
    }
  }

  Values merged(const Values& left, const Values& right) const {
    if (!left) return right;
    if (!right) return left;
    std::vector<double> both = *left;
    for (std::size_t i = 0; i < both.size(); ++i) both[i] = combine_((*left)[i], (*right)[i]);
    return both;
  }

  /// The rows of the rank that the step names, folded from the first row on.
  Values own(std::size_t rank, const schedule::Step& step) const {
    const Count columns = agreed_.members[0].description.columns;
    const Interval wanted = segmentation_.columns(step.target.segment);
    Values sum;
    Count row = 0;
    for (const Interval interval : agreed_.members[0].layout->intervals(static_cast<Rank>(rank))) {
      for (Index index = interval.begin; index < interval.end; ++index, ++row) {
        if (step.covers.is_part() && (index < step.covers.part.begin || index >= step.covers.part.end)) continue;
        const double* const first = rows_[rank].data() + row * columns;
        sum = merged(sum, std::vector<double>(first + wanted.begin, first + wanted.end));
      }
    }
    return sum;
  }

  const Agreement& agreed_;
  const plan::Segmentation& segmentation_;
  const std::vector<std::vector<double>>& rows_;
  Combine combine_;
  double of_nothing_;
  std::vector<Side> ranks_;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::pair<Key, Values>>> under_way_;
};

/// How a plan divides the columns of a call into `segments` segments; see plan::Plan.
inline plan::Segmentation segmentation_of(const Agreement& agreed, std::uint32_t segments) {
  const plan::Member& member = agreed.members.front();
  const Count columns = member.description.columns;
  const schedule::Context context = plan::context_of(agreed);
  if (segments == 0 || !member.blocks.empty())
    return plan::segmentation_of(context, columns, member.description.element_bytes, member.blocks);
  const auto most = static_cast<std::uint32_t>(std::min<Count>(segments, columns));
  return {columns, agreed.schedule.algorithm->segments_up_to(most, context)};
}

/// The sums over all ranks' memory that this rank gets, as bytes.
inline Memory plain_sums_by_hand(const Agreement& agreed, std::uint32_t segments, const std::vector<Memory>& memory,
                                 Rank rank) {
  std::vector<std::vector<double>> rows;
  for (const Memory& mine : memory) {
    rows.emplace_back(mine.size() / sizeof(double));
    if (!mine.empty()) std::memcpy(rows.back().data(), mine.data(), mine.size());
  }
  const plan::Segmentation segmentation = segmentation_of(agreed, segments);
  const auto add = [](double a, double b) { return a + b; };
  return bytes_of(ByHand(agreed, segmentation, rows, add, 0).result(static_cast<std::size_t>(rank)));
}

}  // namespace steadfold::test
