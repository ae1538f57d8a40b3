#include "collective/agreement.hpp"

#include <cstring>
#include <optional>

#include "collective/choice.hpp"
#include "collective/failure.hpp"

namespace steadfold::collective {
namespace {

/// The fixed part of a proposal; the texts and the intervals follow.
struct Head {
  Description description;
  Status status = Status::ok;
  std::uint32_t reserved = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t schedule_bytes = 0;
  std::uint64_t rows = 0;
  std::uint64_t interval_count = 0;
};

struct Proposal {
  Head head;
  std::string text;
  std::string schedule;
  std::vector<order::Interval> intervals;
};

void append(std::vector<std::byte>& out, const void* data, std::size_t bytes) {
  if (bytes == 0) return;
  out.resize(out.size() + bytes);
  std::memcpy(out.data() + out.size() - bytes, data, bytes);
}

Proposal read(std::span<const std::byte> bytes) {
  Proposal proposal;
  std::memcpy(&proposal.head, bytes.data(), sizeof proposal.head);
  const auto* from = reinterpret_cast<const char*>(bytes.data() + sizeof proposal.head);
  proposal.text.assign(from, proposal.head.text_bytes);
  from += proposal.head.text_bytes;
  proposal.schedule.assign(from, proposal.head.schedule_bytes);
  from += proposal.head.schedule_bytes;
  proposal.intervals.resize(proposal.head.interval_count);
  if (!proposal.intervals.empty())
    std::memcpy(proposal.intervals.data(), from, proposal.intervals.size() * sizeof(order::Interval));
  return proposal;
}

void require_no_failure(const std::vector<Proposal>& proposals) {
  for (std::size_t rank = 0; rank < proposals.size(); ++rank) {
    const Proposal& p = proposals[rank];
    if (p.head.status == Status::ok) continue;
    const std::string where = proposals.size() > 1 ? "rank " + std::to_string(rank) + ": " : "";
    throw Failure(p.head.status, where + p.text);
  }
}

void require_same_call(const std::vector<Proposal>& proposals) {
  for (std::size_t rank = 1; rank < proposals.size(); ++rank) {
    const Proposal& mine = proposals[rank];
    const Proposal& first = proposals[0];
    if (mine.head.description == first.head.description && mine.schedule == first.schedule) continue;
    const bool scheduled_apart = mine.schedule != first.schedule;
    const auto name = [](const std::string& schedule) { return schedule.empty() ? "auto" : schedule; };
    throw Failure(Status::mismatch,
                  "the ranks made different calls (rank 0 and rank " + std::to_string(rank) + ": " +
                      (scheduled_apart ? "schedule " + name(first.schedule) + " against " + name(mine.schedule)
                                       : difference(first.head.description, mine.head.description)) +
                      "), make the same call on every rank");
  }
}

order::Layout layout_of(std::vector<Proposal>& proposals) {
  if (static_cast<LayoutKind>(proposals[0].head.description.layout) == LayoutKind::intervals) {
    std::vector<std::vector<order::Interval>> lists;
    lists.reserve(proposals.size());
    for (Proposal& p : proposals) lists.push_back(std::move(p.intervals));
    return order::Layout::lists(lists);
  }
  std::vector<Count> counts;
  counts.reserve(proposals.size());
  for (const Proposal& p : proposals) counts.push_back(p.head.rows);
  return order::Layout::contiguous(counts);
}

void require_whole(const Agreement& agreed) {
  if (const auto fault = agreed.layout.fault()) {
    const bool twice = fault->find("twice") != std::string::npos;
    throw Failure(twice ? Status::overlap : Status::gap,
                  "the layout is not whole (" + *fault + "), list every element of 0..N-1 on exactly one rank");
  }
  const Count found = agreed.layout.element_count();
  if (agreed.element_count == arithmetic::unknown_count || agreed.element_count == found) return;
  throw Failure(found < agreed.element_count ? Status::gap : Status::overlap,
                "the ranks bring " + std::to_string(found) + " elements of " + std::to_string(agreed.element_count) +
                    " (the layout's element count), make them equal");
}

}  // namespace

std::vector<std::byte> propose(const Call& call, const Failure* failure) {
  const std::string text = failure == nullptr ? "" : failure->what();
  const std::string_view schedule = asked_schedule(call);
  const bool listed = call.layout == LayoutKind::intervals && failure == nullptr;
  const Head head{.description = describe(call),
                  .status = failure == nullptr ? Status::ok : failure->status(),
                  .text_bytes = text.size(),
                  .schedule_bytes = schedule.size(),
                  .rows = call.rows,
                  .interval_count = listed ? call.intervals.size() : 0};
  std::vector<std::byte> bytes;
  append(bytes, &head, sizeof head);
  append(bytes, text.data(), text.size());
  append(bytes, schedule.data(), schedule.size());
  if (listed) append(bytes, call.intervals.data(), call.intervals.size_bytes());
  return bytes;
}

Agreement conclude(std::span<const std::span<const std::byte>> proposals, const std::string& forced_schedule) {
  std::vector<Proposal> all;
  all.reserve(proposals.size());
  for (const auto bytes : proposals) all.push_back(read(bytes));
  require_no_failure(all);
  require_same_call(all);

  Agreement agreed;
  agreed.description = all[0].head.description;
  agreed.digest = digest_of(agreed.description);
  agreed.element_count = agreed.description.element_count;
  agreed.schedule_text = all[0].schedule;
  agreed.layout = layout_of(all);
  require_whole(agreed);
  agreed.element_count = agreed.layout.element_count();
  if (agreed.schedule_text.empty()) agreed.schedule_text = forced_schedule;
  if (agreed.schedule_text.empty())
    agreed.schedule_text = chosen_schedule(agreed.description, static_cast<Rank>(all.size()));
  agreed.schedule = checked_schedule(agreed.schedule_text, agreed.description);
  return agreed;
}

}  // namespace steadfold::collective
