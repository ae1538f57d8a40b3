// An endpoint over MPI messages. Its open requests are contiguous, so one MPI call can test all of them.
#include "transport/mpi/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "transport/backoff.hpp"
#include "transport/landing.hpp"

namespace steadfold::transport {
namespace {

/// Makes a data type of `size` bytes, which are more than an int can count; MPI_DATATYPE_NULL if the MPI library
/// refuses.
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

class MpiEndpoint final : public Endpoint {
 public:
  MpiEndpoint(const EndpointComms& comms, const Addresses& addresses, HeldTag tag, std::span<const Bytes> capacities,
              Ticket tickets, bool shares_cores)
      : comms_(comms),
        addresses_(addresses),
        held_tag_(std::move(tag)),
        tag_(held_tag_.number()),
        slots_(capacities),
        progress_(tickets),
        backoff_(shares_cores) {
    for (SlotNumber slot = 0; slot < capacities.size(); ++slot) {
      const Bytes room = slots_.with_margin(slot).size();
      if (room > int_max) large_slots_.push_back({slot, large_type(room)});
    }
    requests_.reserve(2 * std::size_t{tickets});  // a message in two parts has two requests
    open_.reserve(2 * std::size_t{tickets});
    failed_.reserve(tickets);
  }

  ~MpiEndpoint() override {
    if (finalized()) return;
    // Keeps a late message from reaching a new endpoint with this tag.
    if (!requests_.empty()) held_tag_.never_give_back();
    for (std::size_t i = 0; i < requests_.size(); ++i) withdraw(requests_[i], open_[i].kind);
    for (LargeSlot& large : large_slots_) {
      if (large.type != MPI_DATATYPE_NULL) PMPI_Type_free(&large.type);
    }
  }

  std::span<std::byte> landing(SlotNumber slot) noexcept override { return slots_[slot]; }

  void put(Ticket ticket, Rank target, SlotNumber, std::span<const std::byte> bytes,
           std::optional<std::span<const std::byte>> second) noexcept override {
    traffic_.messages += 1;
    traffic_.bytes += bytes.size();
    progress_[ticket] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    if (!started(ticket, RequestKind::send, request, send(request, target, bytes)) || !second) return;
    traffic_.bytes += second->size();
    started(ticket, RequestKind::send, request, send(request, target, *second));
  }

  void release(Ticket ticket, Rank source, SlotNumber slot, const std::optional<SecondRoom>& second) noexcept override {
    const std::span<std::byte> room = second ? slots_[slot].first(second->head) : slots_.with_margin(slot);
    progress_[ticket] = {.has_two_parts = second.has_value(), .slot = slot};
    MPI_Request request = MPI_REQUEST_NULL;
    if (started(ticket, RequestKind::receive, request, receive(request, source, room, slot)) && second)
      started(ticket, RequestKind::receive, request, receive(request, source, second->room, slot));
  }

  void add_words(Ticket ticket, std::span<std::int64_t> words) noexcept override {
    progress_[ticket] = {};
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = words.size() > int_max
                          ? MPI_ERR_COUNT
                          : PMPI_Iallreduce(MPI_IN_PLACE, words.data(), static_cast<int>(words.size()), MPI_INT64_T,
                                            MPI_SUM, comms_.words, &request);
    started(ticket, RequestKind::sum, request, error);
  }

  /// Returns completed communications. Tests a batch of the open requests; if there are more, the next poll tests the
  /// next batch.
  std::size_t poll(std::span<Completion> completions) noexcept override {
    if (!failed_.empty()) return take_failed(completions);
    if (next_ >= requests_.size()) next_ = 0;
    const std::size_t asked = std::min({completions.size(), batch, requests_.size() - next_});
    const std::size_t count = asked == 0 ? 0 : take(ask(static_cast<int>(asked)), completions);
    next_ += asked;
    count > 0 ? backoff_.found_something() : backoff_.found_nothing();
    return count;
  }

  Traffic traffic() const noexcept override { return traffic_; }

 private:
  // Requests per poll; bounds the cost of a poll, about 30 ns per request with MPICH.
  static constexpr std::size_t batch = 16;
  enum class RequestKind : std::uint8_t { send, receive, sum };
  /// An open request: the ticket to which it belongs, and its kind.
  struct Open {
    Ticket ticket;
    RequestKind kind;
  };
  struct TicketProgress {
    std::uint8_t open = 0;  // number of open requests of the ticket
    bool failed = false;
    bool has_two_parts = false;
    SlotNumber slot = 0;
    Bytes arrived = 0;
  };
  struct LargeSlot {
    SlotNumber slot;
    MPI_Datatype type;
  };

  /// Records a request, and returns whether it has started. `request` is a reference because the call that makes the
  /// request may be the next argument, and the evaluation order of arguments is unspecified.
  bool started(Ticket ticket, RequestKind kind, const MPI_Request& request, int error) noexcept {
    TicketProgress& progress = progress_[ticket];
    if (error == MPI_SUCCESS) {
      progress.open += 1;
      requests_.push_back(request);
      open_.push_back({ticket, kind});
      return true;
    }
    progress.failed = true;
    if (progress.open == 0) failed_.push_back(ticket);
    return false;
  }

  std::size_t take_failed(std::span<Completion> completions) noexcept {
    std::size_t count = 0;
    for (; !failed_.empty() && count < completions.size(); failed_.pop_back())
      completions[count++] = {.ticket = failed_.back(), .failed = true};
    return count;
  }

