#include "diagnosis.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

namespace steadfold::interpose {
namespace {

/// While the object lives, this thread calculates without traps. The destructor restores the program's floating-point
/// environment and its flags: unlike a reduction, a diagnosis must not raise a flag.
class Undisturbed {
 public:
  Undisturbed() noexcept {
    std::fegetenv(&programs_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~Undisturbed() { std::fesetenv(&programs_); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  std::fenv_t programs_ = {};
};

/// Returns the position of a number in the order of all numbers, from its bits. Neighbouring numbers have positions
/// that differ by 1; so do the two zeros.
template <class Word>
std::uint64_t place_of(Word bits) {
  constexpr Word sign = Word{1} << (sizeof(Word) * 8 - 1);
  return (bits & sign) != 0 ? std::uint64_t{sign} - (bits - sign) - 1 : std::uint64_t{sign} + bits;
}

bool is_complex(sf_type number) noexcept { return number == SF_COMPLEX_F64 || number == SF_COMPLEX_F32; }
bool has_doubles(sf_type number) noexcept { return number == SF_F64 || number == SF_COMPLEX_F64; }

}  // namespace

void Difference::add(const Difference& other) noexcept {
  compared += other.compared;
  differing += other.differing;
  most_ulps = std::max(most_ulps, other.most_ulps);
  most_relative = std::max(most_relative, other.most_relative);
}

bool is_diagnosable(const Call& call) noexcept {
  constexpr MPI_Count most = std::numeric_limits<int>::max();
  const sf_type number = call.elements.number();
  return number != SF_BYTES && number != SF_FLOAT128 && call.input_count() <= most / 2;
}

namespace {

/// The arguments of a call that must be equal on all ranks.
struct Signature {
  std::int64_t count, counts, bytes;  // `counts`: a digest of the counts of all ranks
  std::int32_t collective, root;
  std::array<char, 16> op;

  bool operator==(const Signature&) const = default;
};

std::string text_of(const Signature& one) {
  static constexpr std::array<const char*, 5> names = {"allreduce", "reduce", "reduce_scatter", "scan", "exscan"};
  return std::string(names.at(static_cast<std::size_t>(one.collective))) + " of " + std::to_string(one.count) +
         " elements of " + std::to_string(one.bytes) + " bytes with " + one.op.data() +
         (one.root == 0 ? "" : " to root " + std::to_string(one.root));
}

}  // namespace

void require_equal_calls(const Call& call, const Communicator& comm) {
  Signature mine{.count = call.input_count(),
                 .counts = 0,
                 .bytes = static_cast<std::int64_t>(call.elements.bytes()),
                 .collective = static_cast<std::int32_t>(call.collective),
                 .root = call.root,
                 .op = {}};
  for (const MPI_Count each : call.counts) mine.counts = mine.counts * 31 + each;
  std::snprintf(mine.op.data(), mine.op.size(), "%s", name_of(call.elements.op()));
  const bool is_scan = call.collective == Collective::scan || call.collective == Collective::exscan;
  const int judge = is_scan ? comm.size - 1 : call.root;
  std::vector<Signature> all(static_cast<std::size_t>(comm.rank == judge ? comm.size : 0));
  PMPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, judge, comm.handle);
  std::string others;
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r] != mine) others += "; rank " + std::to_string(r) + " of the communicator: " + text_of(all[r]);
  if (others.empty()) return;
  const std::string place = places_of({call.place.addresses}).front();
  throw Fault("the ranks call with different arguments (rank " + std::to_string(judge) + " of the communicator: " +
              text_of(mine) + (place.empty() ? "" : " in " + place) + others + "), correct the program");
}

Diagnosis::Diagnosis(const Call& call, const Communicator& comm)
    : call_(call), comm_(comm), parts_(is_complex(call.elements.number()) ? 2 : 1) {
  const Elements& elements = call.elements;
  const std::size_t bytes = elements.bytes() * static_cast<std::size_t>(call.input_count());
  plain_.resize(bytes);
  // MPI_IN_PLACE is not passed on: MPICH 4.0.2 crashes in wide in-place reductions to a root other than 0.
  std::vector<std::byte> own;
  if (call.from == MPI_IN_PLACE) {
    const auto* const input = static_cast<const std::byte*>(call.to);
    own.assign(input, input + bytes);
  }
  call_library(own.empty() ? call.from : own.data(), plain_.data(), elements.type(), elements.op());
  if (elements.op() != MPI_SUM) return;
  has_doubles(elements.number()) ? find_largest_terms<double>() : find_largest_terms<float>();
}

void Diagnosis::call_library(const void* from, void* result, MPI_Datatype type, MPI_Op op) const {
  // The largest terms are real numbers, so a complex element counts twice.
  const int each = type == call_.elements.type() ? 1 : static_cast<int>(parts_);
  const int count = static_cast<int>(call_.count) * each;
  switch (call_.collective) {
    case Collective::allreduce: PMPI_Allreduce(from, result, count, type, op, comm_.handle); break;
    case Collective::reduce: PMPI_Reduce(from, result, count, type, op, call_.root, comm_.handle); break;
    case Collective::reduce_scatter: {
      std::vector<int> counts(call_.counts.begin(), call_.counts.end());
      for (int& part : counts) part *= each;
      PMPI_Reduce_scatter(from, result, counts.data(), type, op, comm_.handle);
      break;
    }
    case Collective::scan: PMPI_Scan(from, result, count, type, op, comm_.handle); break;
    case Collective::exscan: PMPI_Exscan(from, result, count, type, op, comm_.handle); break;
  }
}

/// Finds the largest absolute value that any rank adds to each result.
template <class Real>
void Diagnosis::find_largest_terms() {
  const Undisturbed undisturbed;
  const std::size_t count = parts_ * static_cast<std::size_t>(call_.input_count());
  const auto* const terms = static_cast<const Real*>(call_.input());
  std::vector<double> own(count);
  std::transform(terms, terms + count, own.begin(), [](Real term) { return std::abs(double{term}); });
  largest_.resize(count);
  call_library(own.data(), largest_.data(), MPI_DOUBLE, MPI_MAX);
}

template <class Real, class Word>
Difference Diagnosis::between() const {
  const std::size_t count = parts_ * static_cast<std::size_t>(call_.result_count(comm_.rank));
  const auto* const some = static_cast<const std::byte*>(call_.to);
  Difference found{.compared = count};
  for (std::size_t i = 0; i < count; ++i) {
    Word a, b;
    std::memcpy(&a, some + i * sizeof a, sizeof a);
    std::memcpy(&b, plain_.data() + i * sizeof b, sizeof b);
    const double x = std::bit_cast<Real>(a), y = std::bit_cast<Real>(b);
    if (a == b || (std::isnan(x) && std::isnan(y))) continue;
    ++found.differing;
    const bool has_nan = std::isnan(x) || std::isnan(y);
    const std::uint64_t p = place_of(a), q = place_of(b);
    found.most_ulps = std::max(found.most_ulps, has_nan ? Difference::not_a_number : std::max(p, q) - std::min(p, q));
    const double largest = largest_.empty() ? std::max(std::abs(x), std::abs(y)) : largest_[i];
    const double relative = std::abs(x - y) / largest;
    if (std::isfinite(relative)) found.most_relative = std::max(found.most_relative, relative);
  }
  return found;
}

Difference Diagnosis::difference() const {
  const Undisturbed undisturbed;
  return has_doubles(call_.elements.number()) ? between<double, std::uint64_t>() : between<float, std::uint32_t>();
}

}  // namespace steadfold::interpose
