// Every algorithm's function, one file each; registry.cpp has a row for each. A new one is declared here.
// Rank order: stated by the rows. Cost: stated by the rows. Source: stated by the rows.
#pragma once

#include "schedule/step.hpp"

namespace steadfold::schedule::algorithm {

Steps flat(Context context);
Steps linear(Context context);
Steps binomial(Context context);
Steps recursive_doubling(Context context);
Steps native(Context context);

Steps owner(Context context);
Count owner_messages(Context context);
void check_owner(const Spec& spec);

}  // namespace steadfold::schedule::algorithm
