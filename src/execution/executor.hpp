// Carries out a schedule's steps on real bytes: slots, what they hold, and an endpoint to move them.
// Rank order: that of the steps. Cost: one virtual call per step; nothing is allocated once made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arithmetic/partial.hpp"
#include "schedule/interpreter.hpp"
#include "transport/transport.hpp"

namespace steadfold::execution {

using arithmetic::Partial;
using arithmetic::Room;
using order::Bytes;
using order::Rank;
using schedule::Covers;

/// What a merge or finish returns that wants to be called again.
inline bool is_nothing(const Partial& partial) noexcept { return partial.head.data() == nullptr; }

/// What a payload offers whose segments may be so wide that values stand apart from the heads of partials and values.
/// They travel from where they are to where they are due, and may be the caller's own rows and results.
class ApartPayload {
 public:
  /// Whether they do in this segment.
  virtual bool is_apart(std::uint32_t segment) const = 0;
  virtual Bytes head_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  /// Bytes of the head that opens a slot's bytes, at most all of them; and of the values that belong to a head.
  virtual Bytes head_bytes(std::uint32_t segment, std::span<const std::byte> whole, bool is_value) const = 0;
  virtual Bytes values_bytes(std::uint32_t segment, std::span<const std::byte> head, bool is_value) const = 0;
  /// Where values, however narrow, may be written in this run as soon as they are known; null: nowhere yet. A segment's
  /// stand there from its offset on; nothing: this rank does not get them. `finish` writes them there if its room says
  /// so. So does this merge, which may decline: see arithmetic::ValuesApart.
  virtual std::byte* result() const = 0;
  virtual std::optional<Bytes> result_offset(std::uint32_t segment) const = 0;
  virtual std::optional<Partial> merge_to_result(std::uint32_t segment, const Partial& left, const Partial& right,
                                                 std::span<std::byte> head, std::byte* values) = 0;

 protected:
  ~ApartPayload() = default;
};

/// What a payload offers whose merges and finishes may take long; see arithmetic::InPieces.
class PiecewisePayload {
 public:
  /// Columns of a piece in this segment; 0: there are no pieces.
  virtual order::Count piece_columns(std::uint32_t segment) const = 0;
  virtual order::Count columns(std::uint32_t segment) const = 0;
  /// Whether the operator of this run may want to be called later: then a wide merge has pieces whoever waits for it.
  virtual bool may_postpone() const = 0;
  /// The next piece of Payload::merge and `finish`. While there is more, what is returned says nothing.
  virtual Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                              arithmetic::Pieces& pieces) = 0;
  virtual Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                               arithmetic::Pieces& pieces) = 0;

 protected:
  ~PiecewisePayload() = default;
};

/// What a payload offers whose partials the transport can add; see arithmetic::AddedWords.
class WordPayload {
 public:
  virtual std::size_t word_count(std::uint32_t segment) const = 0;
  virtual void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) = 0;
  virtual Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) = 0;

 protected:
  ~WordPayload() = default;
};

/// What a payload offers for one of a program's merges.
struct Preparation {
  std::unique_ptr<arithmetic::PreparedMerge> merge = nullptr;  // null: nothing; else it takes precedence
  bool finishes = false;                                       // it may finish too
};

/// What an executor's slots hold: partials and values, whose bytes begin with a Header. Segments are ranges of
/// columns.
class Payload {
 public:
  virtual ~Payload() = default;

  /// Most bytes of a message with the rows that it covers, and the room that computing it takes.
  virtual Bytes partial_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes working_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes value_capacity(std::uint32_t segment) const = 0;
  /// The room that merging some of these takes, in whatever order they come; all of them may take more.
  virtual Bytes working_capacity_of_any(std::span<const Covers> parts, std::uint32_t segment) const = 0;

  /// Each writes to `out`. `lift` takes this rank's rows, or a part of them; its room is in one piece. A merge or
  /// finish may return nothing, not even a head: the next call, for the same step, gets the same arguments, unchanged
  /// in memory.
  virtual Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) = 0;
  virtual Partial merge(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out) = 0;
  /// The value of the rows that `covers` names, or of all ranks' rows where it names none.
  virtual Partial finish(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out) = 0;

  /// Prepares a merge that runs will have, of partials of these rows. `finish` says what the values made of it cover,
  /// if the next step finishes it and no other reads it.
  virtual Preparation prepare_merge(std::uint32_t /*segment*/, const Covers& /*left*/, const Covers& /*right*/,
                                    const Covers* /*finish*/) {
    return {};
  }

  /// What only some payloads offer; null where this one does not.
  virtual ApartPayload* apart() noexcept { return nullptr; }
  virtual WordPayload* words() noexcept { return nullptr; }
  virtual PiecewisePayload* pieces() noexcept { return nullptr; }
};

