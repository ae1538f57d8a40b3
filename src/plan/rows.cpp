#include "plan/rows.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace steadfold::plan {

using call::Description;

namespace {

/// From this number of bytes on, a message in two parts costs less than the copies that it saves.
constexpr Bytes wide_row = 8192;

/// Up to this number of bytes, merging a row costs no more than preparing the merge.
constexpr Bytes narrow_row = 512;

/// Returns the address where a finish writes its values.
std::byte* values_in(const Room& out) noexcept {
  return out.values.empty() ? out.head.data() + sizeof(Header) : out.values.data();
}

bool begins_at_zero(const order::IntervalSet& rows) { return !rows.empty() && rows.intervals().front().begin == 0; }

}  // namespace

RowsPayload::RowsPayload(const Member& agreed, OwnRows mine, const arithmetic::Operator& op,
                         const Segmentation& segmentation, ThreadPool& pool, bool is_alone)
    : agreed_(&agreed),
      operator_(op),
      intervals_(std::move(mine.intervals)),
      local_rows_(agreed.layout->local_count(mine.rank)),
      rows_before_(agreed.layout->in_rank_order() ? agreed.layout->start(mine.rank) : 0),
      gets_result_(agreed.gets_result(mine.rank)),
      pool_(&pool),
      row_bytes_(agreed.description.row_bytes()),
      strides_(strides_of(agreed.description, nullptr)) {
  const Description& d = agreed.description;
  const order::Interval due = gets_result_ ? segmentation.segments_of(mine.rank) : order::Interval{};
  for (std::uint32_t s = 0; s < segmentation.segments(); ++s) {
    const order::Interval columns = segmentation.columns(s);
    Segment& segment = segments_.emplace_back(columns.begin, shared_width(columns.size()));
    if (s < due.begin || s >= due.end) continue;
    segment.first_result_byte = result_bytes_;
    result_bytes_ += segment.width->value_bytes;
  }
  if (segments_.empty()) return;
  const arithmetic::PartialKind& kind = *segments_.front().width->kind;
  has_words_ = kind.added_words() != nullptr;
  may_stand_apart_ = is_alone && kind.values_apart() != nullptr;
  std::erase_if(intervals_, [](const order::Interval& interval) { return interval.empty(); });
  const bool is_lone = intervals_.size() == 1 && intervals_.front().size() == 1;
  // If an operator clears unused bytes, these bytes of the row may have any value.
  const bool is_record = operator_.clear_unused == nullptr;
  if (is_lone && is_record && kind.values_apart() != nullptr) lone_row_ = intervals_.front().begin;
  const bool stays_where_it_is = lone_row_ && d.array == call::ArrayForm::none;
  for (auto& [columns, width] : widths_) {
    width.is_apart = may_stand_apart_ && width.value_bytes >= wide_row;
    if (!stays_where_it_is) width.lifter.prepare();
  }
}

RowsPayload::Width* RowsPayload::shared_width(Count columns) {
  const auto found = widths_.find(columns);
  if (found != widths_.end()) return &found->second;
  const Description& d = agreed_->description;
  Width made{.shape = row_shape(d, columns), .kind = make_kind(d, operator_, columns, agreed_->merged_rows())};
  return &widths_.emplace(columns, std::move(made)).first->second;
}

void RowsPayload::take(const Data& data, bool stays) noexcept {
  data_ = data;
  if (agreed_->description.array != call::ArrayForm::none) data_ = located(data, array_data_);
  missing_ = missing(agreed_->description, local_rows_, data_, gets_result_);
  if (!gets_result_) unused_result_ = std::exchange(data_.result, nullptr);
  status_ = missing_ == Missing::nothing ? Status::ok : Status::invalid_argument;
  operator_failed_ = label_failed_ = false;
  if (!may_stand_apart_) return;
  const bool is_direct = stays && status_ == Status::ok && !agreed_->description.may_fail && strides_.are_touching();
  lends_rows_ = is_direct && is_apart_from_result(data);
  takes_results_ = is_direct && may_be_written_early(data);
}

