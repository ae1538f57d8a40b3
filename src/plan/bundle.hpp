// The payload of a bundle's slots. A bundle is several calls (its members) in one plan. Each slot holds the partials of
// all members, which are merged member by member.
// Rank order: that of the members. Cost: that of the members, plus 8 bytes per member and 16 bytes per message.
//
// A partial consists of a Header, the size of every member's partial (64 bits each), and these partials, each on a
// 16-byte boundary. A value consists of a Header and every member's value in a part of fixed size. The header's status
// is the worst status of the members. A header by itself says that all members failed.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plan/rows.hpp"

namespace steadfold::plan {

/// The payload of a bundle. A bundle has one segment. The members must outlive it.
class Bundle final : public Payload, private WordPayload {
 public:
  Bundle(std::span<const std::unique_ptr<RowsPayload>> members, std::uint64_t digest);

  /// Returns the bytes that belong to one member in the finished value of a bundle.
  std::span<const std::byte> value_of(std::size_t member, std::span<const std::byte> value) const noexcept;

  Bytes partial_capacity(const Covers& covers, std::uint32_t segment) const override;
  Bytes working_capacity(const Covers& covers, std::uint32_t segment) const override;
  Bytes value_capacity(std::uint32_t segment) const override;
  Bytes working_capacity_of_any(std::span<const Covers> parts, std::uint32_t segment) const override;
  Partial lift(std::uint32_t segment, const Covers& covers, std::span<std::byte> out) override;
  Partial merge_piece(std::uint32_t segment, const Partial& left, const Partial& right, const Room& out,
                      Pieces& pieces) override;
  Partial finish_piece(std::uint32_t segment, const Covers& covers, const Partial& partial, const Room& out,
                       Pieces& pieces) override;
  /// Prepares the merges of all members. A bundle prepares a merge only if all members do.
  Preparation prepare_merge(std::uint32_t segment, const Covers& left, const Covers& right,
                            const Covers* finish) override;
  WordPayload* words() noexcept override;

 private:
  class Merge;
  std::size_t word_count(std::uint32_t segment) const override;
  void to_words(std::uint32_t segment, std::span<const std::byte> partial, std::span<std::int64_t> words) override;
  Bytes from_words(std::uint32_t segment, std::span<const std::int64_t> sums, std::span<std::byte> out) override;
  template <class WriteMember>
  Bytes write(Header header, std::span<std::byte> out, const WriteMember& write_member) const;
  bool well_formed(std::span<const std::byte> partial) const noexcept;
  std::span<const std::unique_ptr<RowsPayload>> members_;
  std::uint64_t digest_;
  Bytes prefix_;  // bytes of a partial before the first member's partial
  struct ByteRange {
    Bytes at;
    Bytes bytes;
  };
  std::vector<ByteRange> values_;  // by member: where the value of a bundle has the member's value
  Bytes value_bytes_;              // bytes of all members' values
};

}  // namespace steadfold::plan
