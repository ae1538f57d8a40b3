// A rank's memory for one reduction: its rows, and guarded memory for the result. Checks both after a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "library.hpp"
#include "prepared.hpp"

namespace steadfold::soak {

/// Counts comparisons and faults.
struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t compared = 0;  // elements of results
  std::uint64_t wrong = 0;

  /// Counts a fault, and prints the first few.
  void fault(const Case& made, std::size_t rank, const std::string& what);
};

class Buffers {
 public:
  /// The memory of rank `rank` for member `member`. `own` chooses where the result goes: separate memory (always if
  /// `own` is null), or wholly or partly the memory of the rows. `placement`: how the elements are placed in arrays, or
  /// null.
  Buffers(const Prepared& prepared, std::size_t member, std::size_t rank, Random* own,
          const Placement* placement = nullptr);
  /// Leaves out some or all data that the arrays of the call itself have.
  void rely_on_call(Random& own);

  Data data();
  /// Compares the result, and checks that inputs are unchanged, after a run that ended with this status and text.
  void check(const Prepared& prepared, sf_status status, const std::string& text, Tally& tally) const;

 private:
  void place_within(const Member& member, Random& own);
  void compare(const Prepared& prepared, const Expected& expected, Tally& tally) const;
  bool others_are_untouched() const;
  const std::byte* result() const { return is_apart_ ? apart_.data() : rows_.data() + result_at_; }

  std::size_t member_;
  std::size_t rank_;
  std::size_t result_size_;
  bool is_apart_ = true;
  std::size_t first_at_ = 0;   // in `rows_`
  std::size_t result_at_ = 0;  // also in `rows_`, unless the result has separate memory
  std::vector<std::byte> rows_;
  std::vector<std::byte> before_;  // the contents of `rows_` before the run
  std::vector<std::byte> second_;
  std::vector<const void*> list_;       // the columns, if the call lists them
  std::optional<PlacedArrays> arrays_;  // used instead of `rows_` and `second_`
  std::vector<std::byte> apart_;        // separate memory for the result, with a guard behind it
};

}  // namespace steadfold::soak
