// The search itself: memory_model.hpp says what it knows of memory.
#include "memory_model.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace steadfold::model {
namespace {

constexpr std::size_t most_states = 2'000'000;
constexpr std::size_t most_steps = 250;  // of one worker, and stores of one counter: clocks and views are bytes

using Kind = Operation::Kind;

thread_local Search* current_search = nullptr;

struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool releases(std::memory_order order) {
  return order == std::memory_order_release || order == std::memory_order_acq_rel;
}
bool acquires(std::memory_order order) {
  return order == std::memory_order_acquire || order == std::memory_order_acq_rel;
}

/// A hash of all words so far and one more; a zero counts, too.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = hash * 0xd6e8feb86659fd93 + word + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

bool is_load(Kind kind) { return kind == Kind::load || kind == Kind::test_equal || kind == Kind::test_at_least; }

/// What a load of this value gives the worker.
std::uint64_t result_of(const Operation& operation, std::uint64_t value) {
  switch (operation.kind) {
    case Kind::test_equal: return value == operation.value ? 1 : 0;
    case Kind::test_at_least: return value >= operation.value ? 1 : 0;
    default: return value;
  }
}

constexpr std::uint64_t operation_done = 1 << 16;  // in histories, beside numbers of looks

std::string in_words(std::size_t worker, const Operation& operation, std::uint64_t result) {
  std::ostringstream out;
  out << "worker " << worker << ": counter " << int{operation.place};
  switch (operation.kind) {
    case Kind::load: out << " read as " << result; break;
    case Kind::test_equal: out << (result != 0 ? " is " : " is not ") << operation.value; break;
    case Kind::test_at_least: out << (result != 0 ? " is at least " : " is not yet ") << operation.value; break;
    case Kind::store: out << " = " << operation.value; break;
    default: out << " + " << operation.value << " where " << result << " stood"; break;
  }
  if (operation.order == std::memory_order_relaxed) out << " (relaxed)";
  return out.str();
}

}  // namespace

void View::join(const View& other) noexcept {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
  for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = std::max(seen[i], other.seen[i]);
}

std::ostream& operator<<(std::ostream& out, const Report& report) {
  out << report.states << " states, " << report.executions << " executions";
  if (!report.fault.empty()) out << "; " << report.fault << ", after";
  for (const std::string& step : report.steps) out << "\n  " << step;
  return out;
}

Search::Search() {
  if (current_search != nullptr) throw std::logic_error("a second search (there is one at a time), end the first");
  current_search = this;
}

Search::~Search() { current_search = nullptr; }

Search& Search::current() { return *current_search; }

std::uint8_t Search::new_counter(std::uint64_t initial) {
  if (counters_ == most_counters) throw std::length_error("too many counters, raise most_counters");
  state_.last[counters_] = stores_.size();
  stores_.push_back({.value = initial});
  state_.stores = stores_.size();
  return static_cast<std::uint8_t>(counters_++);
}

std::uint8_t Search::new_plain() {
  if (plains_ == most_plain) throw std::length_error("too many plain data, raise most_plain");
  return static_cast<std::uint8_t>(plains_++);
}

Report Search::run(States states) {
  if (bodies_.size() > most_workers) throw std::length_error("too many workers, raise most_workers");
  logs_.resize(bodies_.size());
  how_ = states;
  try {
    for (std::size_t worker = 0; worker < bodies_.size(); ++worker) {
      state_.workers[worker].view.clock[worker] = 1;
      if (resume(worker) == Pause::given_up) throw Fault("a look that reads no counter fails");
    }
    report_.executions = explore();
  } catch (const Fault& fault) {
    report_.fault = fault.what();
    for (const auto& [worker, step] : steps_) report_.steps.push_back(in_words(worker, step.operation, step.result));
  }
  report_.states = executions_.size();
  return report_;
}

// --- the search ------------------------------------------------------------------------------------------------------