Count RowsPayload::result_columns() const noexcept {
  Count columns = 0;
  for (const Segment& segment : segments_)
    if (segment.first_result_byte) columns += segment.width->shape.columns;
  return columns;
}

bool RowsPayload::is_apart_from_result(const Data& data) const noexcept {
  const Bytes bytes = local_rows_ * row_bytes_;
  return !gets_result_ || !call::overlap({data.first, bytes}, {data.result, result_bytes_});
}

bool RowsPayload::may_be_written_early(const Data& data) const noexcept {
  return is_apart_from_result(data) || (data.first == data.result && result_bytes_ == row_bytes_);
}

call::Footprint RowsPayload::footprint(const Data& given) const noexcept {
  const Data data = call::located(given, array_data_);
  call::Footprint found = footprint_of(agreed_->description, strides_, local_rows_, 0, data);
  if (gets_result_ && data.result != nullptr) found.result = {data.result, result_bytes_};
  return found;
}

void RowsPayload::refuse() noexcept {
  data_ = {};
  status_ = Status::invalid_argument;
  missing_ = Missing::nothing;
  operator_failed_ = label_failed_ = lends_rows_ = takes_results_ = false;
}

std::optional<Failure> RowsPayload::failure() const {
  if (missing_ != Missing::nothing) return failure_of(missing_, operation(), local_rows_);
  if (caught_ && caught_->status() == status_) return caught_;  // a failure with another status is from an earlier run
  if (operator_failed_) return call::operator_failure();
  if (label_failed_) return call::label_failure(strides_, operands_of(agreed_->description, data_), local_rows_);
  return std::nullopt;
}

/// Does work that may allocate memory. If memory runs out, the run fails on all ranks, because others wait for this
/// rank's messages.
template <class Body>
bool RowsPayload::attempt(const Body& body) noexcept {
  try {
    body();
    return true;
  } catch (...) {
    caught_ = call::caught_failure(status_);
    return false;
  }
}

/// Records that the operator failed on this rank, unless an operand's status says that it failed on another rank.
void RowsPayload::note(Status after, Status before) noexcept {
  operator_failed_ = operator_failed_ || (after == Status::operator_failed && before != Status::operator_failed);
}

Bytes RowsPayload::survey_bytes() const noexcept {
  Bytes bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.width->kind->survey_bytes();
  return bytes;
}

void RowsPayload::write_survey(std::span<std::byte> out) {
  std::ranges::fill(out, std::byte{0});
  if (status_ != Status::ok) return;
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    Width& width = width_of(i);
    const Bytes bytes = width.kind->survey_bytes();
    const auto own = out.first(bytes);
    if (bytes > 0 && status_ == Status::ok)
      attempt([&] { width.lifter.survey(stored_rows(i, all_rows), *pool_, threads_, own); });
    out = out.subspan(bytes);
  }
}

void RowsPayload::expect(std::span<const std::byte> surveyed) noexcept {
  for (Segment& s : segments_) {
    const Bytes bytes = s.width->kind->survey_bytes();
    s.surveyed = surveyed.first(bytes);
    surveyed = surveyed.subspan(bytes);
  }
}

Status RowsPayload::deliver(std::uint32_t segment, const Partial& value) const {
  const Status status = arithmetic::header_of(value.head).status;
  if (status != Status::ok) return status;
  const Segment& own = segments_[segment];
  const Bytes bytes = own.width->value_bytes;
  const bool is_apart = value.values != nullptr;
  // The value is not complete.
  if (value.head.size() != sizeof(Header) + (is_apart ? 0 : bytes)) return Status::transport_failed;
  const std::byte* const values = is_apart ? value.values : value.head.data() + sizeof(Header);
  std::byte* const to = data_.result + *own.first_result_byte;
  if (values != to) std::memcpy(to, values, bytes);
  return status;
}

