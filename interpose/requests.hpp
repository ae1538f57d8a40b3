// Which requests of the program are started reductions, and what must outlive their calls.
// A request leaves the table before the MPI library may give its handle to another one: by `Ending`, around every call
// that may end requests. Programs may use several threads: a lock, which no call takes while there is no entry.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

namespace steadfold::interpose {

class Started;

enum class Requested { once, persistently };

struct Entry;

/// Enters a request that was just made. One that has ended already is finished at once: MPI libraries give such
/// requests one common handle.
void enter_request(MPI_Request request, std::unique_ptr<Started> reduction, Requested requested);
/// The program is about to start a persistent request.
void start_request(MPI_Request request);
/// Whether there is any entry.
bool has_requests() noexcept;

/// Takes the entries of some requests out of the table while the MPI library decides which of them have ended.
class Ending {
 public:
  explicit Ending(int count) : taken_(static_cast<std::size_t>(count)) {}
  /// Those that did not end go back.
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

  void take(int index, MPI_Request request);
  /// Finishes the reduction of a request that has ended, if it is one: `now` is what stands in its place. Throws Fault.
  void settle(int index, MPI_Request now);
  /// Likewise where the call failed, perhaps for another request. What cannot be finished is given up.
  void settle_failed(int index, MPI_Request now);
  /// The program has freed the request. What still moves keeps its memory.
  void give_up(int index);

 private:
  struct Taken {
    MPI_Request request = MPI_REQUEST_NULL;
    std::shared_ptr<Entry> entry;
  };
  std::vector<Taken> taken_;
};

/// Looks whether a request has ended that stays with the program; several threads may at once. Throws Fault.
void look_at_request(MPI_Request request);

/// Keeps an operator of the program alive, which may free it while a reduction is under way. MPI_OP_NULL: nothing.
void keep_operator(MPI_Op op);
void release_operator(MPI_Op op);
/// The program frees an operator. Whether it is kept; it is freed when no reduction needs it any more.
bool is_freed_later(MPI_Op op);

}  // namespace steadfold::interpose
