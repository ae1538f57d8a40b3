// What an algorithm of the registry says that it serves, read off its properties and nothing else: the library must not
// refuse it. And the methods as schedules see them.
#pragma once

#include <array>

#include "schedule/registry.hpp"

namespace steadfold::test {

inline constexpr schedule::Merging tree_merging{.method = "tree"};
inline constexpr schedule::Merging exact_merging{.method = "exact", .offers_words = true};
inline constexpr schedule::Merging plain_merging{.method = "plain", .is_associative = false, .may_overlap = true};
inline constexpr schedule::Merging order_free_merging{.method = "plain", .may_overlap = true};
inline constexpr std::array every_merging = {tree_merging, exact_merging, plain_merging, order_free_merging};

inline bool says_it_serves(const schedule::Algorithm& algorithm, schedule::Collective collective, order::Rank root,
                           const schedule::Merging& merging, schedule::OperatorKind kind) {
  using schedule::Collective;
  using schedule::KeepsRankOrder;
  const bool has_collective = (static_cast<int>(algorithm.collectives) & static_cast<int>(collective)) != 0;
  if (!has_collective || (algorithm.adds_words && !merging.offers_words)) return false;
  const bool counts_once = algorithm.counts == schedule::Counts::once;
  if (!counts_once && (!merging.may_overlap || kind != schedule::OperatorKind::idempotent)) return false;
  if (merging.is_associative) return true;
  if (algorithm.merges_on_arrival) return false;
  if (collective == Collective::allreduce && algorithm.same_on_all_ranks == schedule::SameOnAllRanks::no) return false;
  if (kind != schedule::OperatorKind::ordered || algorithm.keeps_rank_order == KeepsRankOrder::always) return true;
  return algorithm.keeps_rank_order == KeepsRankOrder::root_zero && (collective != Collective::reduce || root == 0);
}

}  // namespace steadfold::test
