#include "arithmetic/exact/kept_rows.hpp"

#include <array>
#include <cstring>
#include <vector>

#include "arithmetic/superaccumulator/row_sums.hpp"

namespace steadfold::arithmetic {
namespace {

/// The head of a partial. The rows follow it, or are in separate memory.
struct KeptPrefix {
  Header header;
  std::uint64_t rows = 0;
};

Count kept_in(std::span<const std::byte> head) noexcept {
  KeptPrefix prefix;
  std::memcpy(&prefix, head.data(), sizeof prefix);
  return prefix.rows;
}

class KeptRowsBuilder final : public Builder {
 public:
  explicit KeptRowsBuilder(Bytes row_bytes) : row_bytes_(row_bytes) {}

  void clear() override {
    rows_.clear();
    status_ = Status::ok;
  }
  void push(Index /*begin*/, const Block& block) override {
    if (block.rows > 0 && block.first == nullptr) status_ = Status::invalid_argument;
    if (status_ != Status::ok) return;
    const std::byte* row = block.first;
    for (Count i = 0; i < block.rows; ++i, row += block.row_stride) rows_.insert(rows_.end(), row, row + row_bytes_);
  }
  Bytes write(std::span<std::byte> out) override {
    if (status_ != Status::ok) return write_failure(out, {}, status_);
    const Bytes size = sizeof(KeptPrefix) + rows_.size();
    if (out.size() < size) return write_failure(out, {}, Status::transport_failed);
    const KeptPrefix prefix{.header = {}, .rows = rows_.size() / row_bytes_};
    std::memcpy(out.data(), &prefix, sizeof prefix);
    if (!rows_.empty()) std::memcpy(out.data() + sizeof prefix, rows_.data(), rows_.size());
    return size;
  }

 private:
  Bytes row_bytes_;
  std::vector<std::byte> rows_;
  Status status_ = Status::ok;
};

class KeptRowsKind final : public PartialKind, private ValuesApart {
 public:
  KeptRowsKind(Type type, int bin_count, Count columns)
      : type_(type), bin_count_(bin_count), columns_(columns), row_bytes_(columns * size_of(type)) {}

  Bytes capacity(const order::IntervalSet& rows) const override {
    return sizeof(KeptPrefix) + rows.size() * row_bytes_;
  }
  bool has_fixed_size() const noexcept override { return false; }
  Count row_count(const order::IntervalSet& rows) const override { return rows.size(); }
  Bytes value_bytes() const noexcept override { return row_bytes_; }
  std::unique_ptr<Builder> builder() const override { return std::make_unique<KeptRowsBuilder>(row_bytes_); }
  const ValuesApart* values_apart() const noexcept override { return this; }

 private:
  Count piece_columns() const noexcept override { return 2048; }

  /// Writes the rows of the left partial, then the rows of the right partial.
  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const override {
    const auto [header, ok] = merge_headers(left.head, right.head);
    if (room.head.size() < sizeof(Header)) return {};
    if (!ok) return failed(room, header, header.status);
    if (!are_there(left) || !are_there(right)) return failed(room, header, Status::transport_failed);
    const KeptPrefix prefix{.header = header, .rows = kept_in(left.head) + kept_in(right.head)};
    const bool is_apart = !room.values.empty();
    const Bytes bytes = prefix.rows * row_bytes_;
    if (room.head.size() < sizeof prefix + (is_apart ? 0 : bytes) || (is_apart && room.values.size() < bytes))
      return failed(room, header, Status::transport_failed);
    std::memcpy(room.head.data(), &prefix, sizeof prefix);
    const order::Interval columns = pieces.take(columns_);
    std::byte* const rows = is_apart ? room.values.data() : room.head.data() + sizeof prefix;
    copy(left, columns, rows);
    copy(right, columns, rows + kept_in(left.head) * row_bytes_);
    if (is_apart) return {room.head.first(sizeof prefix), rows};
    return room.head.first(sizeof prefix + bytes);
  }

  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* /*spare*/,
                      Pieces& pieces) const override {
    const Status status = header_of(partial.head).status;
    if (status != Status::ok) return status;
    if (!are_there(partial)) return Status::transport_failed;
    const Count count = kept_in(partial.head);
    const Status whole = check_row_count(count, element_count);
    if (whole != Status::ok) return whole;
    if (!sums_rows(count)) return Status::transport_failed;
    const order::Interval columns = pieces.take(columns_);
    const Bytes at = columns.begin * size_of(type_);
    std::array<const std::byte*, most_kept_rows> rows;
    for (Count row = 0; row < count; ++row) rows[row] = first_row(partial) + row * row_bytes_ + at;
    sum_rows(std::span(rows).first(count), type_, bin_count_, columns.size(), values + at);
    return Status::ok;
  }

  Bytes head_bytes(std::span<const std::byte> whole) const noexcept override {
    const bool is_ok = header_of(whole).status == Status::ok;
    return std::min(whole.size(), is_ok ? sizeof(KeptPrefix) : sizeof(Header));
  }
  Bytes values_bytes(std::span<const std::byte> head) const noexcept override {
    if (head.size() < sizeof(KeptPrefix)) return 0;
    return std::min(kept_in(head), most_kept_rows) * row_bytes_;
  }
  Bytes write_head_of_row(const Header& header, Index /*row*/, std::span<std::byte> head) const noexcept override {
    const KeptPrefix prefix{.header = header, .rows = 1};
    std::memcpy(head.data(), &prefix, sizeof prefix);
    return sizeof prefix;
  }
  /// Returns nothing, because this kind cannot merge to results: a result depends on all rows at once.
  std::optional<Partial> merge_to_result(const Partial& /*left*/, const Partial& /*right*/,
                                         std::span<std::byte> /*head*/, std::byte* /*values*/) const override {
    return std::nullopt;
  }

  /// Whether a partial has all the rows that its head names.
  bool are_there(const Partial& partial) const noexcept {
    if (partial.head.size() < sizeof(KeptPrefix)) return false;
    const Count rows = kept_in(partial.head);
    if (rows > most_kept_rows) return false;
    const Bytes behind = partial.head.size() - sizeof(KeptPrefix);
    return behind == (partial.values != nullptr ? 0 : rows * row_bytes_);
  }
  static const std::byte* first_row(const Partial& partial) noexcept {
    return partial.values != nullptr ? partial.values : partial.head.data() + sizeof(KeptPrefix);
  }
  void copy(const Partial& from, const order::Interval& columns, std::byte* to) const noexcept {
    const Bytes at = columns.begin * size_of(type_);
    for (Count row = 0; row < kept_in(from.head); ++row)
      std::memcpy(to + row * row_bytes_ + at, first_row(from) + row * row_bytes_ + at, columns.size() * size_of(type_));
  }

  Type type_;
  int bin_count_;
  Count columns_;
  Bytes row_bytes_;
};

}  // namespace

std::unique_ptr<PartialKind> make_kept_rows(Type type, int bin_count, Count columns) {
  return std::make_unique<KeptRowsKind>(type, bin_count, columns);
}

}  // namespace steadfold::arithmetic
