// The payload of a reduction's slots: partials of this rank's rows and the values they come to, segment by segment.
// Rank order and cost: the partials'.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "agreement/agreement.hpp"
#include "agreement/footprint.hpp"
#include "agreement/segmentation.hpp"
#include "agreement/validation.hpp"
#include "execution/lifter.hpp"
#include "execution/payload.hpp"

namespace steadfold::execution {

using agreement::Data;
using agreement::Failure;
using agreement::Member;
using agreement::Missing;
using agreement::Segmentation;

/// Builds partials of the rows at the pointers given to `take`; writes digests into their headers.
class RowsPayload final : public Payload, private ApartPayload, private WordPayload {
 public:
  /// `agreed` and the team must outlive it. `mine`: this rank's rows, in the order of memory; intervals that are empty
  /// do not count. `is_alone`: not a member of a bundle, so that wide rows may stand apart. Throws Failure where the
  /// call is not offered.
  RowsPayload(const Member& agreed, std::vector<order::Interval> mine, const arithmetic::Operator& op, Rank rank,
              Rank rank_count, const Segmentation& segmentation, ThreadTeam& team, bool is_alone);
  RowsPayload(const RowsPayload&) = delete;
  RowsPayload& operator=(const RowsPayload&) = delete;

  /// The operator's context may change from run to run.
  void use_operator(const arithmetic::Operator& op) noexcept { operator_ = op; }
  /// How many threads of the team lift this rank's rows.
  void use_threads(unsigned threads) noexcept { threads_ = threads; }
  /// How this rank's rows stand; null: they touch.
  void use_array(const agreement::Array* array) noexcept {
    strides_ = strides_of(agreed_->description, array);
    if (array != nullptr) array_data_ = array->data;
  }
  const arithmetic::Operator& op() const noexcept { return operator_; }
  std::uint32_t segment_count() const noexcept { return static_cast<std::uint32_t>(segments_.size()); }
  /// This run's rows. Pointers that cannot be used make the run fail, on all ranks. `stays`: the caller waits for the
  /// end of the run, so that rows may be sent from where they are and results be written before all is well.
  void take(const Data& data, bool stays = false) noexcept;
  /// What this rank knows of this run by itself: whether its data can be used, whether memory ran out. Before anything
  /// is done it is the former.
  Status status() const noexcept { return status_; }
  /// Whether no result stands where these rows do.
  bool is_apart_from_result(const Data& data) const noexcept;
  /// Whether the result may be written while this rank's rows are still read, column by column.
  bool may_be_written_early(const Data& data) const noexcept;
  /// The caller's memory that a run on these data uses, and that this run uses.
  agreement::Footprint footprint(const Data& data) const noexcept;
  agreement::Footprint footprint() const noexcept { return footprint(data_); }
  /// Makes the run fail on all ranks; this rank brings no rows.
  void refuse() noexcept;
  /// What this rank knows to have gone wrong in the run: a pointer that cannot be used, an operator that failed here.
  std::optional<Failure> failure() const;
  /// What a first sweep finds out about this run's rows, and what the sweeps of all ranks found out, which stays until
  /// the run ends; no bytes: there is no first sweep.
  Bytes survey_bytes() const noexcept;
  void write_survey(std::span<std::byte> out);
  void expect(std::span<const std::byte> surveyed) noexcept;
  /// Copies a finished segment's values, if they are ok and not yet there, to where the result goes; says how they are.
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
  /// What segments of as many columns share: a schedule may have a segment per column.
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
    std::optional<Bytes> first_result_byte = std::nullopt;  // nothing: this rank does not get the segment's result
    std::span<const std::byte> surveyed = {};               // what the first sweeps of all ranks found out about it
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
  Placed placed(std::uint32_t segment, const order::Interval& part) const;
  order::Interval part_of(const Covers& covers) const noexcept;

  const Member* agreed_;
  arithmetic::Operator operator_;  // the kinds refer to it
  Rank rank_count_;
  std::vector<order::Interval> intervals_;  // of this rank
  Count local_rows_;
  Count rows_before_;  // those of lower ranks, if the layout is in rank order
  bool gets_result_;
  ThreadTeam* team_;
  unsigned threads_ = 1;
  Bytes row_bytes_;
  arithmetic::Strides strides_;
  arithmetic::Operands array_data_;  // where an array's operands are if a run does not say
  std::map<Count, Width> widths_;    // by columns
  std::vector<Segment> segments_;
  Bytes result_bytes_ = 0;
  bool may_stand_apart_ = false;
  bool has_words_ = false;
  std::optional<order::Index> lone_row_;  // this rank's only row, if it has one and that is a partial as it is
  Data data_;
  Status status_ = Status::ok;
  Missing missing_ = Missing::nothing;
  std::optional<Failure> caught_;  // what was thrown while rows were lifted on this rank, in this run or an earlier one
  bool operator_failed_ = false;   // on this rank
  bool label_failed_ = false;      // one of this rank's names no group
  bool lends_rows_ = false;        // the caller's rows may be sent from where they are in this run
  bool takes_results_ = false;     // and results be written before its end
};

}  // namespace steadfold::execution
