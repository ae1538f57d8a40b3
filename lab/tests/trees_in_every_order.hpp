// Reductions over lanes under the model of memory, for tests of one reduction after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/protocols/tree_reduce.hpp"
#include "transport/in_every_order.hpp"
#include "trees.hpp"

namespace steadfold::transport {

/// One reduction per tree, with no result that comes back: the credit of each lane is all that keeps workers together.
template <class Memory, std::size_t depth, template <class, class, std::size_t, class> class Notify>
Report reduce(std::size_t workers, const std::vector<Parents>& trees) {
  Search search;
  typename Ends<Memory, Plain, depth>::Lanes lanes;
  for (std::size_t w = 0; w < workers; ++w) {
    search.worker([&, w] {
      Ends<Memory, Plain, depth> ends(lanes, w);
      for (std::uint64_t i = 0; i < trees.size(); ++i) {
        const auto place = ends.place(trees[i], workers);
        Sum sum{contribution(w, i)};
        Notify<Memory, Plain, depth, Sum> notify(place, sum);
        while (!notify.done()) await([&] { return notify.advance(); });
        if (place.parent == nullptr) require(sum.value == sum_of_all(workers, i), "wrong sum");
      }
    });
  }
  return search.run();
}

}  // namespace steadfold::transport
