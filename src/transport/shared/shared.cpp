#include "transport/shared/shared.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/agreed_tags.hpp"
#include "transport/shared/node.hpp"
#include "transport/shared/relay.hpp"
#include "transport/shared/transport.hpp"

namespace steadfold::transport {
namespace {

/// Memory of one process: its threads see all of it at the same addresses, so a BlockId is an address.
class ProcessMemory final : public CommonMemory {
 public:
  explicit ProcessMemory(Rank workers) : workers_(static_cast<std::size_t>(workers)) {}
  ~ProcessMemory() override { reclaim(); }
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  std::size_t neighbour_count() const noexcept override { return workers_; }
  std::byte* at(std::size_t, BlockId block) const noexcept override { return own(block); }
  std::byte* own(BlockId block) const noexcept override { return std::bit_cast<std::byte*>(block); }
  bool is_one_process() const noexcept override { return true; }

 private:
  BlockId allocate(Bytes bytes) noexcept override {
    void* const block = ::operator new(bytes, std::align_val_t{cache_line}, std::nothrow);
    if (block == nullptr) return no_block;
    std::memset(block, 0, bytes);
    return std::bit_cast<BlockId>(block);
  }
  void free(BlockId block, Bytes) noexcept override { ::operator delete(own(block), std::align_val_t{cache_line}); }

  std::size_t workers_;
};

using GatherNotice = Notice<MachineMemory, std::span<const std::byte>>;

/// The outcome of an exchange between processes.
struct Outcome {
  Connection connection = Connection::pending;
  std::optional<Transport::Gathered> gathered;
  std::string error;
};
using OutcomeNotice = Notice<MachineMemory, Outcome>;

/// The notices of one worker, which all workers of its process see.
struct WorkerNotices {
  Notice<MachineMemory, PreparedNotice> prepared;
  GatherNotice gather;
  // The bytes to which the notices point. There is one buffer for even rounds and one for odd rounds, because other
  // workers may still read the previous round.
  std::array<std::vector<std::byte>, 2> gathered;
  OutcomeNotice outcome;  // the outcome that worker 0 posts
};

/// The transport of one worker. Between processes, worker 0 exchanges the posts of all its workers, and posts the
/// outcome.
class WorkerTransport final : public SharedTransport {
 public:
  WorkerTransport(Neighbourhood among, std::shared_ptr<std::vector<WorkerNotices>> notices,
                  std::shared_ptr<const Workers> all, std::shared_ptr<Outside> outside, std::shared_ptr<Relay> relay,
                  std::vector<Rank> labels);

  Rank rank() const noexcept override { return among().ranks[among().own]; }
  Rank rank_count() const noexcept override { return all_->rank_count(); }
  const char* name() const noexcept override { return name_.c_str(); }
  std::string library() const override { return outside_ == nullptr ? "" : outside_->processes().library(); }
  std::span<const Rank> node_labels() const noexcept override { return labels_; }
  bool are_on_one_node() const noexcept override { return !outside_ || outside_->processes().are_on_one_node(); }
  bool nodes_are_far() const noexcept override { return outside_ != nullptr; }
  std::optional<std::uint32_t> new_tags(std::uint32_t count) override {
    return tags_ ? tags_->take(*this, count) : SharedTransport::new_tags(count);
  }
  bool adds_words() const noexcept override { return outside_ == nullptr; }

  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  void connect(bool is_prepared) override { post_prepared(is_prepared); }
  Connection connected() override;
  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;
  void require_usable() const override {
    if (outside_) outside_->processes().require_usable();
  }
  void require_threads() const override {
    if (outside_) outside_->processes().require_threads();
  }

 private:
  static std::vector<Posted*> prepared_of(std::vector<WorkerNotices>& notices) {
    std::vector<Posted*> all;
    all.reserve(notices.size());
    for (WorkerNotices& each : notices) all.push_back(&each.prepared);
    return all;
  }

  bool is_first() const noexcept { return among().own == 0; }
  void drive_others() noexcept;
  bool all_have_gathered() noexcept;
  Gathered gathered_here() const;
  std::vector<std::byte> framed(const Gathered& here) const;
  Gathered unframed(const Gathered& frames) const;
  bool exchange_connection(Outcome& outcome);
  bool exchange_gathered(Outcome& outcome);
  const Outcome* outcome(bool (WorkerTransport::*exchange)(Outcome&));
  void end_outcome();

  std::shared_ptr<std::vector<WorkerNotices>> notices_;
  WorkerNotices* own_;
  BoardEnd<MachineMemory, std::span<const std::byte>> gather_;
  std::size_t seen_ = 0;  // number of workers that have posted their bytes to gather
  std::shared_ptr<const Workers> all_;
  std::string name_ = "shared";

