#include "arithmetic/exact.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "arithmetic/accumulator.hpp"
#include "arithmetic/column_groups.hpp"
#include "arithmetic/exact_ending.hpp"
#include "arithmetic/exact_record.hpp"
#include "arithmetic/few_rows.hpp"
#include "arithmetic/operator.hpp"
#include "arithmetic/turned_rows.hpp"
#include "arithmetic/word_head.hpp"

namespace steadfold::arithmetic {
namespace {

using exact_record::Descriptor;
using exact_record::digit_bytes;
using exact_record::fixed_bytes;
using exact_record::Reader;
using exact_record::Writer;

template <class Element, ExactOperation operation>
class ExactBuilder final : public Builder {
  using Column = Accumulator<Element, sums_products(operation) ? 2 : 1>;

 public:
  ExactBuilder(Count columns, const Ending& ending)
      : columns_(columns,
                 Column(kernels::chosen(), operation == ExactOperation::abs_sum ? Signs::dropped : Signs::kept)),
        ending_(ending),
        windows_(Column::terms_of(operation == ExactOperation::abs_sum ? Signs::dropped : Signs::kept)),
        tops_(columns > 1 ? columns : 0, ColumnWindowFinder::no_top),
        few_(operation == ExactOperation::sum && ending.operation == ExactOperation::sum && columns == 1
                 ? kernels::sum_as_pair<Element>(kernels::chosen())
                 : nullptr) {}

  void clear() override {
    few_.clear();
    for (Column& column : columns_) column.clear();
    rows_ = 0;
    status_ = Status::ok;
  }

  void push(Index /*begin*/, const Block& block) override {
    const std::byte* second = operation == ExactOperation::dot ? block.second : block.first;
    if (block.rows > 0 && (block.first == nullptr || second == nullptr)) {
      status_ = Status::invalid_argument;
      return;
    }
    push_few();
    const bool waits = rows_ == 0 && few_.may_wait(block, sizeof(Element));
    rows_ += block.rows;
    if (waits) return few_.let_wait(block);
    add(block, second);
  }

  Bytes write(std::span<std::byte> out) override {
    push_few();
    Writer writer(out, Header{.status = status_}, rows_, Column::digit_count);
    if (status_ != Status::ok) return out.size() < sizeof(Header) ? 0 : write_failure(out, Header{}, status_);
    Window window;
    for (const Column& column : columns_) {
      column.window(window);
      writer.put(column.flags(), window);
    }
    return writer.finish();
  }

  ColumnBuilders* columns() noexcept override { return columns_.size() > 1 ? &views_ : nullptr; }
  Count column_count() const noexcept { return columns_.size(); }
  bool prefers_rows() const noexcept { return windows_.works(); }
  void push_column(Count column, Index /*begin*/, const Block& block) {
    const std::byte* second = operation == ExactOperation::dot ? block.second : block.first;
    if (block.rows > 0 && (block.first == nullptr || second == nullptr)) {
      status_ = Status::invalid_argument;
      return;
    }
    if (column == 0) rows_ += block.rows;
    columns_[column].add_rows(block.first, second, block.rows, block.row_stride);
  }

  bool finishes_alone() const noexcept override { return true; }
  Status finish_alone(Count element_count, std::byte* values, std::byte* /*spare*/) override {
    const Status status = status_ != Status::ok ? status_ : ending_.check(rows_, element_count);
    if (status != Status::ok) return status;
    if (!few_.empty() && finish_few(values)) return Status::ok;
    push_few();
    for (const Column& column : columns_) {
      ending_.write(column.flags(), rows_, column.leading(), values);
      values += ending_.value_size();
    }
    return Status::ok;
  }

 private:
  void push_few() {
    if (few_.empty()) return;
    const Block few = few_.take();
    add(few, few.first);
  }
  bool finish_few(std::byte* value) const noexcept {
    kernels::PairSum found;
    return few_.sum(found) && FewRows::write(found, ending_.result == ExactType::f32, value);
  }

  void add(const Block& block, const std::byte* second) {
    Block taken = block;
    taken.second = sums_products(operation) ? second : nullptr;
    if (columns_.size() > 1 && windows_.works() && block.rows >= fewest_for_windows) return add_by_windows(taken);
    if (columns_.size() > 1 && block.rows >= fewest_for_kernels) return add_turned(taken);
    for (Bytes offset = 0; Column & column : columns_) {
      column.add_rows(block.first + offset, second + offset, block.rows, block.row_stride);
      offset += sizeof(Element);
    }
  }

