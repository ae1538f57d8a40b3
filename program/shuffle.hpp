// The Fisher-Yates shuffle. std::shuffle differs between standard libraries, but ranks must agree.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace steadfold::command {

template <class T>
void shuffle(std::vector<T>& items, std::mt19937_64& random) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::swap(items[left - 1], items[static_cast<std::size_t>(random() % left)]);
}

}  // namespace steadfold::command
