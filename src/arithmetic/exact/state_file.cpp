// Reads and writes the file format of state_bytes.hpp.
#include <array>
#include <cstring>

#include "arithmetic/exact/state_bytes.hpp"

namespace steadfold::arithmetic {
namespace {

constexpr std::array<char, 4> magic = {'S', 'F', 'A', 'C'};
constexpr Bytes head_bytes = 24;
constexpr Bytes column_bytes = 12;  // bytes of a column without its digits
constexpr Bytes sum_bytes = 4;
constexpr unsigned all_special = has_nan | has_plus_infinity | has_minus_infinity;

/// The table of CRC-32 as in IEEE 802.3: polynomial 04C11DB7, bits reflected.
constexpr std::array<std::uint32_t, 256> crc_table = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? 0xEDB88320u : 0);
    table[byte] = rest;
  }
  return table;
}();

std::uint32_t crc(std::span<const std::byte> bytes) noexcept {
  std::uint32_t rest = ~std::uint32_t{0};
  for (const std::byte byte : bytes) rest = rest >> 8 ^ crc_table[(rest ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return ~rest;
}

class StateFileWriter {
 public:
  explicit StateFileWriter(std::span<std::byte> out) noexcept : out_(out) {}
  template <class Number>
  void put(Number number) noexcept {
    for (std::size_t i = 0; i < sizeof number; ++i)
      out_[at_++] = static_cast<std::byte>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xFF);
  }
  std::span<const std::byte> written() const noexcept { return out_.first(at_); }

 private:
  std::span<std::byte> out_;
  std::size_t at_ = 0;
};

class StateFileReader {
 public:
  explicit StateFileReader(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
  /// Reads a number. Enough bytes must be left.
  template <class Number>
  Number get() noexcept {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) number |= std::to_integer<std::uint64_t>(rest_[i]) << (8 * i);
    rest_ = rest_.subspan(sizeof(Number));
    return static_cast<Number>(number);
  }
  Bytes left() const noexcept { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

/// Whether the integer fits in `digits` digits in two's complement; the highest digit has the sign.
bool fits(const DigitRange& range, int digits) noexcept {
  if (range.end() > digits) return false;
  return (static_cast<std::int32_t>(range.digit(digits - 1)) < 0) == range.negative;
}

/// Reads a column. Returns false if no StateFileWriter can have written it.
bool read_column(StateFileReader& in, int digits, ColumnSum& sum) noexcept {
  if (in.left() < column_bytes) return false;
  sum.minus_zeros = in.get<std::int64_t>();
  const auto special = in.get<std::uint8_t>();
  sum.special = static_cast<Flags>(special);
  sum.range.lowest = in.get<std::uint8_t>();
  sum.range.count = in.get<std::uint8_t>();
  const auto negative = in.get<std::uint8_t>();
  sum.range.negative = negative == 1;
  if ((special & ~all_special) != 0 || negative > 1 || sum.range.end() > digits) return false;
  const auto count = static_cast<std::size_t>(sum.range.count);
  if (in.left() < count * sizeof(std::uint32_t)) return false;
  for (std::size_t i = 0; i < count; ++i) sum.range.digits[i] = in.get<std::uint32_t>();
  return sum.range.canonical() && fits(sum.range, digits);
}

/// Returns the error in the head or in the checksum; an empty text if there is none.
std::string fault_of(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes + column_bytes + sum_bytes)
    return "the bytes are not an accumulator (" + std::to_string(bytes.size()) +
           " bytes, but the shortest accumulator has " + std::to_string(head_bytes + column_bytes + sum_bytes) +
           "), give all bytes that were written";
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return "the bytes are not an accumulator (they do not begin with SFAC), give the bytes that an accumulator was "
           "written to";
  const auto version = StateFileReader(bytes.subspan(magic.size())).get<std::uint16_t>();
  if (version != state_version)
    return "the accumulator has bits version " + std::to_string(version) + " (this library reads version " +
           std::to_string(state_version) + "), read it with the release that wrote it";
  const std::size_t summed = bytes.size() - sum_bytes;
  if (StateFileReader(bytes.subspan(summed)).get<std::uint32_t>() != crc(bytes.first(summed)))
    return "the accumulator is damaged (the checksum of its " + std::to_string(bytes.size()) +
           " bytes differs from the stored checksum), write the accumulator again";
  return {};
}

}  // namespace

Bytes file_bytes(const ExactState& state) noexcept {
  Bytes bytes = head_bytes + sum_bytes;
  ColumnSum sum;
  for (Count column = 0; column < state.shape().columns; ++column) {
    state.read(column, sum);
    bytes += column_bytes + static_cast<Bytes>(sum.range.count) * sizeof(std::uint32_t);
  }
  return bytes;
}

void write_file(const ExactState& state, std::span<std::byte> out) noexcept {
  const StateShape& shape = state.shape();
  StateFileWriter to(out);
  for (const char c : magic) to.put(static_cast<std::uint8_t>(c));
  to.put(state_version);
  to.put(static_cast<std::uint8_t>(shape.type == Type::f32));
  to.put(static_cast<std::uint8_t>(shape.factors));
  to.put(std::uint64_t{shape.columns});
  to.put(state.rows());
  ColumnSum sum;
  for (Count column = 0; column < shape.columns; ++column) {
    state.read(column, sum);
    to.put(sum.minus_zeros);
    to.put(static_cast<std::uint8_t>(sum.special));
    to.put(static_cast<std::uint8_t>(sum.range.lowest));
    to.put(static_cast<std::uint8_t>(sum.range.count));
    to.put(static_cast<std::uint8_t>(sum.range.negative));
    for (int i = 0; i < sum.range.count; ++i) to.put(sum.range.digits[static_cast<std::size_t>(i)]);
  }
  to.put(crc(to.written()));
}

std::unique_ptr<ExactState> read_file(std::span<const std::byte> bytes, std::string& wrong) {
  wrong = fault_of(bytes);
  if (!wrong.empty()) return nullptr;
  StateFileReader in(bytes.subspan(magic.size() + sizeof state_version));
  const auto type = in.get<std::uint8_t>();
  const auto factors = in.get<std::uint8_t>();
  const auto columns = in.get<std::uint64_t>();
  const auto rows = in.get<std::int64_t>();
  const Bytes content = bytes.size() - head_bytes - sum_bytes;
  wrong =
      "the accumulator is damaged (its checksum is right, but no accumulator has these bytes), write the accumulator "
      "again";
  if (type > 1 || factors < 1 || factors > 2 || columns < 1 || columns > content / column_bytes) return nullptr;
  const StateShape shape = {type == 1 ? Type::f32 : Type::f64, factors, columns};
  auto state = ExactState::make(shape);
  state->set_rows(rows);
  ColumnSum sum;
  StateFileReader from(bytes.subspan(head_bytes, content));
  for (Count column = 0; column < columns; ++column) {
    if (!read_column(from, digit_count(shape), sum)) return nullptr;
    state->unite(column, sum, Way::added);
  }
  if (from.left() != 0) return nullptr;
  wrong.clear();
  return state;
}

}  // namespace steadfold::arithmetic
