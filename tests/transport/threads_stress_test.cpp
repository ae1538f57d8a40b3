// The protocols between threads with real threads, random delays and trees drawn at random: nothing stale, nothing
// lost. Under the thread sanitizer, with fewer operations, no race either. Every case says its seed.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "studies/protocols/dissemination.hpp"
#include "studies/protocols/feed.hpp"
#include "studies/protocols/tree_allreduce.hpp"
#include "studies/protocols/tree_reduce.hpp"
#include "support/sanitized.hpp"
#include "transport/shared/flags.hpp"
#include "transport/trees.hpp"

namespace steadfold::transport::threads_stress_test {
namespace {

#if defined(STEADFOLD_TEST_EMULATED)
constexpr std::uint64_t fewer = 5;
#else
constexpr std::uint64_t fewer = test::sanitized ? 10 : 1;
#endif

constexpr auto most_patience = std::chrono::seconds(60);  // of one wait: a lock-out

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t hash = (a + 1) * 0x9e3779b97f4a7c15 + b;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

/// A message that fills its line, so that a torn or stale one shows.
struct Line {
  std::array<std::uint64_t, 7> words{};
};
static_assert(sizeof(Box<MachineMemory, Line>) == cache_line);

void fill(Line& line, std::uint64_t of) {
  for (std::size_t i = 0; i < line.words.size(); ++i) line.words[i] = mixed(of, i);
}
bool holds(const Line& line, std::uint64_t of) {
  bool all = true;
  for (std::size_t i = 0; i < line.words.size(); ++i) all = all && line.words[i] == mixed(of, i);
  return all;
}

/// A sum that fills its line.
struct LineSum {
  Line line;
  void merge(const Line& other) {
    for (std::size_t i = 0; i < line.words.size(); ++i) line.words[i] += other.words[i];
  }
  void write(Line& other) const { other = line; }
  void read(const Line& other) { line = other; }
};

std::uint64_t part(std::uint64_t operation, std::size_t worker) { return 16 * operation + worker; }
bool holds_sum(const Line& line, std::uint64_t operation, std::size_t workers) {
  LineSum expected;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    Line each;
    fill(each, part(operation, worker));
    expected.merge(each);
  }
  return line.words == expected.line.words;
}

/// What one thread has to do with chance and time.
class Thread {
 public:
  Thread(std::uint64_t seed, std::size_t worker) : state_(mixed(seed, worker)) {}

  /// Mostly nothing, sometimes a while, seldom a turn of others.
  void delay() {
    state_ = mixed(state_, 1);
    if (state_ % 64 != 0) return;
    for (std::uint64_t i = state_ >> 8 & 255; i > 0; --i) std::atomic_signal_fence(std::memory_order_seq_cst);
    if (state_ % 8192 == 0) std::this_thread::yield();
  }
  /// Throws after `most_patience`.
  template <class Look>
  auto await(Look look) {
    delay();
    auto found = look();
    std::chrono::steady_clock::time_point began;
    for (std::uint64_t tries = 1; !found; found = look(), ++tries) {
      if (tries % 32 != 0) continue;
      std::this_thread::yield();
      if (tries == 32) began = std::chrono::steady_clock::now();
      if (tries % 32768 == 0 && std::chrono::steady_clock::now() - began > most_patience) {
        throw std::runtime_error("locked out");
      }
    }
    delay();
    return found;
  }
  void require(bool holds) { faults_ += holds ? 0 : 1; }
  std::uint64_t faults() const { return faults_; }

