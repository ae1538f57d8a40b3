#include "arithmetic/rows/columns_apart.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace steadfold::arithmetic {
namespace {

// The layout of a record: a Header; the number of all rows, if labels distribute rows to columns; the size of every
// column's partial, 64 bits each; then the partials, each at a multiple of 8 bytes. A failed record is only a header.
struct RecordLayout {
  Count columns;
  bool are_dealt;
  Bytes sizes_at() const noexcept { return sizeof(Header) + (are_dealt ? sizeof(Count) : 0); }
  Bytes partials_at() const noexcept { return sizes_at() + columns * sizeof(std::uint64_t); }
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
    at_ += padded(size);
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
    if (out_.size() < at_)
      fail(Status::transport_failed);
    else if (layout.are_dealt)
      std::memcpy(out_.data() + sizeof header, &rows, sizeof rows);
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
    const Bytes gap = std::min(padded(size), room().size()) - size;
    std::memset(room().data() + size, 0, gap);
    at_ += size + gap;
  }
  bool is_ok() const noexcept { return header_.status == Status::ok; }

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

class ColumnsApartBuilder final : public Builder, private ColumnBuilders, private Surveyor {
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
      if (!writer.is_ok()) break;
      writer.put(column->write(writer.room()));
    }
    return writer.finish();
  }
  ColumnBuilders* columns() noexcept override { return this; }
  Surveyor* surveyor() noexcept override { return survey_bytes_ > 0 ? this : nullptr; }

 private:
  Count count() const noexcept override { return columns_.size(); }
  Builder& column(Count column) override { return *columns_[column]; }
  bool are_only_way() const noexcept override { return true; }
  void deal(Count rows, Status status) override {
    rows_ += rows;
    status_ = std::max(status_, status);
  }

  void survey(const Block& block) override {
    for_each_piece(block,
                   [](Builder& column, Count /*done*/, const Block& piece) { column.surveyor()->survey(piece); });
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

class ColumnsApartKind final : public PartialKind {
 public:
  ColumnsApartKind(std::unique_ptr<PartialKind> kind, ColumnsApart columns)
      : kind_(std::move(kind)), columns_(std::move(columns)) {}

  Bytes capacity(const order::IntervalSet& rows) const override { return all_of(kind_->capacity(rows)); }
  Bytes working_capacity(const order::IntervalSet& rows) const override {
    return all_of(kind_->working_capacity(rows));
  }
  Bytes full_size(const order::IntervalSet& rows) const override { return all_of(kind_->full_size(rows)); }
  Bytes value_bytes() const noexcept override { return columns_.columns * kind_->value_bytes(); }
  Content content() const noexcept override { return kind_->content(); }
  Bytes survey_bytes() const noexcept override { return columns_.columns * kind_->survey_bytes(); }
  std::unique_ptr<Builder> builder() const override { return std::make_unique<ColumnsApartBuilder>(*kind_, columns_); }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& /*pieces*/) const override {
    const MergedHeader merged = merge_headers(left.head, right.head);
    if (room.head.size() < sizeof(Header)) return {};
    if (!merged.ok) return failed(room, merged.header, merged.header.status);
    ColumnReader a(left.head, layout());
    ColumnReader b(right.head, layout());
    ColumnWriter writer(room.head, merged.header, rows_of(left.head, layout()) + rows_of(right.head, layout()),
                        layout());
    for (Count i = 0; i < columns_.columns && writer.is_ok(); ++i)
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
  Bytes all_of(Bytes column) const noexcept { return layout().partials_at() + columns_.columns * padded(column); }

  std::unique_ptr<PartialKind> kind_;
  ColumnsApart columns_;
};

}  // namespace

std::unique_ptr<PartialKind> make_columns_apart(std::unique_ptr<PartialKind> kind, ColumnsApart columns) {
  return std::make_unique<ColumnsApartKind>(std::move(kind), std::move(columns));
}

}  // namespace steadfold::arithmetic
