// Elements stored contiguously in a file, in either byte order: what npy, binpsllh and raw have in common.
#pragma once

#include <bit>
#include <memory>

#include "file.hpp"
#include "reader.hpp"

namespace steadfold::readers {

/// Where the elements are in the file, and their type.
struct Block {
  Format format = Format::raw;
  Type type = Type::f64;
  std::uint64_t offset = 0;  // of the first element
  std::uint64_t element_count = 0;
  std::endian order = std::endian::little;
};

constexpr std::uint64_t bytes_of(Type type) noexcept { return type == Type::f64 ? 8 : 4; }

/// "1 element", "2 elements".
std::string elements(std::uint64_t count);

/// Throws unless the file ends with the last element of the block.
void check_size(const File& file, const Block& block);

std::unique_ptr<Source> open_block(std::unique_ptr<File> file, const Block& block);

}  // namespace steadfold::readers
