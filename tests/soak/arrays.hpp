// How a rank's elements of a member stand in arrays: in sections with padding, turned, reversed, stretched. Each rank
// chooses for itself; what it chooses serves all runs of a plan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "case.hpp"
#include "elements.hpp"
#include "library.hpp"

namespace steadfold::soak {

/// One operand: its array without data, and where its elements stand.
struct Placed {
  sf_array array{};
  std::vector<std::int64_t> strides;  // along all axes of the elements; 0 where it is stretched
  std::size_t begin = 0;              // where the element of no indices stands in memory of `size` bytes, aligned
  std::size_t size = 0;
  std::byte padding{0xFF};  // NaNs, selected, no group
  bool is_stretched = false;
};

class Placement {
 public:
  Placement(const Member& member, std::size_t rank, Random& own);

  /// Calls `visit(row, column, indices)`, with the row of the whole job, for all elements in C order.
  using Visit = std::function<void(std::uint64_t row, std::uint64_t column, const std::vector<std::uint64_t>& indices)>;
  void visit(const Visit& visit) const;

  const Member& member() const { return member_; }
  std::uint32_t kept() const;
  const Placed& elements() const { return elements_; }
  const Placed& factors() const { return factors_; }
  const Placed& mask() const { return mask_; }
  const Placed& labels() const { return labels_; }
  /// Whether elements that do not count are padding, as far as no others stand in the same place.
  bool spoils() const { return spoils_; }

 private:
  struct Axis {
    std::uint64_t extent;
    bool is_kept;
  };
  void choose_axes(Random& own);
  bool is_constant(const Repeats& repeats, std::size_t axis) const;
  Placed place(Random& own, const Repeats* repeats, sf_type type, std::size_t bytes) const;

  const Member member_;
  std::vector<std::uint64_t> rows_;  // of the whole job, in the order of memory
  std::vector<Axis> axes_;
  Placed elements_;
  Placed factors_;
  Placed mask_;
  Placed labels_;
  bool spoils_;
};

/// Elements in such arrays.
class PlacedArrays {
 public:
  /// Elements begin `shift` bytes behind aligned places. The placement outlives it.
  PlacedArrays(const Placement& placement, const Elements& all, std::size_t shift);

  sf_arrays arrays() const;
  Data data() const;
  /// Some of `data` becomes null.
  void leave_out_some(Random& own);
  bool are_untouched() const;

 private:
  struct Memory {
    std::vector<std::byte> bytes;
    std::vector<std::byte> before;
    const void* first = nullptr;
    bool is_left_out = false;

    const void* given() const { return is_left_out ? nullptr : first; }
  };
  template <class Write>
  Memory filled(const Placed& placed, std::size_t shift, const Write& write) const;

  const Placement& placement_;
  Memory elements_;
  Memory factors_;
  Memory mask_;
  Memory labels_;
};

}  // namespace steadfold::soak
