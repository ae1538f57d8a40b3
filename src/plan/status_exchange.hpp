// An exchange of statuses: finds out whether any rank's operator failed after its last message was sent.
// Cost: one message of 16 bytes per round.
#pragma once

#include "plan/payload.hpp"

namespace steadfold::plan {

/// The payload of the exchange. Its partials and its values are headers without further bytes.
class StatusExchange final : public Payload {
 public:
  void take(Header mine) noexcept { mine_ = mine; }

  Bytes partial_capacity(const Covers&, std::uint32_t) const override { return sizeof(Header); }
  Bytes working_capacity(const Covers&, std::uint32_t) const override { return sizeof(Header); }
  Bytes value_capacity(std::uint32_t) const override { return sizeof(Header); }
  Bytes working_capacity_of_any(std::span<const Covers>, std::uint32_t) const override { return sizeof(Header); }
  Partial lift(std::uint32_t, const Covers&, std::span<std::byte> out) override { return write(out, mine_); }
  Partial merge_piece(std::uint32_t, const Partial& left, const Partial& right, const Room& out, Pieces&) override {
    return write(out.head, arithmetic::merge_headers(left.head, right.head).header);
  }
  Partial finish_piece(std::uint32_t, const Covers&, const Partial& partial, const Room& out, Pieces&) override {
    return write(out.head, arithmetic::header_of(partial.head));
  }

 private:
  static Partial write(std::span<std::byte> out, const Header& header) {
    arithmetic::set_header(out, header);
    return out.first(sizeof header);
  }
  Header mine_;
};

}  // namespace steadfold::plan
