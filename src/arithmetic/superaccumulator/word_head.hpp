// The first words of partials that the transport adds (AddedWords), and the words of columns that are not digits:
// counters of flags, and numbers that must be equal on all ranks.
// Rank order: none. Cost: 14 words per partial. Source: the Cauchy-Schwarz inequality.
//
// Every word is added over at most 2^31 - 1 ranks and stays below 2^63. Two counters share a word, 31 bits each. A
// number d below 2^16 has two words, d and d^2. The numbers d_1, ..., d_p of p ranks are equal exactly if p (d_1^2 +
// ... + d_p^2) = (d_1 + ... + d_p)^2. The difference is the sum of (d_i - d_j)^2 over all pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arithmetic/partial.hpp"
#include "arithmetic/superaccumulator/long_integer.hpp"

namespace steadfold::arithmetic::word_head {

/// Number of words before the columns' words: the number of rows, the four pieces of the digest and their squares, and
/// a counter for every status except ok.
inline constexpr std::size_t size = 14;
inline constexpr std::size_t flag_words = 2;

/// Writes the head of a partial whose words are all 0. A failed partial has no rows, and its columns' words stay 0.
void put(const Header& header, Count rows, std::span<std::int64_t> words) noexcept;
/// Returns the header that the sums over `rank_count` ranks represent: the worst status, or a mismatch if digests
/// differ.
Header header_of(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest) noexcept;
inline Count rows_of(std::span<const std::int64_t> sums) noexcept { return static_cast<Count>(sums.front()); }

/// Writes flags into `flag_words` words that are 0. From their sums `flags_of` returns the flags that at least one rank
/// has.
void put_flags(Flags flags, std::span<std::int64_t> words) noexcept;
Flags flags_of(std::span<const std::int64_t> sums) noexcept;

/// Writes a number below 2^16 and its square. `common` returns the number if all ranks have the same.
inline void put_common(std::int64_t number, std::int64_t& word, std::int64_t& square) noexcept {
  word = number;
  square = number * number;
}
std::optional<std::int64_t> common(std::int64_t sum, std::int64_t squares, std::uint32_t rank_count) noexcept;

}  // namespace steadfold::arithmetic::word_head
