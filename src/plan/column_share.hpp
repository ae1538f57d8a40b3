// Reductions of rows that are in this process's memory, without partials: of all columns, or of one rank's share of the
// columns.
// Rank order: the order of the rows. Cost: one pass over the rows. Only construction allocates.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/agreement.hpp"
#include "transport/shared/flags.hpp"

namespace steadfold::plan {

using arithmetic::PartialKind;
using call::Description;
using order::Rank;

/// Reduces rows that are all in this process's memory.
class LocalRows {
 public:
  LocalRows(const Description& description, const arithmetic::Operator& op, Count columns, Count rows)
      : kind_(make_kind(description, op, columns)),
        row_bytes_(columns * description.element_bytes),
        rows_(rows),
        at_hand_(kind_->rows_at_hand()) {
    const std::optional<Count> spare_rows = at_hand_ == nullptr ? std::nullopt : at_hand_->spare_rows(rows);
    spare_.resize(kind_->value_bytes() * std::max<Count>(spare_rows.value_or(1), 1));
    if (spare_rows) return;
    at_hand_ = nullptr;
    builder_ = kind_->builder();
    if (!builder_->finishes_alone())
      partial_.resize(kind_->working_capacity(order::IntervalSet(order::Interval{0, rows})));
  }

  Bytes value_bytes() const noexcept { return kind_->value_bytes(); }

  Status reduce(std::span<const std::byte* const> rows, std::byte* values) {
    if (at_hand_ != nullptr) return at_hand_->reduce_rows(rows, values, spare_.data());
    builder_->clear();
    for (Count i = 0; i < rows_;) {
      const Count touching = touching_from(rows, i);
      builder_->push(i, {.first = rows[i], .second = nullptr, .rows = touching, .row_stride = row_bytes_});
      i += touching;
    }
    if (builder_->finishes_alone()) return builder_->finish_alone(rows_, values, spare_.data());
    const Bytes size = builder_->write(partial_);
    return kind_->finish(std::span<const std::byte>(partial_).first(size), rows_, values, spare_.data());
  }

 private:
  Count touching_from(std::span<const std::byte* const> rows, Count first) const noexcept {
    Count count = 1;
    while (first + count < rows_ && rows[first + count] == rows[first] + count * row_bytes_) count += 1;
    return count;
  }

  std::unique_ptr<PartialKind> kind_;
  Bytes row_bytes_;
  Count rows_;
  const arithmetic::RowsAtHand* at_hand_;  // the kind's ability to reduce these rows; null: a builder reduces them
  std::unique_ptr<arithmetic::Builder> builder_;
  std::vector<std::byte> spare_;
  std::vector<std::byte> partial_;
};

/// Reduces one rank's share of the columns of all ranks' rows tile by tile, and writes it to all results. Only the rank
/// that reduces a column reads this column, so a result may be the row itself.
class ColumnShare {
 public:
  ColumnShare(const Description& d, const arithmetic::Operator& op, Rank rank, Rank rank_count)
      : element_bytes_(d.element_bytes) {
    const auto ranks = static_cast<Count>(rank_count);
    const Count line = std::max<Count>(transport::cache_line / std::max<Bytes>(element_bytes_, 1), 1);
    const Count share = ((d.columns + ranks - 1) / ranks + line - 1) / line * line;
    tile_columns_ = std::clamp<Count>(tile_bytes / std::max<Bytes>(element_bytes_, 1), 1, share);
    tiles_ = (d.columns + tile_columns_ - 1) / tile_columns_;
    next_ = tiles_ * static_cast<Count>(rank) / ranks;
    end_ = tiles_ * static_cast<Count>(rank + 1) / ranks;
    full_.emplace(d, op, std::min(tile_columns_, d.columns), ranks);
    const Count rest = d.columns - (tiles_ - 1) * tile_columns_;
    if (rest != tile_columns_) last_.emplace(d, op, rest, ranks);
    value_bytes_ = full_->value_bytes() / std::min(tile_columns_, d.columns);
    reduced_.resize(full_->value_bytes());
    row_addresses_.resize(ranks);
  }

  /// The addresses where a rank's row and its result begin.
  struct RowAndResult {
    const std::byte* row = nullptr;
    std::byte* result = nullptr;
  };
  Status reduce(std::span<const RowAndResult> ranks) {
    Status status = Status::ok;
    for (Count tile = next_; tile < end_; ++tile) status = worse(status, reduce(ranks, tile));
    return status;
  }

 private:
  // Bytes of each row that are reduced together, so that the rows of several ranks stay in the first-level cache.
  static constexpr Bytes tile_bytes = 16384;

  Status reduce(std::span<const RowAndResult> ranks, Count tile) {
    const Count first = tile * tile_columns_;
    LocalRows& rows = tile + 1 == tiles_ && last_ ? *last_ : *full_;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      row_addresses_[rank] = ranks[rank].row + first * element_bytes_;
    const Status status = rows.reduce(row_addresses_, reduced_.data());
    for (const RowAndResult& each : ranks)
      std::memcpy(each.result + first * value_bytes_, reduced_.data(), rows.value_bytes());
    return status;
  }

  Bytes element_bytes_;
  Bytes value_bytes_ = 0;
  Count tile_columns_ = 1;
  Count tiles_ = 0;
  Count next_ = 0;  // number of the tile of this rank that is reduced next
  Count end_ = 0;
  std::optional<LocalRows> full_;
  std::optional<LocalRows> last_;  // reduces the last tile, if it is narrower than the others
  std::vector<std::byte> reduced_;
  std::vector<const std::byte*> row_addresses_;
};

}  // namespace steadfold::plan
