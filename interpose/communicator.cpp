#include "communicator.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "trace.hpp"

namespace steadfold::interpose {
namespace {

/// The number of communicators that have ended; MPI may reuse their handles.
std::atomic<std::uint64_t> ended = 0;

int forget(MPI_Comm /*comm*/, int /*key*/, void* kept, void* /*extra*/) {
  ended.fetch_add(1, std::memory_order_relaxed);
  delete static_cast<Communicator*>(kept);
  return MPI_SUCCESS;
}

/// Returns the key of the attribute. MPI does not copy the attribute to duplicates of a communicator.
int key() {
  static const int made = [] {
    int fresh = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &fresh, nullptr);
    return fresh;
  }();
  return made;
}

/// Returns the ranks in MPI_COMM_WORLD of the communicator's processes, or MPI_UNDEFINED.
std::vector<int> ranks_in_world(MPI_Comm comm) {
  MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), there(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, there.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return there;
}

/// Returns a number for the communicator. The number is the same in every run in which communicators of the same
/// processes are first used in the same order.
std::uint32_t identity_of(const std::vector<int>& ranks) {
  static std::mutex lock;
  // Never destroyed, because other destructors may call this function.
  static auto& seen = *new std::unordered_map<std::uint32_t, std::uint32_t>;
  std::uint32_t hash = 2166136261U;
  for (const int rank : ranks) hash = (hash ^ static_cast<std::uint32_t>(rank)) * 16777619U;
  const std::lock_guard held(lock);
  return hash + 2654435769U * seen[hash]++;
}

Communicator look_at(MPI_Comm comm) {
  Communicator found{.handle = comm};
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  PMPI_Comm_rank(comm, &found.rank);
  PMPI_Comm_size(comm, &found.size);
  const std::vector<int> ranks = ranks_in_world(comm);
  if (is_traced()) {
    found.identity = identity_of(ranks);
    // The counter is never deleted, because persistent calls may be started after their communicator was freed.
    found.calls = new std::atomic<std::uint32_t>(0);
  }
  // Processes of other worlds have not compared their settings with this one.
  if (is_inter != 0 || std::ranges::find(ranks, MPI_UNDEFINED) != ranks.end())
    found.treatment = Treatment::across;
  else if (found.size == 1)
    found.treatment = Treatment::one_rank;
  return found;
}

std::atomic<bool> is_known = false;  // whether MPI is known to be running

/// Whether MPI is running. Asks the MPI library until the answer is yes.
bool is_running() {
  if (is_known.load(std::memory_order_relaxed)) return true;
  int begun = 0, over = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&over);
  const bool is = begun != 0 && over == 0;
  if (is) is_known.store(true, std::memory_order_relaxed);
  return is;
}

/// The communicator of a thread's last look-up. Only look-ups of a different communicator ask the MPI library.
struct Last {
  MPI_Comm handle = MPI_COMM_NULL;
  std::uint64_t ended = 0;
  Communicator known = {};
};
thread_local Last last;

Communicator asked(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return {.treatment = Treatment::refused};
  void* kept = nullptr;
  int is_kept = 0;
  if (PMPI_Comm_get_attr(comm, key(), static_cast<void*>(&kept), &is_kept) != MPI_SUCCESS)
    return {.treatment = Treatment::refused};
  if (is_kept != 0) return *static_cast<const Communicator*>(kept);
  auto found = std::make_unique<Communicator>(look_at(comm));
  found->is_kept = true;
  Communicator known = *found;
  known.is_kept = PMPI_Comm_set_attr(comm, key(), found.get()) == MPI_SUCCESS;
  if (known.is_kept) static_cast<void>(found.release());
  return known;
}

}  // namespace

bool is_spawned() {
  static const bool is = [] {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
  }();
  return is;
}

void note_end() noexcept { is_known.store(false, std::memory_order_relaxed); }

Communicator communicator_of(MPI_Comm comm) {
  if (!is_running()) return {.treatment = Treatment::outside};
  const std::uint64_t now = ended.load(std::memory_order_relaxed);
  if (last.handle == comm && comm != MPI_COMM_NULL && last.ended == now) return last.known;
  const Communicator known = asked(comm);
  if (known.is_kept) last = {comm, now, known};
  return known;
}

}  // namespace steadfold::interpose
