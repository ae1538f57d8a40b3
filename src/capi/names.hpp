// The lists of names that the C interface returns and accepts.
// Cost: one comparison of texts per entry.
#pragma once

#include <cstddef>
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

/// An option of a call, which is set by its name.
struct Option {
  const char* name;
  const char* about;
  const char* values;
  // Sets the option in the call; throws Failure if the value is not valid.
  void (*set)(sf_call& call, const Option& option, const char* value);
  // Arguments with which languages set this value, so that it is not an option in these languages: see sf_list_text.
  const char* arguments = "";
};
std::span<const Option> options() noexcept;

}  // namespace steadfold::capi
