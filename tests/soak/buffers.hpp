// A rank's memory for one reduction: its rows, a guarded place for the result, and whether they came out as they
// should.
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
  /// The memory of rank `rank` for member `member`. `own` chooses where the result goes: apart, which null means too,
  /// or in the rows' own memory, wholly or in part. `placement`: how the elements stand in arrays, or null.
  Buffers(const Prepared& prepared, std::size_t member, std::size_t rank, Random* own,
          const Placement* placement = nullptr);
  /// Leaves out what the call's own arrays have, or some of it.
  void rely_on_call(Random& own);

  Data data();
  /// Compares the result, and what should have stayed as it was, after a run that ended so.
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
  std::size_t result_at_ = 0;  // there too, unless it is apart
  std::vector<std::byte> rows_;
  std::vector<std::byte> before_;  // what `rows_` was
  std::vector<std::byte> second_;
  std::vector<const void*> list_;       // of the columns, if they are given so
  std::optional<PlacedArrays> arrays_;  // in place of `rows_` and `second_`
  std::vector<std::byte> apart_;        // with a guard behind it
};

}  // namespace steadfold::soak
