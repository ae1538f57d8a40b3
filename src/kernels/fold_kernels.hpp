// Kernels of fold.hpp. A pass makes one value of every W elements, where W is the number of lanes of a vector. W
// vectors become the vector of their W sums in log2(W) halvings. A halving is a blend, a shuffle and an operation that
// make one vector of two. Passes are repeated until no full set of vectors is left. The elements that a pass leaves
// over at the ends of the interval are maximal nodes. Long intervals are folded in chunks. The values of chunks go to a
// binary counter, which then holds the nodes of the record.
// There is no #pragma once: fold.cpp and fold_integers.cpp, each for half of the types, include this file once per
// target.
#include "kernels/fold.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/fold_reference.hpp"
#include "kernels/highway.hpp"
#include "kernels/prefetch.hpp"

#if STEADFOLD_HIGHWAY
#include <hwy/foreach_target.h>  // includes HWY_TARGET_INCLUDE, the file that includes this header, for each target
#include <hwy/highway.h>

#include "kernels/consecutive_loads.hpp"
#include "kernels/lanewise.hpp"
#include "kernels/load_first.hpp"
#endif

#ifndef STEADFOLD_KERNELS_FOLD_SCALAR
#define STEADFOLD_KERNELS_FOLD_SCALAR
namespace steadfold::kernels {
namespace {

using order::Count;
using order::Index;

// Binary logarithm of the 4096 elements of a chunk, whose sums after one pass stay in the first-level cache.
constexpr int chunk_level = 12;
constexpr Count chunk = Count{1} << chunk_level;

/// A binary counter that combines the values of chunks, pushed in ascending order, into their maximal nodes.
template <class Op, class T>
class NodeCounter {
 public:
  explicit NodeCounter(T* nodes) noexcept : nodes_(nodes) {}

  /// Adds the value of a chunk. `number` is the chunk's index among the chunks of the whole job.
  void push(Index number, T value) noexcept {
    std::uint8_t level = 0;
    for (; count_ > 0 && levels_[count_ - 1] == level && (number >> level & 1) != 0; ++level)
      value = Op::of(nodes_[--count_], value);
    levels_[count_] = level;
    nodes_[count_++] = value;
  }
  Count count() const noexcept { return count_; }

 private:
  T* nodes_;
  std::array<std::uint8_t, 128> levels_;
  Count count_ = 0;
};

}  // namespace
}  // namespace steadfold::kernels
#endif

#if STEADFOLD_HIGHWAY && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
HWY_BEFORE_NAMESPACE();
namespace steadfold::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Combines lanes that are `distance` apart. If the bit `distance` of a lane's number is 0, the lane gets a pair of
/// `a`; otherwise it gets a pair of `b`. Either element of a pair may be the left operand, because the operands of
/// these operators commute.
template <class Op, std::size_t distance, class D, class V>
HWY_INLINE V halve(D d, V a, V b) {
  using T = hn::TFromD<D>;
#if HWY_HAVE_SCALABLE
  (void)distance;
  return Lanewise<Op>::of(d, hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a));
#else
  constexpr std::size_t bytes = distance * sizeof(T);
  if constexpr (bytes == 4) {
    const hn::RebindToUnsigned<D> du;
    const auto crossed = hn::Shuffle2301(hn::BitCast(du, hn::OddEven(a, b)));
    return Lanewise<Op>::of(d, hn::OddEven(b, a), hn::BitCast(d, crossed));
  } else if constexpr (bytes == 8) {
    const hn::Repartition<std::uint64_t, D> d64;
    const auto a64 = hn::BitCast(d64, a);
    const auto b64 = hn::BitCast(d64, b);
    return Lanewise<Op>::of(d, hn::BitCast(d, hn::InterleaveLower(d64, a64, b64)),
                            hn::BitCast(d, hn::InterleaveUpper(d64, a64, b64)));
  } else if constexpr (2 * bytes == hn::MaxLanes(d) * sizeof(T)) {
    return Lanewise<Op>::of(d, hn::ConcatUpperLower(d, b, a), hn::ConcatLowerUpper(d, b, a));
  } else {
    static_assert(bytes == 16);
    return Lanewise<Op>::of(d, hn::OddEvenBlocks(b, a), hn::SwapAdjacentBlocks(hn::OddEvenBlocks(a, b)));
  }
