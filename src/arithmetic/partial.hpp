// Partials (partial results), which are plain bytes that can be sent unchanged, and the interfaces of their functions:
// building, merging and finishing. Rank order: a partial knows which rows it covers. Cost: stated by each kind. Source:
// Stelz 2022, Lapillonne & Peltekov 2013; see docs/architecture.md.
//
// A partial of any kind begins with a Header. Element types are hidden here: schedules and transports see only bytes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "order/interval.hpp"
#include "order/message.hpp"

namespace steadfold::arithmetic {

using order::Bytes;
using order::Count;
using order::Index;

/// Stands for an element count that the caller does not know; only the partials have it.
inline constexpr Count unknown_count = ~Count{0};

/// Whether a partial has all `element_count` rows. Returns `gap` if it has too few, and `overlap` if it has too many.
inline Status check_row_count(Count rows, Count element_count) noexcept {
  if (element_count == unknown_count || rows == element_count) return Status::ok;
  return rows < element_count ? Status::gap : Status::overlap;
}

/// A block of some rows of a worker, with the columns of the partial. The elements of a row are contiguous, and rows
/// are `row_stride` bytes apart. `second` has the second factors of a sum of products, or is null. `mask` has one byte
/// per row, which is not zero if the row counts, or is null. The memory is never written. Rows with another arrangement
/// in memory are pushed through an Intake.
struct Block {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  const std::byte* mask = nullptr;
  Count rows = 0;
  Bytes row_stride = 0;
  // Whether the block is one of several columns, and all of them have this `second` and `mask`.
  bool has_common = false;
};

/// An ability of builders whose kind of partial needs a first sweep over all rows.
class Surveyor {
 public:
  /// Surveys the rows begin, begin + 1, ... of the whole job, which will be pushed. The builder's `clear` discards
  /// earlier surveys.
  virtual void survey(Index begin, const Block& block) = 0;
  /// Writes the result of the survey, and discards it.
  virtual void write_survey(std::span<std::byte> out) = 0;
  /// Sets the merged survey of all ranks, for all later rounds.
  virtual void expect(std::span<const std::byte> surveyed) = 0;

 protected:
  ~Surveyor() = default;
};

class Builder;

/// An ability of builders that can take each column separately, for rows whose columns are far apart in memory.
class ColumnBuilders {
 public:
  /// Returns the number of columns. The number exceeds the call's number of columns if the parts of an element are
  /// taken as columns.
  virtual Count count() const noexcept = 0;
  /// Returns the builder for the rows of one column. Push the same rows to every column, first to column 0.
  virtual Builder& column(Count column) = 0;
  /// Whether the builder takes rows only column by column.
  virtual bool are_only_way() const noexcept { return false; }
  /// Whether rows with contiguous elements are added faster if they are pushed unchanged.
  virtual bool prefer_rows() const noexcept { return false; }
  /// Whether every push to a column takes so long that the rows of many pushes should be collected first.
  virtual bool prefer_long_runs() const noexcept { return false; }
  /// Adds to the number of rows, for calls whose labels distribute rows to columns. `status` is not ok if a row has no
  /// column.
  virtual void deal(Count /*rows*/, Status /*status*/) {}
  /// Whether elements are passed to `scatter`, in any order and each with its column, instead of to `column`.
  virtual bool scatters() const noexcept { return false; }
  static constexpr auto no_column = ~std::uint32_t{0};
  /// Adds contiguous elements of the rows begin, begin + 1, ..., or their products with the factors, each to its
  /// column. Elements with no_column are not added.
  virtual void scatter(std::span<const std::uint32_t> /*columns*/, Index /*begin*/, const std::byte* /*elements*/,
                       const std::byte* /*factors*/) {}

 protected:
  ~ColumnBuilders() = default;
};

/// Makes a partial from one worker's data, which are pushed block by block, in any order of indices. Use the object
/// from one thread at a time. `clear` keeps the memory, so a second round of the same shape does not allocate.
class Builder {
 public:
  virtual ~Builder() = default;
  virtual void clear() = 0;
  /// Adds the rows begin, begin + 1, ... of the whole job. The block's memory must not change until the next push, or
  /// `write`, has returned.
  /// Blocks must not overlap. If they do, the partial's status reports it.
  virtual void push(Index begin, const Block& block) = 0;
  /// Writes the partial of all pushed rows. Returns its size, which is at most the kind's capacity for these rows.
  /// `write` ends the round: call `clear` before the next push.
  virtual Bytes write(std::span<std::byte> out) = 0;

