// Sets options of a call by name.
// Cost: one comparison of texts per option.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "call/failure.hpp"
#include "capi/boundary.hpp"
#include "capi/names.hpp"
#include "capi/option_table.hpp"
#include "capi/sized.hpp"
#include "steadfold/operators.hpp"

namespace steadfold::capi {
namespace {

using call::Failure;

[[noreturn]] void refuse(const Option& option, std::string_view value) {
  throw Failure(Status::invalid_argument, "'" + std::string(value) + "' for option " + option.name +
                                              " (the option takes " + option.values + "), give one of these values");
}

/// Returns the number that a text stands for. 0 is always accepted: it stands for the default if it is below `least`.
std::uint64_t number_in(const Option& option, std::string_view value) {
  if (!option.word.empty() && value == option.word) return option.word_number;
  std::uint64_t found = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), found);
  const bool is_in_range = found == 0 || (option.least <= found && found <= option.most);
  if (error != std::errc() || end != value.data() + value.size() || !is_in_range) refuse(option, value);
  return found;
}

/// Returns the bits of guarantees whose names are separated by commas. An empty text means no guarantees.
std::uint64_t guarantees_in(const Option& option, std::string_view value) {
  std::uint64_t bits = 0;
  std::string_view left = value;
  while (!left.empty()) {
    const std::size_t comma = left.find(',');
    bits |= std::uint64_t{1} << entry_of(SF_LIST_GUARANTEES, left.substr(0, comma), "guarantee");
    if (comma + 1 == left.size()) refuse(option, value);
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
  }
  return bits;
}

std::uint64_t value_of(const Option& option, std::string_view value) {
  switch (option.kind) {
    case Option::Kind::enumerator: return entry_of(option.list, value, option.name);
    case Option::Kind::guarantees: return guarantees_in(option, value);
    default: return number_in(option, value);
  }
}

static_assert(std::ranges::all_of(option_table, [](const Option& option) {
  return option.bytes == (option.kind == Option::Kind::text ? sizeof(const char*) : sizeof(std::uint32_t)) ||
         (option.kind == Option::Kind::number && option.bytes == sizeof(std::uint64_t));
}));

/// Sets the option's field: a text to the caller's text, other fields to a number.
void set(sf_call& call, const Option& option, const char* value) {
  std::byte* const field = reinterpret_cast<std::byte*>(&call) + option.offset;
  if (option.kind == Option::Kind::text) {
    std::memcpy(field, &value, sizeof value);
    return;
  }
  const std::uint64_t number = value_of(option, value);
  const auto half = static_cast<std::uint32_t>(number);
  if (option.bytes == sizeof half)
    std::memcpy(field, &half, sizeof half);
  else
    std::memcpy(field, &number, sizeof number);
}

const std::byte* bytes_of(const sf_call& call) { return reinterpret_cast<const std::byte*>(&call); }

/// Writes the changed fields back to the caller's struct, which may be shorter.
void give_back(const sf_call& changed, const Option& option, sf_call& callers) {
  const std::size_t known = std::min(callers.size, sizeof(sf_call));
  sf_call without = detail::call_of_defaults();  // the call with the values that the library assumes for missing fields
  if (!std::equal(bytes_of(without) + known, bytes_of(without) + sizeof without, bytes_of(changed) + known))
    throw Failure(Status::unsupported, "option " + std::string(option.name) + " for an sf_call of " +
                                           std::to_string(callers.size) +
                                           " bytes (that older struct has no field for the option), " +
                                           "compile the program with the headers of release " STEADFOLD_VERSION);
  const std::size_t size = callers.size;
  std::memcpy(&callers, &changed, known);
  callers.size = size;
}

}  // namespace

std::span<const Option> options() noexcept { return option_table; }

}  // namespace steadfold::capi

extern "C" sf_status sf_call_set(sf_call* call, const char* option, const char* value) {
  using namespace steadfold::capi;
  return caught([&] {
    if (call == nullptr) throw no_call();
    if (option == nullptr || value == nullptr)
      throw steadfold::call::Failure(
          steadfold::Status::invalid_argument,
          "the option or its value is missing (a pointer is null), give the option and its value");
    const Option& named = options()[entry_of(SF_LIST_OPTIONS, option, "option")];
    sf_call room;
    sf_call changed = whole(*call, room);
    set(changed, named, value);
    give_back(changed, named, *call);
  });
}