#endif
}

constexpr Count power(Count base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

/// The kernels of one operator and one type, for vectors of 2^levels lanes.
template <class Op, class T, int levels>
struct Folded {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr Count lanes = Count{1} << levels;

  /// The number of times that a pass folds W elements into one. A short pass folds at least three levels of the tree.
  /// The operators that most calls use fold six levels over whole chunks, if this needs no more than 64 consecutive
  /// loads.
  static constexpr bool is_common = std::is_same_v<Op, Sum> && std::is_floating_point_v<T>;
  static constexpr int short_depth = levels == 1 ? 3 : levels == 2 ? 2 : 1;
  static constexpr int long_depth = !is_common ? short_depth : levels == 4 ? 1 : 6 / levels;
  static constexpr Count factor = power(lanes, short_depth);

  /// Computes one vector with the values of W nodes of W^(depth - 1) 2^level elements each, from x on; they are in
  /// order if level == levels. Memory is read in ascending order, as the hardware prefetcher and `Cut` need it.
  template <int depth, int level, class Loads>
  static HWY_INLINE V sums(const T* x, Loads& loads) {
    if constexpr (depth == 0) {
      return loads(D(), x);
    } else if constexpr (level == 0) {
      return sums<depth - 1, levels>(x, loads);
    } else {
      const V left = sums<depth, level - 1>(x, loads);
      const V right = sums<depth, level - 1>(x + (power(lanes, depth) << (level - 1)), loads);
      return halve<Op, std::size_t{1} << (level - 1)>(D(), left, right);
    }
  }

  /// Folds outputs * factor elements into `outputs` values. `from` and `to` must not overlap.
  static HWY_INLINE void pass(const T* from, Count outputs, T* to) {
    if (outputs < lanes) {
      for (Count i = 0; i < outputs; ++i) to[i] = node<Op, short_depth * levels>(from + i * factor);
      return;
    }
    Straight<D> loads;
    for (Count i = 0;; i = std::min(i + lanes, outputs - lanes)) {  // the last group may compute some values again
      hn::StoreU(sums<short_depth, levels>(from + i * factor, loads), D(), to + i);
      if (i == outputs - lanes) return;
    }
  }

  /// Calls `take(level)` for the nodes at one end of an interval that are smaller than `factor` elements. The sizes of
  /// these nodes are the bits of the number of these elements; the smallest node is outermost.
  template <int level = 0, class Take>
  static HWY_INLINE void ends(Count count, const Take& take) {
    if constexpr (level < short_depth * levels) {
      if ((count >> level & 1) != 0) take(std::integral_constant<int, level>());
      ends<level + 1>(count, take);
    }
  }

  /// Computes the maximal nodes of an interval within a chunk, pass by pass. The nodes that a pass leaves over at the
  /// ends of its input go to the ends of `nodes`.
  static Count within_chunk(const T* x, Index begin, Count count, T* nodes) {
    alignas(64) T buffers[2][chunk / factor];
    const Count node_count = order::node_count({begin, begin + count});
    T* left = nodes;
    T* right = nodes + node_count;
    for (int turn = 0; count > 0; turn ^= 1) {
      const Count head = (0 - begin) % factor;
      if (head > count) {  // the interval is within one node of the next pass
        one_by_one<Op>(x, begin, count, left);
        break;
      }
      const T* end = x + count;
      const Count outputs = (count - head) / factor;
      ends(head, [&](auto level) HWY_ATTR {
        *left++ = node<Op, level>(x);
        x += Count{1} << level;
      });
      ends((count - head) % factor, [&](auto level) HWY_ATTR {
        end -= Count{1} << level;
        *--right = node<Op, level>(end);
      });
      pass(x, outputs, buffers[turn]);
      x = buffers[turn];
      begin = (begin + head) / factor;
      count = outputs;
    }
    return node_count;
  }

  template <bool asks, class Loads>
  static HWY_INLINE T chunk_by(const T* x, Loads loads) {
    constexpr int depth = asks ? short_depth : long_depth;
    constexpr Count group = power(lanes, depth + 1);
    alignas(64) T values[chunk / group * lanes];
    for (Count i = 0; i < chunk; i += group) {
      if constexpr (asks)
        for (Count line = 0; line < group; line += 64 / sizeof(T)) ask_ahead(x + i + line, Prefetch::near);
      hn::Store(sums<depth, levels>(x + i, loads), D(), values + i / group * lanes);
    }
    return rest_of_chunk<chunk / group * lanes>(values);
  }

  template <Count count>
  static HWY_INLINE T rest_of_chunk(const T* values) {
    if constexpr (count >= factor * lanes) {
      alignas(64) T fewer[count / factor];
      pass(values, count / factor, fewer);
      return rest_of_chunk<count / factor>(fewer);
    } else {
      return node<Op, std::bit_width(count) - 1>(values);
    }
  }

  template <bool asks>
  static HWY_INLINE T chunk_from(const T* x, [[maybe_unused]] bool cuts) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (is_common) {
      const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(x) % 64;
      if (cuts && beyond != 0 && beyond % sizeof(T) == 0) return chunk_by<asks>(x, Cut<D>(x));
    }
#endif
    return chunk_by<asks>(x, Straight<D>());
  }

  /// Folds a whole chunk. `cuts` says whether loads across cache lines are avoided. If so, one more vector of the
  /// caller's elements must follow the chunk. Memory is prefetched if this was measured to help, and then fewer loads
  /// follow each other (lab/notes/kernels.md).
  static T whole_chunk(const T* x, bool cuts) {
#if HWY_TARGET == HWY_AVX3
    if (prefetch == Prefetch::near) return chunk_from<true>(x, cuts);
#endif
    return chunk_from<false>(x, cuts);
  }

  static Count fold(const void* elements, Index begin, Count count, void* nodes_out) noexcept {
    const T* x = static_cast<const T*>(elements);
    T* const nodes = static_cast<T*>(nodes_out);
    const Index end = begin + count;
    // The chunks with numbers `first` to `last` - 1 are within the interval.
    const Index first = (begin + chunk - 1) / chunk;
    const Index last = end / chunk;
    if (first >= last) {
      // There is no whole chunk, and one part in each of at most two chunks.
      const Index split = std::min(end, first * chunk);
      const Count written = begin < split ? within_chunk(x, begin, split - begin, nodes) : 0;
      return split == end ? written : written + within_chunk(x + (split - begin), split, end - split, nodes + written);
    }
    Count written = within_chunk(x, begin, first * chunk - begin, nodes);
    x += first * chunk - begin;
    const bool are_many = last - first > 1;  // a single chunk is in the first-level cache, where cutting saves no time
    NodeCounter<Op, T> counter(nodes + written);
    for (Index number = first; number < last; ++number, x += chunk)
      counter.push(number, whole_chunk(x, are_many && end - (number + 1) * chunk >= lanes));
    written += counter.count();
    return written + within_chunk(x, last * chunk, end - last * chunk, nodes + written);
  }
};

