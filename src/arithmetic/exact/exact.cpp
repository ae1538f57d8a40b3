#include "arithmetic/exact/exact.hpp"

#include <algorithm>

#include "arithmetic/exact/builder.hpp"
#include "arithmetic/exact/ending.hpp"
#include "arithmetic/exact/record.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/superaccumulator/row_sums.hpp"
#include "arithmetic/superaccumulator/word_head.hpp"

namespace steadfold::arithmetic {
namespace {

using exact_record::columns_of_group;
using exact_record::Descriptor;
using exact_record::digit_bytes;
using exact_record::fixed_bytes;
using exact_record::GroupHead;
using exact_record::GroupSums;
using exact_record::Reader;
using exact_record::Writer;

// The words of a partial. Each word is added over all ranks. A partial has the words of the head, and for every column
// its flags and its digits. The magnitude of a digit is below 2^32; the highest digit may be -2^32. So 2^31 digits fit
// in a word.
constexpr std::size_t digits_at = word_head::flag_words;

void put_column(Flags flags, const DigitRange& range, int digit_count, std::span<std::int64_t> words) noexcept {
  word_head::put_flags(flags, words);
  std::int64_t* digits = words.data() + digits_at;
  for (int i = range.lowest; i < range.end(); ++i) digits[i] = range.digit(i);
  if (!range.negative) return;
  if (range.end() < digit_count) {
    digits[range.end()] = -1;
  } else {
    digits[digit_count - 1] -= std::int64_t{1} << 32;
  }
}

class ExactKind final : public PartialKind, private AddedWords, private RowsAtHand {
 public:
  ExactKind(Type input, const Ending& ending, Count columns) noexcept
      : operation_(ending.operation), input_(input), ending_(ending), columns_(columns) {
    const bool product = sums_products(operation_);
    if (input == Type::f32) {
      product ? set_width<float, 2>() : set_width<float, 1>();
    } else {
      product ? set_width<double, 2>() : set_width<double, 1>();
    }
  }

  Bytes capacity(const order::IntervalSet& /*rows*/) const override {
    const Count groups = has_groups() ? (columns_ + columns_of_group - 1) / columns_of_group : 0;
    return fixed_bytes + groups * sizeof(GroupHead) + columns_ * (sizeof(Descriptor) + digit_bytes(digit_count_));
  }
  Bytes value_bytes() const noexcept override { return columns_ * ending_.value_size(); }
  Content content() const noexcept override { return Content::accumulators; }

  std::unique_ptr<Builder> builder() const override {
    return make_exact_builder(operation_, input_, columns_, ending_);
  }

  const AddedWords* added_words() const noexcept override { return ending_.is_dealt ? nullptr : this; }
  const RowsAtHand* rows_at_hand() const noexcept override { return ending_.is_dealt ? nullptr : this; }

 private:
  std::optional<Count> spare_rows(Count rows) const noexcept override {
    const bool is_sum = operation_ == Operation::sum && ending_.result == input_;
    return is_sum && sums_rows(rows) ? std::optional<Count>(0) : std::nullopt;
  }
  Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* /*spare*/) const override {
    sum_rows(rows, input_, 0, columns_, values);
    return Status::ok;
  }

  Count piece_columns() const noexcept override { return 256; }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const override;
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override;

  Count word_count() const noexcept override { return word_head::size + columns_ * column_words(); }
  void to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept override;
  Bytes from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                   std::span<std::byte> out) const noexcept override;

  template <class Element, int factors>
  void set_width() noexcept {
    digit_count_ = digits_needed<Element, factors>;
    lowest_exponent_ = factors * Format<Element>::lowest_exponent;
  }
  bool has_groups() const noexcept { return columns_ > 1 || ending_.is_dealt; }
  Count column_words() const noexcept { return digits_at + static_cast<Count>(digit_count_); }
  template <class Word>
  std::span<Word> words_of(Count column, std::span<Word> all) const noexcept {
    return all.subspan(word_head::size + column * column_words(), column_words());
  }
  /// Returns the number of columns in the group that begins with this column.
  Count columns_from(Count begin) const noexcept { return std::min(columns_of_group, columns_ - begin); }
  /// Returns the number of whole groups from column `begin` on.
  Count whole_groups(Count begin, Count end) const noexcept {
    return columns_ == 1 ? 0 : (end - begin) / columns_of_group;
  }
  bool next(Reader& reader, Count begin, GroupSums& group) const noexcept;
  void put(Writer& writer, Count begin, GroupSums& group) const noexcept;
  bool readable(std::span<const std::byte> partial) const noexcept;

  Operation operation_;
  Type input_;
  Ending ending_;
  Count columns_;
  int digit_count_ = 0;
  int lowest_exponent_ = 0;
  kernels::MergeNarrowGroups merge_narrow_groups_ = kernels::merge_narrow_groups(kernels::chosen());
  kernels::RoundNarrowGroups round_narrow_groups_ = kernels::round_narrow_groups(kernels::chosen());
};

/// Reads the next columns of a record. Returns false if `put` cannot have written its bytes.
bool ExactKind::next(Reader& reader, Count begin, GroupSums& group) const noexcept {
  if (has_groups()) return reader.next(columns_from(begin), group) && (ending_.is_dealt || group.minus_zeros == 0);
  Flags flags = no_flags;
  const bool is_there = reader.next(flags, group.wide[0]);
  group.is_narrow = false;
  group.flags = {};
  group.flags.add(0, flags);
  return is_there;
}

