#include "arithmetic/binned/binned.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "arithmetic/binned/builder.hpp"
#include "arithmetic/binned/record.hpp"
#include "arithmetic/superaccumulator/row_sums.hpp"
#include "arithmetic/superaccumulator/word_head.hpp"
#include "kernels/binned_groups.hpp"

namespace steadfold::arithmetic {
namespace {

using binned_record::are_possible;
using binned_record::BinnedShape;
using binned_record::check_rows;
using binned_record::Column;
using binned_record::columns_of_group;
using binned_record::for_each_column;
using binned_record::has_groups;
using binned_record::put;
using binned_record::put_in_group;
using binned_record::rows_of;
using binned_record::take_group;
using binned_record::write_value;
using binned_record::write_values;

// The words of a partial with a double sweep. Each word is added over all ranks. A partial has the words of the head,
// and for every column: its flags; its top, which is the same on all ranks after the first sweep; and two digits of 32
// bits for each bin. Merging adds the same digits, so the sums represent the record that merges write.
//
// A slice is at most 2^39 quanta, so a bin of r rows is within r 2^39 of 0. Low digits are below 2^32: the digits of at
// most 2^31 - 1 ranks add up to less than 2^63. The high digit of r rows is at most r 2^7 + 1 in magnitude: with at
// most `most_rows` rows in all, the sum over all ranks is at most 2^62 + 2^31. More rows are refused; they need 2^57
// bytes.
constexpr Count most_rows = Count{1} << 55;
constexpr std::size_t top_at = word_head::flag_words;
constexpr std::size_t bins_at = top_at + 2;
constexpr std::size_t bin_words = 2;
constexpr int low_bits = 32;

void put_words(const Column& column, int bin_count, std::span<std::int64_t> words) noexcept {
  word_head::put_flags(static_cast<Flags>(column.flags), words);
  word_head::put_common(column.bins.top, words[top_at], words[top_at + 1]);
  auto word = words.begin() + bins_at;
  for (const Int128 sum : std::span(column.bins.sums).first(static_cast<std::size_t>(bin_count))) {
    *word++ = static_cast<std::uint32_t>(sum);
    *word++ = static_cast<std::int64_t>(sum >> low_bits);
  }
}

/// Reads a column from the sums of the words. Returns false if the ranks' bin ranges differ.
bool take_words(std::span<const std::int64_t> sums, int bin_count, std::uint32_t rank_count, Column& column) noexcept {
  const auto top = word_head::common(sums[top_at], sums[top_at + 1], rank_count);
  if (!top) return false;
  column.flags = word_head::flags_of(sums);
  column.bins.top = static_cast<int>(*top);
  auto word = sums.begin() + bins_at;
  for (Int128& sum : std::span(column.bins.sums).first(static_cast<std::size_t>(bin_count))) {
    sum = *word++;
    sum += static_cast<Int128>(*word++) << low_bits;
  }
  return true;
}

class BinnedKind final : public PartialKind, private AddedWords, private RowsAtHand {
 public:
  explicit BinnedKind(const BinnedShape& shape) noexcept : shape_(shape) {}

  Bytes capacity(const order::IntervalSet& /*rows*/) const override { return shape_.largest_record_bytes(); }
  Bytes full_size(const order::IntervalSet& rows) const override { return shape_.record_bytes(rows.size()); }
  Bytes value_bytes() const noexcept override { return shape_.columns * size_of(shape_.result); }
  Content content() const noexcept override { return Content::bins; }

  std::unique_ptr<Builder> builder() const override { return make_binned_builder(shape_); }

  Bytes survey_bytes() const noexcept override { return shape_.sweep == Sweep::double_sweep ? shape_.columns : 0; }
  /// With a single sweep, ranks may have different bin ranges, so their words cannot be added.
  const AddedWords* added_words() const noexcept override {
    return shape_.sweep == Sweep::double_sweep ? this : nullptr;
  }
  const RowsAtHand* rows_at_hand() const noexcept override { return shape_.is_dealt ? nullptr : this; }

 private:
  std::optional<Count> spare_rows(Count rows) const noexcept override {
    const bool is_sum = shape_.operation == Operation::sum && shape_.result == shape_.input;
    return is_sum && sums_rows(rows) ? std::optional<Count>(0) : std::nullopt;
  }
  Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* /*spare*/) const override {
    sum_rows(rows, shape_.result, shape_.bin_count, shape_.columns, values);
    return Status::ok;
  }

  Count piece_columns() const noexcept override { return 256; }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const override;
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override;

  Count word_count() const noexcept override { return word_head::size + shape_.columns * column_words(); }
  void to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept override;
  Bytes from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                   std::span<std::byte> out) const noexcept override;

