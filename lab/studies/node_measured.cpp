// Reductions and allreduces of doubles on pinned threads, by the protocols of src/transport, by tree; beside a team's
// plan and what programs without MPI do, in the same rounds. Source: [S2]: 10^5 calls in a loop, 16 cores. It reduces
// "16 doubles" there, and "N doubles using N cores" elsewhere: one double per thread, or 16, so both are measured.
#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <deque>
#include <memory>
#include <optional>
#include <set>

#include "bench/harness.hpp"
#include "lab/bench/pinned.hpp"
#include "lab/bench/thread_rivals.hpp"
#include "node.hpp"
#include "node_protocols.hpp"
#include "node_threads.hpp"
#include "steadfold/team.hpp"

namespace steadfold::command::studies::node {
namespace {

/// By thread; empty if some core's socket is not known, or all threads are on one.
std::vector<int> sockets_of(unsigned threads) {
  std::vector<int> sockets;
  for (unsigned thread = 0; thread < threads; ++thread)
    sockets.push_back(bench::core_of_thread(thread).whereabouts.package);
  const std::set<int> different(sockets.begin(), sockets.end());
  return different.size() > 1 && !different.contains(-1) ? sockets : std::vector<int>{};
}

/// A tree of every shape over all threads. Threads on several sockets get a second one of every shape, which is made of
/// a tree per socket.
std::vector<Tree> trees_of(unsigned threads) {
  const std::vector<int> sockets = sockets_of(threads);
  std::vector<Tree> trees;
  for (const Shape& shape : shapes) {
    trees.push_back(tree_of(shape, threads));
    if (!sockets.empty()) trees.push_back(tree_per_socket(shape, sockets));
  }
  return trees;
}

/// Variants, which are measured over the binary tree.
template <std::size_t doubles>
using Maxima = Protocols<doubles, 2, Larger>;
template <std::size_t doubles>
using FourBoxes = Protocols<doubles, 4>;

/// What all threads of a measurement share.
template <std::size_t doubles>
struct Shared {
  using P = Protocols<doubles>;

  explicit Shared(unsigned threads)
      : trees(trees_of(threads)),
        flat_half(tree_of(shapes[std::size(shapes) - 1], threads / 2)),
        steps(static_cast<std::size_t>(std::bit_width(threads) - 1)),
        feeds_of_halves(threads),
        rivals(threads, doubles) {
    for (std::size_t i = 0; i < 2 * trees.size(); ++i) lanes.emplace_back(threads);
    for (std::size_t i = 0; i < 2; ++i) {
      lanes_of_maxima.emplace_back(threads);
      lanes_of_four.emplace_back(threads);
    }
    for (std::size_t i = 0; i < trees.size(); ++i) {
      nodes.emplace_back(threads);
      counted.emplace_back(threads);
      feeds.emplace_back(threads);
    }
    lines.resize(threads);
    for (auto& of_thread : lines) of_thread = std::vector<typename P::Round::Line>(steps);
    lines_of_halves.resize(threads);
    for (auto& of_thread : lines_of_halves) of_thread = std::vector<typename P::Round::Line>(steps);
  }
  std::vector<Tree> trees;
  Tree flat_half;
  std::size_t steps;
  std::deque<std::vector<typename P::TreeLane>> lanes;  // to the parent; by tree, for each of both protocols
  std::deque<std::vector<typename Maxima<doubles>::TreeLane>> lanes_of_maxima;  // for each of both protocols
  std::deque<std::vector<typename FourBoxes<doubles>::TreeLane>> lanes_of_four;
  std::deque<std::vector<typename P::Node>> nodes;  // by tree
  std::deque<std::vector<typename P::CountedNode>> counted;
  std::deque<std::vector<typename P::Feed>> feeds;
  std::vector<std::vector<typename P::Round::Line>> lines;
  std::vector<std::vector<typename P::Round::Line>> lines_of_halves;  // the last of each is between the halves
  std::vector<typename P::Feed> feeds_of_halves;
  bench::ThreadRivals rivals;
  static constexpr std::size_t none = ~std::size_t{0};
  std::atomic<std::size_t> wrong = none;  // a candidate whose result was
};

/// Goes on until `done`, and yields where threads share cores.
template <class Advance, class Done>
void finish(const Advance& advance, const Done& done, bool shares_cores) {
  for (unsigned idle = 0; !done();)
    if (!advance() && shares_cores && ++idle % 64 == 0) sched_yield();
}

/// One thread's place in a tree.
template <class P>
struct TreeEnd {
  TreeEnd(std::vector<typename P::TreeLane>& lanes, const Tree& tree, std::size_t worker) {
    if (worker > 0) parent.emplace(lanes[worker]);
    for (const std::size_t child : children_of(tree, worker)) children.emplace_back(lanes[child]);
    for (auto& child : children) pointers.push_back(&child);
  }
  typename P::Place place() { return {pointers, parent ? &*parent : nullptr}; }

