// All ranks agree on the same calls, on valid layouts and on one schedule, before they make a plan.
// Cost: ranks with equal digests gather 8 bytes per call and rank if they do not know the rows of the others. For
// interval lists they gather 16 bytes, and 16 bytes per interval if the method needs the lists. For grids and MPI's
// shape they gather nothing. To find the cause of an error, they gather about 300 bytes per call and 16 bytes per
// interval from every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "call/description.hpp"
#include "call/failure.hpp"
#include "call/kinds.hpp"
#include "plan/choice.hpp"
#include "plan/segmentation.hpp"
#include "schedule/registry.hpp"

namespace steadfold::plan {

/// One call of a plan, as all ranks have agreed on it.
struct Member {
  call::Description description;
  std::uint64_t digest = 0;
  std::shared_ptr<const order::Layout> layout;  // members with equal layouts share the object
  // Number of rows of all ranks; unknown_count if only the partials have the number.
  Count element_count = 0;
  std::vector<Count> blocks = {};  // reduce_scatter: the number of columns of each rank
  /// How often the schedule may count a row.
  schedule::Counts counts = schedule::Counts::once;
  bool adds_words = false;  // whether the transport adds the partials as integers (words)
  /// The layout with the ranks in the order of their places on nodes. The pointer is null if the schedule numbers ranks
  /// as the communicator does.
  std::shared_ptr<const order::Layout> by_place = nullptr;

  /// Returns the layout with the rank numbers that the schedule's `covers` use.
  const order::Layout& covered() const noexcept { return by_place != nullptr ? *by_place : *layout; }
  call::MergedRows merged_rows() const noexcept {
    return {.rows = adds_words ? arithmetic::unknown_count : element_count,
            .ranks = layout->rank_count(),
            .layout = layout.get()};
  }

  bool gets_result(Rank rank) const noexcept { return call::gets_result(description, blocks, rank); }
};

/// The facts that all ranks have agreed on for one call or a bundle. These facts are equal on every rank.
struct Agreement {
  std::vector<Member> members;  // one call, or the calls of a bundle; all have the same root
  std::uint64_t digest = 0;     // digest of all calls together
  schedule::Spec schedule;
  Chosen chosen;  // name of the schedule, and of the next best schedule
  // Whether the library chose the schedule, because the caller named none.
  bool is_our_choice = false;
  bool needs_proof = false;                             // whether the schedule must be proved when the plan is bound
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // the nodes from which the schedule takes its groups, or null
  transport::LogGP link = assumed_link;                 // the costs of messages, used to cut vectors into segments
  std::string unused_profile = {};                      // why the profile is not used, as in Means

  Rank root() const noexcept { return members.front().description.root; }
  Collective collective() const noexcept { return members.front().description.collective; }
  /// Whether a call of the bundle reads its rows twice.
  bool has_first_sweep() const noexcept {
    return std::ranges::any_of(members,
                               [](const Member& member) -> bool { return call::has_first_sweep(member.description); });
  }
};

/// Returns the context of the agreed schedule, for the first member and rank 0. `agreed` must outlive the context.
schedule::Context context_of(const Agreement& agreed) noexcept;

/// The operation for which a rank asks its group.
enum class Asked : std::uint32_t { reduction, bind, rank_order, barrier };

/// Writes this rank's calls as bytes, together with their failure (null if there is none).
std::vector<std::byte> propose(std::span<const call::Call> calls, Rank rank, const call::Failure* failure,
                               Asked asked = Asked::reduction);

/// The largest number of bytes that a layout may make all ranks send together: the values of a call with lanes, if the
/// rows are not in rank order, or the numbers of rows of groups.
inline constexpr Bytes most_bytes_of_a_layout = Bytes{256} << 20;

/// Throws Failure if the layout does not have every element of 0..N-1 exactly once, or if N is not `element_count`
/// (unknown_count: N may be any number). The failure's text begins with `where`.
void require_whole(const order::Layout& layout, Count element_count, const std::string& where);

/// Returns the sum of two numbers of rows. Throws Failure if the sum is greater than the number of rows that a job may
/// have.
Count sum_of_rows(Count some, Count more);

/// Returns the fingerprint of a call's interval list. For other layouts this is the fingerprint of an empty list.
order::Coverage coverage_of(const call::Call& call) noexcept;

/// Facts about the job that all ranks know and that every agreement needs.
struct Means {
  // Name of the schedule in rank 0's environment; empty if not set.
  std::string forced_schedule = {};
  schedule::Algorithms algorithms = schedule::registry();  // the schedules that callers can name
  bool may_differ = false;                              // whether ranks may get different bits, as in schedule::Merging
  std::shared_ptr<const order::Nodes> nodes = nullptr;  // the machine's nodes; null: one node, or unknown nodes
  Network network = {};                                 // the network that rank 0's profile describes
  std::string unused_profile = {};  // why the profile is not used; empty if it is used, or there is none
};

/// Makes one agreement from the proposals of all ranks, in the order of ranks. Throws the same Failure on every rank:
/// the failure of the first rank that has one, otherwise a difference between the ranks' calls, otherwise the fault of
/// a layout or of the schedule. Without calls the agreement is empty.
Agreement conclude(std::span<const std::span<const std::byte>> proposals, const Means& means = {});

/// Whether ranks must still tell each other their rows, after digests have shown that their calls agree and are valid.
/// All ranks get the same answer.
bool need_to_tell(std::span<const call::Call> calls);
/// Writes this rank's rows as bytes: their number, the fingerprint of its interval list, or the list itself.
std::vector<std::byte> tell(std::span<const call::Call> calls);
/// Makes an agreement from this rank's calls and the bytes that all ranks told, in the order of ranks (empty if nothing
/// had to be told). Throws as `conclude` does. Returns `nullopt` if the interval lists have gaps or overlaps. The ranks
/// then exchange proposals to find the cause.
std::optional<Agreement> settle(std::span<const call::Call> calls, std::span<const std::span<const std::byte>> told,
                                Rank rank_count, const Means& means = {});

}  // namespace steadfold::plan
