#include "buffers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace steadfold::soak {
namespace {

constexpr std::size_t guard_bytes = 48;
constexpr std::byte untouched{0xEE};
constexpr std::uint64_t most_printed = 10;

bool all_untouched(const std::byte* begin, const std::byte* end) {
  return std::all_of(begin, end, [](std::byte b) { return b == untouched; });
}

std::string hex(const std::byte* bytes, std::size_t count) {
  std::string text;
  char digits[3];
  for (std::size_t i = count; i-- > 0;) {  // as the number is written
    std::snprintf(digits, sizeof digits, "%02X", static_cast<unsigned>(bytes[i]));
    text += digits;
  }
  return text;
}

std::size_t result_size(const Member& m, std::size_t rank) { return m.columns_of(rank) * m.result_bytes(); }

bool is_location(const Member& m) { return m.operation == SF_MIN_LOCATION || m.operation == SF_MAX_LOCATION; }

/// Between a value of 32 bits and its index nothing is promised.
bool same(const Member& m, const std::byte* found, const std::byte* wanted) {
  if (!is_location(m)) return std::memcmp(found, wanted, m.result_bytes()) == 0;
  return std::memcmp(found, wanted, m.element_bytes()) == 0 && std::memcmp(found + 8, wanted + 8, 8) == 0;
}

}  // namespace

void Tally::fault(const Case& made, std::size_t rank, const std::string& what) {
  if (++wrong <= most_printed)
    std::fprintf(stderr, "WRONG: %s\n  rank %zu: %s\n", made.text().c_str(), rank, what.c_str());
}

Buffers::Buffers(const Prepared& prepared, std::size_t member, std::size_t rank, bool in_place)
    : member_(member), rank_(rank) {
  const Member& m = prepared.made.members[member];
  const Elements& all = prepared.elements[member];
  first_ = rows_of(all.first, m.columns * m.element_bytes(), m.deal[rank]);
  if (m.has_second())
    second_ = rows_of(all.second, m.operation == SF_MASKED_SUM ? 1 : m.columns * m.element_bytes(), m.deal[rank]);
  const std::size_t bytes = m.gets_result(rank) ? result_size(m, rank) : 0;
  in_place_ = in_place && bytes > 0 && bytes <= first_.size();
  result_.assign(bytes + guard_bytes, untouched);
  // A wrong call may say that it has one column more.
  if (prepared.made.wrong != Wrong::nothing) first_.resize(first_.size() + 16 * (m.rows_of(rank) + 1));
}

Data Buffers::data() { return {first_.data(), second_.data(), in_place_ ? first_.data() : result_.data()}; }

void Buffers::compare(const Prepared& prepared, const Expected& expected, Tally& tally) const {
  const Member& m = prepared.made.members[member_];
  const std::size_t bytes = m.result_bytes();
  const std::byte* const wanted = expected.bytes.data() + m.first_column(rank_) * bytes;
  std::uint64_t differing = 0;
  std::uint64_t first_differing = 0;
  for (std::uint64_t c = m.columns_of(rank_); c-- > 0;) {
    ++tally.compared;
    if (same(m, result() + c * bytes, wanted + c * bytes)) continue;
    ++differing;
    first_differing = c;
  }
  if (differing == 0) return;
  const std::size_t at = first_differing * bytes;
  tally.fault(prepared.made, rank_,
              "member " + std::to_string(member_) + ": " + std::to_string(differing) + " results differ; of column " +
                  std::to_string(first_differing) + " is " + hex(result() + at, bytes) + ", should be " +
                  hex(wanted + at, bytes));
  tally.wrong += differing - 1;
}

void Buffers::check(const Prepared& prepared, sf_status status, const std::string& text, Tally& tally) const {
  const Case& made = prepared.made;
  const Member& m = made.members[member_];
  const Expected& expected = prepared.expected_on(member_, rank_);
  const bool gets = m.gets_result(rank_);
  // Who gets nothing need not learn that nothing is all there is.
  const bool may_be_ok = expected.status == SF_OK || !gets;
  if (status != expected.status && !(status == SF_OK && may_be_ok))
    return tally.fault(made, rank_,
                       "member " + std::to_string(member_) + ": status " + std::to_string(status) + " in place of " +
                           std::to_string(expected.status) + " (" + text + ")");
  if (status == SF_OK && gets) compare(prepared, expected, tally);
  const std::size_t written = gets && !in_place_ ? result_size(m, rank_) : 0;
  if (!all_untouched(result_.data() + written, result_.data() + result_.size()))
    tally.fault(made, rank_, "member " + std::to_string(member_) + ": memory that is no result was written");
  const std::size_t row_bytes = m.columns * m.element_bytes();
  if (!in_place_ && first_ != rows_of(prepared.elements[member_].first, row_bytes, m.deal[rank_]))
    tally.fault(made, rank_, "member " + std::to_string(member_) + ": an input was written");
}

}  // namespace steadfold::soak
