// Sets options of a call by name.
// Cost: one comparison of texts per option.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "agreement/failure.hpp"
#include "capi/boundary.hpp"
#include "capi/names.hpp"
#include "capi/sized.hpp"
#include "steadfold/operators.hpp"

namespace steadfold::capi {
namespace {

using agreement::Failure;

[[noreturn]] void refuse(const Option& option, std::string_view value) {
  throw Failure(Status::invalid_argument, "'" + std::string(value) + "' for option " + option.name +
                                              " (the option takes " + option.values + "), give one of these values");
}

template <class Number>
Number number_in(const Option& option, std::string_view value, Number least, Number most) {
  Number found{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), found);
  if (error != std::errc() || end != value.data() + value.size() || found < least || found > most)
    refuse(option, value);
  return found;
}

/// Sets a field that is a number from `least` to `most`.
template <auto field, auto least, auto most = std::numeric_limits<decltype(least)>::max()>
void set_number(sf_call& call, const Option& option, const char* value) {
  call.*field = number_in(option, value, least, most);
}
/// Sets a field that is an enumerator, by the enumerator's name.
template <auto field, sf_list list>
void set_enumerator(sf_call& call, const Option& option, const char* value) {
  using Enumeration = std::remove_reference_t<decltype(call.*field)>;
  call.*field = static_cast<Enumeration>(entry_of(list, value, option.name));
}
/// Sets a field that is a text, to the caller's text.
template <const char* sf_call::*field>
void set_text(sf_call& call, const Option& /*option*/, const char* value) {
  call.*field = value;
}

void set_root(sf_call& call, const Option& option, const char* value) {
  call.root = std::strcmp(value, "all") == 0
                  ? SF_ALL_RANKS
                  : number_in(option, value, std::int32_t{0}, std::numeric_limits<std::int32_t>::max());
}

void set_element_count(sf_call& call, const Option& option, const char* value) {
  call.element_count = std::strcmp(value, "unknown") == 0
                           ? SF_UNKNOWN
                           : number_in(option, value, std::uint64_t{0}, std::uint64_t{SF_UNKNOWN - 1});
}

/// Sets `require` from names separated by commas. An empty text means no guarantees.
void set_require(sf_call& call, const Option& option, const char* value) {
  std::uint32_t bits = 0;
  std::string_view left = value;
  while (!left.empty()) {
    const std::size_t comma = left.find(',');
    bits |= 1u << entry_of(SF_LIST_GUARANTEES, left.substr(0, comma), "guarantee");
    if (comma + 1 == left.size()) refuse(option, value);
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
  }
  call.require = bits;
}

constexpr const char* flag = "0 or 1";
constexpr const char* count = "a number";
constexpr const char* arrays = "arrays";
constexpr const char* vectors = "vectors";

constexpr Option all[] = {
    {"operation", "the operation that is computed", "the name of an operation",
     set_enumerator<&sf_call::operation, SF_LIST_OPERATIONS>, arrays},
    {"method", "the method, which fixes the bits", "the name of a method",
     set_enumerator<&sf_call::method, SF_LIST_METHODS>},
    {"type", "the type of elements", "the name of a type", set_enumerator<&sf_call::type, SF_LIST_TYPES>, arrays},
    {"result_type", "the type of results", "the name of a type", set_enumerator<&sf_call::result_type, SF_LIST_TYPES>,
     arrays},
    {"columns", "elements in a row", count, set_number<&sf_call::columns, std::uint64_t{0}>, arrays},
    {"root", "the rank that gets the result", "a rank or all", set_root},
    {"schedule", "the algorithm that exchanges partial results",
     "the name of a schedule, with or without parameters, auto, or mpich", set_text<&sf_call::schedule>},
    {"element_count", "the number of rows of the whole job", "a number or unknown", set_element_count},
    {"element_bytes", "the size in bytes of an element of type bytes", count,
     set_number<&sf_call::element_bytes, std::size_t{0}>, arrays},
    {"operator_name", "the name by which ranks compare their user operators", "any text",
     set_text<&sf_call::operator_name>},
    {"commutative", "whether the user operator is commutative", flag, set_number<&sf_call::commutative, 0, 1>},
    {"never_fails", "whether the user operator always returns 0", flag, set_number<&sf_call::never_fails, 0, 1>},
    {"writes_right", "whether the user operator writes over its right operand", flag,
     set_number<&sf_call::writes_right, std::int32_t{0}, std::int32_t{1}>},
    {"layout", "which rows of the job this rank has", "the name of a layout",
     set_enumerator<&sf_call::layout, SF_LIST_LAYOUTS>, vectors},
    {"rows", "the number of rows of this rank", count, set_number<&sf_call::rows, std::uint64_t{0}>, arrays},
    {"require", "guarantees: properties of a run on which the bits must not depend",
     "names of guarantees, separated by commas", set_require},
    {"threads", "the number of threads that read this rank's rows", count,
     set_number<&sf_call::threads, std::uint32_t{0}>},
    {"bins", "the number of bins of method binned", "2, 3, 4, or 0 for the library's choice",
     set_number<&sf_call::bins, std::uint32_t{0}, std::uint32_t{4}>},
    {"sweep", "how method binned finds the largest term", "the name of a sweep",
     set_enumerator<&sf_call::sweep, SF_LIST_SWEEPS>},
    {"collective", "which ranks get which results", "the name of a collective",
     set_enumerator<&sf_call::collective, SF_LIST_COLLECTIVES>, vectors},
    {"lanes", "the number of lanes of method tree", "a number from 1 to 1024, or 0 for 1",
     set_number<&sf_call::lanes, std::uint32_t{0}, std::uint32_t{1024}>},
};

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

std::span<const Option> options() noexcept { return all; }

}  // namespace steadfold::capi

extern "C" sf_status sf_call_set(sf_call* call, const char* option, const char* value) {
  using namespace steadfold::capi;
  return caught([&] {
    if (call == nullptr) throw no_call();
    if (option == nullptr || value == nullptr)
      throw steadfold::agreement::Failure(
          steadfold::Status::invalid_argument,
          "the option or its value is missing (a pointer is null), give the option and its value");
    const Option& named = options()[entry_of(SF_LIST_OPTIONS, option, "option")];
    sf_call room;
    sf_call changed = whole(*call, room);
    named.set(changed, named, value);
    give_back(changed, named, *call);
  });
}
