#include "runner.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "watchdog.hpp"
#include "wrong.hpp"

namespace steadfold::soak {
namespace {

constexpr std::size_t most_kept = 3;
constexpr std::uint64_t run_meanwhile = 100;  // the run number of one-shot calls while plans are under way
constexpr std::uint64_t run_of_kept = 1000;   // the run number of kept plans

std::vector<std::size_t> all_of(const Case& made) {
  std::vector<std::size_t> members(made.members.size());
  std::iota(members.begin(), members.end(), std::size_t{0});
  return members;
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

/// Whether a member uses `native`: MPI adds its words, so all ranks must start such calls in one order.
bool any_native(const Case& made) {
  return std::any_of(made.members.begin(), made.members.end(),
                     [](const Member& m) { return m.schedule.find("native") != std::string::npos; });
}

/// The columns of a rank's rows as a list of arrays, for calls that list their columns.
std::unique_ptr<sf_arrays> columns_of(const Member& m, std::size_t rank) {
  auto arrays = std::make_unique<sf_arrays>(sf_arrays_default());
  const auto column = [&](std::uint64_t columns) {
    sf_array array{};
    array.type = m.type;
    array.element_bytes = m.element_bytes();
    array.axis_count = 1;
    array.shape[0] = m.rows_of(rank);
    array.strides[0] = static_cast<std::int64_t>(columns * m.element_bytes());
    return array;
  };
  arrays->x = column(m.columns);
  if (m.has_factors()) arrays->factors = column(1);
  arrays->x_count = m.columns;
  return arrays;
}

}  // namespace

Runner::Runner(Library& library, Preparation& preparation, std::size_t rank, Tally& tally)
    : library_(library), preparation_(preparation), rank_(rank), tally_(tally), own_(0) {}

Runner::~Runner() {
  for (const auto& bound : kept_) library_.free(bound->plan);
}

void Runner::run(std::uint64_t number) {
  const auto kept_case = preparation_.case_of(number);
  const Case& made = *kept_case;
  own_ = Random(mixed(made.seed, number, 1000 + rank_));
  ++tally_.cases;
  note(made, rank_);
  if (made.wrong == Wrong::given_up) return give_up(made);
  if (made.wrong != Wrong::nothing) return wrong(made);
  switch (made.form) {
    case Form::one_shot:
      if (own_.one_in(2)) return one_shots_at_once(made);
      for (int run = 0; run < made.runs; ++run) one_shot(made, 0, static_cast<std::uint64_t>(run));
      return;
    case Form::accumulated: return accumulate(made);
    case Form::plan: return plan(made);
    case Form::flight: return flight(made);
    case Form::kept: return keep(made);
    case Form::kept_again: return run_kept(made);
  }
}

Runner::Calls Runner::calls_of(std::shared_ptr<const Prepared> prepared, const std::vector<std::size_t>& members) {
  Calls made;
  for (const std::size_t member : members) {
    const Member& m = prepared->made.members[member];
    sf_call call = sf_call_default();
    call.operation = m.operation;
    call.method = m.method;
    call.type = m.type;
    call.result_type = m.result_type;
    call.columns = m.columns;
    call.root = m.root;
    call.schedule = m.schedule.empty() ? nullptr : m.schedule.c_str();
    if (m.says_count) call.element_count = m.rows;
    call.layout = m.layout;
    call.rows = m.rows_of(rank_);
    if (m.layout == SF_INTERVALS) {
      call.intervals = m.deal[rank_].data();
      call.interval_count = m.deal[rank_].size();
    }
    if (m.layout == SF_GRID) call.grid = &m.grid;
    call.require = m.require;
    call.threads = own_.one_in(8) ? static_cast<std::uint32_t>(own_.from_to(1, 4)) : 0;
    call.bins = m.bins;
    call.sweep = m.sweep;
    call.lanes = m.lanes;
    if (!m.initial.empty()) call.initial = m.initial.data();
    call.collective = m.collective;
    if (m.collective == SF_REDUCE_SCATTER && m.names_blocks) {
      call.blocks = m.blocks.data();
      call.block_count = m.blocks.size();
    }
    if (m.operation == SF_USER) {
      made.contexts.push_back(std::make_unique<UserContext>());
      made.contexts.back()->which = m.user;
      made.contexts.back()->fails_on_poison = prepared->made.wrong == Wrong::failing_operator;
      if (prepared->made.wrong == Wrong::failing_rank && rank_ == prepared->made.culprit)
        made.contexts.back()->fails_at = failing_call(prepared->made);
      call.element_bytes = m.element_bytes();
      call.user = apply_user;
      call.context = made.contexts.back().get();
      call.operator_name = user_operator(m.user).name;
      call.commutative = user_operator(m.user).commutative ? 1 : 0;
      call.never_fails = m.may_fail ? 0 : 1;
      call.writes_right = m.writes_right ? 1 : 0;
      made.contexts.back()->writes_right = m.writes_right;
    }
    made.placements.emplace_back();
    const bool is_right = prepared->made.wrong == Wrong::nothing;
    if (m.array.is_given) give_array(*prepared, member, made, call);
    if (m.is_listed && is_right) {
      made.arrays.push_back(columns_of(m, rank_));
      call.arrays = made.arrays.back().get();
    }
    made.calls.push_back(call);
  }
  made.prepared = std::move(prepared);
  return made;
}

/// Gives the call an array. Its elements need not be aligned.
void Runner::give_array(const Prepared& prepared, std::size_t member, Calls& made, sf_call& call) {
  made.placements.back() = std::make_unique<const Placement>(prepared.made.members[member], rank_, own_);
  const Placement& placement = *made.placements.back();
  const std::size_t shift = own_.one_in(4) ? own_.below(16) : 0;
  made.placed.push_back(std::make_unique<PlacedArrays>(placement, prepared.elements[member], shift));
  made.arrays.push_back(std::make_unique<sf_arrays>(made.placed.back()->arrays()));
  call.arrays = made.arrays.back().get();
}

std::vector<Buffers> Runner::buffers_of(const Prepared& prepared, const Bound& bound) {
  std::vector<Buffers> buffers;
  for (std::size_t i = 0; i < bound.members.size(); ++i) {
    buffers.emplace_back(prepared, bound.members[i], rank_, &own_, bound.calls.placements[i].get());
    if (&prepared == bound.calls.prepared.get()) buffers.back().rely_on_call(own_);
  }
  return buffers;
}

std::vector<Data> Runner::data_of(std::vector<Buffers>& buffers) {
  std::vector<Data> data;
  for (Buffers& each : buffers) data.push_back(each.data());
  return data;
}

void Runner::one_shot(const Case& made, std::size_t member, std::uint64_t run) {
  const auto prepared = preparation_.get(made.number, run);
  const Calls calls = calls_of(prepared, {member});
  Buffers buffers(*prepared, member, rank_, &own_, calls.placements.front().get());
  buffers.rely_on_call(own_);
  const sf_status status = library_.reduce(calls.calls.data(), buffers.data());
  buffers.check(*prepared, status, status == SF_OK ? "" : library_.error_text(), tally_);
}

Runner::Flying Runner::start_one_shot(const Case& made, std::size_t member, std::uint64_t run) {
  Flying flying{.calls = {}, .prepared = preparation_.get(made.number, run)};
  flying.calls = calls_of(flying.prepared, {member});
  flying.buffers =
      std::make_unique<Buffers>(*flying.prepared, member, rank_, &own_, flying.calls.placements.front().get());
  flying.buffers->rely_on_call(own_);
  const sf_status status = library_.start_reduce(flying.calls.calls.data(), flying.buffers->data(), flying.request);
  if (status != SF_OK) tally_.fault(made, rank_, "start fails: " + library_.error_text());
  return flying;
}

/// Waits for a request or a plan's run in a random way.
template <class Started>
sf_status Runner::wait(Started* started) {
  const std::uint64_t way = own_.below(3);
  if (way == 0) return library_.wait(started);
  const std::uint64_t nanoseconds = way == 1 ? own_.below(50000) : 0;
  bool done = false;
  sf_status status = SF_OK;
  while (!done && status == SF_OK) {
    status = way == 1 ? library_.wait_for(started, nanoseconds, done) : library_.test(started, done);
    if (!done) library_.pause();
  }
  return status;
}

void Runner::finish(Flying& flying) {
  if (flying.request == nullptr) return;
  const sf_status status = wait(flying.request);
  flying.buffers->check(*flying.prepared, status, status == SF_OK ? "" : library_.error_text(), tally_);
  library_.free(flying.request);
}

/// Makes all runs of a one-shot call at once; they are tested and ended in any order. Other ranks may make one run
/// after the other, because each rank chooses for itself.
void Runner::one_shots_at_once(const Case& made) {
  std::vector<Flying> under_way;
  for (int run = 0; run < made.runs; ++run)
    under_way.push_back(start_one_shot(made, 0, static_cast<std::uint64_t>(run)));
  shuffle(under_way, own_);
  for (const Flying& flying : under_way) {
    bool done = false;
    if (flying.request != nullptr && own_.one_in(2)) library_.test(flying.request, done);
  }
  for (Flying& flying : under_way) finish(flying);
}

// --- plans -----------------------------------------------------------------------------------------------------------

Runner::Bound Runner::bind(std::shared_ptr<const Prepared> prepared, const std::vector<std::size_t>& members) {
  Bound bound{.calls = calls_of(prepared, members), .members = members};
  const sf_status status = library_.bind(bound.calls.calls.data(), members.size(), bound.plan);
  if (status != SF_OK) tally_.fault(prepared->made, rank_, "bind fails: " + library_.error_text());
  return bound;
}

void Runner::start(Bound& bound, std::shared_ptr<const Prepared> data) {
  bound.buffers = buffers_of(*data, bound);
  bound.data = std::move(data);
  const std::vector<Data> all = data_of(bound.buffers);
  const sf_status status = library_.start(bound.plan, all.data(), all.size());
  if (status != SF_OK) tally_.fault(bound.data->made, rank_, "start fails: " + library_.error_text());
}

/// Checks the results of the members. A member without rows has its own status; the results of the others are valid.
void Runner::check(Bound& bound, sf_status status) {
  const std::string text = status == SF_OK ? "" : library_.error_text();
  for (std::size_t i = 0; i < bound.members.size(); ++i) {
    const sf_status own = bound.members.size() == 1 ? status : library_.status(bound.plan, i);
    bound.buffers[i].check(*bound.data, own, text, tally_);
  }
}

void Runner::finish(Bound& bound) { check(bound, wait(bound.plan)); }

void Runner::run_once(Bound& bound, std::shared_ptr<const Prepared> data) {
  if (own_.one_in(2)) {
    start(bound, std::move(data));
    return finish(bound);
  }
  bound.buffers = buffers_of(*data, bound);
  bound.data = std::move(data);
  const std::vector<Data> all = data_of(bound.buffers);
  check(bound, library_.run(bound.plan, all.data(), all.size()));
}

void Runner::plan(const Case& made) {
  auto data = preparation_.get(made.number, 0);
  Bound bound = bind(data, all_of(made));
  if (bound.plan == nullptr) return;
  for (int run = 0; run < made.runs; ++run) {
    if (run > 0) data = preparation_.get(made.number, static_cast<std::uint64_t>(run));
    run_once(bound, data);
  }
  library_.free(bound.plan);
}

/// Tests the plans in any order until all are done. It does not wait for one after the other: each rank would wait in
/// its own order, which could be a deadlock.
void Runner::finish_all(std::vector<Bound>& bound) {
  std::vector<std::size_t> under_way(bound.size());
  std::iota(under_way.begin(), under_way.end(), std::size_t{0});
  while (!under_way.empty()) {
    const std::size_t chosen = own_.below(under_way.size());
    Bound& plan = bound[under_way[chosen]];
    bool done = false;
    const sf_status status = library_.test(plan.plan, done);
    library_.pause();
    if (!done && status == SF_OK) continue;
    check(plan, status);
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
}

/// Runs all plans at once, with a one-shot call among them. They end and are freed in any order.
void Runner::flight(const Case& made) {
  auto data = preparation_.get(made.number, 0);
  std::vector<Bound> bound;
  for (std::size_t i = 0; i < made.members.size(); ++i) {
    bound.push_back(bind(data, {i}));
    if (bound.back().plan == nullptr) return;
  }
  std::vector<std::size_t> order = all_of(made);
  for (int run = 0; run < made.runs; ++run) {
    if (run > 0) data = preparation_.get(made.number, static_cast<std::uint64_t>(run));
    if (!any_native(made)) shuffle(order, own_);
    for (const std::size_t i : order) start(bound[i], data);
    std::optional<Flying> meanwhile;
    const std::uint64_t numbered = run_meanwhile + static_cast<std::uint64_t>(run);
    if (run % 2 == 0 && own_.one_in(2))
      meanwhile = start_one_shot(made, 0, numbered);
    else if (run % 2 == 0)
      one_shot(made, 0, numbered);
    finish_all(bound);
    if (meanwhile) finish(*meanwhile);
  }
  shuffle(order, own_);
  for (const std::size_t i : order) library_.free(bound[i].plan);
}

void Runner::keep(const Case& made) {
  const auto data = preparation_.get(made.number, 0);
  auto bound = std::make_unique<Bound>(bind(data, all_of(made)));
  if (bound->plan == nullptr) return;
  run_once(*bound, data);
  if (kept_.size() == most_kept) {
    const auto oldest = kept_.begin() + static_cast<std::ptrdiff_t>(made.number % most_kept);
    library_.free((*oldest)->plan);
    kept_.erase(oldest);
  }
  kept_.push_back(std::move(bound));
}

void Runner::run_kept(const Case& made) {
  if (kept_.empty()) return;
  Bound& bound = *kept_[made.number % kept_.size()];
  run_once(bound, preparation_.get(bound.calls.prepared->made.number, run_of_kept + ++bound.runs));
}

}  // namespace steadfold::soak
