// Elements that a mask selects, on every target that has a kernel, against a loop with a branch: every length to 300
// from every alignment, masks of all densities and of bytes other than 1; nothing is written outside the room for all.
#include "kernels/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "support/targets.hpp"

namespace steadfold::test::select_test {
namespace {

using kernels::Target;
using order::Count;
using Bytes = std::vector<std::byte>;

class Select : public EveryTarget {
 protected:
  static void expect_as_one_by_one(order::Bytes size, kernels::Select select) {
    std::mt19937_64 random(41);
    for (Count count = 0; count <= 300; ++count) {
      const Count density = count % 5;  // in quarters
      Bytes elements(count * size + 8);
      Bytes mask(count + 8);
      for (std::byte& byte : elements) byte = static_cast<std::byte>(random());
      for (std::byte& byte : mask)
        byte = random() % 4 < density ? static_cast<std::byte>(random() | 1u << random() % 8) : std::byte{0};
      const Count shift = random() % 8;
      Bytes expected;
      for (Count i = 0; i < count; ++i) {
        const auto at = elements.begin() + static_cast<std::ptrdiff_t>(shift + i * size);
        if (mask[shift + i] != std::byte{0})
          expected.insert(expected.end(), at, at + static_cast<std::ptrdiff_t>(size));
      }
      Bytes found(count * size + 64, std::byte{0xC3});
      const Count selected = select(elements.data() + shift, mask.data() + shift, count, found.data());
      ASSERT_EQ(selected * size, expected.size()) << count;
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.begin())) << count;
      for (std::size_t i = count * size; i < found.size(); ++i) ASSERT_EQ(found[i], std::byte{0xC3}) << count;
    }
  }
};

TEST_P(Select, KeepsWhatTheMaskSelects) {
  const bool has_kernel = GetParam() == Target::avx512 || GetParam() == Target::sve;
  for (const order::Bytes size : {4u, 8u}) {
    const auto select = kernels::select(GetParam(), size);
    ASSERT_EQ(select != nullptr, has_kernel) << size;
    if (select != nullptr) expect_as_one_by_one(size, select);
  }
  EXPECT_EQ(kernels::select(GetParam(), 2), nullptr);
}

STEADFOLD_EVERY_TARGET(Select);

}  // namespace
}  // namespace steadfold::test::select_test
