// What a row of the registry says that it serves, read off its columns and nothing else: the library must not refuse
// it. And the methods as schedules see them.
#pragma once

#include <array>

#include "schedule/registry.hpp"

namespace steadfold::test {

inline constexpr schedule::Merging tree_merging{.method = "tree"};
inline constexpr schedule::Merging exact_merging{.method = "exact", .offers_words = true};
inline constexpr schedule::Merging plain_merging{.method = "plain", .is_associative = false, .may_overlap = true};
inline constexpr schedule::Merging order_free_merging{.method = "plain", .may_overlap = true};
inline constexpr std::array every_merging = {tree_merging, exact_merging, plain_merging, order_free_merging};

inline bool says_it_serves(const schedule::Row& row, schedule::Collective collective, order::Rank root,
                           const schedule::Merging& merging, schedule::OperatorKind kind) {
  using schedule::Collective;
  using schedule::KeepsRankOrder;
  const bool has_collective = (static_cast<int>(row.collectives) & static_cast<int>(collective)) != 0;
  if (!has_collective || (row.adds_words && !merging.offers_words)) return false;
  const bool counts_once = row.counts == schedule::Counts::once;
  if (!counts_once && (!merging.may_overlap || kind != schedule::OperatorKind::idempotent)) return false;
  if (merging.is_associative) return true;
  if (row.merges_on_arrival) return false;
  if (collective == Collective::allreduce && row.same_on_all_ranks == schedule::SameOnAllRanks::no) return false;
  if (kind != schedule::OperatorKind::ordered || row.keeps_rank_order == KeepsRankOrder::always) return true;
  return row.keeps_rank_order == KeepsRankOrder::root_zero && (collective != Collective::reduce || root == 0);
}

}  // namespace steadfold::test
