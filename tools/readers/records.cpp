#include "records.hpp"

#include <algorithm>
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

/// Returns the length of the record at `offset`; nullopt if there is no record.
std::optional<std::uint64_t> record_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order) {
  const std::uint64_t left = file.size() - offset;
  if (left < 2 * width) return std::nullopt;
  const std::uint64_t length = length_of(word_at(file, offset, width, order), width);
  if (length > left - 2 * width) return std::nullopt;
  const std::uint64_t behind = length_of(word_at(file, offset + width + length, width, order), width);
  return behind == length ? std::optional(length) : std::nullopt;
}

}  // namespace

std::uint64_t word_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order) {
  const std::string bytes = file.read(offset, width);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < width; ++i)
    word = word << 8 | static_cast<unsigned char>(bytes[order == std::endian::big ? i : width - 1 - i]);
  return word;
}

std::optional<std::size_t> width_of_records(const File& file, std::endian order) {
  for (const std::size_t width : {std::size_t{4}, std::size_t{8}})
    if (record_at(file, 0, width, order).value_or(0) > 0) return width;
  return std::nullopt;
}

RecordFile::RecordFile(std::unique_ptr<File> whole, std::vector<Record> records, std::uint64_t size)
    : File(whole->path(), size), whole_(std::move(whole)), records_(std::move(records)) {}

std::unique_ptr<File> RecordFile::open(std::unique_ptr<File> whole, std::endian order) {
  const auto width = width_of_records(*whole, order);
  if (!width)
    throw whole->fault("it does not begin with a Fortran record, which has its length before and behind its data",
                       "leave out --fortran-records, or check --byte-order");
  std::vector<Record> records;
  std::uint64_t size = 0;
  for (std::uint64_t offset = 0; offset < whole->size();) {
    const auto length = record_at(*whole, offset, *width, order);
    if (!length)
      throw whole->fault("record " + std::to_string(records.size() + 1) + ", at byte " + std::to_string(offset) +
                             ", does not have its length before and behind its data",
                         "check that the whole file was copied");
    records.push_back({size, offset + *width});
    size += *length;
    offset += *length + 2 * *width;
  }
  return std::unique_ptr<File>(new RecordFile(std::move(whole), std::move(records), size));
}

void RecordFile::read(std::uint64_t offset, void* target, std::uint64_t bytes) const {
  if (bytes > size() || offset > size() - bytes)
    throw fault("its records end at byte " + std::to_string(size()) + " of their data",
                "check that the whole file was copied");
  auto record = std::ranges::upper_bound(records_, offset, {}, &Record::begin);
  for (char* at = static_cast<char*>(target); bytes > 0; ++record) {
    const Record& current = *std::prev(record);
    const std::uint64_t end = record == records_.end() ? size() : record->begin;
    const std::uint64_t now = std::min(bytes, end - offset);
    whole_->read(current.place + (offset - current.begin), at, now);
    at += now;
    offset += now;
    bytes -= now;
  }
}

}  // namespace steadfold::readers
