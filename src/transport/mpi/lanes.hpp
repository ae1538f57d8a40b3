// Lanes: the words of an MPI window through which an endpoint's small messages pass. A lane leads from one rank to
// another and has a few mailboxes, used in turn.
// Rank order: messages of a lane arrive in the order sent. Cost: a write of 8 bytes per 4 bytes of the message, one
// more word of 8 bytes, and one word back as a credit. Memory: one lane per rank on every rank, so O(ranks).
// Source: Lapillonne & Peltekov 2013 (flags beside data), End et al. (one-sided, notified).
//
// Every word of a mailbox has 32 bits of data and 32 bits of the message's number. So a reader sees which words have
// arrived, in any order. The first word has the size of the message in bytes. The number counts the messages of the
// mailbox and wraps around after 2^32. Therefore every 256th message writes the whole mailbox, so that no old word has
// a number that is used again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/mpi/window.hpp"

namespace steadfold::transport {

constexpr Bytes default_largest = 2048;  // bytes of a message; the messages of one-shot calls fit this limit
constexpr Bytes default_window_bytes = Bytes{4} << 20;

struct RmaSettings {
  Bytes largest = default_largest;            // largest capacity of a slot to which lanes lead, in bytes
  Bytes window_bytes = default_window_bytes;  // bytes of every rank's window
  Reads reads = Reads::atomically;
  std::uint64_t first = 0;  // the number of the first message; tests set it to test the wrap-around
};

/// The information about one rank's lanes that the other ranks need.
struct LaneNotice {
  static constexpr std::uint64_t no_words = ~std::uint64_t{0};
  std::uint32_t tag = 0;
  std::uint32_t mailbox_words = 0;
  std::uint64_t first = no_words;  // position of the rank's first word in its window
  std::uint64_t slots = 0;         // one bit for each of the first 64 slots: whether lanes lead to the slot
};

/// One rank's end of an endpoint's lanes. Only the constructor throws or allocates.
class Lanes {
 public:
  static constexpr std::uint64_t mailboxes = 4;  // number of mailboxes of a lane

  /// Takes words of the window for this rank's lanes. If the window has no room left, this rank has no lanes. Local.
  Lanes(std::shared_ptr<Window> window, Rank rank, Rank rank_count, std::span<const Bytes> capacities,
        const RmaSettings& settings);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  LaneNotice notice(std::uint32_t tag) const noexcept;
  /// Stores the notice of a rank.
  void learn(Rank rank, const LaneNotice& notice) noexcept { notices_[static_cast<std::size_t>(rank)] = notice; }
  /// Connects the lanes. Call this function after all notices are stored, if all ranks have lanes. `serial` is equal on
  /// all ranks and unique to this endpoint.
  void connect(std::uint64_t serial) noexcept;
  /// Turns the lanes off. Call this function if a rank has no lanes; then the endpoint has none.
  void refuse() noexcept;
  bool are_connected() const noexcept { return are_connected_; }
  std::uint64_t serial() const noexcept { return serial_; }

  /// Whether messages in one part to `slot` of `target`, or from `source` to this rank's `slot`, pass through lanes.
  bool lead_to(Rank target, SlotNumber slot) const noexcept;
  bool lead_from(Rank source, SlotNumber slot) const noexcept;

  enum class Sending : std::uint8_t { started, waits, failed };
  /// Copies a message and starts to write the copy, unless the message must wait for a mailbox or for memory for the
  /// copy.
  Sending send(Ticket ticket, Rank target, std::span<const std::byte> bytes) noexcept;
  /// Reads credits, so that messages that wait for a mailbox can be sent.
  void look_for_credits() noexcept;
  struct Sent {
    Ticket ticket;
    bool failed;
  };
  /// Returns the next message whose writing has ended; returns each message once.
  std::optional<Sent> take_sent() noexcept;

  struct Arrival {
    Bytes size = 0;
    // Data of the message, 4 bytes per word, valid until the next look; empty if the message is too large.
    std::span<const Word> words;
    bool failed = false;
  };
  /// Returns the next message from `source`, if all of it has arrived. Call `accept` afterwards.
  std::optional<Arrival> look(Rank source) noexcept;
  /// Gives back the mailbox of the last message that look() returned.
  void accept(Rank source) noexcept;

  /// Says that no more messages are awaited. `is_idle` says that all started operations have ended.
  void rest(bool is_idle) noexcept;
  bool are_at_rest() const noexcept { return is_at_rest_; }
  /// Whether the lanes are at rest, and neither a write of this rank nor a credit for it is still open.
  bool have_settled() noexcept;
  bool is_reported = false;  // whether the other ranks know that the lanes have settled

 private:
  struct Incoming {
    std::uint64_t received = 0;
    MPI_Request crediting = MPI_REQUEST_NULL;
    bool owes = false;  // whether a credit could not be written yet
  };
  struct Copy {
    Ticket ticket = 0;
    MPI_Request writing = MPI_REQUEST_NULL;
    bool is_used = false;
    bool failed = false;
  };
  static constexpr std::size_t copies = 4;       // largest number of messages that are being written at the same time
  static constexpr std::size_t first_look = 48;  // words that are read at first; a sum of a few doubles is read at once
  static constexpr std::uint64_t period = 256;   // of this number of messages, one writes the whole mailbox
  static std::uint64_t words_for(Bytes bytes) noexcept { return 1 + (bytes + 3) / 4; }

  std::uint64_t word_count() const noexcept { return ranks_ * (1 + mailboxes * mailbox_words_); }
  std::uint64_t first_word_of(const LaneNotice& notice, Rank source, std::uint64_t message) const noexcept;
  std::uint32_t number_of(std::uint64_t message) const noexcept;
  std::span<Word> copy_words(std::size_t copy) noexcept;
  std::span<Word> arrived_words() noexcept;
  std::span<Word> credits_read() noexcept;
  std::span<Word> credits_seen() noexcept;
  std::span<Word> credits_given() noexcept;
  void take_credits() noexcept;
  void pay(Rank source) noexcept;
  std::size_t pack(std::span<Word> words, std::uint32_t number, std::span<const std::byte> bytes) const noexcept;
  bool start_reading(Rank source, std::size_t words) noexcept;
  std::size_t words_there(Rank source) noexcept;
  bool has_open_requests() noexcept;

  std::shared_ptr<Window> window_;
  Rank rank_;
  std::uint64_t ranks_;
  std::uint64_t first_message_;
  std::uint64_t mailbox_words_ = 0;  // number of words of one of this rank's mailboxes
  std::uint64_t slots_ = 0;
  std::optional<std::uint64_t> first_;
  bool are_connected_ = false;
  std::uint64_t serial_ = 0;
  std::vector<LaneNotice> notices_;  // notices of the lanes, by rank
  std::vector<std::uint64_t> sent_;  // number of messages sent, by target
  std::vector<Incoming> incoming_;   // state of the lane from each source
  std::array<Copy, copies> copies_;
  std::size_t copy_words_ = 0;  // words of each copy; no rank has larger mailboxes
  MPI_Request reading_ = MPI_REQUEST_NULL;
  Rank reads_from_ = -1;   // the source whose mailbox is being read, or -1
  std::size_t asked_ = 0;  // number of words that are being read
  MPI_Request reading_credits_ = MPI_REQUEST_NULL;
  bool reads_credits_ = false;
  bool is_at_rest_ = false;
  bool was_given_up_ = false;
  // Copies of messages to send, then messages that are read, then the credits that are being read, were seen and were
  // given.
  std::vector<Word> memory_;
};

}  // namespace steadfold::transport
