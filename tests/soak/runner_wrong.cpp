// The cases with a mistake: every rank that would wait must get an error, and later calls must work.
#include <algorithm>
#include <cstring>

#include "runner.hpp"
#include "wrong.hpp"

namespace steadfold::soak {
namespace {

/// The memory to which a call points.
struct Held {
  std::vector<sf_interval> intervals;
  std::vector<std::uint64_t> blocks;
  sf_grid grid{};
};

/// Moves some of the culprit's rows up. In every second case it moves as many rows of another rank down, so that no sum
/// over all indices shows the mistake.
void shift(const Case& made, std::size_t rank, Held& held, sf_call& call) {
  const auto& deal = made.members[0].deal;
  const sf_interval mine = *first_rows(deal[made.culprit]);
  std::size_t partner = made.culprit;
  for (std::size_t i = 0; i < deal.size() && made.number % 2 == 0; ++i) {
    const sf_interval* const rows = first_rows(deal[i]);
    const bool is_as_long = rows != nullptr && rows->end - rows->begin == mine.end - mine.begin;
    if (i != made.culprit && is_as_long && rows->begin > 0 && rows->begin != mine.end) partner = i;
  }
  if (rank != made.culprit && rank != partner) return;
  held.intervals = deal[rank];
  sf_interval& moved = held.intervals[static_cast<std::size_t>(first_rows(deal[rank]) - deal[rank].data())];
  if (rank == made.culprit)
    moved = {moved.begin + 1, moved.end + 1};
  else
    moved = {moved.begin - 1, moved.end - 1};
  call.intervals = held.intervals.data();
}

/// Changes the culprit's call.
void tamper(const Case& made, sf_call& call, Held& held) {
  switch (made.wrong) {
    case Wrong::other_root: call.root = (call.root + 1) % static_cast<std::int32_t>(made.ranks); break;
    case Wrong::bad_root: call.root = static_cast<std::int32_t>(made.ranks); break;
    case Wrong::other_operation: call.operation = SF_ABS_SUM; break;
    case Wrong::other_type: call.type = call.result_type = SF_F32; break;
    case Wrong::other_columns: call.columns += 1; break;
    case Wrong::other_method: call.method = SF_BINNED; break;
    case Wrong::other_collective: call.collective = call.collective == SF_SCAN ? SF_EXSCAN : SF_SCAN; break;
    case Wrong::other_blocks:
      held.blocks.assign(call.blocks, call.blocks + call.block_count);
      held.blocks.front() -= 1;
      held.blocks.back() += 1;
      call.blocks = held.blocks.data();
      break;
    case Wrong::other_grid:
      held.grid = *call.grid;
      held.grid.axes[0].block += 1;
      call.grid = &held.grid;
      break;
    case Wrong::bad_schedule: call.schedule = "no_such_schedule"; break;
    case Wrong::bad_enumerator: {
      const int number = 99;
      std::memcpy(&call.method, &number, sizeof number);
      break;
    }
    default: break;
  }
}

}  // namespace

sf_status Runner::make_wrong(const Case& made, std::shared_ptr<const Prepared> prepared) {
  const bool is_culprit = rank_ == made.culprit;
  Calls calls = calls_of(prepared, {0});
  sf_call& call = calls.calls.front();
  Held held;
  if (is_culprit) tamper(made, call, held);
  if (made.wrong == Wrong::shifted_layout) shift(made, rank_, held, call);
  if (made.wrong == Wrong::wrong_count)
    call.element_count = made.members[0].rows + (made.number % 2 == 0 ? 1 : std::uint64_t{0} - 1);
  Buffers buffers(*prepared, 0, rank_, nullptr, calls.placements.front().get());
  Data data = buffers.data();
  std::vector<std::byte> factors;  // for the operations on pairs, which are refused
  if (made.wrong == Wrong::unserved) {
    factors.resize((call.rows + 1) * call.columns * 8);
    data.second = factors.data();
  }
  if (is_culprit && made.wrong == Wrong::null_data) data.first = nullptr;
  if (is_culprit && made.wrong == Wrong::null_result) data.result = nullptr;
  const sf_call* const passed = is_culprit && made.wrong == Wrong::null_call ? nullptr : &call;
  if (made.form == Form::one_shot) return library_.reduce(passed, data);

  Library::Plan* plan = nullptr;
  sf_status status = library_.bind(passed, made.wrong == Wrong::empty_bundle ? 0 : 1, plan);
  if (status != SF_OK || plan == nullptr) return status;
  if (is_culprit && made.wrong == Wrong::null_in_run) data.first = nullptr;
  const Wrong in_runs[] = {Wrong::null_in_run, Wrong::failing_operator, Wrong::failing_rank, Wrong::bad_label};
  if (std::find(std::begin(in_runs), std::end(in_runs), made.wrong) != std::end(in_runs))
    status = library_.run(plan, &data, 1);
  library_.free(plan);
  return status;
}

void Runner::wrong(const Case& made) {
  const sf_status status = make_wrong(made, preparation_.get(made.number, 0));
  const Answer answer = answer_to(made, rank_);
  const bool fits = (answer.statuses >> status & 1) != 0;
  if (fits && library_.error_text().empty()) tally_.fault(made, rank_, "an error without a text");
  if (fits || (status == SF_OK && !answer.is_due)) return;
  tally_.fault(made, rank_,
               "status " + std::to_string(status) + " is none that fits (" +
                   (status == SF_OK ? "no error" : library_.error_text()) + ")");
}

/// Starts a plan's run on all ranks, advances it a little, and frees it before its end.
void Runner::give_up(const Case& made) {
  Bound bound = bind(preparation_.get(made.number, 0), {0});
  if (bound.plan == nullptr) return;
  start(bound, bound.calls.prepared);
  bool done = false;
  for (std::uint64_t tests = own_.below(6); tests > 0 && !done; --tests) library_.test(bound.plan, done);
  library_.free(bound.plan);
}

}  // namespace steadfold::soak