template <class Op, class T>
Count fold(const void* elements, Index begin, Count count, void* nodes) noexcept {
#if HWY_HAVE_SCALABLE
  switch (hn::Lanes(hn::ScalableTag<T>())) {
    case 2: return Folded<Op, T, 1>::fold(elements, begin, count, nodes);
    case 4: return Folded<Op, T, 2>::fold(elements, begin, count, nodes);
    case 8: return Folded<Op, T, 3>::fold(elements, begin, count, nodes);
    case 16: return Folded<Op, T, 4>::fold(elements, begin, count, nodes);
    default: return reference<Op, T>(elements, begin, count, nodes);
  }
#else
  constexpr int levels = std::bit_width(hn::MaxLanes(hn::ScalableTag<T>())) - 1;
  return Folded<Op, T, levels>::fold(elements, begin, count, nodes);
#endif
}

template <class Op, int level, class D, class Loads>
HWY_INLINE hn::Vec<D> down(D d, const hn::TFromD<D>* x, order::Bytes row_stride, const Loads& loads, Count y = 0) {
  if constexpr (level == 0) {
    return loads(d, row(x, row_stride, y));
  } else {
    const auto left = down<Op, level - 1>(d, x, row_stride, loads, y);
    return Lanewise<Op>::of(d, left, down<Op, level - 1>(d, x, row_stride, loads, y + (Count{1} << (level - 1))));
  }
}

