// Files of all formats: the first byte chooses the format, the rest is the file. Values or one Error, on one part and
// on three alike.
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstddef>
#include <cstdint>

#include "readers/reader.hpp"

namespace steadfold::readers {
namespace {

/// What is in the file, as bits; nothing where reading ends in an Error.
std::optional<std::vector<std::uint64_t>> outcome(const std::string& path, const Options& options,
                                                  std::uint64_t parts) {
  try {
    std::vector<std::uint64_t> counts;
    for (std::uint64_t part = 0; part < parts; ++part) counts.push_back(open(path, options)->count(part, parts));
    const auto source = open(path, options);
    source->set_counts(counts);
    std::vector<std::uint64_t> bits;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const std::uint64_t begin = source->element_count() * part / parts;
      const auto count = static_cast<std::size_t>(source->element_count() * (part + 1) / parts - begin);
      const auto read = [&]<class T>(std::vector<T> values) {
        source->read(begin, std::span<T>(values));
        for (const T value : values) bits.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
      };
      source->type() == Type::f64 ? read(std::vector<double>(count)) : read(std::vector<float>(count));
    }
    return bits;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace
}  // namespace steadfold::readers

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace steadfold::readers;
  static const int file = ::memfd_create("file", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  constexpr Format formats[] = {Format::npy, Format::binpsllh, Format::psllh, Format::raw,
                                Format::csv, Format::tsv,      Format::txt};
  if (size == 0) return 0;
  const unsigned choice = data[0];
  Options options{.format = formats[choice % 7], .block_bytes = 1 + choice / 7 % 4};
  // What is in the file shows whether it is compressed by gzip.
  options.most_unpacked = 1U << 20;
  if (options.format == Format::npy && choice >= 128) options.format = Format::npz;
  if (options.format == Format::psllh && choice >= 128) options.format = Format::sitelh;
  const bool has_parts = options.format == Format::npz || options.format == Format::sitelh;
  if (has_parts && choice / 28 % 2 == 1) options.column = "1";
  if (options.format == Format::raw && choice >= 128) options.type = Type::f32;
  if (options.format == Format::raw && choice / 28 % 2 == 1) {
    options.has_fortran_records = true;
    options.byte_order = choice / 56 % 2 == 1 ? std::endian::big : std::endian::little;
  }
  if (is_table(options.format) && choice >= 128) options.column = "1";
  if (is_table(options.format) && choice / 28 % 2 == 1) {
    options.separator = ';';
    options.decimal_mark = ',';
    options.comment = "%";
    options.missing = {"", "NA"};
  }
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data + 1, size - 1, 0) != static_cast<ssize_t>(size - 1)) return 0;
  if (outcome(path, options, 1) != outcome(path, options, 3)) __builtin_trap();
  return 0;
}
