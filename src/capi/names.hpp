// The lists of names that the C interface returns and accepts.
// Cost: one comparison of texts per entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "steadfold/steadfold_names.h"

namespace steadfold::capi {

struct ListEntry {
  const char* name;
  const char* about;
};

/// Returns the entries of an enumeration's list, in the order of its numbers.
std::span<const ListEntry> enumerators(sf_list list) noexcept;

/// Returns the position of the entry `name` in any list. Throws Failure if the entry or the list does not exist; `what`
/// describes the name in the error.
std::size_t entry_of(sf_list list, std::string_view name, std::string_view what);

/// An option of a call, which is set by its name: a field of sf_call.
struct Option {
  enum class Kind : std::uint8_t { number, enumerator, text, guarantees };

  const char* name;
  const char* about;
  const char* values;
  Kind kind;
  std::size_t offset;  // of the field in sf_call
  std::size_t bytes;
  sf_list list = {};        // the names of an enumerator
  std::uint64_t least = 0;  // the limits of a number other than 0
  std::uint64_t most = 0;
  std::string_view word = {};  // a word and the number for which it stands
  std::uint64_t word_number = 0;
  // Arguments with which languages set this value, so that it is not an option in these languages: see sf_list_text.
  const char* arguments = "";
};
std::span<const Option> options() noexcept;

}  // namespace steadfold::capi
