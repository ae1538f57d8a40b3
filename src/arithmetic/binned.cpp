#include "arithmetic/binned.hpp"

#include <algorithm>
#include <cstring>

#include "arithmetic/binned_builder.hpp"
#include "arithmetic/binned_record.hpp"

namespace steadfold::arithmetic {
namespace {

using binned_record::check_rows;
using binned_record::Column;
using binned_record::put;
using binned_record::rows_of;
using binned_record::Shape;
using binned_record::take;
using binned_record::write_value;

class BinnedKind final : public PiecewiseKind {
 public:
  explicit BinnedKind(const Shape& shape) noexcept : shape_(shape) {}

  Bytes capacity(const order::IntervalSet& /*rows*/) const override { return shape_.record_bytes(); }
  Bytes value_bytes() const noexcept override { return shape_.columns * size_of(shape_.result); }

  std::unique_ptr<Builder> builder() const override { return make_binned_builder(shape_); }

  Bytes survey_bytes() const noexcept override { return shape_.sweep == Sweep::double_sweep ? shape_.columns : 0; }

 private:
  Count piece_columns() const noexcept override { return 256; }
  Partial merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const override;
  Status finish_piece(const Partial& partial, Count element_count, std::byte* values, std::byte* spare,
                      Pieces& pieces) const override;

  Shape shape_;
};

Partial BinnedKind::merge_piece(const Partial& left, const Partial& right, const Room& room, Pieces& pieces) const {
  const std::span<std::byte> out = room.head;
  const MergedHeader merged = merge_headers(left.head, right.head);
  if (out.size() < sizeof(Header)) return {};
  if (!merged.ok) return failed(room, merged.header, merged.header.status);
  const Bytes size = shape_.record_bytes();
  if (left.head.size() != size || right.head.size() != size || out.size() < size)
    return failed(room, merged.header, Status::transport_failed);
  const Count rows = rows_of(left.head) + rows_of(right.head);
  Column a;
  Column b;
  const order::Interval columns = pieces.take(shape_.columns);
  for (Count column = columns.begin; column < columns.end; ++column) {
    if (!take(shape_, left.head, column, a) || !take(shape_, right.head, column, b)) {
      pieces.stop();
      return failed(room, merged.header, Status::transport_failed);
    }
    a.bins.add(b.bins, shape_.bin_count);
    a.flags |= b.flags;
    put(shape_, a, column, out);
  }
  set_header(out, merged.header);
  std::memcpy(out.data() + sizeof(Header), &rows, sizeof rows);
  return out.first(size);
}

Status BinnedKind::finish_piece(const Partial& whole, Count element_count, std::byte* values, std::byte* /*spare*/,
                                Pieces& pieces) const {
  const std::span<const std::byte> partial = whole.head;
  const Status status = header_of(partial).status;
  if (status != Status::ok) return status;
  if (partial.size() != shape_.record_bytes()) return Status::transport_failed;
  const Count rows = rows_of(partial);
  const Status of_rows = check_rows(shape_, rows, element_count);
  if (of_rows != Status::ok) return of_rows;
  const order::Interval columns = pieces.take(shape_.columns);
  Column column;
  for (Count i = columns.begin; i < columns.end; ++i) {
    if (!take(shape_, partial, i, column)) {
      pieces.stop();
      return Status::transport_failed;
    }
    write_value(shape_, column, rows, values + i * size_of(shape_.result));
  }
  return Status::ok;
}

}  // namespace

std::unique_ptr<PartialKind> make_binned(Operation operation, Type input, Type result, int bin_count, Sweep sweep,
                                         Count columns) {
  return std::make_unique<BinnedKind>(Shape{.operation = operation,
                                            .input = input,
                                            .result = result,
                                            .bin_count = bin_count,
                                            .sweep = sweep,
                                            .columns = columns,
                                            .grid = Grid(squares(operation) ? 2 : 1)});
}

}  // namespace steadfold::arithmetic