  std::optional<typename P::Sender> parent;
  std::deque<typename P::Receiver> children;
  std::vector<typename P::Receiver*> pointers;
};

/// A thread's links in a tree, up and down, and the children that they point to.
class OwnLinks {
 public:
  OwnLinks(const Tree& tree, std::size_t worker) : children_(children_of(tree, worker)) {
    links_.children = children_;
    links_.is_source = !children_.empty();
    if (worker > 0) links_.parent = links_.source = tree.parents[worker];
  }
  OwnLinks(OwnLinks&&) noexcept = default;  // what children_ holds stays where it is
  const transport::TreeLinks& operator*() const noexcept { return links_; }

 private:
  std::vector<std::size_t> children_;
  transport::TreeLinks links_;
};

/// One thread's place in a tree whose children and readers count.
template <std::size_t doubles>
struct CountedEnd {
  CountedEnd(Shared<doubles>& shared, std::size_t tree, std::size_t worker)
      : links(shared.trees[tree], worker),
        up(shared.counted[tree], worker, *links),
        down(shared.feeds[tree], worker, *links) {}

  OwnLinks links;
  typename Protocols<doubles>::Counted up;
  typename Protocols<doubles>::CountedBroadcast down;
};

/// One thread's end of a dissemination that a broadcast ends. [S2]: "possible to combine with broadcast on later
/// stages", where cores of several sockets disturb each other. Here each half disseminates, as a socket would; then the
/// first threads of both halves exchange what they have, and tell their half.
template <std::size_t doubles>
struct HalvesEnd {
  using P = Protocols<doubles>;
  using Line = typename P::Round::Line;

  HalvesEnd(Shared<doubles>& shared, std::size_t worker, std::size_t workers)
      : half(workers / 2),
        place(worker % half),
        own(shared.lines_of_halves[worker]),
        sources(sources_of(shared, worker)),
        within(own.first(own.size() - 1), std::span(sources).first(own.size() - 1)),
        between(own.last(1), std::span(sources).last(1)),
        links(shared.flat_half, place),
        down(std::span(shared.feeds_of_halves).subspan(worker - place, half), place, *links) {}

  bool exchanges() const { return place == 0; }

  /// Those within the half, and then the one of the same place in the other half.
  std::vector<const Line*> sources_of(Shared<doubles>& shared, std::size_t worker) const {
    std::vector<const Line*> lines;
    for (std::size_t step = 0; step + 1 < own.size(); ++step)
      lines.push_back(
          &shared.lines_of_halves[worker - place + transport::dissemination_source(place, step, half)][step]);
    lines.push_back(&shared.lines_of_halves[(worker + half) % (2 * half)].back());
    return lines;
  }

  std::size_t half, place;
  std::span<Line> own;
  std::vector<const Line*> sources;
  typename P::Round within, between;
  OwnLinks links;
  typename P::CountedBroadcast down;
};

constexpr std::string_view everywhere = "everywhere";
constexpr const char* there_and_back = "reduce, broadcast";

/// Where the result of a protocol is. A bare exchange has none.
std::string_view result_of(std::string_view protocol) {
  if (protocol == "bare exchange") return "none";
  return protocol.ends_with("_notify") ? "at the root" : everywhere;
}

/// All that one thread measures; the same order on all.
template <std::size_t doubles>
class Candidates {
  using P = Protocols<doubles>;

