// The transport over MPI messages, and the objects that the library attaches to a user's communicator at its first use.
// Rank order and cost: see endpoint.hpp.
#include "transport/mpi/mpi.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "transport/mpi/window.hpp"

namespace steadfold::transport {
namespace {

constexpr std::uint32_t least_last_tag = 32767;  // the MPI standard guarantees tags up to this number

/// Throws if `code` is an error. `what` names the failed operation; the MPI library's text is the reason.
void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + " (" + text + "), see the messages of the MPI library");
}

void require_one_group(MPI_Comm comm) {
  require_mpi();
  if (comm == MPI_COMM_NULL) {
    throw std::runtime_error(
        "no reduction over MPI_COMM_NULL (it has no ranks), call only on ranks that are members of the communicator");
  }
  int between_groups = 0;
  require(PMPI_Comm_test_inter(comm, &between_groups), "the communicator cannot be used");
  if (between_groups) {
    throw std::runtime_error(
        "no reduction over an intercommunicator (its two groups have no common rank order), make one communicator of "
        "both with MPI_Intercomm_merge");
  }
}

/// Ends the use of MPI when MPI_Finalize begins; defined below.
void forget_all_at_finalize();

/// The properties of the machine that a transport needs.
struct NodeInfo {
  bool shares_cores = true;       // whether ranks of this node may share cores, or `comm` is only a part of the job
  std::vector<Rank> node_labels;  // the lowest rank of each rank's node; empty if there is one node
};

/// Returns the label of each rank's node. `first_on_node` is the lowest rank on this rank's node. Collective.
std::vector<Rank> node_labels(MPI_Comm comm, Rank first_on_node) {
  int ranks = 0;
  require(PMPI_Comm_size(comm, &ranks), "the ranks cannot be counted");
  std::vector<Rank> firsts(static_cast<std::size_t>(ranks));
  require(PMPI_Allgather(&first_on_node, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm),
          "the nodes of the ranks cannot be gathered");
  if (std::ranges::count(firsts, 0) == ranks) firsts.clear();
  return firsts;
}

/// Finds the properties of the machine. All ranks of a node get the same result. Collective.
NodeInfo machine_of(MPI_Comm comm) {
  int of_job = 0;
  int of_comm = 0;
  require(PMPI_Comm_size(MPI_COMM_WORLD, &of_job), "the ranks cannot be counted");
  require(PMPI_Comm_size(comm, &of_comm), "the ranks cannot be counted");
  MPI_Comm node = MPI_COMM_NULL;
  require(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
          "the ranks of the node cannot be determined");
  int on_node = 0;
  PMPI_Comm_size(node, &on_node);
  Rank first = 0;
  PMPI_Comm_rank(comm, &first);
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  const int not_counted = PMPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);
  const int not_told = PMPI_Bcast(&first, 1, MPI_INT, 0, node);
  PMPI_Comm_free(&node);
  require(not_counted, "the cores cannot be counted");
  require(not_told, "the nodes cannot be determined");
  return {.shares_cores = of_comm < of_job || CPU_COUNT(&cores) < on_node, .node_labels = node_labels(comm, first)};
}

}  // namespace

std::uint32_t MpiTransport::last_tag() {
  require_mpi();
  int* last = nullptr;
  int known = 0;
  // Open MPI stores the attribute on MPI_COMM_WORLD and its duplicates only.
  require(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &known), "the range of tags cannot be determined");
  return known ? static_cast<std::uint32_t>(*last) : least_last_tag;
}

MpiTransport::MpiTransport(MPI_Comm user) : tags_(last_tag()) {
  require_one_group(user);
  forget_all_at_finalize();
  for (MPI_Comm* const own : {&comm_, &setup_}) {
    require(PMPI_Comm_dup(user, own), "the communicator cannot be duplicated");
    PMPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  }
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &rank_count_);
  NodeInfo machine = machine_of(comm_);
  shares_cores_ = machine.shares_cores;
  node_labels_ = std::move(machine.node_labels);
  gathering_.sizes.resize(static_cast<std::size_t>(rank_count_));
}

void MpiTransport::connect(bool is_prepared) {
  end_apart();
  all_prepared_ = is_prepared ? 1 : 0;
  require(PMPI_Iallreduce(MPI_IN_PLACE, &all_prepared_, 1, MPI_INT, MPI_LAND, setup_, &connecting_),
          "the endpoints cannot be connected");
}

Connection MpiTransport::connected() {
  if (!has_ended(connecting_, "the endpoints cannot be connected")) return Connection::pending;
  return all_prepared_ != 0 ? Connection::connected : Connection::failed;
}

bool MpiTransport::has_ended(MPI_Request& request, const char* what) const {
  int done = 0;
  require(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), what);
  if (!done && shares_cores_) sched_yield();  // the core is yielded, because the awaited rank may not be running
  return done != 0;
}

MpiTransport::~MpiTransport() {
  if (finalized()) return;
  PMPI_Comm_free(&setup_);
  PMPI_Comm_free(&comm_);
}

