#include "transport/shared.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "transport/shared_endpoint.hpp"

namespace steadfold::transport {
namespace {

/// An endpoint that waits to be connected, as other workers see it.
struct Prepared {
  std::uint32_t tag = 0;
  std::shared_ptr<Mail> mail;
};

/// What a worker brings to a connection.
struct Connecting {
  bool is_prepared = false;
  std::span<const Prepared> prepared;
};

using ConnectionNotice = Notice<MachineMemory, Connecting>;
using GatherNotice = Notice<MachineMemory, std::span<const std::byte>>;

/// What all workers see of one.
struct Place {
  ConnectionNotice connection;
  GatherNotice gather;
  // What the notices point to: as odd and even as they are, since others may still read the last but one.
  std::array<std::vector<Prepared>, 2> prepared;
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
        patience_(shares_cores) {}

  Rank rank() const noexcept override { return worker_; }
  Rank rank_count() const noexcept override { return static_cast<Rank>(places_->of.size()); }
  const char* name() const noexcept override { return "shared"; }

  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) override;
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
  std::vector<SharedEndpoint*> waiting_;  // prepared since the last connection
  std::size_t connections_ = 0;
  std::size_t gathers_ = 0;
  std::size_t seen_ = 0;  // workers that have posted what is under way
  Patience patience_;
};

std::unique_ptr<Endpoint> SharedTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities,
                                                   Ticket tickets) {
  return std::make_unique<SharedEndpoint>(tag, worker_, rank_count(), capacities, tickets, shares_cores_, waiting_);
}

void SharedTransport::connect(bool is_prepared) {
  std::vector<Prepared>& prepared = own_->prepared[connections_++ % 2];
  prepared.clear();
  for (const SharedEndpoint* endpoint : waiting_) prepared.push_back({endpoint->tag(), endpoint->mail()});
  connection_.own() = {is_prepared, prepared};
  connection_.post();
  seen_ = 0;
}

/// Where one worker has prepared everything, so have all: then each has an endpoint of every tag.
Connection SharedTransport::connected() {
  const auto notice_of = [](const Place& place) -> const ConnectionNotice& { return place.connection; };
  if (!all_have_posted(connection_, notice_of)) return Connection::pending;
  const auto posted_by = [&](const Place& place) { return *connection_.look(place.connection); };
  const bool all_are = std::ranges::all_of(places_->of, [&](const Place& each) { return posted_by(each).is_prepared; });
  for (SharedEndpoint* endpoint : all_are ? waiting_ : std::vector<SharedEndpoint*>()) {
    std::vector<std::shared_ptr<Mail>> mail;
    for (const Place& place : places_->of)
      mail.push_back(std::ranges::find(posted_by(place).prepared, endpoint->tag(), &Prepared::tag)->mail);
    endpoint->connect(std::move(mail));
  }
  waiting_.clear();
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
