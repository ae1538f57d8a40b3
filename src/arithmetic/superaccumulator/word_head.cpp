#include "arithmetic/superaccumulator/word_head.hpp"

namespace steadfold::arithmetic::word_head {
namespace {

constexpr std::size_t digest_pieces = 4;
constexpr std::size_t digest_at = 1;
constexpr std::size_t squares_at = digest_at + digest_pieces;
constexpr std::size_t status_at = squares_at + digest_pieces;
constexpr auto status_count = static_cast<unsigned>(Status::internal);
static_assert(size == status_at + (status_count + 1) / 2);
constexpr unsigned flag_count = 2 * flag_words;
constexpr int counter_width = 31;

/// Adds 1 to the counter `number`. The counters begin at words[0], two per word.
void count_one(std::span<std::int64_t> words, unsigned number) noexcept {
  words[number / 2] += std::int64_t{1} << (counter_width * (number % 2));
}
bool counted(std::span<const std::int64_t> sums, unsigned number) noexcept {
  return ((sums[number / 2] >> (counter_width * (number % 2))) & 0x7FFFFFFF) != 0;
}

}  // namespace

void put(const Header& header, Count rows, std::span<std::int64_t> words) noexcept {
  for (std::size_t i = 0; i < digest_pieces; ++i) {
    const auto piece = static_cast<std::int64_t>(header.digest >> (16 * i) & 0xFFFF);
    put_common(piece, words[digest_at + i], words[squares_at + i]);
  }
  if (header.status == Status::ok)
    words.front() = static_cast<std::int64_t>(rows);
  else
    count_one(words.subspan(status_at), static_cast<unsigned>(header.status) - 1);
}

Header header_of(std::span<const std::int64_t> sums, std::uint32_t rank_count, std::uint64_t digest) noexcept {
  Header header{.digest = digest};
  for (unsigned number = 0; number < status_count; ++number) {
    if (counted(sums.subspan(status_at), number)) header.status = static_cast<Status>(number + 1);
  }
  for (std::size_t i = 0; i < digest_pieces; ++i) {
    if (!common(sums[digest_at + i], sums[squares_at + i], rank_count))
      header.status = worse(header.status, Status::mismatch);
  }
  return header;
}

void put_flags(Flags flags, std::span<std::int64_t> words) noexcept {
  for (unsigned i = 0; i < flag_count; ++i) {
    if ((flags >> i & 1) != 0) count_one(words, i);
  }
}

Flags flags_of(std::span<const std::int64_t> sums) noexcept {
  unsigned flags = no_flags;
  for (unsigned i = 0; i < flag_count; ++i) flags |= static_cast<unsigned>(counted(sums, i)) << i;
  return static_cast<Flags>(flags);
}

std::optional<std::int64_t> common(std::int64_t sum, std::int64_t squares, std::uint32_t rank_count) noexcept {
  const auto all = static_cast<std::uint64_t>(sum);
  const auto ranks = std::uint64_t{rank_count};
  if (ranks == 0 ||
      static_cast<Uint128>(all) * all != static_cast<Uint128>(static_cast<std::uint64_t>(squares)) * ranks)
    return std::nullopt;
  return static_cast<std::int64_t>(all / ranks);
}

}  // namespace steadfold::arithmetic::word_head
