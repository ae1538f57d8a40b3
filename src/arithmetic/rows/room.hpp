// Memory that grows to what is asked of it and is kept: a second round of the same size allocates nothing.
#pragma once

#include <cstddef>
#include <vector>

#include "order/index.hpp"

namespace steadfold::arithmetic {

inline void make_room(std::vector<std::byte>& memory, order::Bytes size) {
  if (memory.size() < size) memory.resize(size);
}

}  // namespace steadfold::arithmetic
