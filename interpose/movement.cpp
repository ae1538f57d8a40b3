#include "movement.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace steadfold::interpose {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;       // of all rows that one thread holds
constexpr std::size_t most_of_a_row = std::size_t{256} << 10;  // of these, one rank's; measured: docs/unmodified.md
constexpr std::size_t most_narrow = std::size_t{8} << 10;      // of all rows in an allgather

/// How many elements go in one round if `share` rows of them are held.
int round_count(const Elements& elements, int rows, MPI_Count count) {
  const std::size_t bytes = std::min(most_of_a_row, most_bytes / static_cast<std::size_t>(rows));
  const auto most = static_cast<MPI_Count>(std::max<std::size_t>(bytes / elements.memory_bytes(), 1));
  return static_cast<int>(std::min(count, most));
}

/// Calls `body(first, now)`, which returns MPI's code, for `most` of `count` elements after the other.
template <class Body>
int in_rounds(MPI_Count count, int most, const Body& body) {
  int code = MPI_SUCCESS;
  for (MPI_Count first = 0; first < count && code == MPI_SUCCESS; first += most)
    code = body(first, static_cast<int>(std::min<MPI_Count>(most, count - first)));
  return code;
}

struct Scratch {
  Memory own;       // what this rank contributes
  Memory gathered;  // rows of all ranks
  Memory result;
};
thread_local Scratch scratch;

/// Elements first, ..., first + count - 1 of this rank's contribution, packed.
const std::byte* contribution(const Operands& call, MPI_Count first, int count) {
  const std::byte* const from = call.elements.at(call.from == MPI_IN_PLACE ? call.to : call.from, first);
  if (call.elements.are_packed()) return from;
  std::byte* const packed = scratch.own.take(call.elements.bytes() * static_cast<std::size_t>(count));
  call.elements.pack(from, count, packed);
  return packed;
}

/// Where `count` packed results are written that will be the elements from `first` on.
std::byte* room(const Operands& call, MPI_Count first, int count) {
  if (call.elements.are_packed()) return call.elements.at(call.to, first);
  return scratch.result.take(call.elements.bytes() * static_cast<std::size_t>(count));
}

void deliver(const Operands& call, MPI_Count first, int count, const std::byte* packed) {
  if (!call.elements.are_packed()) call.elements.unpack(packed, count, call.elements.at(call.to, first));
}

/// Elements dealt to ranks in messages, in bytes.
struct Dealt {
  std::vector<int> bytes;
  std::vector<int> begins;

  explicit Dealt(int size) : bytes(static_cast<std::size_t>(size)), begins(bytes.size()) {}
  /// The same number of bytes for each, or from each.
  void deal(int each) {
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      bytes[r] = each;
      begins[r] = static_cast<int>(r) * each;
    }
  }
};

int bytes_of(const Elements& elements, int count) { return static_cast<int>(elements.bytes()) * count; }

int allreduce_narrow(const Operands& call, MPI_Count first, int count, const Communicator& comm) {
  const int bytes = bytes_of(call.elements, count);
  std::byte* const rows = scratch.gathered.take(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(comm.size));
  const int code =
      PMPI_Allgather(contribution(call, first, count), bytes, MPI_BYTE, rows, bytes, MPI_BYTE, comm.handle);
  if (code != MPI_SUCCESS) return code;
  std::byte* const result = room(call, first, count);
  call.elements.reduce(rows, comm.size, count, result);
  deliver(call, first, count, result);
  return MPI_SUCCESS;
}

