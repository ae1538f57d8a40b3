// The search against C++'s axioms: random programs, whose outcomes are found a second time by trying for every load
// every store, and for additions every order, and keeping what happens-before and coherence allow. No function is
// shared.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <set>
#include <vector>

#include "transport/memory_model.hpp"

namespace steadfold::model::memory_axioms_test {
namespace {

using Outcomes = std::set<std::vector<std::uint64_t>>;

enum class Does { start, load, store, add };

struct Event {
  Does does = Does::start;
  std::size_t worker = 0;
  std::size_t place = 0;
  std::uint64_t value = 0;  // stored or added
  bool acquires = false;
  bool releases = false;
  bool reads() const { return does == Does::load || does == Does::add; }
  bool writes() const { return does != Does::load; }
};

constexpr std::size_t places = 3;

/// The first `places` events are the initial values, then those of worker 0, of worker 1, and so on, in program order.
struct Program {
  std::size_t workers = 0;
  std::vector<Event> events;
};

/// Each place is stored to by one worker, or added to by any.
Program random_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return static_cast<std::size_t>(random() % n); };
  Program program{.workers = 2 + below(2)};
  std::array<std::size_t, places> owner{};
  for (std::size_t& each : owner) each = below(program.workers + 1);  // the last: nobody's
  for (std::size_t place = 0; place < places; ++place) program.events.push_back({.worker = 99, .place = place});
  for (std::size_t worker = 0; worker < program.workers; ++worker) {
    const std::size_t count = 2 + below(program.workers == 2 ? 3 : 2);
    for (std::size_t i = 0; i < count; ++i) {
      Event event{.does = Does::load, .worker = worker, .place = below(places)};
      if (below(3) != 0 && owner[event.place] == worker) event.does = Does::store;
      if (below(3) != 0 && owner[event.place] == program.workers) event.does = Does::add;
      event.value = std::uint64_t{1} << program.events.size();
      event.acquires = event.reads() && below(2) == 0;
      event.releases = event.writes() && below(2) == 0;
      program.events.push_back(event);
    }
  }
  return program;
}

Outcomes by_search(const Program& program) {
  Search search;
  std::array<Counter, places> counters = {0, 0, 0};
  std::vector<std::uint64_t> read(program.events.size());
  for (std::size_t worker = 0; worker < program.workers; ++worker) {
    search.worker([&, worker] {
      for (std::size_t i = 0; i < program.events.size(); ++i) {
        const Event& event = program.events[i];
        if (event.worker != worker) continue;
        Counter& counter = counters[event.place];
        const auto order = event.acquires && event.releases ? std::memory_order_acq_rel
                           : event.acquires                 ? std::memory_order_acquire
                           : event.releases                 ? std::memory_order_release
                                                            : std::memory_order_relaxed;
        if (event.does == Does::load) read[i] = counter.load(order);
        if (event.does == Does::store) counter.store(event.value, order);
        if (event.does == Does::add) read[i] = counter.fetch_add(event.value, order);
      }
    });
  }
  search.outcome([&] { return read; });
  const Report report = search.run();
  EXPECT_EQ(report.fault, "");
  return report.outcomes;
}

/// A candidate: per place the order of its writes, and for every event that reads the one that it reads.
class Axioms {
 public:
  explicit Axioms(const Program& program) : events_(program.events), reads_(events_.size()), rank_(events_.size()) {
    for (std::size_t i = 0; i < events_.size(); ++i) {
      if (events_[i].writes()) writes_[events_[i].place].push_back(i);
    }
  }
  Outcomes outcomes() {
    order_writes(0);
    return outcomes_;
  }

 private:
  bool only_added_to(std::size_t place) const {
    return writes_[place].size() > 1 && events_[writes_[place][1]].does == Does::add;
  }

  void order_writes(std::size_t place) {
    if (place == places) return choose_reads(0);
    std::vector<std::size_t>& writes = writes_[place];  // sorted: the start, then the program's order
    do {
      for (std::size_t i = 0; i < writes.size(); ++i) {
        rank_[writes[i]] = i;
        if (events_[writes[i]].does == Does::add) reads_[writes[i]] = writes[i - 1];
      }
      order_writes(place + 1);
    } while (only_added_to(place) && std::next_permutation(writes.begin() + 1, writes.end()));
  }

  void choose_reads(std::size_t i) {
    if (i == events_.size()) return check();
    if (events_[i].does != Does::load) return choose_reads(i + 1);
    for (const std::size_t write : writes_[events_[i].place]) {
      reads_[i] = write;
      choose_reads(i + 1);
    }
  }

  using Relation = std::vector<std::vector<bool>>;
  static void close(Relation& relation) {
    for (std::size_t k = 0; k < relation.size(); ++k)
      for (std::size_t i = 0; i < relation.size(); ++i)
        for (std::size_t j = 0; j < relation.size(); ++j)
          if (relation[i][k] && relation[k][j]) relation[i][j] = true;
  }

  void check() {
    const std::size_t n = events_.size();
    Relation before(n, std::vector<bool>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j)
        before[i][j] = events_[j].does != Does::start &&
                       (events_[i].does == Does::start || events_[i].worker == events_[j].worker);
    Relation causes = before;
    for (std::size_t i = 0; i < n; ++i) {
      if (!events_[i].reads()) continue;
      causes[reads_[i]][i] = true;
      if (!events_[i].acquires) continue;
      for (std::size_t write = reads_[i];; write = reads_[write]) {  // along its release sequences
        if (events_[write].releases) before[write][i] = true;
        if (events_[write].does != Does::add) break;
      }
    }
    close(causes);
    for (std::size_t i = 0; i < n; ++i)
      if (causes[i][i]) return;  // load buffering
    close(before);
    if (is_coherent(before)) outcomes_.insert(values());
  }

  bool is_coherent(const Relation& before) const {
    for (std::size_t a = 0; a < events_.size(); ++a) {
      for (std::size_t b = 0; b < events_.size(); ++b) {
        if (!before[a][b] || events_[a].place != events_[b].place) continue;
        const std::size_t known =
            std::max(events_[a].writes() ? rank_[a] : 0, events_[a].reads() ? rank_[reads_[a]] : 0);
        if (events_[b].reads() && rank_[reads_[b]] < known) return false;
        if (events_[b].writes() && rank_[b] <= known) return false;
      }
    }
    return true;
  }

  std::uint64_t written(std::size_t i) const {
    return events_[i].does == Does::add ? written(reads_[i]) + events_[i].value : events_[i].value;
  }
  std::vector<std::uint64_t> values() const {
    std::vector<std::uint64_t> read(events_.size());
    for (std::size_t i = 0; i < events_.size(); ++i)
      if (events_[i].reads()) read[i] = written(reads_[i]);
    return read;
  }

  const std::vector<Event>& events_;
  std::array<std::vector<std::size_t>, places> writes_;
  std::vector<std::size_t> reads_;  // by event: what it reads
  std::vector<std::size_t> rank_;   // by event that writes: among the writes of its place
  Outcomes outcomes_;
};

TEST(MemoryModel, FindsWhatTheAxiomsAllow) {
  std::size_t outcomes = 0;
  std::size_t most = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const Program program = random_program(seed);
    const Outcomes expected = Axioms(program).outcomes();
    ASSERT_EQ(by_search(program), expected) << "seed " << seed;
    outcomes += expected.size();
    most = std::max(most, expected.size());
  }
  std::cout << "  1000 programs, seeds 1 to 1000: " << outcomes << " outcomes, up to " << most << " of one\n";
  EXPECT_GT(most, 50u);
}

}  // namespace
}  // namespace steadfold::model::memory_axioms_test
