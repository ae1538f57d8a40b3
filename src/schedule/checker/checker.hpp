// Proves schedules: runs every rank's program with symbols in place of bytes and messages that wait for their receiver.
// Rank order: checked where a row claims it, cyclic order elsewhere. Cost: O(steps of all ranks).
//
// One run stands for all interleavings: a receive names its sender, steps start in order and wait for what touches
// their slots, so no choice depends on time. Only waves (see step.hpp) are taken in the order of arrival. There the run
// in the order of the steps stands for all orders. The checker demands that each message of a wave is merged once, that
// all are merged into one partial, and that nothing reads it before. No two of them have a row in common, so together
// they have the same rows in any order. A proof is of one case: rank count, root, segments, blocks and layout.
//
// It does not see: other cases than those it is asked for; bytes, sizes and capacities of slots, and whether a value is
// the right function of its rows; what a machine or a transport does with the steps, such as a credit given before a
// slot has been read, tags that two plans share, or memory that the slots of a message share; time, but for rounds; and
// anything outside one run, such as what a second run finds in the slots of the first. The sweeps of
// tests/execution and tests/mpi look for those.
//
// Rounds are counted so: each rank has one send port and one receive port (or as many as the row says), merging is
// free. A message starts at max(its data is there, send port free) and keeps the port for one round; it is received at
// max(its start, receive port free) + 1. Ports serve messages in the order of the steps that send and receive them;
// see ports.hpp.
//
// Bytes are not counted, but the messages of every segment that carry partials and those that carry values. If all
// partials of a segment have one size (plain; exact at full width), bytes_of gives the bytes; a record's size depends
// on its rows.
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

/// What is wrong with the schedule for this rank count, root, collective and segment count; `nullopt` if it is proved.
/// The context's rank is ignored; a layout must be in rank order; without one every rank holds one row. Checked with
/// synchronous sends that arrive in order between two ranks: every row exactly once in the value of every rank that
/// should have it and of no other (at least once if the schedule says `Counts::at_least_once`), what `covers` says,
/// rank order, equal merge trees on all ranks if the row says so, sends and receives that name the same slots, segments
/// apart, no landing slot written while unread, no deadlock; and messages, what they carry, and rounds against the
/// row's formulas.
std::optional<std::string> check(const Row& row, const Context& context);

/// Checks one case after the other, as `check` does, and keeps the memory for the next. One thread at a time.
class Prover {
 public:
  Prover();
  ~Prover();
  std::optional<std::string> check(const Row& row, const Context& context);

 private:
  class Proof;
  std::unique_ptr<Proof> proof_;
};

/// What a sweep found: how many cases were proved, and one line for each of the others.
struct SweepResult {
  Count passed = 0;
  std::vector<std::string> failures;

  void add(SweepResult more) {
    passed += more.passed;
    std::ranges::move(more.failures, std::back_inserter(failures));
  }
};

/// What a sweep does in one piece: a schedule, with its parameters, at one rank count.
struct SweepPart {
  Spec spec;
  Rank rank_count;
};

/// Checks every row, alone and with its examples of parameters, for each of its collectives, at every rank count from
/// `first` to `last`. Segments: 1, 2, 3 and 7, which is more than any pipeline has receives open for, or 1, the row's
/// unit and twice that; beyond 67 ranks without the last of them and without `open=`. Roots: all; beyond 32 ranks those
/// at the ends, in the middle and where landing slots are used again. A row whose steps follow the layout is checked on
/// a sample of layouts: few and many elements, by every distribution, with empty ranks; one whose groups are nodes on a
/// sample of nodes: ranks dealt in turn and at random, nodes of many sizes.
SweepResult check_all(Rank first, Rank last, Rows rows = registry());

/// The parts of such a sweep in the order of its failures: by schedule, then by rank count. They can be checked in any
/// order and by several threads, each with a prover of its own.
std::vector<SweepPart> parts_of_sweep(Rank first, Rank last, Rows rows = registry());
/// Checks the cases of one part.
SweepResult check_part(const SweepPart& part, Prover& prover);

/// Whether `check_all` covers this schedule: a row alone or with one of its examples, whatever its `block=`.
bool is_swept(const Spec& spec);

/// When a schedule that no sweep covers (such as one with others in brackets) is bound: what is wrong with it for this
/// call, or `nullopt`. The work is bounded: if the call has more than 2^16 steps on all ranks or more than 1024 ranks,
/// the same schedule is checked with fewer segments, then with half as many ranks (the first ones, on their nodes), and
/// so on until it fits. A schedule whose steps follow the layout keeps its ranks, and is not checked if they are too
/// many.
std::optional<std::string> check_when_bound(const Spec& spec, const Context& context);

}  // namespace steadfold::schedule
