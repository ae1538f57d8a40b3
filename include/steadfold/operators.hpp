// Built-in operators and the caller's own operators: their types of elements and results, the names by which ranks
// compare them, and the fields that they set in a call. Included by steadfold.hpp, which is the header to include.
#pragma once

#include "steadfold/types.hpp"

#if __cplusplus >= 201703L

#include <array>
#include <exception>
#include <functional>
#include <mutex>
#include <string_view>
#if defined(__cpp_rtti)
#include <typeinfo>
#endif

namespace steadfold {

/// A built-in operator; built_in.hpp describes its calls. Result: void, or a type wider than the elements, see `to`.
template <sf_operation id, class Result = void>
struct BuiltIn;

/// An operator that ranks compare by its name alone, made by `named`.
template <class Op>
struct Named {
  std::string operator_name;
  Op op;

  /// Calls the operator with these operands.
  template <class... Operands, class = std::enable_if_t<std::is_invocable_v<Op&, Operands...>>>
  constexpr decltype(auto) operator()(Operands&&... operands) noexcept(std::is_nothrow_invocable_v<Op&, Operands...>) {
    return std::invoke(op, std::forward<Operands>(operands)...);
  }
};
/// Gives an operator a name by which ranks compare it: sf::reduce(x, sf::named("multiply", op), comm). For operators
/// whose type does not identify them (function pointers, std::function, closures with captures), and for jobs of
/// several executables, in which the types differ.
template <class Op>
Named<std::decay_t<Op>> named(std::string name, Op&& op) {
  return {std::move(name), std::forward<Op>(op)};
}

/// An operator with an initial value, made by `with_initial`.
template <class Op, class Initial>
struct WithInitial {
  Op op;
  Initial initial;

