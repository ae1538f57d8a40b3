// Reductions and allreduces of 16 doubles on pinned threads, by the protocols of src/transport, by tree; and a team's
// plan, in the same rounds. Source: [S2]: 10^5 calls in a loop, 16 cores.
#include <algorithm>
#include <bit>
#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "bench/harness.hpp"
#include "bench/pinned.hpp"
#include "bench/statistics.hpp"
#include "node.hpp"
#include "steadfold/team.hpp"
#include "transport/dissemination.hpp"
#include "transport/tree_allreduce.hpp"
#include "transport/tree_reduce.hpp"

namespace steadfold::command::studies::node {
namespace {

using transport::MachineMemory;

constexpr std::size_t doubles = 16;
constexpr std::size_t depth = 2;  // odd and even
constexpr std::size_t most_threads = 16;

using Content = std::array<double, doubles>;
using TreeLane = transport::Lane<MachineMemory, Content, depth>;
using Sender = transport::LaneSender<MachineMemory, Content, depth>;
using Receiver = transport::LaneReceiver<MachineMemory, Content, depth>;
using Place = transport::TreePlace<MachineMemory, Content, depth>;
using Node = transport::TreeNode<MachineMemory, Content, depth>;

struct Sum {
  Content values{};
  void merge(const Content& other) {
    for (std::size_t i = 0; i < doubles; ++i) values[i] += other[i];
  }
  void write(Content& other) const { other = values; }
  void read(const Content& other) { values = other; }
};

using Round = transport::Dissemination<MachineMemory, Content, Sum>;

/// What all threads of a measurement share.
struct Shared {
  explicit Shared(std::size_t threads) : steps(static_cast<std::size_t>(std::bit_width(threads) - 1)) {
    for (std::size_t i = 0; i < 2 * std::size(shapes); ++i) lanes.emplace_back(threads);
    for (std::size_t i = 0; i < std::size(shapes); ++i) nodes.emplace_back(threads);
    lines.resize(threads);
    for (auto& of_thread : lines) of_thread = std::vector<Round::Line>(steps);
  }
  std::size_t steps;
  std::deque<std::vector<TreeLane>> lanes;  // to the parent; by tree, for each of both protocols
  std::deque<std::vector<Node>> nodes;      // by tree
  std::vector<std::vector<Round::Line>> lines;
};

/// Goes on until `done`, and yields where threads share cores.
template <class Advance, class Done>
void finish(const Advance& advance, const Done& done, bool shares_cores) {
  for (unsigned idle = 0; !done();)
    if (!advance() && shares_cores && ++idle % 64 == 0) sched_yield();
}

/// One thread's place in a tree.
struct TreeEnd {
  TreeEnd(std::vector<TreeLane>& lanes, const Shape& shape, std::size_t worker) {
    if (worker > 0) parent.emplace(lanes[worker]);
    for (const std::size_t child : children_of(shape, worker, lanes.size())) children.emplace_back(lanes[child]);
    for (Receiver& child : children) pointers.push_back(&child);
  }
  Place place() { return {pointers, parent ? &*parent : nullptr}; }

  std::optional<Sender> parent;
  std::deque<Receiver> children;
  std::vector<Receiver*> pointers;
};

/// All that one thread measures; the same order on all.
class Candidates {
 public:
  Candidates(Shared& shared, std::size_t worker, Team::Member member)
      : shared_(&shared), worker_(worker), workers_(static_cast<std::size_t>(member.size())) {
    shares_cores_ = workers_ > std::thread::hardware_concurrency();
    mine_.values.fill(1.0 + static_cast<double>(worker));
    for (std::size_t i = 0; i < std::size(shapes); ++i) {
      add_reduce<transport::SingleNotify<MachineMemory, Content, depth, Sum>>(i, shared.lanes[2 * i], "single_notify");
      add_reduce<transport::MultiNotify<MachineMemory, Content, depth, Sum>>(i, shared.lanes[2 * i + 1],
                                                                             "multi_notify");
      add_allreduce(i);
    }
    if (std::has_single_bit(workers_)) add_dissemination();
    add_plan(member);
  }

  std::vector<bench::Candidate> all;
  std::vector<std::pair<std::string, std::string>> names;  // tree and protocol

 private:
  void add(std::string_view tree, const std::string& protocol, std::function<void(std::size_t)> run) {
    names.emplace_back(tree, protocol);
    all.push_back({.name = std::string(tree) + " " + protocol, .run = std::move(run)});
  }

