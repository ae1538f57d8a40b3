// An exhaustive search over what C++ allows workers that share memory to do: every order of their atomic operations,
// and for every load every store that it may read. Plain data are watched for races, and waiting workers for lock-outs.
//
// Memory. A counter keeps all its stores, in the order in which they were made. A worker's view says which of them it
// can no longer read past: its own, those it has read, and those that it learned of when an acquire load read a release
// store, which carries the view of its writer. An addition reads the last store, and carries on what that one carried.
// Plain data are read and written at once; two accesses, one of them a write, of which neither happens before the
// other are a race. So plain accesses need no search: in whatever order they come, their clocks tell.
//
// Left out: load buffering (a load never reads a store that is made after it), fences, sequentially consistent
// operations, and stores of two workers to one counter that are not ordered. The last two end the search with a fault.
//
// Workers are functions of what they have read: a worker is moved on by running it from its start with the values that
// it read before, up to its next atomic operation, where it is left by a jump. So a worker must not own anything that
// needs a destructor, and all it shares must be made of Counter and Plain.
//
// Reduction. What all workers will do follows from which stores each of them has read, where its own came to stand, and
// in which of its looks (`await`) that was. Orders of operations that agree in this lead to the same state, which is
// searched once (by a 64-bit hash). The number of executions, that is of different orders, is counted all the same. A
// worker that looks for something and finds that a counter has not the value it hopes for forgets so at the end of the
// look; nor does it learn anything from the store that it read. So protocols may not depend on what they did not find.
#pragma once

#include <array>
#include <atomic>
#include <concepts>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/shared/flags.hpp"

namespace steadfold::model {

inline constexpr std::size_t most_workers = 4;
inline constexpr std::size_t most_counters = 48;
inline constexpr std::size_t most_plain = 32;

/// What a worker knows: per worker how far its operations happen before now, per counter the oldest store to be read.
struct View {
  std::array<std::uint8_t, most_workers> clock{};
  std::array<std::uint8_t, most_counters> seen{};
  void join(const View& other) noexcept;
};

struct Operation {
  enum class Kind : std::uint8_t { load, test_equal, test_at_least, store, add, read, write };
  Kind kind = Kind::load;  // tests are loads that are compared at once; the last two are on plain data
  std::memory_order order = std::memory_order_relaxed;
  std::uint8_t place = 0;  // which counter, or which plain datum
  std::uint64_t value = 0;
};

/// Whether states that must go on alike are searched once, or each time, and nothing is forgotten.
enum class States { merged, apart };

/// What a search has found.
struct Report {
  std::string fault;               // in words; empty if there is none
  std::vector<std::string> steps;  // that led to it
  std::size_t states = 0;
  double executions = 0;                          // orders of operations that these states stand for
  std::set<std::vector<std::uint64_t>> outcomes;  // all that `outcome` said when all workers had ended
};
std::ostream& operator<<(std::ostream& out, const Report& report);

/// One search at a time. Counters and plain data made while it lives belong to it, and must outlive `run`.
class Search {
 public:
  Search();
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// At most `most_workers`. The body is run many times, from the start and up to somewhere.
  void worker(std::function<void()> body) { bodies_.push_back(std::move(body)); }
  /// Called whenever all workers have ended.
  void outcome(std::function<std::vector<std::uint64_t>()> outcome) { outcome_ = std::move(outcome); }
  /// Goes through everything, up to the first fault.
  Report run(States states = States::merged);

  // For Counter, Plain, await and require.
  static Search& current();
  std::uint8_t new_counter(std::uint64_t initial);
  std::uint8_t new_plain();
  std::uint64_t operate(const Operation& operation);
  void begin_look();
  void end_look();
  [[noreturn]] void give_up();
  [[noreturn]] void fail(const char* what);

 private:
  struct Store {
    std::uint64_t value = 0;
    View view;                // what it carries to acquire loads
    std::size_t before = 0;   // the store before it, of the same counter
    std::uint8_t number = 0;  // among those of its counter
    bool is_addition = false;
  };
  struct Worker {
    View view;
    Operation next;
    std::uint64_t history = 0;    // a hash of what it read and where it wrote
    std::size_t operations = 0;   // in its log
    std::size_t looks_ended = 0;  // of its looks
    bool ended = false;
    std::size_t in_look = 0;  // operations of a look that has not ended
    bool may_forget = false;  // what it does next, where that fails
  };
  struct Plain {
    std::uint64_t value = 0;
    std::size_t writer = 0;
    std::uint8_t written = 0;  // when, by the writer's clock
    std::array<std::uint8_t, most_workers> read{};
  };
  struct State {
    std::array<Worker, most_workers> workers;
    std::array<std::size_t, most_counters> last{};  // store of each counter
    std::array<Plain, most_plain> plain;
    std::size_t stores = 0;
  };
  struct Logged {
    Operation operation;
    std::uint64_t result = 0;
    bool is_forgotten = false;
  };
  enum class Pause { at_operation = 1, given_up, failed, ended };

