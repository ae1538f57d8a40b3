#include "case.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "elements.hpp"
#include "operators.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

std::uint64_t some_columns(Random& random) {
  switch (random.below(20)) {
    case 0: return random.from_to(1022, 1027);  // about 8 KiB of doubles
    case 1: return random.from_to(2040, 2100);  // and of floats
    case 2: return random.from_to(200, 4000);
    case 3:
    case 4:
    case 5: return random.from_to(60, 300);
    case 6:
    case 7:
    case 8: return random.from_to(9, 60);
    case 9: return 64;
    default: return random.from_to(1, 8);
  }
}

std::uint64_t some_rows(Random& random, std::size_t ranks, std::uint64_t most) {
  const std::uint64_t sizes[] = {0, 1, 2, ranks - 1, ranks, ranks + 1, 3 * ranks, 7, 64, 100, 1000, 5000};
  const std::uint64_t rows = random.one_in(2) ? random.below(4 * ranks + 20) : random.one_of(sizes);
  return std::min(rows, most);
}

/// The promises that docs/guarantees.md makes for the member.
std::uint32_t kept(const Member& m) {
  std::uint32_t all = SF_RANKS | SF_THREADS | SF_LAYOUT | SF_SCHEDULE | SF_LIBRARY | SF_TARGET | SF_RELEASE;
  const bool is_ordered = m.layout != SF_INTERVALS && m.layout != SF_GRID;
  if (m.layout == SF_ROW_PER_RANK) all &= ~static_cast<std::uint32_t>(SF_RANKS | SF_LAYOUT);
  if (m.collective == SF_SCAN || m.collective == SF_EXSCAN) return 0;
  if (is_location(m.operation) || m.operation == SF_STATISTICS || m.resolved_method() == SF_TREE)
    return is_ordered ? all & ~static_cast<std::uint32_t>(SF_LAYOUT) : all;
  if (m.resolved_method() == SF_PLAIN && !m.order_free()) return 0;
  return all;
}

void size_up(Random& random, std::size_t ranks, std::uint64_t elements, Member& m) {
  const bool scatters = m.collective == SF_REDUCE_SCATTER;
  if (m.layout == SF_ROW_PER_RANK && ranks <= 8 && random.one_in(scatters ? 2 : 5)) {
    // More than 8 KiB per segment. Then values are separate from the head, and move from and to the caller's memory.
    m.columns = random.from_to(8200, 11000) / m.element_bytes() * (scatters ? ranks : 1);
    m.rows = ranks;
  } else if (m.layout == SF_ROW_PER_RANK) {
    m.columns = random.one_in(40) ? 0 : std::min(some_columns(random), elements / ranks + 1);
    m.rows = ranks;
  } else if (random.one_in(2)) {
    m.columns = some_columns(random);
    m.rows = some_rows(random, ranks, elements / m.columns + 2);
  } else {
    m.rows = some_rows(random, ranks, elements);
    m.columns = std::min(some_columns(random), elements / std::max<std::uint64_t>(m.rows, 1) + 1);
  }
}

void cut_blocks(Random& random, std::size_t ranks, Member& m) {
  m.names_blocks = !random.one_in(3);
  if (!m.names_blocks) m.columns = (m.columns + ranks - 1) / ranks * ranks;
  m.blocks.assign(ranks, m.columns / ranks);
  if (!m.names_blocks) return;
  std::vector<std::uint64_t> cuts = {0, m.columns};
  while (cuts.size() <= ranks) cuts.push_back(random.one_in(4) ? random.one_of(cuts) : random.below(m.columns + 1));
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = 0; i < ranks; ++i) m.blocks[i] = cuts[i + 1] - cuts[i];
}

