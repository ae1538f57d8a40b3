#include "transport/shared.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "transport/shared_transport.hpp"

namespace steadfold::transport {
namespace {

/// Memory of one process: its threads see all of it at the same addresses, so a place is an address.
class ProcessMemory final : public CommonMemory {
 public:
  explicit ProcessMemory(Rank workers) : workers_(static_cast<std::size_t>(workers)) {}
  ~ProcessMemory() override { reclaim(); }
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  std::size_t neighbour_count() const noexcept override { return workers_; }
  std::byte* at(std::size_t, Place place) const noexcept override { return own(place); }
  std::byte* own(Place place) const noexcept override { return std::bit_cast<std::byte*>(place); }
  bool is_one_process() const noexcept override { return true; }

 private:
  Place allocate(Bytes bytes) noexcept override {
    void* const block = ::operator new(bytes, std::align_val_t{cache_line}, std::nothrow);
    if (block == nullptr) return no_place;
    std::memset(block, 0, bytes);
    return std::bit_cast<Place>(block);
  }
  void free(Place place, Bytes) noexcept override { ::operator delete(own(place), std::align_val_t{cache_line}); }

  std::size_t workers_;
};

using GatherNotice = Notice<MachineMemory, std::span<const std::byte>>;

/// What all workers see of one.
struct Place {
  Notice<MachineMemory, PreparedNotice> prepared;
  GatherNotice gather;
  // What the notices point to: as odd and even as they are, since others may still read the last but one.
  std::array<std::vector<std::byte>, 2> gathered;
};
using Places = std::vector<Place>;

class WorkerTransport final : public SharedTransport {
 public:
  WorkerTransport(Neighbourhood among, std::shared_ptr<Places> places)
      : SharedTransport(std::move(among), prepared_of(*places)),
        places_(std::move(places)),
        own_(&(*places_)[this->among().own]),
        gather_(own_->gather) {}

  Rank rank() const noexcept override { return static_cast<Rank>(among().own); }
  Rank rank_count() const noexcept override { return static_cast<Rank>(places_->size()); }
  const char* name() const noexcept override { return "shared"; }

  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) override {
    return prepare_over(nullptr, tag, capacities, tickets);
  }
  void connect(bool is_prepared) override { post_prepared(is_prepared); }
  Connection connected() override {
    if (!all_have_posted()) return Connection::pending;
    const bool are_prepared = all_are_prepared();
    connect_prepared(are_prepared);
    return are_prepared ? Connection::connected : Connection::failed;
  }
  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;

 private:
  static std::vector<Posted*> prepared_of(Places& places) {
    std::vector<Posted*> all;
    for (Place& each : places) all.push_back(&each.prepared);
    return all;
  }

  std::shared_ptr<Places> places_;
  Place* own_;
  BoardPlace<MachineMemory, std::span<const std::byte>> gather_;
  std::size_t seen_ = 0;  // workers that have posted what is being gathered
};

void WorkerTransport::gather(std::span<const std::byte> bytes) {
  std::vector<std::byte>& copy = own_->gathered[gather_.parity()];
  copy.assign(bytes.begin(), bytes.end());
  gather_.own() = copy;
  gather_.post();
  seen_ = 0;
}

std::optional<Transport::Gathered> WorkerTransport::gathered() {
  while (seen_ < places_->size() && gather_.look((*places_)[seen_].gather) != nullptr) seen_ += 1;
  if (seen_ < places_->size()) {
    waiting().found_nothing();
    return std::nullopt;
  }
  Gathered all;
  for (const Place& place : *places_) {
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
  Neighbourhood among = {.memory = std::make_shared<ProcessMemory>(workers),
                         .ranks = std::vector<Rank>(static_cast<std::size_t>(workers)),
                         .shares_cores = shares_cores};
  std::iota(among.ranks.begin(), among.ranks.end(), Rank{0});
  const auto places = std::make_shared<Places>(among.ranks.size());
  std::vector<std::unique_ptr<Transport>> transports;
  for (; among.own < among.ranks.size(); ++among.own)
    transports.push_back(std::make_unique<WorkerTransport>(among, places));
  return transports;
}

unsigned usable_cores() noexcept {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<unsigned>(std::max(1, CPU_COUNT(&cores)));
}

}  // namespace steadfold::transport
