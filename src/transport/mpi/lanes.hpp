// Lanes: the words of a window through which an endpoint's small messages pass. A lane leads from one rank to another
// and has a few mailboxes, used in turn.
// Rank order: messages of a lane arrive in the order sent. Cost: a write of 8 bytes per 4 bytes of the message, one
// more word, and one word back as a credit. Memory: one lane per rank on every rank, so O(ranks).
// Source: Lapillonne & Peltekov 2013 (flags beside data), End et al. (one-sided, notified).
//
// Every word of a mailbox has 32 bits of data and 32 bits of the message's number. So a reader sees which words have
// arrived, in any order. The first word has the size of the message in bytes. The number counts the messages of the
// mailbox and wraps around after 2^32. Therefore every 256th message writes the whole mailbox, so that no old word can
// have a number that comes again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/mpi/window.hpp"

namespace steadfold::transport {

constexpr Bytes default_largest = 2048;  // bytes of a message; the messages of one-shot calls fit
constexpr Bytes default_pool = Bytes{4} << 20;

struct RmaSettings {
  Bytes largest = default_largest;  // lanes lead to slots up to this capacity
  Bytes pool = default_pool;        // bytes of every rank's window
  Reads reads = Reads::atomically;
  std::uint64_t first = 0;  // the number of the first message; tests set it to test the wrap-around
};

/// The information about a rank's lanes that the other ranks need.
struct LaneNotice {
  static constexpr std::uint64_t no_place = ~std::uint64_t{0};
  std::uint32_t tag = 0;
  std::uint32_t mailbox_words = 0;
  std::uint64_t first = no_place;  // position of its words
  std::uint64_t slots = 0;         // a bit for each of the first 64 slots: lanes lead to it
};

/// One rank's end of an endpoint's lanes. Only the constructor throws or allocates.
class Lanes {
 public:
  static constexpr std::uint64_t mailboxes = 4;  // mailboxes of a lane

  /// Local. If the window has no room left, this rank has no lanes.
  Lanes(std::shared_ptr<Window> window, Rank rank, Rank rank_count, std::span<const Bytes> capacities,
        const RmaSettings& settings);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  LaneNotice notice(std::uint32_t tag) const noexcept;
  /// Stores a rank's notice.
  void learn(Rank rank, const LaneNotice& notice) noexcept { notices_[static_cast<std::size_t>(rank)] = notice; }
  /// Call it once all notices are stored and all ranks have lanes. `serial`: equal on all ranks, and unique to this
  /// endpoint.
  void connect(std::uint64_t serial) noexcept;
  /// Call it if some rank has no lanes: then the endpoint has none.
  void refuse() noexcept;
  bool are_connected() const noexcept { return are_connected_; }
  std::uint64_t serial() const noexcept { return serial_; }

  /// Whether messages in one part to `slot` of `target`, or from `source` to this rank's `slot`, pass through lanes.
  bool lead_to(Rank target, SlotNumber slot) const noexcept;
  bool lead_from(Rank source, SlotNumber slot) const noexcept;

  enum class Sending : std::uint8_t { started, waits, failed };
  /// Copies a message and starts to write it, unless it must wait for a mailbox or for memory for the copy.
  Sending send(Ticket ticket, Rank target, std::span<const std::byte> bytes) noexcept;
  /// Looks for credits, so that messages that wait for a mailbox can be sent.
  void look_for_credits() noexcept;
  struct Sent {
    Ticket ticket;
    bool failed;
  };
  /// The next message whose writing has ended; returns each once.
  std::optional<Sent> take_sent() noexcept;

  struct Arrival {
    Bytes size = 0;
    std::span<const Word> words;  // its data, 4 bytes per word, until the next look; empty if too large
    bool failed = false;
  };
  /// The next message from `source`, if all of it has arrived. Call `accept` after it.
  std::optional<Arrival> look(Rank source) noexcept;
  /// Gives back the mailbox of the last message that look() found.
  void accept(Rank source) noexcept;

  /// Tells that no more messages are awaited. `is_idle`: all started operations have ended.
  void rest(bool is_idle) noexcept;
  bool are_at_rest() const noexcept { return is_at_rest_; }
  /// Whether the lanes are at rest, and no write of this rank and no credit for it is still open.
  bool have_settled() noexcept;
  bool is_reported = false;  // whether the other ranks know that the lanes have settled

 private:
  struct Incoming {
    std::uint64_t received = 0;
    MPI_Request crediting = MPI_REQUEST_NULL;
    bool owes = false;  // a credit could not be written yet
  };
  struct Copy {
    Ticket ticket = 0;
    MPI_Request writing = MPI_REQUEST_NULL;
    bool is_used = false;
    bool failed = false;
  };
  static constexpr std::size_t copies = 4;       // messages that are being written
  static constexpr std::size_t first_look = 48;  // words: a sum of a few doubles is read at once
  static constexpr std::uint64_t period = 256;   // every so many messages, one writes the whole mailbox
  static std::uint64_t words_for(Bytes bytes) noexcept { return 1 + (bytes + 3) / 4; }

  std::uint64_t word_count() const noexcept { return ranks_ * (1 + mailboxes * mailbox_words_); }
  std::uint64_t place_of(const LaneNotice& notice, Rank source, std::uint64_t message) const noexcept;
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
  std::uint64_t mailbox_words_ = 0;  // words of this rank's mailboxes
  std::uint64_t slots_ = 0;
  std::optional<std::uint64_t> first_;
  bool are_connected_ = false;
  std::uint64_t serial_ = 0;
  std::vector<LaneNotice> notices_;  // by rank
  std::vector<std::uint64_t> sent_;  // number of messages, by target
  std::vector<Incoming> incoming_;   // by source
  std::array<Copy, copies> copies_;
  std::size_t copy_words_ = 0;  // words of each copy; no rank has larger mailboxes
  MPI_Request reading_ = MPI_REQUEST_NULL;
  Rank reads_from_ = -1;   // the source whose mailbox is being read
  std::size_t asked_ = 0;  // number of its words being read
  MPI_Request reading_credits_ = MPI_REQUEST_NULL;
  bool reads_credits_ = false;
  bool is_at_rest_ = false;
  bool was_given_up_ = false;
  std::vector<Word> memory_;  // copies of messages to send; then messages read; then the credits read, seen and given
};

}  // namespace steadfold::transport
