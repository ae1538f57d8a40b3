// The state of a reduction in flight, as plain bytes that travel as they are, and the table of what one can do to it.
// Rank order: a partial knows which rows it covers. Cost: stated by each kind. Source: [S0], [S2]; see
// docs/architecture.md.
//
// A partial of any kind begins with a Header. Types are erased here once: schedules and transports see bytes only.
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

/// Stands for an element count that only the partials know.
inline constexpr Count unknown_count = ~Count{0};

/// Whether a partial's `rows` are the `element_count` rows that there are: `gap`, too few; `overlap`, too many.
inline Status check_row_count(Count rows, Count element_count) noexcept {
  if (element_count == unknown_count || rows == element_count) return Status::ok;
  return rows < element_count ? Status::gap : Status::overlap;
}

/// Rows of one block of a worker's data: `rows` rows of the partial's columns, the elements of a row contiguous, rows
/// `row_stride` bytes apart. `second` is the other factor of a product sum, or null; `mask` has one byte per row, which
/// is not zero where the row counts, or is null. Never written. Rows that stand otherwise take the way through an
/// Intake.
struct Block {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  const std::byte* mask = nullptr;
  Count rows = 0;
  Bytes row_stride = 0;
  bool has_common = false;  // of one column of several: `second` and `mask` are those of every column of these rows
};

/// What a builder offers whose kind wants a first sweep over all rows.
class Surveyor {
 public:
  /// Looks at rows that will be pushed. The builder's `clear` forgets what was seen of others.
  virtual void survey(const Block& block) = 0;
  /// Writes what was found out about them, and forgets it.
  virtual void write_survey(std::span<std::byte> out) = 0;
  /// Learns, for all rounds to come, what all ranks found out.
  virtual void expect(std::span<const std::byte> surveyed) = 0;

 protected:
  ~Surveyor() = default;
};

class Builder;

/// What a builder offers that takes each column by itself, for rows whose columns stand far apart.
class ColumnBuilders {
 public:
  /// How many there are. More than the call's columns where an element is taken as its parts.
  virtual Count count() const noexcept = 0;
  /// Takes rows of one column. The same rows go to every column, first to column 0.
  virtual Builder& column(Count column) = 0;
  /// Whether this is the only way into the builder.
  virtual bool are_only_way() const noexcept { return false; }
  /// Whether rows whose elements touch are added faster when they are pushed as they are.
  virtual bool prefer_rows() const noexcept { return false; }
  /// Where rows are dealt to some of the columns, by labels: there were so many more rows, and `status` is not ok if
  /// one of them has no column.
  virtual void deal(Count /*rows*/, Status /*status*/) {}
  /// Whether elements may come in any order by `scatter`, each with its column, in place of `column`.
  virtual bool scatters() const noexcept { return false; }
  static constexpr auto no_column = ~std::uint32_t{0};
  /// Adds elements that touch, each to its column, or to none.
  virtual void scatter(std::span<const std::uint32_t> /*columns*/, const std::byte* /*elements*/) {}

 protected:
  ~ColumnBuilders() = default;
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

  /// In place of `write`, where nobody merges: writes what the kind's `finish` makes of that partial, bit for bit. Rows
  /// 0, 1, ... must have been pushed in this order, or none. `unsupported`: this kind does not offer it.
  virtual Status finish_alone(Count /*element_count*/, std::byte* /*values*/, std::byte* /*spare*/) {
    return Status::unsupported;
  }
  virtual bool finishes_alone() const noexcept { return false; }

  /// Null unless the kind's `survey_bytes` asks for a first sweep.
  virtual Surveyor* surveyor() noexcept { return nullptr; }
  /// Null where columns cannot be taken by themselves.
  virtual ColumnBuilders* columns() noexcept { return nullptr; }
};

/// The columns of a builder that has `push_column(column, begin, block)` and, for a first sweep, `survey_column`, and
/// may have `prefers_rows()`. A view is that of the column asked for last.
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
    // Those are the owner's.
    void clear() override {}
    Bytes write(std::span<std::byte> /*out*/) override { return 0; }

    Count column_ = 0;

    Owner& owner_;

   private:
    void survey(const Block& block) override {
      if constexpr (requires { owner_.survey_column(column_, block); }) owner_.survey_column(column_, block);
    }
    void write_survey(std::span<std::byte> /*out*/) override {}
    void expect(std::span<const std::byte> /*surveyed*/) override {}
  };

  View view_;
};

/// A partial: a head, and its values, which stand elsewhere or, where `values` is null, behind the head as its last
/// bytes. A failed partial is a head alone, of one Header.
struct Partial {
  Partial() = default;
  /// In one piece.
  template <std::convertible_to<std::span<const std::byte>> Memory>
  Partial(const Memory& whole) : head(whole) {}  // NOLINT(google-explicit-constructor)
  Partial(std::span<const std::byte> head_bytes, const std::byte* where) : head(head_bytes), values(where) {}

