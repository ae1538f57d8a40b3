// The exchange that opens every one-shot call: do all ranks make the same call, does anything fail, and, where the
// partials are small, the whole reduction in the same messages.
// Rank order: kept. Cost: that of recursive doubling with messages of at most 2 KiB. Source: ours.
#pragma once

#include <array>

#include "collective/machine.hpp"

namespace steadfold::collective {

/// Which way a one-shot call goes on. Ranks that name different ways meet as `bind`.
enum class Route : std::uint64_t {
  bind = 0,   // agree on a plan first
  here = 1,   // the partials are in the opening itself
  plans = 2,  // plans + n: run the cached plan n
};

/// Bytes: Header, Route, Coverage, 8 bytes unused, then a partial of `kind` where the route is `here`.
class Opening final : public Content {
 public:
  static constexpr Bytes capacity = 2048;  // half of the eager limit of shared memory in Open MPI 4
  static constexpr Bytes prefix = 48;

  /// This rank's side. `here`: `partial()` has been written, `partial_bytes` of it, and merges are `kind`'s.
  void take(const Header& mine, Route route, const order::Coverage& coverage, const arithmetic::PartialKind* kind,
            Bytes partial_bytes) noexcept;
  std::span<std::byte> partial() noexcept { return std::span(mine_).subspan(prefix); }

  /// The parts of an opening that came out.
  static Route route_of(std::span<const std::byte> bytes) noexcept;
  static order::Coverage coverage_of(std::span<const std::byte> bytes) noexcept;
  static std::span<const std::byte> partial_of(std::span<const std::byte> bytes) noexcept {
    return bytes.subspan(prefix);
  }

  Bytes partial_capacity(RankRange, std::uint32_t) const override { return capacity; }
  Bytes working_capacity(RankRange, std::uint32_t) const override { return capacity; }
  Bytes value_capacity(std::uint32_t) const override { return capacity; }
  Bytes lift(std::uint32_t segment, std::span<std::byte> out) override;
  Bytes merge(std::uint32_t segment, std::span<const std::byte> left, std::span<const std::byte> right,
              std::span<std::byte> out) override;
  Bytes finish(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::byte> out) override;

 private:
  alignas(64) std::array<std::byte, capacity> mine_{};
  Bytes size_ = prefix;
  const arithmetic::PartialKind* kind_ = nullptr;
};

}  // namespace steadfold::collective