/// Loads and stores whole vectors of columns.
template <class D>
struct WholeColumns {
  using Tag = D;
  HWY_INLINE auto operator()(D d, const hn::TFromD<D>* x) const { return hn::LoadU(d, x); }
  HWY_INLINE void store(D d, hn::Vec<D> value, hn::TFromD<D>* to) const { hn::StoreU(value, d, to); }
};

/// Loads and stores the last columns, fewer than a vector.
template <class D>
struct LastColumns {
  using Tag = D;
  HWY_INLINE auto operator()(D d, const hn::TFromD<D>* x) const { return load_first(d, x, count); }
  HWY_INLINE void store(D d, hn::Vec<D> value, hn::TFromD<D>* to) const {
    hn::BlendedStore(value, hn::FirstN(d, count), d, to);
  }

  Count count;
};

/// Folds 2^level rows of a vector of columns to one, and combines the last `siblings` nodes with it, one after the
/// other from the right. The result replaces the first of them, at `nodes`.
template <class Op, int level, class T, class Columns>
HWY_INLINE void fold_columns(const T* x, order::Bytes row_stride, Count columns, int siblings, T* nodes,
                             const Columns& part) {
  const typename Columns::Tag d;
  auto value = down<Op, level>(d, x, row_stride, part);
  for (int i = siblings; i-- > 0;) value = Lanewise<Op>::of(d, part(d, nodes + static_cast<Count>(i) * columns), value);
  part.store(d, value, nodes);
}

/// Folds the last columns, fewer than a vector: a masked vector, or vectors of half as many lanes each time.
template <class Op, int level, class D, class T>
HWY_INLINE void fold_last_columns(const T* x, order::Bytes row_stride, Count columns, Count last, int siblings,
                                  T* nodes) {
  if constexpr (can_mask) {
    if (last != 0) fold_columns<Op, level>(x, row_stride, columns, siblings, nodes, LastColumns<D>{last});
  } else if constexpr (hn::MaxLanes(D()) > 1) {
    using Half = hn::Half<D>;
    const Count taken = last & hn::MaxLanes(Half());
    if (taken != 0) fold_columns<Op, level>(x, row_stride, columns, siblings, nodes, WholeColumns<Half>());
    fold_last_columns<Op, level, Half>(x + taken, row_stride, columns, last - taken, siblings, nodes + taken);
  }
}

/// Folds 2^level rows to one, as fold_columns does.
template <class Op, int level, class T>
HWY_INLINE void fold_together(const T* x, order::Bytes row_stride, Count columns, int siblings, T* nodes) {
  using D = hn::ScalableTag<T>;
  const Count lanes = hn::Lanes(D());
  Count c = 0;
  for (; c + lanes <= columns; c += lanes)
    fold_columns<Op, level>(x + c, row_stride, columns, siblings, nodes + c, WholeColumns<D>());
  fold_last_columns<Op, level, D>(x + c, row_stride, columns, columns - c, siblings, nodes + c);
}

template <class Op, class T>
Count fold_rows(const void* rows, order::Bytes row_stride, Count columns, Index begin, Count count,
                void* nodes) noexcept {
  constexpr Count many = Count{1} << rows_level;
  const T* x = static_cast<const T*>(rows);
  T* next = static_cast<T*>(nodes);
  Count written = 0;
  for (order::Interval done{begin, begin}; done.end < begin + count; ++written) {
    const bool together = done.end % many == 0 && begin + count - done.end >= many;
    const int siblings = order::sibling_count(done, together ? rows_level : 0);
    written -= static_cast<Count>(siblings);
    next = static_cast<T*>(nodes) + written * columns;
    if (together)
      fold_together<Op, rows_level>(x, row_stride, columns, siblings, next);
    else
      fold_together<Op, 0>(x, row_stride, columns, siblings, next);
    done.end += together ? many : 1;
    x = row(x, row_stride, together ? many : 1);
  }
  return written;
}