  /// Replaces `write` if nothing is merged: writes the values that the kind's `finish` would make from the partial, bit
  /// for bit. The rows 0, 1, ... must have been pushed in this order, or no rows. Returns `unsupported` if the builder
  /// cannot do this.
  virtual Status finish_alone(Count /*element_count*/, std::byte* /*values*/, std::byte* /*spare*/) {
    return Status::unsupported;
  }
  virtual bool finishes_alone() const noexcept { return false; }

  /// Returns the ability to survey rows; null if the kind's `survey_bytes` is 0, so that no first sweep is needed.
  virtual Surveyor* surveyor() noexcept { return nullptr; }
  /// Returns the ability to take columns separately, or null.
  virtual ColumnBuilders* columns() noexcept { return nullptr; }
};

/// Implements ColumnBuilders for an `Owner` that has `push_column(column, begin, block)`, for a first sweep
/// `survey_column` with the same parameters, and perhaps `prefers_rows()`. There is one view, which serves the column
/// of the last call of `column`.
template <class Owner>
class ColumnViews final : public ColumnBuilders {
 public:
  explicit ColumnViews(Owner& owner) noexcept : view_(owner) {}
  Count count() const noexcept override { return view_.owner_.column_count(); }
  Builder& column(Count column) override {
    view_.column_ = column;
    return view_;
  }
  bool prefer_rows() const noexcept override {
    if constexpr (requires { view_.owner_.prefers_rows(); }) return view_.owner_.prefers_rows();
    return false;
  }

 private:
  class View final : public Builder, private Surveyor {
   public:
    explicit View(Owner& owner) noexcept : owner_(owner) {}
    void push(Index begin, const Block& block) override { owner_.push_column(column_, begin, block); }
    Surveyor* surveyor() noexcept override { return this; }
    // Does nothing, because the owner clears and writes.
    void clear() override {}
    Bytes write(std::span<std::byte> /*out*/) override { return 0; }

    Count column_ = 0;

    Owner& owner_;

   private:
    void survey(Index begin, const Block& block) override {
      if constexpr (requires { owner_.survey_column(column_, begin, block); })
        owner_.survey_column(column_, begin, block);
    }
    void write_survey(std::span<std::byte> /*out*/) override {}
    void expect(std::span<const std::byte> /*surveyed*/) override {}
  };

  View view_;
};

/// A partial in memory: a head and values. If `values` is null, the values are the last bytes of `head`. A failed
/// partial is only a Header.
struct Partial {
  Partial() = default;
  /// Makes a partial in one piece.
  template <std::convertible_to<std::span<const std::byte>> Memory>
  Partial(const Memory& whole) : head(whole) {}  // NOLINT(google-explicit-constructor)
  Partial(std::span<const std::byte> head_bytes, const std::byte* where) : head(head_bytes), values(where) {}

  std::span<const std::byte> head;
  const std::byte* values = nullptr;
};

/// Memory for a partial. If `values` is empty, the partial is written in one piece.
struct Room {
  std::span<std::byte> head;
  std::span<std::byte> values = {};
};

/// An ability of kinds whose partials may have their values in separate memory, so that wide rows need not be copied.
class ValuesApart {
 public:
  /// Return the number of bytes of the head at the beginning of a partial in one piece (at most all bytes), and of the
  /// values that belong to a head.
  virtual Bytes head_bytes(std::span<const std::byte> whole) const noexcept = 0;
  virtual Bytes values_bytes(std::span<const std::byte> head) const noexcept = 0;
  /// Writes the head of the partial of a single row, whose values are the row itself. Returns the size of the head in
  /// bytes.
  virtual Bytes write_head_of_row(const Header& header, Index row, std::span<std::byte> head) const noexcept = 0;
  /// Merges two partials, each with one row of values, into a partial with one row of values. Writes the merged row to
  /// `values`, in the form of results. `head` may be the head of an operand. Returns an empty result for partials of
  /// another form.
  virtual std::optional<Partial> merge_to_result(const Partial& left, const Partial& right, std::span<std::byte> head,
                                                 std::byte* values) const = 0;

 protected:
  ~ValuesApart() = default;
};

/// The progress of a merge or a finish that is done in pieces, from the first column to the last. By default there is
/// one piece, with all columns.
struct Pieces {
  static constexpr Count all = ~Count{0};

