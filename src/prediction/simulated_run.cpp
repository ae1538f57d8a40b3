#include "prediction/simulated_run.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <unordered_map>

#include "schedule/form.hpp"
#include "schedule/ports.hpp"
#include "schedule/slot_table.hpp"
#include "transport/packing.hpp"

namespace steadfold::prediction {

using order::Rank;
using transport::bytes_in_message;

namespace {

using schedule::Step;
using schedule::StepKind;

struct Message {
  Rank source = 0;
  Rank target = 0;
  Weight weight;        // weight of all slots of the message
  Count round = 0;      // the round in which the message starts
  double start = 0;     // time when the message may start; later, time when its first byte arrives
  double duration = 0;  // time that the message occupies a port
  Count number = 0;     // number of the message in the order of sending; decides between messages of the same time
};

/// Messages that are sent but not yet started: they are in any order if no message waits for another, otherwise ordered
/// by time.
class Outbox {
 public:
  explicit Outbox(bool by_time) : by_time_(by_time) {}

  void put(Message message) {
    message.number = number_++;
    by_time_ ? timed_.push(message) : untimed_.push(message);
  }
  bool take(Message& message) {
    const auto take_from = [&](auto& queue, const Message& next) {
      message = next;
      queue.pop();
      return true;
    };
    if (by_time_) return !timed_.empty() && take_from(timed_, timed_.top());
    return !untimed_.empty() && take_from(untimed_, untimed_.front());
  }
  Count sent() const { return number_; }

 private:
  struct Later {
    bool operator()(const Message& a, const Message& b) const {
      return a.start != b.start ? a.start > b.start : a.number > b.number;
    }
  };
  bool by_time_;
  Count number_ = 0;
  std::queue<Message> untimed_;
  std::priority_queue<Message, std::vector<Message>, Later> timed_;
};

/// Messages that arrived before their rank's step to receive them: a queue for every pair of ranks.
class Inbox {
 public:
  void put(const Message& message) {
    const std::uint32_t index = free_ == none ? grown() : free_;
    free_ = messages_[index].next;
    messages_[index] = {message, none};
    const auto [queue, is_new] = queues_.try_emplace(key(message.source, message.target), MessageQueue{index, index});
    if (is_new) return;
    messages_[queue->second.last].next = index;
    queue->second.last = index;
  }
  bool take(Rank source, Rank target, Message& message) {
    const auto queue = queues_.find(key(source, target));
    if (queue == queues_.end()) return false;
    const std::uint32_t index = queue->second.first;
    message = messages_[index].message;
    const std::uint32_t next = messages_[index].next;
    next == none ? static_cast<void>(queues_.erase(queue)) : static_cast<void>(queue->second.first = next);
    messages_[index].next = free_;
    free_ = index;
    return true;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Queued {
    Message message;
    std::uint32_t next = none;  // index of the next message of the pair; for a free entry, of the next free entry
  };
  struct MessageQueue {
    std::uint32_t first;
    std::uint32_t last;
  };
  struct KeyHash {
    std::size_t operator()(std::uint64_t key) const { return (key ^ (key >> 29)) * 0x9E3779B97F4A7C15u; }
  };

  static std::uint64_t key(Rank source, Rank target) {
    return std::uint64_t{static_cast<std::uint32_t>(source)} << 32 | static_cast<std::uint32_t>(target);
  }
  std::uint32_t grown() {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }

  std::unordered_map<std::uint64_t, MessageQueue, KeyHash> queues_;
  std::vector<Queued> messages_;
  std::uint32_t free_ = none;
};

/// The weight of a slot's content, and the time when the content is ready.
struct SimulatedCell {
  Weight weight;
  schedule::Covers covers;
  Count round = 0;         // the first round in which the content is ready
  double ready = 0;        // time in seconds when the content is ready
  double sent = 0;         // time when the last send has read the slot
  bool in_flight = false;  // whether an open receive fills the slot
};

struct OpenReceive {
  Rank peer;
  std::size_t landings_end;  // index after the last of its landings; the landings of earlier receives come first
  bool any_order;
};

/// A slot that an open receive fills.
struct Landing {
  std::uint32_t index;
  schedule::Covers covers;
  std::optional<Weight> weight;  // weight of the slot's rows, if the message has several slots
};

/// The messages of the wave that a rank receives.
struct OpenWave {
  bool is_open = false;           // whether more receives may follow
  std::vector<Message> messages;  // messages that have arrived, by receive
  /// The rows of each segment's partial, from the first merge on.
  std::vector<std::optional<order::IntervalSet>> merged;
};

struct RankState {
  RankState(schedule::Steps all_steps, std::uint32_t segments) : steps(std::move(all_steps)), table(segments) {}

