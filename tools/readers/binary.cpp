#include "binary.hpp"

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "formats.hpp"

namespace steadfold::readers {
namespace {

template <class T>
void reverse_bytes(std::span<T> elements) noexcept {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  for (T& element : elements) {
    const auto word = std::bit_cast<Word>(element);
    if constexpr (sizeof(T) == 8) {
      element = std::bit_cast<T>(__builtin_bswap64(word));
    } else {
      element = std::bit_cast<T>(__builtin_bswap32(word));
    }
  }
}

class BlockSource final : public Source {
 public:
  BlockSource(std::unique_ptr<File> file, const Block& block)
      : Source(block.type), file_(std::move(file)), block_(block) {}

  Format format() const noexcept override { return block_.format; }

  std::uint64_t count(std::uint64_t part, std::uint64_t parts) const override {
    return part_begin(block_.element_count, part + 1, parts) - part_begin(block_.element_count, part, parts);
  }

 private:
  void check_total(std::uint64_t total) const override {
    if (total != block_.element_count)
      throw file_->fault(elements(total) + " of " + std::to_string(block_.element_count) + " are accounted for",
                         "check that all ranks see the same file");
  }
  void read_f64(std::uint64_t begin, std::span<double> elements) const override { read_any(begin, elements); }
  void read_f32(std::uint64_t begin, std::span<float> elements) const override { read_any(begin, elements); }

  template <class T>
  void read_any(std::uint64_t begin, std::span<T> elements) const {
    file_->read(block_.offset + begin * sizeof(T), elements.data(), elements.size_bytes());
    if (block_.order != std::endian::native) reverse_bytes(elements);
  }

  std::unique_ptr<File> file_;
  Block block_;
};

std::uint64_t little_endian_count(const File& file) {
  const std::string bytes = file.read(0, 8);
  std::uint64_t count = 0;
  for (std::size_t i = 8; i-- > 0;) count = count << 8 | static_cast<unsigned char>(bytes[i]);
  return count;
}

}  // namespace

std::string elements(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " element" : " elements"); }

void check_size(const File& file, const Block& block) {
  const std::uint64_t found = file.size() - block.offset;
  const std::uint64_t width = bytes_of(block.type);
  const std::string announced = elements(block.element_count) + " of " + std::to_string(width) + " bytes announced, " +
                                std::to_string(found) + " bytes ";
  // Divides rather than multiplies, since an announced count may be any number.
  if (block.element_count > found / width)
    throw file.fault("truncated: " + announced + "follow",
                     "check that it was copied as a whole and is " + std::string(name_of(block.format)));
  if (block.element_count * width != found)
    throw file.fault("too long: " + announced + "follow",
                     "cut off what does not belong, or check that it is " + std::string(name_of(block.format)));
}

std::unique_ptr<Source> open_block(std::unique_ptr<File> file, const Block& block) {
  return std::make_unique<BlockSource>(std::move(file), block);
}

bool looks_like_binpsllh(const File& file) {
  return file.size() >= 8 && file.size() % 8 == 0 && little_endian_count(file) == file.size() / 8 - 1;
}

std::unique_ptr<Source> open_binpsllh(std::unique_ptr<File> file, const Options& options) {
  if (options.type == Type::f32)
    throw file->fault("binpsllh holds f64, not f32", "leave out --type or give --format raw");
  if (file->size() < 8)
    throw file->fault("truncated: a count takes 8 bytes, it has " + std::to_string(file->size()),
                      "check that it was copied as a whole");
  const Block block{.format = Format::binpsllh, .offset = 8, .element_count = little_endian_count(*file)};
  if (block.element_count > std::numeric_limits<std::uint64_t>::max() / 2)
    throw file->fault("a count of " + std::to_string(static_cast<std::int64_t>(block.element_count)) + " announced",
                      "check that it is binpsllh");
  check_size(*file, block);
  return open_block(std::move(file), block);
}

std::unique_ptr<Source> open_raw(std::unique_ptr<File> file, const Options& options) {
  Block block{.format = Format::raw, .type = options.type.value_or(Type::f64)};
  const std::uint64_t width = bytes_of(block.type);
  block.element_count = file->size() / width;
  if (file->size() % width != 0)
    throw file->fault("truncated: " + std::to_string(file->size()) + " bytes are no multiple of " +
                          std::to_string(width) + ", the size of an " + std::string(name_of(block.type)),
                      "check that it was copied as a whole, or its --type");
  return open_block(std::move(file), block);
}

}  // namespace steadfold::readers
