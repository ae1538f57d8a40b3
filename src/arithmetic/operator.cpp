#include "arithmetic/operator.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "arithmetic/environment.hpp"
#include "arithmetic/extended.hpp"
#include "kernels/fold.hpp"

namespace steadfold::arithmetic {
namespace {

using kernels::Max;
using kernels::Min;
using kernels::Product;
using kernels::Sum;

template <class Op, class T>
int apply(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  constexpr std::size_t few = 8;  // number of elements that are too few for vectors
  static const kernels::Pairs pairs = kernels::pairs<Op, T>(kernels::chosen());
  if (count > few) {
    pairs(left, right, result, count);
    return 0;
  }
  const auto* a = static_cast<const T*>(left);
  const auto* b = static_cast<const T*>(right);
  auto* r = static_cast<T*>(result);
  for (std::size_t i = 0; i < count; ++i) r[i] = Op::of(a[i], b[i]);
  return 0;
}

template <class Op>
constexpr bool is_extreme = std::is_same_v<Op, Min> || std::is_same_v<Op, Max>;

/// Whether the order of combining changes no bit. If so, the order of the kernels is used, because it is the fastest.
template <class Op, class T>
constexpr bool is_order_free = std::is_integral_v<T> || is_extreme<Op>;

template <class Op, class T>
void fold_left(const void* elements, std::size_t count, void* result) {
  std::array<T, 128> nodes;
  const T* x = static_cast<const T*>(elements);
  if constexpr (is_order_free<Op, T>) {
    count = kernels::fold<Op, T>(kernels::chosen())(elements, 0, count, nodes.data());
    x = nodes.data();
  }
  T folded = x[0];
  for (std::size_t i = 1; i < count; ++i) folded = Op::of(folded, x[i]);
  *static_cast<T*>(result) = folded;
}

template <class Op, class T, bool is_result>
void fold_right(const void* elements, std::size_t count, void* result) {
  const auto at = [&](std::size_t i) {  // reads an element that may be unaligned, because it is the caller's
    T element;
    std::memcpy(&element, static_cast<const std::byte*>(elements) + i * sizeof element, sizeof element);
    return element;
  };
  T folded = at(--count);
  while (count > 0) folded = Op::of(at(--count), folded);
  if (is_result && folded != folded) folded = std::numeric_limits<T>::quiet_NaN();
  std::memcpy(result, &folded, sizeof folded);
}

template <class Op, class T>
void combine_listed(void* values, std::span<const ListedPair> pairs, std::size_t first) {
  auto* x = static_cast<T*>(values);
  for (std::size_t i = 0; i < pairs.size(); ++i) x[first + i] = Op::of(x[pairs[i].left], x[pairs[i].right]);
}

template <class T>
void canonicalise(void* values, std::size_t count) {
  static const kernels::Canonicalise kernel = kernels::canonicalise<T>(kernels::chosen());
  kernel(values, count);
}

template <class Op, class T>
void of_nothing(void* values, std::size_t count) {
  auto* x = static_cast<T*>(values);
  for (std::size_t i = 0; i < count; ++i) x[i] = Op::template nothing<T>;
}

template <class Op, class T>
Operator make() {
  Operator op{.apply = apply<Op, T>,
              .element_bytes = sizeof(T),
              .commutative = true,
              .order_free = is_order_free<Op, T>,
              .idempotent = is_extreme<Op>,
              .fold = kernels::fold<Op, T>(kernels::chosen()),
              .fold_rows = kernels::fold_rows<Op, T>(kernels::chosen()),
              .fold_left = fold_left<Op, T>,
              .fold_right = fold_right<Op, T, false>,
              .combine_listed = combine_listed<Op, T>,
              .fold_to_result = fold_right<Op, T, true>};
  if constexpr (std::is_floating_point_v<T>) op.canonicalise = canonicalise<T>;
  if constexpr (std::is_same_v<Op, Sum> || std::is_same_v<Op, Product>) op.of_nothing = of_nothing<Op, T>;
  return op;
}

template <class T>
std::array<Operator, 4> make_all() {
  return {make<Sum, T>(), make<Product, T>(), make<Min, T>(), make<Max, T>()};
}

/// The operation max of numbers without signs. No number without a sign is less than 0, so 0 is the result of no
/// numbers.
template <class T>
Operator make_norminf() {
  Operator op = make<Max, T>();
  op.of_nothing = of_nothing<Sum, T>;
  return op;
}

const Operator& norminf_of(Type type) {
  static const Operator of_doubles = make_norminf<double>();
  static const Operator of_floats = make_norminf<float>();
  static const Operator of_others;
  return type == Type::f64 ? of_doubles : type == Type::f32 ? of_floats : of_others;
}

/// Makes the operator of a type. Every operation rounds once; no operations are fused.
template <class T>
int multiply_complex(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  const auto* x = static_cast<const T*>(left);
  const auto* y = static_cast<const T*>(right);
  auto* r = static_cast<T*>(result);
  for (std::size_t i = 0; i < 2 * count; i += 2) {
    const T a = x[i];
    const T b = x[i + 1];
    const T c = y[i];
    const T d = y[i + 1];
    r[i] = a * c - b * d;
    r[i + 1] = a * d + b * c;
  }
  return 0;
}

template <class T>
std::array<Operator, 4> make_complex() {
  return {Operator{}, Operator{.apply = multiply_complex<T>,
                               .element_bytes = 2 * sizeof(T),
                               .commutative = true,
                               .canonicalise = [](void* values, std::size_t n) { canonicalise<T>(values, 2 * n); },
                               .of_nothing =
                                   [](void* values, std::size_t n) {
                                     auto* x = static_cast<T*>(values);
                                     for (std::size_t i = 0; i < 2 * n; ++i) x[i] = i % 2 == 0 ? T{1} : T{0};
                                   }}};
}

/// Calls an operator that must not write to `left`, although the result replaces `left`: a few elements at a time are
/// copied.
int write_over_copies(const Operator& op, const std::byte* left, const std::byte* right, std::byte* result,
                      std::size_t count) {
  alignas(16) std::array<std::byte, 4096> few;
  // Memory for an element that is larger than the buffer; memory from `new` is aligned to 16 bytes.
  std::unique_ptr<std::byte[]> one;
  if (op.element_bytes > few.size()) one.reset(new (std::nothrow) std::byte[op.element_bytes]);
  std::byte* const copies = op.element_bytes > few.size() ? one.get() : few.data();
  if (copies == nullptr) return 1;
  const std::size_t most = std::max<std::size_t>(few.size() / op.element_bytes, 1);
  for (std::size_t done = 0; done < count;) {
    const std::size_t now = std::min(most, count - done);
    const std::size_t from = done * op.element_bytes, bytes = now * op.element_bytes;
    std::memcpy(copies, right + from, bytes);
    if (const int wrong = op.apply(left + from, copies, copies, now, op.context); wrong != 0) return wrong;
    std::memcpy(result + from, copies, bytes);
    done += now;
  }
  return 0;
}

int write_over_right(const Operator& op, const void* left, const void* right, void* result, std::size_t count) {
  if (left == result)
    return write_over_copies(op, static_cast<const std::byte*>(left), static_cast<const std::byte*>(right),
                             static_cast<std::byte*>(result), count);
  std::memcpy(result, right, count * op.element_bytes);
  return op.apply(left, result, result, count, op.context);
}

}  // namespace

int combine_as_user(const Operator& op, const void* left, const void* right, void* result, std::size_t count) {
  const CallersEnvironment environment;
  const int wrong = op.writes_right ? write_over_right(op, left, right, result, count)
                                    : op.apply(left, right, result, count, op.context);
  return wrong == postponed && !op.may_postpone ? 1 : wrong;
}

Status value_of_nothing(const Operator& op, void* values, std::size_t count) {
  if (op.of_nothing == nullptr) return Status::empty;
  op.of_nothing(values, count);
  return Status::ok;
}

const Operator& built_in(Operation operation, Type type) noexcept {
  static const std::array<std::array<Operator, 4>, 13> table = {
      make_all<double>(),
      make_all<float>(),
      make_all<std::int32_t>(),
      make_all<std::int64_t>(),
      make_all<std::uint32_t>(),
      make_all<std::uint64_t>(),
      {},  // bytes
      {},  // bf16
      {},  // f16
      make_complex<float>(),
      make_complex<double>(),
      extended_operators(Type::long_double),
      extended_operators(Type::f128),
  };
  if (operation == Operation::norminf) return norminf_of(type);
  return table[static_cast<std::size_t>(type)][static_cast<std::size_t>(operation)];
}

std::string_view name_of(Type type) noexcept {
  static constexpr std::array<std::string_view, 13> names = {
      "f64", "f32", "i32", "i64", "u32", "u64", "bytes", "bf16", "f16", "cf32", "cf64", "long double", "f128"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace steadfold::arithmetic
