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
  for (std::size_t i = count; i-- > 0;) {  // the most significant byte first
    std::snprintf(digits, sizeof digits, "%02X", static_cast<unsigned>(bytes[i]));
    text += digits;
  }
  return text;
}

std::size_t result_size(const Member& m, std::size_t rank) { return m.columns_of(rank) * m.result_bytes(); }

/// Whether two results are equal. The padding between a 32-bit value and its index may differ.
bool same(const Member& m, const std::byte* found, const std::byte* wanted) {
  if (!is_location(m.operation)) return std::memcmp(found, wanted, m.result_bytes()) == 0;
  return std::memcmp(found, wanted, m.element_bytes()) == 0 && std::memcmp(found + 8, wanted + 8, 8) == 0;
}

}  // namespace

void Tally::fault(const Case& made, std::size_t rank, const std::string& what) {
  if (++wrong <= most_printed)
    std::fprintf(stderr, "WRONG: %s\n  rank %zu: %s\n", made.text().c_str(), rank, what.c_str());
}

Buffers::Buffers(const Prepared& prepared, std::size_t member, std::size_t rank, Random* own,
                 const Placement* placement)
    : member_(member), rank_(rank) {
  const Member& m = prepared.made.members[member];
  const Elements& all = prepared.elements[member];
  result_size_ = m.gets_result(rank) ? result_size(m, rank) : 0;
  apart_.assign(result_size_ + guard_bytes, untouched);
  if (placement != nullptr) {
    arrays_.emplace(*placement, all, 0);
    return;
  }
  rows_ = rows_of(all.first, m.columns * m.element_bytes(), m.deal[rank]);
  if (m.has_second())
    second_ = rows_of(all.second, m.operation == SF_MASKED_SUM ? 1 : m.columns * m.element_bytes(), m.deal[rank]);
  if (own != nullptr && result_size_ > 0 && !rows_.empty() && own->one_in(3)) place_within(m, *own);
  // A wrong call may claim one more column.
  if (prepared.made.wrong != Wrong::nothing) rows_.resize(rows_.size() + 16 * (m.rows_of(rank) + 1));
  before_ = rows_;
  for (std::uint64_t c = 0; m.is_listed && prepared.made.wrong == Wrong::nothing && c < m.columns; ++c)
    list_.push_back(rows_.empty() ? nullptr : rows_.data() + first_at_ + c * m.element_bytes());
}

/// Puts the result within the rows: at their beginning, at the rank's block in them, or anywhere. All addresses stay
/// aligned.
void Buffers::place_within(const Member& m, Random& own) {
  const std::size_t room = (result_size_ + 31) / 16 * 16;
  const std::size_t row_bytes = rows_.size();
  rows_.insert(rows_.begin(), room, untouched);
  rows_.resize(rows_.size() + room, untouched);
  is_apart_ = false;
  first_at_ = result_at_ = room;
  const std::uint64_t kind = own.below(3);
  if (kind == 1 && m.element_bytes() == m.result_bytes()) result_at_ += m.first_column(rank_) * m.element_bytes();
  if (kind == 2) result_at_ = 16 * own.below((room + row_bytes) / 16 + 1);
}

void Buffers::rely_on_call(Random& own) {
  if (arrays_) arrays_->leave_out_some(own);
}

Data Buffers::data() {
  if (arrays_) {
    Data data = arrays_->data();
    data.result = apart_.data();
    return data;
  }
  const void* const first = list_.empty() ? static_cast<const void*>(rows_.data() + first_at_) : list_.data();
  return {first, second_.data(), is_apart_ ? apart_.data() : rows_.data() + result_at_};
}

bool Buffers::others_are_untouched() const {
  if (arrays_ && !arrays_->are_untouched()) return false;
  const auto is_kept = [&](std::size_t begin, std::size_t end) {
    return std::equal(rows_.begin() + static_cast<std::ptrdiff_t>(begin),
                      rows_.begin() + static_cast<std::ptrdiff_t>(end),
                      before_.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  if (is_apart_)
    return is_kept(0, rows_.size()) && all_untouched(apart_.data() + result_size_, apart_.data() + apart_.size());
  return is_kept(0, result_at_) && is_kept(result_at_ + result_size_, rows_.size());
}

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
  // A rank that gets no result, or only some columns, need not learn that other columns are empty.
  const bool may_be_ok = !gets || (m.collective == SF_REDUCE_SCATTER && m.has_own_rows());
  if (status != expected.status && !(status == SF_OK && may_be_ok))
    return tally.fault(made, rank_,
                       "member " + std::to_string(member_) + ": status " + std::to_string(status) + " in place of " +
                           std::to_string(expected.status) + " (" + text + ")");
  if (status == SF_OK && expected.status == SF_OK && gets) compare(prepared, expected, tally);
  if (!others_are_untouched())
    tally.fault(made, rank_,
                "member " + std::to_string(member_) + ": an input, or memory beside the result, was written");
}

}  // namespace steadfold::soak
