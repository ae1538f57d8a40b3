// The limit of every kernel: loops that read all bytes of an array once and do next to nothing with them.
// Source: ours; McCalpin's STREAM for the idea of a machine's own bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace steadfold::bench {

/// One way to read: so many vectors of 64 bytes side by side, which come one after the other or from as many parts of
/// the array (streams), asked for so many bytes ahead (0: left to the processor).
struct ReadLoop {
  int vectors = 1;
  bool streams = false;
  std::size_t ahead = 0;
};

/// Which of these is fastest depends on where the array is, and on the processor.
std::span<const ReadLoop> read_loops();
std::string name_of(const ReadLoop& loop);

/// An OR of words that cover the array, some of them twice: 0 exactly where all bytes are.
std::uint64_t read(const ReadLoop& loop, std::span<const std::byte> bytes);

/// The instruction set of the clones (widest.hpp) that run on this machine.
const char* widest_target();

}  // namespace steadfold::bench
