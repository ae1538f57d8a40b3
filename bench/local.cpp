// One core's loop over its own data: Steadfold's builders beside the plain read, std::accumulate and a compensated sum.
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "bench.hpp"
#include "steadfold/steadfold.hpp"

namespace steadfold::bench {
namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define STEADFOLD_WIDEST __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define STEADFOLD_WIDEST
#endif

/// The limit: every word read once, combined in a way that keeps the compiler from leaving it out.
STEADFOLD_WIDEST std::uint64_t read_words(const std::uint64_t* words, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits |= words[i];
  return bits;
}

STEADFOLD_WIDEST std::uint64_t read_words_ahead(const std::uint64_t* words, std::size_t count) {
  constexpr std::size_t block = 64;
  constexpr std::size_t ahead = 512;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i + block <= count; i += block) {
    for (std::size_t line = 0; line < block; line += 8) __builtin_prefetch(words + i + ahead + line);
    for (std::size_t j = 0; j < block; ++j) bits |= words[i + j];
  }
  return bits | read_words(words + count / block * block, count % block);
}

/// Neumaier's compensated sum: what people use when they want a better one.
template <class T>
T neumaier(const std::vector<T>& x) {
  T sum = 0;
  T rest = 0;
  for (const T element : x) {
    const T next = sum + element;
    rest +=
        (sum < 0 ? -sum : sum) >= (element < 0 ? -element : element) ? (sum - next) + element : (element - next) + sum;
    sum = next;
  }
  return sum + rest;
}

volatile double sink;

template <class T>
void measure(const std::string& type, std::size_t size, int rounds, Json& rows) {
  std::mt19937_64 random(size);
  std::normal_distribution<double> normal;
  std::vector<T> x(size);
  for (T& element : x) element = static_cast<T>(normal(random));
  std::vector<std::uint64_t> words((size * sizeof(T) + 7) / 8);
  std::memcpy(words.data(), x.data(), size * sizeof(T));

  const std::vector<Candidate> candidates = {
      {"read", [&] { sink = static_cast<double>(read_words(words.data(), words.size())); }},
      {"read ahead", [&] { sink = static_cast<double>(read_words_ahead(words.data(), words.size())); }},
      {"accumulate", [&] { sink = static_cast<double>(std::accumulate(x.begin(), x.end(), T{0})); }},
      {"neumaier", [&] { sink = static_cast<double>(neumaier(x)); }},
      {"plain", [&] { sink = static_cast<double>(sum(x, steadfold::plain())); }},
      {"tree", [&] { sink = static_cast<double>(sum(x, steadfold::tree())); }},
      {"exact", [&] { sink = static_cast<double>(sum(x, steadfold::exact())); }},
      {"exact dot", [&] { sink = static_cast<double>(dot(x, x)); }},
  };
  auto timings = interleave(candidates, rounds);
  const double read = std::min(timings[0].median, timings[1].median);
  timings[0].median = read;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == 1) continue;  // `read` is the better of both
    rows.push_back({{"kernel", candidates[i].name},
                    {"type", type},
                    {"elements", size},
                    {"threads", 1},
                    {"target", "scalar"},
                    {"ns_per_element", timings[i].median / static_cast<double>(size) * 1e9},
                    {"ratio_to_read", timings[i].median / read},
                    {"ratio_to_accumulate", timings[i].median / timings[2].median}});
  }
}

}  // namespace

Json local(const LocalOptions& options) {
  Json rows = Json::array();
  for (const std::string& type : options.types)
    for (const std::size_t size : options.sizes)
      type == "f32" ? measure<float>(type, size, options.rounds, rows)
                    : measure<double>(type, size, options.rounds, rows);
  return {{"environment", environment()}, {"rows", rows}};
}

}  // namespace steadfold::bench
