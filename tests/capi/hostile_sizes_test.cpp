// Structs of other releases by every function that takes them: any byte behind the end that this release knows is
// found, and nothing is read behind the end that the struct says it has, where memory ends. What programs of other
// releases get: sized_test.cpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "capi/call_entries.hpp"
#include "steadfold/steadfold_names.h"
#include "support/fenced.hpp"

namespace steadfold::test::hostile_sizes_test {
namespace {

constexpr std::size_t first_call = offsetof(sf_call, writes_right);
constexpr std::size_t first_arrays = offsetof(sf_arrays, chunks);
constexpr std::size_t most_bytes = 65536;  // of a struct of any release

sf_status init(sf_call* call, std::size_t size) { return sf_call_init(call, size); }
sf_status init(sf_arrays* arrays, std::size_t size) { return sf_arrays_init(arrays, size); }

/// A struct of so many bytes, behind which, up to its alignment, memory ends.
template <class Struct>
class AtTheEdge {
 public:
  explicit AtTheEdge(std::size_t size) : room_(size + alignof(Struct)) {
    const std::size_t aligned = (size + alignof(Struct) - 1) / alignof(Struct) * alignof(Struct);
    bytes_ = room_.template array<std::byte>(aligned, Side::end);
  }

  Struct* get() { return reinterpret_cast<Struct*>(bytes_); }
  Struct* operator->() { return get(); }
  std::byte& byte(std::size_t i) { return bytes_[i]; }

 private:
  Fenced room_;
  std::byte* bytes_ = nullptr;
};

/// All of few bytes; of many the first, the last, and some between.
std::vector<std::size_t> places_in(std::size_t bytes) {
  const std::size_t first = bytes <= 64 ? bytes : 16;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < first; ++i) places.push_back(i);
  std::mt19937_64 random(bytes);
  for (std::size_t i = 0; i < 16 && first < bytes; ++i) places.push_back(first + random() % (bytes - first));
  places.push_back(bytes - 1);
  return places;
}

/// Asks with one byte behind the known end set, at each of these places, and with none.
template <class Struct, class Ask>
void expect_unknown_bytes_found(std::size_t behind, const Ask& ask) {
  const std::size_t size = sizeof(Struct) + behind;
  const std::string text = " of " + std::to_string(size) + " bytes with fields that this library does not know";
  AtTheEdge<Struct> given(size);
  ASSERT_EQ(init(given.get(), size), SF_OK) << sf_error_text();
  be_four_elements(*given.get());
  EXPECT_EQ(ask(given.get()), SF_OK) << sf_error_text();
  for (const std::size_t place : places_in(behind)) {
    for (const unsigned value : {1U, 0x80U}) {
      given.byte(sizeof(Struct) + place) = static_cast<std::byte>(value);
      expect_refusal("byte " + std::to_string(place), ask(given.get()), SF_UNSUPPORTED, text);
    }
    given.byte(sizeof(Struct) + place) = std::byte{0};
  }
  EXPECT_EQ(ask(given.get()), SF_OK) << sf_error_text();
}

sf_status ask_for_sum(const CallEntry& entry, const sf_call* call, sf_group* group) {
  double sum = sum_of_four;
  const sf_status status = entry.ask(call, four_elements.data(), &sum, group);
  EXPECT_EQ(sum, sum_of_four) << entry.name;
  return status;
}

TEST(HostileSizes, UnknownBytesOfACallAreFoundWhereverTheyStand) {
  for (const std::size_t behind : {std::size_t{8}, std::size_t{64}, most_bytes - sizeof(sf_call)}) {
    SCOPED_TRACE(behind);
    expect_unknown_bytes_found<sf_call>(
        behind, [](const sf_call* call) { return ask_for_sum(all_call_entries[0], call, nullptr); });
  }
  expect_unknown_bytes_found<sf_call>(24, [](sf_call* call) { return sf_call_set(call, "rows", "4"); });
  on_one_rank([](sf_group* group) {
    for (const CallEntry& each : group_entries) {
      SCOPED_TRACE(each.name);
      expect_unknown_bytes_found<sf_call>(24, [&](const sf_call* call) { return ask_for_sum(each, call, group); });
    }
  });
}

TEST(HostileSizes, UnknownBytesOfArraysAreFoundWhereverTheyStand) {
  on_one_rank([](sf_group* group) {
    for (const std::size_t behind : {std::size_t{24}, most_bytes - sizeof(sf_arrays)}) {
      SCOPED_TRACE(behind);
      expect_unknown_bytes_found<sf_arrays>(behind, [&](const sf_arrays* arrays) {
        std::vector<sf_status> found;
        ask_all(SF_SUM, arrays, group, [&](const std::string& name, sf_status status) {
          found.push_back(status);
          EXPECT_EQ(status, found.front()) << name << ": " << sf_error_text();
        });
        return found.front();
      });
    }
  });
}

/// Calls check(given) with structs of sizes that none has, in memory that has no more than their size.
template <class Struct, class Check>
void for_each_wrong_size(std::size_t first, const Check& check) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, first - 8, first - 1,
                                 most_bytes + 1, std::size_t{1} << 31, std::size_t{1} << 63, ~std::size_t{0}}) {
    SCOPED_TRACE(size);
    AtTheEdge<Struct> given(sizeof size);
    std::memcpy(static_cast<void*>(given.get()), &size, sizeof size);
    check(given.get());
  }
}

