// The transport over MPI messages, and what the library keeps on a user's communicator from its first use on.
// Rank order: messages between two ranks of one endpoint arrive in the order put, as MPI promises per tag.
// Cost: one Isend, one Irecv and their tests per message. Source: ours.
#include "transport/mpi.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "transport/landing.hpp"
#include "transport/patience.hpp"

namespace steadfold::transport {
namespace {

constexpr Bytes int_max = std::numeric_limits<int>::max();
constexpr std::uint32_t least_last_tag = 32767;  // every MPI library has tags up to this one

/// Throws if `code` is an error: `what` failed, with the MPI library's text as the reason.
void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + " (" + text + "), see the messages of the MPI library");
}

bool finalized() noexcept {
  int flag = 0;
  PMPI_Finalized(&flag);
  return flag != 0;
}

void require_one_group(MPI_Comm comm) {
  require_mpi();
  if (comm == MPI_COMM_NULL) {
    throw std::runtime_error(
        "no reduction over MPI_COMM_NULL (it has no ranks), call on the members of the communicator only");
  }
  int between_groups = 0;
  require(PMPI_Comm_test_inter(comm, &between_groups), "communicator not usable");
  if (between_groups) {
    throw std::runtime_error(
        "no reduction over an intercommunicator (its two groups have no common rank order), make one communicator of "
        "both with MPI_Intercomm_merge");
  }
}

std::uint32_t last_tag() {
  require_mpi();
  int* last = nullptr;
  int known = 0;
  // Open MPI stores it on MPI_COMM_WORLD and its duplicates only.
  require(PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &last, &known), "tags not known");
  return known ? static_cast<std::uint32_t>(*last) : least_last_tag;
}

/// `size` bytes, too many for an int to count, as one element; MPI_DATATYPE_NULL if the library refuses.
MPI_Datatype large_type(Bytes size) noexcept {
  constexpr int chunk_bytes = 1 << 30;
  MPI_Datatype chunk = MPI_DATATYPE_NULL;
  if (PMPI_Type_contiguous(chunk_bytes, MPI_BYTE, &chunk) != MPI_SUCCESS) return MPI_DATATYPE_NULL;
  const int lengths[] = {static_cast<int>(size / chunk_bytes), static_cast<int>(size % chunk_bytes)};
  const MPI_Aint displacements[] = {0, static_cast<MPI_Aint>(size - size % chunk_bytes)};
  const MPI_Datatype types[] = {chunk, MPI_BYTE};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const bool made = PMPI_Type_create_struct(2, lengths, displacements, types, &type) == MPI_SUCCESS &&
                    PMPI_Type_commit(&type) == MPI_SUCCESS;
  PMPI_Type_free(&chunk);
  return made ? type : MPI_DATATYPE_NULL;
}

/// Whether some ranks of this node may have to share a core: true too if `comm` is part of the job, which cannot know
/// what the other ranks do. Collective; all ranks of a node get the same answer.
bool ranks_share_cores(MPI_Comm comm) {
  int of_job = 0;
  int of_comm = 0;
  require(PMPI_Comm_size(MPI_COMM_WORLD, &of_job), "ranks not counted");
  require(PMPI_Comm_size(comm, &of_comm), "ranks not counted");
  MPI_Comm node = MPI_COMM_NULL;
  require(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "ranks of the node not found");
  int on_node = 0;
  PMPI_Comm_size(node, &on_node);
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) CPU_ZERO(&cores);
  const int error = PMPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, node);
  PMPI_Comm_free(&node);
  require(error, "cores not counted");
  return of_comm < of_job || CPU_COUNT(&cores) < on_node;
}

class MpiEndpoint final : public Endpoint {
 public:
  MpiEndpoint(MPI_Comm comm, HeldTag tag, std::span<const Bytes> capacities, Ticket tickets, bool shares_cores)
      : comm_(comm),
        held_tag_(std::move(tag)),
        tag_(held_tag_.number()),
        slots_(capacities),
        operations_(tickets),
        patience_(shares_cores) {
    for (SlotNumber slot = 0; slot < capacities.size(); ++slot) {
      const Bytes room = slots_.with_margin(slot).size();
      if (room > int_max) large_slots_.push_back({slot, large_type(room)});
    }
  }

