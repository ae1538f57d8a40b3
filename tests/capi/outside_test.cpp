// Teams of several processes, which are threads here: what connects them is the test's own, so that sanitizers see both
// sides of it. Every worker sends its own messages, or worker 0 those of all. Processes of a node may share memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "capi/layer.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/started.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"
#include "support/sanitized.hpp"
#include "transport/forwarding.hpp"
#include "transport/free_parts.hpp"
#include "transport/landing.hpp"
#include "transport/shared/common_memory.hpp"
#include "transport/shared/shared.hpp"

namespace steadfold::test::outside_test {
namespace {

using transport::Bytes;
using transport::Completion;
using transport::Endpoint;
using transport::Outside;
using transport::Rank;
using transport::SlotNumber;
using transport::Ticket;
using transport::Workers;

using Parts = std::vector<std::byte>;

/// Messages on their way, by tag, sender and receiver.
struct Network {
  std::mutex mutex;
  std::map<std::tuple<int, Rank, Rank>, std::deque<Parts>> messages;
};

/// Copies every message. Fails the test if two threads use it at once.
class NetworkEndpoint final : public Endpoint {
 public:
  NetworkEndpoint(Network& network, std::shared_ptr<Outside> owner, Rank rank, transport::HeldTag tag,
                  std::span<const Bytes> capacities)
      : network_(network), owner_(std::move(owner)), rank_(rank), tag_(std::move(tag)), slots_(capacities) {}

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }
  void put(Ticket ticket, Rank target, SlotNumber, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    Parts all(bytes.begin(), bytes.end());
    if (second) all.insert(all.end(), second->begin(), second->end());
    const std::lock_guard lock(network_.mutex);
    network_.messages[{tag_.number(), rank_, target}].push_back(std::move(all));
    sent_.push_back(ticket);
  }
  void release(Ticket ticket, Rank source, SlotNumber slot,
               const std::optional<transport::SecondRoom>& second) noexcept override {
    expected_.push_back({ticket, source, slot, second});
  }
  void add_words(Ticket, std::span<std::int64_t>) noexcept override { ADD_FAILURE() << "words"; }

  std::size_t poll(std::span<Completion> completions) noexcept override {
    std::size_t count = 0;
    for (; !sent_.empty() && count < completions.size(); sent_.pop_back())
      completions[count++] = {.ticket = sent_.back()};
    std::vector<Rank> waiting;  // for an earlier message
    for (auto each = expected_.begin(); each != expected_.end() && count < completions.size();) {
      if (std::ranges::find(waiting, each->source) == waiting.end() && land(*each, completions[count])) {
        count += 1;
        each = expected_.erase(each);
      } else {
        waiting.push_back(each->source);
        ++each;
      }
    }
    return count;
  }
  transport::Traffic traffic() const noexcept override { return {}; }

 private:
  struct Expected {
    Ticket ticket;
    Rank source;
    SlotNumber slot;
    std::optional<transport::SecondRoom> second;
  };

  bool land(const Expected& expected, Completion& completion) {
    const std::lock_guard lock(network_.mutex);
    auto& queue = network_.messages[{tag_.number(), expected.source, rank_}];
    if (queue.empty()) return false;
    const Parts message = std::move(queue.front());
    queue.pop_front();
    const std::span<std::byte> slot = slots_[expected.slot];
    const std::size_t first =
        expected.second ? std::min<std::size_t>(expected.second->head, message.size()) : message.size();
    std::copy_n(message.begin(), first, slot.begin());
    if (expected.second)
      std::copy(message.begin() + static_cast<std::ptrdiff_t>(first), message.end(), expected.second->room.begin());
    completion = {.ticket = expected.ticket, .size = message.size(), .data = slot.data()};
    return true;
  }

  Network& network_;
  std::shared_ptr<Outside> owner_;
  Rank rank_;
  transport::HeldTag tag_;
  transport::LandingSlots slots_;
  std::vector<Ticket> sent_;
  std::vector<Expected> expected_;
};

/// Processes, by the number of their node; none are on any where nothing is said.
using NodeOf = std::vector<int>;

/// Which worker of its process this thread is; only worker 0 may drive where a process does not serve all threads.
thread_local int own_worker = 0;

/// A node's memory as one process sees it.
class MemoryOfNode final : public transport::CommonMemory {
 public:
  /// `parts`: by neighbour, that of its process.
  MemoryOfNode(std::shared_ptr<Parts> all, std::vector<std::byte*> parts, std::byte* own, bool serves_threads)
      : all_(std::move(all)), parts_(std::move(parts)), own_(own), serves_threads_(serves_threads) {}
  ~MemoryOfNode() override { reclaim(); }