void MpiTransport::require_threads() const {
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  if (provided >= MPI_THREAD_MULTIPLE) return;
  throw std::runtime_error(
      "no progress thread can run (MPI was initialised without MPI_THREAD_MULTIPLE), call MPI_Init_thread with "
      "MPI_THREAD_MULTIPLE, or test started reductions regularly");
}

std::unique_ptr<Endpoint> MpiTransport::prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                                WordOrder order) {
  if (order == WordOrder::apart) return prepare_adding_over(apart_->comm, tag, capacities, tickets, apart_);
  return prepare_adding_over(order == WordOrder::in_turn ? setup_ : comm_, tag, capacities, tickets);
}

void MpiTransport::open_apart() {
  apart_ = std::make_shared<OwnComm>();
  require(PMPI_Comm_idup(setup_, &apart_->comm, &opening_), "the communicator cannot be duplicated");
}

bool MpiTransport::opened_apart() {
  if (!has_ended(opening_, "the communicator cannot be duplicated")) return false;
  PMPI_Comm_set_errhandler(apart_->comm, MPI_ERRORS_RETURN);
  return true;
}

std::unique_ptr<Endpoint> MpiTransport::prepare_adding_over(MPI_Comm adds, std::uint32_t tag,
                                                            std::span<const Bytes> capacities, Ticket tickets,
                                                            std::shared_ptr<const OwnComm> owns) {
  HeldTag held = tags_.hold(tag);
  try {
    return make_mpi_endpoint({comm_, adds, std::move(owns)}, {}, std::move(held), capacities, tickets, shares_cores_);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for messages (a run needs " + std::to_string(tickets) +
                             " messages on this rank), use fewer segments");
  }
}

void MpiTransport::gather(std::span<const std::byte> bytes) {
  gathering_.step = Gathering::GatherPhase::sizes;
  gathering_.mine = bytes;
  gathering_.own_size = bytes.size();
  require(PMPI_Iallgather(&gathering_.own_size, 1, MPI_UINT64_T, gathering_.sizes.data(), 1, MPI_UINT64_T, setup_,
                          &gathering_.request),
          "the sizes of the ranks' data cannot be gathered");
}

std::optional<Transport::Gathered> MpiTransport::gathered() {
  using GatherPhase = Gathering::GatherPhase;
  if (!has_ended(gathering_.request, "the ranks' data cannot be gathered")) return std::nullopt;
  switch (gathering_.step) {
    case GatherPhase::sizes: make_room(); return std::nullopt;
    case GatherPhase::room: gather_bytes(); return std::nullopt;
    case GatherPhase::bytes: break;
  }
  return std::move(gathering_.all);
}

/// Allocates the memory for the gathered bytes, when their sizes are known. If a rank has no memory for the bytes, no
/// rank gathers them.
void MpiTransport::make_room() {
  const auto total = std::accumulate(gathering_.sizes.begin(), gathering_.sizes.end(), std::uint64_t{0});
  if (total > int_max)
    throw std::runtime_error("the layouts cannot be gathered (" + std::to_string(total) +
                             " bytes over all ranks, at most " + std::to_string(int_max) +
                             " fit in one MPI call), describe the layouts with fewer intervals");
  try {
    Gathered& all = gathering_.all;
    all.first.assign(1, 0);
    for (const std::uint64_t size : gathering_.sizes) all.first.push_back(all.first.back() + size);
    gathering_.counts.assign(gathering_.sizes.begin(), gathering_.sizes.end());
    gathering_.displacements.assign(all.first.begin(), all.first.end() - 1);
    all.bytes.resize(total);
    gathering_.has_room = 1;
  } catch (const std::bad_alloc&) {
    gathering_.has_room = 0;
  }
  gathering_.step = Gathering::GatherPhase::room;
  require(PMPI_Iallreduce(MPI_IN_PLACE, &gathering_.has_room, 1, MPI_INT, MPI_LAND, setup_, &gathering_.request),
          "the ranks' data cannot be gathered");
}

void MpiTransport::gather_bytes() {
  if (gathering_.has_room == 0)
    throw std::runtime_error(
        "the layouts cannot be gathered (a rank is out of memory), describe the layouts with fewer intervals");
  Gathered& all = gathering_.all;
  gathering_.step = Gathering::GatherPhase::bytes;
  require(PMPI_Iallgatherv(gathering_.mine.data(), static_cast<int>(gathering_.own_size), MPI_BYTE, all.bytes.data(),
                           gathering_.counts.data(), gathering_.displacements.data(), MPI_BYTE, setup_,
                           &gathering_.request),
          "the ranks' data cannot be gathered");
}