TEST(HostileSizes, OfSizesThatNoneHasOnlyTheSizeIsRead) {
  on_one_rank([](sf_group* group) {
    for_each_wrong_size<sf_call>(
        first_call, [&](const sf_call* call) { expect_refused(*call, group, SF_INVALID_ARGUMENT, "sf_call_init"); });
    for_each_wrong_size<sf_arrays>(first_arrays, [&](const sf_arrays* arrays) {
      ask_all(SF_SUM, arrays, group, [](const std::string& name, sf_status status) {
        expect_refusal(name, status, SF_INVALID_ARGUMENT, "begin with sf_arrays_init");
      });
    });
    expect_usable(group);
  });
}

TEST(HostileSizes, OlderOnesEndWhereTheySay) {
  on_one_rank([](sf_group* group) {
    for (std::size_t size = first_call; size <= sizeof(sf_call); size += alignof(sf_call)) {
      AtTheEdge<sf_call> call(size);
      ASSERT_EQ(sf_call_init(call.get(), size), SF_OK) << sf_error_text();
      be_four_elements(*call.get());
      for (const CallEntry& each : all_call_entries)
        EXPECT_EQ(ask_for_sum(each, call.get(), group), SF_OK) << size << ", " << each.name << ": " << sf_error_text();
    }
    for (std::size_t size = first_arrays; size <= sizeof(sf_arrays); size += alignof(sf_arrays)) {
      AtTheEdge<sf_arrays> arrays(size);
      ASSERT_EQ(sf_arrays_init(arrays.get(), size), SF_OK) << sf_error_text();
      be_four_elements(*arrays.get());
      ask_all(SF_SUM, arrays.get(), group,
              [&](const std::string& name, sf_status status) { EXPECT_EQ(status, SF_OK) << size << ", " << name; });
    }
  });
}

/// A size that is no multiple of the alignment: the second call of a bundle would stand where none can.
TEST(HostileSizes, ThatNoCompilerMakesAreRefused) {
  on_one_rank([](sf_group* group) {
    for (const std::size_t more : {1U, 2U, 4U, 7U}) {
      const std::size_t size = sizeof(sf_call) + more;
      AtTheEdge<sf_call> calls(2 * size);
      std::memset(static_cast<void*>(calls.get()), 0, 2 * size);
      *calls.get() = sf_call_default();
      calls->size = size;
      std::memcpy(&calls.byte(size), static_cast<const void*>(calls.get()), size);
      expect_refused(*calls.get(), group, SF_INVALID_ARGUMENT, "begin with sf_call_init");
      sf_plan* plan = nullptr;
      const sf_status status = sf_group_bind(calls.get(), 2, group, &plan);
      expect_refusal("a bundle", status, SF_INVALID_ARGUMENT, "begin with sf_call_init");
      EXPECT_EQ(plan, nullptr);
      sf_call call = sf_call_default();
      EXPECT_EQ(sf_call_init(&call, first_call + more), SF_INVALID_ARGUMENT);
      sf_arrays arrays = sf_arrays_default();
      arrays.size += more;
      EXPECT_EQ(sf_arrays_init(&arrays, arrays.size), SF_INVALID_ARGUMENT);
    }
  });
}

/// One rank's program is newer than the library: all hear of it, and nobody waits.
TEST(HostileSizes, UnknownBytesOnOneRankAreEveryRanksError) {
  on_groups(3, 2, [](const Group& group) {
    const bool is_newer = group.rank() == 1;
    AtTheEdge<sf_call> call(sizeof(sf_call) + 8);
    AtTheEdge<sf_arrays> arrays(sizeof(sf_arrays) + 8);
    ASSERT_EQ(init(call.get(), sizeof(sf_call) + 8), SF_OK);
    ASSERT_EQ(init(arrays.get(), sizeof(sf_arrays) + 8), SF_OK);
    be_four_elements(*arrays.get());
    call->arrays = arrays.get();
    for (std::byte* const unknown : {&call.byte(sizeof(sf_call)), &arrays.byte(sizeof(sf_arrays) + 7)}) {
      *unknown = is_newer ? std::byte{1} : std::byte{0};
      for (const CallEntry& each : group_entries) {
        double sum = 0;
        const sf_status status = each.ask(call.get(), nullptr, &sum, group.handle());
        expect_refusal(each.name, status, SF_UNSUPPORTED, "fields that this library does not know");
      }
      *unknown = std::byte{0};
    }
    double sum = 0;
    EXPECT_EQ(sf_group_reduce(call.get(), nullptr, nullptr, &sum, group.handle()), SF_OK) << sf_error_text();
    EXPECT_EQ(sum, 3 * sum_of_four);
  });
}

}  // namespace
}  // namespace steadfold::test::hostile_sizes_test