  /// Calls the operator with these operands.
  template <class... Operands, class = std::enable_if_t<std::is_invocable_v<Op&, Operands...>>>
  constexpr decltype(auto) operator()(Operands&&... operands) noexcept(std::is_nothrow_invocable_v<Op&, Operands...>) {
    return std::invoke(op, std::forward<Operands>(operands)...);
  }
};
/// Gives an operator an initial value, the same on all ranks: every result is op(initial, result of the rows), or
/// `initial` without rows. For calls and plans with method `tree`, which is the default then:
/// sf::Plan<double> plan(sf::with_initial(1.0, sf::plus), n, comm).
template <class Initial, class Op>
WithInitial<std::decay_t<Op>, std::decay_t<Initial>> with_initial(Initial&& initial, Op&& op) {
  return {std::forward<Op>(op), std::forward<Initial>(initial)};
}

namespace detail {

/// Returns the operation of an operator; SF_USER for the caller's own operators.
template <class Op>
inline constexpr sf_operation operation_of = SF_USER;
template <sf_operation id, class To>
inline constexpr sf_operation operation_of<BuiltIn<id, To>> = id;

template <class Op, class Initial>
inline constexpr sf_operation operation_of<WithInitial<Op, Initial>> = operation_of<Op>;

/// The types of the value and the result of an operator for elements of type T.
template <class T, class Op>
struct Makes {
  using Value = T;
  using Result = T;
};
template <class T, sf_operation id, class To>
struct Makes<T, BuiltIn<id, To>> {
  static constexpr ResultForm form = properties_of(id).result;
  using Value = std::conditional_t<std::is_void_v<To>, typename OwnValue<T, form>::type, To>;
  using Result = std::conditional_t<form == ResultForm::statistics, Statistics,
                                    std::conditional_t<form == ResultForm::located, Located<T>, Value>>;
};
template <class T, class Op, class Initial>
struct Makes<T, WithInitial<Op, Initial>> : Makes<T, Op> {};
template <class T, class Op>
using result_t = typename Makes<T, Op>::Result;
template <class T, class Op>
using results_t = std::vector<result_t<T, Op>>;

/// Whether the caller's own operator can be called on arrays, or on single elements.
template <class T, class Op>
inline constexpr bool is_on_arrays = std::is_invocable_v<Op&, const T*, const T*, T*, std::size_t>;
template <class T, class Op>
inline constexpr bool is_on_elements = std::is_invocable_r_v<T, Op&, const T&, const T&>;
/// Whether an operator has a name, as the operators made by `named` do.
template <class Op, class = void>
inline constexpr bool has_operator_name = false;
template <class Op>
inline constexpr bool has_operator_name<Op, std::void_t<decltype(std::declval<Op&>().operator_name.c_str())>> = true;

/// Whether an operator returns floating-point numbers for integers, which would be truncated at every step.
template <class T, class Op, class = void>
inline constexpr bool cuts_off = false;
template <class T, class Op>
inline constexpr bool cuts_off<T, Op, std::void_t<std::invoke_result_t<Op&, const T&, const T&>>> =
    std::is_integral_v<T> && std::is_floating_point_v<std::invoke_result_t<Op&, const T&, const T&>>;

/// Whether an operator takes elements of type T.
template <class T, class Op>
constexpr bool combines() {
  if constexpr (operation_of<Op> != SF_USER)
    return takes(operation_of<Op>, type_of<T>());
  else
    return std::is_trivially_copyable_v<T> && alignof(T) <= 16 && !cuts_off<T, Op> &&
           (is_on_arrays<T, Op> || is_on_elements<T, Op>);
}
/// Whether an operator takes elements of type T; if it does not, a compiler error gives the reason.
template <class T, class Op>
constexpr bool is_combinable() {
  if constexpr (operation_of<Op> != SF_USER) {
    constexpr bool is_element = type_of<T>() != SF_BYTES;
    static_assert(
        is_element,
        "built-in operators take float, double, integers of 32 and 64 bits, complex and extended numbers, "
        "sf::Float16 and sf::Bfloat16: convert the elements, or sf::reduce them with an operator of your own");
    static_assert(!is_element || combines<T, Op>(),
                  "this operation does not support elements of this type: see the table of operations and types in "
                  "docs/guarantees.md");
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "elements are sent as bytes: they must be trivially copyable");
    static_assert(alignof(T) <= 16, "elements must have an alignment of at most 16 bytes");
    static_assert(is_on_arrays<T, Op> || is_on_elements<T, Op>,
                  "an operator must be callable as op(left, right) or op(left, right, result, count)");
    static_assert(!cuts_off<T, Op>,
                  "an operator on integers must return integers: convert the elements, or round in the operator");
  }
  return combines<T, Op>();
}

/// A name for a pair of operator type and element type, which ranks compare: 48 bits as a short text, since the library
/// reads it in every call. With run-time type information the name is computed from the types' names, so that
/// executables built from the same sources agree. Without run-time type information, no compiler gives names to all
/// closures. In this case the name is the distance between an address that the linker gives the pair and another
/// address in the same executable or shared library; the distance is equal in every process that runs it.
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
    std::uint64_t hash = 0xCBF29CE484222325u;  // initial value of the hash FNV-1a
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

/// The base of objects that belong to a call's operator. The objects must stay at their addresses while a call or a
/// plan uses them.
class OperatorHolder {
 public:
  virtual ~OperatorHolder() = default;
  /// Throws the operator's exception, if it threw one.
  virtual void rethrow() {}
};

/// The caller's own operator: op(left, right) -> element, or op(left, right, result, count) on arrays, where `result`
/// may be `left`. If the operator throws, every rank's call fails, and the rank where it threw rethrows the exception.
/// If the operator is noexcept, the ranks need not exchange whether it threw. If a call has several threads, all of
/// them call the operator at the same time, and the first exception is rethrown. Ranks whose operators have different
/// types get SF_MISMATCH.
template <class T, class Op>
class HeldOperator final : public OperatorHolder {
  static constexpr bool on_arrays = is_on_arrays<T, Op>;
  static constexpr bool never_fails = on_arrays ? std::is_nothrow_invocable_v<Op&, const T*, const T*, T*, std::size_t>
                                                : std::is_nothrow_invocable_v<Op&, const T&, const T&>;

 public:
  explicit HeldOperator(const Op& op) : op_(op) { is_combinable<T, Op>(); }
  void describe(sf_call& call) {
    call.operation = SF_USER;
    call.type = call.result_type = SF_BYTES;
    call.element_bytes = sizeof(T);
    call.user = &apply;
    call.context = this;
    call.never_fails = never_fails ? 1 : 0;
    if constexpr (has_operator_name<Op>)
      call.operator_name = op_.operator_name.c_str();
    else
      call.operator_name = type_name<T, Op>();
  }
  void rethrow() override {
    if (const std::exception_ptr thrown = taken()) std::rethrow_exception(thrown);
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
      } else if constexpr (is_on_elements<T, Op>) {
        for (std::size_t i = 0; i < count; ++i) r[i] = self.op_(a[i], b[i]);
      }
      return 0;
    } catch (...) {
      const std::lock_guard lock(self.mutex_);
      if (!self.failure_) self.failure_ = std::current_exception();
      return 1;
    }
  }
  std::exception_ptr taken() {
    const std::lock_guard lock(mutex_);
    return std::exchange(failure_, nullptr);
  }

  Op op_;
  std::mutex mutex_;
  std::exception_ptr failure_;  // the first exception that any thread has thrown
};

