// Files that Fortran wrote in unformatted records: each record has its length in bytes before and behind its data.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "file.hpp"

namespace steadfold::readers {

/// Returns the unsigned number of `width` bytes at this position of the file.
std::uint64_t word_at(const File& file, std::uint64_t offset, std::size_t width, std::endian order);

/// Whether the file begins with a record that has data and lengths of 4 or 8 bytes.
bool has_records(const File& file, std::endian order);

/// The data of all records of a file, one after the other. Every rank reads the lengths of all records at the start,
/// with two small reads per record.
class RecordFile final : public File {
 public:
  /// Throws Error if the file does not consist of records, or if the length of a record is not a multiple of `width`,
  /// the size of a number of type `type`.
  static std::unique_ptr<File> open(std::unique_ptr<File> whole, std::endian order, std::uint64_t width,
                                    std::string_view type);

  using File::read;
  void read(std::uint64_t offset, void* target, std::uint64_t bytes) const override;

 private:
  /// Where the data of a record begin: in this object and in the file.
  struct Record {
    std::uint64_t begin = 0, place = 0;
  };
  /// The records up to the first that is wrong, and what is wrong with it; empty if no record is.
  struct Found {
    std::vector<Record> records;
    std::uint64_t size = 0;
    std::string why;
  };
  static Found find(const File& whole, std::size_t width_of_length, std::endian order, std::uint64_t width,
                    std::string_view type);
  RecordFile(std::unique_ptr<File> whole, Found found);

  std::unique_ptr<File> whole_;
  std::vector<Record> records_;
};

}  // namespace steadfold::readers
