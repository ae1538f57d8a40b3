// The limit of every kernel: loops that read all bytes of an array once and do almost nothing with them.
// The idea of a machine's own bandwidth is from McCalpin's STREAM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace steadfold::bench {

/// A way to read an array: `vectors` of 64 bytes side by side, consecutive or (`streams`) each from another part of the
/// array, prefetched a number of bytes ahead (0: left to the processor).
struct ReadLoop {
  int vectors = 1;
  bool streams = false;
  std::size_t ahead = 0;
};

/// Returns all ways to read. Which way is fastest depends on where the array is, and on the processor.
std::span<const ReadLoop> read_loops();
std::string name_of(const ReadLoop& loop);

/// Returns an OR of words that cover the array, some of them twice. The result is 0 exactly if all bytes are 0.
std::uint64_t read(const ReadLoop& loop, std::span<const std::byte> bytes);

/// Returns the name of the instruction set of the function versions (widest.hpp) that run on this machine.
const char* widest_target();

}  // namespace steadfold::bench
