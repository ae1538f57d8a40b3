// The data of one run of a case, and the expected results, the same on every rank.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "case.hpp"
#include "elements.hpp"
#include "oracle.hpp"

namespace steadfold::soak {

struct Prepared {
  Case made;
  std::vector<Elements> elements;               // one per member
  std::vector<std::vector<Expected>> expected;  // per member and rank; see expected_of

  const Expected& expected_on(std::size_t member, std::size_t rank) const {
    return expected[member].size() == 1 ? expected[member].front() : expected[member][rank];
  }
};

/// Makes the data of a run when a rank asks for them. Ranks of one process share the data; they are freed after the
/// last rank has asked.
class Preparation {
 public:
  Preparation(std::uint64_t seed, std::size_t ranks, std::size_t ranks_here, const Limits& limits)
      : seed_(seed), ranks_(ranks), ranks_here_(ranks_here), limits_(limits) {}

  std::uint64_t seed() const { return seed_; }
  std::size_t ranks() const { return ranks_; }

  std::shared_ptr<const Case> case_of(std::uint64_t number);
  std::shared_ptr<const Prepared> get(std::uint64_t number, std::uint64_t run);

 private:
  template <class T>
  struct Shared {
    std::shared_ptr<const T> made;
    std::size_t asked = 0;
  };
  template <class Key, class T, class Make>
  std::shared_ptr<const T> shared(std::map<Key, Shared<T>>& all, const Key& key, const Make& make);

  std::uint64_t seed_;
  std::size_t ranks_;
  std::size_t ranks_here_;
  Limits limits_;
  std::map<std::uint64_t, Shared<Case>> cases_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Shared<Prepared>> prepared_;
};

}  // namespace steadfold::soak
