// What handling partials takes on this processor, measured on vectors that its caches hold.
#pragma once

#include "agreement/network.hpp"

namespace steadfold::bench {

/// Of partials of that content: the median of `rounds` samples.
agreement::Rates measured_rates(arithmetic::Content content, int rounds);

}  // namespace steadfold::bench
