// Makes the kind of partial of a call, from its method and from wrappers for masks, conversions and columns with
// separate rows.
// Rank order and cost: those of the kind of partial.
#pragma once

#include <memory>

#include "arithmetic/operator.hpp"
#include "arithmetic/partial.hpp"
#include "order/layout.hpp"

namespace steadfold::call {

using arithmetic::Count;
using order::Rank;

struct Description;

/// The rows of all ranks together, whose partials a schedule merges.
struct MergedRows {
  Count rows = arithmetic::unknown_count;
  Rank ranks = 1;
  const order::Layout* layout = nullptr;  // null: the rows are one interval
};
/// Makes the kind of partial for `columns` columns of a call's rows. If `merged` is known, partials of few wide rows
/// may be the rows themselves. The operator must outlive the kind. Throws Failure if the method does not serve the
/// operation or the type.
std::unique_ptr<arithmetic::PartialKind> make_kind(const Description& description, const arithmetic::Operator& op,
                                                   Count columns, const MergedRows& merged = {});

}  // namespace steadfold::call
