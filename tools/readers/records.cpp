#include "records.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace steadfold::readers {
namespace {

/// Returns the length of the record's data from a length in the file. A record of 2 GiB or more is written in parts,
/// and a negative length says that another part follows or came before.
std::uint64_t length_of(std::uint64_t word, std::size_t width) noexcept {
  if (width == 8) return word;
  return word >> 31 == 0 ? word : (std::uint64_t{1} << 32) - word;
}

/// A record, or a part of one.
struct Piece {
  std::uint64_t length;
  bool continues;  // whether another part of the record follows
};

/// Returns the piece at `offset`; nullopt if there is none.
std::optional<Piece> piece_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order) {
  const std::uint64_t left = file.size() - offset;
  if (left < 2 * width) return std::nullopt;
  const std::uint64_t before = word_at(file, offset, width, order);
  const std::uint64_t length = length_of(before, width);
  if (length > left - 2 * width) return std::nullopt;
  const std::uint64_t behind = length_of(word_at(file, offset + width + length, width, order), width);
  return behind == length ? std::optional(Piece{length, width == 4 && before != length}) : std::nullopt;
}

}  // namespace

std::uint64_t word_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order) {
  const std::string bytes = file.read(offset, width);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < width; ++i)
    word = word << 8 | static_cast<unsigned char>(bytes[order == std::endian::big ? i : width - 1 - i]);
  return word;
}

bool has_records(const File& file, std::endian order) {
  return std::ranges::any_of(std::array<std::size_t, 2>{4, 8}, [&](std::size_t width) {
    return piece_at(file, 0, width, order).value_or(Piece{}).length > 0;
  });
}

RecordFile::RecordFile(std::unique_ptr<File> whole, Found found)
    : File(whole->path(), found.size), whole_(std::move(whole)), records_(std::move(found.records)) {}

RecordFile::Found RecordFile::find(const File& whole, std::size_t width_of_length, std::endian order,
                                   std::uint64_t width, std::string_view type) {
  Found found;
  std::uint64_t number = 1, begin = 0;  // number of the record, and where its first part begins
  for (std::uint64_t offset = 0; offset < whole.size();) {
    const auto name = [number, offset] {
      return "record " + std::to_string(number) + ", at byte " + std::to_string(offset) + ", ";
    };
    const auto piece = piece_at(whole, offset, width_of_length, order);
    if (!piece) {
      found.why = name() + "does not have its length before and behind its data";
      return found;
    }
    found.records.push_back({found.size, offset + width_of_length});
    found.size += piece->length;
    offset += piece->length + 2 * width_of_length;
    if (piece->continues) continue;
    if ((found.size - begin) % width != 0) {
      found.why = name() + "has " + std::to_string(found.size - begin) + " bytes, which is not a multiple of " +
                  std::to_string(width) + ", the size of an " + std::string(type);
      return found;
    }
    begin = found.size;
    ++number;
  }
  return found;
}

std::unique_ptr<File> RecordFile::open(std::unique_ptr<File> whole, std::endian order, std::uint64_t width,
                                       std::string_view type) {
  Found found = find(*whole, 4, order, width, type);
  if (!found.why.empty()) {
    Found of_long = find(*whole, 8, order, width, type);
    if (of_long.records.size() >= found.records.size()) found = std::move(of_long);
  }
  if (found.size == 0)
    throw whole->fault("it does not begin with a Fortran record, which has its length before and behind its data",
                       "leave out --fortran-records, or check --byte-order");
  if (!found.why.empty())
    throw whole->fault(found.why,
                       "check --type, and that the whole file was copied; all records must have numbers only");
  return std::unique_ptr<File>(new RecordFile(std::move(whole), std::move(found)));
}

void RecordFile::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  if (bytes > size() || offset > size() - bytes)
    throw fault("its records end at byte " + std::to_string(size()) + " of their data",
                "check that the whole file was copied");
  const auto behind = std::ranges::upper_bound(records_, offset, {}, &Record::begin);
  auto index = static_cast<std::size_t>(behind - records_.begin());
  for (char* at = static_cast<char*>(target); bytes > 0; ++index) {
    const Record& record = records_[index - 1];
    const std::uint64_t end = index == records_.size() ? size() : records_[index].begin;
    const std::uint64_t now = std::min(bytes, end - offset);
    whole_->read(record.place + (offset - record.begin), at, now);
    at += now;
    offset += now;
    bytes -= now;
  }
}

}  // namespace steadfold::readers
