// Python callables as operators of the C interface.
//
// Rank order: `left` has the lower indices. Cost: about 2 us per call of the callable.
#pragma once

#include <string>
#include <vector>

#include "call.hpp"

namespace steadfold::python {

/// A callable that combines two elements, or many pairs of elements at once. The callable gets copies, which it may
/// keep and change.
class UserOperator {
 public:
  /// `element` is the shape of an element. If `batched`, the callable gets arrays of elements, pair i in row i;
  /// otherwise it is called for one pair at a time.
  UserOperator(nb::object callable, nb::object dtype, std::vector<npy_intp> element, bool batched);
  UserOperator(const UserOperator&) = delete;
  UserOperator& operator=(const UserOperator&) = delete;
  ~UserOperator();

  /// The function and the context for sf_call.user and sf_call.context.
  static int combine(const void* left, const void* right, void* result, std::size_t count, void* context);
  [[nodiscard]] std::size_t element_bytes() const noexcept { return element_bytes_; }
  /// Returns a text by which ranks compare their operators: the name of the callable and the form of its elements.
  [[nodiscard]] const char* identity() const noexcept { return identity_.c_str(); }
  /// Throws the first exception that the callable has thrown since the last call of this function, if any.
  void rethrow();

 private:
  void combine(const char* left, const char* right, char* result, std::size_t count);
  void combine_pairs(const char* left, const char* right, char* result, npy_intp count, bool as_batch);
  [[nodiscard]] nb::object copy(const char* from, const npy_intp* shape, int axes) const;

  nb::object callable_;
  nb::object dtype_;
  std::vector<npy_intp> shape_;  // the shape of a batch: its count, then the shape of an element
  bool batched_;
  std::size_t element_bytes_;
  std::string name_, identity_;
  PyObject *error_type_ = nullptr, *error_ = nullptr, *traceback_ = nullptr;
};

/// Arguments of a reduction of the elements x[0], x[1], ... by a callable. If `batched`, x has columns, x[i][j].
struct UserArguments {
  nb::handle x, callable, batched, commutative;
};
void translate_user(const UserArguments& from, const Arguments& options, Call& to);

/// Arguments of a call in MPI's shape: rank r has row r, all of `buffer`. The operation is a name ("sum", "prod",
/// "min", "max") or a callable of two arrays. Returns false if the operation does not exist for elements of this type.
struct BufferArguments {
  nb::handle buffer, operation, blocks, commutative;  // blocks: number of elements of the result that each rank gets
  sf_collective collective;
};
[[nodiscard]] bool translate_buffer(const BufferArguments& from, const Arguments& options, sf_group* group, Call& to);

}  // namespace steadfold::python
