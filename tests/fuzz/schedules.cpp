// Names of schedules: a Spec or std::invalid_argument with a text of one line.
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "schedule/registry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::string_view all(reinterpret_cast<const char*>(data), size);
    const std::string_view text = all.substr(0, all.find('\0'));  // it comes as a string of C
    if (steadfold::schedule::parse(text).algorithm == nullptr) __builtin_trap();
  } catch (const std::invalid_argument& refusal) {
    if (std::string_view(refusal.what()).find("), ") == std::string_view::npos) __builtin_trap();
  }
  return 0;
}
