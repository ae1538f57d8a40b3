// The text of a method with parameters: "exact", "binned:bins=2:sweep=double_sweep". The file uses only the public
// interface, as the extension for Python does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "steadfold/operations.hpp"
#include "steadfold/steadfold_names.h"

namespace steadfold {

struct MethodText {
  std::string name;
  std::vector<std::string> parameters;  // for instance "bins=2"
};

inline MethodText split_method(const std::string& text) {
  const std::size_t head = std::min(text.find(':'), text.size());
  MethodText method{.name = text.substr(0, head), .parameters = {}};
  for (std::size_t at = head, end = 0; at < text.size(); at = end) {
    end = std::min(text.find(':', at + 1), text.size());
    method.parameters.push_back(text.substr(at + 1, end - at - 1));
  }
  return method;
}

/// Sets a parameter of the call's method. Returns the parameter's name; empty if the method does not take the parameter
/// or its value.
inline std::string set_parameter(sf_call& call, const std::string& text) {
  const std::string name = text.substr(0, text.find('='));
  const std::string value = text.substr(std::min(name.size() + 1, text.size()));
  const bool is_of_method =
      std::any_of(std::begin(detail::method_parameters), std::end(detail::method_parameters),
                  [&](const detail::NamedMethod& each) { return each.method == call.method && each.name == name; });
  const bool is_set =
      is_of_method && !value.starts_with('0') && sf_call_set(&call, name.c_str(), value.c_str()) == SF_OK;
  return is_set ? name : "";
}

}  // namespace steadfold
