// Reads elements that are stored contiguously in a file, in either byte order: the common part of the formats npy,
// binpsllh and raw.
#pragma once

#include <bit>
#include <memory>

#include "file.hpp"
#include "fortran_order.hpp"
#include "reader.hpp"

namespace steadfold::readers {

/// The type in which a file stores an element. Integers are converted to doubles, without rounding.
enum class Stored { f64, f32, i8, i16, i32, i64, u8, u16, u32, u64 };

constexpr Type type_of(Stored stored) noexcept { return stored == Stored::f32 ? Type::f32 : Type::f64; }
constexpr bool is_integer(Stored stored) noexcept { return stored != Stored::f64 && stored != Stored::f32; }
constexpr std::uint64_t bytes_of(Stored stored) noexcept {
  switch (stored) {
    case Stored::i8:
    case Stored::u8: return 1;
    case Stored::i16:
    case Stored::u16: return 2;
    case Stored::f32:
    case Stored::i32:
    case Stored::u32: return 4;
    default: return 8;
  }
}

/// Where the elements are in the file, and how they are stored.
struct Block {
  Format format = Format::raw;
  Stored stored = Stored::f64;
  std::uint64_t offset = 0;  // offset of the first element, in bytes
  std::uint64_t element_count = 0;
  std::endian order = std::endian::little;
  std::optional<FortranOrder> across = {};  // the order of the elements, if they are not in C order
  std::size_t block_bytes = Options().block_bytes;
};

/// Writes a number of elements: "1 element", "2 elements".
std::string elements(std::uint64_t count);

/// Throws Error if the file does not end with the last element of the block.
void check_size(const File& file, const Block& block);

std::unique_ptr<Source> open_block(std::unique_ptr<File> file, const Block& block);

}  // namespace steadfold::readers
