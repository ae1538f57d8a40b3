// The input of a call: one row of elements from each rank, under an MPI operator. This file says which calls depend on
// the order of rows, and reduces contiguous rows.
// Rank order: the tree over ranks combines rows, with lower ranks on the left. Cost: one pass over the rows. Rows for
// user operators and for types with gaps are copied once more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "steadfold/steadfold.h"

namespace steadfold::interpose {

/// An error that ends the program, as "problem (why), suggestion": if the program continued, some ranks could get
/// different bits.
using Fault = std::runtime_error;

/// How the interposer handles a call. A call with a value after `by_program` is passed on to the MPI library.
enum class Treatment {
  by_method,    // with a method of libsteadfold, for sums and products of numbers that libsteadfold supports
  by_library,   // in the tree, with the operator of the MPI library
  by_program,   // in the tree, with the operator of the program
  plain,        // the setting asks to pass calls on, to record or compare them
  order_free,   // no order of the rows changes a bit
  one_rank,     // there is only one rank, so there is nothing to combine
  no_elements,  // there are no elements, so there is nothing to combine
  across,       // the communicator is an intercommunicator, or has processes outside MPI_COMM_WORLD
  outside,      // MPI was not started by MPI_Init, or is finalised
  refused,      // the MPI library will report the error
  too_large,    // one element from each rank exceeds the memory limit of the interposer
};
std::string text_of(Treatment treatment, sf_method method);
constexpr bool is_passed_on(Treatment treatment) noexcept { return treatment > Treatment::by_program; }

/// The user's choice of arithmetic.
struct Arithmetic {
  sf_method sums = SF_TREE;        // the method of sums of numbers; SF_PLAIN passes all calls on
  bool has_ieee_extremes = false;  // whether MPI_MIN and MPI_MAX follow IEEE 754-2019
};

/// Returns how a type was made, as MPI_Type_get_envelope does.
int combiner_of(MPI_Datatype type) noexcept;

/// Pack and unpack as PMPI_Pack and PMPI_Unpack do, between a program's elements and the first `size` packed bytes. The
/// program's buffer may be MPI_BOTTOM, which PMPI_Pack of MPICH 4.0.2 refuses. Both functions return MPI's error code.
int pack_elements(const void* from, int count, MPI_Datatype type, std::byte* packed, int size);
int unpack_elements(const std::byte* packed, int size, void* to, int count, MPI_Datatype type);

/// Memory that a thread keeps from call to call, in a thread_local object. `take` discards the old content. The class
/// has no destructor, because destructors in the program may reduce after the thread's objects are destroyed. Memory
/// that these destructors take is never freed.
class Memory {
 public:
  std::byte* take(std::size_t bytes) {
    if (bytes > size_) grow(bytes);
    return bytes_;
  }

 private:
  struct AtThreadEnd;
  static constinit thread_local Memory* first_listed;  // the first of the memories to free at the thread's end
  void grow(std::size_t bytes);
  void release() noexcept;

  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  Memory* next_ = nullptr;  // the next memory in the list
  bool is_listed_ = false;
};

struct KnownType;

/// The elements of a call, with their type and operator. In messages they are packed: without the gaps of the type.
class Elements {
 public:
  /// The constructor reads no element.
  Elements(MPI_Datatype type, MPI_Op op, const Arithmetic& arithmetic);

  Treatment treatment() const noexcept { return treatment_; }
  /// Returns the method of libsteadfold, if one reduces the elements.
  sf_method method() const noexcept { return method_; }
  MPI_Datatype type() const noexcept { return type_; }
  MPI_Op op() const noexcept { return op_; }
  /// Returns libsteadfold's name of the type; SF_BYTES if the MPI library's operator reduces.
  sf_type number() const noexcept { return number_; }
  /// Returns the bytes of a packed element.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the largest number of bytes that an element takes in memory: its bytes, or its distance to the next
  /// element.
  std::size_t memory_bytes() const noexcept;
  /// Returns the address of element `first` of a caller's buffer.
  const std::byte* at(const void* buffer, MPI_Count first) const noexcept {
    return static_cast<const std::byte*>(buffer) + extent_ * first;
  }
  std::byte* at(void* buffer, MPI_Count first) const noexcept {
    return static_cast<std::byte*>(buffer) + extent_ * first;
  }
  /// Whether the elements have the same bytes in a caller's buffer as in a message.
  bool are_packed() const noexcept { return are_packed_; }

  /// Returns a new type that keeps the program's type alive, and keeps the operator, for calls after which the program
  /// may free both. The caller frees the type. Null for predefined types and operators.
  MPI_Datatype kept_type() const;
  MPI_Op kept_op() const noexcept;

  void pack(const std::byte* from, int count, std::byte* packed) const;
  void unpack(const std::byte* packed, int count, std::byte* to) const;

  /// Reduces `rows` contiguous packed rows of `count` elements. `result` is packed and overlaps no row.
  void reduce(const std::byte* packed, int rows, int count, std::byte* result) const;
  /// Reduces in the same way, and writes the results to a caller's elements from `first` on.
  void reduce(const std::byte* packed, int rows, int count, void* to, MPI_Count first) const;

 private:
  void set_number(sf_operation operation, const KnownType& type, const Arithmetic& arithmetic);
  void set_by_operator(Treatment treatment);
  void reduce_by_operator(const std::byte* packed, int rows, int count, std::byte* result) const;

  MPI_Datatype type_;
  MPI_Op op_;
  Treatment treatment_;
  sf_method method_ = SF_TREE;
  sf_type number_ = SF_BYTES;
  sf_operation operation_ = SF_USER;
  std::size_t parts_ = 1;  // numbers in an element: 2 for complex numbers that libsteadfold adds as two real numbers
  std::size_t bytes_ = 0;
  MPI_Aint extent_ = 0;
  MPI_Aint true_begin_ = 0;  // offset of an element's first byte
  MPI_Aint true_extent_ = 0;
  bool are_packed_ = true;
};

/// Return the names that a report shows.
const char* name_of(MPI_Op op) noexcept;

}  // namespace steadfold::interpose
