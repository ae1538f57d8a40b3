// Compressed files: gzip around any format, and npz, NumPy's zip archives. Whatever is damaged is found, and nothing
// takes more memory than it may.
#ifdef STEADFOLD_ZLIB
#include <zlib.h>

#include "scratch.hpp"

namespace steadfold::readers::testing::packed_test {
namespace {

/// The bytes compressed by zlib, with gzip's header and trailer or without any.
std::string packed(std::string bytes, bool with_gzip = true) {
  z_stream stream = {};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, with_gzip ? 31 : -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  ::deflateEnd(&stream);
  return result;
}

std::string npy(const std::vector<double>& values) {
  const std::string dictionary =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  return std::string("\x93NUMPY\x01\x00", 8) + bytes_of(dictionary.size(), 2) + dictionary + bytes_of(values);
}

struct Member {
  std::string name, content;
  bool is_deflated = false;
  bool is_long = false;  // whether sizes and places are in 64-bit fields
  std::uint64_t method = 0, flags = 0;
  std::uint64_t more = 0;  // is added to the announced size
};

/// A zip archive with these members, and a comment.
std::string zip(const std::vector<Member>& members, bool is_long = false) {
  std::string archive, directory;
  for (const Member& member : members) {
    const std::string data = member.is_deflated ? packed(member.content, false) : member.content;
    const std::uint64_t size = member.content.size() + member.more, place = archive.size();
    const auto crc =
        ::crc32(0, reinterpret_cast<const Bytef*>(member.content.data()), static_cast<uInt>(member.content.size()));
    const std::string kind =
        bytes_of(member.flags, 2) + bytes_of(member.is_deflated ? 8 : member.method, 2) + bytes_of(0, 4);
    const std::uint64_t none = 0xFFFFFFFF;
    const std::string sizes =
        bytes_of(crc, 4) + bytes_of(member.is_long ? none : data.size(), 4) + bytes_of(member.is_long ? none : size, 4);
    const std::string other = bytes_of(0x7075, 2) + bytes_of(3, 2) + "abc";
    const std::string fields = member.is_long ? other + bytes_of(1, 2) + bytes_of(24, 2) + bytes_of(size, 8) +
                                                    bytes_of(data.size(), 8) + bytes_of(place, 8)
                                              : "";
    const std::string lengths = bytes_of(member.name.size(), 2) + bytes_of(fields.size(), 2);
    archive += "PK\x03\x04" + bytes_of(45, 2) + kind + sizes + lengths + member.name + fields + data;
    directory += "PK\x01\x02" + bytes_of(45, 2) + bytes_of(45, 2) + kind + sizes + lengths + bytes_of(2, 2) +
                 bytes_of(0, 8) + bytes_of(member.is_long ? none : place, 4) + member.name + fields + "no";
  }
  const std::uint64_t place = archive.size(), end64 = place + directory.size();
  archive += directory;
  if (is_long)
    archive += "PK\x06\x06" + bytes_of(44, 8) + bytes_of(45, 4) + bytes_of(0, 8) + bytes_of(members.size(), 8) +
               bytes_of(members.size(), 8) + bytes_of(directory.size(), 8) + bytes_of(place, 8) + "PK\x06\x07" +
               bytes_of(0, 4) + bytes_of(end64, 8) + bytes_of(1, 4);
  const std::uint64_t count = is_long ? 0xFFFF : members.size();
  return archive + "PK\x05\x06" + bytes_of(0, 4) + bytes_of(count, 2) + bytes_of(count, 2) +
         bytes_of(directory.size(), 4) + bytes_of(is_long ? 0xFFFFFFFF : place, 4) + bytes_of(12, 2) +
         "PK\x05\x06 comment";
}

const std::vector<double> values = hostile_values();

TEST(Gzip, AroundEveryFormat) {
  const std::string csv = "a,b\n1,2.5\n3,-4e5\n5,6\n";
  const std::vector<double> column = {2.5, -4e5, 6};
  const auto expect = [](const char* extension, const std::string& content, const std::vector<double>& expected,
                         const Options& options = {}) {
    const Scratch file(extension, packed(content));
    expect_bits(file.path(), expected, options);
    const auto source = open(file.path(), options);
    EXPECT_EQ(source->found().compression, "gzip");
    EXPECT_EQ(source->found().unpacked_bytes, content.size());
  };
  for (const char* extension : {".csv.gz", ".csv.GZ", ".csv"}) expect(extension, csv, column, {.column = "b"});
  expect(".txt.gz", "1 2.5\n3 -4e5\n5 6\n", column, {.column = "1"});
  for (const char* extension : {".npy.gz", ".gz", ""}) expect(extension, npy(values), values);
  expect(".raw.gz", bytes_of(values), values);
  expect(".dat.gz", bytes_of(values), values, {.format = Format::raw});
  expect(".raw.gz", bytes_of(120, 4) + bytes_of(values) + bytes_of(120, 4), values, {.has_fortran_records = true});
  expect(".binpsllh.gz", binpsllh(values), values);
  expect(".psllh.gz", "2 1.5 -2.5", {1.5, -2.5});
  expect(".sitelh.gz", "1 2\nSite_Lh 1.5 -2.5", {1.5, -2.5});
  expect(".npz.gz", zip({{"x.npy", npy(values)}}), values);
  const Scratch forced(".raw", packed(csv) + std::string((8 - packed(csv).size() % 8) % 8, '\0'));
  EXPECT_EQ(read_in_parts(forced.path(), 2, {.format = Format::raw, .forced = true}).size(),
            (packed(csv).size() + 7) / 8);
  const std::string records = bytes_of(16, 4) + bytes_of(0, 8) + bytes_of(0, 8) + bytes_of(16, 4);
  expect_fault_in(".raw.gz", packed(records), {"a Fortran record", "--force"});
  const Scratch named(".raw.gz", packed(records));  // --force applies to the unpacked bytes
  EXPECT_EQ(read_in_parts(named.path(), 2, {.format = Format::raw, .forced = true}).size(), 3U);
  expect_fault_in(".csv.gz", packed("a\n1\nx\n"), {"line 3", "'x'"});
}

TEST(Gzip, SeveralMembersAndZerosBehindThem) {
  const std::string content = bytes_of(values);
  const std::string first = packed(content.substr(0, 13)), rest = packed(content.substr(13));
  for (const std::string& whole : {first + rest, first + packed("") + rest, first + rest + std::string(70000, '\0')}) {
    const Scratch file(".raw.gz", whole);
    EXPECT_EQ(bits_of(read_in_parts(file.path(), 3)), bits_of(values));
  }
  for (const std::string& behind : {std::string("x"), std::string(70000, '\0') + "x", std::string("\0\x1F\x8B", 3)})
    expect_fault_in(".raw.gz", first + rest + behind, {"other bytes follow", "gzip"});
  expect_fault_in(".raw.gz", first + rest + "\x1Fgarbage", {"damaged"});
  expect_fault_in(".raw.gz", first + rest + "\x1F", {"truncated"});
  expect_fault_in(".csv.gz", packed(""), {"it is empty"});
  expect_fault_in(".csv.gz", packed(packed("1\n")), {"compressed by gzip, and its content again"});
  expect_fault_in(".csv.gz", "1\n", {"ends in .gz, but it is not compressed"});
  const Scratch told(".csv.gz", "1\n");
  expect_bits(told.path(), std::vector<double>{1}, {.format = Format::csv});
}

/// Content whose last bytes wait in zlib when a block of memory is full.
TEST(Gzip, BlocksOfMemoryThatAreExactlyFull) {
  for (const std::size_t count : {8191U, 8192U, 8193U, 16384U, 24576U}) {
    const std::vector<double> zeros(count);
    const Scratch gzip(".raw.gz", packed(bytes_of(zeros)));
    const Scratch deflate(".npz", zip({{"x.npy", npy(zeros), true}}));
    EXPECT_EQ(read_in_parts(gzip.path(), 3).size(), count);
    EXPECT_EQ(read_in_parts(deflate.path(), 3).size(), count);
  }
}

TEST(Gzip, DamageIsFound) {
  const std::string whole = packed(bytes_of(values));
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_fault_in(".raw.gz", whole.substr(0, size), {}, {.block_bytes = 64});
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
    const Scratch file(".raw.gz", damaged);
    const std::string fault = fault_of(file.path());
    // The time, flags of speed and the system of gzip's header do not matter, and deflate has bits that do not.
    if (fault.empty())
      EXPECT_EQ(bits_of(read_in_parts(file.path(), 1)), bits_of(values)) << place;
    else
      expect_fault(fault, {});
    EXPECT_TRUE(fault.empty() || place < 4 || place >= 10) << fault;
  }
}

TEST(Gzip, NoMoreMemoryThanAllowed) {
  const std::string bomb = packed(std::string(std::size_t{8} << 20, '\0'));
  EXPECT_LT(bomb.size(), 10000U);
  expect_fault_in(".raw.gz", bomb, {"more than 1000000 bytes", "unpack it first"}, {.most_unpacked = 1000000});
  const std::vector<double> zeros(std::size_t{1} << 20);
  expect_fault_in(".npz", zip({{"x.npy", npy(zeros), true}}), {"more than 1000000 bytes"}, {.most_unpacked = 1000000});
}

TEST(Npz, OneMember) {
  for (const bool is_deflated : {false, true})
    for (const bool is_long : {false, true}) {
      const Member member{"a.npy", npy(values), is_deflated, is_long};
      for (const char* extension : {".npz", ".NPZ", ""}) {
        const Scratch file(extension, zip({member}, is_long));
        expect_bits(file.path(), values);
        expect_bits(file.path(), values, {.column = "a"});
        const Found found = open(file.path())->found();
        EXPECT_EQ(found.member, "a");
        EXPECT_EQ(found.compression, is_deflated ? "deflate" : "");
        EXPECT_EQ(found.unpacked_bytes, is_deflated ? member.content.size() : 0);
      }
    }
}

TEST(Npz, SeveralMembers) {
  const std::string archive =
      zip({{"x.npy", npy({1, 2})}, {"readme.txt", "words"}, {"0.npy", npy({3}), true}, {"y.npy", npy(values), true}});
  const Scratch file(".npz", archive);
  expect_bits(file.path(), std::vector<double>{1, 2}, {.column = "x"});
  expect_bits(file.path(), std::vector<double>{3}, {.column = "1"});
  expect_bits(file.path(), std::vector<double>{3}, {.column_name = "0"});
  expect_bits(file.path(), values, {.column = "2"});
  expect_fault_in(".npz", archive, {"no member is chosen: the 3 members are 'x', '0', 'y'", "--column"});
  expect_fault_in(".npz", archive, {"no member 'z'"}, {.column = "z"});
  expect_fault_in(".npz", archive, {"no table", "leave out --missing"}, {.column = "x", .missing = {"NA"}});
  expect_fault_in(".npz", zip({}), {"no member that is npy"});
  expect_fault_in(".npz", zip({{"a.txt", "1"}}), {"no member that is npy"});
  expect_fault_in(".csv", archive, {"zip archive", "--format npz"});
}

TEST(Npz, MembersThatAreRefused) {
  expect_fault_in(".npz", zip({{.name = "x.npy", .content = npy(values), .method = 14}}), {"'x.npy'", "method 14"});
  expect_fault_in(".npz", zip({{.name = "x.npy", .content = npy(values), .flags = 1}}), {"'x.npy' is encrypted"});
  expect_fault_in(".npz", zip({{"x.npy", "no array"}}), {"does not begin like an npy file"});
  for (const bool is_deflated : {false, true}) {
    Member member{"x.npy", npy(values), is_deflated};
    member.more = 1;
    expect_fault_in(".npz", zip({member}), {"damaged", "are announced"});
    member.is_long = true;
    member.more = std::uint64_t{1} << 62;
    expect_fault_in(".npz", zip({member}), {"damaged", "are announced"});
  }
  expect_fault_in(".npz", "no archive at all, but some text", {"not a zip archive"});
}

TEST(Npz, DamageIsFound) {
  for (const bool is_long : {false, true})
    for (const bool is_deflated : {false, true}) {
      const std::string whole = zip({{"x.npy", npy({1.5, -2.5}), is_deflated, is_long}}, is_long);
      for (std::size_t size = 0; size < whole.size(); ++size) {
        const Scratch file(".npz", whole.substr(0, size));
        expect_fault(fault_of(file.path()), {});
      }
      for (std::size_t place = 0; place < whole.size(); ++place)
        for (const int change : {0x01, 0x80, 0xFF}) {
          std::string damaged = whole;
          damaged[place] = static_cast<char>(damaged[place] ^ change);
          const Scratch file(".npz", damaged);
          const std::string fault = fault_of(file.path(), {.most_unpacked = 1 << 20});
          if (!fault.empty()) {
            expect_fault(fault, {});
            continue;
          }
          EXPECT_EQ(bits_of(read_in_parts(file.path(), 1)), bits_of(std::vector<double>{1.5, -2.5})) << place;
        }
    }
}

}  // namespace
}  // namespace steadfold::readers::testing::packed_test
#endif