 public:
  Candidates(Shared<doubles>& shared, std::size_t worker, Team::Member member)
      : shared_(&shared), worker_(worker), workers_(static_cast<std::size_t>(member.size())) {
    shares_cores_ = is_oversubscribed(static_cast<unsigned>(workers_));
    mine_.values.fill(1.0 + static_cast<double>(worker));
    due_.values.fill(static_cast<double>(workers_ * (workers_ + 1) / 2));
    greatest_.values.fill(static_cast<double>(workers_));
    for (std::size_t i = 0; i < shared.trees.size(); ++i) {
      add_reduce<typename P::Single>(i, shared.lanes[2 * i], "single_notify");
      add_reduce<typename P::Multi>(i, shared.lanes[2 * i + 1], "multi_notify");
      add_allreduce(i);
      add_counted(i);
    }
    add_variants();
    if (std::has_single_bit(workers_)) add_dissemination();
    if (std::has_single_bit(workers_) && workers_ > 2) add_dissemination_in_halves();
    add_plan(member);
    for (auto& rival : shared.rivals.of_thread(static_cast<unsigned>(worker), mine_.values, result_.values)) {
      names.emplace_back("none", rival.name);
      all.push_back(std::move(rival));
      if (all.back().name == "atomics") check_last(due_);  // the others add nothing, or to what the last call left
    }
  }
  Candidates(const Candidates&) = delete;  // candidates refer to it
  Candidates& operator=(const Candidates&) = delete;

  std::vector<bench::Candidate> all;
  std::vector<std::pair<std::string, std::string>> names;  // tree and protocol

 private:
  void add(std::string_view tree, const std::string& protocol, std::function<void(std::size_t)> run) {
    add(tree, protocol, std::move(run), due_);
  }
  void add(std::string_view tree, const std::string& protocol, std::function<void(std::size_t)> run,
           const typename P::Sum& due) {
    names.emplace_back(tree, protocol);
    all.push_back({.name = std::string(tree) + " " + protocol, .run = std::move(run)});
    if (worker_ == 0 || result_of(protocol) == everywhere) check_last(due);
  }
  void check_last(const typename P::Sum& due) {
    all.back().prepare = [this] { result_ = {}; };
    all.back().finish = [this, &due, which = all.size() - 1] {
      if (result_.values != due.values) shared_->wrong = which;
    };
  }

  /// `once` makes of a thread's contribution, in result_, what the protocol gives it.
  template <class Once>
  void add_calls(std::string_view tree, const std::string& protocol, const Once& once) {
    add(tree, protocol, bench::calls_of([this, once] {
          result_ = mine_;
          once();
          bench::keep(result_);
        }));
  }
  template <class End>
  void go_through(End& end) {
    finish([&] { return end.advance(); }, [&] { return end.done(); }, shares_cores_);
  }
  template <class End>
  void run(End& end) {
    end.start(result_);
    go_through(end);
  }

  template <class Notify>
  void add_reduce(std::size_t tree, std::vector<typename P::TreeLane>& lanes, const std::string& protocol) {
    const auto end = std::make_shared<TreeEnd<P>>(lanes, shared_->trees[tree], worker_);
    add_calls(shared_->trees[tree].name, protocol, [this, end] {
      Notify notify(end->place(), result_);
      go_through(notify);
    });
  }

  template <class Variant, class Notify>
  void add_variant(std::vector<typename Variant::TreeLane>& lanes, const std::string& protocol,
                   const typename P::Sum& due) {
    const Tree& tree = *std::ranges::find(shared_->trees, shapes[binary].name, &Tree::name);
    const auto end = std::make_shared<TreeEnd<Variant>>(lanes, tree, worker_);
    const auto once = [this, end] {
      typename Variant::Sum work{mine_.values};
      Notify notify(end->place(), work);
      go_through(notify);
      result_.values = work.values;
      bench::keep(result_);
    };
    add(tree.name, protocol, bench::calls_of(once), due);
  }

  void add_variants() {
    using Max = Maxima<doubles>;
    using Four = FourBoxes<doubles>;
    add_variant<Max, typename Max::Single>(shared_->lanes_of_maxima[0], "maximum, single_notify", greatest_);
    add_variant<Max, typename Max::Multi>(shared_->lanes_of_maxima[1], "maximum, multi_notify", greatest_);
    add_variant<Four, typename Four::Single>(shared_->lanes_of_four[0], "four boxes, single_notify", due_);
    add_variant<Four, typename Four::Multi>(shared_->lanes_of_four[1], "four boxes, multi_notify", due_);
  }

  void add_allreduce(std::size_t tree) {
    struct End {
      OwnLinks links;
      typename P::Broadcast run;
    };
    auto end =
        std::make_shared<End>(End{OwnLinks(shared_->trees[tree], worker_), {std::span(shared_->nodes[tree]), worker_}});
    add_calls(shared_->trees[tree].name, there_and_back, [this, end] {
      const std::uint64_t before = end->run.ended();
      end->run.start(*end->links, result_);
      finish([&] { return end->run.advance(); }, [&] { return end->run.ended() > before; }, shares_cores_);
    });
  }

