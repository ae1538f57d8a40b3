#include "arithmetic/location/location.hpp"

#include <cstring>
#include <vector>

#include "arithmetic/location/located.hpp"
#include "arithmetic/plain.hpp"

namespace steadfold::arithmetic {
namespace {

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
  explicit LocationBuilder(Count columns) : extremes_(columns), best_(columns) {}

  void clear() override {
    for (auto& extreme : extremes_) extreme.clear();
    rows_ = 0;
  }

  void push(Index begin, const Block& block) override {
    const std::byte* column = block.first;
    for (auto& extreme : extremes_) {
      extreme.take(begin, column, block.mask, block.rows, block.row_stride);
      column += sizeof(T);
    }
    rows_ += block.rows;
  }

  Bytes write(std::span<std::byte> out) override {
    for (Count i = 0; i < best_.size(); ++i) best_[i] = extremes_[i].best();
    return write_plain(out, rows_, std::as_bytes(std::span(best_)));
  }

 private:
  std::vector<Extreme<T, least>> extremes_;  // result of the search, for each column
  std::vector<Located<T>> best_;
  Count rows_ = 0;
};

/// A plain partial of pairs (value, index). Elements are first converted to pairs.
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

 private:
  Count piece_columns() const noexcept override { return pairs_->piece_columns(); }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& out, Pieces& pieces) const override {
    return pairs_->merge_piece(left, right, out, pieces);
  }
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override {
    const Status status = pairs_->finish_piece(partial, element_count, values, spare, pieces);
    if (status != Status::ok) return status;
    for (Count i = 0; i < columns_; ++i) {
      Located<T> each;
      std::memcpy(&each, values + i * sizeof each, sizeof each);
      if (each.is_none()) return Status::empty;
    }
    return Status::ok;
  }

  Count columns_;
  Operator op_;
  std::unique_ptr<PartialKind> pairs_;
};

template <class T>
std::unique_ptr<PartialKind> make(bool least, Count columns) {
  if (least) return std::make_unique<LocationKind<T, true>>(columns);
  return std::make_unique<LocationKind<T, false>>(columns);
}

template <class T>
std::vector<std::byte> none() {
  const Located<T> located{.value = std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN() : T{}};
  std::vector<std::byte> bytes(sizeof located);
  std::memcpy(bytes.data(), &located, sizeof located);
  return bytes;
}

/// Calls `of_type` with a number of the type, and returns its result.
template <class OfType>
auto by_type(Type type, const OfType& of_type) {
  switch (type) {
    case Type::f32: return of_type(float{});
    case Type::i32: return of_type(std::int32_t{});
    case Type::i64: return of_type(std::int64_t{});
    case Type::u32: return of_type(std::uint32_t{});
    case Type::u64: return of_type(std::uint64_t{});
    default: return of_type(double{});
  }
}

}  // namespace

std::unique_ptr<PartialKind> make_location(Operation operation, Type type, Count columns) {
  const bool least = operation == Operation::min_location;
  return by_type(type, [&](auto number) { return make<decltype(number)>(least, columns); });
}

std::vector<std::byte> location_of_none(Type type) {
  return by_type(type, [](auto number) { return none<decltype(number)>(); });
}

}  // namespace steadfold::arithmetic
