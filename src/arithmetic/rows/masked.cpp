#include "arithmetic/rows/masked.hpp"

#include <algorithm>
#include <cstring>

#include "arithmetic/rows/selected_rows.hpp"

namespace steadfold::arithmetic {
namespace {

// bytes of the count at the end of a record. The record is the record of the kind, then the number of all rows. A
// failed record is only a header.
constexpr Bytes count_bytes = sizeof(Count);

bool is_whole(std::span<const std::byte> partial) noexcept {
  return header_of(partial).status == Status::ok && partial.size() >= sizeof(Header) + count_bytes;
}
/// Returns the part of a record that the kind wrote. A failed record, or a record that is too short, is returned
/// unchanged.
std::span<const std::byte> inner(std::span<const std::byte> partial) noexcept {
  return is_whole(partial) ? partial.first(partial.size() - count_bytes) : partial;
}
Count rows_behind(std::span<const std::byte> partial) noexcept {
  Count rows = 0;
  if (is_whole(partial)) std::memcpy(&rows, partial.data() + partial.size() - count_bytes, sizeof rows);
  return rows;
}

/// Returns the kind's part of `out`, which always has room for a header.
std::span<std::byte> without_count(std::span<std::byte> out) noexcept {
  return out.first(std::max(out.size() - std::min(out.size(), count_bytes), std::min(out.size(), sizeof(Header))));
}
/// Ends the record that the kind has written into `size` bytes of `out`.
Bytes with_count(std::span<std::byte> out, Bytes size, Count rows) noexcept {
  const Header header = header_of(out.first(size));
  if (header.status != Status::ok) return size;
  if (size + count_bytes > out.size()) return write_failure(out, header, Status::transport_failed);
  std::memcpy(out.data() + size, &rows, sizeof rows);
  return size + count_bytes;
}

class MaskedBuilder final : public Builder, private Surveyor {
 public:
  MaskedBuilder(std::unique_ptr<Builder> inner, Bytes element_bytes, Count columns)
      : inner_(std::move(inner)), rows_of_all_(columns * element_bytes), rows_of_one_(element_bytes) {}

  void clear() override {
    inner_->clear();
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index begin, const Block& block) override {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    rows_ += block.rows;
    rows_of_all_.for_each_tile(block, [&](const Block& tile) { inner_->push(begin, tile); });
  }

  ColumnBuilders* columns() noexcept override { return inner_->columns() != nullptr ? &views_ : nullptr; }
  Count column_count() const noexcept { return inner_->columns()->count(); }
  void push_column(Count column, Index begin, const Block& block) {
    if (!readable(block)) {
      status_ = Status::invalid_argument;
      return;
    }
    if (column == 0) rows_ += block.rows;
    Builder& inner = inner_->columns()->column(column);
    if (block.has_common && block.rows <= rows_of_one_.tile())
      return inner.push(begin, rows_of_one_.of_tile(block, column > 0));
    rows_of_one_.for_each_tile(block, [&](const Block& tile) { inner.push(begin, tile); });
  }
  void survey_column(Count column, Index begin, const Block& block) {
    if (!readable(block)) return;
    Builder& inner = inner_->columns()->column(column);
    rows_of_one_.for_each_tile(block, [&](const Block& tile) { inner.surveyor()->survey(begin, tile); });
  }

  Bytes write(std::span<std::byte> out) override {
    if (status_ != Status::ok) return out.size() < sizeof(Header) ? 0 : write_failure(out, {}, status_);
    return with_count(out, inner_->write(without_count(out)), rows_);
  }

  Surveyor* surveyor() noexcept override { return inner_->surveyor() != nullptr ? this : nullptr; }

 private:
  void survey(Index begin, const Block& block) override {
    if (readable(block))
      rows_of_all_.for_each_tile(block, [&](const Block& tile) { inner_->surveyor()->survey(begin, tile); });
  }
  void write_survey(std::span<std::byte> out) override { inner_->surveyor()->write_survey(out); }
  void expect(std::span<const std::byte> surveyed) override { inner_->surveyor()->expect(surveyed); }

  static bool readable(const Block& block) noexcept {
    return block.rows == 0 || (block.first != nullptr && block.mask != nullptr);
  }

  std::unique_ptr<Builder> inner_;
  ColumnViews<MaskedBuilder> views_{*this};
  SelectedRows rows_of_all_;  // number of columns
  SelectedRows rows_of_one_;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

class MaskedKind final : public PartialKind, private AddedWords {
 public:
  MaskedKind(std::unique_ptr<PartialKind> kind, Bytes element_bytes, Count columns)
      : kind_(std::move(kind)), element_bytes_(element_bytes), columns_(columns) {}

  Bytes capacity(const order::IntervalSet& rows) const override { return kind_->capacity(rows) + count_bytes; }
  Bytes working_capacity(const order::IntervalSet& rows) const override {
    return kind_->working_capacity(rows) + count_bytes;
  }
  Bytes full_size(const order::IntervalSet& rows) const override { return kind_->full_size(rows) + count_bytes; }
  Bytes value_bytes() const noexcept override { return kind_->value_bytes(); }
  Content content() const noexcept override { return kind_->content(); }
  Bytes survey_bytes() const noexcept override { return kind_->survey_bytes(); }
  std::unique_ptr<Builder> builder() const override {
    return std::make_unique<MaskedBuilder>(kind_->builder(), element_bytes_, columns_);
  }

  const AddedWords* added_words() const noexcept override { return kind_->added_words() != nullptr ? this : nullptr; }

 private:
  Count piece_columns() const noexcept override { return kind_->piece_columns(); }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const override {
    const Count rows = rows_behind(left.head) + rows_behind(right.head);
    const Partial merged = kind_->merge_piece(inner(left.head), inner(right.head), {without_count(out.head)}, pieces);
    return pieces.more ? Partial{} : out.head.first(with_count(out.head, merged.head.size(), rows));
  }
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    const Status status = kind_->finish_piece(inner(partial.head), unknown_count, values, spare, pieces);
    return status != Status::ok ? status : check_row_count(rows_behind(partial.head), element_count);
  }

  Count word_count() const noexcept override { return kind_->added_words()->word_count() + 1; }
  void to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept override {
    kind_->added_words()->to_words(inner(partial), words.first(words.size() - 1));
    words.back() = static_cast<std::int64_t>(rows_behind(partial));
  }
  Bytes from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                   std::span<std::byte> out) const noexcept override {
    const auto kinds = sums.first(sums.size() - 1);
    const Bytes size = kind_->added_words()->from_words(kinds, rank_count, digest, without_count(out));
    return with_count(out, size, static_cast<Count>(sums.back()));
  }

  std::unique_ptr<PartialKind> kind_;
  Bytes element_bytes_;
  Count columns_;
};

}  // namespace

std::unique_ptr<PartialKind> make_masked(std::unique_ptr<PartialKind> kind, Bytes element_bytes, Count columns) {
  return std::make_unique<MaskedKind>(std::move(kind), element_bytes, columns);
}

}  // namespace steadfold::arithmetic