void ExactKind::put(Writer& writer, Count begin, GroupSums& group) const noexcept {
  if (has_groups())
    writer.put(columns_from(begin), group);
  else
    writer.put(group.flags.of(0), group.wide[0]);
}

bool ExactKind::readable(std::span<const std::byte> partial) const noexcept {
  Reader reader(partial, digit_count_);
  GroupSums group;
  for (Count begin = 0; begin < columns_; begin += columns_of_group) {
    if (!next(reader, begin, group)) return false;
  }
  return partial.size() >= fixed_bytes && reader.at_end();
}

Partial ExactKind::merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const {
  const std::span<std::byte> out = room.head;
  const MergedHeader merged = merge_headers(left.head, right.head);
  if (out.size() < sizeof(Header)) return {};
  if (!merged.ok) return failed(room, merged.header, merged.header.status);
  const order::Interval columns = pieces.take(columns_, columns_of_group);
  Reader a(left.head, digit_count_);
  Reader b(right.head, digit_count_);
  Writer writer(out, merged.header, a.rows() + b.rows(), digit_count_);
  if (columns.begin > 0) {
    a.go_to(pieces.left, left.head);
    b.go_to(pieces.right, right.head);
    writer.go_to(pieces.out);
  }
  GroupSums x;
  GroupSums y;
  GroupSums sum;
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    begin += columns_of_group * writer.merge_alike(a, b, whole_groups(begin, columns.end), merge_narrow_groups_);
    if (begin >= columns.end) break;
    if (!next(a, begin, x) || !next(b, begin, y)) {
      writer.fail();
      break;
    }
    sum.set_sum(x, y, columns_from(begin));
    put(writer, begin, sum);
  }
  if (pieces.more && writer.fits()) {
    pieces.left = a.position(left.head);
    pieces.right = b.position(right.head);
    pieces.out = writer.position();
    return {};
  }
  pieces.stop();
  if (!a.at_end() || !b.at_end()) writer.fail();
  return out.first(writer.finish());
}

Status ExactKind::finish_piece(const Partial& whole, Count element_count, std::byte* values, std::byte* /*spare*/,
                               Pieces& pieces) const {
  const std::span<const std::byte> partial = whole.head;
  const Status status = header_of(partial).status;
  if (status != Status::ok) return status;
  if (partial.size() < fixed_bytes) return Status::transport_failed;
  Reader reader(partial, digit_count_);
  const Status of_rows = ending_.check(reader.rows(), element_count);
  if (of_rows != Status::ok) return of_rows;
  const order::Interval columns = pieces.take(columns_, columns_of_group);
  if (columns.begin > 0) reader.go_to(pieces.left, partial);
  GroupSums group;
  for (Count begin = columns.begin; begin < columns.end; begin += columns_of_group) {
    begin += columns_of_group * ending_.write_alike(reader, whole_groups(begin, columns.end), lowest_exponent_,
                                                    round_narrow_groups_, values + begin * ending_.value_size());
    if (begin >= columns.end) break;
    if (!next(reader, begin, group)) {
      pieces.stop();
      return Status::transport_failed;
    }
    ending_.write(group, columns_from(begin), reader.rows(), lowest_exponent_, values + begin * ending_.value_size());
  }
  pieces.left = reader.position(partial);
  return pieces.more || reader.at_end() ? Status::ok : Status::transport_failed;
}

void ExactKind::to_words(std::span<const std::byte> partial, std::span<std::int64_t> words) const noexcept {
  std::fill(words.begin(), words.end(), 0);
  Header header = header_of(partial);
  if (header.status == Status::ok && !readable(partial)) header.status = Status::transport_failed;
  Reader reader(partial, digit_count_);
  word_head::put(header, reader.rows(), words);
  if (header.status != Status::ok) return;
  GroupSums group;
  DigitRange range;
  for (Count column = 0; column < columns_; ++column) {
    const std::size_t lane = column % columns_of_group;
    if (lane == 0) next(reader, column, group);
    put_column(group.flags.of(lane), group.digit_range(lane, range), digit_count_, words_of(column, words));
  }
}

Bytes ExactKind::from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                            std::span<std::byte> out) const noexcept {
  if (out.size() < sizeof(Header)) return 0;
  if (sums.size() < word_count()) return write_failure(out, {.digest = digest}, Status::transport_failed);
  const Header header = word_head::header_of(sums, rank_count, digest);
  if (header.status != Status::ok) return write_failure(out, header, header.status);
  Writer writer(out, header, word_head::rows_of(sums), digit_count_);
  GroupSums group;
  for (Count begin = 0; begin < columns_; begin += columns_of_group) {
    group.flags = {};
    group.is_narrow = false;
    for (std::size_t lane = 0; lane < columns_from(begin); ++lane) {
      const auto words = words_of(begin + lane, sums);
      make_digit_range(words.subspan(digits_at), 0, group.wide[lane]);
      group.flags.add(lane, word_head::flags_of(words));
    }
    put(writer, begin, group);
  }
  return writer.finish();
}

}  // namespace

std::unique_ptr<PartialKind> make_exact(Operation operation, Type input, Type result, Count columns) {
  return std::make_unique<ExactKind>(input, Ending{.operation = operation, .result = result}, columns);
}

std::unique_ptr<PartialKind> make_exact_of_dealt(Operation operation, Type input, Type result, Count columns) {
  return std::make_unique<ExactKind>(input, Ending{.operation = operation, .result = result, .is_dealt = true},
                                     columns);
}

}  // namespace steadfold::arithmetic
