// How the rows of a call become partials: by its method, with what goes around it, such as masks, conversions and
// columns with rows of their own. Rank order and cost: those of the kind of partial.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "order/layout.hpp"

namespace steadfold::agreement {

using arithmetic::Count;
using order::Rank;

struct Description;

/// The rows whose partials a schedule merges, of all ranks together.
struct MergedRows {
  Count rows = arithmetic::unknown_count;
  Rank ranks = 1;
};
/// How a call's rows are combined, `columns` of them. `merged`: if it is known, partials of few wide rows are the rows
/// themselves. The operator must outlive the kind. Throws Failure where the method does not serve the operation or the
/// type.
std::unique_ptr<arithmetic::PartialKind> make_kind(const Description& description, const arithmetic::Operator& op,
                                                   Count columns, const MergedRows& merged = {});

}  // namespace steadfold::agreement
