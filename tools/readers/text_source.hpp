// Reads elements written as text, at most one per record: the common part of psllh and tables.
#pragma once

#include <memory>
#include <string_view>

#include "number.hpp"
#include "text.hpp"

namespace steadfold::readers {

class TextSource : public Source {
 public:
  std::uint64_t count(std::uint64_t part, std::uint64_t parts) const final;
  std::uint64_t missing_count() const noexcept final { return missing_count_; }

 protected:
  TextSource(std::unique_ptr<File> file, Region region, Records records, const Options& options);

  const File& file() const noexcept { return *file_; }

  /// What a record has: a number, a mark in place of a number, or nothing (a comment).
  enum class Content : unsigned char { number, missing, nothing };
  struct Field {
    Content content = Content::number;
    std::string_view text;  // the text of the number
  };
  /// Returns the field of the record at `offset`.
  virtual Field field_of(std::string_view record, std::uint64_t offset) const = 0;
  virtual Notation notation() const noexcept { return {}; }
  /// Whether every record has a number, or is an error.
  virtual bool has_only_numbers() const noexcept { return true; }

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
  mutable std::uint64_t missing_count_ = 0;  // result of the last call of count()
};

}  // namespace steadfold::readers
