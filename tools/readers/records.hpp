// Files that Fortran wrote in unformatted records: each record has its length in bytes before and behind its data.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "file.hpp"

namespace steadfold::readers {

/// Returns the unsigned number of `width` bytes at this position of the file.
std::uint64_t word_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order);

/// Returns the width in bytes of the lengths, 4 or 8, if the file begins with a record.
std::optional<std::size_t> width_of_records(const File& file, std::endian order);

/// The data of all records of a file, one after the other. Reads the lengths of all records at the start.
class RecordFile final : public File {
 public:
  /// Throws Error if the file does not consist of records.
  static std::unique_ptr<File> open(std::unique_ptr<File> whole, std::endian order);

  using File::read;
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const override;

 private:
  /// Where the data of a record begin: in this object and in the file.
  struct Record {
    std::uint64_t begin = 0, place = 0;
  };
  RecordFile(std::unique_ptr<File> whole, std::vector<Record> records, std::uint64_t size);

  std::unique_ptr<File> whole_;
  std::vector<Record> records_;
};

}  // namespace steadfold::readers
