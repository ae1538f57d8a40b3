#include "arithmetic/location.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "arithmetic/plain.hpp"

namespace steadfold::arithmetic {
namespace {

struct NoPadding {};

/// The same bytes for the same pair, on every machine.
template <class T>
struct Located {
  T value{};
  [[no_unique_address]] std::conditional_t<sizeof(T) == 4, std::uint32_t, NoPadding> padding{};
  Index index = 0;
};
static_assert(sizeof(Located<double>) == 16 && sizeof(Located<float>) == 16);

/// Whether `a` wins against a `b` of a higher index, and against one of a lower index where they are not equal.
template <class T, bool least>
bool wins(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a);
    if (a == b) return least ? std::signbit(a) || !std::signbit(b) : !std::signbit(a) || std::signbit(b);
  }
  return least ? a <= b : a >= b;
}

template <class T, bool least>
Located<T> winner(const Located<T>& a, const Located<T>& b) {
  const bool a_is_first = a.index < b.index;
  const Located<T>& first = a_is_first ? a : b;
  const Located<T>& later = a_is_first ? b : a;
  return wins<T, least>(first.value, later.value) ? first : later;
}

template <class T, bool least>
int apply(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* a = static_cast<const Located<T>*>(left);
  const auto* b = static_cast<const Located<T>*>(right);
  auto* r = static_cast<Located<T>*>(result);
  for (std::size_t i = 0; i < count; ++i) r[i] = winner<T, least>(a[i], b[i]);
  return 0;
}

template <class T, bool least>
class LocationBuilder final : public Builder {
 public:
  explicit LocationBuilder(Count columns) : best_(columns) {}

  void clear() override { rows_ = 0; }

  void push(Index begin, const Block& block) override {
    if (block.rows == 0) return;
    const std::byte* column = block.first;
    for (Located<T>& best : best_) {
      const Located<T> found = best_of(begin, column, block);
      best = rows_ == 0 ? found : winner<T, least>(best, found);
      column += sizeof(T);
    }
    rows_ += block.rows;
  }

  Bytes write(std::span<std::byte> out) override { return write_plain(out, rows_, std::as_bytes(std::span(best_))); }

 private:
  static T load(const std::byte* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }

  static Located<T> best_of(Index begin, const std::byte* first, const Block& block) {
    T best = load(first);
    Count at = 0;
    for (Count row = 1; row < block.rows; ++row) {
      const T value = load(first + row * block.row_stride);
      if (wins<T, least>(best, value)) continue;
      best = value;
      at = row;
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(best)) best = std::numeric_limits<T>::quiet_NaN();
    }
    return {.value = best, .index = begin + at};
  }

  std::vector<Located<T>> best_;  // by column
  Count rows_ = 0;
};

/// A plain partial of pairs, but for how elements become pairs.
template <class T, bool least>
class LocationKind final : public PartialKind {
 public:
  explicit LocationKind(Count columns)
      : columns_(columns),
        op_{.apply = apply<T, least>,
            .element_bytes = sizeof(Located<T>),
            .commutative = true,
            .order_free = true,
            .idempotent = true},
        pairs_(make_plain(op_, columns)) {}

  Bytes capacity(const order::IntervalSet& rows) const override { return pairs_->capacity(rows); }
  Bytes value_bytes() const noexcept override { return pairs_->value_bytes(); }
  std::unique_ptr<Builder> builder() const override { return std::make_unique<LocationBuilder<T, least>>(columns_); }
  Partial merge(const Partial& left, const Partial& right, const Room& out) const override {
    return pairs_->merge(left, right, out);
  }
  Status finish(const Partial& partial, Count element_count, std::byte* values, std::byte* spare) const override {
    return pairs_->finish(partial, element_count, values, spare);
  }
  const InPieces* in_pieces() const noexcept override { return pairs_->in_pieces(); }

 private:
  Count columns_;
  Operator op_;
  std::unique_ptr<PartialKind> pairs_;
};

template <class T>
std::unique_ptr<PartialKind> make(bool least, Count columns) {
  if (least) return std::make_unique<LocationKind<T, true>>(columns);
  return std::make_unique<LocationKind<T, false>>(columns);
}

}  // namespace

std::unique_ptr<PartialKind> make_location(Operation operation, Type type, Count columns) {
  const bool least = operation == Operation::min_location;
  switch (type) {
    case Type::f32: return make<float>(least, columns);
    case Type::i32: return make<std::int32_t>(least, columns);
    case Type::i64: return make<std::int64_t>(least, columns);
    case Type::u32: return make<std::uint32_t>(least, columns);
    case Type::u64: return make<std::uint64_t>(least, columns);
    default: break;
  }
  return make<double>(least, columns);
}

}  // namespace steadfold::arithmetic
