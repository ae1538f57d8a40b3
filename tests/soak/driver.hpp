// What both drivers have in common: options, a watchdog that names the case, and the lines at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "buffers.hpp"

namespace steadfold::soak {

struct Options {
  double seconds = 10;
  std::uint64_t seed = 1;             // of the first program; the next has the next one
  std::optional<std::uint64_t> only;  // one case of the first program
  std::uint64_t programs = ~std::uint64_t{0};
};

/// Reads --seconds, --seed, --only and --programs; ends the program where it cannot.
Options options_of(int argc, char** argv);

/// Time that runs out.
class Clock {
 public:
  explicit Clock(double seconds) : seconds_(seconds) {}
  double passed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool is_over() const { return passed() >= seconds_; }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "N compared, M wrong", the last line; the exit status.
int conclude(const Tally& tally, std::uint64_t programs);

}  // namespace steadfold::soak
