// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The parameters of methods.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "arithmetic/operator.hpp"
#include "call/methods.hpp"
#include "call/whole_word.hpp"

namespace steadfold::call {

/// The parameters of methods, one word each. In a call, 0 stands for the default. In a description, the parameters of
/// other methods are 0.
struct MethodParameters {
  order::Count bins = 0;               // the number of bins of method binned
  WholeWord<arithmetic::Sweep> sweep;  // how method binned finds the largest term
  order::Count lanes = 0;              // the number of lanes of method tree

  friend bool operator==(const MethodParameters&, const MethodParameters&) = default;
};

/// A parameter of a method.
struct MethodParameter {
  std::string_view name;
  Method method;
  order::Count least = 0;
  order::Count most = 0;
  order::Count by_default = 0;
  std::span<const std::string_view> names = {};  // the names of the values, if they have names
};
inline constexpr std::string_view sweep_names[] = {"single_sweep", "double_sweep"};
inline constexpr MethodParameter parameter_table[] = {
    {.name = "bins", .method = Method::binned, .least = 2, .most = 4, .by_default = 3},
    {.name = "sweep", .method = Method::binned, .most = std::size(sweep_names) - 1, .names = sweep_names},
    {.name = "lanes", .method = Method::tree, .least = 1, .most = 1024, .by_default = 1},
};
/// The parameters as numbers, in the order of the table.
using ParameterWords = std::array<std::uint64_t, std::size(parameter_table)>;
constexpr ParameterWords words_of(const MethodParameters& given) noexcept {
  return std::bit_cast<ParameterWords>(given);
}

/// Returns the parameters of one method, with defaults in place of 0. The parameters of other methods are 0.
constexpr MethodParameters with_defaults(const MethodParameters& given, Method method) noexcept {
  MethodParameters filled;
  if (method == Method::binned) {
    filled.bins = given.bins == 0 ? 3 : given.bins;
    filled.sweep = given.sweep;
  }
  if (method == Method::tree) {
    filled.lanes = given.lanes == 0 ? 1 : given.lanes;
  }
  return filled;
}

/// Returns the parameters that a public struct has. `number` reads an enumerator as a number.
template <class Given, class Number>
constexpr MethodParameters parameters_of(const Given& given, Number number) {
  return {.bins = given.bins, .sweep = static_cast<arithmetic::Sweep>(number(given.sweep)), .lanes = given.lanes};
}

}  // namespace steadfold::call