  bool is_whole(std::span<const std::byte> record) const noexcept;
  Count merge_whole_groups(std::span<const std::byte> left, std::span<const std::byte> right,
                           const order::Interval& columns, std::span<std::byte> out) const noexcept;
  Count round_whole_groups(std::span<const std::byte> partial, const order::Interval& columns,
                           std::byte* values) const noexcept;
  bool merge_groups(std::span<const std::byte> left, std::span<const std::byte> right, const order::Interval& columns,
                    std::span<std::byte> out) const noexcept;
  bool merge_columns(std::span<const std::byte> left, std::span<const std::byte> right, const order::Interval& columns,
                     std::span<std::byte> out) const noexcept;
  bool finish_columns(std::span<const std::byte> partial, const order::Interval& columns,
                      std::byte* values) const noexcept;
  Count column_words() const noexcept { return bins_at + bin_words * static_cast<Count>(shape_.bin_count); }
  Status columns_to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept;

  BinnedShape shape_;
  kernels::BinnedBounds bounds_ = shape_.bounds();
  kernels::MergeBinnedGroups merge_groups_ = kernels::merge_binned_groups(kernels::chosen(), shape_.bin_count);
  kernels::RoundBinnedGroups round_groups_ = kernels::round_binned_groups(kernels::chosen(), shape_.bin_count);
};

/// Whether the record has the size that its number of rows implies.
bool BinnedKind::is_whole(std::span<const std::byte> record) const noexcept {
  return record.size() >= binned_record::fixed_bytes && record.size() == shape_.record_bytes(rows_of(record));
}

/// Merges groups with a kernel, until it refuses a group. Returns the number of merged groups.
Count BinnedKind::merge_whole_groups(std::span<const std::byte> left, std::span<const std::byte> right,
                                     const order::Interval& columns, std::span<std::byte> out) const noexcept {
  const std::uint64_t most_of_left = BinnedGroup::power_of(rows_of(left));
  const std::uint64_t most_of_right = BinnedGroup::power_of(rows_of(right));
  if (merge_groups_ == nullptr || most_of_left == 0 || most_of_right == 0) return 0;
  const Bytes at = shape_.group_at(columns.begin);
  return merge_groups_(bounds_, left.data() + at, most_of_left, right.data() + at, most_of_right,
                       columns.size() / columns_of_group, out.data() + at);
}

Count BinnedKind::round_whole_groups(std::span<const std::byte> partial, const order::Interval& columns,
                                     std::byte* values) const noexcept {
  const std::uint64_t most = BinnedGroup::power_of(rows_of(partial));
  if (round_groups_ == nullptr || most == 0 || !shape_.is_plain_sum_of_doubles()) return 0;
  return round_groups_(bounds_, partial.data() + shape_.group_at(columns.begin), most,
                       columns.size() / columns_of_group, shape_.unit(0), values);
}

bool BinnedKind::merge_groups(std::span<const std::byte> left, std::span<const std::byte> right,
                              const order::Interval& columns, std::span<std::byte> out) const noexcept {
  BinnedGroup a;
  BinnedGroup b;
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    begin += columns_of_group * merge_whole_groups(left, right, {begin, columns.end}, out);
    if (begin >= columns.end) break;
    const bool are_there = with_extent(shape_.bin_count, shape_.group_columns(begin), [&](auto bin_count, auto count) {
      if (!take_group(shape_, left, begin, a, bin_count, count)) return false;
      if (!take_group(shape_, right, begin, b, bin_count, count)) return false;
      a.add(b, bin_count, count);
      a.write(out.data() + shape_.group_at(begin), bin_count, count);
      return true;
    });
    if (!are_there) return false;
  }
  return true;
}

/// Merges records of either form into a record without groups.
bool BinnedKind::merge_columns(std::span<const std::byte> left, std::span<const std::byte> right,
                               const order::Interval& columns, std::span<std::byte> out) const noexcept {
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    const order::Interval some(begin, std::min(begin + columns_of_group, columns.end));
    std::array<Column, columns_of_group> sums;
    const bool are_there = for_each_column(shape_, left, some,
                                           [&](Count i, const Column& column) {
                                             sums[i - begin] = column;
                                             return true;
                                           }) &&
                           for_each_column(shape_, right, some, [&](Count i, const Column& column) {
                             sums[i - begin].bins.add(column.bins, shape_.bin_count);
                             sums[i - begin].flags |= column.flags;
                             return true;
                           });
    if (!are_there) return false;
    for (Count i = some.begin; i < some.end; ++i) put(shape_, sums[i - begin], i, out);
  }
  return true;
}

Partial BinnedKind::merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const {
  const std::span<std::byte> out = room.head;
  const MergedHeader merged = merge_headers(left.head, right.head);
  if (out.size() < sizeof(Header)) return {};
  if (!merged.ok) return failed(room, merged.header, merged.header.status);
  if (!is_whole(left.head) || !is_whole(right.head)) return failed(room, merged.header, Status::transport_failed);
  const Count rows = rows_of(left.head) + rows_of(right.head);
  const Bytes size = shape_.record_bytes(rows);
  if (rows < rows_of(left.head) || out.size() < size) return failed(room, merged.header, Status::transport_failed);
  const order::Interval columns = pieces.take(shape_.columns, columns_of_group);
  const bool is_done = has_groups(rows) ? merge_groups(left.head, right.head, columns, out)
                                        : merge_columns(left.head, right.head, columns, out);
  if (!is_done) {
    pieces.stop();
    return failed(room, merged.header, Status::transport_failed);
  }
  set_header(out, merged.header);
  std::memcpy(out.data() + sizeof(Header), &rows, sizeof rows);
  return out.first(size);
}

