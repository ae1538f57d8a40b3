// Proves schedules: runs the programs of all ranks with symbols in place of bytes, and with messages that wait for
// their receiver.
// Rank order: checked if the algorithm claims it; otherwise cyclic order is checked. Cost: O(steps of all ranks).
//
// One run stands for all interleavings: a receive names its sender, and steps start in order and wait for the
// communications that use their slots. So no choice depends on time. Only waves (see step.hpp) take messages in the
// order of arrival. For a wave, the run in the order of the steps stands for all orders: the checker requires that each
// message of a wave is merged once, that all are merged into one partial, and that no step reads the partial before. No
// two messages have a row in common, so together they have the same rows in any order. A proof covers one case: rank
// count, root, segments, blocks and layout.
//
// The checker does not see:
// - other cases than the given case;
// - bytes, sizes and capacities of slots, and whether a value is the right function of its rows;
// - the use that a machine or a transport makes of the steps, such as a credit given before a slot has been read, tags
//   that two plans share, or memory that the slots of a message share;
// - time, except for rounds;
// - anything outside one run, such as data that a second run finds in the slots of the first. The sweeps of
//   tests/plan and tests/mpi test these.
//
// Rounds are counted with this rule: each rank has one send port and one receive port (or as many as the algorithm
// says), and merging is free. A message starts at max(time its data is ready, time a send port is free) and keeps the
// port for one round. The message is received at max(its start, time the receive port is free) + 1. Ports serve
// messages in the order of the steps that send and receive them; see ports.hpp.
//
// The checker does not count bytes. For every segment it counts the messages that carry partials and the messages that
// carry values. If all partials of a segment have one size (plain; exact at full width), bytes_of gives the bytes. The
// size of a record depends on its rows.
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

/// Checks one case after the other and reuses its memory. Use the object from one thread at a time.
class Prover {
 public:
  Prover();
  ~Prover();
  /// Checks the schedule for this rank count, root, collective and segment count. Returns a description of the first
  /// fault, or `nullopt` if the schedule is proved. The context's rank is ignored. A layout must be in rank order;
  /// without a layout every rank holds one row. The check assumes that sends are synchronous and that messages between
  /// two ranks arrive in order. It checks:
  /// - the value of every rank that should have it covers every row exactly once (at least once with
  ///   `Counts::at_least_once`), and no other rank has a value;
  /// - `covers`, rank order, and, if the algorithm says so, equal merge trees on all ranks;
  /// - sends and receives name the same slots, and no step mixes segments;
  /// - no landing slot is written before it is read, and there is no deadlock;
  /// - the numbers of messages, partials, values and rounds equal the algorithm's formulas.
  std::optional<std::string> check(const Algorithm& algorithm, const Context& context);

 private:
  class Proof;
  std::unique_ptr<Proof> proof_;
};

/// Checks one case, as `Prover::check` does.
inline std::optional<std::string> check(const Algorithm& algorithm, const Context& context) {
  return Prover().check(algorithm, context);
}

/// The result of a sweep: the number of cases proved, and one line for each failed case.
struct SweepResult {
  Count passed = 0;
  std::vector<std::string> failures;

  void add(SweepResult more) {
    passed += more.passed;
    std::ranges::move(more.failures, std::back_inserter(failures));
  }
};

/// The unit of work of a sweep: a schedule, with its parameters, at one rank count.
struct SweepPart {
  Spec spec;
  Rank rank_count;
};

/// Checks every algorithm, by itself and with its examples of parameters, for each of its collectives, at every rank
/// count from `first` to `last`. Segments: 1, 2, 3 and 7, which is more than any pipeline has receives posted for; or
/// 1, the algorithm's unit and twice the unit. Beyond 67 ranks the last of these is left out, and so is `open=`. Roots:
/// all. Beyond 32 ranks: roots at the ends, in the middle and where landing slots are used again. Layouts, for an
/// algorithm whose steps follow the layout: few and many elements, with every distribution, with empty ranks. Nodes,
/// for an algorithm whose groups are nodes: ranks distributed round-robin and at random, nodes of many sizes.
SweepResult check_all(Rank first, Rank last, Algorithms algorithms = registry());

/// Returns the parts of a sweep, in the order in which its failures are listed: by schedule, then by rank count. The
/// parts can be checked in any order and by several threads, each with a separate prover.
std::vector<SweepPart> parts_of_sweep(Rank first, Rank last, Algorithms algorithms = registry());
/// Checks the cases of one part.
SweepResult check_part(const SweepPart& part, Prover& prover);

/// Whether `check_all` covers this schedule: an algorithm by itself or with one of its examples of parameters, with any
/// `block=`.
bool is_swept(const Spec& spec);

/// Checks a schedule that no sweep covers (such as a schedule with others in brackets) when it is bound. Returns a
/// description of the fault for this call, or `nullopt`. The work is bounded. If the call has more than 2^16 steps on
/// all ranks or more than 1024 ranks, the schedule is checked with fewer segments, then with half as many ranks (the
/// first ranks, on their nodes), and so on until it fits. A schedule whose steps follow the layout keeps its ranks, and
/// is not checked if they are too many.
std::optional<std::string> check_when_bound(const Spec& spec, const Context& context);

}  // namespace steadfold::schedule
