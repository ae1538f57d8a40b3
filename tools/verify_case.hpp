// The combinations that `verify` passes to the ranks that it starts.
#pragma once

#include <string>

namespace steadfold::command {

/// One combination, written METHOD@SCHEDULE.
struct Case {
  std::string method;
  std::string schedule;
};

inline std::string text_of(const Case& each) { return each.method + "@" + each.schedule; }
inline Case case_in(const std::string& text) {
  const std::size_t at = text.find('@');
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

}  // namespace steadfold::command
