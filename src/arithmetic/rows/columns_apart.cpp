#include "arithmetic/rows/columns_apart.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "arithmetic/rows/row_numbers.hpp"

namespace steadfold::arithmetic {
namespace {

/// Rounds a size up to a multiple of the largest alignment of elements, which partials have in other memory, too.
constexpr Bytes aligned(Bytes size) noexcept { return (size + 15) / 16 * 16; }

// The layout of a record: a Header; the number of all rows, if labels distribute rows to columns; the size of every
// column's partial, 64 bits each; then the partials, each at a multiple of 16 bytes. A failed record is only a header.
struct RecordLayout {
  Count columns;
  bool are_dealt;
  Bytes sizes_at() const noexcept { return sizeof(Header) + (are_dealt ? sizeof(Count) : 0); }
  Bytes sizes_end() const noexcept { return sizes_at() + columns * sizeof(std::uint64_t); }
  Bytes partials_at() const noexcept { return aligned(sizes_end()); }
};

/// Returns the number of all rows, if labels distribute them to columns.
Count rows_of(std::span<const std::byte> record, const RecordLayout& layout) noexcept {
  Count rows = 0;
  if (layout.are_dealt && record.size() >= layout.sizes_at())
    std::memcpy(&rows, record.data() + sizeof(Header), sizeof rows);
  return rows;
}

/// Reads the columns of a record one after the other. Never reads outside the bytes, even if they are invalid.
class ColumnReader {
 public:
  ColumnReader(std::span<const std::byte> record, const RecordLayout& layout) noexcept
      : record_(record), sizes_at_(layout.sizes_at()), at_(layout.partials_at()) {}

  /// Returns the partial of the next column. The result is empty if no ColumnWriter can have written the bytes.
  std::span<const std::byte> next() noexcept {
    const Bytes size_at = sizes_at_ + column_++ * sizeof(std::uint64_t);
    if (at_ > record_.size() || size_at + sizeof(std::uint64_t) > record_.size()) return {};
    std::uint64_t size = 0;
    std::memcpy(&size, record_.data() + size_at, sizeof size);
    if (size > record_.size() - at_) return {};
    const auto partial = record_.subspan(at_, size);
    at_ += aligned(size);
    return partial;
  }

 private:
  std::span<const std::byte> record_;
  Bytes sizes_at_;
  Bytes at_;
  Count column_ = 0;
};

/// Writes the columns one after the other. The record gets the worst of their statuses.
class ColumnWriter {
 public:
  ColumnWriter(std::span<std::byte> out, const Header& header, Count rows, const RecordLayout& layout) noexcept
      : out_(out), header_(header), sizes_at_(layout.sizes_at()), at_(layout.partials_at()) {
    if (out_.size() < at_) {
      fail(Status::transport_failed);
      return;
    }
    if (layout.are_dealt) std::memcpy(out_.data() + sizeof header, &rows, sizeof rows);
    std::memset(out_.data() + layout.sizes_end(), 0, at_ - layout.sizes_end());
  }

  /// Returns the memory for the partial of the next column.
  std::span<std::byte> room() const noexcept { return at_ < out_.size() ? out_.subspan(at_) : std::span<std::byte>(); }
  /// Adds the partial of the next column, which has been written to room() and has `size` bytes.
  void put(Bytes size) noexcept {
    if (header_.status != Status::ok) return;
    if (size < sizeof(Header) || size > room().size()) return fail(Status::transport_failed);
    const Status status = header_of(room().first(size)).status;
    if (status != Status::ok) return fail(status);
    const std::uint64_t word = size;
    std::memcpy(out_.data() + sizes_at_ + column_++ * sizeof word, &word, sizeof word);
    const Bytes gap = std::min(aligned(size), room().size()) - size;
    std::memset(room().data() + size, 0, gap);
    at_ += size + gap;
  }
  bool is_ok() const noexcept { return header_.status == Status::ok; }
  /// Whether another column may be written: nothing has failed, and there is room for the header of a partial.
  bool takes_more() noexcept {
    if (is_ok() && room().size() < sizeof(Header)) fail(Status::transport_failed);
    return is_ok();
  }

  /// Ends the record. Returns its size, or the size of the header that reports a failure.
  Bytes finish() noexcept {
    if (out_.size() < sizeof header_) return 0;
    if (!is_ok()) return write_failure(out_, header_, header_.status);
    set_header(out_, header_);
    return at_;
  }

 private:
  void fail(Status status) noexcept { header_.status = std::max(header_.status, status); }

