// Into how many segments a call's columns are cut: by the schedule's parameters, or by the pipelining lemma.
// Rank order: not concerned. Cost: O(1); a pure function of the call, so that all ranks agree. Source: the lemma of
// [S1] section 2.5.
#pragma once

#include "schedule/registry.hpp"
#include "transport/topology.hpp"

namespace steadfold::collective {

using order::Bytes;
using order::Count;

/// What the library takes a network for where nobody says: that of predictions.
inline constexpr transport::LogGP assumed_link{};

/// At least 1 and at most `columns`, of `column_bytes` each. The rank and the segments of the context do not count.
std::uint32_t segments_of(const schedule::Spec& spec, schedule::Context context, Count columns, Bytes column_bytes,
                          const transport::LogGP& link = assumed_link);

/// The least time of a pipeline whose first block takes `first` rounds and which delivers one more every `period`
/// rounds, and the number of blocks that it takes: T(m) = (d-s)a + 2 sqrt(s(d-s)abm) + sbm.
struct Pipeline {
  double blocks = 1;
  double seconds = 0;
};
Pipeline best_pipeline(Count first, Count period, Bytes bytes, const transport::LogGP& link);

}  // namespace steadfold::collective
