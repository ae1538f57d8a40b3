// Measures the time to handle partials (partial results) on this processor, with vectors that fit in its caches.
#pragma once

#include "plan/network.hpp"

namespace steadfold::bench {

/// Returns the rates for partials with this content: medians of `rounds` samples.
plan::Rates measured_rates(arithmetic::Content content, int rounds);

}  // namespace steadfold::bench