  std::span<const std::byte> head;
  const std::byte* values = nullptr;
};

/// Room for a partial, in one piece where `values` is empty.
struct Room {
  std::span<std::byte> head;
  std::span<std::byte> values = {};
};

/// What a kind offers whose partials may have their values apart, so that wide rows need not be copied.
class ValuesApart {
 public:
  /// Bytes of the head that opens a partial in one piece, at most all of them; and of the values that belong to a head.
  virtual Bytes head_bytes(std::span<const std::byte> whole) const noexcept = 0;
  virtual Bytes values_bytes(std::span<const std::byte> head) const noexcept = 0;
  /// Writes the head of the partial of one row, which is its values; returns its size.
  virtual Bytes write_head_of_row(const Header& header, Index row, std::span<std::byte> head) const noexcept = 0;
  /// Merges two partials of one row of values each into one such partial. Its values go to `values` as results have
  /// them; `head` may be that of an operand. Nothing where the partials are something else.
  virtual std::optional<Partial> merge_to_result(const Partial& left, const Partial& right, std::span<std::byte> head,
                                                 std::byte* values) const = 0;

 protected:
  ~ValuesApart() = default;
};

/// How far a merge or a finish has come that is carried out in pieces, from the first column to the last. As it is made
/// it asks for one piece of all columns.
struct Pieces {
  static constexpr Count all = ~Count{0};

  Count most = all;   // columns per piece
  Count done = 0;     // columns of the pieces so far
  bool more = false;  // after a call: whether another one is needed
  Bytes left = 0;     // where the next column begins, in kinds whose columns differ in size
  Bytes right = 0;
  Bytes out = 0;
  Count made = 0;  // changes of a piece that is not done, since the operator wants to be called later

  /// The columns of the next piece, of `columns` in all. Columns of a group of so many stay together.
  order::Interval take(Count columns, Count group = 1) noexcept {
    const Count first = done;
    const Count others = columns - first;
    done += most >= others ? others : std::min((most + group - 1) / group * group, others);
    more = done < columns;
    return {first, done};
  }
  /// Those of the merge or finish that has begun, or of the next one, whose pieces have so many columns.
  Pieces& begun(Count columns = all) noexcept {
    if (!more) *this = {.most = columns};
    return *this;
  }
  /// Nothing more is to be done: it failed.
  void stop() noexcept { more = false; }
  /// The piece that was taken last is to be taken again, and these of its changes left out.
  void postpone(const order::Interval& piece, Count changes) noexcept {
    done = piece.begin;
    more = true;
    made = changes;
  }
};

/// What a kind offers whose partials can be added as 64-bit words, for schedules that leave the adding to the
/// transport. The words carry the header too.
class AddedWords {
 public:
  /// How many words stand for a partial.
  virtual Count word_count() const noexcept = 0;
  virtual void to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept = 0;
  /// Writes the partial that the sums over `rank_count` ranks stand for; returns its size.
  virtual Bytes from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                           std::span<std::byte> out) const noexcept = 0;

 protected:
  ~AddedWords() = default;
};

/// What a kind offers that reduces a few rows, all of them at hand, with less ado than its builder.
class RowsAtHand {
 public:
  /// How many rows of `spare` it takes to reduce so many rows; nothing: so many are the builder's.
  virtual std::optional<Count> spare_rows(Count rows) const noexcept = 0;
  /// Writes what `finish` makes of the partial of rows 0, 1, ..., bit for bit. `values` and `spare` overlap no row.
  virtual Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* spare) const = 0;

 protected:
  ~RowsAtHand() = default;
};

/// A merge that a plan prepares: it knows its operands' rows, and so all of their bytes but the values. For one thread
/// at a time. Partials are in one piece.
class PreparedMerge {
 public:
  virtual ~PreparedMerge() = default;
  /// Writes what the kind's `merge` writes, bit for bit, and returns its size. 0: an operand is not as expected, or
  /// there is too little room; the kind's own merge says what is wrong.
  virtual Bytes merge(const Partial& left, const Partial& right, std::span<std::byte> out) = 0;
  /// Merges into a partial that has all rows, and writes what the kind's `finish` makes of it: a value, which is a
  /// header and, behind it or in `out.values`, one row of results. `room` is what `merge` needs. Returns the size of
  /// `out.head` that was used; 0 as `merge`.
  virtual Bytes finish(const Partial& left, const Partial& right, std::span<std::byte> room, const Room& out) = 0;
};

/// What a partial's bytes are, as far as handling them takes longer for some than for others: values, which are added
/// or kept; what carries exact sums; or bins.
enum class Content : std::uint8_t { values, accumulators, bins };
inline constexpr std::size_t content_count = 3;

/// One kind of partial over a fixed number of columns: how its bytes are built, merged and finished. Stateless once
/// made, so that threads may share it. No function here throws after construction.
class PartialKind {
 public:
  virtual ~PartialKind() = default;

