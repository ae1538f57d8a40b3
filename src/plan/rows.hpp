// The payload of one reduction: partials of this rank's rows, and their values, segment by segment.
// Rank order and cost: those of the partials.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "call/footprint.hpp"
#include "call/validation.hpp"
#include "plan/agreement.hpp"
#include "plan/lifter.hpp"
#include "plan/payload.hpp"
#include "plan/segmentation.hpp"

namespace steadfold::plan {

using call::Data;
using call::Failure;
using call::Missing;

/// The rows of this rank, by their indices in the order of memory. Empty intervals are ignored.
struct OwnRows {
  Rank rank;
  std::vector<order::Interval> intervals;
};

/// The payload of one call: builds partials of the rows at the pointers given to `take`, and writes digests into their
/// headers.
class RowsPayload final : public Payload, private ApartPayload, private WordPayload {
 public:
  /// `agreed` and `pool` must outlive the payload. `is_alone` says that the call is not a member of a bundle, so that
  /// the values of wide rows may be stored apart. Throws Failure if the library does not support the call.
  RowsPayload(const Member& agreed, OwnRows mine, const arithmetic::Operator& op, const Segmentation& segmentation,
              ThreadPool& pool, bool is_alone);
  RowsPayload(const RowsPayload&) = delete;
  RowsPayload& operator=(const RowsPayload&) = delete;

  /// Replaces the operator, because the operator's context may change from run to run.
  void use_operator(const arithmetic::Operator& op) noexcept { operator_ = op; }
  /// Sets the number of the pool's threads that build the partial of this rank's rows.
  void use_threads(unsigned threads) noexcept { threads_ = threads; }
  /// Sets the array that describes this rank's rows. Null means that the rows are contiguous.
  void use_array(const call::Array* array) noexcept {
    strides_ = strides_of(agreed_->description, array);
    if (array != nullptr) array_data_ = array->data;
  }
  const arithmetic::Operator& op() const noexcept { return operator_; }
  /// Returns the memory for a result that this run was given, although this rank may get no result of rows.
  std::byte* given_result() const noexcept { return gets_result_ ? data_.result : unused_result_; }
  /// Returns the number of columns of which this rank gets the result.
  Count result_columns() const noexcept;
  std::uint32_t segment_count() const noexcept { return static_cast<std::uint32_t>(segments_.size()); }
  /// Sets the rows of this run. If the pointers are unusable, the run fails on all ranks. `stays` says that the caller
  /// waits for the end of the run. If so, rows may be sent from the caller's memory, and results may be written before
  /// the run is done.
  void take(const Data& data, bool stays = false) noexcept;
  /// Returns the status that this rank knows without messages: whether its data can be used, and whether memory ran
  /// out. Before the run has read rows, the status only says whether its data can be used.
  Status status() const noexcept { return status_; }
  /// Whether the memory of the result does not overlap the memory of these rows.
  bool is_apart_from_result(const Data& data) const noexcept;
  /// Whether the result may be written while this rank's rows are still read, column by column.
  bool may_be_written_early(const Data& data) const noexcept;
  /// Returns the caller's memory that a run on these data would use, or that the current run uses.
  call::Footprint footprint(const Data& data) const noexcept;
  call::Footprint footprint() const noexcept { return footprint(data_); }
  /// Makes the run fail on all ranks. This rank then contributes no rows.
  void refuse() noexcept;
  /// Returns the failure that this rank knows of: an unusable pointer, or an operator that failed on this rank.
  std::optional<Failure> failure() const;
  /// For a first sweep: `survey_bytes` returns the size of the survey of this run's rows, 0 if there is no first sweep,
  /// and `survey` writes it. `expect` takes the merged survey of all ranks, whose memory must stay valid until the run
  /// ends.
  Bytes survey_bytes() const noexcept;
  void write_survey(std::span<std::byte> out);
  void expect(std::span<const std::byte> surveyed) noexcept;
  /// Copies the values of a finished segment to the result, if their status is ok and they are not there yet. Returns
  /// their status.
  Status deliver(std::uint32_t segment, const Partial& value) const;

