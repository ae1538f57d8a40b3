// The operators of Steadfold for C++20, built-in and the caller's own: what they take, what they return, and how ranks
// tell them apart. Included by steadfold.hpp, which is the header to include.
#pragma once

#include "steadfold/types.hpp"

#if __cplusplus >= 202002L

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace steadfold {

namespace detail {
/// Makes an operator callable as a function of vectors; see steadfold.hpp.
template <class Op>
struct Calls;

/// What an operation needs besides its elements.
enum class Second { none, factors, mask };
constexpr Second second_of(sf_operation operation) {
  if (operation == SF_DOT || operation == SF_DOTC || operation == SF_WEIGHTED_MEAN) return Second::factors;
  return operation == SF_MASKED_SUM ? Second::mask : Second::none;
}
}  // namespace detail

/// A built-in operator: an argument of `reduce`, of plans, and a function of vectors itself.
template <sf_operation id>
struct BuiltIn : detail::Calls<BuiltIn<id>> {
  static constexpr sf_operation operation = id;
};

/// A built-in operator whose result is wider than the elements: sf::reduce(floats, sf::to<double>(sf::plus)). Every
/// element is converted first; exact sums are rounded once, to the wider type.
template <Element Result, sf_operation id>
struct BuiltInTo : detail::Calls<BuiltInTo<Result, id>> {
  static constexpr sf_operation operation = id;
  using Value = Result;
};
template <Element Result, sf_operation id>
constexpr BuiltInTo<Result, id> to(BuiltIn<id> /*op*/) {
  return {};
}

/// Something that combines two elements: op(left, right) -> element, or op(left, right, result, count) on arrays, where
/// result may be left. If it throws, every rank's call fails, and the rank where it threw rethrows. If it is noexcept,
/// the ranks need not ask each other whether it threw. If a call asks for several threads, all of them call it at once,
/// and the first exception counts. Ranks whose operators have different types get SF_MISMATCH.
template <class Op, class T>
concept UserOperator =
    std::is_invocable_r_v<T, Op&, const T&, const T&> || std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;

/// An operator that ranks know by its name alone, given by `named`.
template <class Op>
struct Named {
  std::string operator_name;
  Op op;

  template <class... Operands>
    requires std::is_invocable_v<Op&, Operands...>
  constexpr decltype(auto) operator()(Operands&&... operands) noexcept(std::is_nothrow_invocable_v<Op&, Operands...>) {
    return std::invoke(op, std::forward<Operands>(operands)...);
  }
};
/// For operators whose type says too little (function pointers, std::function, closures with captures) or too much
/// (programs of several executables): sf::reduce(x, sf::named("multiply", op), comm).
template <class Op>
Named<std::decay_t<Op>> named(std::string name, Op&& op) {
  return {std::move(name), std::forward<Op>(op)};
}

namespace detail {

/// The type of value that a built-in operator makes of elements of type T.
template <class T, class Op>
struct ValueOf {
  using type = T;
};
template <Narrow T, class Op>
struct ValueOf<T, Op> {
  using type = float;
};
template <Complex T, sf_operation id>
  requires(id == SF_NORM2 || id == SF_SUM_SQUARES)
struct ValueOf<T, BuiltIn<id>> {
  using type = typename T::value_type;
};
template <class T>
struct ValueOf<T, BuiltIn<SF_STATISTICS>> {
  using type = double;
};
template <Narrow T>
struct ValueOf<T, BuiltIn<SF_STATISTICS>> {
  using type = double;
};
template <class T, Element Result, sf_operation id>
struct ValueOf<T, BuiltInTo<Result, id>> {
  using type = Result;
};
template <Narrow T, Element Result, sf_operation id>
struct ValueOf<T, BuiltInTo<Result, id>> {
  using type = Result;
};
template <class T, class Op>
using value_t = typename ValueOf<T, Op>::type;

template <class Op>
concept IsBuiltIn = requires { Op::operation; };

/// The type of result that an operator makes of elements of type T.
template <class T, class Op>
struct ResultOf {
  using type = T;
};
template <class T, IsBuiltIn Op>
struct ResultOf<T, Op> {
  using type = value_t<T, Op>;
};
template <class T, IsBuiltIn Op>
  requires(Op::operation == SF_MIN_LOCATION || Op::operation == SF_MAX_LOCATION)
struct ResultOf<T, Op> {
  using type = Located<T>;
};
template <class T, IsBuiltIn Op>
  requires(Op::operation == SF_STATISTICS)
struct ResultOf<T, Op> {
  using type = Statistics;
};
template <class T, class Op>
using result_t = typename ResultOf<T, std::remove_cvref_t<Op>>::type;

/// The type of result that a built-in operator makes of a range.
template <class R, sf_operation id>
using value_of_t = result_t<element_t<R>, BuiltIn<id>>;

/// Whether a built-in operator takes elements of type T.
template <class T>
constexpr bool serves(sf_operation operation) {
  switch (operation) {
    case SF_MIN:
    case SF_MAX: return Element<T> && !Complex<T>;
    case SF_MIN_LOCATION:
    case SF_MAX_LOCATION: return Number<T>;
    case SF_ABS_SUM:
    case SF_NORMINF:
    case SF_STATISTICS:
    case SF_WEIGHTED_MEAN: return Rounded<T> && !Complex<T>;
    case SF_DOT:
    case SF_DOTC:
    case SF_NORM2:
    case SF_MEAN:
    case SF_SUM_SQUARES: return Rounded<T>;
    case SF_MASKED_SUM: return Number<T> || Rounded<T>;
    default: return Element<T>;
  }
}

/// Whether an operator takes elements of type T.
template <class T, class Op>
constexpr bool combines() {
  if constexpr (IsBuiltIn<Op>)
    return serves<T>(Op::operation);
  else
    return std::is_trivially_copyable_v<T> && alignof(T) <= 16 && UserOperator<Op, T>;
}
/// The same; if it does not, a compiler error says why.
template <class T, class Op>
constexpr bool is_combinable() {
  if constexpr (IsBuiltIn<Op>) {
    constexpr bool is_element = Element<T>;
    static_assert(
        is_element,
        "built-in operators take float, double, integers of 32 and 64 bits, complex and extended numbers, "
        "sf::Float16 and sf::Bfloat16: convert the elements, or sf::reduce them with an operator of your own");
    constexpr bool is_served = !is_element || serves<T>(Op::operation);
    static_assert(is_served,
                  "this operation does not take elements of this type: the table in docs/guarantees.md says which do");
  } else {
    constexpr bool is_copyable = std::is_trivially_copyable_v<T>;
    static_assert(is_copyable, "elements travel as bytes: they must be trivially copyable");
    static_assert(alignof(T) <= 16, "elements stand on 16-byte boundaries at most");
    constexpr bool is_called = UserOperator<Op, T>;
    static_assert(is_called, "an operator is called as op(left, right) or op(left, right, result, count)");
  }
  return combines<T, Op>();
}

/// How ranks tell the types of operators and elements apart: 48 bits as a short text, short since the library reads it
/// in every call. With run-time type information it comes from the types' names, so that executables built from the
/// same sources agree. Without, no compiler names all closures, so it is a place that the linker gave the pair: the
/// distance from another one in the same executable or shared library, equal in every process that runs it.
struct TypeName {
  std::array<char, 9> text{};

  constexpr explicit TypeName(std::uint64_t bits) {
    for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>('0' + (bits >> 6 * i & 63));
  }
};

#if defined(__cpp_rtti)
template <class T, class Op>
const char* type_name() {
  static const TypeName name([] {
    std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
    for (const std::string_view part : {typeid(T).name(), typeid(Op).name()})
      for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return hash ^ hash >> 48;
  }());
  return name.text.data();
}
#else
struct [[gnu::visibility("hidden")]] Origin {
  static inline char place;
};
template <class T, class Op>
struct [[gnu::visibility("hidden")]] PlaceOf {
  static inline char place;
  static const char* name() {
    static const TypeName name(reinterpret_cast<std::uintptr_t>(&place) -
                               reinterpret_cast<std::uintptr_t>(&Origin::place));
    return name.text.data();
  }
};
template <class T, class Op>
const char* type_name() {
  return PlaceOf<T, Op>::name();
}
#endif

/// What belongs to a call's operator: the exception that it threw, if any.
class OperatorHolder {
 public:
  virtual ~OperatorHolder() = default;
  /// Keeps the first exception of all threads.
  void note(std::exception_ptr thrown) noexcept {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(thrown);
  }
  /// Throws it, if there is one.
  void rethrow() {
    if (const std::exception_ptr thrown = taken()) std::rethrow_exception(thrown);
  }

 private:
  std::exception_ptr taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
  }
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// What a call says of a built-in operator on elements of type T.
template <class T, IsBuiltIn Op>
constexpr void describe_built_in(sf_call& call) {
  static_assert(is_combinable<T, Op>());
  call.operation = Op::operation;
  call.type = type_of<T>();
  call.result_type = type_of<value_t<T, Op>>();
}

/// A built-in operator, which needs nothing.
template <class T, class Op>
class HeldOperator final : public OperatorHolder {
 public:
  explicit HeldOperator(const Op& /*op*/) {}
  void describe(sf_call& call) { describe_built_in<T, Op>(call); }
};

/// The caller's own operator; it must stay where it is while a call or a plan uses it.
template <class T, class Op>
  requires(!IsBuiltIn<Op>)
class HeldOperator<T, Op> final : public OperatorHolder {
  static_assert(is_combinable<T, Op>());
  static constexpr bool on_arrays = std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;
  static constexpr bool never_fails = std::is_nothrow_invocable_v<Op&, const T*, const T*, T*, std::size_t> ||
                                      std::is_nothrow_invocable_v<Op&, const T&, const T&>;

 public:
  explicit HeldOperator(const Op& op) : op_(op) {}
  void describe(sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = &apply;
    call.context = this;
    call.never_fails = never_fails ? 1 : 0;
    if constexpr (requires { op_.operator_name.c_str(); })
      call.operator_name = op_.operator_name.c_str();
    else
      call.operator_name = type_name<T, Op>();
  }

 private:
  static int apply(const void* left, const void* right, void* result, std::size_t count, void* context) noexcept {
    auto& self = *static_cast<HeldOperator*>(context);
    try {
      const auto* a = static_cast<const T*>(left);
      const auto* b = static_cast<const T*>(right);
      auto* r = static_cast<T*>(result);
      if constexpr (on_arrays) {
        self.op_(a, b, r, count);
      } else {
        for (std::size_t i = 0; i < count; ++i) r[i] = self.op_(a[i], b[i]);
      }
      return 0;
    } catch (...) {
      self.note(std::current_exception());
      return 1;
    }
  }

  Op op_;
};

/// Throws what the operator threw, or the library's error.
inline void check(sf_status status, OperatorHolder* op = nullptr) {
  if (status == SF_OK) return;
  if (op != nullptr) op->rethrow();
  throw Error(status, sf_error_text());
}

}  // namespace detail

}  // namespace steadfold

#endif
