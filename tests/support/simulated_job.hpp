// All ranks of a job in one process. Every rank makes a proposal, all agree, and every rank makes a plan over one
// simulated network. The plans are tested in random order until all are done, or until a bound shows that they are
// stuck.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "call/failure.hpp"
#include "plan/agreement.hpp"
#include "plan/plan.hpp"
#include "support/hex.hpp"
#include "transport/simulated/simulated.hpp"

namespace steadfold {

/// For GoogleTest, which looks for PrintTo in the namespace of the type.
inline void PrintTo(Status status, std::ostream* out) { *out << "status " << static_cast<std::uint32_t>(status); }

}  // namespace steadfold

namespace steadfold::test {

using call::all_ranks;
using call::Call;
using call::Failure;
using call::LayoutKind;
using call::Method;
using order::Bytes;
using order::Count;
using order::Index;
using order::Interval;
using order::Rank;
using plan::Agreement;
using plan::Plan;
using transport::Sends;

using Memory = std::vector<std::byte>;

/// The result of all ranks: an agreement, or one failure.
struct Concluded {
  std::optional<Agreement> agreement;
  Status status = Status::ok;
  std::string text;
};

/// A rank's proposal, as a bind makes it. If the call alone is wrong, the proposal says so.
inline Memory proposal_of(const Call& call, Rank rank_count, Rank rank = 0) {
  try {
    call::validate(call, rank_count);
    const call::Description description = call::describe(call);
    call::make_kind(description, call::operator_of(description, call.user), call.columns);
  } catch (const Failure& failure) {
    return plan::propose(std::span(&call, 1), rank, &failure);
  }
  return plan::propose(std::span(&call, 1), rank, nullptr);
}

/// The nodes of the simulated machine.
using Nodes = std::shared_ptr<const order::Nodes>;

inline Concluded concluded(const std::vector<Memory>& proposals, const std::string& forced_schedule = "",
                           const Nodes& nodes = nullptr) {
  const std::vector<std::span<const std::byte>> spans(proposals.begin(), proposals.end());
  Concluded result;
  try {
    result.agreement = plan::conclude(spans, {.forced_schedule = forced_schedule, .nodes = nodes});
  } catch (const Failure& failure) {
    result.status = failure.status();
    result.text = failure.what();
  }
  return result;
}

inline Concluded concluded(const std::vector<Call>& calls, const std::string& forced_schedule = "",
                           const Nodes& nodes = nullptr) {
  std::vector<Memory> proposals;
  const auto rank_count = static_cast<Rank>(calls.size());
  for (Rank rank = 0; rank < rank_count; ++rank)
    proposals.push_back(proposal_of(calls[static_cast<std::size_t>(rank)], rank_count, rank));
  return concluded(proposals, forced_schedule, nodes);
}

/// Random nodes of the ranks, at most `most` of them.
inline Nodes random_nodes(std::mt19937_64& random, Rank rank_count, Rank most) {
  std::vector<Rank> labels(static_cast<std::size_t>(rank_count));
  for (Rank& label : labels) label = static_cast<Rank>(random() % static_cast<Count>(most));
  return std::make_shared<const order::Nodes>(labels);
}

/// The simulated machine on which jobs run.
class SimulatedRanks {
 public:
  SimulatedRanks(Rank rank_count, std::uint64_t seed, Sends sends = Sends::buffered)
      : random_(seed),
        network_(std::make_shared<transport::SimulatedNetwork>(
            rank_count, transport::SimulatedOptions{.seed = seed, .sends = sends})),
        order_(static_cast<std::size_t>(rank_count)) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  std::shared_ptr<transport::Transport> transport(Rank rank) { return {network_, &network_->rank(rank)}; }
  /// Connects the endpoints that all ranks have prepared.
  void connect() { network_->connect(); }
  transport::Traffic traffic() const { return network_->traffic(); }
  /// The ranks in a new random order.
  const std::vector<Rank>& shuffled() {
    std::shuffle(order_.begin(), order_.end(), random_);
    return order_;
  }
  Rank rank_count() const { return static_cast<Rank>(order_.size()); }

 private:
  std::mt19937_64 random_;
  std::shared_ptr<transport::SimulatedNetwork> network_;
  std::vector<Rank> order_;
};

/// One plan on every rank.
class SimulatedJob {
 public:
  SimulatedJob(SimulatedRanks& ranks, const Agreement& agreement, const std::vector<Call>& calls,
               std::uint32_t segments = 1, std::uint32_t tag = 2) {
    for (Rank rank = 0; rank < ranks.rank_count(); ++rank) {
      plans_.push_back(std::make_unique<Plan>(agreement, std::span(&calls[static_cast<std::size_t>(rank)], 1),
                                              ranks.transport(rank), tag, segments));
    }
    ranks.connect();
  }

  Plan& plan(Rank rank) { return *plans_[static_cast<std::size_t>(rank)]; }
  Rank rank_count() const { return static_cast<Rank>(plans_.size()); }
  void trace(bool on) {
    for (auto& plan : plans_) plan->trace(on);
  }

  /// The number of messages of all ranks in the last run, and, in `rounds`, the length of its longest chain.
  Count messages() const {
    Count sum = 0;
    for (const auto& plan : plans_) sum += plan->traffic_of_last_run().messages;
    return sum;
  }
  Count rounds() const {
    Count most = 0;
    for (const auto& plan : plans_) most = std::max<Count>(most, plan->rounds());
    return most;
  }

