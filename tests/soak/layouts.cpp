// Chooses which rank holds which rows.
#include <algorithm>

#include "../support/dealt.hpp"
#include "case.hpp"

namespace steadfold::soak {
namespace {

using test::Dealt;

using Deal = std::vector<std::vector<sf_interval>>;

/// Consecutive rows of any number; one rank in four has none.
Deal in_rank_order(Random& random, std::uint64_t rows, std::size_t ranks) {
  std::vector<std::uint64_t> cuts = {0, rows};
  while (cuts.size() <= ranks) cuts.push_back(random.one_in(4) ? random.one_of(cuts) : random.below(rows + 1));
  std::sort(cuts.begin(), cuts.end());
  Deal deal(ranks);
  for (std::size_t i = 0; i < ranks; ++i) deal[i] = {{cuts[i], cuts[i + 1]}};
  return deal;
}

Deal one_each(std::size_t ranks) {
  Deal deal(ranks);
  for (std::size_t i = 0; i < ranks; ++i) deal[i] = {{i, i + 1}};
  return deal;
}

Deal cyclic(Random& random, std::uint64_t rows, std::size_t ranks) {
  const std::uint64_t block = random.from_to(1, 5) + rows / 200;
  Deal deal(ranks);
  for (std::uint64_t i = 0; i * block < rows; ++i)
    deal[i % ranks].push_back({i * block, std::min((i + 1) * block, rows)});
  return deal;
}

/// A distribution rule for the rows, with one or two axes. `in_order`: one block per rank, in rank order.
Dealt some_rule(Random& random, std::uint64_t rows, std::size_t ranks, bool in_order) {
  if (in_order) return {{{.extent = rows, .ranks = ranks}}};
  const auto some_divisor = [&](std::uint64_t n) {
    std::uint64_t divisor = random.from_to(1, std::max<std::uint64_t>(n, 1));
    while (n % divisor != 0) --divisor;
    return divisor;
  };
  Dealt rule;
  const std::uint64_t extent = random.one_in(2) ? 1 : some_divisor(rows);
  const std::uint64_t outer = random.one_in(3) ? 1 : some_divisor(ranks);
  rule.axes = {{.extent = extent, .ranks = outer}, {.extent = rows / extent, .ranks = ranks / outer}};
  for (test::DealtAxis& axis : rule.axes) {
    if (random.one_in(2)) axis.block = random.from_to(1, 5) + axis.extent / 100;
    axis.first = random.one_in(2) ? 0 : random.below(axis.ranks);
  }
  return rule;
}

sf_grid grid_of(const Dealt& rule) {
  sf_grid grid{};
  for (const test::DealtAxis& axis : rule.axes)
    grid.axes[grid.axis_count++] = {axis.extent, axis.ranks, axis.block, axis.first};
  return grid;
}

/// Pieces on any ranks, in any order of memory; some are empty.
Deal shuffled(Random& random, std::uint64_t rows, std::size_t ranks) {
  std::vector<std::uint64_t> cuts = {0, rows};
  const std::uint64_t pieces = random.from_to(1, std::min<std::uint64_t>(rows + 2, 6 * ranks));
  while (cuts.size() <= pieces) cuts.push_back(random.below(rows + 1));
  std::sort(cuts.begin(), cuts.end());
  Deal deal(ranks);
  const std::size_t spared = random.one_in(3) ? random.below(ranks) : 0;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    auto& mine = deal[spared + random.below(ranks - spared)];
    mine.insert(mine.begin() + static_cast<std::ptrdiff_t>(random.below(mine.size() + 1)), {cuts[i], cuts[i + 1]});
  }
  return deal;
}

/// The same rows in the same order, with unnecessary cuts and empty intervals.
Deal cut_up(Random& random, Deal deal) {
  for (auto& mine : deal) {
    if (mine.empty() || !random.one_in(2)) continue;
    const sf_interval whole = mine.front();
    const std::uint64_t cut = random.from_to(whole.begin, whole.end);
    mine = {{whole.begin, cut}, {cut, cut}, {cut, whole.end}};
    if (random.one_in(3)) mine.push_back({7, 7});
  }
  return deal;
}

}  // namespace

void deal_rows(Random& random, std::size_t ranks, Member& m) {
  const bool is_scan = m.collective == SF_SCAN || m.collective == SF_EXSCAN;
  // With method plain, an operator that does not commute combines in rank order, whatever the indices are.
  const bool must_be_ordered = is_scan || (m.resolved_method() == SF_PLAIN && !m.order_free());
  if (m.layout == SF_ROW_PER_RANK) {
    m.deal = one_each(ranks);
  } else if (m.layout == SF_GRID) {
    const Dealt rule = some_rule(random, m.rows, ranks, must_be_ordered || random.one_in(4));
    m.deal = rule.lists<sf_interval>();
    m.grid = grid_of(rule);
  } else if (m.layout != SF_INTERVALS) {
    m.deal = in_rank_order(random, m.rows, ranks);
  } else if (must_be_ordered || random.one_in(3)) {
    m.deal = cut_up(random, in_rank_order(random, m.rows, ranks));
  } else {
    m.deal = random.one_in(2) ? cyclic(random, m.rows, ranks) : shuffled(random, m.rows, ranks);
  }
}

void deal_again(Random& random, Member& m) {
  if (m.layout != SF_INTERVALS || m.in_rank_order()) return;
  for (std::uint64_t tries = 4 * m.deal.size(); tries > 0; --tries) {
    auto& one = m.deal[random.below(m.deal.size())];
    auto& other = m.deal[random.below(m.deal.size())];
    if (one.size() < 2 || other.size() < 2) continue;
    sf_interval& a = one[random.from_to(1, one.size() - 1)];
    sf_interval& b = other[random.from_to(1, other.size() - 1)];
    if (&one == &other || a.end - a.begin == b.end - b.begin) std::swap(a, b);
  }
}

}  // namespace steadfold::soak
