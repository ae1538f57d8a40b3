#include "arithmetic/rows/intake.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "arithmetic/rows/room.hpp"
#include "kernels/turn.hpp"

namespace steadfold::arithmetic {
namespace {

/// One direction of a plane of elements: their number, and their strides in the source and in the copy.
struct Direction {
  Count count;
  Stride from;
  Stride to;
};

/// Copies a plane of elements of `bytes` bytes, or of `size` bytes if `bytes` is 0. Takes `width` elements of the inner
/// direction at a time, then the rest: elements that share a cache line, so that the line is read, or written, once.
/// Directions are passed by value, because the compiler must assume that stores of bytes change referenced objects.
template <Bytes bytes, Count width = 8>
void copy(const std::byte* from, std::byte* to, Direction outer, Direction inner, Bytes size) noexcept {
  Count done = 0;
  for (; done + width <= inner.count; done += width) {
    for (Count i = 0; i < outer.count; ++i) {
      const std::byte* const source =
          from + (static_cast<Stride>(i) * outer.from + static_cast<Stride>(done) * inner.from);
      std::byte* const target = to + (static_cast<Stride>(i) * outer.to + static_cast<Stride>(done) * inner.to);
      for (Count j = 0; j < width; ++j)
        std::memcpy(target + static_cast<Stride>(j) * inner.to, source + static_cast<Stride>(j) * inner.from,
                    bytes == 0 ? size : bytes);
    }
  }
  if constexpr (width > 1) {
    const auto moved = static_cast<Stride>(done);
    copy<bytes, 1>(from + moved * inner.from, to + moved * inner.to, outer, {inner.count - done, inner.from, inner.to},
                   size);
  }
}

void copy(const std::byte* from, std::byte* to, const Direction& outer, const Direction& inner, Bytes size) noexcept {
  const bool turns = inner.from == static_cast<Stride>(size) && outer.to == static_cast<Stride>(size);
  if (turns && (size == 4 || size == 8)) {
    const auto turn = size == 4 ? kernels::turn_over<4> : kernels::turn_over<8>;
    return turn(kernels::chosen())({from, outer.from, to, inner.to, outer.count, inner.count});
  }
  switch (size) {
    case 1: return copy<1>(from, to, outer, inner, size);
    case 2: return copy<2>(from, to, outer, inner, size);
    case 4: return copy<4>(from, to, outer, inner, size);
    case 8: return copy<8>(from, to, outer, inner, size);
    case 16: return copy<16>(from, to, outer, inner, size);
    default: return copy<0>(from, to, outer, inner, size);
  }
}

/// Divides consecutive indices of axes (C order) into runs along the last axis. Calls `visit(offset, count)` for each
/// run, with its offset from the origin of the axes.
template <class Visit>
void visit_runs(std::span<const Axis> axes, Operand operand, Count index, Count count, const Visit& visit) {
  const std::size_t last = axes.size() - 1;
  std::array<Count, most_axes> at{};
  Stride offset = 0;
  for (std::size_t i = last; i > 0; --i) {
    at[i] = index % axes[i].extent;
    index /= axes[i].extent;
    offset += static_cast<Stride>(at[i]) * axes[i].of(operand);
  }
  at[0] = index;
  offset += static_cast<Stride>(index) * axes[0].of(operand);
  for (;;) {
    const Count run = last == 0 ? count : std::min(count, axes[last].extent - at[last]);
    visit(offset, run);
    count -= run;
    if (count == 0) return;
    at[last] += run;
    offset += static_cast<Stride>(run) * axes[last].of(operand);
    // At the end of an axis, the index of the axis before grows by 1.
    for (std::size_t i = last; i > 0 && at[i] == axes[i].extent; --i) {
      offset += axes[i - 1].of(operand) - static_cast<Stride>(axes[i].extent) * axes[i].of(operand);
      at[i] = 0;
      at[i - 1] += 1;
    }
  }
}

/// The elements of `size` bytes of some rows and columns.
struct Selection {
  order::Interval rows;
  order::Interval columns;
  Bytes size;
};

/// A copy: its address, and the strides of its rows and of the elements of a row, in bytes.
struct CopyTarget {
  std::byte* to;
  Bytes row;
  Bytes element;
};

/// Copies a part of the operand that begins at `begin`.
void gather(const Strides& strides, Operand operand, const std::byte* begin, const Selection& selected,
            const CopyTarget& made) {
  const auto& [rows, columns, size] = selected;
  std::byte* to = made.to;
  const Stride row_step = strides.rows().back().of(operand);
  const Stride column_step = strides.columns().back().of(operand);
  visit_runs(strides.rows(), operand, rows.begin, rows.size(), [&](Stride row, Count row_count) {
    const Direction down{row_count, row_step, static_cast<Stride>(made.row)};
    std::byte* part = to;
    visit_runs(strides.columns(), operand, columns.begin, columns.size(), [&](Stride column, Count count) {
      const Direction along{count, column_step, static_cast<Stride>(made.element)};
      const std::byte* const from = moved(begin, row + column);
      if (along.from == along.to && made.element == size)
        copy(from, part, {1, 0, 0}, down, count * size);
      else if (std::abs(down.from) < std::abs(along.from))  // neighbours in memory are copied together
        copy(from, part, along, down, size);
      else
        copy(from, part, down, along, size);
      part += count * made.element;
    });
    to += row_count * made.row;
  });
}

/// Returns the number of rows from `row` on that are in one run along the last axis.
Count rows_in_run(const Strides& strides, Count row, Count rows) noexcept {
  if (strides.rows().size() == 1) return rows;
  const Count extent = strides.rows().back().extent;
  return std::min(rows, extent - row % extent);
}

/// Whether the rows of a run, and the elements of each row, are contiguous in memory.
bool are_side_by_side(const Strides& strides, Operand operand, Bytes size, Count columns) noexcept {
  return strides.columns().size() == 1 && strides.rows().back().of(operand) == static_cast<Stride>(size * columns) &&
         (columns == 1 || strides.columns()[0].of(operand) == static_cast<Stride>(size));
}

/// Whether all columns have the same values of the operand.
bool is_common(const Strides& strides, Operand operand) noexcept {
  return std::ranges::all_of(strides.columns(), [&](const Axis& axis) { return axis.of(operand) == 0; });
}

/// Returns the number of rows to take at once: a run if runs are long, otherwise a tile (rows that fit a cache).
Count next_rows(const Strides& strides, Count row, Count rows, Count most, Count long_run) noexcept {
  rows = std::min(rows, most);
  const bool has_long_runs = strides.rows().size() > 1 && strides.rows().back().extent >= long_run;
  return has_long_runs ? rows_in_run(strides, row, rows) : rows;
}

/// Converts every element of a mask to one byte, which is not zero if a byte of the element is not zero.
void narrow(std::byte* mask, Count count, Bytes size) noexcept {
  for (Count i = 0; i < count; ++i) {
    std::byte any{};
    for (Bytes j = 0; j < size; ++j) any |= mask[i * size + j];
    mask[i] = any;
  }
}

/// Makes a byte for each row from a bitmap. The byte is not zero if the bit is 1, or if there is no bitmap.
void spread(const Operands& data, const Strides& strides, std::byte* mask, Count rows) noexcept {
  if (data.mask == nullptr) {
    std::memset(mask, 1, rows);
    return;
  }
  const Count first = strides.bit_of(data.row);
  const auto* bits = reinterpret_cast<const unsigned char*>(data.mask) + first / 8;
  const unsigned shift = first % 8;
  Count row = 0;
  for (; row + 8 <= rows; row += 8, ++bits) {  // the last of 8 bits is in the next byte if there is a shift
    const std::uint64_t byte = (bits[0] >> shift | (shift == 0 ? 0U : unsigned{bits[1]} << (8 - shift))) & 0xFFU;
    const std::uint64_t apart = byte * 0x0101010101010101U & 0x8040201008040201U;
    if constexpr (std::endian::native == std::endian::little)  // one store, which GCC does not make of the loop
      std::memcpy(mask + row, &apart, sizeof apart);
    else
      for (unsigned i = 0; i < 8; ++i) mask[row + i] = static_cast<std::byte>(apart >> 8 * i);
  }
  for (Count i = 0; row + i < rows; ++i)
    mask[row + i] = static_cast<std::byte>(bits[(shift + i) / 8] >> (shift + i) % 8 & 1);
}

/// Returns the builder's ability to take the columns of this shape separately, or null.
ColumnBuilders* columns_of(Builder& builder, const RowShape& shape) noexcept {
  ColumnBuilders* const columns = builder.columns();
  return columns != nullptr && columns->count() == shape.columns ? columns : nullptr;
}

}  // namespace

Intake::Intake(std::unique_ptr<Builder> builder, const RowShape& shape) noexcept
    : builder_(std::move(builder)),
      columns_(columns_of(*builder_, shape)),
      shape_(shape),
      tile_(std::bit_floor(std::max<Count>(tile_bytes / std::max<Bytes>(shape.row_bytes(), 1), 1))) {}

/// Pushes the rows of each chunk. Rows in chunks are not direct, so `push` comes here after its usual cases.
void Intake::push_chunks(Index begin, const Operands& data, Count rows, const Strides& strides) {
  strides.for_each_chunk(data, rows, [&](const Operands& part, Count done, Count count, const Strides& of_chunk) {
    push(begin + done, part, count, of_chunk);
  });
}

void Intake::survey_chunks(Index begin, const Operands& data, Count rows, const Strides& strides) {
  strides.for_each_chunk(data, rows, [&](const Operands& part, Count done, Count count, const Strides& of_chunk) {
    survey(begin + done, part, count, of_chunk);
  });
}

void Intake::push_copied(Index begin, const Operands& data, Count rows, const Strides& strides) {
  if (strides.are_chunked()) return push_chunks(begin, data, rows, strides);
  const Count most = strides.has_bitmap() ? std::max(tile_, rows_of_bitmap) : tile_;
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = next_rows(strides, data.row + done, rows - done, most, long_run);
    builder_->push(begin + done, copied(data.at(done, 0), some, shape_.columns, strides));
  }
}

