#include "group/handshake.hpp"

#include <cstring>

namespace steadfold::group {
namespace {

/// The fields of a handshake message between the header and the partial.
struct HandshakeTerms {
  Ways ways = no_way;
  order::Coverage coverage;
  std::uint64_t reserved = 0;
};
static_assert(sizeof(Header) + sizeof(HandshakeTerms) == Handshake::prefix);

HandshakeTerms terms_of(std::span<const std::byte> bytes) {
  HandshakeTerms terms;
  if (bytes.size() >= Handshake::prefix) std::memcpy(&terms, bytes.data() + sizeof(Header), sizeof terms);
  return terms;
}

void set_terms(std::span<std::byte> bytes, const HandshakeTerms& terms) {
  std::memcpy(bytes.data() + sizeof(Header), &terms, sizeof terms);
}

}  // namespace

void Handshake::take(const Header& mine, Ways ways, const order::Coverage& coverage,
                     const arithmetic::PartialKind* kind, Bytes partial_bytes) noexcept {
  arithmetic::set_header(mine_, mine);
  set_terms(mine_, {.ways = ways, .coverage = coverage});
  size_ = prefix + ((ways & in_the_handshake) != 0 ? partial_bytes : 0);
  kind_ = kind;
  operator_failed_ = false;
}

Ways Handshake::ways_of(std::span<const std::byte> bytes) noexcept { return terms_of(bytes).ways; }

order::Coverage Handshake::coverage_of(std::span<const std::byte> bytes) noexcept { return terms_of(bytes).coverage; }

Partial Handshake::lift(std::uint32_t /*segment*/, const Covers& /*covers*/, std::span<std::byte> out) {
  std::memcpy(out.data(), mine_.data(), size_);
  return out.first(size_);
}

Partial Handshake::merge_piece(std::uint32_t /*segment*/, const Partial& lefts, const Partial& rights, const Room& room,
                               Pieces& pieces) {
  const std::span<const std::byte> left = lefts.head;
  const std::span<const std::byte> right = rights.head;
  const std::span<std::byte> out = room.head;
  auto [header, ok] = arithmetic::merge_headers(left, right);
  HandshakeTerms terms = terms_of(left);
  const HandshakeTerms other = terms_of(right);
  terms.ways &= other.ways;
  terms.coverage.add(other.coverage);
  // Partials are not merged if they are of a different call, or of a call that this rank cannot make. The status in
  // this rank's header gives the same result.
  const bool is_own_call = kind_ != nullptr && header.digest == arithmetic::header_of(mine_).digest;
  if (!is_own_call) terms.ways &= ~in_the_handshake;
  Bytes size = prefix;
  if (ok && (terms.ways & in_the_handshake) != 0) {
    const Room partial_room{out.subspan(prefix)};
    const Bytes merged = kind_->merge_piece(partial_of(left), partial_of(right), partial_room, pieces).head.size();
    if (pieces.more) return {};
    const Status status = arithmetic::header_of(out.subspan(prefix)).status;
    if (status == Status::operator_failed) operator_failed_ = true;
    if (status == Status::transport_failed)
      terms.ways &= ~in_the_handshake;  // the merged partial does not fit the handshake
    else if (status != Status::ok)
      header.status = status;
    else
      size += merged;
  }
  arithmetic::set_header(out, header);
  set_terms(out, terms);
  return out.first(size);
}

Partial Handshake::finish_piece(std::uint32_t /*segment*/, const Covers& /*covers*/, const Partial& partial,
                                const Room& out, Pieces& /*pieces*/) {
  if (partial.head.size() < prefix) return arithmetic::failed(out, {}, Status::transport_failed);
  std::memcpy(out.head.data(), partial.head.data(), partial.head.size());
  return out.head.first(partial.head.size());
}

}  // namespace steadfold::group
