// Computes full nodes of one column with a user's operator. One call of the operator combines all nodes of a level, so
// few calls are made.
// Rank order: left op right. Cost: one operation per node, `level` calls per full node; every value is moved once per
// level. Source: the vector kernel of Stelz 2022, for operators that are not known when the library is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "arithmetic/operator.hpp"

namespace steadfold::arithmetic {

class NodeBatch {
 public:
  /// Computes nodes for rows of one column. `op` must outlive this object. Allocates memory.
  explicit NodeBatch(const Operator& op) : op_(op), bytes_(op.element_bytes), split_(split_for(bytes_)) {
    while (most_level_ < 9 && bytes_ << (most_level_ + 1) <= 4096) ++most_level_;
    half_ = (bytes_ << most_level_) / 2;
    memory_.resize(3 * half_);
  }

  /// Returns the level of the largest node that `fold` makes at once: 4 KiB of elements, 2 to 512 elements.
  int most_level() const noexcept { return most_level_; }

  /// Returns the node over 2^level elements, valid until the next call; null if the operator failed.
  const std::byte* fold(const std::byte* elements, int level) {
    // The levels alternate between the two areas.
    std::byte* const areas[] = {memory_.data(), memory_.data() + 2 * half_};
    const std::byte* from = elements;
    int turn = 0;
    for (order::Count pairs = (order::Count{1} << level) / 2; pairs > 0; pairs /= 2, turn = 1 - turn) {
      std::byte* const left = areas[turn];
      std::byte* const right = left + pairs * bytes_;
      split_(from, bytes_, pairs, left, right);
      // As in all merges, the result replaces the left operands. So an operator that does not support this is noticed
      // early.
      if (combine(op_, left, right, left, pairs) != 0) return nullptr;
      from = left;
    }
    return from;
  }

 private:
  /// A function that copies the first elements of the pairs side by side to `left`, the second elements to `right`.
  using Split = void (*)(const std::byte* from, order::Bytes bytes, order::Count pairs, std::byte* left,
                         std::byte* right);

  /// Splits elements of a constant size, so that the compiler can move many elements with one instruction.
  template <class T>
  static void split_as(const std::byte* __restrict from, order::Bytes, order::Count pairs, std::byte* __restrict left,
                       std::byte* __restrict right) {
    constexpr std::size_t bytes = sizeof(T);
    for (order::Count i = 0; i < pairs; ++i) {
      T both[2];
      std::memcpy(both, from + 2 * i * bytes, 2 * bytes);
      std::memcpy(left + i * bytes, &both[0], bytes);
      std::memcpy(right + i * bytes, &both[1], bytes);
    }
  }

  static void split_any(const std::byte* from, order::Bytes bytes, order::Count pairs, std::byte* left,
                        std::byte* right) {
    for (order::Count i = 0; i < pairs; ++i) {
      std::memcpy(left + i * bytes, from + 2 * i * bytes, bytes);
      std::memcpy(right + i * bytes, from + (2 * i + 1) * bytes, bytes);
    }
  }

  static Split split_for(order::Bytes bytes) noexcept {
    struct Sixteen {
      std::uint64_t words[2];
    };
    switch (bytes) {
      case 1: return split_as<std::uint8_t>;
      case 2: return split_as<std::uint16_t>;
      case 4: return split_as<std::uint32_t>;
      case 8: return split_as<std::uint64_t>;
      case 16: return split_as<Sixteen>;
      default: return split_any;
    }
  }

  const Operator& op_;
  order::Bytes bytes_;
  Split split_;
  int most_level_ = 1;
  order::Bytes half_ = 0;  // bytes of half of the elements of the largest node
  std::vector<std::byte> memory_;
};

}  // namespace steadfold::arithmetic
