// Bytes as doubles and floats, at any offset: every kernel of the machine gives what the scalar reference gives.
// The first bytes choose the index of the first element and where in memory it stands.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "arithmetic/superaccumulator/accumulator.hpp"
#include "kernels/fold.hpp"

namespace steadfold {
namespace {

using arithmetic::Accumulator;
using arithmetic::DigitRange;
using kernels::Target;
using order::Count;
using order::Index;

void require(bool as_expected) {
  if (!as_expected) std::abort();
}

template <class T>
void require_same_nodes(const T* x, Index begin, Count count, Target target) {
  T expected[128];
  T found[128];
  const Count nodes = kernels::fold<kernels::Sum, T>(Target::scalar)(x, begin, count, expected);
  require(kernels::fold<kernels::Sum, T>(target)(x, begin, count, found) == nodes);
  for (Count i = 0; i < nodes; ++i) {
    const bool both_nan = found[i] != found[i] && expected[i] != expected[i];  // payloads are made one later
    require(both_nan || std::memcmp(&found[i], &expected[i], sizeof(T)) == 0);
  }
}

template <class Element, int factors>
void require_same_sum(const Element* x, const Element* y, Count count, Target target) {
  Accumulator<Element, factors> expected(Target::scalar);
  Accumulator<Element, factors> found(target);
  for (auto* const accumulator : {&expected, &found})
    accumulator->add_rows(reinterpret_cast<const std::byte*>(x), reinterpret_cast<const std::byte*>(y), count,
                          sizeof(Element));
  DigitRange a;
  DigitRange b;
  expected.digit_range(a);
  found.digit_range(b);
  require(expected.flags() == found.flags() && a.lowest == b.lowest && a.count == b.count && a.negative == b.negative);
  require(std::memcmp(a.digits.data(), b.digits.data(), static_cast<std::size_t>(a.count) * sizeof a.digits[0]) == 0);
}

/// The input again and again, until it is long enough for whole vectors and blocks.
template <class T>
std::vector<T> elements(const std::uint8_t* data, std::size_t size) {
  const std::size_t count = size / sizeof(T);
  std::vector<T> x(count * (1 + data[0] % 16));
  for (std::size_t i = 0; count > 0 && i < x.size(); i += count) std::memcpy(&x[i], data, count * sizeof(T));
  return x;
}

template <class T>
void try_all(const std::uint8_t* data, std::size_t size, Index begin, std::size_t offset) {
  const std::vector<T> x = elements<T>(data, size);
  if (x.size() <= offset) return;
  const Count count = x.size() - offset;
  for (const Target target : kernels::available()) {
    require_same_nodes(x.data() + offset, begin, count, target);
    require_same_sum<T, 1>(x.data() + offset, nullptr, count, target);
    require_same_sum<T, 2>(x.data() + offset, x.data(), count, target);
  }
}

}  // namespace
}  // namespace steadfold

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  steadfold::try_all<double>(data + 3, size - 3, data[0] * 37u, data[1] % 9);
  steadfold::try_all<float>(data + 3, size - 3, data[0] * 37u, data[1] % 17);
  return 0;
}
