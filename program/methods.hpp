// The names of methods on the command line.
#pragma once

#include <string>
#include <vector>

#include "schedule/registry.hpp"
#include "steadfold/types.hpp"

namespace steadfold::call {
struct MethodParameters;
struct MethodProperties;
}  // namespace steadfold::call

namespace steadfold::command {

/// Returns the help text of an option that takes a method.
std::string method_help();

/// Return the names of all methods, and of the methods with a property (see call::MethodProperties).
std::vector<std::string> built_methods();
std::vector<std::string> methods_promising_the_same_bits();
std::vector<std::string> methods_rounding_once();

/// Returns a method's name without its parameters.
inline std::string family_of(const std::string& method) { return method.substr(0, method.find(':')); }
/// Returns the library's value for a method's name. Throws Failure for unknown names.
Method method_named(const std::string& name);
/// Returns a method's parameters in the library's type.
call::MethodParameters parameters_of(const Method& method);

/// Returns the library's properties of a method, whatever its parameters. Throws Failure for unknown names.
const call::MethodProperties& properties_named(const std::string& method);

/// Returns the properties of a method, with its parameters, that schedules need. Throws Failure for unknown names.
schedule::Merging merging_named(const std::string& method);

/// Whether a method promises the same bits for every rank count, distribution and schedule. Throws Failure for unknown
/// names.
bool promises_the_same_bits(const std::string& method);

}  // namespace steadfold::command
