// The content of a reduction's slots: partials of this rank's rows and the values they come to, segment by segment.
// Rank order: the partials' own. Cost: that of the partials. Source: ours.
#pragma once

#include <memory>
#include <vector>

#include "collective/agreement.hpp"
#include "collective/machine.hpp"

namespace steadfold::collective {

/// Builds partials of the rows at the pointers given to `take`; writes digests into their headers.
class Rows final : public Content {
 public:
  /// `op` is not copied and must outlive it, and so must `agreed`. Throws Failure where the call is not offered.
  Rows(const Agreement& agreed, const arithmetic::Operator& op, Rank rank, Rank rank_count, std::uint32_t segments);

  /// This run's rows. `status` is what is wrong with them.
  void take(const std::byte* first, const std::byte* second, Status status) noexcept;
  /// Copies a finished segment's values into the result's columns.
  void deliver(std::uint32_t segment, std::span<const std::byte> value, std::byte* result) const;
  Bytes value_bytes() const noexcept;

  Bytes partial_capacity(RankRange covers, std::uint32_t segment) const override;
  Bytes working_capacity(RankRange covers, std::uint32_t segment) const override;
  Bytes value_capacity(std::uint32_t segment) const override;
  Bytes lift(std::uint32_t segment, std::span<std::byte> out) override;
  Bytes merge(std::uint32_t segment, std::span<const std::byte> left, std::span<const std::byte> right,
              std::span<std::byte> out) override;
  Bytes finish(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::byte> out) override;
  std::size_t word_count(std::uint32_t segment) const override;
  void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) override;
  Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) override;

 private:
  struct Segment {
    Bytes first_byte = 0;  // of its columns in a row of elements
    std::unique_ptr<arithmetic::PartialKind> kind = nullptr;
    std::unique_ptr<arithmetic::Builder> builder = nullptr;
    Bytes first_result_byte = 0;
    std::vector<std::byte> spare = {};
  };

  const Agreement* agreed_;
  Rank rank_;
  Rank rank_count_;
  Bytes row_bytes_;
  std::vector<Segment> segments_;
  const std::byte* first_ = nullptr;
  const std::byte* second_ = nullptr;
  Status status_ = Status::ok;
};

}  // namespace steadfold::collective