/// Returns rows whose partials are as large as partials of the covered rows. If all partials have the same size, any
/// rows will do.
order::IntervalSet RowsPayload::rows_like(const Covers& covers, std::uint32_t segment) const {
  if (width_of(segment).kind->has_fixed_size()) return order::IntervalSet({0, 1});
  return covers.rows(agreed_->covered());
}

Bytes RowsPayload::partial_capacity(const Covers& covers, std::uint32_t segment) const {
  return width_of(segment).kind->capacity(rows_like(covers, segment));
}

Bytes RowsPayload::working_capacity(const Covers& covers, std::uint32_t segment) const {
  return width_of(segment).kind->working_capacity(rows_like(covers, segment));
}

/// Returns the sum of what each part needs; see PartialKind::working_capacity. Nodes of adjacent intervals combine into
/// larger nodes. Only the bound for an interval with unknown ends can grow, by one node; the memory for another partial
/// covers this node.
Bytes RowsPayload::working_capacity_of_any(std::span<const Covers> parts, std::uint32_t segment) const {
  const arithmetic::PartialKind& kind = *width_of(segment).kind;
  if (kind.has_fixed_size()) return working_capacity(parts.front(), segment);
  Bytes bytes = 0;
  for (const Covers& part : parts) bytes += working_capacity(part, segment);
  return bytes;
}

Bytes RowsPayload::value_capacity(std::uint32_t segment) const {
  return sizeof(Header) + width_of(segment).value_bytes;
}

StoredRows RowsPayload::stored_rows(std::uint32_t segment, const order::Interval& part) const {
  return {.intervals = intervals_,
          .data = operands_of(agreed_->description, data_).at(0, segments_[segment].first_column),
          .strides = strides_,
          .part = part,
          .surveyed = segments_[segment].surveyed};
}

/// Returns the positions of the covered part among this rank's rows. Only ranks in rank order build partials of parts
/// of their rows. The ranks may have agreed only on the number of rows of each rank, so these indices may differ from
/// the indices in results.
order::Interval RowsPayload::part_of(const Covers& covers) const noexcept {
  return {covers.part.begin - rows_before_, covers.part.end - rows_before_};
}

Partial RowsPayload::lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) {
  if (status_ != Status::ok) return arithmetic::failed({out}, {.digest = agreed_->digest}, status_);
  const bool is_whole = !covers.is_part() || covers.part.size() == 1;
  if (lone_row_ && strides_.are_direct() && is_whole) return lift_lone_row(segment, out);
  const StoredRows rows = stored_rows(segment, covers.is_part() ? part_of(covers) : all_rows);
  Bytes size = 0;
  if (!attempt([&] { size = width_of(segment).lifter.lift(rows, *pool_, threads_, out); }))
    return arithmetic::failed({out}, {.digest = agreed_->digest}, status_);
  const auto whole = out.first(size);
  Header header = arithmetic::header_of(whole);
  header.digest = agreed_->digest;
  note(header.status, Status::ok);
  if (agreed_->description.deals_rows() && header.status == Status::invalid_argument) label_failed_ = true;
  arithmetic::set_header(whole, header);
  if (!is_apart(segment)) return whole;
  const auto head = whole.first(width_of(segment).values_apart->head_bytes(whole));
  return {head, head.size() < whole.size() ? head.data() + head.size() : nullptr};
}

/// Lifts the only row of this rank. The row is its own partial, because its elements are contiguous. The row is not
/// copied if the transport may read rows in the caller's memory.
Partial RowsPayload::lift_lone_row(std::uint32_t segment, std::span<std::byte> out) const {
  const Width& width = width_of(segment);
  const auto head = out.first(width.values_apart->write_head_of_row({.digest = agreed_->digest}, *lone_row_, out));
  const std::byte* const row = data_.first + segments_[segment].first_column * agreed_->description.element_bytes;
  const Bytes bytes = width.value_bytes;
  if (width.is_apart && lends_rows_) return {head, row};
  std::memcpy(head.data() + head.size(), row, bytes);
  if (width.is_apart) return {head, head.data() + head.size()};
  return out.first(head.size() + bytes);
}