/// One rank's slots, bound to an endpoint of `transport` under `tag`. Payload and program must outlive it. `ports`: how
/// many messages a rank sends, and receives, at once; for the count of rounds.
class Executor final : public schedule::Machine {
 public:
  Executor(const schedule::Program& program, Payload& payload, transport::Transport& transport, std::uint32_t tag,
           std::uint32_t ports = 1);

  /// Before each run.
  void begin() noexcept;
  /// Goes on with the run; see Interpreter::advance. `bounded`: by one piece of merges and finishes, or by as many
  /// steps as take no longer together.
  bool advance(schedule::Interpreter& interpreter, bool bounded);

  bool compute(const schedule::Step& step) override;
  void start(const schedule::Step& step, std::uint32_t ticket) override;
  void poll(schedule::Tickets& tickets) override;

  /// The value of a segment, where the program has one on this rank; else nothing. Cost: O(1).
  Partial value(std::uint32_t segment) const noexcept {
    const std::uint32_t place = value_places_[segment];
    return place == schedule::Program::no_place ? Partial{} : places_[place].held;
  }
  /// The worst status that this rank saw in the run.
  Status status() const noexcept { return status_; }

  /// While on, every message is stamped with its logical time, for which it is copied.
  void trace(bool on);
  std::uint32_t rounds() const noexcept { return rounds_; }
  transport::Traffic traffic() const noexcept { return endpoint_->traffic(); }

 private:
  struct SlotMemory {
    std::byte* data = nullptr;
    Bytes capacity = 0;
    Partial held = {};          // begins at `data`
    std::uint32_t ready = 0;    // logical time, while tracing
    std::uint32_t scratch = 0;  // which, of partials
  };

  /// A wave of the program, and how many of its messages have come in this run.
  struct WaveProgress {
    transport::Ticket first;
    transport::Ticket count;
    transport::Ticket come = 0;
  };

  /// What the end of a communication asks for, if it did not fail.
  enum class CompletionAction : std::uint8_t { nothing, lands_whole, other };

  /// The places that a step names on this rank, looked up once, and what else is the same in every run.
  struct Resolved {
    SlotMemory* target = nullptr;
    SlotMemory* left = nullptr;
    SlotMemory* right = nullptr;
    Bytes result_offset = 0;  // of the target's values in the result
    float work = 0;           // in pieces
    arithmetic::PreparedMerge* merge = nullptr;
    transport::SlotNumber number = 0;  // of the target, a landing slot
    CompletionAction ending = CompletionAction::other;
    bool is_apart = false;   // the values of the target stand apart
    bool is_alone = false;   // a message of one slot
    bool to_result = false;  // the step writes the result's values and no more, in a run in which that may be
    bool finishes = false;   // the prepared merge carries out the next step, its finish, too
  };

