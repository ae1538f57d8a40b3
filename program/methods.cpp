#include "program/methods.hpp"

#include <algorithm>

#include "program/job.hpp"

namespace steadfold::command {

std::vector<std::string> built_methods() { return {"tree", "exact", "binned", "plain"}; }

namespace {

/// The value of a `key=value` of `binned`, or a Failure.
void take_parameter(Method& method, const std::string& name, const std::string& text) {
  if (text == "k=2" || text == "k=3" || text == "k=4")
    method.bins = static_cast<std::uint32_t>(text[2] - '0');
  else if (text == "sweep=single")
    method.sweep = SF_SINGLE_SWEEP;
  else if (text == "sweep=double")
    method.sweep = SF_DOUBLE_SWEEP;
  else
    throw Failure("method '" + name + "' cannot be used ('" + text +
                  "' is none of k=2, k=3, k=4, sweep=single and sweep=double), choose among these");
}

}  // namespace

Method method_named(const std::string& name) {
  const std::string head = family_of(name);
  Method method;
  if (head == "tree") method = tree();
  if (head == "exact") method = exact();
  if (head == "binned") method = binned();
  if (head == "plain") method = plain();
  if (method.id == SF_AUTOMATIC)
    throw Failure("unknown method '" + name + "' (known are tree, exact, binned and plain), choose one of these");
  for (std::size_t at = head.size(); at < name.size();) {
    if (method.id != SF_BINNED)
      throw Failure("method '" + name + "' cannot be used (" + head + " takes no parameters), ask for " + head);
    const std::size_t end = std::min(name.find(':', at + 1), name.size());
    take_parameter(method, name, name.substr(at + 1, end - at - 1));
    at = end;
  }
  return method;
}

}  // namespace steadfold::command