  /// Finds the completed requests among the next `asked` requests, and returns their number. For one request PMPI_Test
  /// is used, because it is cheaper.
  int ask(int asked) noexcept {
    int done = 0;
    if (asked > 1) {
      const int error = PMPI_Testsome(asked, &requests_[next_], &done, indices_.data(), statuses_.data());
      if (error == MPI_SUCCESS) {
        for (int i = 0; i < done; ++i) statuses_[static_cast<std::size_t>(i)].MPI_ERROR = MPI_SUCCESS;
        return done;
      }
      int kind_of_error = MPI_SUCCESS;
      PMPI_Error_class(error, &kind_of_error);
      if (kind_of_error == MPI_ERR_IN_STATUS) return done;
    }
    int count = 0;
    for (int i = 0; i < asked; ++i) {
      const auto at = static_cast<std::size_t>(count);
      const int error = PMPI_Test(&requests_[next_ + static_cast<std::size_t>(i)], &done, &statuses_[at]);
      if (error == MPI_SUCCESS && !done) continue;
      indices_[at] = i;
      statuses_[at].MPI_ERROR = error;
      ++count;
    }
    return count;
  }

  /// Handles the completed requests, and closes the gaps that they leave in the list.
  std::size_t take(int done, std::span<Completion> completions) noexcept {
    const std::span indices(indices_.data(), static_cast<std::size_t>(done));
    std::size_t count = 0;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Open open = open_[next_ + static_cast<std::size_t>(indices[i])];
      if (has_ended(open, statuses_[i])) {
        const TicketProgress& progress = progress_[open.ticket];
        completions[count++] = {.ticket = open.ticket,
                                .failed = progress.failed,
                                .size = progress.failed ? 0 : progress.arrived,
                                .data = open.kind == RequestKind::receive ? slots_[progress.slot].data() : nullptr};
      }
    }
    if (indices.size() > 1) std::ranges::sort(indices, std::greater());
    for (const int index : indices) {
      const std::size_t at = next_ + static_cast<std::size_t>(index);
      requests_[at] = requests_.back();
      open_[at] = open_.back();
      requests_.pop_back();
      open_.pop_back();
    }
    return count;
  }

  /// Whether all requests of the ticket have ended. If one part failed, the ticket still waits for the other, which may
  /// write into the caller's memory.
  bool has_ended(const Open& open, const MPI_Status& status) noexcept {
    TicketProgress& progress = progress_[open.ticket];
    progress.open -= 1;
    if (status.MPI_ERROR != MPI_SUCCESS || (open.kind == RequestKind::receive && !has_landed(progress, status)))
      progress.failed = true;
    return progress.open == 0;
  }

  /// Whether a message fits its landing slot. Some MPI libraries truncate a message without an error, so a message that
  /// reaches into the margin did not fit. The first part of a message in two parts says how large the message is.
  bool has_landed(TicketProgress& progress, const MPI_Status& status) const noexcept {
    int count = 0;
    PMPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Count bytes = count;
    if (count == MPI_UNDEFINED) PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    progress.arrived += static_cast<Bytes>(bytes);
    return progress.has_two_parts || progress.arrived <= slots_[progress.slot].size();
  }

  int send(MPI_Request& request, Rank target, std::span<const std::byte> bytes) noexcept {
    const Addresses::Address to = addresses_.of_target(target, tag_);
    if (bytes.size() <= int_max)
      return PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to.process, to.tag, comms_.messages,
                        &request);
    MPI_Datatype type = large_type(bytes.size());
    if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
    const int error = PMPI_Isend(bytes.data(), 1, type, to.process, to.tag, comms_.messages, &request);
    PMPI_Type_free(&type);  // MPI frees the type when the open send has ended
    return error;
  }

  int receive(MPI_Request& request, Rank source, std::span<std::byte> room, SlotNumber slot) noexcept {
    const Addresses::Address from = addresses_.of_source(source, tag_);
    if (room.size() <= int_max)
      return PMPI_Irecv(room.data(), static_cast<int>(room.size()), MPI_BYTE, from.process, from.tag, comms_.messages,
                        &request);
    const auto large = std::ranges::find(large_slots_, slot, &LargeSlot::slot);
    const bool is_slot = large != large_slots_.end() && room.size() == slots_.with_margin(slot).size();
    MPI_Datatype type = is_slot ? large->type : large_type(room.size());
    if (type == MPI_DATATYPE_NULL) return MPI_ERR_TYPE;
    const int error = PMPI_Irecv(room.data(), 1, type, from.process, from.tag, comms_.messages, &request);
    if (!is_slot) PMPI_Type_free(&type);
    return error;
  }

  /// Cancels or waits for an open request, so that it can no longer write into the slots or the caller's words.
  static void withdraw(MPI_Request& request, RequestKind kind) noexcept {
    if (kind == RequestKind::send) {
      PMPI_Request_free(&request);
      return;
    }
    if (kind == RequestKind::receive) PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  EndpointComms comms_;
  Addresses addresses_;
  HeldTag held_tag_;
  int tag_;
  LandingSlots slots_;
  std::vector<LargeSlot> large_slots_;
  std::vector<TicketProgress> progress_;  // by ticket: the progress of the communication
  std::vector<MPI_Request> requests_;     // open requests, contiguous for MPI's test functions
  std::vector<Open> open_;                // ticket and kind of each open request
  // Tickets of communications that could not start and that poll() has not returned yet.
  std::vector<Ticket> failed_;
  std::size_t next_ = 0;            // index of the first request of the next test
  std::array<int, batch> indices_;  // indices of the completed requests
  std::array<MPI_Status, batch> statuses_;
  Backoff backoff_;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Endpoint> make_mpi_endpoint(const EndpointComms& comms, const Addresses& addresses, HeldTag tag,
                                            std::span<const Bytes> capacities, Ticket tickets, bool shares_cores) {
  return std::make_unique<MpiEndpoint>(comms, addresses, std::move(tag), capacities, tickets, shares_cores);
}

}  // namespace steadfold::transport
