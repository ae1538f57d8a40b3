// Converts a reduction in Python to a call of the C interface, with all the data to which the call points.
//
// Rank order: rows are the elements of the reduced axes, in C order. Cost: about 100 ns.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "steadfold/steadfold_names.h"

namespace steadfold::python {

class UserOperator;

/// Says which rows of the whole job a rank has. Python code makes this object.
struct Layout {
  sf_layout kind = SF_RANK_ORDER;
  std::vector<sf_interval> intervals;
  sf_grid grid{};
};

/// The arguments from Python, not converted yet. `None` if an argument is not given.
struct Arguments {
  sf_operation operation;
  bool are_weights;  // whether the factors are broadcast to the elements; otherwise every element must have a factor
  nb::handle x, factors, axis, dtype, where, labels, groups, keepdims, initial;
  nb::handle options;              // a dict: see the names in options.hpp
  nb::handle chunks = nb::none();  // the chunks of a column (_arrow.Chunks), of which x has the type and the shape
};

/// A call, the objects whose memory it reads (kept alive), and its results.
struct Call {
  Call() = default;
  Call(const Call&) = delete;  // not copied, because C structs point into this object
  Call& operator=(const Call&) = delete;

  sf_call call;
  sf_arrays arrays;
  const void* first = nullptr;
  const void* second = nullptr;
  Results results;
  nb::object x, factors, mask, labels, initial, chunks;
  std::vector<nb::object> texts;  // the objects whose memory the C texts point to
  std::vector<std::uint64_t> blocks;
  Layout layout;
  std::shared_ptr<UserOperator> user;
};

/// Returns the type of results if no dtype is given: the same as in NumPy, except that halves become floats.
sf_type default_result(sf_operation operation, sf_type type);

/// Fills a call. Returns false if the library lacks the operation for elements of this type; in this case there is no
/// error.
[[nodiscard]] bool translate(const Arguments& from, Call& to);

/// Sets the initial value, unless it is None or not given: a value of this shape, converted to the dtype.
void take_initial(nb::handle given, const nb::object& dtype, std::span<const npy_intp> shape, Call& to);

/// Checks a name, which must not be empty or contain null characters. The pointer is valid as long as the given text.
const char* text_of(nb::handle given, const char* what);

/// Finds the position of a name in a list.
std::size_t entry_of(sf_list list, nb::handle name);

/// Sets the options that a dict names. Refuses other names, and in MPI's shape also the options that the call sets.
void take_options(nb::handle options, bool is_of_vectors, Call& to);

/// Runs the call over the group, or in this process alone if there is none. Releases Python's lock if the call may take
/// long.
sf_status run(Call& call, sf_group* group);

/// Returns the return value on this rank: the results, or None on ranks that get no result.
nb::object outcome(Call& call, int rank);

/// Whether every operand is the given array and not a copy of it. A call that is run again reads the same memory.
bool reads_what_was_given(const Call& call, const Arguments& given);

}  // namespace steadfold::python
