// What the messages of a scan carry: the rows of neighbouring ranks, each in its own place. So a record is the same
// bytes however it came together, and rows that meet in another order are found.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace steadfold::interpose {

/// Records of one row for each of `ranks` ranks.
class Records {
 public:
  Records(std::size_t row_bytes, int ranks) noexcept : row_bytes_(row_bytes), ranks_(ranks) {}

  std::size_t bytes() const noexcept;
  /// Makes `record` that of one rank alone, and says where its row belongs.
  std::byte* open(std::byte* record, int rank) const noexcept;
  /// The rows of the ranks 0, ..., rows - 1, one behind the other. Throws Fault if the record has others.
  const std::byte* rows(const std::byte* record, int rows) const;

 private:
  std::size_t row_bytes_;
  int ranks_;
};

/// MPI's operation on records, which puts rows beside rows.
MPI_Op merging();

/// The type of one record.
class RecordType {
 public:
  explicit RecordType(std::size_t bytes);
  ~RecordType() { PMPI_Type_free(&type_); }
  RecordType(const RecordType&) = delete;
  RecordType& operator=(const RecordType&) = delete;
  MPI_Datatype get() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace steadfold::interpose
