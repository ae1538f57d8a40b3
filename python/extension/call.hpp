// A reduction as Python asks for it, as a call of the C interface, with all that it points to.
//
// Rank order: rows are the elements of the axes that are reduced, in C order. Cost: some 100 ns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "steadfold/steadfold_names.h"

namespace steadfold::python {

class UserOperator;

/// Which rows of the whole job a rank brings: a value that Python makes.
struct Layout {
  sf_layout kind = SF_RANK_ORDER;
  std::vector<sf_interval> intervals;
  sf_grid grid{};
};

/// What Python gives, as it is. `None` where nothing is given.
struct Arguments {
  sf_operation operation;
  bool are_weights;  // the factors, which are stretched to the elements; else each element has a partner
  nb::handle x, factors, axis, dtype, where, labels, groups, method, layout, root, schedule, require, keepdims, threads;
};

/// A call, the memory that it reads, which stays as long as this does, and its results.
struct Call {
  Call() = default;
  Call(const Call&) = delete;  // C's structs point into it
  Call& operator=(const Call&) = delete;

  sf_call call;
  sf_arrays arrays;
  const void* first = nullptr;
  const void* second = nullptr;
  Results results;
  nb::object x, factors, mask, labels;
  nb::object texts;  // a tuple of what C's texts point to
  std::vector<std::uint64_t> blocks;
  Layout layout;
  std::shared_ptr<UserOperator> user;
};

/// The type of results where no dtype is given: NumPy's, but that halves become floats.
sf_type default_result(sf_operation operation, sf_type type);

/// Fills a call. False: the library has no such operation for elements of this type, and nothing was refused.
[[nodiscard]] bool translate(const Arguments& from, Call& to);

/// A name, which is neither empty nor has null characters: valid as long as the text that is given.
const char* text_of(nb::handle given, const char* what);

/// Where a name stands in a list.
std::size_t entry_of(sf_list list, nb::handle name);

/// Method, layout, root, schedule and guarantees: options that all calls have.
void take_options(const Arguments& from, Call& to);

/// Runs it over the group, or alone if there is none, without Python's lock where that may take long.
sf_status run(Call& call, sf_group* group);

/// What the caller on this rank gets: the results, or None on ranks that get none.
nb::object outcome(Call& call, int rank);

/// Whether every operand is the array that was given, and no copy of it. A call that is run again reads the same
/// memory.
bool reads_what_was_given(const Call& call, const Arguments& given);

}  // namespace steadfold::python
