// What a row of the registry says that it serves, read off its columns and nothing else: the library must not refuse
// it.
#pragma once

#include <algorithm>
#include <string_view>

#include "schedule/registry.hpp"

namespace steadfold::test {

inline bool says_it_serves(const schedule::Row& row, schedule::Collective collective, order::Rank root,
                           std::string_view method, schedule::Operator kind) {
  using schedule::Collective;
  using schedule::KeepsRankOrder;
  const bool has_collective = (static_cast<int>(row.collectives) & static_cast<int>(collective)) != 0;
  if (!has_collective || std::ranges::find(row.methods, method) == row.methods.end()) return false;
  if (method != "plain") return true;
  if (collective == Collective::allreduce && row.same_on_all_ranks == schedule::SameOnAllRanks::no) return false;
  if (kind == schedule::Operator::commutative || row.keeps_rank_order == KeepsRankOrder::always) return true;
  return row.keeps_rank_order == KeepsRankOrder::root_zero && (collective != Collective::reduce || root == 0);
}

}  // namespace steadfold::test