  void add_turned(const Block& block) {
    TurnedRows<Element> turned;
    for_each_column_group(block, columns_.size(), sizeof(Element), [&](Count begin, const kernels::ColumnRows& rows) {
      turned.turn(rows);
      for (Count i = 0; i < rows.columns; ++i)
        columns_[begin + i].add_rows(turned.first(i), turned.second(i), rows.rows, sizeof(Element));
    });
  }

  void add_by_windows(const Block& block) {
    for_each_column_group(block, columns_.size(), sizeof(Element), [&](Count begin, const kernels::ColumnRows& rows) {
      ColumnWindowFinder::Found found;
      windows_.add(rows, std::span(tops_).subspan(begin), found);
      for (Count i = 0; i < rows.columns; ++i) {
        Column& column = columns_[begin + i];
        const std::byte* const first = rows.first + i * sizeof(Element);
        const std::byte* const second = rows.second == nullptr ? first : rows.second + i * sizeof(Element);
        if (found[i].count > 0)
          column.add_sums(found[i], first, second, rows.row_stride);
        else
          column.add_rows(first, second, rows.rows, rows.row_stride);
      }
    });
  }

  static constexpr Count fewest_for_windows = 4;

  std::vector<Column> columns_;
  ColumnViews<ExactBuilder> views_{*this};
  Ending ending_;
  ColumnWindowFinder windows_;
  std::vector<ColumnWindowFinder::Top> tops_;
  FewRows few_;
  Count rows_ = 0;
  Status status_ = Status::ok;
};

// The words of a partial, each to be added over all ranks: those of its head, and for every column its flags and its
// digits. Digits are below 2^32 in magnitude, or -2^32 where nothing is above them: 2^31 of them fit.
constexpr std::size_t digits_at = word_head::flag_words;

void put_column(Flags flags, const Window& window, int digit_count, std::span<std::int64_t> words) noexcept {
  word_head::put_flags(flags, words);
  std::int64_t* digits = words.data() + digits_at;
  for (int i = window.lowest; i < window.end(); ++i) digits[i] = window.digit(i);
  if (!window.negative) return;
  if (window.end() < digit_count) {
    digits[window.end()] = -1;
  } else {
    digits[digit_count - 1] -= std::int64_t{1} << 32;
  }
}

class ExactKind final : public PiecewiseKind, private AddedWords, private RowsAtHand {
 public:
  ExactKind(ExactOperation operation, ExactType input, ExactType result, Count columns) noexcept
      : operation_(operation), input_(input), ending_{operation, result}, columns_(columns) {
    const bool product = sums_products(operation);
    if (input == ExactType::f32) {
      product ? set_width<float, 2>() : set_width<float, 1>();
    } else {
      product ? set_width<double, 2>() : set_width<double, 1>();
    }
  }

  Bytes capacity(const order::IntervalSet& /*rows*/) const override {
    return fixed_bytes + columns_ * (sizeof(Descriptor) + digit_bytes(digit_count_));
  }
  Bytes value_bytes() const noexcept override { return columns_ * ending_.value_size(); }

  std::unique_ptr<Builder> builder() const override {
    return input_ == ExactType::f32 ? builder_of<float>() : builder_of<double>();
  }

  const AddedWords* added_words() const noexcept override { return this; }
  const RowsAtHand* rows_at_hand() const noexcept override { return this; }

