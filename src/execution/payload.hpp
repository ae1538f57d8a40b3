// What the slots of a run hold: a payload says how their bytes are made, merged and finished, segment by segment.
// Rank order and cost: those of the kind of partial.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "arithmetic/partial.hpp"
#include "schedule/step.hpp"

namespace steadfold::execution {

using arithmetic::Partial;
using arithmetic::Pieces;
using arithmetic::Room;
using order::Bytes;
using order::Rank;
using schedule::Covers;

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

/// What a payload offers whose partials the transport can add; see arithmetic::AddedWords.
class WordPayload {
 public:
  virtual std::size_t word_count(std::uint32_t segment) const = 0;
  virtual void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) = 0;
  virtual Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) = 0;

 protected:
  ~WordPayload() = default;
};

/// A merge that was prepared when the program was made.
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

  /// Each writes to `out`. `lift` takes this rank's rows, or a part of them; its room is in one piece. Merges and
  /// finishes come in pieces: see arithmetic::PartialKind.
  virtual Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) = 0;
  virtual Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                              Pieces& pieces) = 0;
  /// The value of the rows that `covers` names, or of all ranks' rows where it names none.
  virtual Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                               Pieces& pieces) = 0;
  /// How many columns a segment has, and a piece of them; 0: there are no pieces.
  virtual order::Count columns(std::uint32_t /*segment*/) const { return 0; }
  virtual order::Count piece_columns(std::uint32_t /*segment*/) const { return 0; }

  /// All of it at once, for operators that do not postpone.
  Partial merge(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out) {
    Pieces whole;
    return merge_piece(segment, left, right, out, whole);
  }
  Partial finish(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out) {
    Pieces whole;
    return finish_piece(segment, covers, partial, out, whole);
  }

  /// Prepares a merge that runs will have, of partials of these rows. `finish` says what the values made of it cover,
  /// if the next step finishes it and no other reads it.
  virtual Preparation prepare_merge(std::uint32_t /*segment*/, const Covers& /*left*/, const Covers& /*right*/,
                                    const Covers* /*finish*/) {
    return {};
  }

  /// What only some payloads offer; null where this one does not.
  virtual ApartPayload* apart() noexcept { return nullptr; }
  virtual WordPayload* words() noexcept { return nullptr; }
};

}  // namespace steadfold::execution
