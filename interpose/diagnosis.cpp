#include "diagnosis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace steadfold::interpose {
namespace {

/// Returns the position of a number in the order of all numbers, from its bits. Neighbouring numbers have positions
/// that differ by 1; so do the two zeros.
template <class Word>
std::uint64_t place_of(Word bits) {
  constexpr Word sign = Word{1} << (sizeof(Word) * 8 - 1);
  return (bits & sign) != 0 ? std::uint64_t{sign} - (bits - sign) - 1 : std::uint64_t{sign} + bits;
}

template <class Real, class Word>
Difference between(const void* some, const void* others, std::size_t count) {
  Difference found{.compared = count};
  for (std::size_t i = 0; i < count; ++i) {
    Word a, b;
    std::memcpy(&a, static_cast<const Word*>(some) + i, sizeof a);
    std::memcpy(&b, static_cast<const Word*>(others) + i, sizeof b);
    const bool is_nan = std::isnan(std::bit_cast<Real>(a)), is_other_nan = std::isnan(std::bit_cast<Real>(b));
    if (a == b || (is_nan && is_other_nan)) continue;
    ++found.differing;
    const std::uint64_t x = place_of(a), y = place_of(b);
    const std::uint64_t ulps = is_nan || is_other_nan ? Difference::not_a_number : std::max(x, y) - std::min(x, y);
    found.most_ulps = std::max(found.most_ulps, ulps);
  }
  return found;
}

}  // namespace

void Difference::add(const Difference& other) noexcept {
  compared += other.compared;
  differing += other.differing;
  most_ulps = std::max(most_ulps, other.most_ulps);
}

bool is_diagnosable(const Call& call) noexcept {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  return call.elements.number() != SF_BYTES && call.input_count() <= most;
}

Diagnosis::Diagnosis(const Call& call, const Communicator& comm) : call_(call), rank_(comm.rank) {
  const Elements& elements = call.elements;
  const auto count = static_cast<int>(call.count);
  const std::size_t bytes = elements.bytes() * static_cast<std::size_t>(call.input_count());
  plain_.resize(bytes);
  // MPI_IN_PLACE is not passed on: MPICH 4.0.2 crashes in wide in-place reductions to a root other than 0.
  std::vector<std::byte> own;
  if (call.from == MPI_IN_PLACE) {
    const auto* const input = static_cast<const std::byte*>(call.to);
    own.assign(input, input + bytes);
  }
  const void* const from = own.empty() ? call.from : own.data();
  switch (call.collective) {
    case Collective::allreduce:
      PMPI_Allreduce(from, plain_.data(), count, elements.type(), elements.op(), comm.handle);
      break;
    case Collective::reduce:
      PMPI_Reduce(from, plain_.data(), count, elements.type(), elements.op(), call.root, comm.handle);
      break;
    case Collective::reduce_scatter: {
      const std::vector<int> counts(call.counts.begin(), call.counts.end());
      PMPI_Reduce_scatter(from, plain_.data(), counts.data(), elements.type(), elements.op(), comm.handle);
      break;
    }
    case Collective::scan: PMPI_Scan(from, plain_.data(), count, elements.type(), elements.op(), comm.handle); break;
    case Collective::exscan:
      PMPI_Exscan(from, plain_.data(), count, elements.type(), elements.op(), comm.handle);
      break;
  }
}

Difference Diagnosis::difference() const {
  const sf_type number = call_.elements.number();
  const auto count = static_cast<std::size_t>(call_.result_count(rank_));
  const std::size_t parts = number == SF_COMPLEX_F64 || number == SF_COMPLEX_F32 ? 2 * count : count;
  return number == SF_F64 || number == SF_COMPLEX_F64 ? between<double, std::uint64_t>(call_.to, plain_.data(), parts)
                                                      : between<float, std::uint32_t>(call_.to, plain_.data(), parts);
}

}  // namespace steadfold::interpose