Partial RowsPayload::merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                                 Pieces& pieces) {
  const Partial whole = width_of(segment).kind->merge_piece(left, right, out, pieces);
  if (!pieces.more && arithmetic::status_of(whole.head) == Status::operator_failed)
    note(Status::operator_failed, arithmetic::merge_headers(left.head, right.head).header.status);
  return whole;
}

/// Returns the number of rows of the ranks that `covers` names, or of all ranks if it names none. If rows may count
/// twice, the number of rows in a partial cannot be checked.
Count RowsPayload::row_count(const Covers& covers) const noexcept {
  if (agreed_->counts == schedule::Counts::at_least_once) return arithmetic::unknown_count;
  if (covers.ranks.count == 0) return agreed_->element_count;
  return agreed_->layout->start(covers.ranks.first + covers.ranks.count) - agreed_->layout->start(covers.ranks.first);
}

/// Prepares a merge of partials. With wide rows nothing is prepared, because a preparation costs more than it saves.
Preparation RowsPayload::prepare_merge(std::uint32_t segment, const Covers& left, const Covers& right,
                                       const Covers* finish) {
  const Width& width = width_of(segment);
  if (width.value_bytes > narrow_row) return {};
  const order::IntervalSet lefts = left.rows(agreed_->covered());
  const order::IntervalSet rights = right.rows(agreed_->covered());
  const bool has_all_rows = finish != nullptr && lefts.size() + rights.size() == row_count(*finish) &&
                            (begins_at_zero(lefts) || begins_at_zero(rights));
  return {.merge = width.kind->prepare_merge(lefts, rights, agreed_->digest), .finishes = has_all_rows};
}

Partial RowsPayload::finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                                  Pieces& pieces) {
  const Width& width = width_of(segment);
  const Status status = width.kind->finish_piece(partial, row_count(covers), values_in(out), width.spare.get(), pieces);
  if (pieces.more) return {};
  const Header header{.status = status, .digest = agreed_->digest};
  note(header.status, arithmetic::header_of(partial.head).status);
  arithmetic::set_header(out.head, header);
  if (header.status != Status::ok) return out.head.first(sizeof header);
  if (out.values.empty()) return out.head.first(value_capacity(segment));
  return {out.head.first(sizeof header), out.values.data()};
}

Bytes RowsPayload::head_capacity(const Covers& covers, std::uint32_t segment) const {
  const arithmetic::PartialKind& kind = *width_of(segment).kind;
  const order::IntervalSet rows = rows_like(covers, segment);
  return kind.capacity(rows) - kind.row_count(rows) * kind.value_bytes();
}

Bytes RowsPayload::head_bytes(std::uint32_t segment, std::span<const std::byte> whole, bool is_value) const {
  return is_value ? std::min(whole.size(), sizeof(Header)) : width_of(segment).values_apart->head_bytes(whole);
}

Bytes RowsPayload::values_bytes(std::uint32_t segment, std::span<const std::byte> head, bool is_value) const {
  const Width& width = width_of(segment);
  if (!is_value) return width.values_apart->values_bytes(head);
  return arithmetic::status_of(head) == Status::ok ? width.value_bytes : 0;
}

std::optional<Bytes> RowsPayload::result_offset(std::uint32_t segment) const {
  return segments_[segment].first_result_byte;
}

std::optional<Partial> RowsPayload::merge_to_result(std::uint32_t segment, const Partial& left, const Partial& right,
                                                    std::span<std::byte> head, std::byte* values) {
  // an operator that may fail never writes the result before its run is done, so no failure has to be recorded
  return width_of(segment).values_apart->merge_to_result(left, right, head, values);
}

std::size_t RowsPayload::word_count(std::uint32_t segment) const { return words_of(segment).word_count(); }

void RowsPayload::to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) {
  words_of(segment).to_words(partial, words);
}

Bytes RowsPayload::from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) {
  return words_of(segment).from_words(sums, static_cast<std::uint32_t>(agreed_->layout->rank_count()), agreed_->digest,
                                      out);
}

}  // namespace steadfold::plan