  Bytes most_in_message(const schedule::Step& step, std::size_t slots) const;
  /// What the partials that a wave's merges bring together cover, in one segment.
  struct Brought {
    std::uint32_t segment;
    std::vector<Covers> parts;
  };
  std::vector<Brought> brought_together() const;
  void make_slots();
  void resolve_steps();
  void find_ways_to_result();
  void prepare_merges();
  float work_of(const schedule::Step& step) const;
  std::vector<bool> find_finishes_of_merges() const;
  void compute_lift(const schedule::Step& step, const Resolved& at);
  /// False: there is more to do.
  bool compute_finish(const schedule::Step& step, const Resolved& at);
  bool compute_merge(const schedule::Step& step, const Resolved& at);
  bool comes_in_pieces(const Resolved& at) const noexcept { return (bounded_ || may_postpone_) && at.work > 1; }
  /// What has been done of the step's segment.
  arithmetic::Pieces& pieces_of(const schedule::Step& step) {
    if (!pieces_.more) pieces_ = {.most = piecewise_->piece_columns(step.target.segment)};
    return pieces_;
  }
  void compute_copy(const schedule::Step& step, const Resolved& at);
  bool is_apart(schedule::Slot slot) const { return apart_ != nullptr && apart_->is_apart(slot.segment); }
  Partial taken_apart(schedule::Slot slot, std::span<const std::byte> whole, const std::byte* values) const;
  Bytes values_bytes(schedule::Slot slot, const Partial& partial) const;
  std::span<const std::byte> values_of(const schedule::Step& send);
  Room room_for(const schedule::Step& step, const Resolved& at, std::byte* data) const;
  /// Where the step writes the result's values; null if it writes something else too, or may not do so yet.
  std::byte* way_to_result(const Resolved& at) const {
    return at.to_result && result_ != nullptr ? result_ + at.result_offset : nullptr;
  }
  bool merge_to_result(const schedule::Step& step, const Resolved& at, std::byte* values);
  bool merge_as_prepared(const schedule::Step& step, const Resolved& at);
  bool merge_and_finish(const schedule::Step& step, const Resolved& at);
  /// A merge into one of its operands goes to scratch memory.
  std::byte*& room_of_merge(const Resolved& at) {
    return at.target == at.left || at.target == at.right ? scratch_[at.target->scratch] : at.target->data;
  }
  std::span<std::byte> second_room(const schedule::Step& receive, const Resolved& at);
  void land_apart(SlotMemory& to, const schedule::Step& step, const transport::Completion& done) noexcept;
  const Resolved& resolved(const schedule::Step& step) const noexcept { return resolved_[program_->index_of(step)]; }
  /// Returns the ticket that is complete now: in a wave the one whose turn it is.
  transport::Ticket take(const transport::Completion& done);
  transport::Ticket turn_of(transport::Ticket received) noexcept;
  /// Fills the slots of the receive `turn`: the message's own but in a wave.
  void land(const transport::Completion& done, transport::Ticket turn) noexcept;
  void take_traced(const transport::Completion& done, schedule::Tickets& tickets);
  void serve(const transport::Completion& arrived);
  std::span<const std::byte> message_bytes(std::uint32_t ticket);
  void land_whole(SlotMemory& place, const transport::Completion& done) noexcept {
    place.data = done.data;
    written(place, done.size, 0);
  }
  /// `size` bytes of the place, values behind the head.
  void written(SlotMemory& place, Bytes size, std::uint32_t ready) noexcept {
    written(place, Partial{{place.data, size}, nullptr}, ready);
  }
  void written(SlotMemory& place, const Partial& partial, std::uint32_t ready) noexcept {
    place.held = partial;
    place.ready = ready;
    rounds_ = std::max(rounds_, ready);
    status_ = worse(status_, arithmetic::status_of(partial.head));
  }

  const schedule::Program* program_;
  Payload* payload_;
  ApartPayload* apart_;                       // the payload's, if it has one
  PiecewisePayload* piecewise_;               // the same
  bool bounded_ = false;                      // `advance` now
  bool may_postpone_ = false;                 // in this run
  float spent_ = 0;                           // of its bound
  arithmetic::Pieces pieces_{.most = 0};      // of the step that comes next, if it has begun
  std::byte* result_ = nullptr;               // where it may be written in this run
  const schedule::Step* finished_ = nullptr;  // the step that the merge before it has carried out
  bool asks_to_leave_ = false;                // the endpoint wants that
  bool has_left_ = false;                     // and has let it go in this run
  std::vector<std::unique_ptr<arithmetic::PreparedMerge>> prepared_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  std::vector<SlotMemory> places_;           // by the program's places
  std::vector<std::uint32_t> value_places_;  // by segment, of its value
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> scratch_;               // one per size
  Bytes head_room_ = 0;                           // of slots whose values stand apart
  std::vector<Resolved> resolved_;                // by step
  std::vector<WaveProgress> waves_;               // in the order of their tickets
  std::vector<std::vector<std::int64_t>> words_;  // by ticket, of add_words
  std::vector<std::vector<std::byte>>
      staged_;  // by ticket, of messages sent that are copied: of several slots, stamped
  Status status_ = Status::ok;

  static constexpr std::size_t batch = 64;
  std::vector<transport::Completion> completions_;  // of one poll

  /// While tracing: logical times, and what is kept by ticket for them.
  bool tracing_ = false;
  std::vector<std::optional<transport::Completion>> arrivals_;  // messages received, some before their turn
  std::uint32_t next_receive_ = 0;                              // all receives below this ticket had their turn
  std::vector<std::uint32_t> send_ports_;                       // the first round in which each is free
  std::vector<std::uint32_t> receive_ports_;
  std::uint32_t rounds_ = 0;
};

}  // namespace steadfold::execution
