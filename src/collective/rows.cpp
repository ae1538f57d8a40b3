#include "collective/rows.hpp"

#include <algorithm>
#include <cstring>

namespace steadfold::collective {

Rows::Rows(const Member& agreed, const arithmetic::Operator& op, Rank rank, Rank rank_count, const Cut& cut, Crew& crew)
    : agreed_(&agreed), operator_(op), rank_(rank), rank_count_(rank_count), crew_(&crew) {
  const Description& d = agreed.description;
  row_bytes_ = d.columns * d.element_bytes;
  Bytes result_byte = 0;
  for (std::uint32_t s = 0; s < cut.segments(); ++s) {
    const order::Interval columns = cut.columns(s);
    if (!cut.blocks().empty() && s == cut.blocks()[static_cast<std::size_t>(rank)]) first_result_byte_ = result_byte;
    Segment segment{.first_byte = columns.begin * d.element_bytes,
                    .kind = make_kind(d, operator_, columns.size()),
                    .first_result_byte = result_byte};
    segment.spare.resize(segment.kind->value_bytes());
    result_byte += segment.kind->value_bytes();
    segments_.push_back(std::move(segment));
  }
}

void Rows::take(const Data& data) noexcept {
  const auto operation = static_cast<arithmetic::Operation>(agreed_->description.operation);
  const bool is_missing = agreed_->layout->local_count(rank_) > 0 && row_bytes_ > 0 &&
                          (data.first == nullptr || (arithmetic::has_second(operation) && data.second == nullptr));
  const bool has_nowhere = data.result == nullptr && agreed_->gets_result(rank_);
  static constexpr std::byte nothing{};  // of no columns: builders want an address
  data_ = row_bytes_ > 0 ? data : Data{.first = &nothing, .second = &nothing};
  status_ = is_missing || has_nowhere ? Status::invalid_argument : Status::ok;
}

Bytes Rows::survey_bytes() const noexcept {
  Bytes bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.kind->survey_bytes();
  return bytes;
}

void Rows::write_survey(std::span<std::byte> out) {
  std::ranges::fill(out, std::byte{0});
  if (status_ != Status::ok) return;
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    const Bytes bytes = segments_[i].kind->survey_bytes();
    if (bytes > 0) segments_[i].lifter.survey(placed(i, all_rows), *crew_, threads_, out.first(bytes));
    out = out.subspan(bytes);
  }
}

void Rows::expect(std::span<const std::byte> surveyed) {
  for (Segment& s : segments_) {
    const Bytes bytes = s.kind->survey_bytes();
    s.lifter.expect(surveyed.first(bytes));
    surveyed = surveyed.subspan(bytes);
  }
}

Status Rows::deliver(std::uint32_t segment, std::span<const std::byte> value) const {
  const Status status = arithmetic::header_of(value).status;
  if (status == Status::ok) {
    std::memcpy(data_.result + (segments_[segment].first_result_byte - first_result_byte_),
                value.data() + sizeof(Header), segments_[segment].kind->value_bytes());
  }
  return status;
}

Bytes Rows::partial_capacity(const Covers& covers, std::uint32_t segment) const {
  return segments_[segment].kind->capacity(covers.rows(*agreed_->layout));
}

Bytes Rows::working_capacity(const Covers& covers, std::uint32_t segment) const {
  return segments_[segment].kind->working_capacity(covers.rows(*agreed_->layout));
}

Bytes Rows::value_capacity(std::uint32_t segment) const {
  return sizeof(Header) + segments_[segment].kind->value_bytes();
}

Placed Rows::placed(std::uint32_t segment, const order::Interval& part) const {
  return {.intervals = agreed_->layout->intervals(rank_),
          .data = data_,
          .row_bytes = row_bytes_,
          .first_byte = segments_[segment].first_byte,
          .part = part,
          .is_masked =
              static_cast<arithmetic::Operation>(agreed_->description.operation) == arithmetic::Operation::masked_sum};
}

Bytes Rows::lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) {
  Segment& s = segments_[segment];
  if (status_ != Status::ok) return arithmetic::write_failure(out, {.digest = agreed_->digest}, status_);
  const Placed rows = placed(segment, covers.is_part() ? covers.part : all_rows);
  const Bytes size = s.lifter.lift(rows, *crew_, threads_, out);
  Header header = arithmetic::header_of(out);
  header.digest = agreed_->digest;
  arithmetic::set_header(out, header);
  return size;
}

Bytes Rows::merge(std::uint32_t segment, std::span<const std::byte> left, std::span<const std::byte> right,
                  std::span<std::byte> out) {
  return segments_[segment].kind->merge(left, right, out);
}

/// Of ranks in a row from 0 on; of all where none are named.
Count Rows::row_count(const Covers& covers) const noexcept {
  if (covers.ranks.count == 0) return agreed_->element_count;
  return agreed_->layout->start(covers.ranks.first + covers.ranks.count) - agreed_->layout->start(covers.ranks.first);
}

Bytes Rows::finish(std::uint32_t segment, const Covers& covers, std::span<const std::byte> partial,
                   std::span<std::byte> out) {
  Segment& s = segments_[segment];
  Header header{.digest = agreed_->digest};
  header.status = s.kind->finish(partial, row_count(covers), out.data() + sizeof header, s.spare.data());
  arithmetic::set_header(out, header);
  return header.status == Status::ok ? value_capacity(segment) : sizeof header;
}

std::size_t Rows::word_count(std::uint32_t segment) const { return segments_[segment].kind->word_count(); }

void Rows::to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) {
  segments_[segment].kind->to_words(partial, words);
}

Bytes Rows::from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) {
  return segments_[segment].kind->from_words(sums, static_cast<std::uint32_t>(rank_count_), agreed_->digest, out);
}

}  // namespace steadfold::collective