 private:
  std::vector<std::unique_ptr<Plan>> plans_;
};

/// Tests every plan of every job, rank by rank in random order, until all are done. Returns false if they are stuck: a
/// message takes at most 2 `max_polls` sweeps, and no chain of messages is longer than a few messages per rank.
inline bool finish(SimulatedRanks& ranks, const std::vector<SimulatedJob*>& jobs, std::uint32_t segments = 1) {
  const int bound =
      200 + 16 * transport::SimulatedNetwork::max_polls * (ranks.rank_count() + 2) * static_cast<int>(segments + 1);
  for (int sweep = 0; sweep < bound; ++sweep) {
    bool all_done = true;
    for (const Rank rank : ranks.shuffled()) {
      for (SimulatedJob* job : jobs) all_done &= job->plan(rank).test();
    }
    if (all_done) return true;
  }
  return false;
}

/// The rows of a job, distributed over its ranks: the intervals of each rank in the order of its memory.
using Deal = std::vector<std::vector<Interval>>;

inline Count rows_of(const std::vector<Interval>& intervals) {
  Count rows = 0;
  for (const Interval interval : intervals) rows += interval.size();
  return rows;
}

inline Deal contiguous_deal(const std::vector<Count>& counts) {
  Deal deal;
  Index begin = 0;
  for (const Count count : counts) {
    deal.push_back({{begin, begin + count}});
    begin += count;
  }
  return deal;
}

/// A copy of a rank's rows from the rows of the whole job.
template <class T>
Memory memory_of(const std::vector<T>& elements, Count columns, const std::vector<Interval>& intervals) {
  Memory memory;
  for (const Interval interval : intervals) {
    const auto* first = reinterpret_cast<const std::byte*>(elements.data() + interval.begin * columns);
    memory.insert(memory.end(), first, first + interval.size() * columns * sizeof(T));
  }
  return memory;
}

/// One call per rank: `common`, with the rank's rows. `deal` must outlive the calls.
inline std::vector<Call> calls_for(const Call& common, const Deal& deal) {
  std::vector<Call> calls(deal.size(), common);
  for (std::size_t i = 0; i < deal.size(); ++i) {
    calls[i].rows = rows_of(deal[i]);
    if (common.layout == LayoutKind::intervals || common.layout == LayoutKind::grid) calls[i].intervals = deal[i];
  }
  return calls;
}

/// Memory for a rank's result, with a guard behind it.
class Result {
 public:
  explicit Result(Bytes size) : size_(size), bytes_(size + 32, untouched) {}
  std::byte* data() { return bytes_.data(); }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  bool guard_intact() const { return all_untouched(std::span(bytes_).subspan(size_)); }
  bool intact() const { return all_untouched(bytes_); }

 private:
  static constexpr std::byte untouched{0xEE};
  static bool all_untouched(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == untouched; });
  }
  Bytes size_;
  Memory bytes_;
};

/// The results of a run on every rank.
struct Outcome {
  bool stuck = false;
  std::vector<Status> statuses;
  std::vector<Result> results;
};

/// Runs a job once with the memory of every rank; `second` has the second operands, if there are any. `result_bytes`:
/// bytes of a row of results.
inline Outcome run(SimulatedRanks& ranks, SimulatedJob& job, const std::vector<Memory>& first, Bytes result_bytes,
                   std::uint32_t segments = 1, const std::vector<Memory>& second = {}) {
  Outcome outcome;
  for (std::size_t i = 0; i < first.size(); ++i) outcome.results.emplace_back(result_bytes);
  for (const Rank rank : std::vector<Rank>(ranks.shuffled())) {
    const auto i = static_cast<std::size_t>(rank);
    const call::Data data{.first = first[i].data(),
                          .second = second.empty() ? nullptr : second[i].data(),
                          .result = outcome.results[i].data()};
    job.plan(rank).start(std::span(&data, 1), rank % 2 == 1);  // each rank may choose whether its caller stays
  }
  outcome.stuck = !finish(ranks, {&job}, segments);
  for (Rank rank = 0; rank < job.rank_count(); ++rank) {
    outcome.statuses.push_back(job.plan(rank).status());
    EXPECT_TRUE(outcome.results[static_cast<std::size_t>(rank)].guard_intact()) << "written past the result";
  }
  return outcome;
}

template <class T>
Memory bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// Expects that every rank that gets a result has these bytes and status ok, and that no other rank's result was
/// written.
inline void expect_result(const Outcome& outcome, Rank root, std::span<const std::byte> expected) {
  ASSERT_FALSE(outcome.stuck) << "deadlock";
  for (std::size_t i = 0; i < outcome.results.size(); ++i) {
    ASSERT_EQ(outcome.statuses[i], Status::ok) << "rank " << i;
    if (root == all_ranks || root == static_cast<Rank>(i)) {
      ASSERT_EQ(hex(outcome.results[i].bytes()), hex(expected)) << "rank " << i;
    } else {
      ASSERT_TRUE(outcome.results[i].intact()) << "rank " << i << " is not the root";
    }
  }
}

}  // namespace steadfold::test
