#include "requests.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "rows.hpp"

#include "started.hpp"

namespace steadfold::interpose {

/// A started reduction in the table of requests.
struct Entry {
  std::unique_ptr<Started> reduction;
  bool is_active;  // whether the call has been started and has not finished
  std::mutex finishing = {};
};

namespace {

struct KeptOperator {
  int uses = 0;
  bool is_freed = false;  // whether the program has freed the request
};

struct Table {
  std::mutex lock;
  std::unordered_map<MPI_Request, std::shared_ptr<Entry>> entries;
  std::unordered_map<MPI_Op, KeptOperator> operators;
};

/// Returns the table. The table is never destroyed, because destructors of a program's static objects may end requests.
Table& table() {
  static Table& only = *new Table;
  return only;
}

/// The number of entries, in the table or taken out of it by an Ending.
std::atomic<int> entry_count = 0;

std::shared_ptr<Entry> taken_out(MPI_Request request) {
  const std::lock_guard held(table().lock);
  const auto found = table().entries.find(request);
  if (found == table().entries.end()) return nullptr;
  std::shared_ptr<Entry> entry = std::move(found->second);
  table().entries.erase(found);
  return entry;
}

/// Stores an entry for a request. Returns the entry that the request had before.
std::shared_ptr<Entry> put_in(MPI_Request request, std::shared_ptr<Entry> entry) {
  const std::lock_guard held(table().lock);
  return std::exchange(table().entries[request], std::move(entry));
}

void forget(std::shared_ptr<Entry> entry) {
  entry.reset();
  entry_count.fetch_sub(1, std::memory_order_relaxed);
}

/// Whether a request that still exists has ended. Also true for a persistent request that was not started.
bool has_ended(MPI_Request request) {
  int is_true = 0;
  return PMPI_Request_get_status(request, &is_true, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_true != 0;
}

void finish_once(Entry& entry) {
  const std::lock_guard held(entry.finishing);
  if (std::exchange(entry.is_active, false)) entry.reduction->finish();
}

}  // namespace

bool has_requests() noexcept { return entry_count.load(std::memory_order_relaxed) > 0; }

int unfinished_requests() {
  const std::lock_guard held(table().lock);
  return static_cast<int>(
      std::ranges::count_if(table().entries, [](const auto& each) { return each.second->is_active; }));
}

void enter_request(MPI_Request request, std::unique_ptr<Started> reduction, Requested requested) {
  const auto entry = std::make_shared<Entry>(std::move(reduction), requested == Requested::once);
  if (entry->is_active && has_ended(request)) return finish_once(*entry);
  entry_count.fetch_add(1, std::memory_order_relaxed);
  const std::shared_ptr<Entry> other = put_in(request, entry);
  if (other == nullptr) return;
  forget(other);
  if (other->is_active)
    throw Fault(
        "a started reduction has ended without the interposer's knowledge and has no result (the program or a tool "
        "loaded before the interposer called a PMPI_ function), load the interposer before other tools");
}

void start_request(MPI_Request request) {
  if (!has_requests()) return;
  const std::shared_ptr<Entry> entry = taken_out(request);
  if (entry == nullptr) return;
  entry->is_active = true;
  entry->reduction->contribute();
  put_in(request, entry);
}

void look_at_request(MPI_Request request) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard held(table().lock);
    const auto found = table().entries.find(request);
    if (found != table().entries.end()) entry = found->second;
  }
  if (entry != nullptr && has_ended(request)) finish_once(*entry);
}

Ending::~Ending() {
  for (Taken& each : taken_)
    if (each.entry != nullptr) put_in(each.request, each.entry);
}

void Ending::take(int index, MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return;
  Taken& taken = taken_[static_cast<std::size_t>(index)];
  taken.request = request;
  taken.entry = taken_out(request);
}

void Ending::settle(int index, MPI_Request now) {
  Taken& taken = taken_[static_cast<std::size_t>(index)];
  if (taken.entry == nullptr) return;
  if (now == MPI_REQUEST_NULL) {
    finish_once(*taken.entry);
    forget(std::move(taken.entry));
  } else if (taken.entry->is_active && has_ended(now)) {
    finish_once(*taken.entry);
  }
}

void Ending::settle_failed(int index, MPI_Request now) {
  if (now != MPI_REQUEST_NULL) return;
  try {
    settle(index, now);
  } catch (const Fault&) {  // because of the error the rows may be invalid
    forget(std::move(taken_[static_cast<std::size_t>(index)].entry));
  }
}

void Ending::give_up(int index) {
  std::shared_ptr<Entry>& entry = taken_[static_cast<std::size_t>(index)].entry;
  if (entry == nullptr) return;
  if (entry->is_active) static_cast<void>(entry->reduction.release());
  forget(std::move(entry));
}

void keep_operator(MPI_Op op) {
  if (op == MPI_OP_NULL) return;
  const std::lock_guard held(table().lock);
  ++table().operators[op].uses;
}

void release_operator(MPI_Op op) {
  if (op == MPI_OP_NULL) return;
  {
    const std::lock_guard held(table().lock);
    const auto found = table().operators.find(op);
    if (--found->second.uses > 0) return;
    const bool is_freed = found->second.is_freed;
    table().operators.erase(found);
    if (!is_freed) return;
  }
  PMPI_Op_free(&op);
}

bool is_freed_later(MPI_Op op) {
  if (!has_requests()) return false;
  const std::lock_guard held(table().lock);
  const auto found = table().operators.find(op);
  if (found == table().operators.end()) return false;
  found->second.is_freed = true;
  return true;
}

}  // namespace steadfold::interpose
