// What a call reduces: one row of elements from each rank, under an operator of MPI. Says which calls the order can
// change, and reduces rows that stand side by side.
// Rank order: rows are combined by the tree over ranks, lower ones left. Cost: one pass over the rows; user operators
// and types with gaps are copied once more.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <stdexcept>

#include "steadfold/steadfold.h"

namespace steadfold::interpose {

/// What ends the program, as "problem (why), suggestion": going on could give other bits on some ranks.
using Fault = std::runtime_error;

/// What is done with a call. Those behind `by_library` are passed on to the MPI library.
enum class Treatment {
  tree,         // the built-in tree, for sums and products of numbers that libsteadfold knows
  exact,        // rounded once
  binned,       // likewise
  by_library,   // the tree, of the MPI library's or the program's own operator
  plain,        // asked for: the program as it is, to be recorded or compared
  order_free,   // no order changes a bit
  one_rank,     // there is nothing to combine
  no_elements,  // likewise
  across,       // an intercommunicator, or one with processes outside MPI_COMM_WORLD
  outside,      // MPI was not started by MPI_Init, or is over
  refused,      // the MPI library will say what is wrong with it
  too_large,    // an element of each rank takes more than memory should
};
const char* text_of(Treatment treatment) noexcept;
constexpr bool is_passed_on(Treatment treatment) noexcept { return treatment > Treatment::by_library; }

/// As PMPI_Pack and PMPI_Unpack between a program's elements and `size` bytes, to begin with the first of these; but a
/// program's buffer may be MPI_BOTTOM, which MPICH 4.0.2 refuses there. They return MPI's code.
int pack_elements(const void* from, int count, MPI_Datatype type, std::byte* packed, int size);
int unpack_elements(const std::byte* packed, int size, void* to, int count, MPI_Datatype type);

/// Memory that a thread keeps from call to call, a thread_local object. What stands there is lost when more is taken.
/// It has no destructor: objects of the program may reduce when those of the thread are gone, and what they take then
/// is never given back.
class Memory {
 public:
  std::byte* take(std::size_t bytes) {
    if (bytes > size_) grow(bytes);
    return bytes_;
  }

 private:
  struct AtThreadEnd;
  static constinit thread_local Memory* first_listed;  // of those that are released when the thread ends
  void grow(std::size_t bytes);
  void release() noexcept;

  std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
  Memory* next_ = nullptr;  // in that list
  bool is_listed_ = false;
};

/// Elements of one type under one operator. In messages they are packed: without the gaps that a type may have.
class Elements {
 public:
  /// `method` is that of sums. Looks at no element.
  Elements(MPI_Datatype type, MPI_Op op, Treatment method);

  Treatment treatment() const noexcept { return treatment_; }
  MPI_Datatype type() const noexcept { return type_; }
  MPI_Op op() const noexcept { return op_; }
  /// What libsteadfold calls the type, or SF_BYTES where the MPI library reduces.
  sf_type number() const noexcept { return number_; }
  /// Bytes of a packed element.
  std::size_t bytes() const noexcept { return bytes_; }
  /// The most bytes that an element takes in memory: of its own, or of the way to the next one.
  std::size_t memory_bytes() const noexcept;
  /// Where element `first` of a caller's buffer stands.
  const std::byte* at(const void* buffer, MPI_Count first) const noexcept {
    return static_cast<const std::byte*>(buffer) + extent_ * first;
  }
  std::byte* at(void* buffer, MPI_Count first) const noexcept {
    return static_cast<std::byte*>(buffer) + extent_ * first;
  }
  /// Whether elements stand in a caller's buffer as in messages.
  bool are_packed() const noexcept { return are_packed_; }

  /// For a program that may free its own before the elements are reduced: a new type that keeps theirs alive and is to
  /// be freed, and the operator; nulls where both are MPI's.
  MPI_Datatype kept_type() const;
  MPI_Op kept_op() const noexcept;

  void pack(const std::byte* from, int count, std::byte* packed) const;
  void unpack(const std::byte* packed, int count, std::byte* to) const;

  /// Reduces `rows` packed rows of `count` elements, one behind the other; `result`, packed, overlaps none.
  void reduce(const std::byte* packed, int rows, int count, std::byte* result) const;
  /// Likewise, and the results are a caller's elements from `first` on.
  void reduce(const std::byte* packed, int rows, int count, void* to, MPI_Count first) const;

 private:
  void set_by_library();
  void reduce_by_library(const std::byte* packed, int rows, int count, std::byte* result) const;

  MPI_Datatype type_;
  MPI_Op op_;
  Treatment treatment_;
  sf_type number_ = SF_BYTES;
  sf_operation operation_ = SF_USER;
  std::size_t bytes_ = 0;
  MPI_Aint extent_ = 0;
  MPI_Aint true_begin_ = 0;  // of an element's bytes
  MPI_Aint true_extent_ = 0;
  bool are_packed_ = true;
};

/// Names for a report.
const char* name_of(MPI_Op op) noexcept;

}  // namespace steadfold::interpose
