// Made by ./dev surface from the tables in surface/: edit the tables.
//
// The options of calls.
#pragma once

namespace steadfold::python {

struct Option {
  const char* name;
  bool is_number;
  bool is_of_vectors;  // whether calls in MPI's shape take it
};
inline constexpr Option option_table[] = {
    {"method", false, true},    // the method, which fixes the bits
    {"root", true, true},       // the rank that gets the result
    {"schedule", false, true},  // the algorithm that exchanges partial results
    {"layout", false, false},   // which rows of the job this rank has
    {"require", false, true},   // guarantees: properties of a run on which the bits must not depend
    {"threads", true, true},    // the number of threads that read this rank's rows
};

}  // namespace steadfold::python
