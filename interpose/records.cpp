#include "records.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "rows.hpp"

namespace steadfold::interpose {
namespace {

/// The head of a record. The head says that the record has the rows of ranks begin, ..., end - 1.
struct Head {
  std::uint64_t row_bytes;
  std::int32_t begin, end;
};
constexpr std::int32_t wrong = -1;  // marks a record of rows that are not neighbours

void merge(void* from, void* into, int* count, MPI_Datatype* type) {
  int size = 0;
  PMPI_Type_size(*type, &size);
  for (int i = 0; i < *count; ++i) {
    const std::byte* const source = static_cast<const std::byte*>(from) + std::ptrdiff_t{size} * i;
    std::byte* const target = static_cast<std::byte*>(into) + std::ptrdiff_t{size} * i;
    Head theirs, ours;
    std::memcpy(&theirs, source, sizeof theirs);
    std::memcpy(&ours, target, sizeof ours);
    const bool are_before = theirs.end == ours.begin && theirs.begin >= 0;
    const bool are_behind = theirs.begin == ours.end && ours.begin >= 0;
    if (are_before || are_behind) {
      const std::uint64_t at = sizeof ours + static_cast<std::uint64_t>(theirs.begin) * ours.row_bytes;
      std::memcpy(target + at, source + at, static_cast<std::uint64_t>(theirs.end - theirs.begin) * ours.row_bytes);
      ours.begin = std::min(ours.begin, theirs.begin);
      ours.end = std::max(ours.end, theirs.end);
    } else {
      ours.begin = ours.end = wrong;
    }
    std::memcpy(target, &ours, sizeof ours);
  }
}

}  // namespace

std::size_t Records::bytes() const noexcept { return sizeof(Head) + row_bytes_ * static_cast<std::size_t>(ranks_); }

std::byte* Records::open(std::byte* record, int rank) const noexcept {
  std::memset(record, 0, bytes());
  const Head head{.row_bytes = row_bytes_, .begin = rank, .end = rank + 1};
  std::memcpy(record, &head, sizeof head);
  return record + sizeof head + row_bytes_ * static_cast<std::size_t>(rank);
}

const std::byte* Records::rows(const std::byte* record, int rows) const {
  Head found;
  std::memcpy(&found, record, sizeof found);
  if (found.begin != 0 || found.end != rows)
    throw Fault("a scan brought the rows of ranks " + std::to_string(found.begin) + " to " +
                std::to_string(found.end - 1) + ", not 0 to " + std::to_string(rows - 1) +
                " (the MPI library merged ranks that are not neighbours), report this error");
  return record + sizeof found;
}

MPI_Op merging() {
  static const MPI_Op made = [] {
    MPI_Op fresh = MPI_OP_NULL;
    PMPI_Op_create(merge, 0, &fresh);
    return fresh;
  }();
  return made;
}

RecordType::RecordType(std::size_t bytes) {
  PMPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
  PMPI_Type_commit(&type_);
}

}  // namespace steadfold::interpose
