// Measures one core's loop over its data: Steadfold's builders, compared with the fastest plain read, std::accumulate,
// the same loop under fast-math, and compensated sums; dot products, compared with std::inner_product and the same loop
// under fast-math; or the same builders with different targets of prefetching.
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "bench.hpp"
#include "contest.hpp"
#include "fast_math.hpp"
#include "kernels/target.hpp"
#include "plan/thread_pool.hpp"
#include "read.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::bench {
namespace {

/// Sums as Kahan 1965 does: the rounding error of each addition is subtracted from the next element.
template <class T>
T kahan(std::span<const T> x) {
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

/// Sums as Neumaier 1974 does: the errors are added up separately, whichever operand is larger.
template <class T>
T neumaier(std::span<const T> x) {
  T sum = 0;
  T rest = 0;
  for (const T element : x) {
    const T next = sum + element;
    rest += std::abs(sum) >= std::abs(element) ? (sum - next) + element : (element - next) + sum;
    sum = next;
  }
  return sum + rest;
}

/// Kernels over one array, and dot products over two. The arrays begin 16 bytes after the beginning of a cache line, as
/// large arrays from malloc do.
template <class T>
class Kernels {
 public:
  Kernels(std::size_t size, unsigned threads, std::span<const kernels::Prefetch> prefetches)
      : threads_(threads), parts_(threads) {
    std::mt19937_64 random(size);
    x_ = filled(memory_[0], size, random);
    pool_.resize(threads);
    add_rivals();
    if (prefetches.empty()) {
      y_ = filled(memory_[1], size, random);
      add_own();
      add_dots();
    }
    for (const kernels::Prefetch where : prefetches) add_prefetching(where);
  }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  Contest measure(const std::string& type, int rounds) {
    auto samples = interleave(candidates_, rounds);
    for (std::size_t i = 0; i < samples.size(); ++i) entrants_[i].launches = {std::move(samples[i])};
    return {.labels = {{"type", type}, {"elements", x_.size()}, {"threads", threads_}},
            .entrants = std::move(entrants_)};
  }

 private:
  /// The result of one thread, which shares no cache line with other results.
  struct alignas(128) Part {
    T sum = 0;
    std::uint64_t bits = 0;
  };

  static std::span<T> filled(std::vector<T>& memory, std::size_t size, std::mt19937_64& random) {
    memory.resize(size + 128 / sizeof(T));
    const std::size_t beyond = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    const std::span<T> elements = std::span(memory).subspan((80 - beyond) % 64 / sizeof(T), size);
    std::normal_distribution<double> normal;
    for (T& element : elements) element = static_cast<T>(normal(random));
    return elements;
  }

  template <class Call>
  void add(const std::string& name, const std::string& kernel, const std::string& target, Call call) {
    candidates_.push_back({name, calls_of([call] { keep(call()); })});
    entrants_.push_back({name, {{"kernel", kernel}, {"target", target}, {"variant", name}}, {}});
  }

  /// Runs `work(elements, part)` on all elements, in one part per thread.
  template <class Work>
  void add_rival(const std::string& name, const std::string& kernel, const std::string& target, Work work) {
    add(name, kernel, target, [this, work] {
      const std::span<const T> x = x_;
      pool_.run(threads_, [&](unsigned member) {
        const std::size_t first = x.size() * member / threads_;
        work(x.subspan(first, x.size() * (member + 1) / threads_ - first), parts_[member]);
      });
      Part all;
      for (const Part& part : parts_) {
        all.sum += part.sum;
        all.bits |= part.bits;
      }
      return all;
    });
  }

  void add_rivals() {
    using Elements = std::span<const T>;
    for (const ReadLoop& loop : read_loops())
      add_rival(name_of(loop), "read", widest_target(),
                [loop](Elements x, Part& part) { part.bits = read(loop, std::as_bytes(x)); });
    add_rival("accumulate", "accumulate", "scalar",
              [](Elements x, Part& part) { part.sum = std::accumulate(x.begin(), x.end(), T{0}); });
    add_rival("fastmath", "fastmath", widest_target(),
              [](Elements x, Part& part) { part.sum = fast_sum(x.data(), x.size()); });
    add_rival("kahan", "kahan", "scalar", [](Elements x, Part& part) { part.sum = kahan(x); });
    add_rival("neumaier", "neumaier", "scalar", [](Elements x, Part& part) { part.sum = neumaier(x); });
  }

  steadfold::LocalOptions by(Method method) const { return {.method = method, .threads = threads_}; }

  void add_own() {
    const std::string target(kernels::name_of(kernels::chosen()));
    add("plain", "plain", "scalar", [this, options = by(steadfold::plain())] { return sum(x_, options); });
    add("tree", "tree", target, [this, options = by(steadfold::tree())] { return sum(x_, options); });
    add("tree:lanes=16", "tree:lanes=16", target,
        [this, options = by(steadfold::tree({.lanes = 16}))] { return sum(x_, options); });
    add("binned", "binned", target, [this, options = by(steadfold::binned())] { return sum(x_, options); });
    add("exact", "exact", target, [this, options = by(steadfold::exact())] { return sum(x_, options); });
  }

  void add_dots() {
    using Elements = std::span<const T>;
    const auto of_y = [this](Elements x) { return y_.data() + (x.data() - x_.data()); };
    add_rival("loop dot", "loop dot", "scalar",
              [of_y](Elements x, Part& part) { part.sum = std::inner_product(x.begin(), x.end(), of_y(x), T{0}); });
    add_rival("fastmath dot", "fastmath dot", widest_target(),
              [of_y](Elements x, Part& part) { part.sum = fast_dot(x.data(), of_y(x), x.size()); });
    const std::string target(kernels::name_of(kernels::chosen()));
    add("tree dot", "tree dot", target, [this, options = by(steadfold::tree())] { return dot(x_, y_, options); });
    add("binned dot", "binned dot", target, [this, options = by(steadfold::binned())] { return dot(x_, y_, options); });
    add("exact dot", "exact dot", target, [this, options = by(steadfold::exact())] { return dot(x_, y_, options); });
  }

  void add_prefetching(kernels::Prefetch where) {
    const std::pair<const char*, Method> prefetching[] = {
        {"tree", steadfold::tree()}, {"binned", steadfold::binned()}, {"exact", steadfold::exact()}};
    const std::string place(kernels::name_of(where));
    for (const auto& [name, method] : prefetching) {
      add(name + (", " + place), name, std::string(kernels::name_of(kernels::chosen())),
          [this, options = by(method)] { return sum(x_, options); });
      entrants_.back().labels["prefetch"] = place;
      candidates_.back().prepare = [where] { kernels::prefetch = where; };
      candidates_.back().finish = [usual = kernels::prefetch] { kernels::prefetch = usual; };
    }
  }

  std::vector<T> memory_[2];
  std::span<T> x_, y_;
  unsigned threads_;
  std::vector<Part> parts_;
  plan::ThreadPool pool_;
  std::vector<Candidate> candidates_;
  std::vector<Entrant> entrants_;
};

template <class T>
Contest contest_of(const std::string& type, std::size_t size, unsigned threads, const LocalOptions& options) {
  constexpr kernels::Prefetch all[] = {kernels::Prefetch::off, kernels::Prefetch::near, kernels::Prefetch::far};
  const std::span<const kernels::Prefetch> prefetches(all, options.by_prefetch ? std::size(all) : 0);
  return Kernels<T>(size, threads, prefetches).measure(type, options.rounds);
}

}  // namespace

Measurement local(const LocalOptions& options, const Told& told) {
  const std::size_t contests = options.threads.size() * options.types.size() * options.sizes.size();
  Measurement measurement{.environment = environment(), .contests = {}};
  for (const unsigned threads : options.threads) {
    for (const std::string& type : options.types) {
      const auto contest = type == "f32" ? contest_of<float> : contest_of<double>;
      for (const std::size_t size : options.sizes) {
        measurement.contests.push_back(contest(type, size, threads, options));
        told(measurement, contests);
      }
    }
  }
  return measurement;
}

}  // namespace steadfold::bench
