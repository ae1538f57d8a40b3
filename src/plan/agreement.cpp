#include "plan/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "order/laps.hpp"
#include "plan/choice.hpp"
#include "plan/segmentation.hpp"
#include "schedule/checker/checker.hpp"

namespace steadfold::plan {
namespace {

/// The parts of a proposal that have a fixed size: the head of the proposal, which the texts follow, and the head of
/// each call, which the call's intervals follow.
struct ProposalHead {
  Status status = Status::ok;
  Asked asked = Asked::reduction;
  std::uint64_t text_bytes = 0;
  std::uint64_t schedule_bytes = 0;
  std::uint64_t call_count = 0;
};
struct CallHead {
  call::Description description;
  order::Grid grid;
  std::uint64_t rows = 0;
  std::uint64_t block = 0;  // number of columns in this rank's block
  std::uint64_t interval_count = 0;
};

struct ProposedCall {
  call::Description description;
  order::Grid grid;
  Count rows = 0;
  Count block = 0;
  std::vector<order::Interval> intervals;
};
struct Proposal {
  Status status = Status::ok;
  Asked asked = Asked::reduction;
  std::string text;
  std::string schedule;
  std::vector<ProposedCall> calls;
};

void append(std::vector<std::byte>& out, const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  out.resize(out.size() + bytes);
  std::memcpy(out.data() + out.size() - bytes, data, bytes);
}

/// Reads the bytes of a rank's proposal from front to back.
class ProposalReader {
 public:
  explicit ProposalReader(std::span<const std::byte> bytes) : at_(bytes.data()) {}

  template <class T>
  T take() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text(std::size_t bytes) {
    std::string text(reinterpret_cast<const char*>(at_), bytes);
    at_ += bytes;
    return text;
  }
  std::vector<order::Interval> intervals(std::uint64_t count) {
    std::vector<order::Interval> intervals(count);
    if (count > 0) std::memcpy(intervals.data(), at_, count * sizeof(order::Interval));
    at_ += count * sizeof(order::Interval);
    return intervals;
  }

