// A table of the program's requests that are started reductions, and of objects that must outlive their calls. A
// request leaves the table before the MPI library may reuse its handle: `Ending` surrounds every call that may end
// requests. Programs may use several threads, so a lock guards the table. No call takes the lock while the table is
// empty.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

namespace steadfold::interpose {

class Started;

enum class Requested { once, persistently };

struct Entry;

/// Adds a new request to the table. If the request has ended already, finishes its reduction at once: MPI libraries
/// give all ended requests one common handle.
void enter_request(MPI_Request request, std::unique_ptr<Started> reduction, Requested requested);
/// Records that the program starts a persistent request.
void start_request(MPI_Request request);
/// Whether the table has any entry.
bool has_requests() noexcept;
/// Returns the number of started reductions without a result.
int unfinished_requests();

/// Takes the entries of some requests out of the table while the MPI library decides which requests have ended.
class Ending {
 public:
  explicit Ending(int count) : taken_(static_cast<std::size_t>(count)) {}
  /// Puts the entries of requests that have not ended back into the table.
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  void take(int index, MPI_Request request);
  /// If the request has ended, finishes its reduction. `now` is the request's value after the call. Throws Fault.
  void settle(int index, MPI_Request now);
  /// Does the same as settle() after a call that failed, perhaps because of another request. Gives up reductions that
  /// cannot be finished.
  void settle_failed(int index, MPI_Request now);
  /// Gives up the reduction of a request that the program has freed. Memory that MPI may still use is kept.
  void give_up(int index);

 private:
  struct Taken {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Entry> entry;
  };
  std::vector<Taken> taken_;
};

/// Checks whether a request that the program keeps has ended. Any thread may call this function. Throws Fault.
void look_at_request(MPI_Request request);

/// Keeps an operator alive, since the program may free it before a reduction has ended. Ignores MPI_OP_NULL.
void keep_operator(MPI_Op op);
void release_operator(MPI_Op op);
/// Keeps an operator that the program frees, if a reduction in the table uses it. Returns whether it is kept. A kept
/// operator is freed after its last reduction.
bool is_freed_later(MPI_Op op);

}  // namespace steadfold::interpose