/// How many executions lead from here to the ends of all workers.
double Search::explore() {
  const auto [found, is_new] = executions_.try_emplace(how_ == States::merged ? key() : executions_.size(), 0.0);
  double& executions = found->second;  // stays where it is
  if (!is_new) return executions;
  if (executions_.size() > most_states) throw Fault("too many states");
  bool all_ended = true;
  bool none_looks = true;
  double sum = 0;
  for (std::size_t worker = 0; worker < bodies_.size(); ++worker) {
    if (state_.workers[worker].ended) continue;
    all_ended = false;
    none_looks = none_looks && state_.workers[worker].in_look == 0;
    sum += explore(worker);
  }
  if (all_ended) {
    finish();
    sum = 1;
  }
  // Who is in the middle of a look could still give it up.
  if (sum == 0 && none_looks) throw Fault("lock-out");
  return executions = sum;
}

/// How many executions lead from here to the ends of all workers if this worker takes the next step. A load may read
/// the latest store that the worker knows of, or any later one.
double Search::explore(std::size_t worker) {
  const Operation next = state_.workers[worker].next;
  const std::size_t last = state_.last[next.place];
  if (!is_load(next.kind)) return try_next(worker, last);
  const bool may_forget = how_ == States::merged && state_.workers[worker].may_forget && next.kind != Kind::load;
  const std::size_t oldest = state_.workers[worker].view.seen[next.place];
  bool may_fail = false;
  double sum = 0;
  for (std::size_t store = last;; store = stores_[store].before) {
    if (may_forget && result_of(next, stores_[store].value) == 0) {
      may_fail = true;
    } else {
      sum += try_next(worker, store);
    }
    if (stores_[store].number <= oldest) break;
  }
  return may_fail ? sum + try_next(worker, std::nullopt) : sum;
}

/// Carries out a worker's next operation, explores what comes after it, and takes it back. Without a store, the
/// operation is a test that fails and is forgotten.
double Search::try_next(std::size_t worker, std::optional<std::size_t> store) {
  const State before = state_;
  store ? perform(worker, *store) : fail_test(worker);
  steps_.emplace_back(worker, logs_[worker].back());
  const double executions = resume(worker) == Pause::given_up ? 0 : explore();
  steps_.pop_back();
  state_ = before;
  stores_.resize(state_.stores);
  logs_[worker].resize(state_.workers[worker].operations);
  return executions;
}

void Search::finish() {
  if (!outcome_) return;
  for (std::size_t worker = 0; worker < bodies_.size(); ++worker) resume(worker);  // each leaves its results
  report_.outcomes.insert(outcome_());
}

std::uint64_t Search::key() const {
  std::uint64_t hash = 0;
  for (std::size_t worker = 0; worker < bodies_.size(); ++worker) {
    hash = mixed(mixed(hash, state_.workers[worker].history), state_.workers[worker].in_look);
  }
  return hash;
}

// --- memory ----------------------------------------------------------------------------------------------------------

/// Carries out a worker's next operation; `store` is what a load or an addition reads.
void Search::perform(std::size_t w, std::size_t store) {
  Worker& worker = state_.workers[w];
  const Operation operation = worker.next;
  std::uint64_t result = 0;
  const Store read = stores_[store];
  std::uint8_t& seen = worker.view.seen[operation.place];
  if (operation.kind != Kind::store) {
    seen = std::max(seen, read.number);
    if (acquires(operation.order)) worker.view.join(read.view);
    result = result_of(operation, read.value);
  }
  if (operation.kind == Kind::store) append(worker, operation, operation.value, nullptr);
  if (operation.kind == Kind::add) append(worker, operation, read.value + operation.value, &read);
  worker.view.clock[w] += 1;
  worker.history = mixed(worker.history, std::uint64_t{operation.place} << 8 | seen | operation_done);
  logs_[w].push_back({operation, result});
  worker.operations = logs_[w].size();
  if (worker.operations > most_steps) throw Fault("too many operations of one worker");
}

/// By contract, it is as if the worker had not looked.
void Search::fail_test(std::size_t w) {
  logs_[w].push_back({state_.workers[w].next, 0, true});
  state_.workers[w].operations = logs_[w].size();
}