/// Chooses the rest of a member whose collective and root are set. `bundled` calls are not reduce_scatter, and have
/// columns.
void complete(Random& random, std::size_t ranks, const Limits& limits, bool bundled, Member& m) {
  choose_reduction(random, m);
  const bool is_scan = m.collective == SF_SCAN || m.collective == SF_EXSCAN;
  const sf_layout layouts[] = {SF_ANYWHERE, SF_RANK_ORDER, SF_INTERVALS, SF_INTERVALS, SF_GRID, SF_ROW_PER_RANK};
  m.layout = random.one_of(layouts);
  if (m.collective == SF_REDUCE_SCATTER && random.one_in(3)) m.layout = SF_ROW_PER_RANK;
  const bool may_have_lanes = m.method == SF_TREE && m.commutes() && m.layout != SF_ROW_PER_RANK;
  if (may_have_lanes && random.one_in(3)) m.lanes = random.one_of<std::uint32_t>({1, 2, 3, 5, 16, 128, 1024});
  size_up(random, ranks, is_scan ? limits.elements / 4 : limits.elements, m);
  if (bundled) m.columns = std::max<std::uint64_t>(m.columns, 1);
  if (m.collective == SF_REDUCE_SCATTER) cut_blocks(random, ranks, m);
  if (m.columns > 0 && m.operation != SF_MASKED_SUM && random.one_in(3)) choose_array(random, m);
  if (m.may_have_initial() && random.one_in(5)) m.initial = make_initial(m, random);
  deal_rows(random, ranks, m);
  m.says_count = random.one_in(3);
  const bool has_common_factors = !m.has_second() || (m.has_factors() && m.columns == 1);
  m.is_listed = !m.array.is_given && has_common_factors && m.columns > 0 && random.one_in(6);
  if (random.one_in(4)) m.require = kept(m) & static_cast<std::uint32_t>(random.bits());
}

void choose_collective(Random& random, std::size_t ranks, bool bundled, Member& m) {
  const sf_collective all[] = {SF_REDUCE, SF_REDUCE, SF_REDUCE, SF_REDUCE_SCATTER, SF_SCAN, SF_EXSCAN};
  do m.collective = random.one_of(all);
  while (bundled && m.collective == SF_REDUCE_SCATTER);
  if (m.collective == SF_REDUCE && random.one_in(3)) m.root = static_cast<std::int32_t>(random.below(ranks));
}

/// Whether accumulators give the member's result: all columns have the same rows, and sums are exact.
bool can_be_accumulated(const Member& m) {
  const bool is_real = (m.type == SF_F64 || m.type == SF_F32) && (m.result_type == SF_F64 || m.result_type == SF_F32);
  const bool is_served =
      m.operation == SF_SUM || m.operation == SF_DOT || m.operation == SF_NORM2 || m.operation == SF_MEAN;
  return m.collective == SF_REDUCE && m.columns > 0 && is_real && is_served && m.resolved_method() == SF_EXACT &&
         !m.is_listed && !m.has_own_rows() && !(m.array.has_mask && m.operation == SF_MEAN);
}

}  // namespace

sf_method Member::resolved_method() const {
  if (method != SF_AUTOMATIC) return method;
  if (operation == SF_USER) return SF_TREE;
  if (rounds_once(operation)) return SF_EXACT;
  if (order_free()) return SF_PLAIN;
  if (operation == SF_MASKED_SUM) return SF_EXACT;
  const bool is_sum = operation == SF_SUM || operation == SF_ABS_SUM;
  return is_sum && layout != SF_ROW_PER_RANK && !is_extended(result_type) ? SF_EXACT : SF_TREE;
}

bool Member::order_free() const {
  if (operation == SF_USER || rounds_once(operation)) return false;
  return is_integer(type) || operation == SF_MIN || operation == SF_MAX || operation == SF_NORMINF ||
         is_location(operation);
}

bool Member::commutes() const { return operation != SF_USER || user_operator(user).commutative; }

bool Member::has_neutral() const {
  return operation != SF_USER && operation != SF_MEAN && !is_quotient_of_pairs(operation) && operation != SF_MIN &&
         operation != SF_MAX && !is_location(operation);
}

