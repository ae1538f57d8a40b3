#include "kernels/target.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

#include "kernels/highway.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace steadfold::kernels {
namespace {

constexpr std::array<std::string_view, 6> names = {"scalar", "sse4", "avx2", "avx512", "neon", "sve"};

#if defined(__x86_64__)
/// The processor's features, read with the instruction CPUID. __builtin_cpu_supports is not used: it asks the
/// compiler's runtime library, and the library of Zig, with which wheels are built, always answers no. The bits are in
/// Intel's manual, volume 2, CPUID and XGETBV.
struct Cpuid {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  Cpuid(unsigned leaf, unsigned subleaf) noexcept { __get_cpuid_count(leaf, subleaf, &eax, &ebx, &ecx, &edx); }
};

constexpr bool has(unsigned word, std::initializer_list<int> bits) noexcept {
  return std::ranges::all_of(bits, [&](int bit) { return (word >> bit & 1) != 0; });
}

/// Whether the operating system saves these registers when it switches threads. `features` is the register ecx of leaf
/// 1.
bool are_kept(unsigned features, unsigned registers) noexcept {
  if (!has(features, {27})) return false;  // bit osxsave
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & registers) == registers;
}
#endif

/// Whether this machine has every feature that Highway lets the compiler use for the target.
bool runs_here(Target target) noexcept {
#if defined(__x86_64__)
  const Cpuid basic(1, 0), extended(7, 0);
  constexpr unsigned of_avx = 0x06, of_avx512 = 0xe6;
#endif
  switch (target) {
    case Target::scalar: return true;
#if defined(__x86_64__)
    case Target::sse4: return has(basic.ecx, {19, 20, 1, 25});  // sse4.1, sse4.2, pclmul, aes
    case Target::avx2:                                          // avx2, with avx, fma, f16c, bmi, bmi2
      return runs_here(Target::sse4) && has(basic.ecx, {28, 12, 29}) && has(extended.ebx, {5, 3, 8}) &&
             are_kept(basic.ecx, of_avx);
    case Target::avx512:  // avx512 f, dq, cd, bw, vl
      return runs_here(Target::avx2) && has(extended.ebx, {16, 17, 28, 30, 31}) && are_kept(basic.ecx, of_avx512);
#elif defined(__aarch64__)
    case Target::neon: return true;
#if defined(__linux__)
    case Target::sve: return (getauxval(AT_HWCAP) & (1UL << 22)) != 0;  // bit HWCAP_SVE
#endif
#endif
    default: return false;
  }
}

struct DetectedTargets {
  std::array<Target, names.size()> targets{};
  std::size_t count = 0;

  DetectedTargets() noexcept {
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto target = static_cast<Target>(i);
      if (is_built(target) && runs_here(target)) targets[count++] = target;
    }
  }
};

struct Choice {
  std::string_view forced;
  Target target = available().back();
  bool is_available = true;

  Choice() noexcept {
    const char* const text = std::getenv("STEADFOLD_TARGET");
    if (text == nullptr || *text == '\0') return;
    forced = text;
    const auto named = [&](Target candidate) { return name_of(candidate) == forced; };
    const auto found = std::find_if(available().begin(), available().end(), named);
    is_available = found != available().end();
    target = is_available ? *found : Target::scalar;
  }
};

const Choice& choice() noexcept {
  static const Choice once;
  return once;
}

constexpr std::array<std::string_view, 3> prefetches = {"off", "near", "far"};

/// Returns the position of the name that STEADFOLD_PREFETCH has, or the end of the names.
const std::string_view* named_prefetch() noexcept {
  const char* const text = std::getenv("STEADFOLD_PREFETCH");
  return std::ranges::find(prefetches, text == nullptr ? std::string_view() : text);
}

/// AMD's processors prefetch to the second-level cache by themselves. On these processors, prefetching to the
/// second-level cache costs time, and prefetching to the first-level cache saves time (measured on Zen 3 and Zen 5).
Prefetch best_prefetch() noexcept {
#if defined(__x86_64__)
  const Cpuid maker(0, 0);  // "AuthenticAMD" in words of four letters
  if (maker.ebx == 0x68747541 && maker.edx == 0x69746e65 && maker.ecx == 0x444d4163) return Prefetch::near;
#endif
  return Prefetch::far;
}

}  // namespace

std::string_view name_of(Target target) noexcept { return names[static_cast<std::size_t>(target)]; }

std::span<const Target> available() noexcept {
  static const DetectedTargets found;
  return std::span(found.targets).first(found.count);
}

Target chosen() noexcept { return choice().target; }
std::string_view forced() noexcept { return choice().forced; }
bool forced_is_available() noexcept { return choice().is_available; }

std::string_view name_of(Prefetch where) noexcept { return prefetches[static_cast<std::size_t>(where)]; }

Prefetch prefetch = [] {
  const std::string_view* const named = named_prefetch();
  return named == prefetches.end() ? best_prefetch() : static_cast<Prefetch>(named - prefetches.begin());
}();

}  // namespace steadfold::kernels
