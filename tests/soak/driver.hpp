// The parts that all drivers share: options, a watchdog that names the case, and the last lines of the output.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "buffers.hpp"

namespace steadfold::soak {

struct Options {
  double seconds = 10;
  std::uint64_t seed = 1;             // the seed of the first program; each next program has the next seed
  std::optional<std::uint64_t> only;  // if set, only this case of the first program runs
  std::uint64_t programs = ~std::uint64_t{0};
};

/// Reads --seconds, --seed, --only and --programs. Ends the program if an option is wrong.
Options options_of(int argc, char** argv);

/// Tells when the time of a run is over.
class Clock {
 public:
  explicit Clock(double seconds) : seconds_(seconds) {}
  double passed() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool is_over() const { return passed() >= seconds_; }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Prints the last line, "N compared, M wrong". Returns the exit status.
int conclude(const Tally& tally, std::uint64_t programs);

}  // namespace steadfold::soak
