#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

#include "file.hpp"
#include "formats.hpp"
#include "number.hpp"
#include "signature.hpp"
#include "unpack.hpp"

namespace steadfold::readers {
namespace {

constexpr std::array<std::pair<std::string_view, Format>, 10> formats = {{{"auto", Format::automatic},
                                                                          {"npy", Format::npy},
                                                                          {"npz", Format::npz},
                                                                          {"binpsllh", Format::binpsllh},
                                                                          {"psllh", Format::psllh},
                                                                          {"sitelh", Format::sitelh},
                                                                          {"raw", Format::raw},
                                                                          {"csv", Format::csv},
                                                                          {"tsv", Format::tsv},
                                                                          {"txt", Format::txt}}};

/// Lists the formats whose index is `first` or more.
std::string format_list(std::size_t first) {
  std::string list(formats[first].first);
  for (std::size_t i = first + 1; i < formats.size(); ++i)
    list.append(i + 1 == formats.size() ? " and " : ", ").append(formats[i].first);
  return list;
}

/// Whether two texts are equal without regard to upper and lower case.
bool has_letters(std::string_view text, std::string_view lower) noexcept {
  return std::ranges::equal(text, lower, {}, [](unsigned char letter) { return std::tolower(letter); });
}

/// Returns what follows the last point of the path.
std::string_view extension_of(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? "" : path.substr(dot + 1);
}

bool is_named_gz(std::string_view path) noexcept { return has_letters(extension_of(path), "gz"); }

/// Returns the format that belongs to the extension, or `automatic`. A last .gz does not count.
Format format_of_name(std::string_view path) noexcept {
  if (is_named_gz(path)) path.remove_suffix(3);
  const std::string_view extension = extension_of(path);
  if (has_letters(extension, "dat")) return Format::txt;
  for (const auto& [name, format] : formats) {
    if (has_letters(extension, name) && format != Format::automatic) return format;
  }
  return Format::automatic;
}

Format detect(const File& file, Format by_name) {
  // Programs give the names .txt and .dat to files of any content.
  const bool may_be_any = by_name == Format::automatic || by_name == Format::txt;
  if (looks_like_npy(file)) {
    if (by_name == Format::npy || may_be_any) return Format::npy;
    throw file.fault("the file's name says " + std::string(name_of(by_name)) + ", but its content is npy",
                     "rename the file, or give its format with --format");
  }
  if (may_be_any && looks_like_binpsllh(file)) return Format::binpsllh;
  if (by_name == Format::automatic && looks_like_npz(file)) return Format::npz;
  if (by_name == Format::automatic && looks_like_sitelh(file)) return Format::sitelh;
  if (by_name != Format::automatic) return by_name;
  throw file.fault("neither the file's name nor its content shows the format",
                   "give its format with --format: " + format_list(1));
}

/// Names the given options that are for tables and that the format does not have; empty if there are none.
std::string table_options(const Options& options, Format format) {
  const bool has_columns = format == Format::npz || format == Format::sitelh;
  std::string names;
  const auto add = [&](bool is_given, std::string_view name) {
    if (is_given) names.append(names.empty() ? "" : ", ").append(name);
  };
  add(!has_columns && !options.column.empty(), "--column");
  add(!has_columns && !options.column_name.empty(), "--column-name");
  add(options.header.has_value(), "--header");
  add(options.separator.has_value(), "--separator");
  add(options.decimal_mark.has_value(), "--decimal");
  add(!options.comment.empty(), "--comment");
  add(!options.missing.empty(), "--missing");
  return names;
}

/// Returns the first given option that only raw numbers have; empty if there is none.
std::string raw_options(const Options& options) {
  if (options.forced) return "--force";
  if (options.has_fortran_records) return "--fortran-records";
  return options.byte_order ? "--byte-order" : "";
}

std::unique_ptr<Source> open_as(std::unique_ptr<File> file, bool is_told, Format expected, const Options& options) {
  const Format format = is_told ? expected : detect(*file, expected);
  if (const std::string given = table_options(options, format); !is_table(format) && !given.empty())
    throw file->fault("it is " + std::string(name_of(format)) + " and no table", "leave out " + given);
  if (const std::string given = raw_options(options); format != Format::raw && !given.empty())
    throw file->fault(given + " is only for raw numbers, but the format is " + std::string(name_of(format)),
                      "leave out " + given);
  if (format == Format::raw && !options.forced && !options.has_fortran_records) refuse_no_numbers(*file);
  switch (format) {
    case Format::npy: return open_npy(std::move(file), options);
    case Format::npz: return open_npz(std::move(file), options);
    case Format::binpsllh: return open_binpsllh(std::move(file), options);
    case Format::raw: return open_raw(std::move(file), options);
    case Format::psllh: return open_psllh(std::move(file), options);
    case Format::sitelh: return open_sitelh(std::move(file), options);
    default: return open_table(std::move(file), format, options);
  }
}

}  // namespace

Format format_named(std::string_view name) {
  for (const auto& [known, format] : formats) {
    if (known == name) return format;
  }
  throw Error("unknown format " + shown(name) + " (the known formats are " + format_list(0) + "), choose one of these");
}

Type type_named(std::string_view name) {
  if (name == "f64") return Type::f64;
  if (name == "f32") return Type::f32;
  throw Error("unknown type " + shown(name) + " (files hold f64 or f32), choose one of these");
}

std::string_view name_of(Format format) noexcept {
  for (const auto& [name, known] : formats) {
    if (known == format) return name;
  }
  return "";
}

char separator_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 4> names = {
      {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blanks", ' '}}};
  for (const auto& [known, separator] : names)
    if (known == name) return separator;
  const unsigned char c = name.size() == 1 ? static_cast<unsigned char>(name.front()) : 0;
  // Signs, digits, letters and points are parts of numbers, and quotes enclose fields.
  const bool is_mark =
      c > ' ' && c < 0x7F && std::isalnum(c) == 0 && std::string_view("+-.\"").find(name) == std::string_view::npos;
  if (is_mark) return name.front();
  throw Error(
      "fields cannot be separated by " + shown(name) +
      " (a separator is comma, semicolon, tab, blanks, or one character that no number contains), choose one of "
      "these");
}

std::endian byte_order_named(std::string_view name) {
  if (name == "little") return std::endian::little;
  if (name == "big") return std::endian::big;
  throw Error("unknown byte order " + shown(name) + " (it is neither little nor big), choose one of these");
}

char decimal_mark_named(std::string_view name) {
  if (name == "point") return '.';
  if (name == "comma") return ',';
  throw Error("unknown decimal mark " + shown(name) + " (it is neither point nor comma), choose one of these");
}

std::vector<std::string> texts_between(std::string_view list, char mark) {
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(mark, begin), list.size());
    texts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return texts;
}

std::vector<std::string> missing_texts(std::string_view list, char decimal_mark) {
  std::vector<std::string> texts = texts_between(list, decimal_mark == ',' ? ';' : ',');
  for (std::string& text : texts) text = std::string(trimmed(text));
  return texts;
}

std::string_view name_of(Type type) noexcept { return type == Type::f64 ? "f64" : "f32"; }

void Source::set_counts(std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> first = {0};
  first.reserve(counts.size() + 1);
  for (const std::uint64_t count : counts) first.push_back(first.back() + count);
  check_total(first.back());
  first_ = std::move(first);
}

void Source::check_read(std::uint64_t begin, std::uint64_t count, Type type) const {
  if (type != type_) throw Error("the file's elements have another type (an error in the command), report this error");
  if (begin > element_count() || count > element_count() - begin)
    throw Error("elements " + std::to_string(begin) + " to " + std::to_string(begin + count) +
                " were asked for (there are " + std::to_string(element_count()) + "), ask for fewer elements");
}

void Source::read(std::uint64_t begin, std::span<double> elements) const {
  check_read(begin, elements.size(), Type::f64);
  if (!elements.empty()) read_f64(begin, elements);
}

void Source::read(std::uint64_t begin, std::span<float> elements) const {
  check_read(begin, elements.size(), Type::f32);
  if (!elements.empty()) read_f32(begin, elements);
}

std::unique_ptr<Source> open(const std::string& path, const Options& options) {
  auto file = std::make_unique<File>(path);
  const auto refuse_empty = [](const File& each) {
    if (each.size() == 0) throw each.fault("it is empty", "check the program that should have written the file");
  };
  refuse_empty(*file);
  const bool is_told = options.format != Format::automatic;
  const Format expected = is_told ? options.format : format_of_name(path);
  // In a file with the ending .gz, --force applies to the unpacked bytes.
  const bool is_packed = is_gzip(*file, expected, options.forced && !is_named_gz(path));
  if (is_packed) {
    file = unpacked(*file, {.path = path, .end = file->size()}, most_unpacked(options));
    refuse_empty(*file);
  }
  refuse_foreign(*file, expected, options.forced);
  if (!is_packed && !is_told && is_named_gz(path))
    throw file->fault("its name ends in .gz, but it is not compressed by gzip",
                      "rename the file, or give its format with --format");
  const std::uint64_t size = file->size();
  auto source = open_as(std::move(file), is_told, expected, options);
  if (!is_packed) return source;
  Found found = source->found();
  found.compression = "gzip";
  found.unpacked_bytes = size;
  source->set_found(std::move(found));
  return source;
}

}  // namespace steadfold::readers
