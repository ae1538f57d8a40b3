// Messages of several slots: what goes in comes out, and nothing comes out of bytes that do not add up.
#include "transport/packing.hpp"

#include <gtest/gtest.h>

#include <random>

namespace steadfold::transport::packing_test {
namespace {

using Memory = std::vector<std::byte>;

Memory packed(const std::vector<Memory>& slots) {
  Memory message;
  Packer packer(message);
  for (const Memory& slot : slots) packer.add(slot);
  for (const Memory& slot : slots) packer.add_size(slot.size());
  return message;
}

TEST(Pack, GivesBackWhatWentIn) {
  std::mt19937_64 random(3);
  for (int again = 0; again < 200; ++again) {
    std::vector<Memory> slots(2 + random() % 6);
    Bytes expected = 0;
    for (Memory& slot : slots) {
      slot.resize(random() % 70);
      for (std::byte& each : slot) each = static_cast<std::byte>(random());
      expected += bytes_in_message(slot.size(), slots.size());
    }
    Memory message = packed(slots);
    ASSERT_EQ(message.size(), expected);
    Unpacker unpacker(message, slots.size());
    for (const Memory& slot : slots) {
      const auto out = unpacker.next();
      ASSERT_EQ(Memory(out.begin(), out.end()), slot);
    }
  }
}

TEST(Pack, OfOneSlotIsItsBytes) {
  Memory message(37);
  EXPECT_EQ(bytes_in_message(37, 1), 37u);
  EXPECT_EQ(Unpacker(message, 1).next().data(), message.data());
  EXPECT_EQ(Unpacker(message, 1).next().size(), 37u);
}

TEST(Pack, NothingComesOutOfWhatDoesNotAddUp) {
  const Memory whole = packed({Memory(20, std::byte{0xFF}), Memory(15, std::byte{0xFF}), Memory(0)});
  for (Bytes size = 0; size < whole.size(); ++size) {
    Memory cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    Unpacker unpacker(cut, 3);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(unpacker.next().empty()) << size;
  }
  for (const std::uint64_t wrong : {std::uint64_t{33}, ~std::uint64_t{0}, ~std::uint64_t{0} - 14}) {
    Memory bytes = whole;
    std::memcpy(bytes.data() + bytes.size() - 24, &wrong, sizeof wrong);
    EXPECT_TRUE(Unpacker(bytes, 3).next().empty()) << wrong;
  }
  Memory bytes = whole;  // a size that takes no room, since the next boundary wraps around
  const auto wraps = ~std::uint64_t{0};
  std::memcpy(bytes.data() + bytes.size() - sizeof wraps, &wraps, sizeof wraps);
  EXPECT_TRUE(Unpacker(bytes, 3).next().empty());
}

}  // namespace
}  // namespace steadfold::transport::packing_test
