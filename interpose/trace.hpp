// A record of every reduction of a process, and the comparison with that of another run: 24 bytes per call, in which
// digests say whether what a rank contributed and what it got were the same. STEADFOLD_INTERPOSE_RECORD=FILE writes
// FILE.RANK; STEADFOLD_INTERPOSE_COMPARE=FILE reads it and tells the first call that differs.
// Cost: a pass over input and result, a lock; types with gaps are packed. A comparison keeps the record in memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "movement.hpp"

namespace steadfold::interpose {

/// What the environment asks for.
bool is_recorded();
bool is_compared();
/// Opens the files of this rank. Returns why the record cannot be written, or nothing.
std::string open_trace();
/// Whether calls are recorded or compared.
bool is_traced();
/// The program ends before its first call: removes the record that this rank began.
void drop_trace();
/// A digest of what this rank contributes, and of collective, operator and count.
std::uint64_t input_digest(const Call& call);
std::uint64_t result_digest(const Call& call, const Communicator& comm);
/// A call is over.
void trace(const CallName& name, std::uint64_t input, std::uint64_t result, const Place& place);
/// All ranks, when MPI ends: closes the record, or prints on rank 0 where the runs part.
void end_trace();

}  // namespace steadfold::interpose
