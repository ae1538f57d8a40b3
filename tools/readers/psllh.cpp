// Reads per-site log-likelihoods from text: a count, then this number of numbers, separated by any blanks.
#include <charconv>
#include <string>
#include <utility>

#include "formats.hpp"
#include "text_source.hpp"

namespace steadfold::readers {
namespace {

class PsllhSource final : public TextSource {
 public:
  PsllhSource(std::unique_ptr<File> file, Region region, const Options& options, std::uint64_t announced)
      : TextSource(std::move(file), region, Records::tokens, options), announced_(announced) {}

  Format format() const noexcept override { return Format::psllh; }

 private:
  void check_total(std::uint64_t total) const override {
    if (total == announced_) return;
    throw file().fault(std::string(total < announced_ ? "truncated: " : "too long: ") + std::to_string(announced_) +
                           " numbers are announced, but " + std::to_string(total) + " were found",
                       "check that the whole file was copied, or correct the count at its beginning");
  }
  Field field_of(std::string_view record, std::uint64_t) const override { return {Content::number, record}; }

  std::uint64_t announced_;
};

std::uint64_t parse_count(const File& file, std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failed == std::errc() && end == text.data() + text.size()) return count;
  const bool negative = text.starts_with('-');
  throw file.fault("it begins with " + shown(text) + (negative ? ", a negative count" : ", which is not a count"),
                   "write the number of elements at the beginning of the file");
}

}  // namespace

std::unique_ptr<Source> open_psllh(std::unique_ptr<File> file, const Options& options) {
  const Region all{behind_byte_order_mark(*file), file->size()};
  Walk walk(*file, all, Records::tokens, all.begin, options.block_bytes);
  if (!walk.next()) throw file->fault("it is blank", "write the number of elements at the beginning of the file");
  const std::uint64_t announced = parse_count(*file, walk.record());
  const Region rest{walk.offset() + walk.record().size(), all.end};
  return std::make_unique<PsllhSource>(std::move(file), rest, options, announced);
}

}  // namespace steadfold::readers
