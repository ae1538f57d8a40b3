// Reads elements written as text, one per record: the common part of the formats psllh and csv.
#pragma once

#include <memory>
#include <string_view>

#include "text.hpp"

namespace steadfold::readers {

class TextSource : public Source {
 public:
  std::uint64_t count(std::uint64_t part, std::uint64_t parts) const final;

 protected:
  TextSource(std::unique_ptr<File> file, Region region, Records records, const Options& options);

  const File& file() const noexcept { return *file_; }

  /// Returns the text of the number within the record at `offset`.
  virtual std::string_view field_of(std::string_view record, std::uint64_t offset) const = 0;

 private:
  void read_f64(std::uint64_t begin, std::span<double> elements) const final;
  void read_f32(std::uint64_t begin, std::span<float> elements) const final;
  template <class T>
  void read_any(std::uint64_t begin, std::span<T> elements) const;
  std::uint64_t begin_of(std::uint64_t part, std::uint64_t parts) const noexcept;

  std::unique_ptr<File> file_;
  Region region_;
  Records records_;
  std::size_t block_bytes_;
};

}  // namespace steadfold::readers