  SimulatedCell& cell(schedule::Slot slot) {
    const std::uint32_t index = table.index_of(slot);
    if (index == cells.size()) cells.emplace_back();
    return cells[index];
  }
  /// Whether no open communication prevents the step. A receive also waits for the sends of the slot that it
  /// overwrites.
  bool may_start(const Step& step) {
    const auto rests = [&](schedule::Slot slot) {
      return slot.kind == schedule::SlotKind::none || !cell(slot).in_flight;
    };
    return rests(step.left) && rests(step.right) && (step.kind == StepKind::send || rests(step.target));
  }

  schedule::Steps steps;
  const Step* next = nullptr;  // the next step, if it has been taken from the generator and not started
  schedule::SlotTable table;
  std::vector<SimulatedCell> cells;  // contents of the slots, by index
  std::vector<OpenReceive> receives;
  std::vector<Landing> landings;
  std::size_t receives_complete = 0;  // number of completed receives
  std::size_t landings_complete = 0;
  OpenWave wave;
  std::vector<schedule::Slot> sending;  // slots of the message whose steps are being collected
  double now = 0;                       // time when the processor finished the last step
};

class SimulatedRun {
 public:
  SimulatedRun(const schedule::Algorithm& algorithm, const schedule::Context& context, const order::Layout& layout,
               const Sizes& sizes, const SimulatedMachine& machine)
      : layout_(layout),
        sizes_(sizes),
        topology_(machine.topology),
        seconds_per_operation_(machine.seconds_per_operation),
        ports_(machine.ports),
        half_duplex_(machine.half_duplex),
        outbox_(topology_.shares_links()) {
    const auto all_ports = static_cast<std::size_t>(context.rank_count) * ports_;
    send_rounds_.resize(all_ports);
    receive_rounds_.resize(all_ports);
    send_times_.resize(all_ports);
    receive_times_.resize(all_ports);
    ranks_.reserve(static_cast<std::size_t>(context.rank_count));
    schedule::Context own = context;
    for (own.rank = 0; own.rank < context.rank_count; ++own.rank)
      ranks_.emplace_back(algorithm.steps(own), own.segments);
  }

  Spent run() {
    for (Rank rank = 0; rank < static_cast<Rank>(ranks_.size()); ++rank) advance(rank);
    for (Message message; outbox_.take(message);) {
      message.start = topology_.arrival(message.source, message.target, message.start, message.weight.bytes);
      inbox_.put(message);
      complete_receives(message.target);
      advance(message.target);
    }
    for (const RankState& rank : ranks_) {
      if (rank.next != nullptr || !rank.receives.empty())
        throw std::logic_error(
            "the schedule is in a deadlock (a rank waits for a message that no rank sends), report this error");
      spent_.seconds = std::max(spent_.seconds, rank.now);
    }
    spent_.messages = outbox_.sent();
    return spent_;
  }

 private:
  template <class Time>
  std::span<Time> ports_of(Rank rank, std::vector<Time>& all) const {
    return std::span(all).subspan(static_cast<std::size_t>(rank) * ports_, ports_);
  }

  /// Executes every step that can start.
  void advance(Rank rank) {
    RankState& own = ranks_[static_cast<std::size_t>(rank)];
    while (own.next != nullptr || (own.next = own.steps.next()) != nullptr) {
      const Step& step = *own.next;
      if (own.wave.is_open && !(step.kind == StepKind::receive && step.any_order)) {
        own.wave.is_open = false;
        complete_receives(rank);
      }
      if (!own.may_start(step)) return;
      switch (step.kind) {
        case StepKind::send: send(rank, own, step); break;
        case StepKind::receive: receive(rank, own, step); break;
        case StepKind::add_words:
          throw std::logic_error("a prediction cannot add words (only the MPI library adds them)");
        default: compute(own, step);
      }
      own.next = nullptr;
    }
  }

