// Random sections of random arrays, with factors and masks that may be broadcast to them. The same elements, gathered
// one by one, give the expected results. Shares no code with src/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "steadfold/array.hpp"

namespace steadfold::test {

using Indices = std::vector<std::uint64_t>;

/// An array of T in its own memory, with a random memory layout. The memory between its elements is filled with
/// `between`.
template <class T>
class Placed {
 public:
  Placed(std::mt19937_64& random, const Indices& shape, const T& between) : shape_(shape), steps_(shape.size()) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::int64_t step = sizeof(T);
    std::int64_t begin = 0;
    for (const std::size_t axis : order) {
      const bool goes_down = random() % 4 == 0;
      steps_[axis] = (goes_down ? -1 : 1) * step * static_cast<std::int64_t>(1 + random() % 2);
      const auto extent = static_cast<std::int64_t>(std::max<std::uint64_t>(shape[axis], 1));
      const std::int64_t reach = (extent - 1) * std::abs(steps_[axis]);
      if (goes_down) begin += reach;
      step = std::abs(steps_[axis]) * extent + static_cast<std::int64_t>(sizeof(T) * (random() % 3));  // a halo
    }
    const bool is_misaligned = random() % 4 == 0;
    memory_.resize(static_cast<std::size_t>(step) + sizeof(T) + 1);
    for (std::size_t at = 0; at + sizeof(T) <= memory_.size(); at += sizeof(T))
      std::memcpy(memory_.data() + at, &between, sizeof between);
    begin_ = begin + (is_misaligned ? 1 : 0);
  }

  Array<T> array() const { return Array<T>(reinterpret_cast<const T*>(memory_.data() + begin_), shape_, steps_); }
  /// The element at these indices. Along axes that are broadcast (extent 1, or missing in this array) the index is
  /// ignored.
  T at(const Indices& indices) const {
    T value;
    std::memcpy(&value, memory_.data() + offset(indices), sizeof value);
    return value;
  }
  void set(const Indices& indices, const T& value) {
    std::memcpy(memory_.data() + offset(indices), &value, sizeof value);
  }

 private:
  std::size_t offset(const Indices& indices) const {
    std::int64_t offset = begin_;
    const std::size_t skipped = indices.size() - shape_.size();
    for (std::size_t i = 0; i < shape_.size(); ++i)
      if (shape_[i] > 1) offset += steps_[i] * static_cast<std::int64_t>(indices[skipped + i]);
    return static_cast<std::size_t>(offset);
  }

  Indices shape_;
  std::vector<std::int64_t> steps_;
  std::int64_t begin_ = 0;
  std::vector<char> memory_;
};

/// Calls `visit(indices)` for all indices of a shape, in C order.
template <class Visit>
void visit_all(const Indices& shape, const Visit& visit) {
  if (std::ranges::find(shape, 0u) != shape.end()) return;
  Indices indices(shape.size());
  for (;;) {
    visit(indices);
    std::size_t axis = shape.size();
    while (axis > 0 && ++indices[axis - 1] == shape[axis - 1]) indices[--axis] = 0;
    if (axis == 0) return;
  }
}

