// Rates of partials (partial results) on this processor, measured on vectors that fit into its caches.
#pragma once

#include "agreement/network.hpp"

namespace steadfold::bench {

/// The rates for partials with this content: medians of `rounds` samples.
agreement::Rates measured_rates(arithmetic::Content content, int rounds);

}  // namespace steadfold::bench
