// The caller's memory that a call reads and writes. With it, a call is refused if it would conflict with a call under
// way.
// Cost: a few comparisons per pair of calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "arithmetic/exact/statistics.hpp"
#include "call/description.hpp"

namespace steadfold::call {

inline bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  // Compares addresses as numbers, since a caller may have passed null with any size. Later code refuses null data.
  const auto begin_of = [](std::span<const std::byte> memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data());
  };
  return !a.empty() && !b.empty() && begin_of(a) < begin_of(b) + b.size() && begin_of(b) < begin_of(a) + a.size();
}

struct Footprint {
  // The memory of the rows, a list of chunks, or a list of addresses from each of which `listed` bytes are read.
  std::span<const std::byte> first;
  arithmetic::Strides::Reach listed;
  std::span<const arithmetic::Chunk> chunks;
  arithmetic::Stride stride = 0;  // of the rows of a chunk
  Bytes element_bytes = 0;
  std::span<const std::byte> second;
  std::span<const std::byte> mask;
  std::span<const std::byte> label;
  std::span<const std::byte> result;

  /// Whether one of the two calls writes memory that the other reads or writes.
  bool conflicts(const Footprint& other) const noexcept { return other.touches(result) || touches(other.result); }

 private:
  bool touches(std::span<const std::byte> memory) const noexcept {
    return touches_listed(memory) || touches_chunks(memory) || overlap(first, memory) || overlap(second, memory) ||
           overlap(mask, memory) || overlap(label, memory) || overlap(result, memory);
  }
  bool touches_chunks(std::span<const std::byte> memory) const noexcept {
    Count begin = 0;
    for (const arithmetic::Chunk& chunk : chunks) {
      const Count rows = chunk.end - std::exchange(begin, chunk.end);
      if (rows == 0) continue;
      const auto last = static_cast<arithmetic::Stride>(rows - 1) * stride;
      const std::span data(chunk.data + std::min<arithmetic::Stride>(last, 0),
                           static_cast<Bytes>(std::abs(last)) + element_bytes);
      if (overlap(data, memory)) return true;
      if (chunk.valid == nullptr) continue;
      const Count first_byte = chunk.bit / 8;
      if (overlap({chunk.valid + first_byte, (chunk.bit + rows - 1) / 8 - first_byte + 1}, memory)) return true;
    }
    return false;
  }
  bool touches_listed(std::span<const std::byte> memory) const noexcept {
    const auto bytes = static_cast<std::size_t>(listed.end - listed.begin);
    for (std::size_t i = 0; bytes > 0 && i < first.size() / sizeof(void*); ++i) {
      const std::byte* const place = arithmetic::Strides::listed(first.data(), i);
      if (place != nullptr && overlap({place + listed.begin, bytes}, memory)) return true;
    }
    return false;
  }
};

/// Returns the memory that a call reads and writes. `rows` is the number of rows on this rank. `results` is the number
/// of columns of which this rank gets a result.
inline Footprint footprint_of(const Description& description, const arithmetic::Strides& strides, Count rows,
                              Count results, const Data& data) noexcept {
  constexpr Bytes located_bytes = 16;
  const arithmetic::Operation operation = description.operation;
  const bool is_users = operation == arithmetic::Operation::user;
  const Bytes each = is_location(operation)                           ? located_bytes
                     : operation == arithmetic::Operation::statistics ? sizeof(arithmetic::Statistics)
                     : is_users                                       ? description.element_bytes
                                                                      : arithmetic::size_of(description.result_type);
  const auto memory = [&](const std::byte* begin, arithmetic::Operand operand, Bytes element_bytes) {
    if (begin == nullptr) return std::span<const std::byte>();
    const auto reach = strides.reach(operand, rows, element_bytes);
    return std::span(begin + reach.begin, static_cast<std::size_t>(reach.end - reach.begin));
  };
  const arithmetic::Operands operands = operands_of(description, data);
  const bool is_list = description.is_listed() && operands.first != nullptr;
  const auto chunks = arithmetic::Strides::chunks(operands.first, strides.chunk_count());
  const std::span<const std::byte> list(operands.first, is_list ? description.columns * sizeof(void*) : 0);
  const auto listed = strides.reach(arithmetic::Operand::first, is_list ? rows : 0, description.element_bytes);
  return {.first = is_list ? list
                   : strides.are_chunked()
                       ? std::as_bytes(chunks)
                       : memory(operands.first, arithmetic::Operand::first, description.element_bytes),
          .listed = listed,
          .chunks = chunks,
          .stride = strides.rows()[0].of(arithmetic::Operand::first),
          .element_bytes = description.element_bytes,
          .second = memory(operands.second, arithmetic::Operand::second, description.element_bytes),
          .mask = strides.has_bitmap() ? std::span<const std::byte>()
                                       : memory(operands.mask, arithmetic::Operand::mask, strides.mask_bytes()),
          .label = memory(operands.label, arithmetic::Operand::label, strides.labels().bytes),
          .result = data.result == nullptr ? std::span<const std::byte>() : std::span(data.result, results * each)};
}

/// Makes the failure of a call that conflicts with another call.
inline Failure conflict() {
  return {Status::invalid_argument,
          "the call uses memory that another call under way uses, and at least one of them writes it (a call uses its "
          "memory until it ends), end the other call first or give each call its own memory"};
}

}  // namespace steadfold::call