/// Each rank gets and reduces a share of the elements of all ranks, and hands the results to all.
int allreduce_wide(const Operands& call, MPI_Count first, int count, const Communicator& comm, Dealt& shares,
                   Dealt& rows) {
  for (int r = 0, begin = 0; r < comm.size; ++r) {
    const int share = count / comm.size + (r < count % comm.size ? 1 : 0);
    shares.bytes[static_cast<std::size_t>(r)] = bytes_of(call.elements, share);
    shares.begins[static_cast<std::size_t>(r)] = bytes_of(call.elements, begin);
    begin += share;
  }
  const auto own = static_cast<std::size_t>(comm.rank);
  const int bytes = shares.bytes[own];
  rows.deal(bytes);
  std::byte* const gathered =
      scratch.gathered.take(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(comm.size));
  int code = PMPI_Alltoallv(contribution(call, first, count), shares.bytes.data(), shares.begins.data(), MPI_BYTE,
                            gathered, rows.bytes.data(), rows.begins.data(), MPI_BYTE, comm.handle);
  if (code != MPI_SUCCESS) return code;
  std::byte* const result = room(call, first, count);
  call.elements.reduce(gathered, comm.size, bytes / bytes_of(call.elements, 1), result + shares.begins[own]);
  code = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, shares.bytes.data(), shares.begins.data(),
                         MPI_BYTE, comm.handle);
  if (code == MPI_SUCCESS) deliver(call, first, count, result);
  return code;
}

// --- scans ---

/// Opens a record: rows of the ranks begin, ..., end - 1, each in its own place. So a record is the same bytes however
/// it came together, and rows that meet in another order are found.
struct RecordHead {
  std::uint64_t row_bytes;
  std::int32_t begin, end;
};
constexpr std::int32_t wrong = -1;  // where rows came together that are not neighbours