/// A store after the last one. Another place would be allowed where the worker does not know the last store, unless
/// additions stand there, which leave no room between them and what they read.
void Search::append(Worker& worker, const Operation& operation, std::uint64_t value, const Store* continued) {
  std::size_t& last = state_.last[operation.place];
  std::uint8_t& seen = worker.view.seen[operation.place];
  for (std::size_t each = last; stores_[each].number > seen; each = stores_[each].before) {
    if (!stores_[each].is_addition) throw Fault("stores of two workers that are not ordered (the model lacks them)");
  }
  Store store{.value = value, .before = last, .is_addition = operation.kind == Kind::add};
  if (stores_[last].number == most_steps) throw Fault("too many stores of one counter");
  store.number = static_cast<std::uint8_t>(stores_[last].number + 1);
  seen = store.number;
  if (releases(operation.order)) store.view = worker.view;
  if (continued != nullptr) store.view.join(continued->view);
  last = stores_.size();
  stores_.push_back(store);
  state_.stores = stores_.size();
}

/// By the worker that runs.
std::uint64_t Search::access_plain(const Operation& operation) {
  Plain& plain = state_.plain[operation.place];
  const View& view = state_.workers[running_].view;
  if (plain.written > view.clock[plain.writer]) fail("race: with a write that is not known to have ended");
  if (operation.kind == Kind::read) {
    plain.read[running_] = view.clock[running_];
    return plain.value;
  }
  for (std::size_t other = 0; other < bodies_.size(); ++other) {
    if (plain.read[other] > view.clock[other]) fail("race: a write over what may still be read");
  }
  plain.value = operation.value;
  plain.writer = running_;
  plain.written = view.clock[running_];
  return 0;
}

// --- workers ---------------------------------------------------------------------------------------------------------

/// Runs a worker from its start up to its next operation.
Search::Pause Search::resume(std::size_t worker) {
  running_ = worker;
  cursor_ = 0;
  looking_ = false;
  looks_ended_ = 0;
  in_worker_ = true;
  const int jumped = setjmp(out_);
  if (jumped == 0) bodies_[running_]();
  in_worker_ = false;
  const Pause pause = jumped == 0 ? Pause::ended : static_cast<Pause>(jumped);
  if (pause == Pause::failed) throw Fault(report_.fault);
  Worker& state = state_.workers[running_];
  // What a worker does between two operations may depend on where its looks end.
  if (looks_ended_ > state.looks_ended) state.history = mixed(state.history, looks_ended_ - state.looks_ended);
  state.looks_ended = looks_ended_;
  state.ended = pause == Pause::ended;
  state.may_forget = looking_;
  state.in_look = looking_ ? cursor_ - look_began_ : 0;
  return pause;
}

void Search::leave(Pause pause) { std::longjmp(out_, static_cast<int>(pause)); }

std::uint64_t Search::operate(const Operation& operation) {
  if (!in_worker_) throw std::logic_error("memory is used outside of workers (only they are searched)");
  std::vector<Logged>& log = logs_[running_];
  if (cursor_ < log.size()) {
    const Operation& then = log[cursor_].operation;
    if (then.kind != operation.kind || then.place != operation.place || then.value != operation.value) {
      fail("a worker does not follow from what it has read");
    }
    return log[cursor_++].result;
  }
  if (operation.order == std::memory_order_seq_cst) fail("sequential consistency (the model lacks it)");
  if (operation.kind != Kind::read && operation.kind != Kind::write) {
    state_.workers[running_].next = operation;
    leave(Pause::at_operation);
  }
  log.push_back({operation, access_plain(operation)});
  state_.workers[running_].operations = log.size();
  return log[cursor_++].result;
}

void Search::begin_look() {
  looking_ = true;
  look_began_ = cursor_;
}

void Search::end_look() {
  looking_ = false;
  looks_ended_ += 1;
}

void Search::give_up() {
  for (std::size_t i = look_began_; i < cursor_; ++i) {
    if (!is_load(logs_[running_][i].operation.kind)) fail("a look that failed has done more than load");
  }
  leave(Pause::given_up);
}

void Search::fail(const char* what) {
  report_.fault = what;
  leave(Pause::failed);
}

}  // namespace steadfold::model
