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

/// The one that STEADFOLD_PREFETCH names, or the end.
const std::string_view* named_prefetch() noexcept { return std::ranges::find(prefetches, forced_prefetch()); }

/// AMD's processors bring memory to the second-level cache by themselves: asking for it there costs time, asking for it
/// in the first-level cache saves some (measured on Zen 3 and Zen 5).
Prefetch best_prefetch() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") != 0) return Prefetch::near;
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

std::string_view forced_prefetch() noexcept {
  const char* const text = std::getenv("STEADFOLD_PREFETCH");
  return text == nullptr ? std::string_view() : text;
}

bool forced_prefetch_is_known() noexcept {
  static const bool is_known = forced_prefetch().empty() || named_prefetch() != prefetches.end();
  return is_known;
}

Prefetch prefetch = [] {
  const std::string_view* const named = named_prefetch();
  return named == prefetches.end() ? best_prefetch() : static_cast<Prefetch>(named - prefetches.begin());
}();

}  // namespace steadfold::kernels