  Bytes partial_capacity(const Covers& covers, std::uint32_t segment) const override;
  Bytes working_capacity(const Covers& covers, std::uint32_t segment) const override;
  Bytes value_capacity(std::uint32_t segment) const override;
  Bytes working_capacity_of_any(std::span<const Covers> parts, std::uint32_t segment) const override;
  Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) override;
  Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                      Pieces& pieces) override;
  Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                       Pieces& pieces) override;
  Count piece_columns(std::uint32_t segment) const override { return width_of(segment).kind->piece_columns(); }
  Count columns(std::uint32_t segment) const override { return width_of(segment).shape.columns; }
  Preparation prepare_merge(std::uint32_t segment, const Covers& left, const Covers& right,
                            const Covers* finish) override;
  ApartPayload* apart() noexcept override { return may_stand_apart_ ? this : nullptr; }
  WordPayload* words() noexcept override { return has_words_ ? this : nullptr; }

 private:
  /// Data that all segments with the same number of columns share; a schedule may have as many segments as columns.
  struct Width {
    arithmetic::RowShape shape;
    std::unique_ptr<arithmetic::PartialKind> kind;
    Lifter lifter = Lifter(*kind, shape);
    Bytes value_bytes = kind->value_bytes();
    std::unique_ptr<std::byte[]> spare = std::make_unique_for_overwrite<std::byte[]>(value_bytes);
    const arithmetic::ValuesApart* values_apart = kind->values_apart();
    bool is_apart = false;
  };
  struct Segment {
    Count first_column;
    Width* width;
    std::optional<Bytes> first_result_byte = std::nullopt;  // nullopt if this rank does not get the segment's result
    std::span<const std::byte> surveyed = {};               // result of all ranks' first sweeps for this segment
  };

  Width& width_of(std::uint32_t segment) { return *segments_[segment].width; }
  const Width& width_of(std::uint32_t segment) const { return *segments_[segment].width; }
  Width* shared_width(Count columns);
  bool is_apart(std::uint32_t segment) const override { return width_of(segment).is_apart; }
  Bytes head_capacity(const Covers& covers, std::uint32_t segment) const override;
  Bytes head_bytes(std::uint32_t segment, std::span<const std::byte> whole, bool is_value) const override;
  Bytes values_bytes(std::uint32_t segment, std::span<const std::byte> head, bool is_value) const override;
  std::byte* result() const override { return takes_results_ ? data_.result : nullptr; }
  std::optional<Bytes> result_offset(std::uint32_t segment) const override;
  std::optional<Partial> merge_to_result(std::uint32_t segment, const Partial& left, const Partial& right,
                                         std::span<std::byte> head, std::byte* values) override;
  std::size_t word_count(std::uint32_t segment) const override;
  void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) override;
  Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) override;

  arithmetic::Operation operation() const noexcept { return agreed_->description.operation; }
  Partial lift_lone_row(std::uint32_t segment, std::span<std::byte> out) const;
  const arithmetic::AddedWords& words_of(std::uint32_t segment) const { return *width_of(segment).kind->added_words(); }
  Count row_count(const Covers& covers) const noexcept;
  template <class Body>
  bool attempt(const Body& body) noexcept;
  void note(Status after, Status before) noexcept;
  order::IntervalSet rows_like(const Covers& covers, std::uint32_t segment) const;
  StoredRows stored_rows(std::uint32_t segment, const order::Interval& part) const;
  order::Interval part_of(const Covers& covers) const noexcept;

  const Member* agreed_;
  arithmetic::Operator operator_;           // the user's operator, to which the kinds refer
  std::vector<order::Interval> intervals_;  // the indices of this rank's rows
  Count local_rows_;
  Count rows_before_;  // number of rows of lower ranks, if the layout is in rank order
  bool gets_result_;
  ThreadPool* pool_;
  unsigned threads_ = 1;
  Bytes row_bytes_;
  arithmetic::Strides strides_;
  arithmetic::Operands array_data_;  // addresses of the array's operands, used if a run does not give others
  std::map<Count, Width> widths_;    // by number of columns
  std::vector<Segment> segments_;
  Bytes result_bytes_ = 0;
  bool may_stand_apart_ = false;
  bool has_words_ = false;
  // Index of this rank's only row, if it has one row and the row is its own partial.
  std::optional<order::Index> lone_row_;
  Data data_;
  std::byte* unused_result_ = nullptr;  // set if this rank gets no result
  Status status_ = Status::ok;
  Missing missing_ = Missing::nothing;
  // The failure thrown while this rank's partial was built, in this run or an earlier run.
  std::optional<Failure> caught_;
  bool operator_failed_ = false;  // whether the operator failed on this rank
  bool label_failed_ = false;     // whether a label of this rank names no group
  bool lends_rows_ = false;       // whether the transport may read the caller's rows in place in this run
  bool takes_results_ = false;    // whether results may be written before the end of this run
};

}  // namespace steadfold::plan
