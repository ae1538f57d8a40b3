// Reports the treatment of the calls of this process: a table on standard error, or JSON in a file.
// Cost: none without a report; with a report, a lock and a search in a short list per call.
#pragma once

#include <mpi.h>

#include "diagnosis.hpp"
#include "functions.h"
#include "movement.hpp"
#include "rows.hpp"

namespace steadfold::interpose {

/// Prints a line on standard error.
void say(const std::string& text);

/// An outcome of a run. `reported`: rank 0 has written a report. The others are results of a comparison.
enum class Outcome { reported, same, differs, not_compared };
/// Adds the outcome to the file that `steadfold run` names, if it started this process on its machine.
void note_outcome(Outcome outcome);

/// Returns the name of a type, as reports show it.
std::string name_of_type(MPI_Datatype type);

/// Records a call that has ended, or a started call that has returned. `seconds` is the time of the call.
void note(const Call& call, Treatment treatment, double seconds, const Difference& difference);

/// Returns why the report cannot be written to this file; empty if it can be, or if there is no file.
std::string fault_of_report(const std::string& file);

/// Writes the report. `rank` and `size` belong to MPI_COMM_WORLD. If `file` is empty, writes a table to standard error.
void write_report(const steadfold_interpose_shim& shim, sf_method method, int rank, int size, const std::string& file);

}  // namespace steadfold::interpose
