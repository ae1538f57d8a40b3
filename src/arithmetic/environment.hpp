// The floating-point environment in which bits are promised. It is in force while an object of PromisedEnvironment
// lives. While a user operator runs, the caller's environment is restored.
// Cost: reading the control words, some 5 ns if nothing must change. Source: IEEE 754-2019; docs/guarantees.md, the
// fine print.
#pragma once

#if defined(__SSE2__) && defined(__GNUC__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace steadfold::arithmetic {

#if defined(__SSE2__) && defined(__GNUC__)
/// How a thread rounds: the control word of the vector unit, without its flags, and the control word of the x87, which
/// `long double` uses.
struct Rounding {
  unsigned vector = 0x1F80;     // control word of SSE: round to nearest, traps masked, subnormals kept
  unsigned short x87 = 0x037F;  // control word of the x87: round to nearest, traps masked, 64 bits of significand

  static Rounding now() noexcept {
    Rounding found;
    found.vector = _mm_getcsr() & ~flags;
    asm volatile("fnstcw %0" : "=m"(found.x87));
    return found;
  }
  /// Puts these control words in force in place of `found`. Raised flags stay.
  void replace(const Rounding& found) const noexcept {
    if (found.vector != vector) _mm_setcsr(vector | (_mm_getcsr() & flags));
    if (found.x87 == x87) return;
    keep_from_trapping();
    asm volatile("fldcw %0" : : "m"(x87));
  }
  friend bool operator==(const Rounding&, const Rounding&) = default;

 private:
  /// Moves raised x87 flags that these words unmask to the vector unit, where std::fetestexcept finds them, too. If
  /// they stayed, the x87 would trap in its next instruction; the vector unit does not trap on flags that are already
  /// raised.
  void keep_from_trapping() const noexcept {
    unsigned short status = 0;
    asm volatile("fnstsw %0" : "=m"(status));
    if ((status & ~x87 & flags) == 0) return;
    asm volatile("fnclex");
    _mm_setcsr(_mm_getcsr() | (status & flags));
  }

  static constexpr unsigned flags = 0x3F;
};
#else
struct Rounding {
  std::fenv_t words = default_words();

  static Rounding now() noexcept {
    Rounding found;
    std::fegetenv(&found.words);
    return found;
  }
  void replace(const Rounding& /*found*/) const noexcept {
    std::fexcept_t raised;
    const int which = std::fetestexcept(FE_ALL_EXCEPT);
    std::fegetexceptflag(&raised, which);
    std::fesetenv(&words);
    std::fesetexceptflag(&raised, which);  // std::feupdateenv would trap if the caller has enabled traps
  }
  friend bool operator==(const Rounding&, const Rounding&) {
    return false;
  }  // fenv_t cannot be compared, so two
     // environments always count as different

 private:
  static std::fenv_t default_words() noexcept {
    std::fenv_t mine;
    std::fenv_t words;
    std::fegetenv(&mine);
    std::fesetenv(FE_DFL_ENV);
    std::fegetenv(&words);
    std::fesetenv(&mine);
    return words;
  }
};
#endif

#if defined(__SSE2__) && defined(__GNUC__)
/// Return the exception flags of this thread. `raise_flags` adds the flags of another thread without a trap.
inline unsigned raised_flags() noexcept { return _mm_getcsr() & 0x3F; }
inline void clear_flags() noexcept { _mm_setcsr(_mm_getcsr() & ~0x3Fu); }
inline void raise_flags(unsigned flags) noexcept {
  if (flags != 0) _mm_setcsr(_mm_getcsr() | flags);
}
#else
inline unsigned raised_flags() noexcept { return static_cast<unsigned>(std::fetestexcept(FE_ALL_EXCEPT)); }
inline void clear_flags() noexcept { std::feclearexcept(FE_ALL_EXCEPT); }
inline void raise_flags(unsigned flags) noexcept { std::feraiseexcept(static_cast<int>(flags)); }
#endif

/// Rounds to nearest even, keeps subnormals, and masks traps, on the thread that makes this object. Its destructor
/// restores the caller's environment, with the flags that were raised.
class PromisedEnvironment {
 public:
  PromisedEnvironment() noexcept : caller_(Rounding::now()) {
    Rounding{}.replace(caller_);
    outer_ = in_force;
    in_force = caller_ == Rounding{} ? nullptr : this;
  }
  /// Makes the environment for a thread that works for another thread. `caller` is the environment of that thread's
  /// caller.
  explicit PromisedEnvironment(const Rounding& caller) noexcept : caller_(caller), outer_(in_force) {
    Rounding{}.replace(Rounding::now());
    in_force = caller_ == Rounding{} ? nullptr : this;
  }
  ~PromisedEnvironment() {
    in_force = outer_;
    caller_.replace(Rounding::now());
  }
  PromisedEnvironment(const PromisedEnvironment&) = delete;
  PromisedEnvironment& operator=(const PromisedEnvironment&) = delete;

  /// Returns the environment of the library's caller on this thread.
  static Rounding callers() noexcept { return in_force == nullptr ? Rounding{} : in_force->caller_; }

 private:
  friend class CallersEnvironment;
  // The object whose environment is in force; null if the caller's environment is.
  static inline thread_local const PromisedEnvironment* in_force = nullptr;

  Rounding caller_;
  const PromisedEnvironment* outer_;
};

/// Restores the environment of the library's caller within a PromisedEnvironment, for user operators. Its destructor
/// restores the promised environment, whatever the operator changed.
class CallersEnvironment {
 public:
  CallersEnvironment() noexcept {
    if (PromisedEnvironment::in_force != nullptr) PromisedEnvironment::in_force->caller_.replace(Rounding{});
  }
  ~CallersEnvironment() { Rounding{}.replace(Rounding::now()); }
  CallersEnvironment(const CallersEnvironment&) = delete;
  CallersEnvironment& operator=(const CallersEnvironment&) = delete;
};

}  // namespace steadfold::arithmetic
