#include "elements.hpp"

#include <algorithm>
#include <cstring>

#include "operators.hpp"
#include "types.hpp"

namespace steadfold::soak {
namespace {

/// Makes real numbers of one format, one after the other.
class Reals {
 public:
  Reals(Random& random, Numbers numbers, Format format, int widest)
      : random_(random), numbers_(numbers), format_(format) {
    const int middle = std::min(format.top - 12, 40) - 20;
    least_ = numbers == Numbers::wide ? format.least - format.digits / 2 : middle - widest;
    most_ = numbers == Numbers::wide ? format.top : middle + widest;
    if (numbers == Numbers::subnormal) most_ = (least_ = format.least) + 2 * format.digits;
    if (numbers == Numbers::alike) least_ = most_ = middle;
  }

  double next() {
    const double x = fresh();
    last_[at_++ % 8] = x;
    return x;
  }

 private:
  double fresh() {
    switch (numbers_) {
      case Numbers::small_integers: return static_cast<double>(random_.from_to(1, 100));
      case Numbers::zeros: return random_.one_in(200) ? 0.0 : -0.0;
      case Numbers::cancelling:
        if (at_ > 0 && !random_.one_in(3)) return -last_[random_.below(std::min<std::uint64_t>(at_, 8))];
        break;
      case Numbers::ties: return tie();
      case Numbers::alike: return std::fabs(number());
      case Numbers::special:
        if (random_.one_in(12)) return extreme();
        break;
      case Numbers::wide:
        if (random_.one_in(16)) return random_.one_in(2) ? 0.0 : -0.0;
        break;
      default: break;
    }
    if (at_ > 0 && random_.one_in(8)) return -last_[random_.below(std::min<std::uint64_t>(at_, 8))];
    return number();
  }

  /// A number m * 2^e whose first digit is between 2^least_ and 2^most_, as far as the format allows.
  double number() {
    const auto span = static_cast<std::uint64_t>(most_ - least_) + 1;
    const int first = least_ + static_cast<int>(random_.below(span));
    const int last = std::max(first - format_.digits, format_.least);
    const int digits = std::clamp(first - last, 1, format_.digits);
    std::uint64_t m = (random_.bits() >> (64 - digits)) | std::uint64_t{1} << (digits - 1);
    if (random_.one_in(10)) m = std::uint64_t{1} << (digits - 1);
    const double size = std::ldexp(static_cast<double>(m), std::min(last, format_.top - format_.digits));
    return random_.one_in(2) ? size : -size;
  }

  /// The terms of a tie: ones, halves of their last digits, and small numbers that decide the rounding.
  double tie() {
    const int half = -format_.digits;
    const int places[] = {0, 0, half, half, half + 1, 2 * half, 1, half - 3};
    const double size = std::ldexp(1.0, std::max(random_.one_of(places), format_.least));
    return random_.one_in(4) ? -size : size;
  }

  double extreme() {
    const double most = std::ldexp(std::ldexp(1.0, format_.digits) - 1, format_.top - format_.digits);
    const double least = std::ldexp(1.0, format_.least);
    const double infinity = std::numeric_limits<double>::infinity();
    const double values[] = {0.0, -0.0, most, -most, most, -most, least, -least, infinity, -infinity};
    return values[random_.below(random_.one_in(20) ? 10 : 8)];
  }

  Random& random_;
  Numbers numbers_;
  Format format_;
  int least_ = 0;
  int most_ = 0;
  double last_[8] = {};
  std::uint64_t at_ = 0;
};

/// A NaN of the type, with a payload, quiet or signalling.
void set_nan(Random& random, sf_type type, std::byte* at) {
  const std::uint64_t bits = random.bits();
  switch (type) {
    case SF_F64: return write(at, 0x7FF0000000000001u | bits);
    case SF_F32: return write(at, static_cast<std::uint32_t>(0x7F800001u | bits));
    case SF_BF16: return write(at, static_cast<std::uint16_t>(0x7F81u | bits));
    case SF_F16: return write(at, static_cast<std::uint16_t>(0x7C01u | bits));
    default: return;
  }
}

void fill_reals(Random& random, const Member& m, std::vector<std::byte>& bytes) {
  const sf_type type = part_of(m.type);
  // Products of many numbers soon leave the range of the format, sums do not.
  Reals reals(random, m.numbers, format_of(type), m.operation == SF_PRODUCT ? 2 : type == SF_F16 ? 8 : 25);
  const bool has_nans = m.numbers == Numbers::special && random.one_in(2);
  const std::size_t size = size_of(type);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    set_value(type, bytes.data() + i, reals.next());
    if (has_nans && random.one_in(300)) set_nan(random, type, bytes.data() + i);
  }
}

template <class T>
void fill_extended(Random& random, const Member& m, std::vector<std::byte>& bytes) {
  Reals reals(random, m.numbers, format_of(SF_F64), m.operation == SF_PRODUCT ? 2 : 25);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
    T x = reals.next();
    const auto low = static_cast<T>(random.bits() >> 12);
    if (m.numbers == Numbers::ordinary || m.numbers == Numbers::alike) x += x * low * T{0x1p-110};
    write(bytes.data() + i, x);
  }
}

void fill_integers(Random& random, const Member& m, std::vector<std::byte>& bytes) {
  const std::size_t size = size_of(m.type);
  const bool small = random.one_in(3);
  for (std::size_t i = 0; i < bytes.size(); i += size) {
    const std::uint64_t bits = small ? random.below(7) - 3 : random.bits();
    std::memcpy(bytes.data() + i, &bits, size);
  }
}

