// The transport over MPI messages, and the objects that the library attaches to a user's communicator at its first use.
// Rank order: messages between two ranks of one endpoint arrive in the order of `put`. Cost: one Isend, one Irecv and
// their tests per message, and a few nanoseconds of overhead.
// Calls only PMPI_ names, because the interposer redirects the MPI_ names to this library.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/agreed_tags.hpp"
#include "transport/mpi/endpoint.hpp"
#include "transport/transport.hpp"

namespace steadfold::transport {

/// Throws std::runtime_error, with the reason, if MPI cannot be called: before MPI_Init and after MPI_Finalize.
void require_mpi();

/// The name and version of the MPI library, on one line. May be called before MPI_Init.
std::string mpi_library();

/// A transport over a private communicator. Destroy its endpoints before it. Destroying an endpoint cancels pending
/// receives and waits for pending `add_words`. Messages above 2 GiB make the MPI library allocate a data type.
/// `add_words` takes at most 2^31 - 1 words, and fails for more. A message that does not fit its slot is a failed
/// ticket. But MPICH 4 first calls the error handler of MPI_COMM_WORLD, also for other communicators. Unless this
/// handler is MPI_ERRORS_RETURN, MPICH aborts.
class MpiTransport final : public Transport {
 public:
  /// Duplicates the communicator `user`. Collective. Throws std::runtime_error, with the reason, if `user` cannot be
  /// used.
  explicit MpiTransport(MPI_Comm user);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  Rank rank() const noexcept override { return rank_; }
  Rank rank_count() const noexcept override { return rank_count_; }
  const char* name() const noexcept override { return "mpi"; }
  std::string library() const override { return mpi_library(); }
  /// Returns the labels that MPI_Comm_split_type gives.
  std::span<const Rank> node_labels() const noexcept override { return node_labels_; }
  bool are_on_one_node() const noexcept override { return node_labels_.empty(); }

  /// Hands out tags; see Transport::new_tags. The ranks communicate only when the tags run out: then they exchange the
  /// tags that they still hold.
  std::optional<std::uint32_t> new_tags(std::uint32_t count) override { return tags_.take(*this, count); }
  /// Prepares an endpoint. Its tags go up to the MPI library's MPI_TAG_UB.
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  /// Starts one MPI_Comm_idup. The endpoints with WordOrder::apart that are prepared before the next connection share
  /// the communicator. The communicator is freed with the last of these endpoints.
  void open_apart() override;
  bool opened_apart() override;
  /// Starts one MPI_Iallreduce of one word.
  void connect(bool is_prepared) override;
  Connection connected() override;
  /// Starts one MPI_Iallgather of sizes, then one MPI_Iallgatherv of the bytes. All ranks' bytes together must stay
  /// below 2 GiB.
  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;
  void require_usable() const override { require_mpi(); }
  void require_threads() const override;

  /// Ends the channel of open_apart() for endpoints that are prepared later; earlier endpoints keep it.
  void end_apart() noexcept { apart_.reset(); }

  MPI_Comm comm() const noexcept { return comm_; }
  /// Returns a communicator that carries only collectives, never messages.
  MPI_Comm quiet_comm() const noexcept { return setup_; }
  bool shares_cores() const noexcept { return shares_cores_; }
  /// Returns the greatest tag of the MPI library. Throws std::runtime_error if MPI cannot be called.
  static std::uint32_t last_tag();

 private:
  /// The state of a gather: first the sizes, then whether all ranks have memory for the bytes, then the bytes.
  struct Gathering {
    enum class GatherPhase : std::uint8_t { sizes, room, bytes };
    GatherPhase step = GatherPhase::sizes;
    std::span<const std::byte> mine;
    std::uint64_t own_size = 0;
    std::vector<std::uint64_t> sizes;
    std::vector<int> counts;
    std::vector<int> displacements;
    int has_room = 0;
    Gathered all;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  std::unique_ptr<Endpoint> prepare_adding_over(MPI_Comm adds, std::uint32_t tag, std::span<const Bytes> capacities,
                                                Ticket tickets, std::shared_ptr<const OwnComm> owns = nullptr);
  bool has_ended(MPI_Request& request, const char* what) const;
  void make_room();
  void gather_bytes();

  MPI_Comm comm_ = MPI_COMM_NULL;   // carries messages, and the words of plans
  MPI_Comm setup_ = MPI_COMM_NULL;  // carries connections and gathers, whose order differs from the order of plans
  Rank rank_ = 0;
  Rank rank_count_ = 0;
  bool shares_cores_ = true;       // whether ranks share cores
  std::vector<Rank> node_labels_;  // the lowest rank of each rank's node; empty if there is one node
  int all_prepared_ = 1;           // whether all ranks have prepared the current connection
  MPI_Request connecting_ = MPI_REQUEST_NULL;
  std::shared_ptr<OwnComm> apart_;  // communicator for the endpoints with WordOrder::apart
  MPI_Request opening_ = MPI_REQUEST_NULL;
  Gathering gathering_;
  AgreedTags tags_;
};

/// The objects that the library attaches to a communicator: plans, and their transport.
class Attached {
 public:
  virtual ~Attached() = default;
};

using MakeAttached = std::unique_ptr<Attached> (*)(std::unique_ptr<MpiTransport> transport);

/// Returns the object attached to `comm`. The first use is collective: it duplicates `comm` and attaches the result of
/// `make`. The object is destroyed when `comm` is freed or MPI is finalised, while MPI can still be called. Duplicates
/// of `comm` do not inherit it. Later uses are local and do not allocate. Throws std::runtime_error if `comm` cannot be
/// used.
Attached& attach(MPI_Comm comm, MakeAttached make);

}  // namespace steadfold::transport