 private:
  const std::byte* at_;
};

Proposal read(std::span<const std::byte> bytes) {
  ProposalReader reader(bytes);
  const auto head = reader.take<ProposalHead>();
  Proposal proposal{.status = head.status, .asked = head.asked};
  proposal.text = reader.text(head.text_bytes);
  proposal.schedule = reader.text(head.schedule_bytes);
  for (std::uint64_t i = 0; i < head.call_count; ++i) {
    const auto call_head = reader.take<CallHead>();
    proposal.calls.push_back({.description = call_head.description,
                              .grid = call_head.grid,
                              .rows = call_head.rows,
                              .block = call_head.block,
                              .intervals = reader.intervals(call_head.interval_count)});
  }
  return proposal;
}

void require_no_failure(const std::vector<Proposal>& proposals) {
  for (std::size_t rank = 0; rank < proposals.size(); ++rank) {
    const Proposal& p = proposals[rank];
    if (p.status == Status::ok) continue;
    const std::string where = proposals.size() > 1 ? "rank " + std::to_string(rank) + ": " : "";
    throw call::Failure(p.status, where + p.text);
  }
}

std::string_view name_of(Asked asked) noexcept {
  constexpr std::array<std::string_view, 4> names = {"a reduction", "the binding of a plan",
                                                     "a request for a layout in rank order", "a barrier"};
  return names[static_cast<std::size_t>(asked)];
}

/// Describes the difference between two ranks' calls, or returns an empty text.
std::optional<std::string> difference(const Proposal& first, const Proposal& mine) {
  const auto name = [](const std::string& schedule) { return schedule.empty() ? "auto" : schedule; };
  if (mine.asked != first.asked)
    return std::string(name_of(first.asked)) + " against " + std::string(name_of(mine.asked));
  if (mine.schedule != first.schedule) return "schedule " + name(first.schedule) + " against " + name(mine.schedule);
  if (mine.calls.size() != first.calls.size())
    return "bundles of " + std::to_string(first.calls.size()) + " against " + std::to_string(mine.calls.size()) +
           " calls";
  for (std::size_t i = 0; i < mine.calls.size(); ++i) {
    const ProposedCall& one = first.calls[i];
    const ProposedCall& other = mine.calls[i];
    if (other.description == one.description) continue;
    const bool are_grids = one.description.grid != 0 && other.description.grid != 0;
    if (are_grids && one.grid != other.grid)
      return call::in_bundle(i, mine.calls.size()) + "a grid of " + one.grid.text() + " against " + other.grid.text();
    return call::in_bundle(i, mine.calls.size()) + call::difference(one.description, other.description);
  }
  return std::nullopt;
}

void require_same_calls(const std::vector<Proposal>& proposals) {
  for (std::size_t rank = 1; rank < proposals.size(); ++rank) {
    if (const auto differing = difference(proposals[0], proposals[rank]))
      throw call::Failure(Status::mismatch, "the ranks made different calls (rank 0 and rank " + std::to_string(rank) +
                                                ": " + *differing + "), make the same call on every rank");
  }
}

/// Makes the layout of ranks that have these numbers of rows, one rank after the other.
order::Layout in_rank_order(std::span<const Count> counts) {
  Count total = 0;
  for (const Count count : counts) total = sum_of_rows(total, count);
  return order::Layout::contiguous(counts);
}

order::Layout layout_of(std::vector<Proposal>& proposals, std::size_t call) {
  const ProposedCall& first = proposals[0].calls[call];
  if (first.description.layout == call::LayoutKind::grid) return order::Layout::of(first.grid);
  if (first.description.layout == call::LayoutKind::intervals) {
    std::vector<std::vector<order::Interval>> lists;
    lists.reserve(proposals.size());
    for (Proposal& p : proposals) lists.push_back(std::move(p.calls[call].intervals));
    return order::Layout::lists(lists);
  }
  std::vector<Count> counts;
  counts.reserve(proposals.size());
  for (const Proposal& p : proposals) counts.push_back(p.calls[call].rows);
  return in_rank_order(counts);
}

/// The facts about a call's layout that ranks must tell each other, if they all make the same call.
enum class Telling : std::uint8_t { nothing, rows, fingerprint, lists };

Telling telling_of(const call::Description& description) noexcept {
  switch (description.layout) {
    case call::LayoutKind::row_per_rank:
    case call::LayoutKind::grid: return Telling::nothing;
    case call::LayoutKind::intervals: return call::needs_lists(description) ? Telling::lists : Telling::fingerprint;
    default: return Telling::rows;
  }
}

/// Returns the layout that follows from the facts that all ranks told, or `nullopt` if a rank has told that its
/// interval list is wrong.
std::optional<order::Layout> layout_of(const call::Call& call, const call::Description& description, Rank rank_count,
                                       std::span<ProposalReader> told) {
  std::vector<Count> counts(static_cast<std::size_t>(rank_count), 1);  // one row per rank
  order::Coverage all;
  std::vector<std::vector<order::Interval>> lists;
  for (std::size_t rank = 0; rank < told.size(); ++rank) {
    switch (telling_of(description)) {
      case Telling::nothing: break;
      case Telling::rows: counts[rank] = told[rank].take<Count>(); break;
      case Telling::fingerprint: {
        const auto mine = told[rank].take<order::Coverage>();
        counts[rank] = mine.rows;
        all.add(mine);
        break;
      }
      case Telling::lists: lists.push_back(told[rank].intervals(told[rank].take<std::uint64_t>())); break;
    }
  }
  if (!lists.empty()) return order::Layout::lists(lists);
  if (telling_of(description) == Telling::fingerprint && !all.whole()) return std::nullopt;
  if (description.layout != call::LayoutKind::grid) return in_rank_order(counts);
  if (call::needs_lists(description)) return order::Layout::of(*call.grid);
  for (Rank rank = 0; rank < rank_count; ++rank) counts[static_cast<std::size_t>(rank)] = call.grid->count(rank);
  return in_rank_order(counts);  // indices have no effect on the bits of this call
}

/// Throws Failure if ranks with several intervals would send too much: no rows of different laps are combined before
/// they are on one rank. Intervals in rank order touch when they are merged, and so are never too many.
void require_few_values_of_lanes(const order::Layout& layout, const call::Description& description,
                                 const std::string& where) {
  if (description.parameters.lanes <= 1 || layout.in_rank_order()) return;
  Count values = 0;
  for (Rank rank = 0; rank < layout.rank_count(); ++rank) {
    for (const order::Interval rows : layout.intervals(rank))
      values += order::most_values(rows, description.parameters.lanes);
    if (values <= most_bytes_of_a_layout / std::max<Bytes>(description.row_bytes(), 1)) continue;
    throw call::Failure(Status::unsupported, where + std::to_string(description.parameters.lanes) +
                                                 " lanes in this layout (the ranks would send more than " +
                                                 std::to_string(most_bytes_of_a_layout >> 20) +
                                                 " MiB, since blocks of few laps cannot be combined " +
                                                 "before they are sent), give larger blocks or use fewer lanes");
  }
}

/// Throws Failure if the numbers of rows of all groups, in all intervals, need too much memory.
void require_few_numbers(const order::Layout& layout, const call::Description& description, const std::string& where) {
  if (!call::numbers_rows_of_groups(description)) return;
  const Count most = most_bytes_of_a_layout / sizeof(Count) / std::max<Count>(description.columns, 1);
  Count intervals = 0;
  for (Rank rank = 0; rank < layout.rank_count(); ++rank) {
    intervals += layout.intervals(rank).size();
    if (intervals <= most) continue;
    throw call::Failure(Status::unsupported,
                        where + std::to_string(description.groups) +
                            " groups with method tree in this layout (the ranks " +
                            "would exchange the number of rows of every group in every interval, more than " +
                            std::to_string(most_bytes_of_a_layout >> 20) + " MiB), give fewer and longer intervals" +
                            (call::rounding_once(description).empty() ? "" : ", or use method exact"));
  }
}

/// Adds a call, whose layout and blocks are known, to the agreement. The text of a failure begins with `where`.
void add_member(Agreement& agreed, const call::Description& description, order::Layout known, std::vector<Count> blocks,
                const std::string& where) {
  auto layout = std::make_shared<const order::Layout>(std::move(known));
  require_whole(*layout, description.element_count, where);
  require_few_values_of_lanes(*layout, description, where);
  require_few_numbers(*layout, description, where);
  for (const Member& other : agreed.members) {
    if (*other.layout == *layout) layout = other.layout;
  }
  const Count element_count = layout->element_count();
  agreed.members.push_back({.description = description,
                            .digest = call::digest_of(description),
                            .layout = std::move(layout),
                            .element_count = element_count,
                            .blocks = std::move(blocks)});
}

/// Gives the members layouts with ranks in the order of their places on nodes. Members with the same layout share this
/// layout, too.
void take_nodes(Agreement& agreed, const std::shared_ptr<const order::Nodes>& nodes) {
  agreed.nodes = nodes;
  if (nodes->are_runs()) return;
  for (Member& member : agreed.members) {
    const auto other = std::ranges::find(agreed.members, member.layout, &Member::layout);
    member.by_place = &*other != &member
                          ? other->by_place
                          : std::make_shared<const order::Layout>(member.layout->reordered(nodes->ranks()));
  }
}

void require_served(const Agreement& agreed) {
  std::vector<const order::Layout*> layouts;
  layouts.reserve(agreed.members.size());
  for (const Member& member : agreed.members) layouts.push_back(member.layout.get());
  if (const auto reason = refusal(*agreed.schedule.algorithm, layouts))
    throw call::Failure(Status::unsupported, *reason);
  const bool follows_layout = agreed.schedule.algorithm->layouts == schedule::Layouts::rank_order;
  const auto has_groups = [](const Member& member) { return call::numbers_rows_of_groups(member.description); };
  if (follows_layout && std::ranges::any_of(agreed.members, has_groups))
    throw call::Failure(
        Status::unsupported,
        "schedule '" + agreed.schedule.name + "' cannot serve groups with method tree (its messages carry " +
            "parts of a rank's rows, and the rows of a group have numbers of their own), choose another " + "schedule");
  if (const auto reason = refusal(agreed.schedule, layouts.front()->rank_count(), agreed.nodes.get()))
    throw call::Failure(Status::unsupported, *reason);
  if (!is_scan(agreed.collective())) return;
  for (const order::Layout* const layout : layouts) {
    if (!layout->in_rank_order())
      throw call::Failure(
          Status::unsupported,
          "this layout cannot be scanned (a scan needs elements in rank order), give every rank the elements "
          "that follow the elements of the rank before it");
  }
}

void take_schedule(Agreement& agreed, const std::string& text, std::span<const call::Description> descriptions,
                   const Means& means) {
  agreed.chosen = chosen_schedule(text, descriptions, *agreed.members.front().layout, means.network, means.nodes.get());
  agreed.schedule = checked_schedule(agreed.chosen.schedule, descriptions, means.algorithms, means.may_differ);
}

/// Chooses the schedule after the ranks have agreed on everything else. `text` is the schedule for which the caller
/// asked, or empty.
void choose(Agreement& agreed, const std::string& text, const Means& means) {
  std::vector<call::Description> descriptions;
  descriptions.reserve(agreed.members.size());
  for (const Member& member : agreed.members) descriptions.push_back(member.description);
  agreed.digest = call::digest_of(descriptions);
  agreed.link = means.network.link;
  agreed.unused_profile = means.unused_profile;
  const std::string& asked = text.empty() ? means.forced_schedule : text;
  agreed.is_our_choice = asked.empty() || asked == "auto";
  try {
    take_schedule(agreed, asked, descriptions, means);
    if (nodes_of(*agreed.schedule.algorithm, &agreed.schedule, means.nodes.get()) != nullptr)
      take_nodes(agreed, means.nodes);
    require_served(agreed);
  } catch (const call::Failure& failure) {
    if (!text.empty() || asked.empty()) throw;
    throw call::Failure(failure.status(), std::string("STEADFOLD_SCHEDULE of rank 0: ") + failure.what());
  }
  agreed.needs_proof = !schedule::is_swept(agreed.schedule);
  for (Member& member : agreed.members) {
    member.counts = counts_of(*agreed.schedule.algorithm, &agreed.schedule);
    member.adds_words = agreed.schedule.algorithm->adds_words;
  }
}

}  // namespace

schedule::Context context_of(const Agreement& agreed) noexcept {
  const Member& first = agreed.members.front();
  return call::context_of(first.description, agreed.schedule, first.layout->rank_count(), &first.covered(),
                          agreed.nodes.get());
}

void require_whole(const order::Layout& layout, Count element_count, const std::string& where) {
  if (const auto fault = layout.fault())
    throw call::Failure(fault->status, where + "the layout does not have every element exactly once (" + fault->text +
                                           "), list every element of 0..N-1 exactly once");
  const Count found = layout.element_count();
  if (element_count == arithmetic::unknown_count || element_count == found) return;
  throw call::Failure(found < element_count ? Status::gap : Status::overlap,
                      where + std::to_string(found) + " elements instead of " + std::to_string(element_count) +
                          " (the layout's element count), make the numbers equal");
}

Count sum_of_rows(Count some, Count more) {
  if (some > order::most_elements || more > order::most_elements - some)
    throw call::Failure(
        Status::invalid_argument,
        "too many rows (the ranks together bring 2^63 or more), check the number of rows of every rank");
  return some + more;
}

std::vector<std::byte> propose(std::span<const call::Call> calls, Rank rank, const call::Failure* failure,
                               Asked asked) {
  const std::string text = failure == nullptr ? "" : failure->what();
  const std::string_view schedule = calls.empty() ? std::string_view() : call::asked_schedule(calls.front());
  const ProposalHead head{.status = failure == nullptr ? Status::ok : failure->status(),
                          .asked = asked,
                          .text_bytes = text.size(),
                          .schedule_bytes = schedule.size(),
                          .call_count = calls.size()};
  std::vector<std::byte> bytes;
  append(bytes, &head, sizeof head);
  append(bytes, text.data(), text.size());
  append(bytes, schedule.data(), schedule.size());
  for (const call::Call& call : calls) {
    const bool listed = call.layout == call::LayoutKind::intervals && failure == nullptr;
    const bool has_block = call.collective == Collective::reduce_scatter && failure == nullptr;
    const CallHead call_head{.description = call::describe(call),
                             .grid = call.grid != nullptr ? *call.grid : order::Grid(),
                             .rows = call.rows,
                             .block = has_block ? call.blocks[static_cast<std::size_t>(rank)] : 0,
                             .interval_count = listed ? call.intervals.size() : 0};
    append(bytes, &call_head, sizeof call_head);
    if (listed) append(bytes, call.intervals.data(), call.intervals.size_bytes());
  }
  return bytes;
}

order::Coverage coverage_of(const call::Call& call) noexcept {
  order::Coverage coverage;
  if (call.layout != call::LayoutKind::intervals) return coverage;
  for (const order::Interval interval : call.intervals) coverage.add(interval);
  return coverage;
}

bool need_to_tell(std::span<const call::Call> calls) {
  return std::ranges::any_of(
      calls, [](const call::Call& call) -> bool { return telling_of(call::describe(call)) != Telling::nothing; });
}

std::vector<std::byte> tell(std::span<const call::Call> calls) {
  std::vector<std::byte> bytes;
  for (const call::Call& call : calls) {
    switch (telling_of(call::describe(call))) {
      case Telling::nothing: break;
      case Telling::rows: append(bytes, &call.rows, sizeof call.rows); break;
      case Telling::fingerprint: {
        const order::Coverage coverage = coverage_of(call);
        append(bytes, &coverage, sizeof coverage);
        break;
      }
      case Telling::lists: {
        const std::uint64_t count = call.intervals.size();
        append(bytes, &count, sizeof count);
        append(bytes, call.intervals.data(), call.intervals.size_bytes());
        break;
      }
    }
  }
  return bytes;
}

std::optional<Agreement> settle(std::span<const call::Call> calls, std::span<const std::span<const std::byte>> told,
                                Rank rank_count, const Means& means) {
  Agreement agreed;
  std::vector<ProposalReader> readers(told.begin(), told.end());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const call::Description description = call::describe(calls[i]);
    std::optional<order::Layout> layout = layout_of(calls[i], description, rank_count, readers);
    if (!layout) return std::nullopt;
    const bool has_blocks = description.collective == Collective::reduce_scatter;
    add_member(agreed, description, std::move(*layout),
               has_blocks ? std::vector<Count>(calls[i].blocks.begin(), calls[i].blocks.end()) : std::vector<Count>(),
               call::in_bundle(i, calls.size()));
  }
  choose(agreed, std::string(call::asked_schedule(calls.front())), means);
  return agreed;
}

Agreement conclude(std::span<const std::span<const std::byte>> proposals, const Means& means) {
  std::vector<Proposal> all;
  all.reserve(proposals.size());
  for (const auto bytes : proposals) all.push_back(read(bytes));
  require_no_failure(all);
  require_same_calls(all);

  Agreement agreed;
  if (all[0].calls.empty()) return agreed;
  for (std::size_t call = 0; call < all[0].calls.size(); ++call) {
    const call::Description description = all[0].calls[call].description;
    std::vector<Count> blocks;
    if (description.collective == Collective::reduce_scatter)
      for (const Proposal& p : all) blocks.push_back(p.calls[call].block);
    add_member(agreed, description, layout_of(all, call), std::move(blocks),
               call::in_bundle(call, all[0].calls.size()));
  }
  choose(agreed, all[0].schedule, means);
  return agreed;
}

}  // namespace steadfold::plan
