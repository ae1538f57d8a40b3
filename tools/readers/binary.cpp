#include "binary.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "formats.hpp"
#include "number.hpp"
#include "records.hpp"

namespace steadfold::readers {
namespace {

template <class T>
void reverse_bytes(std::span<T> elements) noexcept {
  for (T& element : elements) {
    auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(element);
    std::ranges::reverse(bytes);
    element = std::bit_cast<T>(bytes);
  }
}

/// Whether a double can represent the number without rounding.
template <class Number>
bool is_a_double(Number number) noexcept {
  if constexpr (std::is_floating_point_v<Number> || sizeof(Number) < 8) {
    return true;
  } else {
    const auto bits = static_cast<std::uint64_t>(number);
    const std::uint64_t size = std::is_signed_v<Number> && number < Number{0} ? 0 - bits : bits;
    return size == 0 ||
           static_cast<int>(std::bit_width(size)) - std::countr_zero(size) <= std::numeric_limits<double>::digits;
  }
}

class BlockSource final : public Source {
 public:
  BlockSource(std::unique_ptr<File> file, const Block& block)
      : Source(type_of(block.stored)), file_(std::move(file)), block_(block) {}

  Format format() const noexcept override { return block_.format; }

  std::uint64_t count(std::uint64_t part, std::uint64_t parts) const override {
    return part_begin(block_.element_count, part + 1, parts) - part_begin(block_.element_count, part, parts);
  }

 private:
  void check_total(std::uint64_t total) const override {
    if (total != block_.element_count)
      throw file_->fault(elements(total) + " of " + std::to_string(block_.element_count) + " were read by the ranks",
                         "check that all ranks see the same file");
  }
  void read_f64(std::uint64_t begin, std::span<double> elements) const override {
    switch (block_.stored) {
      case Stored::i8: return read_any<std::int8_t>(begin, elements);
      case Stored::i16: return read_any<std::int16_t>(begin, elements);
      case Stored::i32: return read_any<std::int32_t>(begin, elements);
      case Stored::i64: return read_any<std::int64_t>(begin, elements);
      case Stored::u8: return read_any<std::uint8_t>(begin, elements);
      case Stored::u16: return read_any<std::uint16_t>(begin, elements);
      case Stored::u32: return read_any<std::uint32_t>(begin, elements);
      case Stored::u64: return read_any<std::uint64_t>(begin, elements);
      default: return read_any<double>(begin, elements);
    }
  }
  void read_f32(std::uint64_t begin, std::span<float> elements) const override { read_any<float>(begin, elements); }

  template <class Number, class T>
  void read_any(std::uint64_t begin, std::span<T> elements) const {
    if (block_.across) return read_across<Number>(*block_.across, begin, elements);
    if constexpr (std::is_same_v<Number, T>)
      take(begin, elements);
    else
      read_along<Number>(begin, elements);
  }

  /// Reads elements whose order in the file is the order of their indices, and converts them.
  template <class Number, class T>
  void read_along(std::uint64_t begin, std::span<T> elements) const {
    std::vector<Number> numbers;
    for (std::size_t done = 0; done < elements.size(); done += numbers.size()) {
      numbers.resize(std::min(at_once<Number>(), elements.size() - done));
      take(begin + done, std::span(numbers));
      for (std::size_t i = 0; i < numbers.size(); ++i) elements[done + i] = element<T>(numbers[i], begin + done + i);
    }
  }

  /// Reads elements of an array in Fortran order. From every column, reads the rows that contain the elements. If
  /// columns are shorter than a page, several are read at once, with the bytes between the needed rows, because a disk
  /// reads whole pages anyway.
  template <class Number, class T>
  void read_across(const FortranOrder& array, std::uint64_t begin, std::span<T> elements) const {
    constexpr std::uint64_t page = 4096;
    const std::uint64_t end_row = (begin + elements.size() - 1) / array.columns() + 1;
    const bool are_short = array.rows() * sizeof(Number) < page;
    const std::uint64_t most_columns = are_short ? std::max<std::uint64_t>(at_once<Number>() / array.rows(), 1) : 1;
    Piece piece;
    for (piece.row = begin / array.columns(); piece.row < end_row; piece.row += piece.rows) {
      piece.rows = std::min<std::uint64_t>(at_once<Number>(), end_row - piece.row);
      for (piece.column = 0; piece.column < array.columns(); piece.column += piece.columns) {
        piece.columns = std::min(most_columns, array.columns() - piece.column);
        read_piece<Number>(array, piece, begin, elements);
      }
    }
  }

  /// Some rows of some columns.
  struct Piece {
    std::uint64_t row = 0, rows = 0, column = 0, columns = 0;
  };

  /// Stores the elements whose indices are in the range that starts at `begin`, each at its index.
  template <class Number, class T>
  void read_piece(const FortranOrder& array, const Piece& piece, std::uint64_t begin, std::span<T> elements) const {
    std::vector<Number> numbers(static_cast<std::size_t>((piece.columns - 1) * array.rows() + piece.rows));
    take(piece.column * array.rows() + piece.row, std::span(numbers));
    for (std::uint64_t column = 0; column < piece.columns; ++column) {
      const std::uint64_t place = array.place_of(piece.column + column);
      for (std::uint64_t row = 0; row < piece.rows; ++row) {
        const std::uint64_t index = (piece.row + row) * array.columns() + place;
        if (index >= begin && index - begin < elements.size())
          elements[index - begin] = element<T>(numbers[column * array.rows() + row], index);
      }
    }
  }