void Intake::survey_copied(Index begin, const Operands& data, Count rows, const Strides& strides) {
  if (strides.are_chunked()) return survey_chunks(begin, data, rows, strides);
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = next_rows(strides, data.row + done, rows - done, tile_, long_run);
    builder_->surveyor()->survey(begin + done, copied(data.at(done, 0), some, shape_.columns, strides));
  }
}

/// Calls `take(column, rows before, block)` for some rows at a time, and for every column of these rows.
template <class Take>
void Intake::for_each_column(const Operands& data, Count rows, const Strides& strides, const Take& take) {
  if (shape_.columns > 1 && !strides.have_columns_apart()) return for_each_column_turned(data, rows, strides, take);
  const Bytes bytes = strides.are_listed() ? listed_tile_bytes : tile_bytes;
  const Count most = std::max<Count>(bytes / std::max<Bytes>(shape_.element_bytes, 1), 1);
  const bool has_common = is_common(strides, Operand::second) && is_common(strides, Operand::mask);
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = next_rows(strides, data.row + done, rows - done, most, long_run);
    Block common;
    for (Count column = 0; column < shape_.columns; ++column) {
      Block block;
      if (column == 0 || !has_common) {
        block = common = copied(data.at(done, column), some, 1, strides);
      } else {
        block = common;
        block.first =
            side_by_side({Operand::first, data.at(done, column), some, 1, shape_.element_bytes}, strides, column_tile_);
      }
      block.has_common = has_common;
      take(column, done, block);
    }
  }
}

