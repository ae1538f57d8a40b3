#include "kernels/target.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/highway.hpp"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace steadfold::kernels {
namespace {

constexpr std::array<std::string_view, 6> names = {"scalar", "sse4", "avx2", "avx512", "neon", "sve"};

/// Whether this machine has all that Highway lets the compiler use for the target.
bool runs_here(Target target) noexcept {
  switch (target) {
    case Target::scalar: return true;
#if defined(__x86_64__)
    // The builtin takes nothing but literals.
    case Target::sse4:
      return __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("aes");
    case Target::avx2:
      return runs_here(Target::sse4) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") &&
             __builtin_cpu_supports("fma");  // and f16c, which came before it and has no name here
    case Target::avx512:
      return runs_here(Target::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
#elif defined(__aarch64__)
    case Target::neon: return true;
#if defined(__linux__)
    case Target::sve: return (getauxval(AT_HWCAP) & (1UL << 22)) != 0;  // HWCAP_SVE
#endif
#endif
    default: return false;
  }
}

struct Found {
  std::array<Target, names.size()> targets{};
  std::size_t count = 0;

  Found() noexcept {
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

}  // namespace

std::string_view name_of(Target target) noexcept { return names[static_cast<std::size_t>(target)]; }

std::span<const Target> available() noexcept {
  static const Found found;
  return std::span(found.targets).first(found.count);
}

Target chosen() noexcept { return choice().target; }
std::string_view forced() noexcept { return choice().forced; }
bool forced_is_available() noexcept { return choice().is_available; }

#if defined(__x86_64__)
const bool prefetches = [] {
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") == 0;
}();
#else
const bool prefetches = true;
#endif

}  // namespace steadfold::kernels
