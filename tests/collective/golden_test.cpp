// Generated inputs whose sums another program computed (tests/golden/make.py, which says how they are generated): the
// recorded bits by tree and by exact, on any number of ranks.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>

#include "collective/local.hpp"
#include "collective/simulated_job.hpp"
#include "order/distribution.hpp"

namespace steadfold::test {
namespace {

using arithmetic::Type;

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Element i of a family, as bits.
std::uint64_t element_bits(const std::string& family, std::uint64_t i) {
  if (family == "full" && i % 3 == 2) return element_bits(family, i - 1) ^ std::uint64_t{1} << 63;
  const std::uint64_t h = mix(i + 0x5EED);
  const std::uint64_t g = mix(h);
  const std::uint64_t sign = family.starts_with("near") ? 1 : h & 1;
  if (family == "near") return sign << 63 | (1023 + g % 4) << 52 | h >> 12;
  if (family == "wide") return sign << 63 | (1023 - 40 + g % 80) << 52 | h >> 12;
  if (family == "full") return sign << 63 | (g % 1900) << 52 | h >> 12;
  if (family == "near32") return sign << 31 | (127 + g % 4) << 23 | h >> 41;
  return sign << 31 | (127 - 20 + g % 40) << 23 | h >> 41;
}

struct Golden {
  std::string family;
  Count count;
  std::uint64_t tree;
  std::uint64_t exact;
};

std::vector<Golden> goldens() {
  std::ifstream file(STEADFOLD_TESTS_DIR "/golden/sums.txt");
  std::vector<Golden> all;
  Golden one;
  while (file >> one.family >> std::dec >> one.count >> std::hex >> one.tree >> one.exact) all.push_back(one);
  EXPECT_EQ(all.size(), 65u);
  return all;
}

/// Sums the elements on p ranks, dealt out whole or in shuffled pieces, by every schedule that serves the method.
template <class T>
void expect_on_ranks(const std::vector<T>& elements, Rank p, Method method, const Memory& expected, bool shuffled) {
  Deal deal = contiguous_deal(order::counts(order::Distribution::lower, elements.size(), p));
  if (shuffled) {
    for (std::size_t i = 0; i + 1 < deal.size(); i += 2) {  // neighbours exchange the middle of what they have
      const Interval a = deal[i].front();
      const Interval b = deal[i + 1].front();
      const Index left = a.begin + a.size() / 3;
      const Index right = b.begin + b.size() / 2;
      deal[i] = {{right, b.end}, {a.begin, left}};
      deal[i + 1] = {{b.begin, right}, {left, a.end}};
    }
    std::swap(deal.front(), deal.back());
  }
  std::vector<Memory> memory;
  for (const auto& intervals : deal) memory.push_back(memory_of(elements, 1, intervals));
  const Type type = sizeof(T) == 8 ? Type::f64 : Type::f32;
  for (const schedule::Row& row : schedule::registry()) {
    const std::string name(row.name);
    const Call call{.method = method,
                    .type = type,
                    .result_type = type,
                    .schedule = name,
                    .layout = shuffled ? LayoutKind::intervals : LayoutKind::rank_order};
    const std::vector<Call> calls = calls_for(call, deal);
    const Concluded agreed = concluded(calls);
    if (agreed.status == Status::unsupported) continue;
    SCOPED_TRACE(testing::Message() << name << " by " << collective::name_of(method) << ", p " << p
                                    << (shuffled ? ", shuffled" : ""));
    SimulatedRanks ranks(p, static_cast<std::uint64_t>(p));
    SimulatedJob job(ranks, agreed.agreement.value(), calls);
    expect_result(run(ranks, job, memory, sizeof(T)), all_ranks, expected);
  }
}

template <class T>
void expect_golden(const Golden& golden) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  std::vector<T> elements;
  for (std::uint64_t i = 0; i < golden.count; ++i)
    elements.push_back(std::bit_cast<T>(static_cast<Bits>(element_bits(golden.family, i))));
  for (const Method method : {Method::tree, Method::exact}) {
    const auto bits = static_cast<Bits>(method == Method::tree ? golden.tree : golden.exact);
    const Memory expected = bytes_of(std::vector<Bits>{bits});
    const Type type = sizeof(T) == 8 ? Type::f64 : Type::f32;
    const Call call{.method = method, .type = type, .result_type = type, .rows = golden.count};
    Result alone(sizeof(T));
    collective::reduce_locally(call, reinterpret_cast<const std::byte*>(elements.data()), nullptr, alone.data());
    EXPECT_EQ(hex(alone.bytes()), hex(expected)) << collective::name_of(method) << " without ranks";
    for (Rank p = 1; p <= 8; ++p) {
      if (golden.count > 10000 && p % 3 != 2) continue;
      expect_on_ranks(elements, p, method, expected, false);
      expect_on_ranks(elements, p, method, expected, true);
      if (testing::Test::HasFailure()) return;
    }
  }
}

class GoldenSums : public testing::TestWithParam<std::string> {};

TEST_P(GoldenSums, AreTheRecordedBits) {
  int found = 0;
  for (const Golden& golden : goldens()) {
    if (golden.family != GetParam()) continue;
    ++found;
    SCOPED_TRACE(testing::Message() << golden.family << ", N " << golden.count);
    golden.family.ends_with("32") ? expect_golden<float>(golden) : expect_golden<double>(golden);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(found, 13);
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenSums, testing::Values("near", "wide", "full", "near32", "wide32"),
                         [](const auto& family) { return family.param; });

}  // namespace
}  // namespace steadfold::test