  Count most = all;   // largest number of columns per piece
  Count done = 0;     // number of columns in the pieces that are done
  bool more = false;  // after a call: whether another call is needed
  Bytes left = 0;     // position where the next column begins, for kinds whose columns differ in size
  Bytes right = 0;
  Bytes out = 0;
  Count made = 0;  // number of changes made by an unfinished piece, whose operator wants to be called later

  /// Returns the columns of the next piece, if there are `columns` in all. Columns of one group of `group` columns stay
  /// together.
  order::Interval take(Count columns, Count group = 1) noexcept {
    const Count first = done;
    const Count others = columns - first;
    done += most >= others ? others : std::min((most + group - 1) / group * group, others);
    more = done < columns;
    return {first, done};
  }
  /// Returns the pieces of the merge or finish that has begun; if none has, new pieces with at most `columns` columns
  /// each.
  Pieces& begun(Count columns = all) noexcept {
    if (!more) *this = {.most = columns};
    return *this;
  }
  /// Ends a merge or finish that failed.
  void stop() noexcept { more = false; }
  /// Makes the next `take` return this piece again. The changes that have been made are not repeated.
  void postpone(const order::Interval& piece, Count changes) noexcept {
    done = piece.begin;
    more = true;
    made = changes;
  }
};

/// An ability of kinds whose partials can be added as 64-bit words, for schedules in which the transport adds. The
/// words include the header.
class AddedWords {
 public:
  /// Returns the number of words of a partial.
  virtual Count word_count() const noexcept = 0;
  virtual void to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept = 0;
  /// Writes the partial that the sums of the words of `rank_count` ranks represent. Returns its size.
  virtual Bytes from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                           std::span<std::byte> out) const noexcept = 0;

 protected:
  ~AddedWords() = default;
};

/// An ability of kinds that can reduce a few rows, if all are in memory, faster than their builder.
class RowsAtHand {
 public:
  /// Returns the number of rows for which `spare` needs memory to reduce `rows` rows. Empty if the builder must reduce
  /// this number of rows.
  virtual std::optional<Count> spare_rows(Count rows) const noexcept = 0;
  /// Writes the values that `finish` would make from the partial of rows 0, 1, ..., bit for bit. `values` and `spare`
  /// must not overlap a row.
  virtual Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* spare) const = 0;

 protected:
  ~RowsAtHand() = default;
};

/// A merge that a plan prepares. A prepared merge knows the rows of its operands in advance, and so all their bytes
/// except the values. Use the object from one thread at a time. Each partial must be in one contiguous piece of memory.
class PreparedMerge {
 public:
  virtual ~PreparedMerge() = default;
  /// Writes the same bytes as the kind's `merge`, and returns their number. Returns 0 if an operand is not as expected
  /// or `out` is too small; then call the kind's `merge`, which reports the fault.
  virtual Bytes merge(const Partial& left, const Partial& right, std::span<std::byte> out) = 0;
  /// Merges into a partial of all rows, and writes the value that the kind's `finish` makes from it: a header and one
  /// row of results, which follows the header or is in `out.values`. Returns the number of bytes written to `out.head`,
  /// or 0 as `merge` does.
  virtual Bytes finish(const Partial& left, const Partial& right, const Room& out) = 0;
};

/// What partials contain. The time to handle them depends on it: values; digits or words of exact sums; or bins.
enum class Content : std::uint8_t { values, accumulators, bins };
inline constexpr std::size_t content_count = 3;

/// One kind of partial for a fixed number of columns: says how the bytes are built, merged and finished. A kind has no
/// state, so threads may share it. After construction, no function throws.
class PartialKind {
 public:
  virtual ~PartialKind() = default;