  ~MpiEndpoint() override {
    if (finalized()) return;
    if (!std::ranges::all_of(operations_, &is_done)) held_tag_.keep();  // a late message must not meet a new endpoint
    for (Operation& operation : operations_) withdraw(operation);
    for (LargeSlot& large : large_slots_) {
      if (large.type != MPI_DATATYPE_NULL) PMPI_Type_free(&large.type);
    }
  }

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }

  void put(Ticket ticket, Rank target, SlotNumber, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    traffic_.messages += 1;
    traffic_.bytes += bytes.size();
    Operation& operation = operations_[ticket];
    started(operation, Kind::send, send(operation.request, target, bytes));
    if (!second) return;
    traffic_.bytes += second->size();
    started_second(operation, send(operation.second, target, *second));
  }

  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    const std::span<std::byte> room = second ? slots_[slot].first(second->head) : slots_.with_margin(slot);
    Operation& operation = operations_[ticket];
    operation.slot = slot;
    operation.has_two_parts = second.has_value();
    started(operation, Kind::receive, receive(operation.request, source, room, slot));
    if (second) started_second(operation, receive(operation.second, source, second->room, slot));
  }

  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override {
    Operation& operation = operations_[ticket];
    const int error = words.size() > int_max
                          ? MPI_ERR_COUNT
                          : PMPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T,
                                            MPI_SUM, comm_, &operation.request);
    started(operation, Kind::sum, error);
  }

  Progress test(Ticket ticket, Bytes& arrived) noexcept override {
    Operation& operation = operations_[ticket];
    if (operation.progress == Progress::pending) ask(operation);
    arrived = operation.arrived;
    return operation.progress;
  }

  Traffic traffic() const noexcept override { return traffic_; }

 private:
  enum class Kind : std::uint8_t { send, receive, sum };
  struct Operation {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Request second = MPI_REQUEST_NULL;  // of the second part
    Kind kind = Kind::send;
    Progress progress = Progress::complete;
    bool has_two_parts = false;
    SlotNumber slot = 0;
    Bytes arrived = 0;
  };
  struct LargeSlot {
    SlotNumber slot;
    MPI_Datatype type;
  };

  static bool is_done(const Operation& operation) {
    return operation.request == MPI_REQUEST_NULL && operation.second == MPI_REQUEST_NULL;
  }

  static void started(Operation& operation, Kind kind, int error) noexcept {
    operation.kind = kind;
    operation.arrived = 0;
    operation.progress = error == MPI_SUCCESS ? Progress::pending : Progress::failed;
    if (error != MPI_SUCCESS) operation.request = MPI_REQUEST_NULL;
  }

  static void started_second(Operation& operation, int error) noexcept {
    if (error == MPI_SUCCESS) return;
    operation.progress = Progress::failed;
    operation.second = MPI_REQUEST_NULL;
  }

  void ask(Operation& operation) noexcept {
    const bool is_done =
        ask(operation, operation.request) && (operation.second == MPI_REQUEST_NULL || ask(operation, operation.second));
    if (!is_done) return patience_.found_nothing();
    if (operation.progress == Progress::pending) operation.progress = Progress::complete;
    patience_.found_something();
  }

  /// Whether this part of the message is complete or has failed.
  bool ask(Operation& operation, MPI_Request& request) noexcept {
    if (request == MPI_REQUEST_NULL) return true;
    int done = 0;
    MPI_Status status;
    MPI_Status* const wanted = operation.kind == Kind::receive ? &status : MPI_STATUS_IGNORE;
    if (PMPI_Test(&request, &done, wanted) != MPI_SUCCESS) {
      operation.progress = Progress::failed;
      return true;
    }
    if (done && operation.kind == Kind::receive) landed(operation, status);
    return done != 0;
  }

  /// Some MPI libraries truncate a message without an error, so a message that reaches into the margin did not fit. If
  /// a message has two parts, the first says how large it is.
  void landed(Operation& operation, const MPI_Status& status) noexcept {
    int count = 0;
    PMPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Count bytes = count;
    if (count == MPI_UNDEFINED) PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    if (!operation.has_two_parts && static_cast<Bytes>(bytes) > slots_[operation.slot].size()) {
      operation.progress = Progress::failed;
    } else {
      operation.arrived += static_cast<Bytes>(bytes);
    }
  }

  int send(MPI_Request& request, Rank target, std::span<const std::byte> bytes) noexcept {
    if (bytes.size() <= int_max)
      return PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, target, tag_, comm_, &request);
    MPI_Datatype type = large_type(bytes.size());
    if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
    const int error = PMPI_Isend(bytes.data(), 1, type, target, tag_, comm_, &request);
    PMPI_Type_free(&type);  // the send under way keeps the type
    return error;
  }

  int receive(MPI_Request& request, Rank source, std::span<std::byte> room, SlotNumber slot) noexcept {
    if (room.size() <= int_max)
      return PMPI_Irecv(room.data(), static_cast<int>(room.size()), MPI_BYTE, source, tag_, comm_, &request);
    const auto large = std::ranges::find(large_slots_, slot, &LargeSlot::slot);
    const bool is_slot = large != large_slots_.end() && room.size() == slots_.with_margin(slot).size();
    MPI_Datatype type = is_slot ? large->type : large_type(room.size());
    if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
    const int error = PMPI_Irecv(room.data(), 1, type, source, tag_, comm_, &request);
    if (!is_slot) PMPI_Type_free(&type);
    return error;
  }

  /// Makes sure that nothing under way can still write into our slots or the caller's words.
  static void withdraw(Operation& operation) noexcept {
    for (MPI_Request* request : {&operation.request, &operation.second}) {
      if (*request == MPI_REQUEST_NULL) continue;
      if (operation.kind == Kind::send) {
        PMPI_Request_free(request);
        continue;
      }
      if (operation.kind == Kind::receive) PMPI_Cancel(request);
      PMPI_Wait(request, MPI_STATUS_IGNORE);
    }
  }

  MPI_Comm comm_;
  HeldTag held_tag_;
  int tag_;
  LandingSlots slots_;
  std::vector<LargeSlot> large_slots_;
  std::vector<Operation> operations_;
  Patience patience_;
  Traffic traffic_;
};

}  // namespace

