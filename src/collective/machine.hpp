// Carries out a schedule's steps on real bytes: slots, what they hold, and an endpoint to move them.
// Rank order: that of the steps. Cost: a virtual call a step; nothing is allocated once made. Source: ours.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "arithmetic/partial.hpp"
#include "schedule/interpreter.hpp"
#include "transport/transport.hpp"

namespace steadfold::collective {

using arithmetic::Split;
using arithmetic::SplitRoom;
using order::Bytes;
using order::Rank;
using schedule::Covers;

/// What the slots of a machine hold, as bytes that begin with a Header. Segments are ranges of columns.
class Content {
 public:
  virtual ~Content() = default;

  /// Most bytes of a message with the rows that it covers, and the room that computing it takes.
  virtual Bytes partial_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes working_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes value_capacity(std::uint32_t segment) const = 0;

  /// Each writes `out` and returns the size. `lift` takes this rank's rows, or a part of them.
  virtual Bytes lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) = 0;
  virtual Bytes merge(std::uint32_t segment, std::span<const std::byte> left, std::span<const std::byte> right,
                      std::span<std::byte> out) = 0;
  /// Of what `covers` says; of all ranks where it is empty.
  virtual Bytes finish(std::uint32_t segment, const Covers& covers, std::span<const std::byte> partial,
                       std::span<std::byte> out) = 0;

  /// Whether a segment's values are so wide that they stand apart from the heads of partials and values: they travel
  /// from where they are to where they are due, and may be the caller's own rows and results. The calls below take the
  /// place of those above then; `lift_split` has room for the partial in one piece, `lone` is as for PartialKind.
  virtual bool is_split(std::uint32_t /*segment*/) const { return false; }
  virtual Bytes head_capacity(const Covers& /*covers*/, std::uint32_t /*segment*/) const { return 0; }
  /// Of what opens a slot's bytes, at most all of them; and of the values that belong to a head.
  virtual Bytes head_bytes(std::uint32_t /*segment*/, std::span<const std::byte> bytes, bool /*is_value*/) const {
    return bytes.size();
  }
  virtual Bytes values_bytes(std::uint32_t /*segment*/, std::span<const std::byte> /*head*/, bool /*is_value*/) const {
    return 0;
  }
  virtual Split lift_split(std::uint32_t /*segment*/, const Covers& /*covers*/, std::span<std::byte> /*out*/) {
    return {};
  }
  virtual Split merge_split(std::uint32_t /*segment*/, const Split& /*left*/, const Split& /*right*/,
                            const SplitRoom& /*out*/) {
    return {};
  }
  virtual Split finish_split(std::uint32_t /*segment*/, const Covers& /*covers*/, const Split& /*partial*/,
                             const SplitRoom& /*out*/) {
    return {};
  }
  /// Where the segment's values, however narrow, may be written as soon as they are known; null: nowhere yet. Where
  /// there is a place, `finish_split` is called for it, and this, which may decline: see PartialKind.
  virtual std::byte* result(std::uint32_t /*segment*/) const { return nullptr; }
  virtual std::optional<Split> merge_to_result(std::uint32_t /*segment*/, const Split& /*left*/, const Split& /*right*/,
                                               std::span<std::byte> /*head*/) {
    return std::nullopt;
  }

  /// See PartialKind; 0 where the transport cannot do the adding.
  virtual std::size_t word_count(std::uint32_t /*segment*/) const { return 0; }
  virtual void to_words(std::uint32_t /*segment*/, std::span<const std::byte> /*partial*/,
                        std::span<std::int64_t> /*words*/) {}
  virtual Bytes from_words(std::uint32_t /*segment*/, std::span<const std::int64_t> /*sums*/,
                           std::span<std::byte> /*out*/) {
    return 0;
  }
};

/// One rank's slots, bound to an endpoint of `transport` under `tag`. Content and program must outlive it. `ports`: to
/// send and to receive, for the count of rounds.
class SlotMachine final : public schedule::Machine {
 public:
  SlotMachine(const schedule::Program& program, Content& content, transport::Transport& transport, std::uint32_t tag,
              std::uint32_t ports = 1);

  /// Before each run.
  void begin() noexcept;

  void compute(const schedule::Step& step) override;
  void start(const schedule::Step& step, std::uint32_t ticket) override;
  bool completed(const schedule::Step& step, std::uint32_t ticket) override;

