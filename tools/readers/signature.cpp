#include "signature.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "formats.hpp"

namespace steadfold::readers {
namespace {

/// The first bytes of a kind of file, by which it is recognised.
struct Signature {
  std::string_view bytes;
  std::string_view what;
  std::string_view suggestion;
  std::size_t offset = 0;
  bool is_of_text = false;  // whether the signature has only two bytes, with which a file of numbers may begin, too
};

constexpr std::string_view to_utf8 = "save it as UTF-8";
constexpr std::string_view unpack = "unpack it first";
constexpr std::string_view export_it = "save one array or column as npy or csv";

constexpr std::string_view gzip = "\x1F\x8B\x08";

constexpr std::array signatures = {
    Signature{gzip, "it is compressed by gzip, and its content again", "unpack it with gunzip first"},
    Signature{"1AY&SY", "it is compressed by bzip2", unpack, 4},
    Signature{{"\xFD"
               "7zXZ\0",
               6},
              "it is compressed by xz",
              unpack},
    Signature{"\x28\xB5\x2F\xFD", "it is compressed by zstd", unpack},
    Signature{"PK\x03\x04", "it is a zip archive, as .xlsx and .npz files are",
              "save one sheet as csv, or use --format npz for arrays of NumPy"},
    Signature{"\xD0\xCF\x11\xE0", "it is a file of an office program", "save the sheet as csv"},
    Signature{"\x89HDF\r\n", "it is HDF5, as netCDF 4 is", export_it},
    Signature{"CDF\x01", "it is netCDF", export_it},
    Signature{"CDF\x02", "it is netCDF", export_it},
    Signature{"CDF\x05", "it is netCDF", export_it},
    Signature{"PAR1", "it is Parquet", export_it},
    Signature{"ARROW1", "it is Arrow", export_it},
    Signature{"\xFF\xFE", "it is text in UTF-16", to_utf8, 0, true},
    Signature{"\xFE\xFF", "it is text in UTF-16", to_utf8, 0, true},
};

/// Whether the file may be binpsllh, whose count may begin like another format.
bool may_be_binpsllh(const File& file, Format format) {
  return (format == Format::binpsllh || format == Format::automatic || format == Format::txt) &&
         looks_like_binpsllh(file);
}

}  // namespace

bool is_gzip(const File& file, Format format, bool is_forced) {
  return !is_forced && file.size() >= gzip.size() && file.read(0, gzip.size()) == gzip &&
         !may_be_binpsllh(file, format);
}

void refuse_foreign(const File& file, Format format, bool is_forced) {
  constexpr std::uint64_t most = 16;
  const std::string beginning = file.read(0, std::min(file.size(), most));
  const auto* const found = std::ranges::find_if(signatures, [&](const Signature& each) {
    return each.offset < beginning.size() && std::string_view(beginning).substr(each.offset).starts_with(each.bytes);
  });
  if (found == signatures.end() || is_forced) return;
  const bool is_binary = format == Format::raw || format == Format::binpsllh || format == Format::npy;
  if (found->is_of_text && is_binary) return;
  if (may_be_binpsllh(file, format)) return;
  if (format == Format::npz || (format == Format::automatic && looks_like_npz(file))) return;
  std::string suggestion(found->suggestion);
  if (format == Format::raw) suggestion += ", or use --force to read every byte as numbers";
  throw file.fault(found->what, suggestion);
}

}  // namespace steadfold::readers