/// Calls `take` in the same way if the elements of a row are close to each other. Copies all columns of some rows at
/// once, so that each column is contiguous.
template <class Take>
void Intake::for_each_column_turned(const Operands& data, Count rows, const Strides& strides, const Take& take) {
  const bool is_whole = data.first != nullptr && (!shape_.has_factors || data.second != nullptr);
  if (!is_whole) return take(0, 0, Block{.rows = rows});  // the builder refuses a block without labels
  const Bytes size = shape_.element_bytes;
  const Count columns = shape_.columns;
  const Count most = std::min(rows, std::clamp<Count>(large_tile_bytes / (columns * size), 1, 1024));
  const Bytes apart = most * size + 64;  // without this distance all columns would be in the same few lines of a cache
  Tile& tile = tiles_[0];
  const bool has_common = is_common(strides, Operand::second) && is_common(strides, Operand::mask);
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = std::min(rows - done, most);
    const Operands here = data.at(done, 0);
    const order::Interval taken{here.row, here.row + some};
    const order::Interval all{here.column, here.column + columns};
    make_room(tile.first, columns * apart);
    gather(strides, Operand::first, data.first, {taken, all, size}, {tile.first.data(), size, apart});
    Block block{.rows = some, .row_stride = size, .has_common = has_common};
    const bool turns_factors = shape_.has_factors && !is_common(strides, Operand::second);
    if (turns_factors) {
      make_room(tile.second, columns * apart);
      gather(strides, Operand::second, data.second, {taken, all, size}, {tile.second.data(), size, apart});
    } else if (shape_.has_factors) {
      block.second = side_by_side({Operand::second, here, some, 1, size}, strides, tile.second);
    }
    if (shape_.has_mask && is_common(strides, Operand::mask)) add_mask(here, strides, tile, block);
    for (Count column = 0; column < columns; ++column) {
      block.first = tile.first.data() + column * apart;
      if (turns_factors) block.second = tile.second.data() + column * apart;
      if (shape_.has_mask && !is_common(strides, Operand::mask)) add_mask(data.at(done, column), strides, tile, block);
      take(column, done, block);
    }
  }
}