bool Member::in_rank_order() const {
  std::uint64_t next = 0;
  for (const auto& intervals : deal) {
    for (const sf_interval i : intervals) {
      if (i.begin == i.end) continue;
      if (i.begin != next) return false;
      next = i.end;
    }
  }
  return true;
}

bool Member::may_have_initial() const {
  const sf_operation served[] = {SF_SUM, SF_PRODUCT, SF_MIN, SF_MAX, SF_DOT, SF_DOTC, SF_USER};
  return resolved_method() == SF_TREE && std::ranges::find(served, operation) != std::end(served) &&
         collective != SF_EXSCAN && !selects() && columns > 0;
}

bool Member::has_own_rows() const {
  if (array.groups > 0) return true;
  const Repeat& columns_of_mask = array.mask.columns;
  const bool differs = columns > columns_of_mask.run && columns_of_mask.period > 1;
  return array.has_mask && (differs || (columns == 1 && array.keeps_one));
}

std::size_t Member::element_bytes() const { return operation == SF_USER ? user_operator(user).bytes : size_of(type); }
std::size_t Member::result_bytes() const {
  if (operation == SF_USER) return element_bytes();
  if (operation == SF_STATISTICS) return sizeof(sf_statistics);
  return is_location(operation) ? 16 : size_of(result_type);
}

std::uint64_t Member::rows_of(std::size_t rank) const {
  std::uint64_t count = 0;
  for (const sf_interval i : deal[rank]) count += i.end - i.begin;
  return count;
}

bool Member::gets_result(std::size_t rank) const {
  if (columns == 0) return false;
  if (collective == SF_REDUCE_SCATTER) return blocks[rank] > 0;
  if (collective == SF_EXSCAN) return rank > 0;
  return root == SF_ALL_RANKS || static_cast<std::size_t>(root) == rank;
}

std::uint64_t Member::first_column(std::size_t rank) const {
  if (collective != SF_REDUCE_SCATTER) return 0;
  return std::accumulate(blocks.begin(), blocks.begin() + static_cast<std::ptrdiff_t>(rank), std::uint64_t{0});
}
std::uint64_t Member::columns_of(std::size_t rank) const {
  return collective == SF_REDUCE_SCATTER ? blocks[rank] : columns;
}

Case make_case(std::uint64_t seed, std::uint64_t number, std::size_t ranks, const Limits& limits) {
  Random random(mixed(seed, number, ranks));
  Case made{.seed = seed, .number = number, .ranks = ranks};
  if (random.one_in(6)) {
    choose_wrong(random, made, limits);
    return made;
  }
  const Form forms[] = {Form::one_shot, Form::one_shot, Form::one_shot, Form::one_shot, Form::plan,      Form::plan,
                        Form::plan,     Form::flight,   Form::flight,   Form::kept,     Form::kept_again};
  made.form = random.one_of(forms);
  made.runs = static_cast<int>(random.from_to(1, 3));
  const bool bundled = (made.form == Form::plan || made.form == Form::kept) && random.one_in(3);
  const std::size_t count = bundled || made.form == Form::flight ? random.from_to(2, 4) : 1;
  Limits each = limits;
  each.elements = std::max<std::uint64_t>(limits.elements / count / static_cast<unsigned>(made.runs), 8);
  for (std::size_t i = 0; i < count; ++i) {
    Member member;
    if (i == 0 || !bundled) choose_collective(random, ranks, bundled, member);
    if (i > 0 && bundled) {
      member.collective = made.members[0].collective;
      member.root = made.members[0].root;
    }
    complete(random, ranks, each, bundled, member);
    made.members.push_back(std::move(member));
  }
  if (bundled) {
    const std::string schedule = some_schedule(random, made.members, limits);
    for (Member& member : made.members) member.schedule = schedule;
  } else {
    for (Member& member : made.members) member.schedule = some_schedule(random, {member}, limits);
  }
  if (limits.merges_accumulators && made.form == Form::one_shot && can_be_accumulated(made.members.front()) &&
      random.one_in(2))
    made.form = Form::accumulated;
  return made;
}

}  // namespace steadfold::soak
