#include "arithmetic/plain.hpp"

#include <array>
#include <cstring>
#include <vector>

namespace steadfold::arithmetic {
namespace {

struct PlainPrefix {
  Header header;
  std::uint64_t row_count = 0;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(PlainPrefix) == 32);

/// Converts the combined values of all `rows` rows to the result.
Status finish_plain(const Operator& op, Count columns, Count rows, const std::byte* folded, Count element_count,
                    std::byte* values) {
  const Status whole = check_row_count(rows, element_count);
  if (whole != Status::ok) return whole;
  if (rows == 0) return value_of_nothing(op, values, columns);
  std::memcpy(values, folded, columns * op.element_bytes);
  if (op.canonicalise != nullptr) op.canonicalise(values, columns);
  return Status::ok;
}

/// Folds rows from left to right, block after block, like std::accumulate.
class PlainBuilder final : public Builder {
 public:
  PlainBuilder(const Operator& op, Count columns) : op_(op), columns_(columns), values_(op.element_bytes * columns) {}

  void clear() override {
    row_count_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    if (block.rows == 0) return;
    const bool is_run = columns_ == 1 && op_.fold_left != nullptr && block.row_stride == values_.size();
    if (is_run && row_count_ == 0)
      op_.fold_left(block.first, block.rows, values_.data());
    else if (is_run && op_.order_free)
      push_run(block);
    else
      push_rows(block);
    row_count_ += block.rows;
  }

  Bytes write(std::span<std::byte> out) override {
    return status_ == Status::ok ? write_plain(out, row_count_, values_) : write_failure(out, {}, status_);
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    return status_ != Status::ok ? status_
                                 : finish_plain(op_, columns_, row_count_, values_.data(), element_count, values);
  }

 private:
  /// Folds the rows of a block by themselves, for operators whose result does not depend on the order.
  void push_run(const Block& block) {
    alignas(16) std::array<std::byte, 16> folded;
    op_.fold_left(block.first, block.rows, folded.data());
    combine(op_, values_.data(), folded.data(), values_.data(), 1);
  }

  void push_rows(const Block& block) {
    const std::byte* row = block.first;
    Count i = 0;
    if (row_count_ == 0) {
      copy_values(op_, row, values_.data(), columns_);
      row += block.row_stride;
      i = 1;
    }
    for (; i < block.rows; ++i, row += block.row_stride) {
      if (combine(op_, values_.data(), row, values_.data(), columns_) != 0) {
        status_ = Status::operator_failed;
        return;
      }
    }
  }

  const Operator& op_;
  Count columns_;
  std::vector<std::byte> values_;
  Count row_count_ = 0;
  Status status_ = Status::ok;
};

class PlainKind final : public PartialKind, private RowsAtHand {
 public:
  PlainKind(const Operator& op, Count columns) : op_(op), columns_(columns), stride_(op.element_bytes * columns) {}

  Bytes capacity(const order::IntervalSet& /*rows*/) const override { return sizeof(PlainPrefix) + stride_; }
  Bytes full_size(const order::IntervalSet& rows) const override {
    return sizeof(PlainPrefix) + (rows.empty() ? 0 : stride_);
  }
  Bytes value_bytes() const noexcept override { return stride_; }
  std::unique_ptr<Builder> builder() const override { return std::make_unique<PlainBuilder>(op_, columns_); }
  const RowsAtHand* rows_at_hand() const noexcept override { return this; }

 private:
  std::optional<Count> spare_rows(Count rows) const noexcept override {
    return rows < 2 ? std::nullopt : std::optional<Count>(0);
  }
  Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* /*spare*/) const override {
    const std::byte* left = rows.front();
    for (const std::byte* const right : rows.subspan(1)) {
      if (combine(op_, left, right, values, columns_) != 0) return Status::operator_failed;
      left = values;
    }
    if (op_.canonicalise != nullptr) op_.canonicalise(values, columns_);
    return Status::ok;
  }

  Count piece_columns() const noexcept override { return columns_of_piece(op_); }

  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const override {
    const std::span<std::byte> out = room.head;
    const auto [header, ok] = merge_headers(left.head, right.head);
    if (!ok) return failed(room, header, header.status);
    if (!well_formed(left.head) || !well_formed(right.head) || out.size() < sizeof(PlainPrefix) + stride_)
      return failed(room, header, Status::transport_failed);
    if (rows_of(left.head) == 0 || rows_of(right.head) == 0) {
      const auto whole = rows_of(left.head) == 0 ? right.head : left.head;
      std::memcpy(out.data(), whole.data(), whole.size());
      set_header(out, header);
      return out.first(whole.size());
    }
    const PlainPrefix prefix{.header = header, .row_count = rows_of(left.head) + rows_of(right.head)};
    std::memcpy(out.data(), &prefix, sizeof prefix);
    const order::Interval columns = pieces.take(columns_);
    const Bytes at = columns.begin * op_.element_bytes;
    if (combine(op_, values_of(left.head) + at, values_of(right.head) + at, out.data() + sizeof prefix + at,
                columns.size()) != 0) {
      pieces.stop();
      return failed(room, header, Status::operator_failed);
    }
    return out.first(sizeof prefix + stride_);
  }

  Status finish_piece(const Partial& whole, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& /*pieces*/) const override {
    const std::span<const std::byte> partial = whole.head;
    const Status status = header_of(partial).status;
    if (status != Status::ok) return status;
    if (!well_formed(partial)) return Status::transport_failed;
    return finish_plain(op_, columns_, rows_of(partial), values_of(partial), element_count, values);
  }

  static Count rows_of(std::span<const std::byte> partial) {
    PlainPrefix prefix;
    std::memcpy(&prefix, partial.data(), sizeof prefix);
    return prefix.row_count;
  }
  static const std::byte* values_of(std::span<const std::byte> partial) { return partial.data() + sizeof(PlainPrefix); }
  bool well_formed(std::span<const std::byte> partial) const {
    return partial.size() >= sizeof(PlainPrefix) &&
           partial.size() == sizeof(PlainPrefix) + (rows_of(partial) == 0 ? 0 : stride_);
  }

  const Operator& op_;
  Count columns_;
  Bytes stride_;
};

}  // namespace

Bytes write_plain(std::span<std::byte> out, Count rows, std::span<const std::byte> values) noexcept {
  const Bytes size = sizeof(PlainPrefix) + (rows == 0 ? 0 : values.size());
  if (size > out.size()) return write_failure(out, {}, Status::transport_failed);
  const PlainPrefix prefix{.header = {}, .row_count = rows};
  std::memcpy(out.data(), &prefix, sizeof prefix);
  if (rows > 0) std::memcpy(out.data() + sizeof prefix, values.data(), values.size());
  return size;
}

std::unique_ptr<PartialKind> make_plain(const Operator& op, Count columns) {
  return std::make_unique<PlainKind>(op, columns);
}

}  // namespace steadfold::arithmetic
