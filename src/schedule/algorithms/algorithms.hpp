// Declares every `Algorithm` of the registry. Each is defined in a file with its name, which includes this header. To
// add an algorithm, declare it here and list it in registry.cpp. An `Algorithm` states rank order, cost and source.
#pragma once

#include "schedule/registry.hpp"

namespace steadfold::schedule::algorithms {

extern const Algorithm flat_algorithm;
extern const Algorithm linear_algorithm;
extern const Algorithm pipelined_linear_algorithm;
extern const Algorithm binomial_algorithm;
extern const Algorithm knomial_algorithm;
extern const Algorithm recursive_doubling_algorithm;
extern const Algorithm native_algorithm;
extern const Algorithm owner_algorithm;
extern const Algorithm binary_algorithm;
extern const Algorithm pipelined_tree_algorithm;
extern const Algorithm reduce_broadcast_algorithm;
extern const Algorithm doubly_pipelined_linear_algorithm;
extern const Algorithm doubly_pipelined_tree_algorithm;
extern const Algorithm transpose_algorithm;
extern const Algorithm ring_algorithm;
extern const Algorithm halving_doubling_algorithm;
extern const Algorithm circulant_algorithm;
extern const Algorithm bruck_algorithm;
extern const Algorithm dissemination_algorithm;
extern const Algorithm original_dissemination_algorithm;
extern const Algorithm pairwise_exchange_algorithm;
extern const Algorithm two_level_algorithm;
extern const Algorithm root_group_last_algorithm;
extern const Algorithm single_notify_algorithm;
extern const Algorithm multi_notify_algorithm;

}  // namespace steadfold::schedule::algorithms
