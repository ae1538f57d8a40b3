// An operator that does not commute: it concatenates texts, so a result shows the order of its operands.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

namespace steadfold::test {

using Text = std::array<char, 80>;

inline int concatenate(const void* left, const void* right, void* result, std::size_t count, void* /*context*/) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string both =
        std::string(static_cast<const Text*>(left)[i].data()) + static_cast<const Text*>(right)[i].data();
    Text text{};
    std::ranges::copy(both, text.begin());
    static_cast<Text*>(result)[i] = text;
  }
  return 0;
}

}  // namespace steadfold::test
