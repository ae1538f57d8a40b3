// The state of a reduction in flight, as plain bytes that travel as they are, and the table of what one can do to it.
// Rank order: a partial knows which rows it covers. Cost: stated by each kind. Source: [S0], [S2]; see
// docs/architecture.md.
//
// A partial of any kind begins with a Header. Types are erased here once: schedules and transports see bytes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "order/interval.hpp"
#include "order/message.hpp"

namespace steadfold::arithmetic {

using order::Bytes;
using order::Count;
using order::Index;

/// Stands for an element count that only the partials know.
inline constexpr Count unknown_count = ~Count{0};

/// Rows of one block of a worker's data: `rows` rows of the partial's columns, the elements of a row contiguous, rows
/// `row_stride` bytes apart. `second` is the other factor of a product sum, or a mask of a byte
/// a row, or null. Never written.
struct Block {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  Count rows = 0;
  Bytes row_stride = 0;
};

/// Takes in one worker's data block by block, in any order of indices, and becomes a partial. One thread at a time.
/// Keeps its memory over `clear`, so that a second round of the same shape does not allocate.
class Builder {
 public:
  virtual ~Builder() = default;
  virtual void clear() = 0;
  /// Takes in the rows begin, begin + 1, ... of the whole job. The block's memory must stay as it is until the next
  /// push has returned, or `write`.
  /// Blocks must not overlap; one that does is reported by the partial's status.
  virtual void push(Index begin, const Block& block) = 0;
  /// Writes the partial of all that was pushed; returns its size, at most the kind's capacity for those rows. Ends the
  /// round: `clear` comes before the next push.
  virtual Bytes write(std::span<std::byte> out) = 0;

  /// A first sweep, where the kind's `survey_bytes` asks for one: takes notice of rows that will be pushed, writes what
  /// was found out about them and forgets it, and learns, for all rounds to come, what all ranks found out.
  virtual void survey(const Block& /*block*/) {}
  virtual void write_survey(std::span<std::byte> /*out*/) {}
  virtual void expect(std::span<const std::byte> /*surveyed*/) {}
};

/// A partial whose rows of values stand apart from its head; null: the head is all there is, in one piece or failed.
struct Split {
  std::span<const std::byte> head;
  const std::byte* values = nullptr;
};

/// Room for one.
struct SplitRoom {
  std::span<std::byte> head;
  std::span<std::byte> values;
};

/// One kind of partial over a fixed number of columns: how its bytes are built, merged and finished. Stateless once
/// made, so that threads may share it. No function here throws after construction.
class PartialKind {
 public:
  virtual ~PartialKind() = default;

  /// Most bytes, header included, of a partial that covers `rows`.
  virtual Bytes capacity(const order::IntervalSet& rows) const = 0;
  /// Room that `write` and `merge` need in `out` for a partial that covers `rows`; at least the capacity.
  virtual Bytes working_capacity(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Bytes of a partial of exactly `rows`; of one at full width where the values have a say.
  virtual Bytes full_size(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Whether that is the same for all rows but none.
  virtual bool has_fixed_size() const noexcept { return true; }
  /// How many rows of values a partial of `rows` stands for: what has not been combined yet.
  virtual Count row_count(const order::IntervalSet& rows) const { return rows.empty() ? 0 : 1; }
  /// Bytes of one row of results, header not included.
  virtual Bytes value_bytes() const noexcept = 0;

  virtual std::unique_ptr<Builder> builder() const = 0;

  /// Bytes that a first sweep over the rows of all ranks finds out, merged byte by byte by maximum; 0: none is needed.
  virtual Bytes survey_bytes() const noexcept { return 0; }

  /// Merges two partials into `out`, which overlaps neither; `left` stands before `right` in rank order where that
  /// counts. Statuses merge by maximum; different digests are a mismatch; on any status but ok only a header is
  /// written. Returns the size; a result that does not fit `out` has status transport_failed.
  virtual Bytes merge(std::span<const std::byte> left, std::span<const std::byte> right,
                      std::span<std::byte> out) const = 0;

  /// Turns the partial of all `element_count` rows (unknown_count: as many as there are) into the result's values.
  /// `spare` is room for as many values more. Any status but ok leaves `values` without meaning.
  virtual Status finish(std::span<const std::byte> partial, Count element_count, std::byte* values,
                        std::byte* spare) const = 0;

  /// Whether partials may have their values apart, so that wide rows need not be copied: then what follows is offered.
  /// A partial in one piece is its head with the values behind it.
  virtual bool splits() const noexcept { return false; }
  /// Of the head that opens a partial's bytes, at most all of them; and of the values that belong to a head.
  virtual Bytes head_bytes(std::span<const std::byte> partial) const { return partial.size(); }
  virtual Bytes values_bytes(std::span<const std::byte> /*head*/) const { return 0; }
  /// Writes the head of the partial of one row, which is its values; returns its size.
  virtual Bytes write_head_of_row(const Header& /*header*/, Index /*row*/, std::span<std::byte> /*head*/) const {
    return 0;
  }
  /// As `merge`; the room has the working capacity.
  virtual Split merge_split(const Split& /*left*/, const Split& /*right*/, const SplitRoom& /*out*/) const {
    return {};
  }
  /// The same of two partials of a row each that become one, as results have it: into `values`, where the result is
  /// due. Nothing where they are something else. `head` may be that of one of them.
  virtual std::optional<Split> merge_to_result(const Split& /*left*/, const Split& /*right*/,
                                               std::span<std::byte> /*head*/, std::byte* /*values*/) const {
    return std::nullopt;
  }
  /// As `finish`; `values` are the partial's own where it was merged to the result.
  virtual Status finish_split(const Split& /*partial*/, Count /*element_count*/, std::byte* /*values*/,
                              std::byte* /*spare*/) const {
    return Status::unsupported;
  }

  /// For schedules that leave the adding to the transport: how many 64-bit words, added over all ranks, stand for a
  /// partial; 0 where that does not work. The words carry the header too.
  virtual Count word_count() const noexcept { return 0; }
  virtual void to_words(std::span<const std::byte> /*partial*/, std::span<std::int64_t> /*words*/) const {}
  /// Writes the partial that the sums over `rank_count` ranks stand for; returns its size.
  virtual Bytes from_words(std::span<const std::int64_t> /*sums*/, std::uint32_t /*rank_count*/,
                           std::uint64_t /*digest*/, std::span<std::byte> /*out*/) const {
    return 0;
  }
};

/// The header of a slot's bytes; its status is one that there is, whatever arrived.
Header header_of(std::span<const std::byte> bytes) noexcept;
void set_header(std::span<std::byte> bytes, const Header& header) noexcept;

/// The header of a merged partial, and whether its content is to be merged too.
struct MergedHeader {
  Header header;
  bool ok;
};
MergedHeader merge_headers(std::span<const std::byte> left, std::span<const std::byte> right) noexcept;

/// Writes a header alone; returns its size.
Bytes write_failure(std::span<std::byte> out, Header header, Status status) noexcept;

}  // namespace steadfold::arithmetic