  /// Most bytes, header included, of a partial that covers `rows`.
  virtual Bytes capacity(const order::IntervalSet& rows) const = 0;
  /// Room that `write` and `merge` need in `out` for a partial that covers `rows`; at least the capacity. Merging some
  /// of several partials in any order, as long as rows are missing, takes no more than this for each of them, added up.
  virtual Bytes working_capacity(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Bytes of a partial of exactly `rows`; the most there can be if that depends on the values.
  virtual Bytes full_size(const order::IntervalSet& rows) const { return capacity(rows); }
  /// Whether capacities are the same for all `rows` that are not empty.
  virtual bool has_fixed_size() const noexcept { return true; }
  /// How many rows of values a partial of `rows` stands for: what has not been combined yet.
  virtual Count row_count(const order::IntervalSet& rows) const { return rows.empty() ? 0 : 1; }
  /// Bytes of one row of results, header not included.
  virtual Bytes value_bytes() const noexcept = 0;
  virtual Content content() const noexcept { return Content::values; }

  virtual std::unique_ptr<Builder> builder() const = 0;

  /// The next piece of merging two partials into `out`, which overlaps neither; `left` stands before `right` in rank
  /// order where that counts. Statuses merge by maximum; different digests are a mismatch; on any status but ok only a
  /// header is written. A result that does not fit `out` has status transport_failed. Operands and room are not apart
  /// unless the kind has `values_apart`. While there is more, what is returned says nothing, and the next call gets the
  /// same arguments, unchanged in memory.
  virtual Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const = 0;

  /// Prepares merging partials of these rows, with this digest in their headers; the kind must outlive it. Null: there
  /// is nothing to prepare.
  virtual std::unique_ptr<PreparedMerge> prepare_merge(const order::IntervalSet& /*left*/,
                                                       const order::IntervalSet& /*right*/,
                                                       std::uint64_t /*digest*/) const {
    return nullptr;
  }

  /// The next piece of turning the partial of all `element_count` rows (unknown_count: as many as there are) into the
  /// result's values. `spare` is room for as many values more. Any status but ok leaves `values` without meaning.
  /// `values` may be the partial's own where it was merged to the result.
  virtual Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                              Pieces& pieces) const = 0;
  /// How many columns of either take some ten microseconds; 0: all are one piece, whatever is asked for.
  virtual Count piece_columns() const noexcept { return 0; }

  /// All of it at once, for operators that do not postpone.
  Partial merge(const Partial& left, const Partial& right, const Room& out) const {
    Pieces whole;
    return merge_piece(left, right, out, whole);
  }
  Status finish(const Partial& partial, Count element_count, std::byte* values, std::byte* spare) const {
    Pieces whole;
    return finish_piece(partial, element_count, values, spare, whole);
  }

  /// Bytes that a first sweep over the rows of all ranks finds out, merged byte by byte by maximum; 0: none is needed.
  virtual Bytes survey_bytes() const noexcept { return 0; }
  /// What only some kinds offer; null where this one does not.
  virtual const ValuesApart* values_apart() const noexcept { return nullptr; }
  virtual const AddedWords* added_words() const noexcept { return nullptr; }
  virtual const RowsAtHand* rows_at_hand() const noexcept { return nullptr; }
};

/// Merges partials in one piece into another; returns its size.
inline Bytes merge(const PartialKind& kind, std::span<const std::byte> left, std::span<const std::byte> right,
                   std::span<std::byte> out) {
  return kind.merge(left, right, {out}).head.size();
}

/// The header of a slot's bytes; its status is one that there is, whatever arrived.
inline Header header_of(std::span<const std::byte> bytes) noexcept {
  Header header{.status = Status::transport_failed};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  header.status = known(header.status);
  return header;
}
/// Its status alone.
inline Status status_of(std::span<const std::byte> bytes) noexcept { return header_of(bytes).status; }
inline void set_header(std::span<std::byte> bytes, const Header& header) noexcept {
  std::memcpy(bytes.data(), &header, sizeof header);
}

/// A size and what follows up to a multiple of 8 bytes, for partials within others.
constexpr Bytes padded(Bytes size) noexcept { return (size + 7) / 8 * 8; }

/// The header of a merged partial, and whether its content is to be merged too.
struct MergedHeader {
  Header header;
  bool ok;
};
MergedHeader merge_headers(std::span<const std::byte> left, std::span<const std::byte> right) noexcept;

/// Writes a header alone; returns its size.
Bytes write_failure(std::span<std::byte> out, Header header, Status status) noexcept;
/// Writes a header alone to `out.head`; returns it as a failed partial.
inline Partial failed(const Room& out, const Header& header, Status status) noexcept {
  return out.head.first(write_failure(out.head, header, status));
}

}  // namespace steadfold::arithmetic