  /// Reads the numbers of the file from `place` on, in the file's order.
  template <class Number>
  void take(std::uint64_t place, std::span<Number> numbers) const {
    file_->read(block_.offset + place * sizeof(Number), numbers.data(), numbers.size_bytes());
    if (block_.order != std::endian::native) reverse_bytes(numbers);
  }

  template <class T, class Number>
  T element(Number number, std::uint64_t index) const {
    if (!is_a_double(number))
      throw file_->fault(
          "element " + std::to_string(index) + " is " + std::to_string(number) + ", which a double cannot hold exactly",
          "save the data as float64, which rounds this number");
    return static_cast<T>(number);
  }

  template <class Number>
  std::size_t at_once() const noexcept {
    return std::max<std::size_t>(block_.block_bytes / sizeof(Number), 1);
  }

  std::unique_ptr<File> file_;
  Block block_;
};

std::uint64_t little_endian_count(const File& file) { return word_at(file, 0, 8, std::endian::little); }

/// Whether the file begins like text. The bytes of doubles almost never look like text.
bool looks_like_text(const File& file) {
  constexpr std::uint64_t least = 16, most = 512;
  const std::string beginning = file.read(0, std::min(file.size(), most));
  return beginning.size() >= least &&
         std::ranges::all_of(beginning, [](char c) { return is_blank(c) || (c > ' ' && c <= '~'); });
}

}  // namespace

std::string elements(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " element" : " elements"); }

void check_size(const File& file, const Block& block) {
  const std::uint64_t found = file.size() - block.offset;
  const std::uint64_t width = bytes_of(block.stored);
  const std::string announced = elements(block.element_count) + " of " + std::to_string(width) +
                                " bytes are announced, but " + std::to_string(found) + " bytes ";
  // A division is used, because the announced count may be any number and a product could overflow.
  if (block.element_count > found / width)
    throw file.fault(
        "truncated: " + announced + "follow",
        "check that the whole file was copied and that its format is " + std::string(name_of(block.format)));
  if (block.element_count * width != found)
    throw file.fault("too long: " + announced + "follow",
                     "remove the surplus bytes, or check that its format is " + std::string(name_of(block.format)));
}

std::unique_ptr<Source> open_block(std::unique_ptr<File> file, const Block& block) {
  return std::make_unique<BlockSource>(std::move(file), block);
}

void refuse_no_numbers(const File& file) {
  const std::string force = ", or use --force to read every byte as numbers";
  if (looks_like_npy(file))
    throw file.fault("the file has npy format, and its header is not a number", "use --format npy" + force);
  if (looks_like_text(file)) throw file.fault("it is text", "use --format csv, tsv or psllh" + force);
  for (const std::endian order : {std::endian::little, std::endian::big})
    if (has_records(file, order))
      throw file.fault("it begins with a Fortran record, which has its length before and behind it",
                       std::string("use --fortran-records") + (order == std::endian::big ? " --byte-order big" : "") +
                           ", or write the file with access='stream'" + force);
}

bool looks_like_binpsllh(const File& file) {
  return file.size() >= 8 && file.size() % 8 == 0 && little_endian_count(file) == file.size() / 8 - 1;
}

std::unique_ptr<Source> open_binpsllh(std::unique_ptr<File> file, const Options& options) {
  if (options.type == Type::f32)
    throw file->fault("binpsllh holds f64, not f32", "leave out --type, or use --format raw");
  if (file->size() < 8)
    throw file->fault(
        "truncated: a count takes 8 bytes, but the number of bytes in the file is " + std::to_string(file->size()),
        "check that the whole file was copied");
  const Block block{.format = Format::binpsllh, .offset = 8, .element_count = little_endian_count(*file)};
  if (block.element_count > std::numeric_limits<std::uint64_t>::max() / 2)
    throw file->fault("a count of " + std::to_string(static_cast<std::int64_t>(block.element_count)) + " is announced",
                      "check that the format of the file is binpsllh");
  check_size(*file, block);
  return open_block(std::move(file), block);
}

std::unique_ptr<Source> open_raw(std::unique_ptr<File> file, const Options& options) {
  Block block{.format = Format::raw,
              .stored = options.type == Type::f32 ? Stored::f32 : Stored::f64,
              .order = options.byte_order.value_or(std::endian::little)};
  const std::uint64_t width = bytes_of(block.stored);
  if (options.has_fortran_records)
    file = RecordFile::open(std::move(file), block.order, width, name_of(type_of(block.stored)));
  block.element_count = file->size() / width;
  if (file->size() % width != 0)
    throw file->fault("truncated: " + std::to_string(file->size()) + " bytes are not a multiple of " +
                          std::to_string(width) + ", the size of an " + std::string(name_of(type_of(block.stored))),
                      "check that the whole file was copied, and check --type");
  return open_block(std::move(file), block);
}

}  // namespace steadfold::readers