 private:
  std::uint64_t state_;
  std::uint64_t faults_ = 0;
};

/// body(worker, thread) in as many threads; says how many operations per second there were.
void run(const std::string& what, std::uint64_t seed, std::size_t workers, std::uint64_t operations,
         const std::function<void(std::size_t, Thread&)>& body) {
  std::vector<std::string> ends(workers);
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      threads.emplace_back([&, worker] {
        Thread thread(seed, worker);
        try {
          body(worker, thread);
          ends[worker] = std::to_string(thread.faults()) + " faults";
        } catch (const std::exception& error) {
          ends[worker] = error.what();
        }
      });
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::cout << "  " << what << ", seed " << seed << ": " << operations << " operations in " << took.count() << " s\n";
  EXPECT_EQ(ends, std::vector<std::string>(workers, "0 faults")) << what << ", seed " << seed;
}

template <std::size_t depth>
void stress_lane(std::uint64_t seed, std::uint64_t messages) {
  Lane<MachineMemory, Line, depth> lane;
  run("a lane of depth " + std::to_string(depth), seed, 2, messages, [&](std::size_t worker, Thread& thread) {
    LaneSender sender(lane);
    LaneReceiver receiver(lane);
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (worker == 0) {
        thread.await([&] { return sender.has_room(); });
        fill(sender.next(), i);
        sender.send();
      } else {
        const Line* line = thread.await([&] { return receiver.look(); });
        thread.require(holds(*line, i));
        receiver.take();
      }
    }
  });
}