/// A built-in operator, which has no state.
template <class T, sf_operation id, class To>
class HeldOperator<T, BuiltIn<id, To>> final : public OperatorHolder {
  using Value = typename Makes<T, BuiltIn<id, To>>::Value;

 public:
  explicit HeldOperator(const BuiltIn<id, To>& /*op*/) {
    is_combinable<T, BuiltIn<id, To>>();
    static_assert(type_of<Value>() != SF_BYTES || type_of<T>() == SF_BYTES,
                  "if elements are numbers, results must be numbers");
  }
  void describe(sf_call& call) {
    call.operation = id;
    call.type = type_of<T>();
    call.result_type = type_of<Value>();
  }
};

/// Whether a conversion changes no value, except that a large integer may be rounded.
template <class From, class To>
inline constexpr bool keeps_values =
    std::is_same_v<From, To> ||
    (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>
         ? std::is_integral_v<From> || (std::is_floating_point_v<To> && sizeof(From) <= sizeof(To))
         : std::is_convertible_v<From, To>);

template <class T, class Op, class Initial>
class HeldOperator<T, WithInitial<Op, Initial>> final : public OperatorHolder {
  using Value = typename Makes<T, Op>::Value;
  static_assert(keeps_values<Initial, Value>,
                "the initial value is a value of the result: convert it to the type of the result");

 public:
  explicit HeldOperator(const WithInitial<Op, Initial>& op) : held_(op.op), initial_(static_cast<Value>(op.initial)) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
    __builtin_clear_padding(&initial_);  // the ranks compare the bytes
#endif
  }
  void describe(sf_call& call) {
    held_.describe(call);
    call.initial = &initial_;
  }
  void rethrow() override { held_.rethrow(); }

 private:
  HeldOperator<T, Op> held_;
  Value initial_;
};

/// Throws the exception that the operator threw, or else the library's error.
inline void check(sf_status status, OperatorHolder* op = nullptr) {
  if (status == SF_OK) return;
  if (op != nullptr) op->rethrow();
  throw Error(status, sf_error_text());
}

/// Returns the value of sf_arrays_default(), as a constant that the compiler can evaluate.
constexpr sf_arrays arrays_of_nothing() {
  sf_arrays arrays{};
  arrays.size = sizeof arrays;
  return arrays;
}

/// Makes the C struct of a call, which points into `held` (the data of its operator) and `options`.
template <class HeldOp, class SomeOptions>
sf_call call_of(HeldOp& held, std::uint64_t rows, const SomeOptions& options) {
  sf_call call = call_of_defaults();
  held.describe(call);
  options.describe(call);
  call.rows = rows;
  return call;
}
/// Makes the C struct of a call in MPI's shape: every rank has one row of `columns` elements.
template <class HeldOp, class SomeOptions>
sf_call call_of_vectors(HeldOp& held, std::uint64_t columns, const SomeOptions& options,
                        sf_collective collective = SF_REDUCE) {
  sf_call call = detail::call_of(held, 1, options);
  call.layout = SF_ROW_PER_RANK;
  call.columns = columns;
  call.collective = collective;
  return call;
}

/// A call as a C struct, made at its final address, since the struct points to its operator. Derived classes add memory
/// for results. If the sizes that the caller gave are wrong, the object has a fault and the call is not made: all ranks
/// get this error, so that no rank waits for this rank.
template <class T, class Op>
class Call {
 public:
  static constexpr bool may_throw = !std::is_nothrow_copy_constructible_v<Op>;  // whether the constructor may throw

  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const sf_call* call() const noexcept { return &call_; }
  /// Returns the data of the call; null if its arrays have the data.
  const void* first() const noexcept { return first_; }
  const void* second() const noexcept { return second_; }
  OperatorHolder& holder() noexcept { return held_; }
  /// Returns the error in the sizes that the caller gave; empty if there is none.
  const std::string& fault() const noexcept { return fault_; }
  /// Throws if the call failed: the operator's exception, or else the library's error.
  void conclude(sf_status status) { detail::check(status, &held_); }

 protected:
  /// Makes the call; `describe(held)` returns its C struct.
  template <class Describe>
  Call(const Op& op, const Describe& describe) : held_(op), call_(describe(held_)) {}
  ~Call() = default;

  HeldOperator<T, Op> held_;
  sf_call call_;
  const void* first_ = nullptr;
  const void* second_ = nullptr;
  std::string fault_;
};

}  // namespace detail

}  // namespace steadfold

#endif