/// The labels of rows, contiguous, and the mask with one byte per row, or null.
struct Intake::LabelsAtHand {
  const std::byte* labels;
  const std::byte* mask;
  bool are_there;
};
Intake::LabelsAtHand Intake::labels_at(const Operands& here, Count rows, const Strides& strides) {
  const Bytes bytes = strides.labels().bytes;
  const std::byte* const labels = side_by_side({Operand::label, here, rows, 1, bytes}, strides, labels_);
  Block masked{.rows = rows};
  if (shape_.has_mask) add_mask(here, strides, tiles_[0], masked);
  return {labels, masked.mask, labels != nullptr && (!shape_.has_mask || masked.mask != nullptr)};
}

/// Sorts rows by their groups in the column that `here` names. Keeps only rows of `groups`. Returns false if a label
/// has no group.
bool Intake::sort_by_group(const Operands& here, Count rows, const Strides& strides, const order::Interval& groups) {
  const LabelsAtHand found = labels_at(here, rows, strides);
  return found.are_there && dealt_.sort(found.labels, found.mask, rows, strides.labels(), groups);
}

/// Passes every element with its column to the builder. Returns invalid_argument if a label has no group.
Status Intake::scatter(Index begin, const Operands& data, Count rows, const Strides& strides) {
  constexpr Count most = 2048;  // number of rows whose labels and columns stay in the first-level cache
  const Labels& how = strides.labels();
  const order::Interval wanted{data.column, data.column + shape_.columns};
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = std::min(rows - done, most);
    for (Count k = 0; k < std::min(how.columns, shape_.columns); ++k) {
      const Operands here = data.at(done, k);
      const LabelsAtHand found = labels_at(here, some, strides);
      const Count in_group = here.column % how.columns;
      if (!found.are_there || !dealt_.find_columns(found.labels, found.mask, some, how, in_group, wanted))
        return Status::invalid_argument;
      const auto contiguous = [&](Operand operand, std::vector<std::byte>& copy) {
        return side_by_side({operand, here, some, 1, shape_.element_bytes}, strides, copy);
      };
      const std::byte* const elements = contiguous(Operand::first, tiles_[0].first);
      const std::byte* const factors = shape_.has_factors ? contiguous(Operand::second, tiles_[0].second) : nullptr;
      if (elements == nullptr || (shape_.has_factors && factors == nullptr)) return Status::invalid_argument;
      columns_->scatter(dealt_.columns(), begin + done, elements, factors);
    }
  }
  return Status::ok;
}