  std::span<std::byte> out_;
  Header header_;
  Bytes sizes_at_;
  Bytes at_;
  Count column_ = 0;
};

class ColumnsApartBuilder : public Builder, protected ColumnBuilders, protected Surveyor {
 public:
  ColumnsApartBuilder(const PartialKind& kind, const ColumnsApart& columns)
      : element_bytes_(columns.element_bytes), are_dealt_(columns.are_dealt), survey_bytes_(kind.survey_bytes()) {
    for (Count i = 0; i < columns.columns; ++i) columns_.push_back(kind.builder());
  }

  void clear() override {
    for (const auto& column : columns_) column->clear();
    rows_ = 0;
    status_ = Status::ok;
  }
  /// Pushes rows for which all columns have the same mask.
  void push(Index begin, const Block& block) override {
    for_each_piece(block, [&](Builder& column, Count done, const Block& piece) { column.push(begin + done, piece); });
  }
  Bytes write(std::span<std::byte> out) override {
    ColumnWriter writer(out, Header{.status = status_}, rows_, {columns_.size(), are_dealt_});
    for (const auto& column : columns_) {
      if (!writer.takes_more()) break;
      writer.put(column->write(writer.room()));
    }
    return writer.finish();
  }
  ColumnBuilders* columns() noexcept override { return this; }
  Surveyor* surveyor() noexcept override { return survey_bytes_ > 0 ? this : nullptr; }

 protected:
  Builder& apart(Count column) const { return *columns_[column]; }

  Count count() const noexcept override { return columns_.size(); }

 private:
  Builder& column(Count column) override { return *columns_[column]; }
  bool are_only_way() const noexcept override { return true; }
  void deal(Count rows, Status status) override {
    rows_ += rows;
    status_ = std::max(status_, status);
  }

  void survey(Index begin, const Block& block) override {
    for_each_piece(block, [begin](Builder& column, Count done, const Block& piece) {
      column.surveyor()->survey(begin + done, piece);
    });
  }
  void write_survey(std::span<std::byte> out) override {
    for (const auto& column : columns_) {
      column->surveyor()->write_survey(out.first(survey_bytes_));
      out = out.subspan(survey_bytes_);
    }
  }
  void expect(std::span<const std::byte> surveyed) override {
    for (const auto& column : columns_) {
      column->surveyor()->expect(surveyed.first(survey_bytes_));
      surveyed = surveyed.subspan(survey_bytes_);
    }
  }

  /// Calls `take(column, rows before, block)` for some rows at a time, because neighbouring columns share cache lines.
  template <class Take>
  void for_each_piece(const Block& block, const Take& take) {
    constexpr Count most = 128;
    Count done = 0;
    do {  // at least one call, because an empty push has a meaning, too
      Block piece = block;
      piece.rows = std::min(most, block.rows - done);
      if (piece.first != nullptr) piece.first += done * block.row_stride;
      if (piece.second != nullptr) piece.second += done * block.row_stride;
      if (piece.mask != nullptr) piece.mask += done;
      for (const auto& column : columns_) {
        take(*column, done, piece);
        if (piece.first != nullptr) piece.first += element_bytes_;
        if (piece.second != nullptr) piece.second += element_bytes_;
      }
      done += piece.rows;
    } while (done < block.rows);
  }

  std::vector<std::unique_ptr<Builder>> columns_;
  Bytes element_bytes_;
  bool are_dealt_;
  Bytes survey_bytes_;  // bytes of the survey of one column
  Count rows_ = 0;      // number of all rows, if labels distribute them
  Status status_ = Status::ok;
};

/// Passes rows to columns whose kind needs indices: the rows of every column get the numbers 0, 1, ... as indices.
class NumberedColumnsBuilder final : public ColumnsApartBuilder {
 public:
  NumberedColumnsBuilder(const PartialKind& kind, const ColumnsApart& columns)
      : ColumnsApartBuilder(kind, columns),
        has_survey_(RowNumbers::survey_bytes(columns.starts, columns.columns) > 0),
        numbers_(columns.starts, columns.columns) {}

  void clear() override {
    ColumnsApartBuilder::clear();
    numbers_.clear_survey();
    if (!has_survey_) numbers_.begin({});
  }
  Surveyor* surveyor() noexcept override { return has_survey_ ? this : nullptr; }

  // For the views.
  Count column_count() const noexcept { return count(); }
  void push_column(Count column, Index begin, const Block& block) {
    apart(column).push(numbers_.number(column, begin, block.rows), block);
  }
  void survey_column(Count column, Index begin, const Block& block) { numbers_.survey(column, begin, block.rows); }

 private:
  Builder& column(Count column) override { return views_.column(column); }
  bool prefer_long_runs() const noexcept override { return true; }

  // Not called, because the builder takes rows only column by column.
  void survey(Index /*begin*/, const Block& /*block*/) override {}
  void write_survey(std::span<std::byte> out) override { numbers_.write_survey(out); }
  void expect(std::span<const std::byte> surveyed) override { numbers_.begin(surveyed); }