TEST(ThreadsStress, Lanes) {
  stress_lane<1>(1, 100'000 / fewer);
  stress_lane<2>(2, 50'000 / fewer);
  stress_lane<8>(3, 1'000'000 / fewer);
}

TEST(ThreadsStress, Boards) {
  for (std::size_t workers = 2; workers <= 4; ++workers) {
    const std::uint64_t rounds = (workers == 2 ? 100'000 : 20'000) / fewer;
    std::array<Notice<MachineMemory, Line>, 4> notices;
    run("a board of " + std::to_string(workers), workers, workers, rounds, [&](std::size_t worker, Thread& thread) {
      BoardPlace place(notices[worker]);
      for (std::uint64_t round = 0; round < rounds; ++round) {
        fill(place.own(), part(round, worker));
        place.post();
        for (std::size_t other = 0; other < workers; ++other) {
          if (other == worker) continue;
          const Line* line = thread.await([&] { return place.look(notices[other]); });
          thread.require(holds(*line, part(round, other)));
        }
        place.done();
      }
    });
  }
}

template <std::size_t depth>
void stress_feed(std::uint64_t seed, std::size_t readers, std::uint64_t messages) {
  Feed<MachineMemory, Line, depth> feed;
  const std::string what = "a feed of depth " + std::to_string(depth) + " with " + std::to_string(readers) + " readers";
  run(what, seed, readers + 1, messages, [&](std::size_t worker, Thread& thread) {
    FeedWriter writer(feed);
    FeedReader reader(feed);
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (worker == 0) {
        thread.await([&] { return writer.has_room(); });
        fill(writer.next(), i);
        writer.send(readers);
      } else {
        const Line* line = thread.await([&] { return reader.look(); });
        thread.require(holds(*line, i));
        reader.take();
      }
    }
  });
}

TEST(ThreadsStress, Feeds) {
  stress_feed<1>(1, 1, 50'000 / fewer);
  stress_feed<2>(2, 3, 20'000 / fewer);
  stress_feed<4>(3, 3, 50'000 / fewer);
}

/// A random tree, equal on all workers: in a random order, each is linked to a random one of those before it.
Parents random_tree(std::uint64_t seed, std::uint64_t operation, std::size_t workers) {
  std::uint64_t state = mixed(seed, operation);
  std::array<std::size_t, most_workers> order{};
  for (std::size_t i = 0; i < workers; ++i) order[i] = i;
  for (std::size_t i = workers; i > 1; --i, state = mixed(state, i)) std::swap(order[i - 1], order[state % i]);
  Parents parents{};
  parents[order[0]] = order[0];
  for (std::size_t i = 1; i < workers; ++i, state = mixed(state, i)) parents[order[i]] = order[state % i];
  return parents;
}

std::size_t root_of(const Parents& parents) {
  std::size_t worker = 0;
  while (parents[worker] != worker) worker = parents[worker];
  return worker;
}

template <std::size_t depth, template <class, class, std::size_t, class> class Notify>
void stress_reductions(const std::string& what, std::uint64_t seed, std::size_t workers, std::uint64_t reductions) {
  typename Ends<MachineMemory, Line, depth>::Lanes lanes;
  run(what, seed, workers, reductions, [&](std::size_t worker, Thread& thread) {
    Ends<MachineMemory, Line, depth> ends(lanes, worker);
    for (std::uint64_t i = 0; i < reductions; ++i) {
      const auto place = ends.place(random_tree(seed, i / 8, workers), workers);  // eight over each tree
      LineSum sum;
      fill(sum.line, part(i, worker));
      Notify<MachineMemory, Line, depth, LineSum> notify(place, sum);
      while (!notify.done()) thread.await([&] { return notify.advance(); });
      if (place.parent == nullptr) thread.require(holds_sum(sum.line, i, workers));
    }
  });
}

TEST(ThreadsStress, ReductionsOverRandomTrees) {
  stress_reductions<1, SingleNotify>("single_notify, 2 workers", 1, 2, 50'000 / fewer);
  stress_reductions<2, SingleNotify>("single_notify, 4 workers", 2, 4, 20'000 / fewer);
  stress_reductions<1, MultiNotify>("multi_notify, 2 workers", 3, 2, 50'000 / fewer);
  stress_reductions<2, MultiNotify>("multi_notify, 4 workers", 4, 4, 20'000 / fewer);
}

/// Starts reductions as early as it may; the tree up is another one than the tree down, with the same root.
template <std::size_t depth>
void stress_allreduce(std::uint64_t seed, std::size_t workers, std::uint64_t reductions) {
  std::array<TreeNode<MachineMemory, Line, depth>, most_workers> nodes;
  const std::string what = "allreduce of depth " + std::to_string(depth) + ", " + std::to_string(workers) + " workers";
  run(what, seed, workers, reductions, [&](std::size_t worker, Thread& thread) {
    std::array<Links, depth> links;
    std::array<LineSum, depth> sums;
    TreeAllreduce<MachineMemory, Line, depth, LineSum> end(nodes, worker);
    std::uint64_t started = 0;
    for (std::uint64_t ended = 0; ended < reductions;) {
      for (; started < reductions && end.has_room(); ++started) {
        const Parents up = random_tree(seed, started, workers);
        Trees trees{up, up};
        if (started % 3 == 0) trees.down.fill(root_of(up));  // all read the root's line
        links[started % depth].set(trees, worker, workers);
        fill(sums[started % depth].line, part(started, worker));
        end.start(links[started % depth].links, sums[started % depth]);
      }
      thread.await([&] { return end.advance(); });
      for (; ended < end.ended(); ++ended) {
        thread.require(holds_sum(sums[ended % depth].line, ended, workers));
      }
    }
  });
}

TEST(ThreadsStress, AllreducesOverRandomTrees) {
  stress_allreduce<1>(1, 2, 50'000 / fewer);
  stress_allreduce<2>(2, 2, 50'000 / fewer);
  stress_allreduce<1>(3, 4, 10'000 / fewer);
  stress_allreduce<2>(4, 4, 10'000 / fewer);
  stress_allreduce<3>(5, 3, 10'000 / fewer);
}

TEST(ThreadsStress, Dissemination) {
  for (const std::size_t workers : {2, 4}) {
    const std::uint64_t rounds = (workers == 2 ? 100'000 : 10'000) / fewer;
    const auto steps = static_cast<std::size_t>(std::bit_width(workers - 1));
    using Notices = std::array<Notice<MachineMemory, Line>, 2>;
    std::array<Notices, 4> lines;
    const std::string what = "dissemination among " + std::to_string(workers);
    run(what, workers, workers, rounds, [&](std::size_t worker, Thread& thread) {
      std::array<const Notice<MachineMemory, Line>*, 2> sources{};
      for (std::size_t t = 0; t < steps; ++t) sources[t] = &lines[dissemination_source(worker, t, workers)][t];
      Dissemination<MachineMemory, Line, LineSum> end(std::span(lines[worker]).first(steps),
                                                      std::span(sources).first(steps));
      for (std::uint64_t round = 0; round < rounds; ++round) {
        LineSum sum;
        fill(sum.line, part(round, worker));
        end.start(sum);
        while (!end.done()) thread.await([&] { return end.advance(); });
        thread.require(holds_sum(sum.line, round, workers));
      }
    });
  }
}

}  // namespace
}  // namespace steadfold::transport::threads_stress_test