/// Returns the elements and factors of the sorted rows: in the order of `runs`, or, if the result has indices of rows,
/// in the original order.
Block Intake::grouped(const Operands& here, Count rows, const Strides& strides) {
  const Bytes size = shape_.element_bytes;
  const auto taken = [&](Operand operand, std::vector<std::byte>& copy, std::vector<std::byte>& sorted) {
    const std::byte* const there = side_by_side({operand, here, rows, 1, size}, strides, copy);
    if (there == nullptr || shape_.has_named_rows) return there;
    dealt_.gather(there, size, sorted);
    return static_cast<const std::byte*>(sorted.data());
  };
  Block block{.rows = rows, .row_stride = size};
  block.first = taken(Operand::first, tiles_[0].first, tiles_[1].first);
  if (shape_.has_factors) block.second = taken(Operand::second, tiles_[0].second, tiles_[1].second);
  return block;
}

/// Calls `take(column, rows before, block)` for some rows at a time, and for every group that has some of these rows.
/// If the result has indices of rows, rows are taken one by one. Returns invalid_argument if a label has no group.
template <class Take>
Status Intake::for_each_group(const Operands& data, Count rows, const Strides& strides, const Take& take) {
  // The number of rows to take at once: enough for several rows per group. If short runs do not cost much, not more
  // than the second-level cache holds.
  const Count apart = strides.labels().columns;
  const order::Interval groups{data.column / apart, (data.column + shape_.columns - 1) / apart + 1};
  const bool needs_long_runs = columns_->prefer_long_runs();
  const Count per_group = needs_long_runs ? 64 : 8;
  const Count most_at_once = Count{1} << (needs_long_runs ? 22 : 17);
  const Count enough = std::clamp<Count>(per_group * std::min<Count>(groups.size(), 1U << 20), 8192, most_at_once);
  const Count most = std::min(rows, enough);
  const bool has_common = is_common(strides, Operand::label) && is_common(strides, Operand::mask);
  for (Count done = 0, some = 0; done < rows; done += some) {
    some = std::min(rows - done, most);
    for (Count k = 0; k < std::min(apart, shape_.columns); ++k) {
      const Operands here = data.at(done, k);
      if ((k == 0 || !has_common) && !sort_by_group(here, some, strides, groups)) return Status::invalid_argument;
      const Block all = grouped(here, some, strides);
      const auto part = [&](Count from, Count count) {
        const auto at = [&](const std::byte* begin) {
          return begin == nullptr ? nullptr : begin + from * all.row_stride;
        };
        return Block{.first = at(all.first), .second = at(all.second), .rows = count, .row_stride = all.row_stride};
      };
      for (const DealtRows::GroupRun& run : dealt_.runs()) {
        // Groups below the column's group wrap around to large numbers.
        const Count column = run.group * apart + here.column % apart - data.column;
        if (column >= shape_.columns) continue;
        if (!shape_.has_named_rows)
          take(column, done, part(run.begin, run.end - run.begin));
        else
          for (Count i = run.begin; i < run.end; ++i)
            take(column, done + dealt_.order()[i], part(dealt_.order()[i], 1));
      }
    }
  }
  return Status::ok;
}

