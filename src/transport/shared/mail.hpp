// The memory that an endpoint over common memory shows to its neighbours: lanes with letters. A letter is a small
// message through common memory.
// Rank order: the letters of a lane arrive in the order sent. Cost: two cache lines per letter, and the bytes beyond
// the first 112. Source: Lapillonne & Peltekov 2013, sender-driven exchange.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "transport/shared/common_memory.hpp"
#include "transport/shared/flags.hpp"

namespace steadfold::transport {

/// A small message (letter) without its number: the bytes of the message, or where the bytes are.
struct Letter {
  static constexpr Bytes most = 112;

  enum class Bears : std::uint8_t {
    bytes,      // the bytes are in this struct
    enclosure,  // the bytes are in the memory beside this message's box
    // This struct has pointers to the sender's memory, which must not change until the receiver has taken the message.
    pointers,
    nothing,  // the message did not fit the lane, and is lost
  };
  struct Pointers {
    const std::byte* data;
    Bytes size;
    const std::byte* second;
    Bytes second_size;
  };
  SlotNumber slot = 0;
  Bears bears = Bears::bytes;
  bool has_second = false;
  std::uint16_t size = 0;  // bytes of the message, in this struct or in the memory beside its box
  union {
    Pointers pointers;
    std::byte bytes[most] = {};
  };
};

/// A rank's mailboxes in common memory: this object, then a lane from every neighbour, then the memory for longer
/// messages, then a flag per slot that says whether small messages for the slot come through the lanes.
class Mail {
 public:
  static constexpr std::size_t depth = 4;
  using MailLane = Lane<MachineMemory, Letter, depth>;
  using WordNotice = Notice<MachineMemory, std::span<std::int64_t>>;
  using DoneNotice = Notice<MachineMemory, bool>;
  static_assert(sizeof(MailLane) == 576);

  /// Returns the size in bytes of a rank's mailboxes. `room` is the number of bytes for each message that does not fit
  /// in a Letter, a multiple of a cache line.
  static Bytes bytes(std::size_t neighbours, Bytes room, std::size_t slots) noexcept {
    return sizeof(Mail) + neighbours * (sizeof(MailLane) + depth * room) + slots;
  }
  static Mail* make(std::byte* block, std::size_t neighbours, Bytes room) noexcept {
    Mail* const mail = new (block) Mail(neighbours, room);
    for (std::size_t i = 0; i < neighbours; ++i) new (&mail->from(i)) MailLane;
    return mail;
  }

  MailLane& from(std::size_t neighbour) noexcept { return reinterpret_cast<MailLane*>(this + 1)[neighbour]; }
  std::byte* room(std::size_t neighbour, std::size_t box) noexcept {
    return reinterpret_cast<std::byte*>(&from(neighbours_)) + (neighbour * depth + box) * room_;
  }
  Bytes room() const noexcept { return room_; }
  /// Whether small messages for a slot come through the lanes. The flag is written before the neighbours see the mail.
  std::byte& takes_letters(SlotNumber slot) noexcept { return room(neighbours_, 0)[slot]; }

  WordNotice words;                      // pointers to the words that this rank adds (threads only)
  DoneNotice added;                      // says that this rank has added its share of the words
  MachineMemory::Counter runs_ended{0};  // number of runs that this rank has finished

 private:
  Mail(std::size_t neighbours, Bytes room) noexcept : neighbours_(neighbours), room_(room) {}

  alignas(cache_line) std::size_t neighbours_;
  Bytes room_;
};

}  // namespace steadfold::transport
