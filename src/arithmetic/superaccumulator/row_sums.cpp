#include "arithmetic/superaccumulator/row_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "arithmetic/superaccumulator/accumulator.hpp"
#include "kernels/pre_rounding.hpp"

namespace steadfold::arithmetic {
namespace {

// Number of columns that are summed at a time; the list of uncertain columns is on the stack.
constexpr Count tile_columns = 512;

/// Sums single columns with integers. The accumulator is constructed when the first column needs it.
template <class Element>
class OneByOne {
 public:
  void sum(std::span<const std::byte* const> rows, Bytes offset, int bin_count, std::byte* value) noexcept {
    if (digits_)
      digits_->clear();
    else
      digits_.emplace(kernels::Target::scalar);
    std::array<Element, kernels::most_cascaded> room;
    const auto terms = kernels::column_of<Element>(rows, offset, bin_count, room);
    digits_->add_rows(reinterpret_cast<const std::byte*>(terms.data()), nullptr, terms.size(), sizeof(Element));
    const auto rounded = digits_->template rounded<Element>();
    std::memcpy(value, &rounded, sizeof rounded);
  }

 private:
  std::optional<Accumulator<Element, 1>> digits_;
};

template <class Element>
void sum_in_tiles(std::span<const std::byte* const> rows, int bin_count, Count columns, std::byte* values) noexcept {
  const kernels::CascadeRows cascade = kernels::cascade_rows<Element>(kernels::chosen());
  std::array<std::uint32_t, tile_columns> uncertain;
  OneByOne<Element> one_by_one;
  for (Count first = 0; first < columns; first += tile_columns) {
    const Bytes offset = first * sizeof(Element);
    const Count found =
        cascade(rows, offset, std::min(tile_columns, columns - first), bin_count, values + offset, uncertain.data());
    for (const std::uint32_t column : std::span(uncertain).first(found)) {
      const Bytes at = offset + column * sizeof(Element);
      one_by_one.sum(rows, at, bin_count, values + at);
    }
  }
}

}  // namespace

void sum_rows(std::span<const std::byte* const> rows, Type type, int bin_count, Count columns,
              std::byte* values) noexcept {
  type == Type::f32 ? sum_in_tiles<float>(rows, bin_count, columns, values)
                    : sum_in_tiles<double>(rows, bin_count, columns, values);
}

}  // namespace steadfold::arithmetic
