#include "capi/sized.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "call/failure.hpp"
#include "capi/boundary.hpp"
#include "steadfold/operators.hpp"

namespace steadfold::capi {
namespace {

using call::Failure;

/// The size of the struct in the first release whose structs have sizes, where sf_call ended with `grid`.
template <class Struct>
struct First;
template <>
struct First<sf_call> {
  static constexpr const char* name = "sf_call";
  static constexpr size_t bytes = offsetof(sf_call, writes_right);
  static constexpr sf_call defaults = detail::call_of_defaults();
};
template <>
struct First<sf_arrays> {
  static constexpr const char* name = "sf_arrays";
  static constexpr size_t bytes = offsetof(sf_arrays, x_count) + sizeof(sf_arrays::x_count);
  static constexpr sf_arrays defaults = detail::arrays_of_nothing();
};

/// Largest size of a struct that a caller may give. A larger size is taken for uninitialised memory.
constexpr size_t most_bytes = 65536;

template <class Struct>
void require_size(size_t size) {
  using first = First<Struct>;
  const auto refuse = [&](const std::string& why) {
    throw Failure(Status::invalid_argument, "an " + std::string(first::name) + " of " + std::to_string(size) +
                                                " bytes (" + why + "), begin with " + first::name +
                                                "_init(&it, sizeof it)");
  };
  if (size > most_bytes) refuse("its size in bytes is at most " + std::to_string(most_bytes));
  if (size < first::bytes) refuse("its size in bytes is at least " + std::to_string(first::bytes));
  if (size % alignof(Struct) != 0) refuse("its size in bytes is a multiple of " + std::to_string(alignof(Struct)));
}

template <class Struct>
[[noreturn]] void refuse_unknown(const Struct& given) {
  throw Failure(Status::unsupported,
                "an " + std::string(First<Struct>::name) + " of " + std::to_string(given.size) +
                    " bytes with fields that this library does not know (release " + STEADFOLD_VERSION + " has " +
                    std::to_string(sizeof(Struct)) +
                    " bytes, including reserved bytes), set the unknown fields to 0 or run with a newer library");
}

template <class Struct>
const Struct& made_whole(const Struct& given, Struct& room) {
  require_size<Struct>(given.size);
  const auto* bytes = reinterpret_cast<const std::byte*>(&given);
  if (given.size > sizeof(Struct) &&
      std::any_of(bytes + sizeof(Struct), bytes + given.size, [](std::byte each) { return each != std::byte{0}; }))
    refuse_unknown(given);
  std::memcpy(&room, &First<Struct>::defaults, sizeof room);
  std::memcpy(&room, bytes, std::min(given.size, sizeof(Struct)));
  room.size = sizeof(Struct);
  if (has_unknown(room)) refuse_unknown(given);
  return room;
}

/// Copies fields to the caller's struct: at most `size` bytes, the size that the caller knows.
template <class Struct>
sf_status begin(Struct* given, size_t size) {
  return caught([&] {
    if (given == nullptr)
      throw Failure(Status::invalid_argument,
                    std::string("no ") + First<Struct>::name + " (the pointer is null), give the address of a struct");
    require_size<Struct>(size);
    auto* bytes = reinterpret_cast<std::byte*>(given);
    const size_t known = std::min(size, sizeof(Struct));
    std::memcpy(bytes, &First<Struct>::defaults, known);
    std::memset(bytes + known, 0, size - known);
    std::memcpy(bytes + offsetof(Struct, size), &size, sizeof size);
  });
}

}  // namespace

const sf_call& completed(const sf_call& given, sf_call& room) { return made_whole(given, room); }
const sf_arrays& completed(const sf_arrays& given, sf_arrays& room) { return made_whole(given, room); }

}  // namespace steadfold::capi

extern "C" {

sf_status sf_call_init(sf_call* call, size_t size) { return steadfold::capi::begin(call, size); }
sf_status sf_arrays_init(sf_arrays* arrays, size_t size) { return steadfold::capi::begin(arrays, size); }
}
