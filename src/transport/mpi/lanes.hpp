// Lanes: the words of a window through which messages of one endpoint pass. A lane leads from one rank to another and
// has a few mailboxes, used in turn.
// Rank order: messages of a lane arrive in the order sent. Cost: one write of 8 bytes for every 4 of a message and one
// more word, and one word back as a credit. Memory: on every rank a lane per rank, so O(ranks).
// Source: [S2] (flags beside data), [S4] (one-sided, notified).
//
// Every word of a mailbox has 32 bits of data and 32 bits of the message's number, so that a reader sees which words
// have come, in whatever order they do. The first word says how many bytes the message has. The number counts the
// messages of the mailbox and wraps around after 2^32; every 256th message therefore writes all of the mailbox, so that
// no word is ever so old that its number comes again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/mpi/window.hpp"

namespace steadfold::transport {

constexpr Bytes default_largest = 2048;  // of messages that pass through lanes: those of one-shot calls do
constexpr Bytes default_pool = Bytes{4} << 20;

struct RmaSettings {
  Bytes largest = default_largest;  // slots up to this capacity are reached through lanes
  Bytes pool = default_pool;        // bytes of every rank's window
  Reads reads = Reads::atomically;
  std::uint64_t first = 0;  // the number of the first message, for tests of the wrap-around
};

/// What the other ranks must know of a rank's lanes.
struct LaneNotice {
  static constexpr std::uint64_t no_place = ~std::uint64_t{0};
  std::uint32_t tag = 0;
  std::uint32_t mailbox_words = 0;
  std::uint64_t first = no_place;  // of its words
  std::uint64_t slots = 0;         // which of the first 64 are reached through lanes, a bit for each
};

/// One rank's end of an endpoint's lanes. Nothing but the constructor throws or allocates.
class Lanes {
 public:
  static constexpr std::uint64_t mailboxes = 4;  // of a lane

  /// Local. If the window has no room left, there are no lanes.
  Lanes(std::shared_ptr<Window> window, Rank rank, Rank rank_count, std::span<const Bytes> capacities,
        const RmaSettings& settings);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  LaneNotice notice(std::uint32_t tag) const noexcept;
  /// Takes in a rank's notice.
  void learn(Rank rank, const LaneNotice& notice) noexcept { notices_[static_cast<std::size_t>(rank)] = notice; }
  /// All ranks have lanes, and all notices are there. `serial`: equal on all ranks, and of no other endpoint.
  void connect(std::uint64_t serial) noexcept;
  /// Not all ranks have lanes: there are none.
  void refuse() noexcept;
  bool are_connected() const noexcept { return are_connected_; }
  std::uint64_t serial() const noexcept { return serial_; }

  /// Whether messages of one part to `slot` of `target` pass through lanes; those from `source` to this rank's.
  bool lead_to(Rank target, SlotNumber slot) const noexcept;
  bool lead_from(Rank source, SlotNumber slot) const noexcept;

  enum class Sending : std::uint8_t { started, waits, failed };
  /// Copies a message and starts writing it, unless it has to wait: for a mailbox, or for a place for the copy.
  Sending send(Ticket ticket, Rank target, std::span<const std::byte> bytes) noexcept;
  /// Looks for credits, so that what waits for a mailbox can be sent.
  void look_for_credits() noexcept;
  struct Sent {
    Ticket ticket;
    bool failed;
  };
  /// A message whose writing has ended, each once.
  std::optional<Sent> take_sent() noexcept;

  struct Arrival {
    Bytes size = 0;
    std::span<const Word> words;  // its data, four bytes in each, until the next look; none if it is too large
    bool failed = false;
  };
  /// The next message from `source` if it is there in full. To be followed by `accept`.
  std::optional<Arrival> look(Rank source) noexcept;
  /// Gives the mailbox of the message found last back.
  void accept(Rank source) noexcept;

  /// No message is awaited any more. `is_idle`: all that was started has ended.
  void rest(bool is_idle) noexcept;
  bool are_at_rest() const noexcept { return is_at_rest_; }
  /// Whether they are at rest, and nothing that this rank wrote, or that answers it, is still under way.
  bool have_settled() noexcept;
  bool is_reported = false;  // to the other ranks, as settled

 private:
  struct Incoming {
    std::uint64_t received = 0;
    MPI_Request crediting = MPI_REQUEST_NULL;
    bool owes = false;  // a credit that could not be written yet
  };
  struct Copy {
    Ticket ticket = 0;
    MPI_Request writing = MPI_REQUEST_NULL;
    bool is_used = false;
    bool failed = false;
  };
  static constexpr std::size_t copies = 4;       // messages whose writing has not ended
  static constexpr std::size_t first_look = 48;  // words: a sum of a few doubles is read at once
  static constexpr std::uint64_t period = 256;   // of messages that write all of a mailbox
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
  std::uint64_t mailbox_words_ = 0;  // of this rank's
  std::uint64_t slots_ = 0;
  std::optional<std::uint64_t> first_;
  bool are_connected_ = false;
  std::uint64_t serial_ = 0;
  std::vector<LaneNotice> notices_;  // by rank
  std::vector<std::uint64_t> sent_;  // messages, by target
  std::vector<Incoming> incoming_;   // by source
  std::array<Copy, copies> copies_;
  std::size_t copy_words_ = 0;  // of each copy: no rank has larger mailboxes
  MPI_Request reading_ = MPI_REQUEST_NULL;
  Rank reads_from_ = -1;   // the source whose mailbox is being read
  std::size_t asked_ = 0;  // words of it
  MPI_Request reading_credits_ = MPI_REQUEST_NULL;
  bool reads_credits_ = false;
  bool is_at_rest_ = false;
  bool was_given_up_ = false;
  std::vector<Word> memory_;  // copies, then what arrived, and the credits read, seen and given
};

}  // namespace steadfold::transport
