#include "text_source.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace steadfold::readers {

TextSource::TextSource(std::unique_ptr<File> file, Region region, Records records, const Options& options)
    : Source(options.type.value_or(Type::f64)),
      file_(std::move(file)),
      region_(region),
      records_(records),
      block_bytes_(std::max<std::size_t>(options.block_bytes, 1)) {}

std::uint64_t TextSource::begin_of(std::uint64_t part, std::uint64_t parts) const noexcept {
  return region_.begin + part_begin(region_.end - region_.begin, part, parts);
}

std::uint64_t TextSource::count(std::uint64_t part, std::uint64_t parts) const {
  const std::uint64_t begin = begin_of(part, parts), end = begin_of(part + 1, parts);
  if (has_only_numbers()) return count_records(*file_, region_, records_, begin, end, block_bytes_);
  std::uint64_t numbers = 0;
  missing_count_ = 0;
  Walk walk(*file_, region_, records_, begin, block_bytes_);
  while (begin < end && walk.next() && walk.offset() < end) {
    const Content content = field_of(walk.record(), walk.offset()).content;
    numbers += content == Content::number ? 1 : 0;
    missing_count_ += content == Content::missing ? 1 : 0;
  }
  return numbers;
}

template <class T>
void TextSource::read_any(std::uint64_t begin, std::span<T> elements) const {
  // Finds the part that has the first element: the last of the parts that begin at or before it.
  const auto parts = static_cast<std::uint64_t>(first().size()) - 1;
  const auto behind = std::upper_bound(first().begin(), first().end(), begin);
  const auto part = static_cast<std::uint64_t>(behind - first().begin()) - 1;
  Walk walk(*file_, region_, records_, begin_of(part, parts), block_bytes_);
  const auto step = [&] {
    if (!walk.next()) throw file_->fault("it was changed while it was read", "try again when it is complete");
  };
  const auto next_number = [&] {
    for (;;) {
      step();
      const Field field = field_of(walk.record(), walk.offset());
      if (field.content == Content::number) return field.text;
    }
  };
  for (std::uint64_t skipped = first()[part]; skipped < begin; ++skipped) {
    if (has_only_numbers())
      step();
    else
      next_number();
  }
  for (T& element : elements) {
    const std::string_view text = next_number();
    const NumberFault fault = parse_number(text, element, notation().decimal_mark);
    if (fault == NumberFault::none) continue;
    const Complaint complaint = complaint_about(text, fault, type(), notation());
    throw file_->fault("line " + std::to_string(file_->line_of(walk.offset())) + ": " + complaint.why,
                       complaint.suggestion);
  }
}

void TextSource::read_f64(std::uint64_t begin, std::span<double> elements) const { read_any(begin, elements); }
void TextSource::read_f32(std::uint64_t begin, std::span<float> elements) const { read_any(begin, elements); }

}  // namespace steadfold::readers
