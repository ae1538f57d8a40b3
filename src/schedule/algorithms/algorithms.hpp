// Declares the registry row of every algorithm. Each row is defined in the file of its algorithm, which includes this
// header. To add an algorithm, declare its row here and list it in registry.cpp. The rows state rank order, cost and
// source.
#pragma once

#include "schedule/registry.hpp"

namespace steadfold::schedule::algorithm {

extern const Row flat_row;
extern const Row linear_row;
extern const Row pipelined_linear_row;
extern const Row binomial_row;
extern const Row knomial_row;
extern const Row recursive_doubling_row;
extern const Row native_row;
extern const Row owner_row;
extern const Row binary_row;
extern const Row pipelined_tree_row;
extern const Row reduce_broadcast_row;
extern const Row doubly_pipelined_linear_row;
extern const Row doubly_pipelined_tree_row;
extern const Row transpose_row;
extern const Row ring_row;
extern const Row halving_doubling_row;
extern const Row circulant_row;
extern const Row bruck_row;
extern const Row dissemination_row;
extern const Row original_dissemination_row;
extern const Row pairwise_exchange_row;
extern const Row two_level_row;
extern const Row root_group_last_row;
extern const Row single_notify_row;
extern const Row multi_notify_row;

}  // namespace steadfold::schedule::algorithm
