// One core's loop over its own data: Steadfold's builders beside the fastest plain read, std::accumulate, what
// fast-math makes of it, and compensated sums.
#include <cmath>
#include <numeric>
#include <random>

#include "bench.hpp"
#include "contest.hpp"
#include "fast_math.hpp"
#include "read.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::bench {
namespace {

/// What the library's kernels are made for.
constexpr const char* library_target = "scalar";

/// Kahan 1965: the rounding error of each addition is taken off the next element.
template <class T>
T kahan(const std::vector<T>& x) {
  T sum = 0;
  T error = 0;
  for (const T element : x) {
    const T corrected = element - error;
    const T next = sum + corrected;
    error = (next - sum) - corrected;
    sum = next;
  }
  return sum;
}

/// Neumaier 1974: the errors are added up by themselves, whichever operand is larger.
template <class T>
T neumaier(const std::vector<T>& x) {
  T sum = 0;
  T rest = 0;
  for (const T element : x) {
    const T next = sum + element;
    rest += std::abs(sum) >= std::abs(element) ? (sum - next) + element : (element - next) + sum;
    sum = next;
  }
  return sum + rest;
}

/// Kernels over one array, as malloc places it.
template <class T>
class Kernels {
 public:
  explicit Kernels(std::size_t size) : x_(size) {
    std::mt19937_64 random(size);
    std::normal_distribution<double> normal;
    for (T& element : x_) element = static_cast<T>(normal(random));
    add_rivals();
    add_own();
  }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  Contest measure(const std::string& type, int rounds) {
    auto samples = interleave(candidates_, rounds);
    for (std::size_t i = 0; i < samples.size(); ++i) entrants_[i].launches = {std::move(samples[i])};
    return {.labels = {{"type", type}, {"elements", x_.size()}, {"threads", 1}}, .entrants = std::move(entrants_)};
  }

 private:
  template <class Call>
  void add(const std::string& name, const std::string& kernel, const std::string& target, Call call) {
    candidates_.push_back({name, calls_of([call] { keep(call()); })});
    entrants_.push_back({name, {{"kernel", kernel}, {"target", target}, {"variant", name}}, {}});
  }

  void add_rivals() {
    for (const ReadLoop& loop : read_loops())
      add(name_of(loop), "read", widest_target(), [this, loop] { return read(loop, std::as_bytes(std::span(x_))); });
    add("accumulate", "accumulate", "scalar", [this] { return std::accumulate(x_.begin(), x_.end(), T{0}); });
    add("fastmath", "fastmath", widest_target(), [this] { return fast_sum(x_.data(), x_.size()); });
    add("kahan", "kahan", "scalar", [this] { return kahan(x_); });
    add("neumaier", "neumaier", "scalar", [this] { return neumaier(x_); });
  }

  void add_own() {
    add("plain", "plain", library_target, [this] { return sum(x_, steadfold::plain()); });
    add("tree", "tree", library_target, [this] { return sum(x_, steadfold::tree()); });
    add("exact", "exact", library_target, [this] { return sum(x_, steadfold::exact()); });
    add("exact dot", "exact dot", library_target, [this] { return dot(x_, x_); });
  }

  std::vector<T> x_;
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
};

}  // namespace

Measurement local(const LocalOptions& options) {
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const std::string& type : options.types) {
    for (const std::size_t size : options.sizes)
      measurement.contests.push_back(type == "f32" ? Kernels<float>(size).measure(type, options.rounds)
                                                   : Kernels<double>(size).measure(type, options.rounds));
  }
  return measurement;
}

}  // namespace steadfold::bench
