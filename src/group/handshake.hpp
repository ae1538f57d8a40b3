// The exchange that opens every one-shot call. The handshake finds out whether all ranks make the same call and whether
// any rank has failed. If the partials are small, the same messages carry the whole reduction.
// Rank order: kept. Cost: that of a Meeting, with at most 2 KiB from each rank.
#pragma once

#include <array>
#include <bit>

#include "plan/payload.hpp"

namespace steadfold::group {

using arithmetic::Partial;
using arithmetic::Pieces;
using arithmetic::Room;
using order::Bytes;
using order::Rank;
using schedule::Covers;

/// A set of ways in which a one-shot call can continue after the handshake, as bits. The call continues in a way that
/// all ranks offer. If no way is offered by all ranks, they first bind a plan.
using Ways = std::uint64_t;
inline constexpr Ways no_way = 0;
inline constexpr Ways in_the_handshake = 1;  // the way in which the messages of the handshake carry the partials
/// The number of cached plans that `Ways` can name.
inline constexpr std::size_t most_cached_plans = 63;
constexpr Ways by_cached_plan(std::size_t index) noexcept { return Ways{2} << index; }
/// Returns the index of the first cached plan in a set of ways.
constexpr std::size_t cached_plan_of(Ways ways) noexcept {
  return static_cast<std::size_t>(std::countr_zero(ways >> 1));
}

/// The payload of handshakes. Its bytes are: Header, Ways, Coverage, 8 unused bytes, and, if the ways include
/// `in_the_handshake`, a partial of `kind`.
class Handshake final : public plan::Payload {
 public:
  static constexpr Bytes capacity = 2048;  // bytes; half of the eager limit of shared memory in Open MPI 4
  static constexpr Bytes prefix = 48;

  /// Sets this rank's contribution to the handshake. If `ways` include `in_the_handshake`, the caller has written
  /// `partial_bytes` bytes to `partial()`, and `kind` merges them.
  void take(const Header& mine, Ways ways, const order::Coverage& coverage, const arithmetic::PartialKind* kind,
            Bytes partial_bytes) noexcept;
  std::span<std::byte> partial() noexcept { return std::span(mine_).subspan(prefix); }
  /// Whether the user's operator failed on this rank during a merge.
  bool operator_failed() const noexcept { return operator_failed_; }

  /// Return the fields of a finished handshake.
  static Ways ways_of(std::span<const std::byte> bytes) noexcept;
  static order::Coverage coverage_of(std::span<const std::byte> bytes) noexcept;
  static std::span<const std::byte> partial_of(std::span<const std::byte> bytes) noexcept {
    return bytes.subspan(prefix);
  }

  Bytes partial_capacity(const Covers&, std::uint32_t) const override { return capacity; }
  Bytes working_capacity(const Covers&, std::uint32_t) const override { return capacity; }
  Bytes value_capacity(std::uint32_t) const override { return capacity; }
  Bytes working_capacity_of_any(std::span<const Covers>, std::uint32_t) const override { return capacity; }
  Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) override;
  Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                      Pieces& pieces) override;
  Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                       Pieces& pieces) override;

 private:
  alignas(64) std::array<std::byte, capacity> mine_{};
  Bytes size_ = prefix;
  const arithmetic::PartialKind* kind_ = nullptr;
  bool operator_failed_ = false;
};

}  // namespace steadfold::group