template <class Op, class T>
void pairs(const void* left, const void* right, void* result, Count count) noexcept {
  const hn::ScalableTag<T> d;
  const auto* const a = static_cast<const T*>(left);
  const auto* const b = static_cast<const T*>(right);
  auto* const r = static_cast<T*>(result);
  Count i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    hn::StoreU(Lanewise<Op>::of(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, r + i);
  reference_pairs<Op, T>(a + i, b + i, r + i, count - i);
}

/// Replaces NaNs. NaNs are rare, so blocks without a NaN are only read.
template <class T>
void canonicalise(void* values, Count count) noexcept {
  const hn::ScalableTag<T> d;
  constexpr Count block = 32;  // number of vectors
  auto* x = static_cast<T*>(values);
  const Count lanes = hn::Lanes(d);
  for (; count >= block * lanes; count -= block * lanes, x += block * lanes) {
    auto ordered = hn::Eq(hn::LoadU(d, x), hn::LoadU(d, x));
    for (Count i = 1; i < block; ++i) {
      const auto v = hn::LoadU(d, x + i * lanes);
      ordered = hn::And(ordered, hn::Eq(v, v));
    }
    if (!hn::AllTrue(d, ordered)) reference_canonicalise<T>(x, block * lanes);
  }
  reference_canonicalise<T>(x, count);
}

}  // namespace
}  // namespace steadfold::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if !STEADFOLD_HIGHWAY || HWY_ONCE
namespace steadfold::kernels {

/// No vector instruction multiplies 64-bit integers, so their product has no kernel.
template <class Op, class T>
constexpr bool has_kernel = !(std::is_same_v<Op, Product> && std::is_integral_v<T> && sizeof(T) == 8);

/// The type whose kernels are used. Signed integers wrap around like unsigned integers, so their sums and products use
/// the same kernels.
template <class Op, class T, bool = std::is_integral_v<T> && (std::is_same_v<Op, Sum> || std::is_same_v<Op, Product>)>
struct Wrapping {
  using Type = T;
};
template <class Op, class T>
struct Wrapping<Op, T, true> {
  using Type = std::make_unsigned_t<T>;
};
template <class Op, class T>
using Computed = typename Wrapping<Op, T>::Type;

template <class Op, class T>
Fold fold([[maybe_unused]] Target target) noexcept {
  if constexpr (has_kernel<Op, T>) {
    if (const Fold kernel = pick<Fold>(target, STEADFOLD_EACH(fold<Op, Computed<Op, T>>))) return kernel;
  }
  return &reference<Op, T>;
}

template <class Op, class T>
FoldRows fold_rows([[maybe_unused]] Target target) noexcept {
  if constexpr (has_kernel<Op, T>) {
    if (const FoldRows kernel = pick<FoldRows>(target, STEADFOLD_EACH(fold_rows<Op, Computed<Op, T>>))) return kernel;
  }
  return &reference_rows<Op, T>;
}

template <class Op, class T>
Pairs pairs([[maybe_unused]] Target target) noexcept {
  if constexpr (has_kernel<Op, T>) {
    if (const Pairs kernel = pick<Pairs>(target, STEADFOLD_EACH(pairs<Op, Computed<Op, T>>))) return kernel;
  }
  return &reference_pairs<Op, T>;
}

template <class T>
Canonicalise canonicalise([[maybe_unused]] Target target) noexcept {
  if (const Canonicalise kernel = pick<Canonicalise>(target, STEADFOLD_EACH(canonicalise<T>))) return kernel;
  return &reference_canonicalise<T>;
}

#define STEADFOLD_FOLD(Op, T)                          \
  template Fold fold<Op, T>(Target) noexcept;          \
  template FoldRows fold_rows<Op, T>(Target) noexcept; \
  template Pairs pairs<Op, T>(Target) noexcept;
#define STEADFOLD_FOLDS(T)   \
  STEADFOLD_FOLD(Sum, T)     \
  STEADFOLD_FOLD(Product, T) \
  STEADFOLD_FOLD(Min, T)     \
  STEADFOLD_FOLD(Max, T)

}  // namespace steadfold::kernels
#endif