  // The following members are used only if there are other processes.
  std::shared_ptr<Outside> outside_;
  std::shared_ptr<Relay> relay_;  // used if only worker 0 may send messages
  std::vector<Rank> labels_;
  std::optional<AgreedTags> tags_;
  BoardEnd<MachineMemory, Outcome> outcome_;
  std::vector<std::byte> frame_;  // bytes that worker 0 exchanges with other processes
  bool has_begun_ = false;        // whether worker 0 has begun an exchange
  bool has_posted_ = false;       // whether worker 0 has posted the outcome
};

WorkerTransport::WorkerTransport(Neighbourhood among, std::shared_ptr<std::vector<WorkerNotices>> notices,
                                 std::shared_ptr<const Workers> all, std::shared_ptr<Outside> outside,
                                 std::shared_ptr<Relay> relay, std::vector<Rank> labels)
    : SharedTransport(std::move(among), prepared_of(*notices)),
      notices_(std::move(notices)),
      own_(&(*notices_)[this->among().own]),
      gather_(own_->gather),
      all_(std::move(all)),
      outside_(std::move(outside)),
      relay_(std::move(relay)),
      labels_(std::move(labels)),
      outcome_(own_->outcome) {
  if (!outside_) return;
  name_ += "+" + std::string(outside_->processes().name());
  tags_.emplace(outside_->last_tag(*all_));
}

std::unique_ptr<Endpoint> WorkerTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                                   WordOrder /*order*/) {
  if (!outside_) return prepare_over(nullptr, tag, capacities, tickets);
  auto others = outside_->prepare(all_, rank(), tags_->hold(tag), capacities, tickets, among().shares_cores);
  if (relay_)
    others = is_first() ? make_driving_endpoint(relay_, std::move(others))
                        : make_relayed_endpoint(relay_, std::move(others), tickets, among().shares_cores);
  return prepare_over(std::move(others), tag, capacities, tickets);
}

/// Moves the messages of other workers. A worker that has not started this exchange yet may wait for messages of
/// another call.
void WorkerTransport::drive_others() noexcept {
  if (relay_ && is_first()) relay_->drive();
}

Connection WorkerTransport::connected() {
  drive_others();
  if (!all_have_posted()) return Connection::pending;
  Outcome came;
  if (outside_) {
    const Outcome* const found = outcome(&WorkerTransport::exchange_connection);
    if (found == nullptr) return Connection::pending;
    end_outcome();
    came = *found;
  } else {
    came.connection = all_are_prepared() ? Connection::connected : Connection::failed;
  }
  connect_prepared(came.connection == Connection::connected);
  if (!came.error.empty()) throw std::runtime_error(came.error);
  return came.connection;
}

void WorkerTransport::gather(std::span<const std::byte> bytes) {
  std::vector<std::byte>& copy = own_->gathered[gather_.parity()];
  try {
    copy.assign(bytes.begin(), bytes.end());
  } catch (const std::bad_alloc&) {
    copy.clear();
  }
  gather_.own() = copy;
  gather_.post();
  seen_ = 0;
}

bool WorkerTransport::all_have_gathered() noexcept {
  if (seen_ == notices_->size()) return true;
  while (seen_ < notices_->size() && gather_.look((*notices_)[seen_].gather) != nullptr) seen_ += 1;
  if (seen_ < notices_->size()) {
    waiting().found_nothing();
    return false;
  }
  waiting().found_something();
  return true;
}

/// Returns the posts of the workers of this process.
Transport::Gathered WorkerTransport::gathered_here() const {
  Gathered all;
  for (const WorkerNotices& each : *notices_) {
    const std::span<const std::byte> bytes = *gather_.look(each.gather);
    all.first.push_back(all.bytes.size());
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
  }
  all.first.push_back(all.bytes.size());
  return all;
}

std::optional<Transport::Gathered> WorkerTransport::gathered() {
  drive_others();
  if (!all_have_gathered()) return std::nullopt;
  if (!outside_) {
    Gathered all;
    try {
      all = gathered_here();
    } catch (const std::bad_alloc&) {
      gather_.done();
      throw;
    }
    gather_.done();
    return all;
  }
  const Outcome* const found = outcome(&WorkerTransport::exchange_gathered);
  if (found == nullptr) return std::nullopt;
  gather_.done();
  end_outcome();
  Outcome came = *found;  // a copy, which stays valid until the exchange after the next
  if (!came.error.empty()) throw std::runtime_error(came.error);
  return std::move(came.gathered);
}

/// Returns, as bytes, the end of each worker's bytes, then the bytes of all workers.
std::vector<std::byte> WorkerTransport::framed(const Gathered& here) const {
  const std::span<const std::byte> ends = std::as_bytes(std::span(here.first).subspan(1));
  std::vector<std::byte> frame(ends.begin(), ends.end());
  frame.insert(frame.end(), here.bytes.begin(), here.bytes.end());
  return frame;
}

Transport::Gathered WorkerTransport::unframed(const Gathered& frames) const {
  Gathered all;
  all.first.push_back(0);
  for (Rank process = 0; process < all_->process_count(); ++process) {
    const std::span<const std::byte> frame = frames.of(process);
    const Bytes before = all.bytes.size();
    std::vector<Bytes> ends(static_cast<std::size_t>(all_->count(process)));
    std::memcpy(ends.data(), frame.data(), std::span(ends).size_bytes());
    for (const Bytes end : ends) all.first.push_back(before + end);
    const auto bytes = frame.subspan(std::span(ends).size_bytes());
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
  }
  return all;
}

/// Exchanges the state of the connection between processes. Worker 0 calls it after all workers have posted, until it
/// returns true.
bool WorkerTransport::exchange_connection(Outcome& outcome) {
  if (!std::exchange(has_begun_, true)) outside_->processes().connect(all_are_prepared());
  outcome.connection = outside_->processes().connected();
  return outcome.connection != Connection::pending;
}

bool WorkerTransport::exchange_gathered(Outcome& outcome) {
  if (!std::exchange(has_begun_, true)) {
    frame_ = framed(gathered_here());
    outside_->processes().gather(frame_);
  }
  const auto frames = outside_->processes().gathered();
  if (frames) outcome.gathered = unframed(*frames);
  return frames.has_value();
}

/// Returns the outcome of an exchange, or null if it is not complete; then call the function again.
const Outcome* WorkerTransport::outcome(bool (WorkerTransport::*exchange)(Outcome&)) {
  if (is_first() && !has_posted_) {
    Outcome& own = outcome_.own();
    if (!has_begun_) own = {};
    try {
      if (!(this->*exchange)(own)) return nullptr;
    } catch (const std::exception& failed) {
      own.error = failed.what();
    }
    outcome_.post();
    has_posted_ = true;
  }
  const Outcome* const found = outcome_.look(notices_->front().outcome);
  found == nullptr ? waiting().found_nothing() : waiting().found_something();
  return found;
}

void WorkerTransport::end_outcome() {
  outcome_.done();
  has_begun_ = has_posted_ = false;
}

/// Returns one label per worker: the first worker of its process. If workers of a node share memory and the workers of
/// every node are contiguous, the label is the first worker of its node, because workers with the same label should
/// have the fastest connection.
std::vector<Rank> labels_of(const Workers& all, std::span<const Rank> nodes, bool shares_node) {
  const bool by_node = shares_node && !nodes.empty() && std::ranges::is_sorted(nodes);
  std::vector<Rank> labels;
  for (Rank rank = 0; rank < all.rank_count(); ++rank) {
    const Rank process = all.address(rank).process;
    labels.push_back(all.first(by_node ? nodes[static_cast<std::size_t>(process)] : process));
  }
  return labels;
}

/// Returns the workers of a process, and their common memory.
Neighbourhood workers_of(const Workers& all, Rank process, bool shares_cores) {
  Neighbourhood among = {.memory = std::make_shared<ProcessMemory>(all.count(process)),
                         .ranks = std::vector<Rank>(static_cast<std::size_t>(all.count(process))),
                         .shares_cores = shares_cores};
  std::iota(among.ranks.begin(), among.ranks.end(), all.first(process));
  return among;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_shared_transports(Rank workers, bool shares_cores) {
  return make_shared_transports(std::make_shared<const Workers>(std::span(&workers, 1)), nullptr, {}, shares_cores);
}

std::vector<std::unique_ptr<Transport>> make_shared_transports(const std::shared_ptr<const Workers>& all,
                                                               const std::shared_ptr<Outside>& outside,
                                                               const Neighbourhood& node, bool shares_cores) {
  Neighbourhood among = workers_of(*all, outside ? outside->processes().rank() : 0, shares_cores);
  const bool shares_node = node.memory != nullptr;
  const auto labels = outside ? labels_of(*all, outside->processes().node_labels(), shares_node) : std::vector<Rank>();
  const auto notices = std::make_shared<std::vector<WorkerNotices>>(among.ranks.size());
  std::vector<std::unique_ptr<Transport>> transports;
  const auto relay = outside && !outside->serves_threads() ? std::make_shared<Relay>() : nullptr;
  for (; among.own < among.ranks.size(); ++among.own)
    transports.push_back(std::make_unique<WorkerTransport>(among, notices, all, outside, relay, labels));
  return shares_node ? make_node_transports(std::move(transports), node, relay != nullptr) : std::move(transports);
}

}  // namespace steadfold::transport