inline Indices random_shape(std::mt19937_64& random, std::size_t rank, std::uint64_t most) {
  Indices shape(rank);
  for (std::uint64_t& extent : shape) {
    extent = random() % 8 == 0 ? 1 : 1 + random() % std::max<std::uint64_t>(most, 1);
    most = std::max<std::uint64_t>(most / extent, 1);
  }
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

/// A shape that can be broadcast to `shape`. If `shape` has one axis, its extent stays.
inline Indices stretchable(std::mt19937_64& random, const Indices& shape) {
  Indices part(shape.begin() + static_cast<std::ptrdiff_t>(random() % 2 == 0 ? 0 : random() % (shape.size() + 1)),
               shape.end());
  for (std::uint64_t& extent : part)
    if (random() % 4 == 0 && shape.size() > 1) extent = 1;
  return part;
}

inline std::string text_of(const Indices& shape) {
  std::string text = "(";
  for (const std::uint64_t extent : shape) text += std::to_string(extent) + ",";
  return text + ")";
}

/// Elements, factors and a mask, and the axes that the reduction keeps.
template <class T, class M>
struct ArrayCase {
  template <class Draw>
  ArrayCase(std::mt19937_64& random, const Indices& given, const T& between, const Draw& draw)
      : shape(given),
        x(random, shape, between),
        factor_shape(stretchable(random, shape)),
        factors(random, factor_shape, between),
        mask_shape(stretchable(random, shape)),
        mask(random, mask_shape, M(1)) {
    visit_all(shape, [&](const Indices& at) { x.set(at, draw(random)); });
    visit_all(factor_shape, [&](const Indices& at) { factors.set(at, draw(random)); });
    const std::uint64_t density = random() % 5;
    visit_all(mask_shape, [&](const Indices& at) {
      mask.set(at, static_cast<M>(random() % 4 < density ? std::uint64_t{1} << random() % (8 * sizeof(M)) : 0));
    });
    visit_all(shape, [&](const Indices& at) {  // elements that the mask leaves out may have any value
      if (mask.at(at) == M(0) && random() % 2 == 0) x.set(at, between);
    });
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (random() % 3 == 0)
        keep.push_back(static_cast<int>(axis) - (random() % 2 == 0 ? static_cast<int>(shape.size()) : 0));
  }

  bool keeps(std::size_t axis) const {
    const int low = static_cast<int>(axis) - static_cast<int>(shape.size());
    return std::ranges::find(keep, static_cast<int>(axis)) != keep.end() || std::ranges::find(keep, low) != keep.end();
  }
  /// Whether the mask differs between the indices of a kept axis.
  bool mask_has_kept_axis() const {
    const std::size_t skipped = shape.size() - mask_shape.size();
    for (std::size_t i = 0; i < mask_shape.size(); ++i)
      if (mask_shape[i] > 1 && keeps(skipped + i)) return true;
    return false;
  }
  /// Whether a result without elements is NaN. This holds also for a single result if the mask has its axis.
  bool mask_has_own_results() const {
    std::uint64_t results = 1;
    bool has_one = false;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!keeps(axis)) continue;
      results *= shape[axis];
      has_one = has_one || axis >= shape.size() - mask_shape.size();
    }
    return mask_has_kept_axis() || (results == 1 && has_one);
  }
  /// For each result, in C order: the values that `take` returns for its elements, in C order. `take` returns nothing
  /// for elements that are left out.
  template <class Take>
  auto gathered(const Take& take) const {
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      if (keeps(axis)) count *= shape[axis];
    std::vector<std::vector<T>> all(count);
    visit_all(shape, [&](const Indices& at) {
      std::uint64_t result = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (keeps(axis)) result = result * shape[axis] + at[axis];
      take(at, all[result]);
    });
    return all;
  }
  std::vector<std::vector<T>> elements(bool is_masked) const {
    return gathered([&](const Indices& at, std::vector<T>& to) {
      if (!is_masked || mask.at(at) != M(0)) to.push_back(x.at(at));
    });
  }
  std::vector<std::vector<T>> factors_of(bool is_masked) const {
    return gathered([&](const Indices& at, std::vector<T>& to) {
      if (!is_masked || mask.at(at) != M(0)) to.push_back(factors.at(at));
    });
  }
  Axes axes(bool is_masked) const {
    return {.keep = keep, .where = is_masked ? MaybeArray(mask.array()) : MaybeArray(), .weights = {}};
  }
  std::string text() const {
    std::string kept = " keep";
    for (const int axis : keep) kept += " " + std::to_string(axis);
    return text_of(shape) + kept + ", factors " + text_of(factor_shape) + ", mask " + text_of(mask_shape);
  }

  Indices shape;
  Placed<T> x;
  Indices factor_shape;
  Placed<T> factors;
  Indices mask_shape;
  Placed<M> mask;
  std::vector<int> keep;
};

}  // namespace steadfold::test
