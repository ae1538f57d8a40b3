// The contents of a run's slots. A payload says how their bytes are made, merged and finished, segment by segment. Rank
// order and cost: those of the kind of partial.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "arithmetic/partial.hpp"
#include "schedule/step.hpp"

namespace steadfold::plan {

using arithmetic::Partial;
using arithmetic::Pieces;
using arithmetic::Room;
using order::Bytes;
using order::Rank;
using schedule::Covers;

/// Optional ability of a payload whose segments may be wide: it stores the values of partials and results apart from
/// their heads. Values go directly from their source to their destination, which may be the caller's rows and results.
class ApartPayload {
 public:
  /// Whether the values of this segment are stored apart.
  virtual bool is_apart(std::uint32_t segment) const = 0;
  virtual Bytes head_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  /// Returns the number of bytes of the head at the beginning of a slot's bytes (at most all of them), and the number
  /// of bytes of the values that belong to a head.
  virtual Bytes head_bytes(std::uint32_t segment, std::span<const std::byte> whole, bool is_value) const = 0;
  virtual Bytes values_bytes(std::uint32_t segment, std::span<const std::byte> head, bool is_value) const = 0;
  /// Returns the memory for the caller's result, if values of any width may be written there in this run before its
  /// end, else null. The values of a segment begin at the segment's offset; `nullopt` if this rank does not get them.
  /// `finish` writes values to the result if its argument `out` says so. `merge_to_result` does so too, and may
  /// decline: see arithmetic::ValuesApart.
  virtual std::byte* result() const = 0;
  virtual std::optional<Bytes> result_offset(std::uint32_t segment) const = 0;
  virtual std::optional<Partial> merge_to_result(std::uint32_t segment, const Partial& left, const Partial& right,
                                                 std::span<std::byte> head, std::byte* values) = 0;

 protected:
  ~ApartPayload() = default;
};

/// Optional ability of a payload whose partials the transport can add as integers; see arithmetic::AddedWords.
class WordPayload {
 public:
  virtual std::size_t word_count(std::uint32_t segment) const = 0;
  virtual void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) = 0;
  virtual Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) = 0;

 protected:
  ~WordPayload() = default;
};

/// A merge that was prepared when the plan was made.
struct Preparation {
  // If not null, this prepared merge is used in place of the kind's merge.
  std::unique_ptr<arithmetic::PreparedMerge> merge = nullptr;
  bool finishes = false;  // whether the merge also does the finish that follows it
};

/// Defines the contents of an executor's slots: partials and values, whose bytes begin with a Header. Segments are
/// ranges of columns.
class Payload {
 public:
  virtual ~Payload() = default;

  /// Returns the largest size in bytes of a message that covers these rows, or of the memory needed to compute it, if
  /// that is larger.
  virtual Bytes partial_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes working_capacity(const Covers& covers, std::uint32_t segment) const = 0;
  virtual Bytes value_capacity(std::uint32_t segment) const = 0;
  /// Returns the number of bytes needed to merge any of these partials in any order. The number may be greater than the
  /// size of the merged partial of all parts.
  virtual Bytes working_capacity_of_any(std::span<const Covers> parts, std::uint32_t segment) const = 0;

  /// Writes the partial of this rank's rows, or of a part of them, to `out`, which is contiguous. Merges and finishes
  /// also write to `out`; they are done in pieces: see arithmetic::PartialKind.
  virtual Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) = 0;
  virtual Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                              Pieces& pieces) = 0;
  /// Finishes a partial: writes the value of the rows of the ranks that `covers` names, or of all ranks' rows if it
  /// names none.
  virtual Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                               Pieces& pieces) = 0;
  /// Return the number of columns of a segment, and of a piece. 0: the payload does its work in one piece.
  virtual order::Count columns(std::uint32_t /*segment*/) const { return 0; }
  virtual order::Count piece_columns(std::uint32_t /*segment*/) const { return 0; }

  /// Merges two partials, all pieces at once. For operators that do not postpone work.
  Partial merge(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out) {
    Pieces whole;
    return merge_piece(segment, left, right, out, whole);
  }
  Partial finish(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out) {
    Pieces whole;
    return finish_piece(segment, covers, partial, out, whole);
  }

  /// Prepares a merge of partials of these rows for all runs. If the next step finishes the merged
  /// partial and no other step reads the partial, `finish` says which rows the finished values cover. Otherwise
  /// `finish` is null.
  virtual Preparation prepare_merge(std::uint32_t /*segment*/, const Covers& /*left*/, const Covers& /*right*/,
                                    const Covers* /*finish*/) {
    return {};
  }

  /// Return the payload's optional abilities; null if the payload lacks the ability.
  virtual ApartPayload* apart() noexcept { return nullptr; }
  virtual WordPayload* words() noexcept { return nullptr; }
};

}  // namespace steadfold::plan
