// Columns in chunks with bitmaps, as in Arrow's format: the bits of one contiguous array with a mask, for any chunks,
// on any number of workers. What is wrong in the list of chunks is refused before an element is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "capi/write_under_way.hpp"
#include "steadfold/array.hpp"
#include "steadfold/steadfold_accumulator.h"
#include "steadfold/team.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"

namespace steadfold::test::chunks_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A column: its elements, a mask with one byte per element, and the same elements in chunks. Chunks are not aligned if
/// the seed is odd. The memory of a chunk ends with its last element, so that memory checkers find reads behind it. A
/// bitmap begins at any bit. The bits before and after its elements' bits are 1.
class Column {
 public:
  Column(std::span<const double> elements, std::span<const std::uint8_t> mask, std::uint64_t seed)
      : elements_(elements.begin(), elements.end()), mask_(mask.begin(), mask.end()) {
    std::mt19937_64 random(seed);
    for (std::size_t begin = 0; begin < elements.size() || chunks_.size() < 2;) {
      const std::size_t room = random() % 4 == 0 ? 5000 : 40;
      const std::size_t size = std::min<std::size_t>(random() % room, elements.size() - begin);
      const std::size_t offset = seed % 2 == 0 ? 0 : 4;  // bytes
      auto& data = data_.emplace_back(offset + size * sizeof(double));
      if (size > 0) std::memcpy(data.data() + offset, &elements_[begin], size * sizeof(double));
      const std::size_t bit = random() % 20;
      Bytes& bitmap = bitmaps_.emplace_back((bit + size + 7) / 8, 0xFF);
      bool has_nulls = random() % 4 == 0;  // otherwise only a chunk with nulls has a bitmap
      for (std::size_t i = 0; i < size; ++i) {
        if (mask_[begin + i] != 0) continue;
        bitmap[(bit + i) / 8] &= static_cast<std::uint8_t>(~(1U << (bit + i) % 8));
        has_nulls = true;
      }
      begin += size;
      chunks_.push_back({data.data() + offset, has_nulls ? bitmap.data() : nullptr, bit, begin});
      without_bitmaps_.push_back({data.data() + offset, nullptr, 0, begin});
    }
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;

  std::size_t size() const { return elements_.size(); }
  sf_arrays contiguous(bool is_nullable) const {
    sf_arrays arrays = sf_arrays_default();
    arrays.x = Array<double>(elements_.data(), {elements_.size()}).c_array();
    if (is_nullable) arrays.mask = Array<std::uint8_t>(mask_.data(), {mask_.size()}).c_array();
    return arrays;
  }
  sf_arrays in_chunks(bool is_nullable) const {
    sf_arrays arrays = sf_arrays_default();
    arrays.x = Array<double>(nullptr, {elements_.size()}).c_array();
    arrays.chunks = is_nullable ? chunks_.data() : without_bitmaps_.data();
    arrays.chunk_count = chunks_.size();
    arrays.is_nullable = is_nullable ? 1 : 0;
    return arrays;
  }
  std::vector<sf_chunk>& chunks() { return chunks_; }

 private:
  std::vector<double> elements_;
  Bytes mask_;
  std::vector<std::vector<std::byte>> data_;
  std::vector<Bytes> bitmaps_;
  std::vector<sf_chunk> chunks_, without_bitmaps_;
};

Bytes mask_of(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes mask(count);
  for (auto& each : mask) each = random() % 3 == 0 ? 0 : 1;
  return mask;
}

struct Asked {
  sf_operation operation;
  sf_method method;
  bool takes_masks = true;
};

/// Some operations with some methods. All read rows in the same way.
const Asked cases[] = {{SF_SUM, SF_EXACT},
                       {SF_SUM, SF_BINNED},
                       {SF_SUM, SF_TREE, false},
                       {SF_SUM, SF_PLAIN},
                       {SF_MEAN, SF_EXACT},
                       {SF_MIN, SF_AUTOMATIC},
                       {SF_MAX_LOCATION, SF_AUTOMATIC},
                       {SF_STATISTICS, SF_EXACT},
                       {SF_NORM2, SF_EXACT},
                       {SF_SUM_SQUARES, SF_TREE, false},
                       {SF_SUM_SQUARES, SF_EXACT},
                       {SF_NORM1, SF_EXACT},
                       {SF_NORMINF, SF_AUTOMATIC}};

/// The bytes of the results, or the status of a failure.
struct Outcome {
  sf_status status = SF_OK;
  std::vector<std::byte> bytes;
  bool operator==(const Outcome&) const = default;
};

struct Where {
  sf_group* group = nullptr;  // null: in this process alone
  std::uint32_t threads = 1;
  std::size_t results = 1;
};

Outcome reduced(const sf_arrays& arrays, const Asked& asked, const Where& where = {}) {
  sf_call call = sf_call_default();
  call.operation = asked.operation;
  call.method = asked.method;
  call.threads = where.threads;
  call.layout = where.group == nullptr ? SF_ANYWHERE : SF_RANK_ORDER;
  call.arrays = &arrays;
  Outcome outcome{.bytes = std::vector<std::byte>(sizeof(sf_statistics) * where.results)};
  std::byte* const to = outcome.bytes.data();
  outcome.status = where.group == nullptr ? sf_reduce_local(&call, nullptr, nullptr, to)
                                          : sf_group_reduce(&call, nullptr, nullptr, to, where.group);
  EXPECT_TRUE(outcome.status == SF_OK || outcome.status == SF_EMPTY) << sf_error_text();
  return outcome;
}

TEST(Chunks, HaveTheBitsOfAContiguousColumn) {
  std::cout << "seeds 41 to 43\n";
  for (const std::size_t count : {0U, 1U, 7U, 3000U, 40000U})
    for (const std::uint64_t seed : {41U, 42U, 43U}) {
      const Column column(hostile(count, seed), mask_of(count, seed), seed);
      for (const Asked& asked : cases)
        for (const std::uint32_t threads : {1U, 3U}) {
          if (threads > 1 && asked.method == SF_PLAIN) continue;  // its bits depend on the threads
          const std::string what = std::to_string(asked.operation) + " by " + std::to_string(asked.method);
          const Where where{.threads = threads};
          const Outcome of_all = reduced(column.contiguous(false), asked, where);
          EXPECT_EQ(reduced(column.in_chunks(false), asked, where), of_all) << what;
          if (!asked.takes_masks) continue;
          const Outcome of_selected = reduced(column.contiguous(true), asked, where);
          EXPECT_EQ(reduced(column.in_chunks(true), asked, where), of_selected) << what;
          EXPECT_TRUE(count < 1000 || asked.operation != SF_SUM || of_selected != of_all) << "the control";
        }
    }
}

TEST(Chunks, HaveTheBitsOfAContiguousColumnInSumsByLabel) {
  constexpr std::size_t count = 9000;
  constexpr std::uint64_t groups = 50;
  const Column column(hostile(count, 44), mask_of(count, 44), 44);
  std::mt19937_64 random(44);
  std::vector<std::int32_t> labels(count);
  for (auto& each : labels) each = static_cast<std::int32_t>(random() % (groups + 1)) - 1;
  const auto by_label = [&](sf_arrays arrays) {
    arrays.labels = Array<std::int32_t>(labels.data(), {count}).c_array();
    arrays.groups = groups;
    return arrays;
  };
  for (const Asked& asked : cases)
    for (const bool is_nullable : {false, true}) {
      if (asked.method == SF_PLAIN || (is_nullable && !asked.takes_masks)) continue;
      const Where where{.results = groups};
      EXPECT_EQ(reduced(by_label(column.in_chunks(is_nullable)), asked, where),
                reduced(by_label(column.contiguous(is_nullable)), asked, where))
          << asked.operation << " by " << asked.method;
    }
  labels[5] = groups;  // names no group: an error, unless the element is a null
  for (const bool is_nullable : {false, true}) {
    sf_call call = sf_call_default();
    const sf_arrays arrays = by_label(column.in_chunks(is_nullable));
    call.arrays = &arrays;
    std::vector<double> results(groups);
    const bool is_null = is_nullable && mask_of(count, 44)[5] == 0;
    EXPECT_EQ(sf_reduce_local(&call, nullptr, nullptr, results.data()), is_null ? SF_OK : SF_INVALID_ARGUMENT);
    EXPECT_TRUE(is_null || std::string(sf_error_text()).find("label 50 of element 5") != std::string::npos);
  }
}

/// A column that has no nulls may have a mask.
TEST(Chunks, TakeAMask) {
  constexpr std::size_t count = 5000;
  for (const std::uint64_t seed : {48U, 49U}) {
    const auto x = hostile(count, seed);
    const auto mask = mask_of(count, seed);
    const Column column(x, mask, seed);
    for (const Asked& asked : cases) {
      if (!asked.takes_masks) continue;
      sf_arrays arrays = column.in_chunks(false);
      arrays.mask = Array<std::uint8_t>(mask.data(), {count}).c_array();
      EXPECT_EQ(reduced(arrays, asked), reduced(column.contiguous(true), asked)) << asked.operation;
    }
  }
}

TEST(Chunks, TakeFactorsAndGoToAccumulators) {
  constexpr std::size_t count = 5000;
  const auto x = hostile(count, 45);
  const auto weights = hostile(count, 46);
  const Column column(x, mask_of(count, 45), 45);
  const auto weighted = [&](sf_arrays arrays) {
    arrays.factors = Array<double>(weights.data(), {count}).c_array();
    return arrays;
  };
  for (const bool is_nullable : {false, true}) {
    const Asked dot{SF_DOT, SF_EXACT};
    EXPECT_EQ(reduced(weighted(column.in_chunks(is_nullable)), dot),
              reduced(weighted(column.contiguous(is_nullable)), dot));
    const auto added = [&](const sf_arrays& arrays) {
      sf_accumulator* sum = nullptr;
      EXPECT_EQ(sf_accumulator_create(SF_F64, SF_ELEMENTS, 1, &sum), SF_OK);
      EXPECT_EQ(sf_accumulator_add_arrays(sum, &arrays, 1), SF_OK) << sf_error_text();
      EXPECT_EQ(sf_accumulator_add_arrays(sum, &arrays, 3), SF_OK) << sf_error_text();
      std::vector<std::byte> packed(sf_accumulator_packed_size(sum));
      EXPECT_EQ(sf_accumulator_pack(sum, packed.data(), packed.size()), SF_OK);
      sf_accumulator_free(sum);
      return packed;
    };
    EXPECT_EQ(added(column.in_chunks(is_nullable)), added(column.contiguous(is_nullable)));
  }
}

/// Ranks have other chunks, and some have arrays with masks.
TEST(Chunks, HaveTheBitsOfOneProcessOnWorkers) {
  constexpr std::size_t count = 6000;
  std::cout << "seed 47\n";
  const auto x = hostile(count, 47);
  const auto mask = mask_of(count, 47);
  const Column all(x, mask, 47);
  for (const Asked& asked : cases)
    for (const int workers : {3, 4, 5, 7, 8})
      for (const bool is_nullable : {false, true}) {
        if (asked.method == SF_PLAIN || (is_nullable && !asked.takes_masks)) continue;
        const Outcome wanted = reduced(all.contiguous(is_nullable), asked);
        on_team(workers, [&](const Team::Member& member) {
          const int w = member.worker();
          const Column mine(part_of(x, w, workers), part_of(mask, w, workers), static_cast<std::uint64_t>(w));
          const Where where{.group = member.group().handle()};
          const bool is_chunked = w % 3 != 1;
          EXPECT_EQ(reduced(is_chunked ? mine.in_chunks(is_nullable) : mine.contiguous(is_nullable), asked, where),
                    wanted)
              << asked.operation << " by " << asked.method << " on " << workers;
        });
      }
}

/// Results of a call under way are not read, whether they are elements or bits.
TEST(Chunks, DoNotReadWhatACallUnderWayWrites) {
  while_part_1_is_written([](const Team::Member& member, const Part& part) {
    const auto sum_of = [&](std::size_t data, std::size_t bitmap) {
      const sf_chunk chunks[] = {
          {part(0).data(), nullptr, 0, 10},
          {part(data).data(), reinterpret_cast<const std::uint8_t*>(part(bitmap).data()), 40, 20}};
      sf_arrays arrays = sf_arrays_default();
      arrays.x = Array<double>(nullptr, {20}).c_array();
      arrays.chunks = chunks;
      arrays.chunk_count = 2;
      arrays.is_nullable = 1;
      sf_call call = sf_call_default();
      call.arrays = &arrays;
      double result = 0;
      return sf_group_reduce(&call, nullptr, nullptr, &result, member.group().handle());
    };
    EXPECT_EQ(sum_of(2, 3), SF_OK) << sf_error_text();
    EXPECT_EQ(sum_of(1, 3), SF_INVALID_ARGUMENT);
    EXPECT_EQ(sum_of(2, 1), SF_INVALID_ARGUMENT);
  });
}

TEST(Chunks, ThatAreWrongAreRefused) {
  const double x[4] = {1, 2, 3, 4};
  const std::uint8_t valid = 5;
  struct Given {
    sf_chunk chunks[2];
    sf_arrays arrays = sf_arrays_default();
    sf_call call = sf_call_default();
  };
  const auto status_of = [&](const auto& change) {
    Given given{.chunks = {{x, nullptr, 0, 3}, {x + 3, nullptr, 0, 4}}};
    given.arrays.x = Array<double>(nullptr, {4}).c_array();
    given.arrays.chunks = given.chunks;
    given.arrays.chunk_count = 2;
    change(given);
    given.call.arrays = &given.arrays;
    double result = 0;
    return sf_reduce_local(&given.call, nullptr, nullptr, &result);
  };
  EXPECT_EQ(status_of([](Given&) {}), SF_OK);
  const auto refused = [&](const auto& change, const std::string& text, sf_status status = SF_INVALID_ARGUMENT) {
    EXPECT_EQ(status_of(change), status) << text;
    EXPECT_NE(std::string(sf_error_text()).find(text), std::string::npos) << sf_error_text();
  };
  refused([](Given& g) { g.arrays.chunk_count = 1; }, "1 chunks with 3 elements for a column of 4");
  refused([](Given& g) { g.arrays.x.shape[0] = 5; }, "2 chunks with 4 elements for a column of 5");
  refused([](Given& g) { g.chunks[1].end = 2; }, "chunk 1 ends at element 2 (it begins at element 3)");
  refused([](Given& g) { g.chunks[1].data = nullptr; }, "chunk 1 has no address (1 elements are to be read)");
  refused([](Given& g) { g.arrays.chunks = nullptr; }, "0 chunks with 0 elements for a column of 4");
  refused([](Given& g) { g.arrays.chunk_count = UINT64_MAX; }, "chunks (no memory holds as many)");
  refused([&](Given& g) { g.chunks[0].valid = &valid; }, "chunk 0 has a bitmap (is_nullable is 0");
  refused([&](Given& g) { g.arrays.x.data = x; }, "data of x and a list of 2 chunks");
  refused([](Given& g) { g.arrays.x.axis_count = 2; }, "2 chunks of an array of 2 axes with 0 kept");
  refused([](Given& g) { g.arrays.kept = 1; }, "2 chunks of an array of 1 axes with 1 kept");
  refused([](Given& g) { g.arrays.x_count = 1; }, "2 chunks and a list of 1 arrays");
  refused(
      [&](Given& g) {
        g.arrays.is_nullable = 1;
        g.arrays.mask = Array<std::uint8_t>(&valid, {1}).c_array();
      },
      "a mask and a column that may have nulls");
  refused(
      [](Given& g) {
        g.arrays.is_nullable = 1;
        g.arrays.chunk_count = 0;
        g.arrays.chunks = nullptr;
      },
      "is_nullable without chunks");
  refused(
      [](Given& g) {
        g.arrays.is_nullable = 1;
        g.call.method = SF_TREE;
      },
      "", SF_UNSUPPORTED);
}

}  // namespace
}  // namespace steadfold::test::chunks_test