MpiTransport::MpiTransport(MPI_Comm user) : tags_(last_tag()) {
  require_one_group(user);
  require(PMPI_Comm_dup(user, &comm_), "communicator not duplicated");
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &rank_count_);
  shares_cores_ = ranks_share_cores(comm_);
}

MpiTransport::~MpiTransport() {
  if (!finalized()) PMPI_Comm_free(&comm_);
}

std::uint32_t MpiTransport::new_tags(std::uint32_t count) {
  auto first = tags_.take(count);
  if (!first) {
    const std::vector<std::uint32_t> mine = tags_.held();
    const Gathered all = gather_all(std::as_bytes(std::span(mine)));
    std::vector<std::uint32_t> held(all.bytes.size() / sizeof(std::uint32_t));
    if (!held.empty()) std::memcpy(held.data(), all.bytes.data(), all.bytes.size());
    tags_.start_over(std::move(held));
    first = tags_.take(count);
  }
  if (!first) {
    throw std::runtime_error("no tag is left (the plans that live take all " + std::to_string(tags_.last() + 1) +
                             " of the MPI library), free plans or bind some on a duplicate of the communicator");
  }
  return *first;
}

std::unique_ptr<Endpoint> MpiTransport::bind(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets) {
  if (tag > tags_.last()) {
    throw std::runtime_error("no endpoint with tag " + std::to_string(tag) + " (the MPI library's tags end at " +
                             std::to_string(tags_.last()) + "), free plans that are no longer used");
  }
  try {
    return std::make_unique<MpiEndpoint>(comm_, HeldTag(tags_, tag), capacities, tickets, shares_cores_);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("no memory for messages (a run has " + std::to_string(tickets) +
                             " on this rank), use fewer segments");
  }
}

Transport::Gathered MpiTransport::gather_all(std::span<const std::byte> bytes) {
  const auto ranks = static_cast<std::size_t>(rank_count_);
  const std::uint64_t own = bytes.size();
  std::vector<std::uint64_t> sizes(ranks);
  require(PMPI_Allgather(&own, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm_), "sizes not gathered");

  Gathered all;
  all.first.assign(1, 0);
  for (const std::uint64_t size : sizes) all.first.push_back(all.first.back() + size);
  if (all.first.back() > int_max) {
    throw std::runtime_error("nothing gathered (" + std::to_string(all.first.back()) +
                             " bytes over all ranks, at most " + std::to_string(int_max) +
                             " fit one MPI call), describe layouts by fewer intervals");
  }
  const std::vector<int> counts(sizes.begin(), sizes.end());
  const std::vector<int> displacements(all.first.begin(), all.first.end() - 1);
  all.bytes.resize(all.first.back());
  require(PMPI_Allgatherv(bytes.data(), static_cast<int>(own), MPI_BYTE, all.bytes.data(), counts.data(),
                          displacements.data(), MPI_BYTE, comm_),
          "bytes not gathered");
  return all;
}

