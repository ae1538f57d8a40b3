// Reads NumPy's file format, versions 1 to 3: a magic number, a length, a Python dictionary, the elements. Source:
// NumPy Enhancement Proposal 1 and numpy.lib.format.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "binary.hpp"
#include "formats.hpp"
#include "number.hpp"

namespace steadfold::readers {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::array<std::pair<std::string_view, Stored>, 10> kinds = {{{"f8", Stored::f64},
                                                                        {"f4", Stored::f32},
                                                                        {"i1", Stored::i8},
                                                                        {"i2", Stored::i16},
                                                                        {"i4", Stored::i32},
                                                                        {"i8", Stored::i64},
                                                                        {"u1", Stored::u8},
                                                                        {"u2", Stored::u16},
                                                                        {"u4", Stored::u32},
                                                                        {"u8", Stored::u64}}};
constexpr std::uint64_t longest_header = 1U << 20;

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> shape;
};

/// Reads the Python dictionary that the format allows. Any other text is an error, and the error quotes the text.
class HeaderParser {
 public:
  HeaderParser(const File& file, std::string_view text) : file_(file), rest_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      value(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!trimmed(rest_).empty()) throw fault();
    return header;
  }

 private:
  void value(const std::string& key, Header& header) {
    if (key == "descr") {
      skip_blanks();
      if (rest_.starts_with('['))
        throw file_.fault("its elements are structured records", "save one field as a separate file");
      header.descr = string();
    } else if (key == "fortran_order") {
      header.fortran_order = boolean();
    } else if (key == "shape") {
      header.shape = numbers();
    } else {
      throw file_.fault("its header has an unknown key " + shown(key), "save the array again with numpy.save");
    }
  }

  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) throw fault();
  }

  std::string string() {
    skip_blanks();
    if (!rest_.starts_with('\'') && !rest_.starts_with('"')) throw fault();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) throw fault();
    const std::string result(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, result] : {std::pair{std::string_view("True"), true}, {std::string_view("False"), false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return result;
    }
    throw fault();
  }

  std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!accept(')')) {
      result.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::uint64_t number() {
    skip_blanks();
    std::uint64_t result = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), result);
    if (failed != std::errc()) throw fault();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 writes an L after integers
    return result;
  }

  Error fault() const {
    return file_.fault("its header cannot be understood from " + shown(rest_) + " on",
                       "save the array again with numpy.save");
  }

  const File& file_;
  std::string_view rest_;
};

/// Returns the header's text. Sets `offset` to the place where the elements begin.
std::string header_text(const File& file, std::uint64_t& offset) {
  if (!looks_like_npy(file)) throw file.fault("the file does not begin like an npy file", "check its --format");
  if (file.size() < 10) throw file.fault("truncated in its header", "check that the whole file was copied");
  const std::string start = file.read(0, std::min<std::uint64_t>(file.size(), 12));
  const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(start[i])}; };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3)
    throw file.fault("npy version " + std::to_string(version) + " is unknown", "save the array as version 1, 2 or 3");
  offset = version == 1 ? 10 : 12;
  std::uint64_t length = byte(8) | byte(9) << 8;
  if (version > 1 && start.size() == 12) length |= byte(10) << 16 | byte(11) << 24;
  if (file.size() < offset || length > file.size() - offset)
    throw file.fault("truncated: a header of " + std::to_string(length) +
                         " bytes is announced, but the file ends at byte " + std::to_string(file.size()),
                     "check that the whole file was copied");
  if (length > longest_header)
    throw file.fault("its header of " + std::to_string(length) + " bytes is too long for an array",
                     "save the array again with numpy.save");
  const std::string text = file.read(offset, length);
  offset += length;
  return text;
}

/// Whether the mark names a byte order that the type may have. Elements of one byte have no byte order.
bool is_order(char mark, Stored stored) noexcept {
  return mark == '<' || mark == '>' || mark == '=' || (mark == '|' && bytes_of(stored) == 1);
}

void set_type(const File& file, std::string_view descr, Block& block) {
  const std::string_view kind_name = descr.size() > 1 ? descr.substr(1) : "";
  const auto* const kind = std::ranges::find(kinds, kind_name, [](const auto& each) { return each.first; });
  if (kind == kinds.end() || !is_order(descr.front(), kind->second))
    throw file.fault("its elements are " + shown(descr),
                     "save the array as float64 ('<f8'), float32 ('<f4') or integers of 1, 2, 4 or 8 bytes");
  block.stored = kind->second;
  block.order =
      descr.front() == '=' ? std::endian::native : (descr.front() == '<' ? std::endian::little : std::endian::big);
}

void check_type(const File& file, Stored stored, std::optional<Type> asked) {
  const Type type = type_of(stored);
  if (!asked || *asked == type) return;
  const std::string found = is_integer(stored) ? "integers, which are read as f64" : std::string(name_of(type));
  throw file.fault("it holds " + found + ", not " + std::string(name_of(*asked)),
                   "leave out --type, or save the array with the other type");
}

std::uint64_t product(const File& file, std::span<const std::uint64_t> shape) {
  // If a dimension is 0, the count is 0, whatever the other dimensions are.
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
  std::uint64_t result = 1;
  for (const std::uint64_t size : shape) {
    if (result > std::numeric_limits<std::uint64_t>::max() / size)
      throw file.fault("its shape has more than 2^64 elements", "check that the whole file was copied");
    result *= size;
  }
  return result;
}

}  // namespace

bool looks_like_npy(const File& file) { return file.size() >= magic.size() && file.read(0, magic.size()) == magic; }

std::unique_ptr<Source> open_npy(std::unique_ptr<File> file, const Options& options) {
  Block block{.format = Format::npy, .block_bytes = options.block_bytes};
  const std::string text = header_text(*file, block.offset);
  const Header header = HeaderParser(*file, text).parse();
  if (!header.descr || !header.fortran_order || !header.shape)
    throw file->fault("its header lacks descr, fortran_order or shape", "save the array again with numpy.save");
  set_type(*file, *header.descr, block);
  check_type(*file, block.stored, options.type);
  block.element_count = product(*file, *header.shape);
  check_size(*file, block);
  std::vector<std::uint64_t> shape = *header.shape;
  std::erase(shape, 1U);  // axes of extent 1 do not change the order
  if (*header.fortran_order && shape.size() > 1 && block.element_count > 0) block.across.emplace(shape);
  return open_block(std::move(file), block);
}

}  // namespace steadfold::readers
