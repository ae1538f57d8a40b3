// Reads, writes and merges the message format of state_bytes.hpp: a StateMessageHead, then for each column two counters
// and an integer in two's complement, in words of 64 bits. Sums of words are sums of integers, so merging is
// associative and commutative.
#include <algorithm>
#include <array>
#include <cstring>

#include "arithmetic/exact/state_bytes.hpp"

namespace steadfold::arithmetic {
namespace {

/// The fault of a message. If two messages with faults are merged, the greater fault is kept.
enum class MessageFault : std::uint32_t { none, shapes, damaged };

struct StateMessageHead {
  std::array<char, 4> magic = {'S', 'F', 'A', 'M'};
  MessageFault fault = MessageFault::none;
  std::uint32_t type = 0;
  std::uint32_t factors = 0;
  std::uint64_t columns = 0;
  std::int64_t rows = 0;
};
static_assert(sizeof(StateMessageHead) == 32);

// Words per column: the number of terms that are -0.0, and the flags of special terms.
constexpr Count counter_words = 2;
constexpr Count most_words = (widest_digit_count + 2) / 2;
constexpr unsigned all_special = has_nan | has_plus_infinity | has_minus_infinity;

/// Returns the number of words of the integer: its digits, and at least one more digit.
Count integer_words(const StateShape& shape) noexcept { return static_cast<Count>(digit_count(shape)) / 2 + 1; }

StateShape shape_of(const StateMessageHead& head) noexcept {
  return {head.type == 1 ? Type::f32 : Type::f64, static_cast<int>(head.factors), head.columns};
}

StateMessageHead head_of(std::span<const std::byte> message) noexcept {
  StateMessageHead head;
  std::memcpy(&head, message.data(), sizeof head);
  return head;
}

/// Finds the fault of a message, without a check of its sums.
MessageFault fault_of(std::span<const std::byte> message) noexcept {
  const StateMessageHead head = head_of(message);
  if (head.magic != StateMessageHead{}.magic || head.fault > MessageFault::damaged) return MessageFault::damaged;
  if (head.fault != MessageFault::none) return head.fault;
  if (head.type > 1 || head.factors < 1 || head.factors > 2 || head.columns < 1 || head.columns > message.size() ||
      message_bytes(shape_of(head)) != message.size()) {
    return MessageFault::damaged;
  }
  return MessageFault::none;
}

/// Writes only the fault, so that the bytes do not depend on the order of merges.
void write_fault(MessageFault fault, std::span<std::byte> message) noexcept {
  const StateMessageHead head{.fault = fault};
  std::ranges::fill(message, std::byte{0});
  std::memcpy(message.data(), &head, sizeof head);
}

std::uint64_t word_at(const std::byte* words, Count i) noexcept {
  std::uint64_t word;
  std::memcpy(&word, words + i * sizeof word, sizeof word);
  return word;
}

void set_word(std::byte* words, Count i, std::uint64_t word) noexcept {
  std::memcpy(words + i * sizeof word, &word, sizeof word);
}

/// Reads the sum of a column. Returns false if it is invalid.
bool read_column(const std::byte* words, const StateShape& shape, ColumnSum& sum) noexcept {
  const std::uint64_t special = word_at(words, 1);
  sum.minus_zeros = static_cast<std::int64_t>(word_at(words, 0));
  sum.special = static_cast<Flags>(special);
  const Count count = integer_words(shape);
  const auto digits = static_cast<std::size_t>(digit_count(shape));
  std::array<std::int64_t, 2 * most_words> all;
  for (Count i = 0; i < count; ++i) {
    const std::uint64_t word = word_at(words, counter_words + i);
    all[2 * i] = static_cast<std::uint32_t>(word);
    all[2 * i + 1] = static_cast<std::int64_t>(word >> 32);
  }
  const auto top = static_cast<std::int32_t>(all[digits - 1]);
  for (std::size_t i = digits; i < 2 * count; ++i) {
    if (static_cast<std::uint32_t>(all[i]) != (top < 0 ? ~std::uint32_t{0} : 0)) return false;
  }
  all[digits - 1] = top;
  make_digit_range(std::span(all).first(digits), 0, sum.range);
  return (special & ~std::uint64_t{all_special}) == 0;
}

}  // namespace

Bytes message_bytes(const StateShape& shape) noexcept {
  return sizeof(StateMessageHead) + shape.columns * (counter_words + integer_words(shape)) * sizeof(std::uint64_t);
}

void write_message(const ExactState& state, std::span<std::byte> out) noexcept {
  const StateShape& shape = state.shape();
  const StateMessageHead head{.type = shape.type == Type::f32,
                              .factors = static_cast<std::uint32_t>(shape.factors),
                              .columns = shape.columns,
                              .rows = state.rows()};
  std::memcpy(out.data(), &head, sizeof head);
  std::byte* at = out.data() + sizeof head;
  const Count words = integer_words(shape);
  ColumnSum sum;
  for (Count column = 0; column < shape.columns; ++column) {
    state.read(column, sum);
    set_word(at, 0, static_cast<std::uint64_t>(sum.minus_zeros));
    set_word(at, 1, sum.special);
    at += counter_words * sizeof(std::uint64_t);
    for (Count i = 0; i < words; ++i) {
      const auto digit = static_cast<int>(2 * i);
      set_word(at, i, std::uint64_t{sum.range.digit(digit + 1)} << 32 | sum.range.digit(digit));
    }
    at += words * sizeof(std::uint64_t);
  }
}

void merge_messages(std::span<const std::byte> from, std::span<std::byte> into) noexcept {
  if (into.size() < sizeof(StateMessageHead)) return;
  if (from.size() != into.size()) return write_fault(MessageFault::damaged, into);
  const MessageFault fault = std::max(fault_of(from), fault_of(into));
  if (fault != MessageFault::none) return write_fault(fault, into);
  const StateMessageHead other = head_of(from);
  StateMessageHead head = head_of(into);
  const StateShape shape = shape_of(head);
  if (shape != shape_of(other)) return write_fault(MessageFault::shapes, into);
  head.rows = static_cast<std::int64_t>(static_cast<std::uint64_t>(head.rows) + static_cast<std::uint64_t>(other.rows));
  std::memcpy(into.data(), &head, sizeof head);
  const std::byte* a = from.data() + sizeof head;
  std::byte* b = into.data() + sizeof head;
  const Count words = integer_words(shape);
  for (Count column = 0; column < shape.columns; ++column) {
    set_word(b, 0, word_at(a, 0) + word_at(b, 0));
    set_word(b, 1, word_at(a, 1) | word_at(b, 1));
    std::uint64_t carry = 0;
    for (Count i = counter_words; i < counter_words + words; ++i) {
      const Uint128 sum = Uint128{word_at(a, i)} + word_at(b, i) + carry;
      set_word(b, i, static_cast<std::uint64_t>(sum));
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    a += (counter_words + words) * sizeof(std::uint64_t);
    b += (counter_words + words) * sizeof(std::uint64_t);
  }
}

bool read_message(std::span<const std::byte> message, ExactState& state, std::string& wrong) {
  const StateShape& shape = state.shape();
  const MessageFault fault = message.size() < sizeof(StateMessageHead) ? MessageFault::damaged : fault_of(message);
  const StateMessageHead head = fault == MessageFault::none ? head_of(message) : StateMessageHead{};
  if (fault == MessageFault::damaged) {
    wrong =
        "the message is damaged (no packed accumulator has these bytes), pack an accumulator and send all of its bytes";
  } else if (fault == MessageFault::shapes) {
    wrong =
        "accumulators of different shapes were merged (type, terms or columns differ), pack accumulators of one shape";
  } else if (shape_of(head) != shape) {
    wrong =
        "the packed accumulator has another shape (type, terms or columns differ), unpack it into an accumulator of "
        "its shape";
  } else {
    wrong.clear();
  }
  if (!wrong.empty()) return false;
  const Bytes column_bytes = (counter_words + integer_words(shape)) * sizeof(std::uint64_t);
  const std::byte* const columns = message.data() + sizeof head;
  ColumnSum sum;
  for (Count column = 0; column < shape.columns; ++column) {
    if (read_column(columns + column * column_bytes, shape, sum)) continue;
    wrong = "column " + std::to_string(column) +
            " of the packed accumulator holds no sum (the bytes are damaged, or the sum exceeds " +
            std::to_string(digit_count(shape)) + " digits of 32 bits), pack the accumulator again";
    return false;
  }
  state.clear();
  state.set_rows(head.rows);
  for (Count column = 0; column < shape.columns; ++column) {
    read_column(columns + column * column_bytes, shape, sum);
    state.unite(column, sum, Way::added);
  }
  return true;
}

}  // namespace steadfold::arithmetic