  void compute(RankState& own, const Step& step) {
    SimulatedCell result;
    Count elements = 0;  // number of elements that the step takes
    if (step.kind == StepKind::lift) {
      elements = sizes_.elements(step.covers.rows(layout_).size(), step.target.segment);
    } else {
      for (const schedule::Slot slot : {step.left, step.right}) {
        if (slot.kind == schedule::SlotKind::none) continue;
        const SimulatedCell& operand = own.cell(slot);
        elements += operand.weight.elements;
        result.round = std::max(result.round, operand.round);
        own.now = std::max(own.now, operand.ready);
      }
    }
    result.covers = step.covers;
    result.weight = step.any_order ? merged_in_wave(own, step) : weight_of(step);
    const Count operations = elements - std::min(elements, result.weight.elements);
    spent_.operations += operations;
    SimulatedCell& target = own.cell(step.target);
    own.now = std::max(own.now, target.sent) + seconds_per_operation_ * static_cast<double>(operations);
    result.ready = own.now;
    target = result;
  }

  void send(Rank rank, RankState& own, const Step& step) {
    own.sending.push_back(step.left);
    own.now = std::max(own.now, own.cell(step.left).ready);
    if (step.more) return;
    Message message{.source = rank, .target = step.peer};
    for (const schedule::Slot slot : own.sending) {
      const SimulatedCell& content = own.cell(slot);
      message.weight.bytes += bytes_in_message(content.weight.bytes, own.sending.size());
      message.weight.elements = content.weight.elements;
      message.round = std::max(message.round, content.round);
    }
    message.duration = topology_.duration(rank, step.peer, message.weight.bytes);
    message.start = schedule::serve(ports_of(rank, send_times_), own.now, message.duration);
    message.round = schedule::serve(ports_of(rank, send_rounds_), message.round, Count{1});
    for (const schedule::Slot slot : own.sending) {
      SimulatedCell& content = own.cell(slot);
      content.sent = std::max(content.sent, message.start + message.duration);
    }
    own.sending.clear();
    spent_.bytes += message.weight.bytes;
    outbox_.put(message);
  }

  /// Starts a receive. A partial that arrives has the weight of its rows.
  void receive(Rank rank, RankState& own, const Step& step) {
    SimulatedCell& target = own.cell(step.target);
    own.now = std::max(own.now, target.sent);
    target = {.in_flight = true};
    const std::size_t first = own.receives.empty() ? 0 : own.receives.back().landings_end;
    const bool alone = !step.more && own.landings.size() == first;
    own.landings.push_back(
        {own.table.index_of(step.target), step.covers, alone ? std::nullopt : std::optional(weight_of(step))});
    if (step.more) return;
    own.receives.push_back({step.peer, own.landings.size(), step.any_order});
    own.wave.is_open = step.any_order;
    complete_receives(rank);
  }

  Weight weight_of(const Step& step) const {
    return schedule::holds_partial(step.target) ? sizes_.partial(step.covers.rows(layout_), step.target.segment)
                                                : sizes_.value(step.target.segment);
  }

  /// Returns the weight of the segment's partial after a merge of a wave. The step's `covers` gives its rows only for
  /// the order of the steps.
  Weight merged_in_wave(RankState& own, const Step& step) {
    const std::uint32_t segment = step.target.segment;
    std::optional<order::IntervalSet>& merged = own.wave.merged[segment];
    if (!merged) merged = own.cell(step.left).covers.rows(layout_);
    const order::IntervalSet rows = own.cell(step.right).covers.rows(layout_);
    for (const order::Interval interval : rows.intervals()) merged->add(interval);
    return sizes_.partial(*merged, segment);
  }