  std::size_t neighbour_count() const noexcept override { return parts_.size(); }
  std::byte* at(std::size_t neighbour, BlockId block) const noexcept override { return parts_[neighbour] + block; }
  std::byte* own(BlockId block) const noexcept override { return own_ + block; }
  bool is_one_process() const noexcept override { return false; }
  void make_progress() noexcept override {
    if (!serves_threads_ && own_worker != 0) ADD_FAILURE() << "worker " << own_worker << " drives";
  }

  static constexpr Bytes part_bytes = Bytes{2} << 20;

 private:
  static constexpr Bytes line = transport::cache_line;
  BlockId allocate(Bytes bytes) noexcept override {
    const auto first = free_.take(bytes / line);
    if (!first) return no_block;
    std::memset(own(*first * line), 0, bytes);
    return *first * line;
  }
  void free(BlockId block, Bytes bytes) noexcept override { free_.give_back(block / line, bytes / line); }

  std::shared_ptr<Parts> all_;
  std::vector<std::byte*> parts_;
  std::byte* own_;
  bool serves_threads_;
  transport::FreeParts free_{part_bytes / line};
};

/// Processes that tell of their nodes.
class OnNodes final : public transport::ForwardingTransport {
 public:
  OnNodes(std::shared_ptr<transport::Transport> inner, const NodeOf& nodes) : ForwardingTransport(std::move(inner)) {
    if (std::ranges::count(nodes, nodes.empty() ? 0 : nodes.front()) == std::ssize(nodes)) return;
    for (const int node : nodes) labels_.push_back(static_cast<Rank>(std::ranges::find(nodes, node) - nodes.begin()));
  }
  std::span<const Rank> node_labels() const noexcept override { return labels_; }

 private:
  std::vector<Rank> labels_;
};

/// What all processes of a job have.
struct Machine {
  explicit Machine(const NodeOf& node_of)
      : nodes(node_of), memory(std::make_shared<Parts>((node_of.size() + 1) * MemoryOfNode::part_bytes)) {}

  std::byte* part(std::size_t process) const {
    const auto first = reinterpret_cast<std::uintptr_t>(memory->data());
    const std::uintptr_t gap = (transport::cache_line - first % transport::cache_line) % transport::cache_line;
    return memory->data() + gap + process * MemoryOfNode::part_bytes;
  }

  Network network;
  NodeOf nodes;
  std::shared_ptr<Parts> memory;
};

class ThreadsOutside final : public Outside, public std::enable_shared_from_this<ThreadsOutside> {
 public:
  ThreadsOutside(std::shared_ptr<Machine> machine, std::unique_ptr<transport::Transport> processes, bool serves_threads)
      : machine_(std::move(machine)),
        processes_(std::make_unique<OnNodes>(std::move(processes), machine_->nodes)),
        serves_threads_(serves_threads) {}

  transport::Transport& processes() noexcept override { return *processes_; }
  transport::Neighbourhood share_node(const Workers& workers, bool shares_cores) override {
    if (machine_->nodes.empty()) return {};
    const auto own = static_cast<std::size_t>(processes_->rank());
    transport::Neighbourhood among = {.shares_cores = shares_cores};
    std::vector<std::byte*> parts;
    for (std::size_t process = 0; process < machine_->nodes.size(); ++process) {
      if (machine_->nodes[process] != machine_->nodes[own]) continue;
      if (process == own) among.own = among.ranks.size();
      const auto number = static_cast<Rank>(process);
      for (Rank rank = workers.first(number); rank < workers.first(number + 1); ++rank) {
        among.ranks.push_back(rank);
        parts.push_back(machine_->part(process));
      }
    }
    among.memory = std::make_shared<MemoryOfNode>(machine_->memory, parts, machine_->part(own), serves_threads_);
    return among;
  }
  bool serves_threads() const noexcept override { return serves_threads_; }
  bool shares_cores() const noexcept override { return true; }
  std::uint32_t last_tag(const Workers&) const override { return 200; }
  std::unique_ptr<Endpoint> prepare(std::shared_ptr<const Workers>, Rank rank, transport::HeldTag tag,
                                    std::span<const Bytes> capacities, Ticket, bool) override {
    return std::make_unique<NetworkEndpoint>(machine_->network, shared_from_this(), rank, std::move(tag), capacities);
  }