  /// Returns the largest size in bytes of a partial that covers `rows`, header included.
  virtual Bytes capacity(const order::IntervalSet& rows) const = 0;
  /// Returns the number of bytes that `write` and `merge` need in `out` for a partial that covers `rows`; at least the
  /// capacity. If some of several partials are merged in any order, while rows are missing, the merges need no more
  /// than the sum of this number over these partials.
  virtual Bytes working_capacity(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Returns the size in bytes of a partial of exactly `rows`; the largest possible size if it depends on the values.
  virtual Bytes full_size(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Whether the capacity is the same for all non-empty `rows`.
  virtual bool has_fixed_size() const noexcept { return true; }
  /// Returns the number of rows of values in a partial of `rows` that have not been combined yet.
  virtual Count row_count(const order::IntervalSet& rows) const { return rows.empty() ? 0 : 1; }
  /// The most rows of values while a partial of an interval of this size, or of any start of it, is made.
  virtual Count most_values(order::Interval rows) const noexcept { return order::most_nodes(rows); }
  /// Returns the size in bytes of one row of results, without the header.
  virtual Bytes value_bytes() const noexcept = 0;
  virtual Content content() const noexcept { return Content::values; }

  virtual std::unique_ptr<Builder> builder() const = 0;

  /// Does the next piece of merging two partials into `out`, which overlaps neither. If rank order matters, `left`
  /// comes before `right`. The merged status is the maximum of both. If the digests differ, the status is mismatch. If
  /// the status is not ok, only a header is written. If the result does not fit `out`, its status is transport_failed.
  /// The operands and `out` are in one piece, unless the kind has `values_apart`. While `pieces.more` is set, the
  /// returned partial is not valid, and the next call must get the same arguments, with unchanged memory.
  virtual Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const = 0;

  /// Prepares merges of partials of these rows, with this digest in their headers. The kind must outlive the result.
  /// Returns null if there is nothing to prepare.
  virtual std::unique_ptr<PreparedMerge> prepare_merge(const order::IntervalSet& /*left*/,
                                                       const order::IntervalSet& /*right*/,
                                                       std::uint64_t /*digest*/) const {
    return nullptr;
  }

  /// Does the next piece of converting the partial of all `element_count` rows (unknown_count: any number) to the
  /// values of the result. `spare` is memory for the same number of values. If the status is not ok, `values` is not
  /// valid. If the partial was merged to the result, `values` may be the partial's own values.
  virtual Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                              Pieces& pieces) const = 0;
  /// Whether several builders may each take a part of a rank's rows.
  virtual bool may_divide_rows() const noexcept { return true; }
  /// Returns the number of columns whose merge or finish takes some ten microseconds; 0: there is always one piece.
  virtual Count piece_columns() const noexcept { return 0; }

  /// Merges all pieces at once, for operators that do not postpone.
  Partial merge(const Partial& left, const Partial& right, const Room& out) const {
    Pieces whole;
    return merge_piece(left, right, out, whole);
  }
  Status finish(const Partial& partial, Count element_count, std::byte* values, std::byte* spare) const {
    Pieces whole;
    return finish_piece(partial, element_count, values, spare, whole);
  }

  /// Returns the size in bytes of the survey of a first sweep over all ranks' rows. Surveys are merged by the maximum
  /// of each byte. 0: no first sweep is needed.
  virtual Bytes survey_bytes() const noexcept { return 0; }
  /// Return the abilities of this kind that only some kinds have; null if this kind lacks the ability.
  virtual const ValuesApart* values_apart() const noexcept { return nullptr; }
  virtual const AddedWords* added_words() const noexcept { return nullptr; }
  virtual const RowsAtHand* rows_at_hand() const noexcept { return nullptr; }
};

/// Merges two partials into a third; all are in one piece. Returns the size of the merged partial in bytes.
inline Bytes merge(const PartialKind& kind, std::span<const std::byte> left, std::span<const std::byte> right,
                   std::span<std::byte> out) {
  return kind.merge(left, right, {out}).head.size();
}

/// Returns the header of a slot's bytes. Unknown statuses become transport_failed.
inline Header header_of(std::span<const std::byte> bytes) noexcept {
  Header header{.status = Status::transport_failed};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  header.status = known(header.status);
  return header;
}
/// Returns the status in the header of a slot's bytes.
inline Status status_of(std::span<const std::byte> bytes) noexcept { return header_of(bytes).status; }
inline void set_header(std::span<std::byte> bytes, const Header& header) noexcept {
  std::memcpy(bytes.data(), &header, sizeof header);
}

/// Rounds a size up to a multiple of 8 bytes, for partials inside other partials.
constexpr Bytes padded(Bytes size) noexcept { return (size + 7) / 8 * 8; }

/// The header of a merged partial. `ok` says whether the contents must be merged, too.
struct MergedHeader {
  Header header;
  bool ok;
};
MergedHeader merge_headers(std::span<const std::byte> left, std::span<const std::byte> right) noexcept;

/// Writes a partial that is only a header with a status. Returns its size in bytes.
Bytes write_failure(std::span<std::byte> out, Header header, Status status) noexcept;
/// Writes only a header to `out.head`, and returns it as a failed partial.
inline Partial failed(const Room& out, const Header& header, Status status) noexcept {
  return out.head.first(write_failure(out.head, header, status));
}

}  // namespace steadfold::arithmetic
