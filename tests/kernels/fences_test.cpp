// Every kernel on arrays that end, or begin, at a page that nobody may touch: nothing outside is read or written, on
// any target. Lengths from 0 to 200, which are all alignments too, and around blocks and chunks.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cascade.hpp"
#include "kernels/digits.hpp"
#include "kernels/double_double.hpp"
#include "kernels/extraction.hpp"
#include "kernels/fold.hpp"
#include "kernels/select.hpp"
#include "kernels/slices.hpp"
#include "support/fenced.hpp"
#include "support/targets.hpp"

namespace steadfold::test::fences_test {
namespace {

using order::Count;
using order::Index;

constexpr Count chunk = 4096;  // of folds

class Fences : public EveryTarget {
 protected:
  /// `call(count, side)` for every length of interest, with arrays at either fence.
  template <class Call>
  static void for_each_length(std::vector<Count> longer, const Call& call) {
    for (const Side side : {Side::begin, Side::end}) {
      for (Count count = 0; count <= 200; ++count) call(count, side);
      for (const Count count : longer) call(count, side);
    }
  }

  template <class T>
  const T* ones(Fenced& room, Count count, Side side) const {
    T* const x = room.array<T>(count, side);
    for (Count i = 0; i < count; ++i) x[i] = T{1};
    return x;
  }

  template <class Op, class T>
  void expect_folds() {
    const auto fold = kernels::fold<Op, T>(GetParam());
    for_each_length({chunk - 1, chunk, chunk + 1, 2 * chunk + 3, 3 * chunk + 5}, [&](Count count, Side side) {
      for (const Index begin : {Index{0}, Index{5}, chunk - 100, chunk - 1}) {
        const T* const x = ones<T>(first_, count, side);
        T* const nodes = result_.array<T>(order::most_nodes({begin, begin + count}), side);
        EXPECT_TRUE(stays_inside([&] { fold(x, begin, count, nodes); })) << count << " from " << begin << where(side);
      }
    });
  }

  template <class Op, class T>
  void expect_rows() {
    constexpr Count rows = Count{1} << kernels::rows_level;
    const auto fold = kernels::fold_rows<Op, T>(GetParam());
    for_each_length({}, [&](Count columns, Side side) {
      for (const Count stride : {columns, columns + 1}) {
        const T* const x = ones<T>(first_, columns == 0 ? 0 : (rows - 1) * stride + columns, side);
        T* const sums = result_.array<T>(columns * order::most_nodes({5, 5 + rows}), side);
        for (const Index begin : {Index{0}, Index{5}})
          EXPECT_TRUE(stays_inside([&] { fold(x, stride * sizeof(T), columns, begin, rows, sums); }))
              << columns << where(side);
      }
    });
  }

  template <class Op, class T>
  void expect_pairs() {
    const auto pairs = kernels::pairs<Op, T>(GetParam());
    for_each_length({1023, 1025}, [&](Count count, Side side) {
      const T* const left = ones<T>(first_, count, side);
      const T* const right = ones<T>(second_, count, side);
      T* const sums = result_.array<T>(count, side);
      EXPECT_TRUE(stays_inside([&] { pairs(left, right, sums, count); })) << count << where(side);
    });
  }

  template <class T>
  void expect_operators() {
    expect_operator<kernels::Sum, T>();
    expect_operator<kernels::Product, T>();
    expect_operator<kernels::Min, T>();
    expect_operator<kernels::Max, T>();
  }
  template <class Op, class T>
  void expect_operator() {
    expect_folds<Op, T>();
    expect_rows<Op, T>();
    expect_pairs<Op, T>();
  }

  template <class T>
  void expect_canonical() {
    const auto canonicalise = kernels::canonicalise<T>(GetParam());
    for_each_length({255, 256, 257, 511, 512, 513, 1023, 1024, 1025}, [&](Count count, Side side) {
      ones<T>(result_, count, side);
      T* const x = result_.array<T>(count, side);
      if (count > 0) x[count - 1] = std::numeric_limits<T>::signaling_NaN();
      EXPECT_TRUE(stays_inside([&] { canonicalise(x, count); })) << count << where(side);
    });
  }