/// Pushes the rows column by column. The next column overwrites the tile, so a push of no rows first makes the builder
/// finish its use of the tile.
void Intake::push_by_column(Index begin, const Operands& data, Count rows, const Strides& strides) {
  if (strides.are_chunked()) return push_chunks(begin, data, rows, strides);
  const auto push = [&](Count column, Count done, const Block& block) {
    Builder& builder = columns_->column(column);
    builder.push(begin + done, block);
    builder.push(begin + done + block.rows, {.first = block.first, .second = block.second, .mask = block.mask});
  };
  if (strides.labels().groups > 0)
    columns_->deal(
        rows, columns_->scatters() ? scatter(begin, data, rows, strides) : for_each_group(data, rows, strides, push));
  else
    for_each_column(data, rows, strides, push);
}

void Intake::survey_by_column(Index begin, const Operands& data, Count rows, const Strides& strides) {
  if (strides.are_chunked()) return survey_chunks(begin, data, rows, strides);
  const auto survey = [&](Count column, Count done, const Block& block) {
    columns_->column(column).surveyor()->survey(begin + done, block);
  };
  if (strides.labels().groups > 0)
    for_each_group(data, rows, strides, survey);
  else
    for_each_column(data, rows, strides, survey);
}

/// Returns the rows of an operand, contiguous: in place if they are contiguous, otherwise copied to `to`. `to` is
/// allocated only for the given rows, because whole tiles for the single row of each of many ranks took gigabytes.
const std::byte* Intake::side_by_side(const Wanted& wanted, const Strides& strides, std::vector<std::byte>& to) const {
  const auto& [operand, data, rows, columns, size] = wanted;
  const std::byte* const address = strides.address(data, operand);
  const bool is_there = rows_in_run(strides, data.row, rows) == rows && is_aligned(address, size) &&
                        are_side_by_side(strides, operand, size, columns);
  if (address == nullptr || is_there) return address;
  make_room(to, rows * columns * size);
  const bool is_list = strides.are_listed() && operand == Operand::first;
  const Count together = is_list ? 1 : columns;  // number of columns that have a common address
  for (Count column = 0; column < columns; column += together)
    gather(strides, operand, strides.begin(data.at(0, column), operand),
           {{data.row, data.row + rows}, {data.column + column, data.column + column + together}, size},
           {to.data() + column * size, columns * size, size});
  return to.data();
}

Block Intake::copied(const Operands& data, Count rows, Count columns, const Strides& strides) {
  Tile& tile = tiles_[turn_];
  turn_ = 1 - turn_;
  const Bytes element = shape_.element_bytes;
  Block block{.rows = rows, .row_stride = columns * element};
  block.first = side_by_side({Operand::first, data, rows, columns, element}, strides, tile.first);
  if (shape_.has_factors)
    block.second = side_by_side({Operand::second, data, rows, columns, element}, strides, tile.second);
  if (shape_.has_mask) add_mask(data, strides, tile, block);
  return block;
}

/// Sets the block's mask, with one byte per row.
void Intake::add_mask(const Operands& data, const Strides& strides, Tile& tile, Block& block) const {
  const Bytes mask_bytes = strides.mask_bytes();
  if (strides.has_bitmap()) {
    make_room(tile.mask, block.rows);
    spread(data, strides, tile.mask.data(), block.rows);
    block.mask = tile.mask.data();
    return;
  }
  block.mask = side_by_side({Operand::mask, data, block.rows, 1, mask_bytes}, strides, tile.mask);
  if (mask_bytes == 1 || block.mask == nullptr) return;
  if (block.mask != tile.mask.data()) {
    make_room(tile.mask, block.rows * mask_bytes);
    std::memcpy(tile.mask.data(), block.mask, block.rows * mask_bytes);
  }
  narrow(tile.mask.data(), block.rows, mask_bytes);
  block.mask = tile.mask.data();
}

}  // namespace steadfold::arithmetic