/// Fills elements of user operators: matrices of rounded numbers, otherwise any bytes below those of a poison element.
void fill_user(Random& random, const Member& m, std::vector<std::byte>& bytes) {
  if (m.element_bytes() == 32) {
    for (std::size_t i = 0; i < bytes.size(); i += 8)
      write(bytes.data() + i, static_cast<double>(static_cast<std::int64_t>(random.bits()) >> 10) * 0x1p-53);
  } else {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(251));
  }
}

void fill(Random& random, const Member& m, std::vector<std::byte>& bytes) {
  if (m.operation == SF_USER) return fill_user(random, m, bytes);
  if (is_integer(m.type)) return fill_integers(random, m, bytes);
  if (m.type == SF_LONG_DOUBLE) return fill_extended<long double>(random, m, bytes);
  if (m.type == SF_FLOAT128) return fill_extended<Binary128>(random, m, bytes);
  fill_reals(random, m, bytes);
}

/// Calls `copy(to, from)` for all elements that must equal an earlier element.
template <class Copy>
void repeat(const Member& m, const Repeats& repeats, const Copy& copy) {
  const std::uint64_t columns = m.data_columns();
  for (std::uint64_t row = m.rows; row-- > 0;)  // backwards, because the sources come earlier
    for (std::uint64_t column = columns; column-- > 0;)
      copy(row * columns + column, repeats.rows.of(row) * columns + repeats.columns.of(column));
}

/// Makes masks that select nearly all elements, or few, and labels of all groups, or of few. Elements that the mask
/// leaves out have any label.
void select(Random& random, const Member& m, Elements& made) {
  const std::uint64_t count = m.rows * m.data_columns();
  if (m.array.has_mask) {
    const std::uint64_t kept = random.from_to(0, 4);
    for (std::uint64_t i = 0; i < count; ++i) made.mask.push_back(random.below(4) < kept);
    repeat(m, m.array.mask, [&](std::uint64_t to, std::uint64_t from) { made.mask[to] = made.mask[from]; });
  }
  if (m.array.groups == 0) return;
  const auto groups = static_cast<std::int64_t>(random.one_in(2) ? m.array.groups : random.from_to(1, m.array.groups));
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool is_none = m.array.has_labels_of_none && random.one_in(4);
    made.labels.push_back(is_none ? -1 - static_cast<std::int64_t>(random.below(3))
                                  : static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(groups))));
  }
  repeat(m, m.array.labels, [&](std::uint64_t to, std::uint64_t from) { made.labels[to] = made.labels[from]; });
  const Repeats& repeats = m.array.labels;
  const bool is_each_its_own = repeats.rows.run == 1 && repeats.columns.run == 1 && repeats.rows.period >= m.rows &&
                               repeats.columns.period >= m.data_columns();
  for (std::uint64_t i = 0; m.array.has_mask && is_each_its_own && i < count; ++i)
    if (!made.mask[i] && random.one_in(3)) made.labels[i] = static_cast<std::int64_t>(m.array.groups + random.below(3));
}

void repeat_elements(const Member& m, Elements& made) {
  const std::size_t size = m.element_bytes();
  const auto repeat_in = [&](std::vector<std::byte>& all) {
    return [&all, size](std::uint64_t to, std::uint64_t from) {
      std::memmove(all.data() + to * size, all.data() + from * size, size);
    };
  };
  repeat(m, m.array.elements, repeat_in(made.first));
  if (m.has_factors()) repeat(m, m.array.factors, repeat_in(made.second));
}

}  // namespace

std::vector<std::byte> make_initial(const Member& member, Random& random) {
  Member of_results = member;
  of_results.type = member.result_type;
  std::vector<std::byte> value(member.result_bytes());
  fill(random, of_results, value);
  return value;
}

Elements make_elements(const Member& m, std::uint64_t seed) {
  Random random(seed);
  Elements made;
  made.first.resize(m.rows * m.data_columns() * m.element_bytes());
  fill(random, m, made.first);
  if (m.has_factors()) {
    made.second.resize(made.first.size());
    fill(random, m, made.second);
  } else if (m.operation == SF_MASKED_SUM) {
    made.second.resize(m.rows);
    const std::uint64_t kept = random.from_to(0, 4);
    for (std::byte& byte : made.second)
      byte = random.below(4) < kept ? static_cast<std::byte>(random.from_to(1, 255)) : std::byte{0};
  }
  if (m.array.is_given) repeat_elements(m, made);
  if (m.selects()) select(random, m, made);
  return made;
}

bool are_finite(const Member& m, const Elements& elements) {
  const sf_type type = part_of(m.type);
  const auto all_finite = [type](const std::vector<std::byte>& values) {
    for (std::size_t i = 0; i < values.size(); i += size_of(type))
      if (!std::isfinite(value_of(type, values.data() + i))) return false;
    return true;
  };
  return all_finite(elements.first) && all_finite(elements.second);
}

std::vector<std::byte> rows_of(const std::vector<std::byte>& all, std::size_t row_bytes,
                               const std::vector<sf_interval>& intervals) {
  std::vector<std::byte> mine;
  for (const sf_interval i : intervals)
    mine.insert(mine.end(), all.begin() + static_cast<std::ptrdiff_t>(i.begin * row_bytes),
                all.begin() + static_cast<std::ptrdiff_t>(i.end * row_bytes));
  return mine;
}

}  // namespace steadfold::soak
