#include "text.hpp"

#include <algorithm>

#include "number.hpp"

namespace steadfold::readers {
namespace {

// Limit of a number's text in bytes; every double has an exact decimal form of less than 1100 digits.
constexpr std::size_t longest_token = 4096;
constexpr std::size_t longest_line = std::size_t{16} << 20;

constexpr std::size_t longest(Records records) noexcept {
  return records == Records::tokens ? longest_token : longest_line;
}

}  // namespace

Walk::Walk(const File& file, Region region, Records records, std::uint64_t start, std::size_t block_bytes)
    : file_(file), region_(region), records_(records), block_bytes_(block_bytes), window_offset_(start) {
  if (start <= region.begin) {
    window_offset_ = region.begin;
    return;
  }
  if (start >= region.end) {
    window_offset_ = region.end;
    return;
  }
  // Skips a record that began before `start`. Only its end is searched for, so the record may have any length.
  window_offset_ = start - 1;
  while (position_ < window_.size() || refill()) {
    if (separates(window_[position_])) break;
    if (++position_ == window_.size()) {
      window_offset_ += position_;
      window_.clear();
      position_ = 0;
    }
  }
  if (records == Records::lines && position_ < window_.size()) ++position_;
}

bool Walk::separates(char c) const noexcept { return records_ == Records::tokens ? is_blank(c) : c == '\n'; }

/// Discards the bytes before position_ and reads one more block. Returns false at the end of the region.
bool Walk::refill() {
  window_.erase(0, position_);
  window_offset_ += position_;
  position_ = 0;
  const std::uint64_t from = window_offset_ + window_.size();
  if (from >= region_.end) return false;
  const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes_, region_.end - from));
  const std::size_t kept = window_.size();
  window_.resize(kept + bytes);
  file_.read(from, window_.data() + kept, bytes);
  return true;
}

void Walk::skip_separators() {
  while (position_ < window_.size() || refill()) {
    if (!separates(window_[position_])) return;
    ++position_;
  }
}

/// Returns the end, in window_, of the record at position_; reads more if needed.
std::size_t Walk::find_end() {
  std::size_t length = 0;
  for (;;) {
    while (position_ + length < window_.size() && !separates(window_[position_ + length])) ++length;
    // The length of every record is checked, even if it fits a block: no result may depend on where blocks end.
    if (length > longest(records_)) {
      throw file_.fault("line " + std::to_string(file_.line_of(window_offset_ + position_)) + ": " +
                            shown(std::string_view(window_).substr(position_)) + " is longer than " +
                            std::to_string(longest(records_)) + " bytes",
                        "check that the file is a text file");
    }
    if (position_ + length < window_.size() || !refill()) return position_ + length;
  }
}

bool Walk::next() {
  if (records_ == Records::tokens) skip_separators();
  if (position_ == window_.size() && !refill()) return false;
  const std::size_t end = find_end();
  offset_ = window_offset_ + position_;
  record_ = std::string_view(window_).substr(position_, end - position_);
  position_ = end;
  if (records_ == Records::lines) {
    if (record_.ends_with('\r')) record_.remove_suffix(1);
    if (position_ < window_.size()) ++position_;
  }
  return true;
}

std::uint64_t count_records(const File& file, Region region, Records records, std::uint64_t begin, std::uint64_t end,
                            std::size_t block_bytes) {
  // A number begins at any other character after a blank. A line begins at any character after a line end.
  const bool tokens = records == Records::tokens;
  const auto separates = [tokens](char c) { return tokens ? is_blank(c) : c == '\n'; };
  bool separated = begin == region.begin || separates(file.read(begin - 1, 1).front());
  std::string block;
  std::uint64_t count = 0;
  for (; begin < end; begin += block.size()) {
    block.resize(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, end - begin)));
    file.read(begin, block.data(), block.size());
    for (const char c : block) {
      const bool separator = separates(c);
      count += separated && !(tokens && separator) ? 1 : 0;
      separated = separator;
    }
  }
  return count;
}

Region without_trailing_blanks(const File& file, Region region, char kept) {
  const auto goes = [kept](char c) { return is_blank(c) && c != kept; };
  constexpr std::uint64_t most = 1U << 16;
  while (region.end > region.begin) {
    const std::uint64_t from = region.end - std::min(most, region.end - region.begin);
    const std::string block = file.read(from, region.end - from);
    const auto last = std::find_if_not(block.rbegin(), block.rend(), goes);
    region.end = from + static_cast<std::uint64_t>(block.rend() - last);
    if (last != block.rend()) break;
  }
  return region;
}

std::uint64_t behind_byte_order_mark(const File& file) {
  return file.size() >= 3 && file.read(0, 3) == "\xEF\xBB\xBF" ? 3 : 0;
}

}  // namespace steadfold::readers
