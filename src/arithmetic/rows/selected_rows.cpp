#include "arithmetic/rows/selected_rows.hpp"

#include <cstring>

namespace steadfold::arithmetic {
namespace {

/// Copies the selected rows to `to`, contiguously. `to` must have room for all rows. Returns the number of selected
/// rows. No branch depends on the mask.
template <Bytes bytes>
Count select(const std::byte* row, Bytes stride, const std::byte* mask, Count count, std::byte* to) noexcept {
  Count selected = 0;
  for (Count i = 0; i < count; ++i, row += stride) {
    std::memcpy(to + selected * bytes, row, bytes);
    selected += mask[i] != std::byte{0} ? 1 : 0;
  }
  return selected;
}

Count select(const std::byte* row, Bytes bytes, Bytes stride, const std::byte* mask, Count count,
             std::byte* to) noexcept {
  switch (bytes) {
    case 2: return select<2>(row, stride, mask, count, to);
    case 4: return select<4>(row, stride, mask, count, to);
    case 8: return select<8>(row, stride, mask, count, to);
    case 16: return select<16>(row, stride, mask, count, to);
    default: break;
  }
  Count selected = 0;
  for (Count i = 0; i < count; ++i, row += stride) {
    if (mask[i] != std::byte{0}) std::memcpy(to + bytes * selected++, row, bytes);
  }
  return selected;
}

}  // namespace

Count SelectedRows::select_into(std::vector<std::byte>& all, Count gathered, const std::byte* first,
                                const MaskedRows& rows) {
  all.resize(2 * tile_ * row_bytes_);
  std::byte* const to = all.data() + gathered * row_bytes_;
  return kernel_ != nullptr && rows.stride == row_bytes_
             ? kernel_(first, rows.mask, rows.count, to)
             : select(first, row_bytes_, rows.stride, rows.mask, rows.count, to);
}

}  // namespace steadfold::arithmetic
