// The records of reductions, and what differs between this run and the record of another run.
// Cost: a search in the other run's record for each call. The record stays in memory.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "movement.hpp"

namespace steadfold::interpose {

/// The entry of a call in a record.
struct Traced {
  CallName name;
  std::uint64_t input;
  std::uint64_t result;

  /// Returns the number of the call, which is the same on all ranks of its communicator and in both runs.
  std::uint64_t key() const noexcept { return std::uint64_t{name.communicator} << 32 | name.number; }
};
static_assert(sizeof(Traced) == 24);

/// The beginning of a record. A run that ends without MPI_Finalize leaves `calls` as it was at the beginning.
struct TraceHead {
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};

  std::array<char, 8> what = {'s', 'f', 't', 'r', 'a', 'c', 'e', '2'};
  std::int32_t rank = 0;
  std::int32_t ranks = 0;
  std::uint64_t calls = no_end;  // number of calls that follow
};
static_assert(sizeof(TraceHead) == 24);

/// Compares the calls of one rank with a record.
class Comparison {
 public:
  /// How a call differs. `cut`: the record ends before the call.
  enum class Kind : std::int32_t { cut, absent, fewer, inputs, results };
  /// The first call that differs, among the calls of one rank with one place, operator and type.
  struct Finding {
    Kind kind = Kind::results;
    std::int32_t rank = 0;
    std::int32_t is_integer = 0;  // whether the elements are integers, logical values or bits
    std::uint64_t order = 0;      // number of the call among the rank's calls
    std::uint64_t key = 0;
    std::uint64_t calls = 1;  // number of calls that differ
    std::array<char, 32> function{}, op{}, type{};
    std::array<char, 256> place{};
  };

  /// Reads the record, which must belong to this rank. Returns why not; empty if it is read.
  std::string read(const std::string& file, const TraceHead& expected);
  /// Compares call number `order` of this rank.
  void compare(std::uint64_t order, const Traced& mine, const Call& call);
  /// Prints the findings of all ranks, on rank 0. `calls`: number of calls of this rank. Collective.
  void tell(int rank, int ranks, std::uint64_t calls);
  /// Prints the findings of this rank, which ends without MPI_Finalize.
  void tell_alone(int rank);

 private:
  struct Site {
    Addresses addresses;
    Finding finding;
  };

  void take(Kind kind, std::uint64_t order, std::uint64_t key, const Call& call);
  std::vector<Finding> findings(int rank) const;

  bool is_read_ = false;
  bool is_cut_ = false;  // whether the record has no end, or lacks calls
  std::vector<Traced> others_;
  std::vector<Site> sites_;
  std::vector<Site> cut_;  // the first call behind the end of the record, or empty
};

}  // namespace steadfold::interpose
