// The transport over MPI messages, and what the library keeps on a user's communicator from its first use on.
// Rank order: messages between two ranks of one endpoint arrive in the order put. Cost: one Isend, one Irecv and their
// tests per message; a few nanoseconds of our own.
// Calls PMPI_ names only: the interposed MPI_ names lead back to this library.
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

/// Name and version of the MPI library, on one line. May be called before MPI_Init.
std::string mpi_library();

/// A group over a private communicator. Destroy its endpoints before it. Destroying an endpoint cancels pending
/// receives and waits for pending `add_words`. Messages above 2 GiB make the MPI library allocate a data type;
/// `add_words` takes at most 2^31 - 1 words and fails beyond. A message that does not fit its slot is a failed ticket,
/// but MPICH 4 asks the error handler of MPI_COMM_WORLD first, whatever the communicator: unless it is set to return,
/// MPICH aborts.
class MpiTransport final : public Transport {
 public:
  /// Duplicates `user`: collective. Throws std::runtime_error, with the reason, if `user` cannot be used.
  explicit MpiTransport(MPI_Comm user);
  ~MpiTransport() override;
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  Rank rank() const noexcept override { return rank_; }
  Rank rank_count() const noexcept override { return rank_count_; }
  const char* name() const noexcept override { return "mpi"; }
  std::string library() const override { return mpi_library(); }
  /// As MPI_Comm_split_type says.
  std::span<const Rank> node_labels() const noexcept override { return node_labels_; }
  bool are_on_one_node() const noexcept override { return node_labels_.empty(); }

  /// Ranks have to ask each other only when the tags have come to their end: which do they still hold?
  std::optional<std::uint32_t> new_tags(std::uint32_t count) override { return tags_.take(*this, count); }
  /// Tags go up to the MPI library's MPI_TAG_UB.
  std::unique_ptr<Endpoint> prepare(std::uint32_t tag, std::span<const Bytes> capacities, Ticket tickets,
                                    WordOrder order) override;
  /// One MPI_Comm_idup. The endpoints that are prepared apart until the next connection share the communicator, which
  /// goes with the last of them.
  void open_apart() override;
  bool opened_apart() override;
  /// One MPI_Iallreduce of a word.
  void connect(bool is_prepared) override;
  Connection connected() override;
  /// All ranks' bytes together must stay below 2 GiB. One MPI_Iallgather of sizes, one MPI_Iallgatherv.
  void gather(std::span<const std::byte> bytes) override;
  std::optional<Gathered> gathered() override;
  void require_usable() const override { require_mpi(); }
  void require_threads() const override;

  /// Nothing more is prepared apart over what was opened; what was prepared keeps it.
  void end_apart() noexcept { apart_.reset(); }

  MPI_Comm comm() const noexcept { return comm_; }
  /// Over which no message is ever sent, only collectives.
  MPI_Comm quiet_comm() const noexcept { return setup_; }
  bool shares_cores() const noexcept { return shares_cores_; }
  /// The last tag that the MPI library has. Throws std::runtime_error if MPI cannot be called.
  static std::uint32_t last_tag();

 private:
  /// What is being gathered: sizes first, then whether all ranks have room for the bytes, then these.
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

  MPI_Comm comm_ = MPI_COMM_NULL;   // messages, and what plans add
  MPI_Comm setup_ = MPI_COMM_NULL;  // connections and what is gathered: their order is not that of plans' starts
  Rank rank_ = 0;
  Rank rank_count_ = 0;
  bool shares_cores_ = true;       // with other ranks
  std::vector<Rank> node_labels_;  // the lowest rank of each node; empty: there is one
  int all_prepared_ = 1;           // of the connection under way
  MPI_Request connecting_ = MPI_REQUEST_NULL;
  std::shared_ptr<OwnComm> apart_;  // of what is prepared apart
  MPI_Request opening_ = MPI_REQUEST_NULL;
  Gathering gathering_;
  AgreedTags tags_;
};

/// What the library keeps on a communicator: plans, and the transport they run over.
class Attached {
 public:
  virtual ~Attached() = default;
};

using MakeAttached = std::unique_ptr<Attached> (*)(std::unique_ptr<MpiTransport> transport);

/// Returns what is kept on `comm`. The first use is collective: it duplicates `comm` and calls `make`, whose result is
/// destroyed when `comm` is freed or MPI finalised, while MPI can still be called. Duplicates of `comm` start without
/// it. Later uses are local and do not allocate. Throws std::runtime_error if `comm` cannot be used.
Attached& attach(MPI_Comm comm, MakeAttached make);

}  // namespace steadfold::transport