  void add_counted(std::size_t tree) {
    const std::string& name = shared_->trees[tree].name;
    const auto end = std::make_shared<CountedEnd<doubles>>(*shared_, tree, worker_);
    add_calls(name, "counted_notify", [this, end] { run(end->up); });
    add_calls(name, "counted_notify, broadcast", [this, end] {
      run(end->up);
      run(end->down);
    });
  }

  void add_dissemination_in_halves() {
    const auto end = std::make_shared<HalvesEnd<doubles>>(*shared_, worker_, workers_);
    add_calls("none", "dissemination, broadcast", [this, end] {
      run(end->within);
      if (end->exchanges()) run(end->between);
      run(end->down);
    });
  }

  void add_dissemination() {
    std::vector<const typename P::Round::Line*> sources;
    for (std::size_t step = 0; step < shared_->steps; ++step)
      sources.push_back(&shared_->lines[transport::dissemination_source(worker_, step, workers_)][step]);
    sources_ = std::move(sources);
    const auto round = std::make_shared<typename P::Round>(std::span(shared_->lines[worker_]), sources_);
    add_calls("none", "dissemination", [this, round] { run(*round); });
  }

  void add_plan(Team::Member member) {
    auto plan = std::make_shared<VectorPlan<double>>(
        Plan<double>::of_vectors(sf::plus, doubles, member, {.method = sf::tree()}));
    add("none", "a team's plan", [this, plan](std::size_t calls) {
      for (std::size_t call = 0; call < calls; ++call) plan->run(mine_.values, result_.values);
      bench::keep(result_);
    });
  }

  Shared<doubles>* shared_;
  std::size_t worker_;
  std::size_t workers_;
  bool shares_cores_ = false;
  typename P::Sum mine_;
  typename P::Sum result_;
  typename P::Sum due_;
  typename P::Sum greatest_;
  std::vector<const typename P::Round::Line*> sources_;
};

template <std::size_t doubles>
Json rows_of(unsigned threads, const Candidates<doubles>& candidates, const std::vector<bench::Samples>& samples) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& [tree, protocol] = candidates.names[i];
    Json row = {{"part", "measured"},           {"threads", threads}, {"oversubscribed", is_oversubscribed(threads)},
                {"doubles", doubles},           {"tree", tree},       {"protocol", protocol},
                {"result", result_of(protocol)}};
    add_times(row, samples[i].seconds);
    rows.push_back(std::move(row));
  }
  return rows;
}

template <std::size_t doubles>
void measure(unsigned threads, int rounds, Json& rows) {
  Shared<doubles> shared(threads);
  const std::size_t first = rows.size();
  bench::Meeting meeting(threads);
  const Team team(static_cast<int>(threads));
  bench::on_pinned_threads(threads, 0, [&](unsigned worker) {
    const bench::Together together = meeting.together();
    const Candidates<doubles> candidates(shared, worker, team[static_cast<int>(worker)]);
    together.barrier();
    const auto samples = bench::interleave(candidates.all, rounds, together);
    if (worker == 0)
      for (Json& row : rows_of(threads, candidates, samples)) rows.push_back(std::move(row));
    together.barrier();
  });
  if (const std::size_t wrong = shared.wrong; wrong != shared.none)
    throw Failure(fmt::format("wrong result by {} (it is neither the sum nor the maximum of {} threads), report it",
                              rows[first + wrong]["protocol"].template get<std::string>(), threads),
                  check_failed);
}

}  // namespace

double measured_there_and_back(int rounds) {
  Json rows = Json::array();
  measure<doubles_merged>(2, rounds, rows);
  for (const Json& row : rows)
    if (row["protocol"] == there_and_back) return row["quartiles"][0];
  throw std::logic_error("no protocol is called " + std::string(there_and_back));
}

Findings measured(const Asked& asked) {
  Findings found;
  for (const unsigned threads : thread_counts(asked, 2, found)) {
    measure<1>(threads, asked.rounds, found.rows);
    measure<doubles_merged>(threads, asked.rounds, found.rows);
  }
  return found;
}

}  // namespace steadfold::command::studies::node