  Pause resume(std::size_t worker);
  double explore();
  double explore(std::size_t worker);
  double try_next(std::size_t worker, std::optional<std::size_t> store);
  void perform(std::size_t worker, std::size_t store);
  void fail_test(std::size_t worker);
  void append(Worker& worker, const Operation& operation, std::uint64_t value, const Store* continued);
  std::uint64_t access_plain(const Operation& operation);
  void finish();
  std::uint64_t key() const;
  [[noreturn]] void leave(Pause pause);

  std::vector<std::function<void()>> bodies_;
  std::function<std::vector<std::uint64_t>()> outcome_;
  State state_;
  std::vector<Store> stores_;
  std::vector<std::vector<Logged>> logs_;  // per worker, what it did and what came of it
  std::size_t counters_ = 0;
  std::size_t plains_ = 0;
  States how_ = States::merged;
  std::unordered_map<std::uint64_t, double> executions_;  // by state: those from there on
  std::vector<std::pair<std::size_t, Logged>> steps_;     // by which worker
  Report report_;

  // The worker that runs.
  std::jmp_buf out_;
  std::size_t running_ = 0;
  std::size_t cursor_ = 0;  // in its log
  std::size_t look_began_ = 0;
  bool looking_ = false;
  std::size_t looks_ended_ = 0;
  bool in_worker_ = false;
};

/// A load, which is carried out when its value is used; a comparison says what is looked for.
class [[nodiscard]] Load {
 public:
  Load(std::uint8_t place, std::memory_order order) : place_(place), order_(order) {}
  Load(const Load&) = delete;
  operator std::uint64_t() && noexcept { return operate(Operation::Kind::load, 0); }
  template <std::integral Number>
  bool operator==(Number expected) && noexcept {
    return operate(Operation::Kind::test_equal, static_cast<std::uint64_t>(expected)) != 0;
  }
  template <std::integral Number>
  bool operator>=(Number least) && noexcept {
    return operate(Operation::Kind::test_at_least, static_cast<std::uint64_t>(least)) != 0;
  }

 private:
  std::uint64_t operate(Operation::Kind kind, std::uint64_t value) const noexcept {
    return Search::current().operate({kind, order_, place_, value});
  }
  std::uint8_t place_;
  std::memory_order order_;
};

/// An atomic number.
class Counter {
 public:
  Counter(std::uint64_t initial) : place_(Search::current().new_counter(initial)) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  Load load(std::memory_order order) const noexcept { return {place_, order}; }
  void store(std::uint64_t value, std::memory_order order) noexcept {
    Search::current().operate({Operation::Kind::store, order, place_, value});
  }
  /// Returns what was there before.
  std::uint64_t fetch_add(std::uint64_t value, std::memory_order order) noexcept {
    return Search::current().operate({Operation::Kind::add, order, place_, value});
  }

 private:
  std::uint8_t place_;
};

/// A number that is not atomic, 0 at first.
class Plain {
 public:
  Plain() : place_(Search::current().new_plain()) {}
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  Plain& operator=(std::uint64_t value) noexcept {
    Search::current().operate({Operation::Kind::write, std::memory_order_relaxed, place_, value});
    return *this;
  }
  operator std::uint64_t() const noexcept {
    return Search::current().operate({Operation::Kind::read, std::memory_order_relaxed, place_, 0});
  }

 private:
  std::uint8_t place_;
};

/// In a worker: looks until the answer is true. A look that fails must have loaded counters and done nothing else; it
/// is as if the worker had not looked yet, so the search does not go on with it: others come first. Where no order lets
/// all workers come to their ends any more, they are locked out. A look that does one thing and ends keeps states few.
template <class Look>
auto await(Look look) {
  Search& search = Search::current();
  search.begin_look();
  auto found = look();
  if (!found) search.give_up();
  search.end_look();
  return found;
}

/// In a worker: a fault unless `holds`.
inline void require(bool holds, const char* what) {
  if (!holds) Search::current().fail(what);
}

/// The orders that protocols ask memory for: those of the machine's memory, any of which can be weakened.
template <std::memory_order announce_ = transport::MachineMemory::announce,
          std::memory_order expect_ = transport::MachineMemory::expect,
          std::memory_order give_back_ = transport::MachineMemory::give_back,
          std::memory_order take_back_ = transport::MachineMemory::take_back>
struct Memory {
  using Counter = model::Counter;
  static constexpr std::memory_order announce = announce_;
  static constexpr std::memory_order expect = expect_;
  static constexpr std::memory_order give_back = give_back_;
  static constexpr std::memory_order take_back = take_back_;
};

}  // namespace steadfold::model
