// The extension module steadfold._core: the C interface, with NumPy's arrays as operands. The functions for users are
// in steadfold/*.py.
#define STEADFOLD_IMPORTS_NUMPY
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "accumulators.hpp"
#include "call.hpp"
#include "lock.hpp"
#include "program/doctor/examination.hpp"
#include "program/doctor/vectors.hpp"
#include "runs.hpp"
#include "src/arithmetic/environment.hpp"

namespace steadfold::python {
namespace {

Layout layout_of(sf_layout kind) {
  Layout layout;
  layout.kind = kind;
  return layout;
}

Layout intervals_layout(nb::handle intervals) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  if (!nb::try_cast(intervals, pairs))
    refuse_type(
        "intervals are %R (pairs of whole numbers that are not negative are needed), give a list of (begin, end)",
        intervals.ptr());
  Layout layout = layout_of(SF_INTERVALS);
  for (const auto& [begin, end] : pairs) layout.intervals.push_back({begin, end});
  return layout;
}

using Numbers = std::vector<std::uint64_t>;

/// Makes the layout of a grid. `blocks` and `first` may be empty: one block for each rank, from rank 0 on.
Layout grid_layout(nb::handle given_shape, nb::handle given_ranks, nb::handle given_blocks, nb::handle given_first) {
  const auto shape = number<Numbers>(given_shape, "shape"), ranks = number<Numbers>(given_ranks, "ranks"),
             blocks = number<Numbers>(given_blocks, "blocks"), first = number<Numbers>(given_first, "first");
  Layout layout = layout_of(SF_GRID);
  if (shape.empty() || shape.size() > SF_MOST_GRID_AXES)
    refuse("a grid of %zd axes (a grid has 1 to %d axes), give a shape with fewer axes", shape.size(),
           SF_MOST_GRID_AXES);
  for (const Numbers* const list : {&ranks, &blocks, &first}) {
    if (list->size() != shape.size() && (list == &ranks || !list->empty()))
      refuse(
          "a grid of %zd axes with a list of %zd numbers (there is one number for each axis), give one number per axis",
          shape.size(), list->size());
  }
  layout.grid.axis_count = static_cast<std::uint32_t>(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i)
    layout.grid.axes[i] = {shape[i], ranks[i], blocks.empty() ? 0 : blocks[i], first.empty() ? 0 : first[i]};
  return layout;
}

void add_layouts(nb::module_& module) {
  const auto name = [](const Layout& self) { return std::string(sf_list_name(SF_LIST_LAYOUTS, self.kind)); };
  nb::class_<Layout>(module, "Layout",
                     "Says which rows of the whole job a rank has.\n\n"
                     ">>> import steadfold as sf\n"
                     ">>> rank = sf.Team(1)[0]  # or a communicator of mpi4py\n"
                     ">>> rows = sf.Layout.intervals([(0, 2)])  # all rows are here: 0 and 1\n"
                     ">>> float(sf.sum([1.0, 2.0], method=\"tree\", comm=rank, layout=rows))\n"
                     "3.0")
      .def_static(
          "anywhere", [] { return layout_of(SF_ANYWHERE); },
          "Rows without indices, for exact sums and other calls in which positions do not matter.")
      .def_static(
          "rank_order", [] { return layout_of(SF_RANK_ORDER); },
          "The rows of rank 0, then the rows of rank 1, and so on.")
      .def_static(
          "row_per_rank", [] { return layout_of(SF_ROW_PER_RANK); }, "Rank r has row r, as in MPI's own reductions.")
      .def_static("intervals", &intervals_layout, nb::arg("intervals").none(),
                  "For every pair (begin, end) the rows begin to end - 1, in the order in which they are in memory.")
      .def_static("grid", &grid_layout, nb::arg("shape").none(), nb::arg("ranks").none(),
                  nb::arg("blocks").none() = nb::make_tuple(), nb::arg("first").none() = nb::make_tuple(),
                  "The rows of an array of one to three axes, in C order, that a grid of ranks holds. Every argument "
                  "has one number per axis. `shape`: the extent. `ranks`: the number of ranks along the axis; one axis "
                  "may have 0, then its number follows from the others. `blocks`: the size of the blocks that the "
                  "ranks get in turn; 0 means one block per rank. `first`: the rank that gets the first block.")
      .def_prop_ro("kind", name)
      .def("__repr__", [name](const Layout& self) { return "<steadfold.Layout: " + name(self) + ">"; });
}

void add_names(nb::module_& module) {
  module.def("names", [](int list) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < sf_list_size(static_cast<sf_list>(list)); ++i)
      names.emplace_back(sf_list_name(static_cast<sf_list>(list), i));
    return names;
  });
  module.def("version", &sf_version);
}