 private:
  std::shared_ptr<Machine> machine_;
  std::unique_ptr<transport::Transport> processes_;
  bool serves_threads_;
};

const capi::LayerTable& table() { return *static_cast<const capi::LayerTable*>(sf_layer_table(sf_version())); }

struct Job {
  std::vector<int> workers;  // by process
  bool serves_threads;
  NodeOf nodes = {};
};

/// Runs body(group, worker, process) for every worker of every process; what processes were told when it was made.
template <class Body>
std::vector<std::string> on_processes(const Job& job, const Body& body) {
  const auto count = static_cast<Rank>(job.workers.size());
  const auto machine = std::make_shared<Machine>(job.nodes);
  auto processes = transport::make_shared_transports(count, true);
  std::vector<std::string> told(job.workers.size());
  std::vector<std::future<void>> running;
  for (std::size_t process = 0; process < job.workers.size(); ++process)
    running.push_back(std::async(std::launch::async, [&, process] {
      auto outside = std::make_shared<ThreadsOutside>(machine, std::move(processes[process]), job.serves_threads);
      sf_team* team = nullptr;
      if (table().make_team(std::move(outside), job.workers[process], &team) != SF_OK) {
        told[process] = sf_error_text();
        return;
      }
      std::vector<std::future<void>> workers;
      for (int w = 0; w < job.workers[process]; ++w)
        workers.push_back(std::async(std::launch::async, [&, w] {
          own_worker = w;
          sf_group* group = nullptr;
          ASSERT_EQ(sf_team_group(team, w, &group), SF_OK) << sf_error_text();
          body(Group(group));
        }));
      for (auto& worker : workers) worker.get();
      sf_team_free(team);
    }));
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  for (auto& process : running) {
    if (process.wait_until(latest) == std::future_status::ready) continue;
    std::fprintf(stderr, "a process hangs\n");
    std::_Exit(1);
  }
  return told;
}

/// Processes that share nothing, that are all on one node, and those of two nodes, in a row and dealt in turn. Under
/// sanitizers every other one.
template <class Body>
void on_jobs(const Body& body) {
  int tried = 0;
  for (const bool serves_threads : {true, false}) {
    for (const Job& job : {Job{{2, 2}, serves_threads}, Job{{3, 1, 2}, serves_threads},
                           Job{{2, 2}, serves_threads, {0, 0}}, Job{{1, 3, 1}, serves_threads, {0, 0, 0}},
                           Job{{3, 1, 2}, serves_threads, {0, 0, 1}}, Job{{2, 1, 2}, serves_threads, {0, 1, 0}}}) {
      if (sanitized && ++tried % 2 == (serves_threads ? 0 : 1)) continue;
      for (const std::string& told : on_processes(job, body)) EXPECT_EQ(told, "");
    }
  }
}

TEST(Outside, WhichWayMessagesGo) {
  const auto transport_of = [](const Job& job) {
    std::string name;
    on_processes(job, [&](const Group& group) {
      if (group.rank() == 0) name = group.transport();
    });
    return name;
  };
  EXPECT_EQ(transport_of({{2, 1}, true}), "shared+shared");  // processes are threads here, too
  EXPECT_EQ(transport_of({{2, 1}, true, {0, 0}}), "shared");
  EXPECT_EQ(transport_of({{2, 1, 1}, false, {0, 0, 1}}), "shared+shared");
}

TEST(Outside, EveryCallHasTheBitsOfOneThread) {
  const auto x = hostile(800, 1), y = hostile(800, 2);
  on_jobs([&](const Group& group) {
    const auto mine = part_of(x, group.rank(), group.size()), other = part_of(y, group.rank(), group.size());
    const Options in_order{.method = sf::tree(), .layout = Layout::contiguous(mine.size(), group)};
    EXPECT_EQ(bits(sf::sum(mine, group)), bits(sf::sum(x)));
    EXPECT_EQ(bits(sf::dot(mine, other, group)), bits(sf::dot(x, y)));
    EXPECT_EQ(bits(sf::sum(mine, group, in_order)), bits(sf::sum(x, {.method = sf::tree()})));
    Bundle bundle;
    const auto sum = bundle.sum(mine), least = bundle.min(other);
    auto plan = bundle.bind(group);
    for (int run = 0; run < 5; ++run) {
      plan.run();
      EXPECT_EQ(bits(sum.value()), bits(sf::sum(x)));
      EXPECT_EQ(bits(least.value()), bits(sf::min(y)));
    }
  });
}

/// Workers leave such calls at different times, and one that moves the messages of others must not leave before them.
TEST(Outside, ReductionsToEveryRootAndScans) {
  on_jobs([](const Group& group) {
    const auto place = static_cast<std::size_t>(group.rank());
    for (const std::size_t columns : {1u, 300u}) {
      const auto ranks = static_cast<std::size_t>(group.size());
      const auto all = hostile(ranks * columns, columns);
      std::vector<double> due(columns), before(columns);
      for (std::size_t c = 0; c < columns; ++c) {
        std::vector<double> column;
        for (std::size_t r = 0; r < ranks; ++r) column.push_back(all[r * columns + c]);
        due[c] = sf::sum(column, LocalOptions{.method = sf::tree()});
        before[c] = sf::sum(std::span(column).first(place + 1), LocalOptions{.method = sf::tree()});
      }
      const std::vector<double> row(all.begin() + static_cast<std::ptrdiff_t>(place * columns),
                                    all.begin() + static_cast<std::ptrdiff_t>((place + 1) * columns));
      for (int root = 0; root < group.size(); ++root) {
        auto buffer = row;
        sf::reduce_to(root, buffer, sf::plus, group, {.schedule = root % 2 == 0 ? "binomial" : ""});
        if (group.rank() == root) {
          EXPECT_EQ(bits(buffer), bits(due));
        }
      }
      for (const char* schedule : {"", "two_level", "transpose", "pipelined_tree:block=64"}) {
        auto buffer = row;
        sf::allreduce(buffer, sf::plus, group, {.schedule = schedule});
        EXPECT_EQ(bits(buffer), bits(due)) << schedule;
      }
      auto buffer = row;
      sf::scan(buffer, sf::plus, group);
      EXPECT_EQ(bits(buffer), bits(before));
    }
  });
}

TEST(Outside, StartedCallsAndTimeouts) {
  const auto x = hostile(300, 3);
  on_jobs([&](const Group& group) {
    const auto mine = part_of(x, group.rank(), group.size());
    Plan<double> plan(sf::plus, mine.size(), group);
    for (int again = 0; again < 20; ++again) {
      auto first = sf::start(sf::plus, mine, group);
      auto second = sf::start(sf::max, mine, group);
      double sum = 0;
      plan.start(mine, {&sum, 1});
      if ((group.rank() + again) % 3 == 0) {
        while (!first.wait_for(std::chrono::microseconds(20))) {
        }
      }
      EXPECT_EQ(bits(second.get()), bits(sf::max(x)));
      plan.wait();
      EXPECT_EQ(bits(sum), bits(sf::sum(x)));
      EXPECT_EQ(bits(first.get()), bits(sf::sum(x)));
    }
  });
}

/// More plans than there are tags, over their lives.
TEST(Outside, TagsComeBack) {
  on_processes({{2, 1}, false}, [](const Group& group) {
    for (int again = 0; again < 100; ++again) {
      Plan<double> plan(sf::plus, 1, group);
      EXPECT_EQ(plan.run(std::vector{1.0}), group.size());
    }
  });
}

double processor_seconds_of_this_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// How often this thread has left its core of its own accord.
long naps_of_this_thread() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/// A worker naps not only while it waits for workers of its process, but for another process, too. On a machine that is
/// busy it has little of its core's time in any case, so naps are counted as well.
TEST(Outside, WhoWaitsForAnotherProcessLeavesItsCore) {
  static constexpr double wait = sanitized ? 3 : 0.4;  // a look takes longer, and naps come after many looks
  on_processes({{1, 2}, true}, [](const Group& group) {
    if (group.rank() == 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    const double before = processor_seconds_of_this_thread();
    const long naps = naps_of_this_thread();
    sf::barrier(group);  // the first call: all gather what they are
    EXPECT_LT(processor_seconds_of_this_thread() - before, wait / 2) << "rank " << group.rank();
    if (group.rank() != 0) {
      EXPECT_GT(naps_of_this_thread() - naps, 20) << "rank " << group.rank();
    }
  });
}

TEST(Outside, WhatIsWrongOnOneProcessAllAreTold) {
  for (const int wrong : {0, -1, SF_TEAM_MOST + 1}) {
    const auto told = on_processes({{2, wrong, 1}, true}, [](const Group&) { ADD_FAILURE() << "no team is due"; });
    for (const std::string& each : told)
      EXPECT_EQ(each.find("rank 1: a team of " + std::to_string(wrong) + " workers"), 0u) << each;
  }
}

}  // namespace
}  // namespace steadfold::test::outside_test
