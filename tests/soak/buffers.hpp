// A rank's memory for one reduction: its rows, a guarded place for the result, and whether they came out as they
// should.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "library.hpp"
#include "prepared.hpp"

namespace steadfold::soak {

/// What was compared, and what was wrong.
struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t compared = 0;  // elements of results
  std::uint64_t wrong = 0;

  /// Counts a fault, and prints the first few.
  void fault(const Case& made, std::size_t rank, const std::string& what);
};

class Buffers {
 public:
  /// Of rank `rank` for member `member`. `in_place`: the result goes where the rows are, if it can.
  Buffers(const Prepared& prepared, std::size_t member, std::size_t rank, bool in_place);

  Data data();
  /// Compares the result, and what should have stayed as it was, after a run that ended so.
  void check(const Prepared& prepared, sf_status status, const std::string& text, Tally& tally) const;

 private:
  void compare(const Prepared& prepared, const Expected& expected, Tally& tally) const;
  const std::byte* result() const { return in_place_ ? first_.data() : result_.data(); }

  std::size_t member_;
  std::size_t rank_;
  bool in_place_;
  std::vector<std::byte> first_;
  std::vector<std::byte> second_;
  std::vector<std::byte> result_;  // with a guard behind it
};

}  // namespace steadfold::soak
