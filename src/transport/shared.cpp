#include "transport/shared.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "transport/board.hpp"
#include "transport/shared_endpoint.hpp"

namespace steadfold::transport {
namespace {

/// An endpoint or a board that waits to be connected, as other workers see it.
template <class Shown>
struct Prepared {
  std::uint32_t tag = 0;
  std::shared_ptr<Shown> shown;
};
struct AllPrepared {
  std::vector<Prepared<Mail>> mail;
  std::vector<Prepared<Posts>> posts;
};

/// What a worker brings to a connection.
struct Connecting {
  bool is_prepared = false;
  const AllPrepared* prepared = nullptr;
};

using ConnectionNotice = Notice<MachineMemory, Connecting>;
using GatherNotice = Notice<MachineMemory, std::span<const std::byte>>;

/// What all workers see of one.
struct Place {
  ConnectionNotice connection;
  GatherNotice gather;
  // What the notices point to: as odd and even as they are, since others may still read the last but one.
  std::array<AllPrepared, 2> prepared;
  std::array<std::vector<std::byte>, 2> gathered;
};

struct Places {
  explicit Places(Rank workers) : of(static_cast<std::size_t>(workers)) {}
  std::vector<Place> of;
};

class SharedTransport final : public Transport {
 public:
  SharedTransport(std::shared_ptr<Places> places, Rank worker, bool shares_cores)
      : places_(std::move(places)),
        own_(&places_->of[static_cast<std::size_t>(worker)]),
        worker_(worker),
        shares_cores_(shares_cores),
        connection_(own_->connection),
        gather_(own_->gather),
        patience_(shares_cores, Patience::Sleeps::after_long) {}

  Rank rank() const noexcept override { return worker_; }
  Rank rank_count() const noexcept override { return static_cast<Rank>(places_->of.size()); }
  const char* name() const noexcept override { return "shared"; }

  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) override;
  std::shared_ptr<Board> prepare_board(std::uint32_t tag, Bytes longest) override;
  void connect(bool is_prepared) override;
  Connection connected() override;
  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;

 private:
  /// Whether all have posted what is under way; who was seen to have is not asked again.
  template <class Board, class NoticeOf>
  bool all_have_posted(const Board& board, NoticeOf notice_of) noexcept {
    while (seen_ < places_->of.size() && board.look(notice_of(places_->of[seen_])) != nullptr) seen_ += 1;
    if (seen_ == places_->of.size()) return true;
    patience_.found_nothing();
    return false;
  }

  std::shared_ptr<Places> places_;
  Place* own_;
  Rank worker_;
  bool shares_cores_;
  BoardPlace<MachineMemory, Connecting> connection_;
  BoardPlace<MachineMemory, std::span<const std::byte>> gather_;
  struct WaitingBoard {
    std::uint32_t tag = 0;
    std::shared_ptr<Board> board;
  };
  template <class Shown>
  std::vector<std::shared_ptr<Shown>> all_of(std::uint32_t tag, std::vector<Prepared<Shown>> AllPrepared::*of) const;

  std::vector<SharedEndpoint*> waiting_;  // prepared since the last connection
  std::vector<WaitingBoard> waiting_boards_;
  std::size_t connections_ = 0;
  std::size_t gathers_ = 0;
  std::size_t seen_ = 0;  // workers that have posted what is under way
  Patience patience_;
};

std::unique_ptr<Endpoint> SharedTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                                   Ticket tickets) {
  return std::make_unique<SharedEndpoint>(tag, worker_, rank_count(), capacities, tickets, shares_cores_, waiting_);
}

std::shared_ptr<Board> SharedTransport::prepare_board(std::uint32_t tag, Bytes longest) try {
  auto board = std::make_shared<Board>(worker_, longest, shares_cores_);
  waiting_boards_.push_back({tag, board});
  return board;
} catch (const std::bad_alloc&) {
  throw std::runtime_error("no memory for posts (there is none for two of " + std::to_string(longest) +
                           " bytes), free some");
}

void SharedTransport::connect(bool is_prepared) {
  AllPrepared& prepared = own_->prepared[connections_++ % 2];
  prepared = {};
  for (const SharedEndpoint* endpoint : waiting_) prepared.mail.push_back({endpoint->tag(), endpoint->mail()});
  for (const WaitingBoard& waiting : waiting_boards_) prepared.posts.push_back({waiting.tag, waiting.board->own()});
  connection_.own() = {is_prepared, &prepared};
  connection_.post();
  seen_ = 0;
}

/// What all workers prepared under a tag, in their order.
template <class Shown>
std::vector<std::shared_ptr<Shown>> SharedTransport::all_of(std::uint32_t tag,
                                                            std::vector<Prepared<Shown>> AllPrepared::*of) const {
  std::vector<std::shared_ptr<Shown>> all;
  for (const Place& place : places_->of) {
    const auto& prepared = connection_.look(place.connection)->prepared->*of;
    all.push_back(std::ranges::find(prepared, tag, &Prepared<Shown>::tag)->shown);
  }
  return all;
}

/// If one worker has prepared everything, so have all: then each has an endpoint or board of every tag.
Connection SharedTransport::connected() {
  const auto notice_of = [](const Place& place) -> const ConnectionNotice& { return place.connection; };
  if (!all_have_posted(connection_, notice_of)) return Connection::pending;
  const bool all_are = std::ranges::all_of(
      places_->of, [&](const Place& each) { return connection_.look(each.connection)->is_prepared; });
  if (all_are) {
    for (SharedEndpoint* endpoint : waiting_) endpoint->connect(all_of(endpoint->tag(), &AllPrepared::mail));
    for (const WaitingBoard& waiting : waiting_boards_)
      waiting.board->connect(all_of(waiting.tag, &AllPrepared::posts));
  }
  waiting_.clear();
  waiting_boards_.clear();
  connection_.done();
  return all_are ? Connection::connected : Connection::failed;
}

void SharedTransport::gather(std::span<const std::byte> bytes) {
  std::vector<std::byte>& copy = own_->gathered[gathers_++ % 2];
  copy.assign(bytes.begin(), bytes.end());
  gather_.own() = copy;
  gather_.post();
  seen_ = 0;
}

std::optional<Transport::Gathered> SharedTransport::gathered() {
  const auto notice_of = [](const Place& place) -> const GatherNotice& { return place.gather; };
  if (!all_have_posted(gather_, notice_of)) return std::nullopt;
  Gathered all;
  for (const Place& place : places_->of) {
    const std::span<const std::byte> bytes = *gather_.look(place.gather);
    all.first.push_back(all.bytes.size());
    all.bytes.insert(all.bytes.end(), bytes.begin(), bytes.end());
  }
  all.first.push_back(all.bytes.size());
  gather_.done();
  return all;
}

}  // namespace

std::vector<std::unique_ptr<Transport>> make_shared_transports(Rank workers, bool shares_cores) {
  const auto places = std::make_shared<Places>(workers);
  std::vector<std::unique_ptr<Transport>> transports;
  transports.reserve(static_cast<std::size_t>(workers));
  for (Rank worker = 0; worker < workers; ++worker)
    transports.push_back(std::make_unique<SharedTransport>(places, worker, shares_cores));
  return transports;
}

unsigned usable_cores() noexcept {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
}

}  // namespace steadfold::transport