  template <class Notify>
  void add_reduce(std::size_t shape, std::vector<TreeLane>& lanes, const std::string& protocol) {
    const auto end = std::make_shared<TreeEnd>(lanes, shapes[shape], worker_);
    add(shapes[shape].name, protocol, [this, end](std::size_t calls) {
      for (std::size_t call = 0; call < calls; ++call) {
        Sum work = mine_;
        Notify notify(end->place(), work);
        finish([&] { return notify.advance(); }, [&] { return notify.done(); }, shares_cores_);
        bench::keep(work);
      }
    });
  }

  void add_allreduce(std::size_t shape) {
    struct End {
      std::vector<std::size_t> children;
      transport::TreeLinks links;
      transport::TreeAllreduce<MachineMemory, Content, depth, Sum> tree;
    };
    auto end = std::make_shared<End>(
        End{children_of(shapes[shape], worker_, workers_), {}, {std::span(shared_->nodes[shape]), worker_}});
    end->links.children = end->children;
    end->links.is_source = !end->children.empty();
    if (worker_ > 0) end->links.parent = end->links.source = shapes[shape].parent(worker_);
    add(shapes[shape].name, "reduce, broadcast", [this, end](std::size_t calls) {
      for (std::size_t call = 0; call < calls; ++call) {
        Sum work = mine_;
        const std::uint64_t before = end->tree.ended();
        end->tree.start(end->links, work);
        finish([&] { return end->tree.advance(); }, [&] { return end->tree.ended() > before; }, shares_cores_);
        bench::keep(work);
      }
    });
  }

  void add_dissemination() {
    std::vector<const Round::Line*> sources;
    for (std::size_t step = 0; step < shared_->steps; ++step)
      sources.push_back(&shared_->lines[transport::dissemination_source(worker_, step, workers_)][step]);
    sources_ = std::move(sources);
    const auto round = std::make_shared<Round>(std::span(shared_->lines[worker_]), sources_);
    add("none", "dissemination", [this, round](std::size_t calls) {
      for (std::size_t call = 0; call < calls; ++call) {
        Sum work = mine_;
        round->start(work);
        finish([&] { return round->advance(); }, [&] { return round->done(); }, shares_cores_);
        bench::keep(work);
      }
    });
  }

  void add_plan(Team::Member member) {
    auto plan = std::make_shared<VectorPlan<double>>(
        Plan<double>::of_vectors(sf::plus, doubles, member, {.method = sf::tree()}));
    add("none", "a team's plan", [this, plan](std::size_t calls) {
      Content result;
      for (std::size_t call = 0; call < calls; ++call) plan->run(mine_.values, result);
      bench::keep(result);
    });
  }

  Shared* shared_;
  std::size_t worker_;
  std::size_t workers_;
  bool shares_cores_ = false;
  Sum mine_;
  std::vector<const Round::Line*> sources_;
};

Json rows_of(std::size_t threads, const Candidates& candidates, const std::vector<bench::Samples>& samples) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::vector<double>& seconds = samples[i].seconds;
    const auto& [tree, protocol] = candidates.names[i];
    rows.push_back({{"part", "measured"},
                    {"threads", threads},
                    {"tree", tree},
                    {"protocol", protocol},
                    {"result", protocol.ends_with("_notify") ? "at the root" : "everywhere"},
                    {"seconds", bench::quantile(seconds, 0.5)},
                    {"quartiles", {bench::quantile(seconds, 0.25), bench::quantile(seconds, 0.75)}},
                    {"max", *std::ranges::max_element(seconds)}});
  }
  return rows;
}

Json measure(std::size_t threads, int rounds) {
  Shared shared(threads);
  bench::Meeting meeting(static_cast<unsigned>(threads));
  const Team team(static_cast<int>(threads));
  Json rows;
  const auto work = [&](std::size_t worker) {
    bench::pin_to_core(static_cast<unsigned>(worker) % std::thread::hardware_concurrency());
    const bench::Together together = meeting.together();
    Candidates candidates(shared, worker, team[static_cast<int>(worker)]);
    together.barrier();
    const auto samples = bench::interleave(candidates.all, rounds, together);
    if (worker == 0) rows = rows_of(threads, candidates, samples);
    together.barrier();
  };
  std::vector<std::jthread> others;
  for (std::size_t worker = 0; worker < threads; ++worker) others.emplace_back(work, worker);
  others.clear();
  return rows;
}

}  // namespace

Findings measured(const Asked& asked) {
  Findings found;
  for (const int threads : asked.ranks) {
    if (threads < 2) continue;
    if (static_cast<std::size_t>(threads) > most_threads) {
      found.left_out.push_back(
          fmt::format("{} threads: not measured (there may be {}), ask for fewer", threads, most_threads));
      continue;
    }
    for (Json& row : measure(static_cast<std::size_t>(threads), asked.rounds)) found.rows.push_back(std::move(row));
  }
  return found;
}

}  // namespace steadfold::command::studies::node