namespace {

std::mutex uses_mutex;
std::vector<MPI_Comm> uses;  // communicators with something attached, in the order of their first use

/// Whether MPI is known to be usable: from the first use of a communicator on until MPI_Finalize begins.
std::atomic<bool> usable = false;

/// Grows whenever something attached is destroyed: a thread's remembered look-up is valid only for its generation.
std::atomic<std::uint64_t> generation = 1;

struct LastUse {
  MPI_Comm comm;
  Attached* attached;
  std::uint64_t generation;  // 0: none yet
};
thread_local LastUse last_use;

/// MPI calls this when `comm` is freed.
int forget(MPI_Comm comm, int, void* attached, void*) {
  generation.fetch_add(1, std::memory_order_release);
  {
    const std::lock_guard lock(uses_mutex);
    std::erase(uses, comm);
  }
  delete static_cast<Attached*>(attached);
  return MPI_SUCCESS;
}

int attached_keyval() {
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "nothing attached");
    return made;
  }();
  return keyval;
}

/// MPI calls this at the start of MPI_Finalize, while everything still works: some libraries never free
/// MPI_COMM_WORLD's attributes, and users forget communicators. Those of MPI_COMM_SELF itself are being freed already.
int forget_all(MPI_Comm, int, void*, void*) {
  usable.store(false, std::memory_order_release);
  std::vector<MPI_Comm> left;
  {
    const std::lock_guard lock(uses_mutex);
    left = uses;
  }
  for (const MPI_Comm comm : left) {
    if (comm != MPI_COMM_SELF) PMPI_Comm_delete_attr(comm, attached_keyval());
  }
  return MPI_SUCCESS;
}

void forget_all_at_finalize() {
  static const bool done = [] {
    int keyval = MPI_KEYVAL_INVALID;
    require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_all, &keyval, nullptr), "nothing attached");
    require(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr), "nothing attached");
    PMPI_Comm_free_keyval(&keyval);  // the attribute keeps the key
    usable.store(true, std::memory_order_release);
    return true;
  }();
  static_cast<void>(done);
}

/// Guards a communicator's first use, which duplicates it: a second thread must not join in.
class FirstUse {
 public:
  explicit FirstUse(MPI_Comm comm) : comm_(comm) {
    const std::lock_guard lock(uses_mutex);
    if (std::ranges::find(under_way, comm) != under_way.end()) {
      throw std::runtime_error(
          "the communicator is in use by another thread (its first use is under way), give every thread a duplicate of "
          "its own");
    }
    under_way.push_back(comm);
  }
  ~FirstUse() {
    const std::lock_guard lock(uses_mutex);
    std::erase(under_way, comm_);
  }
  FirstUse(const FirstUse&) = delete;
  FirstUse& operator=(const FirstUse&) = delete;

 private:
  static inline std::vector<MPI_Comm> under_way;
  MPI_Comm comm_;
};

Attached& attach_slowly(MPI_Comm comm, MakeAttached make) {
  require_one_group(comm);
  const FirstUse first_use(comm);
  const int keyval = attached_keyval();
  void* found = nullptr;
  int known = 0;
  require(PMPI_Comm_get_attr(comm, keyval, &found, &known), "nothing attached");
  if (!known) {
    forget_all_at_finalize();
    std::unique_ptr<Attached> made = make(std::make_unique<MpiTransport>(comm));
    require(PMPI_Comm_set_attr(comm, keyval, made.get()), "nothing attached");
    found = made.release();
    const std::lock_guard lock(uses_mutex);
    uses.push_back(comm);
  }
  return *static_cast<Attached*>(found);
}

}  // namespace

Attached& attach(MPI_Comm comm, MakeAttached make) {
  const std::uint64_t now = generation.load(std::memory_order_acquire);
  if (last_use.comm != comm || last_use.generation != now) last_use = {comm, &attach_slowly(comm, make), now};
  return *last_use.attached;
}

void require_mpi() {
  if (usable.load(std::memory_order_acquire)) return;
  int initialized = 0;
  PMPI_Initialized(&initialized);
  if (!initialized) {
    throw std::runtime_error("no reduction over MPI (MPI is not initialised), call MPI_Init before it");
  }
  if (finalized()) {
    throw std::runtime_error("no reduction over MPI (MPI is finalised), make the call before MPI_Finalize");
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
