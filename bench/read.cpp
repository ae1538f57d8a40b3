#include "read.hpp"

#include <array>
#include <cstring>

#include "widest.hpp"

namespace steadfold::bench {
namespace {

/// A cache line as one value, however wide the machine's registers are. A core loads two of these values per cycle, and
/// each load is followed by an OR. Four loads side by side keep both ports busy.
using Line = std::uint64_t __attribute__((vector_size(64), may_alias));
constexpr std::size_t line_bytes = sizeof(Line);

/// Combines the words of a cache line. The function takes the line by address, because the way to pass a vector by
/// value depends on the instruction set.
__attribute__((always_inline)) inline std::uint64_t folded(const Line& line) {
  const auto half = __builtin_shufflevector(line, line, 0, 1, 2, 3) | __builtin_shufflevector(line, line, 4, 5, 6, 7);
  const auto quarter = __builtin_shufflevector(half, half, 0, 1) | __builtin_shufflevector(half, half, 2, 3);
  return quarter[0] | quarter[1];
}

template <int vectors, bool streams>
__attribute__((always_inline)) inline std::uint64_t read_lines(const Line& ends, const Line* lines, std::size_t count,
                                                               std::size_t ahead) {
  Line bits[vectors] = {ends};
  const std::size_t steps = count / vectors;
  const std::size_t apart = streams ? steps : 1;
  const std::size_t stride = streams ? 1 : vectors;
  const auto* at = lines;
  if (ahead == 0) {
    for (std::size_t i = 0; i < steps; ++i, at += stride)
      for (std::size_t k = 0; k < vectors; ++k) bits[k] |= at[k * apart];
  } else {
    for (std::size_t i = 0; i < steps; ++i, at += stride) {
      for (std::size_t k = 0; k < vectors; ++k) {
        __builtin_prefetch(reinterpret_cast<const char*>(at + k * apart) + ahead);
        bits[k] |= at[k * apart];
      }
    }
  }
  for (std::size_t i = steps * vectors; i < count; ++i) bits[0] |= lines[i];
  for (std::size_t k = 1; k < vectors; ++k) bits[0] |= bits[k];
  return folded(bits[0]);
}

}  // namespace

std::span<const ReadLoop> read_loops() {
  static constexpr std::array loops = {
      ReadLoop{.vectors = 1},
      ReadLoop{.vectors = 2},
      ReadLoop{.vectors = 4},
      ReadLoop{.vectors = 8},
      ReadLoop{.vectors = 4, .ahead = 512},
      ReadLoop{.vectors = 4, .ahead = 2048},
      ReadLoop{.vectors = 4, .ahead = 8192},
      ReadLoop{.vectors = 8, .ahead = 4096},
      ReadLoop{.vectors = 2, .streams = true},
      ReadLoop{.vectors = 4, .streams = true},
      ReadLoop{.vectors = 4, .streams = true, .ahead = 2048},
  };
  return loops;
}

std::string name_of(const ReadLoop& loop) {
  return "read " + std::to_string(loop.vectors) + (loop.streams ? " streams" : " vectors") +
         (loop.ahead == 0 ? "" : ", " + std::to_string(loop.ahead) + " bytes ahead");
}

STEADFOLD_WIDEST std::uint64_t read(const ReadLoop& loop, std::span<const std::byte> bytes) {
  if (bytes.size() < line_bytes) {
    std::uint64_t bits = 0;
    for (const std::byte byte : bytes) bits |= static_cast<std::uint64_t>(byte);
    return bits;
  }
  // The first and the last 64 bytes, which are read separately, so that the cache lines between them are aligned. A
  // word that is read twice does not change the OR.
  Line ends;
  Line last;
  std::memcpy(&ends, bytes.data(), line_bytes);
  std::memcpy(&last, bytes.data() + bytes.size() - line_bytes, line_bytes);
  ends |= last;
  const std::size_t head = (0 - reinterpret_cast<std::uintptr_t>(bytes.data())) % line_bytes;
  const auto* const lines = reinterpret_cast<const Line*>(bytes.data() + head);
  const std::size_t count = (bytes.size() - head) / line_bytes;
  if (loop.streams)
    return loop.vectors == 2 ? read_lines<2, true>(ends, lines, count, loop.ahead)
                             : read_lines<4, true>(ends, lines, count, loop.ahead);
  switch (loop.vectors) {
    case 1: return read_lines<1, false>(ends, lines, count, loop.ahead);
    case 2: return read_lines<2, false>(ends, lines, count, loop.ahead);
    case 4: return read_lines<4, false>(ends, lines, count, loop.ahead);
    default: return read_lines<8, false>(ends, lines, count, loop.ahead);
  }
}

const char* widest_target() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
  if (__builtin_cpu_supports("avx512f")) return "avx512f";
  if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
  return "baseline";
}

}  // namespace steadfold::bench