  Count served_round(Rank rank, const Message& message) {
    const Count round =
        schedule::serve(ports_of(rank, half_duplex_ ? send_rounds_ : receive_rounds_), message.round, Count{1}) + 1;
    spent_.rounds = std::max(spent_.rounds, round);
    return round;
  }
  double served_time(Rank rank, const Message& message) {
    const double ready =
        schedule::serve(ports_of(rank, half_duplex_ ? send_times_ : receive_times_), message.start, message.duration) +
        message.duration;
    spent_.seconds = std::max(spent_.seconds, ready);
    return ready;
  }

  /// Fills the next landings with the content of `message`; `brought` describes them.
  static void land(RankState& own, std::span<const Landing> brought, const Message& message, Count round,
                   double ready) {
    for (const Landing& content : brought) {
      SimulatedCell& landed = own.cells[own.landings[own.landings_complete++].index];
      landed.weight = content.weight.value_or(message.weight);
      landed.covers = content.covers;
      landed.in_flight = false;
      landed.round = round;
      landed.ready = ready;
    }
  }

  /// Completes receives. Ports serve messages in the order of the steps that receive them.
  void complete_receives(Rank rank) {
    RankState& own = ranks_[static_cast<std::size_t>(rank)];
    for (Message message; own.receives_complete < own.receives.size(); ++own.receives_complete) {
      const OpenReceive& open = own.receives[own.receives_complete];
      if (open.any_order) {
        if (!complete_wave(rank, own)) return;
        continue;
      }
      if (!inbox_.take(open.peer, rank, message)) return;
      const Count round = served_round(rank, message);
      const std::span all(own.landings);
      land(own, all.subspan(own.landings_complete, open.landings_end - own.landings_complete), message, round,
           served_time(rank, message));
    }
    own.receives.clear();
    own.receives_complete = 0;
    own.landings.erase(own.landings.begin(), own.landings.begin() + static_cast<std::ptrdiff_t>(own.landings_complete));
    own.landings_complete = 0;
  }

  /// Completes the receives of a wave, if the next receives are one: waits for all of its messages, then handles them
  /// in the order of arrival.
  bool complete_wave(Rank rank, RankState& own) {
    if (own.wave.is_open) return false;
    const auto begin = own.receives.begin() + static_cast<std::ptrdiff_t>(own.receives_complete);
    const std::span receives(begin, std::ranges::find(begin, own.receives.end(), false, &OpenReceive::any_order));
    std::vector<Message>& messages = own.wave.messages;
    for (Message message; messages.size() < receives.size(); messages.push_back(message))
      if (!inbox_.take(receives[messages.size()].peer, rank, message)) return false;
    std::vector<std::size_t> order(messages.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return messages[i].start; });
    const std::size_t first = own.landings_complete;
    const std::size_t slots = receives.front().landings_end - first;  // number of slots of each message
    for (std::size_t turn = 0; turn < order.size(); ++turn) {
      const std::size_t which = order[turn];
      const std::span brought = std::span(own.landings).subspan(first + which * slots, slots);
      const Count round = served_round(rank, messages[turn]);
      land(own, brought, messages[which], round, served_time(rank, messages[which]));
    }
    own.receives_complete += receives.size() - 1;
    messages.clear();
    own.wave.merged.assign(sizes_.segments(), {});
    return true;
  }

  const order::Layout& layout_;
  const Sizes& sizes_;
  transport::Topology& topology_;
  double seconds_per_operation_;
  std::uint32_t ports_;
  bool half_duplex_;
  std::vector<RankState> ranks_;
  std::vector<Count> send_rounds_;  // by rank and port: the round from which the port is free
  std::vector<Count> receive_rounds_;
  std::vector<double> send_times_;
  std::vector<double> receive_times_;
  Outbox outbox_;
  Inbox inbox_;
  Spent spent_;
};

}  // namespace

Spent simulated_run(const schedule::Algorithm& algorithm, const schedule::Context& context, const order::Layout& layout,
                    const Sizes& sizes, const SimulatedMachine& machine) {
  return SimulatedRun(algorithm, context, layout, sizes, machine).run();
}

}  // namespace steadfold::prediction