Status BinnedKind::finish_piece(const Partial& whole, Count element_count, std::byte* values, std::byte* /*spare*/,
                                Pieces& pieces) const {
  const std::span<const std::byte> partial = whole.head;
  const Status status = header_of(partial).status;
  if (status != Status::ok) return status;
  if (!is_whole(partial)) return Status::transport_failed;
  const Count rows = rows_of(partial);
  const Status of_rows = check_rows(shape_, rows, element_count);
  if (of_rows != Status::ok) return of_rows;
  const order::Interval columns = pieces.take(shape_.columns, columns_of_group);
  if (finish_columns(partial, columns, values)) return Status::ok;
  pieces.stop();
  return Status::transport_failed;
}

bool BinnedKind::finish_columns(std::span<const std::byte> partial, const order::Interval& columns,
                                std::byte* values) const noexcept {
  const Count rows = rows_of(partial);
  const Bytes each = size_of(shape_.result);
  if (!has_groups(rows))
    return for_each_column(shape_, partial, columns, [&](Count i, const Column& column) {
      write_value(shape_, column, rows, values + i * each);
      return true;
    });
  BinnedGroup group;
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    begin += columns_of_group * round_whole_groups(partial, {begin, columns.end}, values + begin * each);
    if (begin >= columns.end) break;
    const bool is_there = with_extent(shape_.bin_count, shape_.group_columns(begin), [&](auto bin_count, auto count) {
      if (!take_group(shape_, partial, begin, group, bin_count, count)) return false;
      write_values(shape_, group, bin_count, count, rows, values + begin * each);
      return true;
    });
    if (!is_there) return false;
  }
  return true;
}

Status BinnedKind::columns_to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept {
  if (!is_whole(partial)) return Status::transport_failed;
  if (rows_of(partial) > most_rows) return Status::unsupported;
  const bool are_there = for_each_column(shape_, partial, {0, shape_.columns}, [&](Count i, const Column& column) {
    put_words(column, shape_.bin_count, words.subspan(i * column_words(), column_words()));
    return true;
  });
  return are_there ? Status::ok : Status::transport_failed;
}

void BinnedKind::to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept {
  std::ranges::fill(words, 0);
  Header header = header_of(partial);
  if (header.status == Status::ok) header.status = columns_to_words(partial, words.subspan(word_head::size));
  const bool is_ok = header.status == Status::ok;
  if (!is_ok) std::ranges::fill(words, 0);
  word_head::put(header, is_ok ? rows_of(partial) : 0, words);
}

Bytes BinnedKind::from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                             std::span<std::byte> out) const noexcept {
  if (out.size() < sizeof(Header)) return 0;
  if (sums.size() < word_count()) return write_failure(out, {.digest = digest}, Status::transport_failed);
  const Header header = word_head::header_of(sums, rank_count, digest);
  if (header.status != Status::ok) return write_failure(out, header, header.status);
  const Count rows = word_head::rows_of(sums);
  if (rows > most_rows) return write_failure(out, header, Status::unsupported);
  const Bytes size = shape_.record_bytes(rows);
  if (out.size() < size) return write_failure(out, header, Status::transport_failed);
  Column column;
  BinnedGroup group;
  for (Count i = 0; i < shape_.columns; ++i) {
    const auto words = sums.subspan(word_head::size + i * column_words(), column_words());
    if (!take_words(words, shape_.bin_count, rank_count, column)) return write_failure(out, header, Status::mismatch);
    if (!are_possible(column.bins, shape_.bin_count, rows)) return write_failure(out, header, Status::transport_failed);
    if (has_groups(rows))
      put_in_group(shape_, column, i, group, out);
    else
      put(shape_, column, i, out);
  }
  set_header(out, header);
  std::memcpy(out.data() + sizeof header, &rows, sizeof rows);
  return size;
}

}  // namespace

std::unique_ptr<PartialKind> make_binned(Operation operation, Type input, Type result, int bin_count, Sweep sweep,
                                         Count columns) {
  return std::make_unique<BinnedKind>(BinnedShape{.operation = operation,
                                                  .input = input,
                                                  .result = result,
                                                  .bin_count = bin_count,
                                                  .sweep = sweep,
                                                  .columns = columns,
                                                  .grid = BinGrid(squares(operation) ? 2 : 1)});
}

std::unique_ptr<PartialKind> make_binned_of_dealt(Operation operation, Type input, Type result, int bin_count,
                                                  Count columns) {
  return std::make_unique<BinnedKind>(BinnedShape{.operation = operation,
                                                  .input = input,
                                                  .result = result,
                                                  .bin_count = bin_count,
                                                  .sweep = Sweep::single_sweep,
                                                  .columns = columns,
                                                  .grid = BinGrid(1),
                                                  .is_dealt = true});
}

}  // namespace steadfold::arithmetic
