// Makes calls that are wrong on one rank or on all ranks, and says what every rank must answer.
#include "wrong.hpp"

#include <algorithm>
#include <bit>

#include "operators.hpp"

namespace steadfold::soak {
namespace {

constexpr std::uint32_t bit(sf_status status) { return std::uint32_t{1} << status; }

/// A correct sum of doubles.
Member base(Random& random, std::size_t ranks, const Limits& limits) {
  Member m;
  m.method = random.one_of({SF_TREE, SF_EXACT, SF_AUTOMATIC, SF_PLAIN});
  m.layout = random.one_of({SF_RANK_ORDER, SF_INTERVALS, SF_ROW_PER_RANK, SF_GRID});
  m.columns = random.one_of({1, 2, 5, 100, 1030});
  m.rows = random.from_to(2, 2 + limits.elements / m.columns / 4);
  if (random.one_in(3)) m.root = static_cast<std::int32_t>(random.below(ranks));
  return m;
}

/// A rank that has rows.
std::size_t holder(Random& random, const Member& m) {
  std::size_t rank = random.below(m.deal.size());
  while (m.rows_of(rank) == 0) rank = (rank + 1) % m.deal.size();
  return rank;
}

}  // namespace

void choose_wrong(Random& random, Case& made, const Limits& limits) {
  const auto last = static_cast<std::uint64_t>(Wrong::given_up);
  made.wrong = random.one_in(6) ? Wrong::shifted_layout : static_cast<Wrong>(random.from_to(1, last));
  const bool needs_two = made.wrong >= Wrong::other_root && made.wrong <= Wrong::other_grid;
  if (needs_two && made.ranks == 1) made.wrong = Wrong::bad_root;
  if (made.wrong == Wrong::failing_rank && (made.ranks == 1 || !std::has_single_bit(made.ranks)))
    made.wrong = Wrong::failing_operator;
  Member m = base(random, made.ranks, limits);
  switch (made.wrong) {
    case Wrong::other_root: m.root = static_cast<std::int32_t>(random.below(made.ranks)); break;
    case Wrong::other_collective:
      m.collective = random.one_of({SF_SCAN, SF_EXSCAN});
      m.root = SF_ALL_RANKS;
      m.layout = random.one_of({SF_RANK_ORDER, SF_ROW_PER_RANK});
      break;
    case Wrong::other_blocks:
      m.collective = SF_REDUCE_SCATTER;
      m.root = SF_ALL_RANKS;
      m.names_blocks = true;
      m.columns = made.ranks * m.columns;
      m.blocks.assign(made.ranks, m.columns / made.ranks);
      break;
    case Wrong::other_grid: m.layout = SF_GRID; break;
    case Wrong::shifted_layout: m.layout = SF_INTERVALS; break;
    case Wrong::wrong_count: m.layout = random.one_of({SF_RANK_ORDER, SF_INTERVALS, SF_GRID}); break;
    case Wrong::unserved:
      m.operation = random.one_of({SF_MASKED_SUM, SF_WEIGHTED_MEAN, SF_COVARIANCE});
      m.method = SF_TREE;
      break;
    case Wrong::failing_operator:
      m.operation = SF_USER;
      m.type = m.result_type = SF_BYTES;
      m.user = static_cast<int>(random.below(user_count));
      m.method = SF_TREE;
      m.may_fail = true;
      m.rows = std::max<std::uint64_t>(m.rows, 2);
      if (m.layout == SF_ROW_PER_RANK && made.ranks == 1) m.layout = SF_RANK_ORDER;
      break;
    case Wrong::failing_rank:  // every rank combines once per round, so that one rank may fail alone in the last
      m.operation = SF_USER;
      m.type = m.result_type = SF_BYTES;
      m.method = SF_TREE;
      m.may_fail = true;
      m.layout = SF_ROW_PER_RANK;
      m.root = SF_ALL_RANKS;
      break;
    case Wrong::bad_label:
      m.method = random.one_of({SF_EXACT, SF_BINNED});
      m.array.is_given = true;
      m.array.groups = m.columns;
      break;
    default: break;
  }
  if (m.layout == SF_ROW_PER_RANK) m.rows = made.ranks;
  deal_rows(random, made.ranks, m);
  if (random.one_in(2)) m.schedule = random.one_of({"binomial", "flat", "linear"});
  if (made.wrong == Wrong::failing_rank) m.schedule = "recursive_doubling";
  made.culprit = holder(random, m);
  if (made.wrong == Wrong::null_result && m.root != SF_ALL_RANKS) made.culprit = static_cast<std::size_t>(m.root);
  made.form = random.one_in(3) ? Form::plan : Form::one_shot;
  if (made.wrong == Wrong::null_data || made.wrong == Wrong::null_result) made.form = Form::one_shot;
  const bool is_plans = made.wrong == Wrong::null_in_run || made.wrong == Wrong::given_up;
  if (is_plans || made.wrong == Wrong::empty_bundle) made.form = Form::plan;
  made.members.push_back(std::move(m));
}

Answer answer_to(const Case& made, std::size_t rank) {
  const Member& m = made.members.front();
  const std::uint32_t invalid = bit(SF_INVALID_ARGUMENT);
  const bool learns = m.gets_result(rank) || rank == made.culprit;  // of a failure in a plan's run
  switch (made.wrong) {
    case Wrong::other_root:
    case Wrong::other_operation:
    case Wrong::other_type:
    case Wrong::other_columns:
    case Wrong::other_method:
    case Wrong::other_collective:
    case Wrong::other_blocks: return {bit(SF_MISMATCH), true};
    case Wrong::other_grid: return {bit(SF_MISMATCH) | invalid, true};
    case Wrong::shifted_layout:
    case Wrong::wrong_count: return {bit(SF_GAP) | bit(SF_OVERLAP), true};
    case Wrong::bad_schedule: return {invalid | bit(SF_MISMATCH) | bit(SF_UNSUPPORTED), true};
    case Wrong::unserved: return {bit(SF_UNSUPPORTED), true};
    case Wrong::failing_rank: return {bit(SF_OPERATOR_FAILED), true};
    case Wrong::failing_operator: return {bit(SF_OPERATOR_FAILED), m.gets_result(rank)};
    case Wrong::bad_label: return {invalid, m.gets_result(rank)};
    case Wrong::null_in_run: return {invalid, learns};
    default: return {invalid, true};
  }
}

const sf_interval* first_rows(const std::vector<sf_interval>& intervals) {
  for (const sf_interval& each : intervals)
    if (each.begin < each.end) return &each;
  return nullptr;
}

int failing_call(const Case& made) {
  const int rounds = std::countr_zero(made.ranks);
  return made.number % 2 == 0 ? rounds : 1 + static_cast<int>(made.number) % rounds;
}

std::uint64_t poisoned_row(const Case& made) { return first_rows(made.members.front().deal[made.culprit])->begin; }

}  // namespace steadfold::soak