namespace {

/// The communicators that the library uses. Never destroyed, because destructors of a program's static objects may
/// finalise MPI.
struct Uses {
  std::mutex mutex;
  std::vector<MPI_Comm> attached;   // communicators with an attached object, in the order of their first use
  std::vector<MPI_Comm> under_way;  // communicators whose first use has not ended
};
Uses& uses() {
  static Uses& only = *new Uses;
  return only;
}

/// Whether MPI is known to be usable: from the first use of a communicator until MPI_Finalize begins.
std::atomic<bool> usable = false;

std::atomic<bool> is_child = false;

/// Grows when an attached object is destroyed. A thread's remembered look-up is valid only if it has the current
/// number.
std::atomic<std::uint64_t> generation = 1;

struct LastUse {
  MPI_Comm comm;
  Attached* attached;
  std::uint64_t generation;  // the generation of the look-up; 0 if no look-up is remembered
};
thread_local LastUse last_use;

/// MPI calls this when `comm` is freed.
int forget(MPI_Comm comm, int, void* attached, void*) {
  generation.fetch_add(1, std::memory_order_release);
  {
    const std::lock_guard lock(uses().mutex);
    std::erase(uses().attached, comm);
  }
  delete static_cast<Attached*>(attached);
  return MPI_SUCCESS;
}

int attached_keyval() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr),
            "the communicator's attribute cannot be read or set");
    return made;
  }();
  return keyval;
}

/// MPI calls this at the start of MPI_Finalize, while MPI can still be called: some libraries never free the attributes
/// of MPI_COMM_WORLD, and users forget to free communicators. MPI is then already freeing the attributes of
/// MPI_COMM_SELF.
int forget_all(MPI_Comm, int, void*, void*) {
  usable.store(false, std::memory_order_release);
  end_windows();
  std::vector<MPI_Comm> left;
  {
    const std::lock_guard lock(uses().mutex);
    left = uses().attached;
  }
  for (const MPI_Comm comm : left) {
    if (comm != MPI_COMM_SELF) PMPI_Comm_delete_attr(comm, attached_keyval());
  }
  return MPI_SUCCESS;
}

void forget_all_at_finalize() {
  static const bool done = [] {
    int keyval = MPI_KEYVAL_INVALID;
    require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_all, &keyval, nullptr),
            "the communicator's attribute cannot be read or set");
    require(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "the communicator's attribute cannot be read or set");
    PMPI_Comm_free_keyval(&keyval);  // the attribute keeps the key alive
    pthread_atfork(nullptr, nullptr, [] {
      is_child.store(true, std::memory_order_release);
      usable.store(false, std::memory_order_release);
    });
    usable.store(true, std::memory_order_release);
    return true;
  }();
  static_cast<void>(done);
}

/// Guards a communicator's first use, which duplicates the communicator, against a second thread.
class FirstUse {
 public:
  explicit FirstUse(MPI_Comm comm) : comm_(comm) {
    const std::lock_guard lock(uses().mutex);
    std::vector<MPI_Comm>& under_way = uses().under_way;
    if (std::ranges::find(under_way, comm) != under_way.end()) {
      throw std::runtime_error(
          "the communicator is in use by another thread (its first use is under way), give every thread its own "
          "duplicate of the communicator");
    }
    under_way.push_back(comm);
  }
  ~FirstUse() {
    const std::lock_guard lock(uses().mutex);
    std::erase(uses().under_way, comm_);
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

 private:
  MPI_Comm comm_;
};

Attached& attach_slowly(MPI_Comm comm, MakeAttached make) {
  require_one_group(comm);
  const FirstUse first_use(comm);
  const int keyval = attached_keyval();
  void* found = nullptr;
  int known = 0;
  require(PMPI_Comm_get_attr(comm, keyval, &found, &known), "the communicator's attribute cannot be read or set");
  if (!known) {
    std::unique_ptr<Attached> made = make(std::make_unique<MpiTransport>(comm));
    require(PMPI_Comm_set_attr(comm, keyval, made.get()), "the communicator's attribute cannot be read or set");
    found = made.release();
    const std::lock_guard lock(uses().mutex);
    uses().attached.push_back(comm);
  }
  return *static_cast<Attached*>(found);
}

}  // namespace

Attached& attach(MPI_Comm comm, MakeAttached make) {
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (last_use.comm != comm || last_use.generation != now) last_use = {comm, &attach_slowly(comm, make), now};
  return *last_use.attached;
}

bool is_forked_child() noexcept { return is_child.load(std::memory_order_acquire); }

void require_mpi() {
  if (usable.load(std::memory_order_acquire)) return;
  if (is_forked_child()) {
    throw std::runtime_error(
        "no reduction over MPI in a child of fork (MPI belongs to the parent process), reduce in the parent process, "
        "or without a communicator");
  }
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (!initialized) {
    throw std::runtime_error("no reduction over MPI (MPI is not initialised), call MPI_Init before the reduction");
  }
  if (finalized()) {
    throw std::runtime_error("no reduction over MPI (MPI is finalised), reduce before MPI_Finalize");
  }
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<std::size_t>(length));
  std::string line = all.substr(0, all.find('\n'));
  std::ranges::replace(line, '\t', ' ');
  return line;
}

}  // namespace steadfold::transport