  template <class T>
  void expect_extraction(kernels::ExtractedTerms terms) {
    const auto highest = kernels::highest_exponent(GetParam(), terms);
    for (const int levels : {kernels::few_levels(terms), kernels::most_levels}) {
      const auto add = kernels::add_by_extraction(GetParam(), terms, levels);
      if (add == nullptr) continue;
      for_each_length({511, 512, 513, 1023, 1024, 1025, 2047, 2049, 4000}, [&](Count count, Side side) {
        const T* const x = ones<T>(first_, count, side);
        const T* const y = ones<T>(second_, count, side);
        const int written = terms == kernels::ExtractedTerms::products_of_doubles ? kernels::most_levels : levels;
        auto* const sums = result_.array<std::int64_t>(static_cast<Count>(written), side);
        EXPECT_TRUE(stays_inside([&] { add(x, y, count, kernels::level_top_for(0), sums); })) << count << where(side);
        EXPECT_TRUE(stays_inside([&] { highest(x, y, count); })) << count << where(side);
      });
    }
  }

  template <class T>
  void expect_slices(kernels::TermForm form, int bin_count) {
    const auto add = kernels::add_slices<T>(GetParam(), form, bin_count);
    const auto bins = static_cast<Count>(bin_count);
    for_each_length({1023, 1025, 4001}, [&](Count count, Side side) {
      const T* const x = ones<T>(first_, count, side);
      const T* const y = form == kernels::TermForm::product ? ones<T>(second_, count, side) : nullptr;
      auto* const extractors = third_.array<double>(bins, side);
      for (Count bin = 0; bin < bins; ++bin) extractors[bin] = 0x1.8p52;
      auto* const sums = result_.array<std::int64_t>(bins, side);
      EXPECT_TRUE(stays_inside([&] { add(x, y, count, 1.0, extractors, sums); })) << count << where(side);
    });
  }

  template <class T>
  void expect_sums_as_double_doubles() {
    const auto sum = kernels::sum_as_double_double<T>(GetParam());
    if (sum == nullptr) return;
    for_each_length({}, [&](Count count, Side side) {
      const T* const x = ones<T>(first_, count, side);
      auto* const found = result_.array<kernels::DoubleDoubleSum>(1, side);
      if (count == 0) return;
      EXPECT_TRUE(stays_inside([&] { sum(x, count, *found); })) << count << where(side);
    });
  }

  /// Certain of all columns, or of none.
  template <class T>
  void expect_cascades(T special) {
    const auto cascade = kernels::cascade_rows<T>(GetParam());
    for_each_length({}, [&](Count columns, Side side) {
      ones<T>(first_, columns, side);
      T* const x = first_.array<T>(columns, side);
      T* const y = second_.array<T>(columns, side);
      for (Count i = 0; i < columns; ++i) y[i] = special;
      const std::vector<const std::byte*> rows = {reinterpret_cast<const std::byte*>(x),
                                                  reinterpret_cast<const std::byte*>(y),
                                                  reinterpret_cast<const std::byte*>(x)};
      auto* const sums = result_.array<std::byte>(columns * sizeof(T), side);
      auto* const uncertain = third_.array<std::uint32_t>(columns, side);
      for (const int bin_count : {0, 3})
        EXPECT_TRUE(stays_inside([&] { cascade(rows, 0, columns, bin_count, sums, uncertain); }))
            << columns << where(side);
    });
  }

  static const char* where(Side side) { return side == Side::begin ? ", behind a fence" : ", before a fence"; }

