// The messages of a scan: the rows of neighbouring ranks, each at its own position. So a record has the same bytes in
// whatever order its rows were merged. Rows that are merged without being neighbours are detected.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace steadfold::interpose {

/// The records of a scan, each with room for one row from each of `ranks` ranks.
class Records {
 public:
  Records(std::size_t row_bytes, int ranks) noexcept : row_bytes_(row_bytes), ranks_(ranks) {}

  std::size_t bytes() const noexcept;
  /// Makes `record` the record of one rank, and returns the address for its row.
  std::byte* open(std::byte* record, int rank) const noexcept;
  /// Returns the rows of ranks 0, ..., rows - 1, which are contiguous. Throws Fault if the record has other rows.
  const std::byte* rows(const std::byte* record, int rows) const;

 private:
  std::size_t row_bytes_;
  int ranks_;
};

/// Returns MPI's operation on records. The operation merges the rows of two neighbouring records.
MPI_Op merging();

/// The MPI data type of one record.
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