 private:
  /// The floating-point sum of two numbers is correctly rounded as it is, with the zeros and NaNs that are due.
  std::optional<Count> spare_rows(Count rows) const noexcept override {
    const bool is_addition = rows == 2 && operation_ == ExactOperation::sum && ending_.result == input_;
    return is_addition ? std::optional<Count>(0) : std::nullopt;
  }
  Status reduce_rows(std::span<const std::byte* const> rows, std::byte* values, std::byte* /*spare*/) const override {
    const Operator& add = built_in(Operation::sum, input_ == ExactType::f32 ? Type::f32 : Type::f64);
    add.apply(rows[0], rows[1], values, columns_, nullptr);
    add.canonicalise(values, columns_);
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
    digit_count_ = Accumulator<Element, factors>::digit_count;
    lowest_exponent_ = Accumulator<Element, factors>::lowest_exponent;
  }
  template <class Element>
  std::unique_ptr<Builder> builder_of() const {
    switch (operation_) {
      case ExactOperation::sum:
      case ExactOperation::mean: return make_builder<Element, ExactOperation::sum>();
      case ExactOperation::abs_sum: return make_builder<Element, ExactOperation::abs_sum>();
      case ExactOperation::dot: return make_builder<Element, ExactOperation::dot>();
      case ExactOperation::sum_squares:
      case ExactOperation::norm2: break;
    }
    return make_builder<Element, ExactOperation::sum_squares>();
  }
  template <class Element, ExactOperation operation>
  std::unique_ptr<Builder> make_builder() const {
    return std::make_unique<ExactBuilder<Element, operation>>(columns_, ending_);
  }

  Count column_words() const noexcept { return digits_at + static_cast<Count>(digit_count_); }
  bool readable(std::span<const std::byte> partial) const noexcept;

  ExactOperation operation_;
  ExactType input_;
  Ending ending_;
  Count columns_;
  int digit_count_ = 0;
  int lowest_exponent_ = 0;
};

bool ExactKind::readable(std::span<const std::byte> partial) const noexcept {
  Reader reader(partial, digit_count_);
  Flags flags = no_flags;
  Window window;
  for (Count column = 0; column < columns_; ++column) {
    if (!reader.next(flags, window)) return false;
  }
  return partial.size() >= fixed_bytes && reader.at_end();
}

Partial ExactKind::merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const {
  const std::span<std::byte> out = room.head;
  const MergedHeader merged = merge_headers(left.head, right.head);
  if (out.size() < sizeof(Header)) return {};
  if (!merged.ok) return failed(room, merged.header, merged.header.status);
  const order::Interval columns = pieces.take(columns_);
  Reader a(left.head, digit_count_);
  Reader b(right.head, digit_count_);
  Writer writer(out, merged.header, a.rows() + b.rows(), digit_count_);
  if (columns.begin > 0) {
    a.go_to(pieces.left, left.head);
    b.go_to(pieces.right, right.head);
    writer.go_to(pieces.out);
  }
  Flags flags[2];
  Window windows[3];
  for (Count column = columns.begin; column < columns.end; ++column) {
    if (!a.next(flags[0], windows[0]) || !b.next(flags[1], windows[1])) {
      writer.fail();
      break;
    }
    add_windows(windows[0], windows[1], windows[2]);
    writer.put(static_cast<Flags>(flags[0] | flags[1]), windows[2]);
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
  const order::Interval columns = pieces.take(columns_);
  if (columns.begin > 0) reader.go_to(pieces.left, partial);
  Flags flags = no_flags;
  Window window;
  values += columns.begin * ending_.value_size();
  for (Count column = columns.begin; column < columns.end; ++column, values += ending_.value_size()) {
    if (!reader.next(flags, window)) {
      pieces.stop();
      return Status::transport_failed;
    }
    ending_.write(flags, reader.rows(), leading(window, lowest_exponent_), values);
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
  Flags flags = no_flags;
  Window window;
  for (Count column = 0; column < columns_; ++column) {
    reader.next(flags, window);
    put_column(flags, window, digit_count_, words.subspan(word_head::size + column * column_words(), column_words()));
  }
}

Bytes ExactKind::from_words(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest,
                            std::span<std::byte> out) const noexcept {
  if (out.size() < sizeof(Header)) return 0;
  if (sums.size() < word_count()) return write_failure(out, {.digest = digest}, Status::transport_failed);
  const Header header = word_head::header_of(sums, rank_count, digest);
  if (header.status != Status::ok) return write_failure(out, header, header.status);
  Writer writer(out, header, word_head::rows_of(sums), digit_count_);
  Window window;
  for (Count column = 0; column < columns_; ++column) {
    const auto words = sums.subspan(word_head::size + column * column_words(), column_words());
    make_window(words.subspan(digits_at), 0, window);
    writer.put(word_head::flags_of(words), window);
  }
  return writer.finish();
}

}  // namespace

std::unique_ptr<PartialKind> make_exact(ExactOperation operation, ExactType input, ExactType result, Count columns) {
  return std::make_unique<ExactKind>(operation, input, result, columns);
}

}  // namespace steadfold::arithmetic