/// MPI's operation on records.
void merge(void* from, void* into, int* count, MPI_Datatype* type) {
  int size = 0;
  PMPI_Type_size(*type, &size);
  for (int i = 0; i < *count; ++i) {
    const std::byte* const source = static_cast<const std::byte*>(from) + std::ptrdiff_t{size} * i;
    std::byte* const target = static_cast<std::byte*>(into) + std::ptrdiff_t{size} * i;
    RecordHead theirs, ours;
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

MPI_Op merging() {
  static const MPI_Op made = [] {
    MPI_Op fresh = MPI_OP_NULL;
    PMPI_Op_create(merge, 0, &fresh);
    return fresh;
  }();
  return made;
}

/// The type of one record.
class RecordType {
 public:
  explicit RecordType(std::size_t bytes) {
    PMPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_);
    PMPI_Type_commit(&type_);
  }
  ~RecordType() { PMPI_Type_free(&type_); }
  RecordType(const RecordType&) = delete;
  RecordType& operator=(const RecordType&) = delete;
  MPI_Datatype get() const noexcept { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

int scan_round(const Operands& call, MPI_Count first, int count, bool is_inclusive, const Communicator& comm) {
  const auto row_bytes = static_cast<std::size_t>(bytes_of(call.elements, count));
  const std::size_t bytes = sizeof(RecordHead) + row_bytes * static_cast<std::size_t>(comm.size);
  std::byte* const mine = scratch.gathered.take(2 * bytes);
  std::byte* const all = mine + bytes;
  std::memset(mine, 0, 2 * bytes);
  const RecordHead head{.row_bytes = row_bytes, .begin = comm.rank, .end = comm.rank + 1};
  std::memcpy(mine, &head, sizeof head);
  const auto at = sizeof head + row_bytes * static_cast<std::size_t>(comm.rank);
  std::memcpy(mine + at, contribution(call, first, count), row_bytes);
  const RecordType type(bytes);
  const int code = is_inclusive ? PMPI_Scan(mine, all, 1, type.get(), merging(), comm.handle)
                                : PMPI_Exscan(mine, all, 1, type.get(), merging(), comm.handle);
  const int rows = comm.rank + (is_inclusive ? 1 : 0);
  if (code != MPI_SUCCESS || rows == 0) return code;
  RecordHead found;
  std::memcpy(&found, all, sizeof found);
  if (found.begin != 0 || found.end != rows)
    throw Fault("a scan brought the rows of ranks " + std::to_string(found.begin) + " to " +
                std::to_string(found.end - 1) + " to rank " + std::to_string(comm.rank) +
                " (the MPI library merged others than neighbours), report it");
  std::byte* const result = room(call, first, count);
  call.elements.reduce(all + sizeof found, rows, count, result);
  deliver(call, first, count, result);
  return MPI_SUCCESS;
}

}  // namespace

bool fits(const Elements& elements, const Communicator& comm) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30;
  return elements.bytes() * static_cast<std::size_t>(comm.size) <= most;
}

int allreduce(const Operands& call, MPI_Count count, const Communicator& comm) {
  const std::size_t of_all = call.elements.memory_bytes() * static_cast<std::size_t>(comm.size);
  if (count <= static_cast<MPI_Count>(most_narrow) && static_cast<std::size_t>(count) * of_all <= most_narrow)
    return allreduce_narrow(call, 0, static_cast<int>(count), comm);
  if (count < comm.size)  // too few to be shared
    return in_rounds(count, round_count(call.elements, comm.size, count),
                     [&](MPI_Count first, int now) { return allreduce_narrow(call, first, now, comm); });
  Dealt shares(comm.size), rows(comm.size);
  const auto wide = static_cast<MPI_Count>(std::max<std::size_t>(most_bytes / call.elements.memory_bytes(), 1));
  const int most = static_cast<int>(std::min(count, wide));
  return in_rounds(count, most,
                   [&](MPI_Count first, int now) { return allreduce_wide(call, first, now, comm, shares, rows); });
}

int reduce(const Operands& call, MPI_Count count, int root, const Communicator& comm) {
  return in_rounds(count, round_count(call.elements, comm.size, count), [&](MPI_Count first, int now) {
    const int bytes = bytes_of(call.elements, now);
    std::byte* const rows =
        comm.rank == root ? scratch.gathered.take(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(comm.size))
                          : nullptr;
    const int code =
        PMPI_Gather(contribution(call, first, now), bytes, MPI_BYTE, rows, bytes, MPI_BYTE, root, comm.handle);
    if (code != MPI_SUCCESS || comm.rank != root) return code;
    std::byte* const result = room(call, first, now);
    call.elements.reduce(rows, comm.size, now, result);
    deliver(call, first, now, result);
    return code;
  });
}

int reduce_scatter(const Operands& call, std::span<const MPI_Count> counts, const Communicator& comm) {
  const Elements& elements = call.elements;
  const MPI_Count longest = *std::ranges::max_element(counts);
  const int most = round_count(elements, comm.size, longest);
  const void* const from = call.from == MPI_IN_PLACE ? call.to : call.from;
  Dealt sent(comm.size), rows(comm.size);
  // A round takes as many elements of each block. What it writes over, in place, was sent in this round or before.
  for (MPI_Count first = 0; first < longest; first += most) {
    const auto count_of = [&](int rank) {
      const MPI_Count left = counts[static_cast<std::size_t>(rank)] - first;
      return static_cast<int>(std::clamp<MPI_Count>(left, 0, most));
    };
    std::byte* const own = scratch.own.take(elements.bytes() * static_cast<std::size_t>(most) * counts.size());
    MPI_Count block = 0;
    int end = 0;
    for (int r = 0; r < comm.size; ++r) {
      const int count = count_of(r);
      sent.bytes[static_cast<std::size_t>(r)] = bytes_of(elements, count);
      sent.begins[static_cast<std::size_t>(r)] = end;
      if (count > 0) elements.pack(elements.at(from, block + first), count, own + end);
      end += bytes_of(elements, count);
      block += counts[static_cast<std::size_t>(r)];
    }
    const int mine = count_of(comm.rank);
    rows.deal(bytes_of(elements, mine));
    std::byte* const gathered =
        scratch.gathered.take(elements.bytes() * static_cast<std::size_t>(mine) * counts.size());
    const int code = PMPI_Alltoallv(own, sent.bytes.data(), sent.begins.data(), MPI_BYTE, gathered, rows.bytes.data(),
                                    rows.begins.data(), MPI_BYTE, comm.handle);
    if (code != MPI_SUCCESS) return code;
    if (mine == 0) continue;
    std::byte* const result = room(call, first, mine);
    elements.reduce(gathered, comm.size, mine, result);
    deliver(call, first, mine, result);
  }
  return MPI_SUCCESS;
}

int scan(const Operands& call, MPI_Count count, bool is_inclusive, const Communicator& comm) {
  return in_rounds(count, round_count(call.elements, comm.size, count),
                   [&](MPI_Count first, int now) { return scan_round(call, first, now, is_inclusive, comm); });
}

}  // namespace steadfold::interpose