  /// The value of a segment, where the program has one on this rank; else nothing. Cost: O(1).
  Split value(std::uint32_t segment) const noexcept {
    const std::uint32_t place = value_places_[segment];
    return place == schedule::Program::no_place ? Split{} : held(places_[place]);
  }
  /// The worst status that this rank saw in the run.
  Status status() const noexcept { return status_; }

  /// While on, every message is stamped with its logical time, for which it is copied.
  void trace(bool on);
  std::uint32_t rounds() const noexcept { return rounds_; }
  transport::Traffic traffic() const noexcept { return endpoint_->traffic(); }

 private:
  struct Place {
    std::byte* data = nullptr;
    Bytes capacity = 0;
    Bytes size = 0;                     // of the head, where values stand apart
    std::uint32_t ready = 0;            // logical time, while tracing
    std::uint32_t scratch = 0;          // which, of partials
    const std::byte* values = nullptr;  // where they stand apart
  };

  Bytes most_in_message(const schedule::Step& step, std::size_t slots) const;
  void make_slots();
  void find_ways_to_result();
  void compute_merge(const schedule::Step& step);
  void compute_split(const schedule::Step& step);
  void copy_split(const Place& from, Place& to, schedule::Slot slot);
  Split split(schedule::Slot slot, std::span<const std::byte> bytes, const std::byte* values) const;
  Bytes values_bytes(schedule::Slot slot, const Split& split) const;
  std::span<const std::byte> values_of(const schedule::Step& send);
  bool is_split(schedule::Slot slot) const { return split_segments_[slot.segment]; }
  static Split held(const Place& place) { return {{place.data, place.size}, place.values}; }
  SplitRoom room_of(const Place& place) const {
    return {{place.data, head_room_}, {place.data + head_room_, place.capacity - head_room_}};
  }
  /// Where the values of a value slot go.
  std::byte* values_room(const Place& place, schedule::Slot slot) const;
  /// The place of the result, if what the step writes is no more than that.
  std::byte* way_to_result(const schedule::Step& step) const {
    return to_result_[program_->index_of(step)] ? result(step.target.segment) : nullptr;
  }
  std::byte* result(std::uint32_t segment) const { return lifts_first_[segment] ? content_->result(segment) : nullptr; }
  bool merge_to_result(const schedule::Step& step);
  std::span<std::byte> second_room(const schedule::Step& receive);
  void land_split(const schedule::Step& step, Bytes arrived) noexcept;
  Place& target(const schedule::Step& step) { return places_[program_->places(step).target]; }
  Place& left(const schedule::Step& step) { return places_[program_->places(step).left]; }
  Place& right(const schedule::Step& step) { return places_[program_->places(step).right]; }
  bool has_turn(std::uint32_t ticket, transport::Progress progress, Bytes arrived);
  void land(std::uint32_t ticket, transport::Progress progress, Bytes arrived) noexcept;
  std::span<const std::byte> message_bytes(std::uint32_t ticket);
  void written(Place& place, Bytes size, std::uint32_t ready) noexcept;
  void written(Place& place, const Split& split, std::uint32_t ready) noexcept {
    written(place, split.head.size(), ready);
    place.values = split.values;
  }

  const schedule::Program* program_;
  Content* content_;
  Rank rank_count_;
  std::unique_ptr<transport::Endpoint> endpoint_;
  std::vector<Place> places_;                // by the program's places
  std::vector<std::uint32_t> value_places_;  // by segment, of its value
  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::byte*> scratch_;  // a size each
  std::vector<bool> split_segments_;
  Bytes head_room_ = 0;            // of slots whose values stand apart
  std::vector<bool> to_result_;    // by step: whether what it writes are the result's values and no more
  std::vector<bool> lifts_first_;  // by segment: all rows are lifted before the result, which may take their place
  std::vector<std::vector<std::int64_t>> words_;  // by ticket, of add_words
  std::vector<std::vector<std::byte>>
      staged_;  // by ticket, of messages sent that are copied: of several slots, stamped
  Status status_ = Status::ok;

  /// While tracing: logical times, and what is kept by ticket for them.
  struct Arrival {
    transport::Progress progress = transport::Progress::pending;
    Bytes bytes = 0;
  };
  bool tracing_ = false;
  std::vector<Arrival> arrivals_;          // messages received, some before their turn
  std::uint32_t next_receive_ = 0;         // all receives below this ticket had their turn
  std::vector<std::uint32_t> send_ports_;  // the first round in which each is free
  std::vector<std::uint32_t> receive_ports_;
  std::uint32_t rounds_ = 0;
};

}  // namespace steadfold::collective
