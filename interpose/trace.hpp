// Records every reduction of a process, and compares the record with that of another run. A record has 24 bytes per
// call: digests of a rank's contribution and of its result. STEADFOLD_INTERPOSE_RECORD=FILE writes FILE.RANK.
// STEADFOLD_INTERPOSE_COMPARE=FILE reads it and reports the first calls that differ.
// Cost: a pass over input and result, and a lock. Types with gaps are packed.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "movement.hpp"

namespace steadfold::interpose {

/// Whether the environment asks for a record.
bool is_recorded();
bool is_compared();
/// Opens the files of this rank. Returns why the record cannot be written; empty if it can.
std::string open_trace();
/// Whether calls are recorded or compared.
bool is_traced();
/// Removes the record that this rank began, if the program ends before its first call.
void drop_trace();
/// Returns a digest of this rank's contribution, and of collective, operator and count.
std::uint64_t input_digest(const Call& call);
std::uint64_t result_digest(const Call& call, const Communicator& comm);
/// Records a call that has ended, or compares it with the other run.
void trace(const CallName& name, std::uint64_t input, std::uint64_t result, const Call& call);
/// Closes the record, or prints the first differences on rank 0. All ranks call this function when MPI ends.
void end_trace();
/// Prints the first differences of this rank, which ends without MPI_Finalize.
void end_trace_alone();

}  // namespace steadfold::interpose