  Fenced first_{Count{1} << 17};
  Fenced second_{Count{1} << 17};
  Fenced third_{Count{1} << 12};
  Fenced result_{Count{1} << 17};
};

TEST_P(Fences, StopFoldsOfDoubles) { expect_operators<double>(); }
TEST_P(Fences, StopFoldsOfFloats) { expect_operators<float>(); }
TEST_P(Fences, StopFoldsOfIntegers) {
  expect_operators<std::int32_t>();
  expect_operators<std::uint32_t>();
  expect_operators<std::int64_t>();
  expect_operators<std::uint64_t>();
}

TEST_P(Fences, StopCanonicalNaNs) {
  expect_canonical<double>();
  expect_canonical<float>();
}

TEST_P(Fences, StopExtraction) {
  using kernels::ExtractedTerms;
  for (const ExtractedTerms terms :
       {ExtractedTerms::doubles, ExtractedTerms::absolute_doubles, ExtractedTerms::products_of_doubles})
    expect_extraction<double>(terms);
  for (const ExtractedTerms terms :
       {ExtractedTerms::floats, ExtractedTerms::absolute_floats, ExtractedTerms::products_of_floats})
    expect_extraction<float>(terms);
}

TEST_P(Fences, StopSlices) {
  using kernels::TermForm;
  for (const TermForm form : {TermForm::element, TermForm::product, TermForm::square}) {
    for (const int bin_count : {0, 2, 3, 4}) {
      expect_slices<double>(form, bin_count);
      expect_slices<float>(form, bin_count);
    }
  }
}

TEST_P(Fences, StopSumsAsDoubleDoubles) {
  expect_sums_as_double_doubles<double>();
  expect_sums_as_double_doubles<float>();
}

TEST_P(Fences, StopCascades) {
  for (const float special : {1.0F, std::numeric_limits<float>::infinity()}) {
    expect_cascades<double>(special);
    expect_cascades<float>(special);
  }
}

TEST_P(Fences, StopDigits) {
  const auto cut = kernels::cut_into_digits(GetParam());
  if (cut == nullptr) return;  // adds one by one instead
  for_each_length({255, kernels::most_cut}, [&](Count count, Side side) {
    const double* const x = ones<double>(first_, count, side);
    auto* const digits = result_.array<kernels::Digits>(1, side);
    EXPECT_TRUE(stays_inside([&] { cut(x, count, *digits); })) << count << where(side);
  });
}

TEST_P(Fences, StopSelections) {
  for (const Count size : {4u, 8u}) {
    const auto select = kernels::select(GetParam(), size);
    if (select == nullptr) continue;  // one by one
    for_each_length({1023, 1025}, [&](Count count, Side side) {
      for (const int every : {1, 2, 7}) {
        const std::byte* const elements = first_.array<std::byte>(count * size, side);
        auto* const mask = second_.array<std::byte>(count, side);
        for (Count i = 0; i < count; ++i) mask[i] = static_cast<std::byte>(i % static_cast<Count>(every) == 0);
        auto* const to = result_.array<std::byte>(count * size, side);
        EXPECT_TRUE(stays_inside([&] { select(elements, mask, count, to); })) << count << where(side);
      }
    });
  }
}

STEADFOLD_EVERY_TARGET(Fences);

/// The control: what the fences are for.
TEST(FencesControl, StopReadsAndWritesOnBothSides) {
  Fenced room(100);
  for (const Count count : {Count{0}, Count{1}, Count{7}, Count{512}}) {
    for (const Side side : {Side::begin, Side::end}) {
      volatile double* const x = room.array<double>(count, side);
      EXPECT_TRUE(stays_inside([&] {
        for (Count i = 0; i < count; ++i) x[i] = x[i] + 1;
      }));
      const std::ptrdiff_t outside = side == Side::begin ? -1 : static_cast<std::ptrdiff_t>(count);
      EXPECT_FALSE(stays_inside([&] { static_cast<void>(x[outside]); }));
      EXPECT_FALSE(stays_inside([&] { x[outside] = 1; }));
    }
  }
}

}  // namespace
}  // namespace steadfold::test::fences_test
