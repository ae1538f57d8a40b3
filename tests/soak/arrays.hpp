// Random memory layouts of a rank's elements in arrays: sections with padding, transposed, reversed or broadcast. Each
// rank chooses its own layout, which all runs of a plan use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "case.hpp"
#include "elements.hpp"
#include "library.hpp"

namespace steadfold::soak {

/// One operand: its array without data, and the positions of its elements.
struct Placed {
  sf_array array{};
  std::vector<std::int64_t> strides;  // along all axes of the elements; 0 along axes that are broadcast
  std::size_t begin = 0;              // the aligned position of the first element in memory of `size` bytes
  std::size_t size = 0;
  std::byte padding{0xFF};  // a NaN; for a mask: selected; for labels: no group
  bool is_stretched = false;
};

class Placement {
 public:
  Placement(const Member& member, std::size_t rank, Random& own);

  /// Calls `visit(row, column, indices)` for all elements in C order. `row` is the index in the whole job.
  using Visit = std::function<void(std::uint64_t row, std::uint64_t column, const std::vector<std::uint64_t>& indices)>;
  void visit(const Visit& visit) const;

  const Member& member() const { return member_; }
  std::uint32_t kept() const;
  const Placed& elements() const { return elements_; }
  const Placed& factors() const { return factors_; }
  const Placed& mask() const { return mask_; }
  const Placed& labels() const { return labels_; }
  /// Whether elements that the mask or the labels leave out become padding, if no other element is at the same
  /// position.
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
  std::vector<std::uint64_t> rows_;  // indices in the whole job, in the order of memory
  std::vector<Axis> axes_;
  Placed elements_;
  Placed factors_;
  Placed mask_;
  Placed labels_;
  bool spoils_;
};

/// Elements in arrays with a Placement.
class PlacedArrays {
 public:
  /// Elements begin `shift` bytes behind aligned addresses. The placement must outlive this object.
  PlacedArrays(const Placement& placement, const Elements& all, std::size_t shift);

  sf_arrays arrays() const;
  Data data() const;
  /// Sets random parts of `data` to null.
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