  bool has_survey_;
  RowNumbers numbers_;
  ColumnViews<NumberedColumnsBuilder> views_{*this};
};

class ColumnsApartKind final : public PartialKind {
 public:
  ColumnsApartKind(std::unique_ptr<PartialKind> kind, ColumnsApart columns)
      : kind_(std::move(kind)), columns_(std::move(columns)) {}

  Bytes capacity(const order::IntervalSet& rows) const override {
    return numbers_rows() ? numbered_capacity(rows) : all_of(kind_->capacity(rows));
  }
  Bytes working_capacity(const order::IntervalSet& rows) const override {
    return numbers_rows() ? numbered_capacity(rows) : all_of(kind_->working_capacity(rows));
  }
  Bytes full_size(const order::IntervalSet& rows) const override {
    return numbers_rows() ? numbered_capacity(rows) : all_of(kind_->full_size(rows));
  }
  bool has_fixed_size() const noexcept override { return !numbers_rows(); }
  bool may_divide_rows() const noexcept override { return !numbers_rows(); }
  Bytes value_bytes() const noexcept override { return columns_.columns * kind_->value_bytes(); }
  Content content() const noexcept override { return kind_->content(); }
  Bytes survey_bytes() const noexcept override {
    return numbers_rows() ? RowNumbers::survey_bytes(columns_.starts, columns_.columns)
                          : columns_.columns * kind_->survey_bytes();
  }
  std::unique_ptr<Builder> builder() const override {
    if (numbers_rows()) return std::make_unique<NumberedColumnsBuilder>(*kind_, columns_);
    return std::make_unique<ColumnsApartBuilder>(*kind_, columns_);
  }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& /*pieces*/) const override {
    const MergedHeader merged = merge_headers(left.head, right.head);
    if (room.head.size() < sizeof(Header)) return {};
    if (!merged.ok) return failed(room, merged.header, merged.header.status);
    ColumnReader a(left.head, layout());
    ColumnReader b(right.head, layout());
    ColumnWriter writer(room.head, merged.header, rows_of(left.head, layout()) + rows_of(right.head, layout()),
                        layout());
    for (Count i = 0; i < columns_.columns && writer.takes_more(); ++i)
      writer.put(arithmetic::merge(*kind_, a.next(), b.next(), writer.room()));
    return room.head.first(writer.finish());
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& /*pieces*/) const override {
    const Status whole = header_of(partial.head).status;
    if (whole != Status::ok) return whole;
    if (columns_.are_dealt) {
      const Status of_rows = check_row_count(rows_of(partial.head, layout()), element_count);
      if (of_rows != Status::ok) return of_rows;
    }
    ColumnReader reader(partial.head, layout());
    const Bytes bytes = kind_->value_bytes();
    const Count in_column = columns_.are_dealt ? unknown_count : element_count;
    for (Count i = 0; i < columns_.columns; ++i, values += bytes) {
      const Status status = kind_->finish(reader.next(), in_column, values, spare);
      if (status == Status::empty && !columns_.of_none.empty())
        std::memcpy(values, columns_.of_none.data(), bytes);
      else if (status != Status::ok)
        return status;
    }
    return Status::ok;
  }

 private:
  RecordLayout layout() const noexcept { return {columns_.columns, columns_.are_dealt}; }
  Bytes all_of(Bytes column) const noexcept { return layout().partials_at() + columns_.columns * aligned(column); }
  bool numbers_rows() const noexcept { return !columns_.starts.empty(); }

  /// Returns an upper bound for any distribution of the rows to the columns. n rows of a column in an interval have at
  /// most 2 log2(n + 1) + 1 nodes. This function is concave, so the sum over the columns is largest if all columns have
  /// the same number of rows.
  Bytes numbered_capacity(const order::IntervalSet& rows) const {
    Count nodes = 0;
    for (const order::Interval interval : rows.intervals()) {
      const Count elements = interval.size() * std::min(columns_.columns_of_a_group, columns_.columns);
      const auto most_of_a_column = 2 * static_cast<Count>(std::bit_width(elements / columns_.columns + 1)) + 1;
      nodes += std::min(elements, columns_.columns * most_of_a_column);
    }
    const Bytes of_none = kind_->capacity({});
    const Bytes of_a_node = kind_->capacity(order::IntervalSet({0, 1})) - of_none;
    return all_of(of_none) + aligned(nodes * of_a_node) + columns_.columns * aligned(1);
  }

  std::unique_ptr<PartialKind> kind_;
  ColumnsApart columns_;
};

}  // namespace

std::unique_ptr<PartialKind> make_columns_apart(std::unique_ptr<PartialKind> kind, ColumnsApart columns) {
  return std::make_unique<ColumnsApartKind>(std::move(kind), std::move(columns));
}

}  // namespace steadfold::arithmetic
