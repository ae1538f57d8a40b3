// Checks test vectors: inputs, calls and the bits of their results, as in the files of share/steadfold/vectors.
// docs/how_to/vectors.md defines the files. tests/golden/vectors.py writes them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold {

/// One input: hexadecimal bits of each element. `y` has the second factors or the weights, `mask` 0 or 1 for each
/// element. Either may be empty if no vector needs it.
struct VectorInput {
  std::vector<std::string> x;
  std::vector<std::string> y;
  std::vector<int> mask;
};

/// An operation over one input, and the bits of its result by each method.
struct TestVector {
  std::string operation;
  std::string result;                       // the result's type
  std::string input;                        // name of the input
  std::string initial;                      // bits of the initial value; empty without an initial value
  std::map<std::string, std::string> bits;  // `empty` if the operation has no result without elements
};

/// The vectors of one element type.
struct VectorFile {
  std::string type;
  std::map<std::string, VectorInput> inputs;
  std::vector<TestVector> vectors;
};

struct VectorsChecked {
  std::uint64_t checked = 0;       // number of results
  std::uint64_t not_run_here = 0;  // results whose type this machine or its compiler lacks
  std::vector<std::string> wrong;  // one line per result that differs from the file
};

/// Returns one line for each result: its name, which is operation, types, input, initial value and method, and its
/// bits.
std::string list_of(const VectorFile& file);

/// Computes every result in this process: with one thread, and with three threads and rows out of order. Throws
/// std::invalid_argument if the file has an error, and std::runtime_error if the library refuses a call.
VectorsChecked check_vectors_alone(const VectorFile& file);
/// Computes every result on all ranks of the group, each with a part of the rows. Collective. Throws on all ranks as
/// check_vectors_alone does.
VectorsChecked check_vectors_over(sf_group& group, const VectorFile& file);

}  // namespace steadfold
