// Every algorithm's function, one file each; registry.cpp has a row for each. A new one is declared here.
// Rank order, cost and source: stated by the rows.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule::algorithm {

Steps flat(Context context);
Steps linear(Context context);
Steps binomial(Context context);
Steps recursive_doubling(Context context);
Steps native(Context context);
Steps binary(Context context);
Steps ring(Context context);
Steps transpose(Context context);
Steps halving_doubling(Context context);
Steps circulant(Context context);
Count halving_doubling_messages(Context context);
Count halving_doubling_rounds(Context context);
double halving_doubling_vectors(Context context);
Count circulant_messages(Context context);
Count circulant_rounds(Context context);
double circulant_vectors(Context context);

/// Part of several: every block's `value(1, s)` goes from its owner straight to the root.
Steps gather_at_root(Context context);

Steps knomial(Context context);
Steps doubly_pipelined_linear(Context context);
Steps doubly_pipelined_tree(Context context);

Steps two_level(Context context);
Count two_level_messages(Context context);
Count two_level_unit(Context context);
void check_two_level(const Spec& spec);

Steps reduce_broadcast(Context context);
Count reduce_broadcast_messages(Context context);
Count reduce_broadcast_partials(Context context);
Count reduce_broadcast_rounds(Context context);
Count reduce_broadcast_unit(Context context);
void check_reduce_broadcast(const Spec& spec);

Count binomial_messages(Context context);
Count binomial_rounds(Context context);
Count binary_rounds(Context context);
Count knomial_rounds(Context context);
void check_knomial(const Spec& spec);
Count doubly_pipelined_linear_rounds(Context context);
Count doubly_pipelined_tree_rounds(Context context);

Steps owner(Context context);
Count owner_messages(Context context);
void check_owner(const Spec& spec);

}  // namespace steadfold::schedule::algorithm
