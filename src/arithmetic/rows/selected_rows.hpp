// Copies the rows that a mask selects to contiguous tiles.
// Rank order: kept. Cost: one pass through the first-level cache, without a branch that depends on the mask.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "arithmetic/partial.hpp"
#include "kernels/select.hpp"

namespace steadfold::arithmetic {

/// Copies selected rows. The object keeps its memory. A tile stays unchanged until the tile after the next is filled.
class SelectedRows {
 public:
  explicit SelectedRows(Bytes row_bytes)
      : row_bytes_(row_bytes),
        tile_(std::max<Count>(tile_bytes / std::max<Bytes>(row_bytes, 1), 1)),
        kernel_(kernels::select(kernels::chosen(), row_bytes)) {}

  /// Returns the largest number of rows in a tile.
  Count tile() const noexcept { return tile_; }

  /// Calls `take(block)` with the selected rows of a block, and their factors. Each call gets a full tile, except the
  /// last.
  template <class Take>
  void for_each_tile(const Block& block, const Take& take) {
    Count gathered = 0;
    for (Count done = 0, some = 0; done < block.rows; done += some) {
      some = std::min(tile_, block.rows - done);
      SelectedTile& tile = tiles_[turn_];
      const std::byte* const mask = block.mask + done;
      const Bytes offset = done * block.row_stride;
      const MaskedRows rows{.stride = block.row_stride, .mask = mask, .count = some};
      const Count selected = select_into(tile.first, gathered, block.first + offset, rows);
      if (block.second != nullptr) select_into(tile.second, gathered, block.second + offset, rows);
      gathered += selected;
      if (gathered < tile_ && done + some < block.rows) continue;
      take(as_block(tile, gathered, block.second != nullptr));
      gathered = 0;
      turn_ = 1 - turn_;
    }
  }

  /// Returns the selected rows of a block of at most one tile. If `has_factors` is set, the tile still has the factors
  /// of the previous call.
  Block of_tile(const Block& block, bool has_factors) {
    SelectedTile& tile = tiles_[0];
    const MaskedRows rows{.stride = block.row_stride, .mask = block.mask, .count = block.rows};
    const Count selected = select_into(tile.first, 0, block.first, rows);
    if (!has_factors && block.second != nullptr) select_into(tile.second, 0, block.second, rows);
    return as_block(tile, selected, block.second != nullptr);
  }

 private:
  static constexpr Bytes tile_bytes = 8192;

  struct SelectedTile {
    std::vector<std::byte> first;
    std::vector<std::byte> second;
  };
  struct MaskedRows {
    Bytes stride;
    const std::byte* mask;
    Count count;
  };

  Block as_block(const SelectedTile& tile, Count rows, bool has_factors) const noexcept {
    return {.first = tile.first.data(),
            .second = has_factors ? tile.second.data() : nullptr,
            .rows = rows,
            .row_stride = row_bytes_};
  }
  /// Appends the selected rows to the rows in `all`, of which there are `gathered`. Returns the number of selected
  /// rows.
  Count select_into(std::vector<std::byte>& all, Count gathered, const std::byte* first, const MaskedRows& rows);

  Bytes row_bytes_;
  Count tile_;
  kernels::Select kernel_;               // kernel for contiguous rows; null: rows are copied one by one
  std::array<SelectedTile, 2> tiles_{};  // two tiles, each with memory for the rows of two tiles
  std::size_t turn_ = 0;
};

}  // namespace steadfold::arithmetic
