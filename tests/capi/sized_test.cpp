// Programs that were compiled with an older or a newer release: their structs are shorter or longer than this
// library's. Memory behind a shorter one is not the library's: structs stand in memory of exactly their size.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "capi/on_groups.hpp"
#include "steadfold/steadfold_names.h"
#include "support/parts.hpp"

namespace steadfold::test::sized_test {
namespace {

constexpr std::size_t first_call = offsetof(sf_call, writes_right);
constexpr std::size_t first_arrays = offsetof(sf_arrays, chunks);

/// A struct as a program has it whose headers make it `size` bytes long, and bytes behind it that nobody may touch.
template <class Struct>
class Foreign {
 public:
  explicit Foreign(std::size_t size) : size_(size), memory_(size + fence, std::byte{0xa5}) {}

  Struct* operator->() { return get(); }
  Struct* get() { return reinterpret_cast<Struct*>(memory_.data()); }
  std::byte& byte(std::size_t i) { return memory_[i]; }
  void expect_fence() const {
    for (std::size_t i = size_; i < memory_.size(); ++i) EXPECT_EQ(memory_[i], std::byte{0xa5}) << i - size_;
  }

 private:
  static constexpr std::size_t fence = 64;
  std::size_t size_;
  std::vector<std::byte> memory_;
};

std::string said() { return sf_error_text(); }

TEST(SizedStructs, BeginWithDefaultsAndNothingBehind) {
  for (const std::size_t size : {first_call, sizeof(sf_call), sizeof(sf_call) + 40}) {
    SCOPED_TRACE(size);
    Foreign<sf_call> call(size);
    ASSERT_EQ(sf_call_init(call.get(), size), SF_OK) << said();
    EXPECT_EQ(call->size, size);
    EXPECT_EQ(call->columns, 1u);
    EXPECT_EQ(call->root, SF_ALL_RANKS);
    EXPECT_EQ(call->element_count, SF_UNKNOWN);
    for (std::size_t i = offsetof(sf_call, blocks); i < size; ++i) EXPECT_EQ(call.byte(i), std::byte{0}) << i;
    call.expect_fence();
  }
}

TEST(SizedStructs, OlderAndNewerProgramsGetTheSameBits) {
  const std::vector<double> x = {1e300, 1, -1e300, 0.1, 0.2};
  for (const std::size_t size : {first_call, sizeof(sf_call), sizeof(sf_call) + 8}) {
    SCOPED_TRACE(size);
    Foreign<sf_call> call(size);
    ASSERT_EQ(sf_call_init(call.get(), size), SF_OK);
    call->method = SF_EXACT;
    call->rows = x.size();
    double sum = 0;
    for (int repeated = 0; repeated < 3; ++repeated) {  // the second time the call is known
      ASSERT_EQ(sf_reduce_local(call.get(), x.data(), nullptr, &sum), SF_OK) << said();
      EXPECT_EQ(sum, 1.3);
    }
    ASSERT_EQ(sf_call_set(call.get(), "method", "tree"), SF_OK) << said();
    ASSERT_EQ(sf_call_set(call.get(), "rows", "2"), SF_OK) << said();
    EXPECT_EQ(call->size, size);
    ASSERT_EQ(sf_reduce_local(call.get(), x.data() + 3, nullptr, &sum), SF_OK) << said();
    EXPECT_EQ(sum, 0.1 + 0.2);
    call.expect_fence();
  }
}

TEST(SizedStructs, OlderArraysToo) {
  const std::vector<double> x = {1, 2, 4, 8};
  for (const std::size_t size : {first_arrays, sizeof(sf_arrays) + 16}) {
    Foreign<sf_arrays> arrays(size);
    ASSERT_EQ(sf_arrays_init(arrays.get(), size), SF_OK) << said();
    arrays->x.data = x.data() + 3;
    arrays->x.axis_count = 1;
    arrays->x.shape[0] = 2;
    arrays->x.strides[0] = -16;
    sf_call call = sf_call_default();
    call.arrays = arrays.get();
    double sum = 0;
    ASSERT_EQ(sf_reduce_local(&call, nullptr, nullptr, &sum), SF_OK) << said();
    EXPECT_EQ(sum, 10);
    arrays.expect_fence();
  }
}

/// The calls of a bundle stand as far from each other as the program's compiler has put them.
TEST(SizedStructs, BundlesStandAsTheCallerHasThem) {
  const std::vector<double> x = {1, 2, 4, 8, 16, 32, 64, 128}, y = {1, 3, 9, 27, 81, 243, 729, 2187};
  for (const std::size_t size : {first_call, sizeof(sf_call) + 24}) {
    on_groups(3, size, [&](const Group& group) {
      std::vector<std::byte> memory(3 * size, std::byte{0xa5});
      for (std::size_t i = 0; i < 3; ++i) {
        auto* const call = reinterpret_cast<sf_call*>(memory.data() + i * size);
        ASSERT_EQ(sf_call_init(call, size), SF_OK);
        call->rows = part_of<double>(x, group.rank(), group.size()).size();
        call->operation = i == 1 ? SF_DOT : SF_SUM;
      }
      sf_plan* plan = nullptr;
      const auto* const calls = reinterpret_cast<const sf_call*>(memory.data());
      ASSERT_EQ(sf_group_bind(calls, 3, group.handle(), &plan), SF_OK) << said();
      const double* const mine = part_of<double>(x, group.rank(), group.size()).data();
      const double* const other = part_of<double>(y, group.rank(), group.size()).data();
      double sums[3] = {};
      const sf_data data[3] = {{mine, nullptr, sums, nullptr, nullptr},
                               {mine, other, sums + 1, nullptr, nullptr},
                               {other, nullptr, sums + 2, nullptr, nullptr}};
      EXPECT_EQ(sf_bundle_run(plan, data, 3), SF_OK) << said();
      EXPECT_EQ(sums[0], 255);
      EXPECT_EQ(sums[1], 335923);
      EXPECT_EQ(sums[2], 3280);
      sf_plan_free(plan);
    });
  }
}

TEST(SizedStructs, FieldsOfNewerReleasesAreRefusedUnlessTheyAreZero) {
  Foreign<sf_call> call(sizeof(sf_call) + 16);
  ASSERT_EQ(sf_call_init(call.get(), sizeof(sf_call) + 16), SF_OK);
  call.byte(sizeof(sf_call) + 15) = std::byte{1};
  double sum = 0;
  EXPECT_EQ(sf_reduce_local(call.get(), nullptr, nullptr, &sum), SF_UNSUPPORTED);
  EXPECT_NE(said().find("fields that this library does not know"), std::string::npos) << said();
  call.byte(sizeof(sf_call) + 15) = std::byte{0};
  EXPECT_EQ(sf_reduce_local(call.get(), nullptr, nullptr, &sum), SF_OK) << said();
  call->reserved[1] = 1;  // a field of a newer release, too
  EXPECT_EQ(sf_reduce_local(call.get(), nullptr, nullptr, &sum), SF_UNSUPPORTED);
}

TEST(SizedStructs, WhatIsNoSizeIsAnswered) {
  double sum = 0;
  for (const std::size_t size : {std::size_t{0}, first_call - 1, std::size_t{1} << 20, ~std::size_t{0}}) {
    sf_call call = sf_call_default();
    call.size = size;
    EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &sum), SF_INVALID_ARGUMENT) << size;
    EXPECT_NE(said().find("begin with sf_call_init"), std::string::npos) << said();
    EXPECT_EQ(sf_call_init(&call, size), SF_INVALID_ARGUMENT) << size;
    EXPECT_EQ(call.size, size);
  }
  sf_arrays arrays = sf_arrays_default();
  sf_call call = sf_call_default();
  call.arrays = &arrays;
  arrays.size = 8;
  EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, &sum), SF_INVALID_ARGUMENT);
  EXPECT_NE(said().find("an sf_arrays of 8 bytes"), std::string::npos) << said();
  EXPECT_EQ(sf_call_init(nullptr, sizeof call), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_reduce_local(nullptr, nullptr, nullptr, &sum), SF_INVALID_ARGUMENT);
}

/// One rank forgot to initialise its call: all learn of it, and nobody waits.
TEST(SizedStructs, ARankWithoutSizeIsEveryRanksError) {
  on_groups(4, 6, [](const Group& group) {
    sf_call calls[2] = {sf_call_default(), sf_call_default()};
    if (group.rank() == 2) calls[0].size = 0;
    double sum = 0;
    sf_plan* plan = nullptr;
    EXPECT_EQ(sf_group_reduce(calls, nullptr, nullptr, &sum, group.handle()), SF_INVALID_ARGUMENT);
    EXPECT_NE(said().find("an sf_call of 0 bytes"), std::string::npos) << said();
    EXPECT_EQ(sf_group_bind(calls, 2, group.handle(), &plan), SF_INVALID_ARGUMENT);
    EXPECT_NE(said().find("an sf_call of 0 bytes"), std::string::npos) << said();
    EXPECT_EQ(plan, nullptr);
  });
}

}  // namespace
}  // namespace steadfold::test::sized_test
