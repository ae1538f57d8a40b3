// The protocols with real threads, random delays and trees drawn at random: nothing stale, nothing lost. Every case
// says its seed.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "lab/protocols/dissemination.hpp"
#include "lab/protocols/feed.hpp"
#include "lab/protocols/tree_allreduce.hpp"
#include "lab/protocols/tree_reduce.hpp"
#include "transport/shared/flags.hpp"
#include "transport/threads_stress.hpp"
#include "trees.hpp"

namespace steadfold::transport::protocols_stress_test {
namespace {

using namespace threads_stress;

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

TEST(ProtocolsStress, Feeds) {
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

TEST(ProtocolsStress, ReductionsOverRandomTrees) {
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

TEST(ProtocolsStress, AllreducesOverRandomTrees) {
  stress_allreduce<1>(1, 2, 50'000 / fewer);
  stress_allreduce<2>(2, 2, 50'000 / fewer);
  stress_allreduce<1>(3, 4, 10'000 / fewer);
  stress_allreduce<2>(4, 4, 10'000 / fewer);
  stress_allreduce<3>(5, 3, 10'000 / fewer);
}

TEST(ProtocolsStress, Dissemination) {
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
}  // namespace steadfold::transport::protocols_stress_test
