// What all ranks agree on before a plan exists: the same calls, layouts without faults, one schedule.
// Cost: ranks that have compared digests gather 8 bytes per call and rank where the rows of the others are not known,
// 16 for interval lists, and 16 per interval where the method needs the lists; nothing for grids and MPI's shape.
// Finding out what is wrong takes some 300 bytes per call and 16 per interval from every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agreement/choice.hpp"
#include "agreement/description.hpp"
#include "agreement/failure.hpp"
#include "agreement/kinds.hpp"
#include "agreement/segmentation.hpp"
#include "schedule/registry.hpp"

namespace steadfold::agreement {

/// One reduction of a plan, the same on all ranks.
struct Member {
  Description description;
  std::uint64_t digest = 0;
  std::shared_ptr<const order::Layout> layout;  // members with equal ones share it
  Count element_count = 0;                      // unknown_count where only the partials know
  std::vector<Count> blocks = {};               // reduce_scatter: the columns of each rank
  /// How often the schedule counts rows.
  schedule::Counts counts = schedule::Counts::once;
  bool adds_words = false;  // the schedule leaves the adding to the transport
  /// The layout by the places of ranks on their nodes; null if the schedule names ranks by their numbers.
  std::shared_ptr<const order::Layout> by_place = nullptr;

  /// The layout in which the schedule's `covers` name ranks.
  const order::Layout& covered() const noexcept { return by_place != nullptr ? *by_place : *layout; }
  MergedRows merged_rows() const noexcept {
    return {.rows = adds_words ? arithmetic::unknown_count : element_count, .ranks = layout->rank_count()};
  }

  bool gets_result(Rank rank) const noexcept { return agreement::gets_result(description, blocks, rank); }
};

/// What all ranks have agreed on for one call or a bundle; equal on every rank.
struct Agreement {
  std::vector<Member> members;  // one call, or those of a bundle; all have one root
  std::uint64_t digest = 0;     // of all members
  schedule::Spec schedule;
  Chosen chosen;                                        // its name, and what it was compared with
  bool is_our_choice = false;                           // of the schedule: nobody asked for one
  bool needs_proof = false;                             // of the schedule, when it is bound
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // that the schedule takes its groups from, if it does
  transport::LogGP link = assumed_link;                 // by which vectors are cut
  std::string unused_profile = {};                      // as in Means

  Rank root() const noexcept { return members.front().description.root; }
  Collective collective() const noexcept { return members.front().description.collective; }
  /// Whether some member's rows are gone through twice.
  bool has_first_sweep() const noexcept {
    return std::ranges::any_of(members, [](const Member& member) -> bool {
      return member.description.sweep == arithmetic::Sweep::double_sweep;
    });
  }
};

/// The context of the agreed schedule, for the first member and rank 0. `agreed` must outlive it.
schedule::Context context_of(const Agreement& agreed) noexcept;

/// What a rank asks its group for.
enum class Asked : std::uint32_t { reduction, bind, rank_order, barrier };

/// A rank's side: its calls as bytes, with what is wrong with them, if anything (null: nothing).
std::vector<std::byte> propose(std::span<const Call> calls, Rank rank, const Failure* failure,
                               Asked asked = Asked::reduction);

/// Throws Failure unless the layout has every element of 0..N-1 exactly once, and N is `element_count` (unknown_count:
/// any number). The failure's text begins with `where`.
void require_whole(const order::Layout& layout, Count element_count, const std::string& where);

/// The sum. Throws Failure if no job has so many rows.
Count sum_of_rows(Count some, Count more);

/// The fingerprint of a call's interval list; of nothing for other layouts.
order::Coverage coverage_of(const Call& call) noexcept;

/// What all ranks of a job know and that goes into every agreement.
struct Means {
  std::string forced_schedule = {};                     // rank 0's environment; empty where there is none
  schedule::Rows rows = schedule::registry();           // the schedules that can be asked for
  bool may_differ = false;                              // as in schedule::Merging
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // of the machine; null if there is one, or nobody knows
  Network network = {};                                 // as rank 0's profile describes it
  std::string unused_profile = {};                      // why that profile is not used; empty: it is, or there is none
};

/// All ranks' proposals, by rank, to one agreement. Throws the same Failure on every rank: the first rank's that has
/// one, else what the ranks disagree about, else what is wrong with a layout or the schedule. Without calls there is
/// nothing to agree on.
Agreement conclude(std::span<const std::span<const std::byte>> proposals, const Means& means = {});

/// Whether ranks must still tell each other their rows, once digests have shown that their calls agree and are usable.
/// All ranks get one answer.
bool need_to_tell(std::span<const Call> calls);
/// This rank's rows as bytes: their number, or the fingerprint of its interval list, or the list itself.
std::vector<std::byte> tell(std::span<const Call> calls);
/// What all ranks told, by rank, or nothing if there was nothing, with this rank's own calls. Throws as `conclude`.
/// Nothing comes of it where interval lists are not whole: proposals say what is wrong.
std::optional<Agreement> settle(std::span<const Call> calls, std::span<const std::span<const std::byte>> told,
                                Rank rank_count, const Means& means = {});

}  // namespace steadfold::agreement