nb::dict dictionary_of(const Examination& found) {
  nb::dict result;
  result["cases"] = found.cases;
  result["checked"] = found.checked;
  result["wrong"] = found.wrong;
  result["digest"] = found.digest;
  return result;
}

/// Examines the installation over a communicator, or in this process alone if `comm` is None.
nb::dict examine(nb::handle comm) {
  // Without this object, its operators would run in the caller's environment.
  const arithmetic::PromisedEnvironment environment;
  sf_group* const group = group_of(comm);
  return dictionary_of(without_lock([&] { return group == nullptr ? examine_alone() : examine_over(*group); }));
}

using InputLists = std::tuple<std::vector<std::string>, std::vector<std::string>, std::vector<int>>;
using VectorTuple = std::tuple<std::string, std::string, std::string, std::string, std::map<std::string, std::string>>;

/// Makes a file of test vectors from the parts of its JSON: x, y and mask of each input; operation, result, input,
/// initial value and bits of each vector.
VectorFile vector_file(std::string type, const std::map<std::string, InputLists>& inputs,
                       const std::vector<VectorTuple>& vectors) {
  VectorFile file{.type = std::move(type), .inputs = {}, .vectors = {}};
  for (const auto& [name, lists] : inputs) {
    const auto& [x, y, mask] = lists;
    file.inputs[name] = {.x = x, .y = y, .mask = mask};
  }
  for (const auto& [operation, result, input, initial, bits] : vectors)
    file.vectors.push_back(
        {.operation = operation, .result = result, .input = input, .initial = initial, .bits = bits});
  return file;
}

/// Checks test vectors over a communicator, or in this process alone if `comm` is None.
nb::dict check_vectors(const VectorFile& file, nb::handle comm) {
  const arithmetic::PromisedEnvironment environment;
  sf_group* const group = group_of(comm);
  const VectorsChecked found =
      without_lock([&] { return group == nullptr ? check_vectors_alone(file) : check_vectors_over(*group, file); });
  nb::dict result;
  result["checked"] = found.checked;
  result["not_run_here"] = found.not_run_here;
  result["wrong"] = found.wrong;
  return result;
}

void add_vectors(nb::module_& module) {
  nb::class_<VectorFile>(module, "VectorFile");
  module.def("vector_file", &vector_file);
  module.def("list_vectors", &list_of);
  module.def("check_vectors", &check_vectors, nb::arg("file"), nb::arg("comm").none());
}

/// Calls a function in the floating-point environment in which bits are promised, whatever the environment of the
/// process is.
nb::object in_promised_environment(const nb::callable& function, const nb::args& arguments, const nb::kwargs& options) {
  const arithmetic::PromisedEnvironment environment;
  NoUnwinding guard;
  PyObject* const result = PyObject_Call(function.ptr(), arguments.ptr(), options.ptr());
  guard.done();
  return take(result);
}

/// Returns the default dtype of the sums of elements of a dtype; None for elements that the library does not take.
nb::object dtype_of_sums(nb::handle dtype) {
  const std::optional<sf_type> type = type_of(as_dtype(dtype));
  if (!type) return nb::none();
  const int number = numpy_type(default_result(SF_SUM, *type));
  return take(reinterpret_cast<PyObject*>(PyArray_DescrFromType(number)));
}

/// Loads NumPy's C interface. Returns false if Python has set an exception.
bool import_numpy() { return PyArray_ImportNumPyAPI() == 0; }

}  // namespace
}  // namespace steadfold::python

NB_MODULE(_core, module) {
  using namespace steadfold::python;
  if (!import_numpy()) raise();
  take_exceptions();
  // A plan in a module, with a callable that refers to the module, would be reported as a leak.
  nb::set_leak_warnings(false);
  add_layouts(module);
  add_names(module);
  module.def("examine", &examine, nb::arg("comm").none());
  add_vectors(module);
  module.def("in_promised_environment", &in_promised_environment);
  module.def("dtype_of_sums", [](nb::handle dtype) { return dtype_of_sums(dtype_from(dtype)); });
  add_groups(module);
  add_runs(module);
  add_accumulators(module);
}
