#include "movement.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "records.hpp"

namespace steadfold::interpose {
namespace {

constexpr std::size_t most_bytes = std::size_t{4} << 20;  // largest number of bytes of rows that one thread holds
// Largest number of bytes of a row that one round reduces; measured, see docs/unmodified.md.
constexpr std::size_t most_of_a_row = std::size_t{256} << 10;
// Largest number of bytes of a row that the ranks share; measured, too.
constexpr std::size_t most_wide = std::size_t{1} << 20;
constexpr std::size_t most_narrow = std::size_t{8} << 10;  // largest number of bytes of all rows in an allgather

/// Returns the number of elements per round if `rows` rows of them are held.
int round_count(const Elements& elements, int rows, MPI_Count count) {
  const std::size_t bytes = std::min(most_of_a_row, most_bytes / static_cast<std::size_t>(rows));
  const auto most = static_cast<MPI_Count>(std::max<std::size_t>(bytes / elements.memory_bytes(), 1));
  return static_cast<int>(std::min(count, most));
}

/// Calls `body(first, now)` for at most `most` of `count` elements at a time. `body` returns MPI's error code.
template <class Body>
int in_rounds(MPI_Count count, int most, const Body& body) {
  int code = MPI_SUCCESS;
  for (MPI_Count first = 0; first < count && code == MPI_SUCCESS; first += most)
    code = body(first, static_cast<int>(std::min<MPI_Count>(most, count - first)));
  return code;
}

struct Scratch {
  Memory own;       // contribution of this rank
  Memory gathered;  // rows of all ranks
  Memory result;
};
thread_local Scratch scratch;

/// Returns elements first, ..., first + count - 1 of this rank's contribution, packed.
const std::byte* contribution(const Call& call, MPI_Count first, int count) {
  const std::byte* const from = call.elements.at(call.input(), first);
  if (call.elements.are_packed()) return from;
  std::byte* const packed = scratch.own.take(call.elements.bytes() * static_cast<std::size_t>(count));
  call.elements.pack(from, count, packed);
  return packed;
}

int bytes_of(const Elements& elements, int count) { return static_cast<int>(elements.bytes()) * count; }

int allreduce_narrow(const Call& call, MPI_Count first, int count, const Communicator& comm) {
  const int bytes = bytes_of(call.elements, count);
  std::byte* const rows = scratch.gathered.take(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(comm.size));
  const int code =
      PMPI_Allgather(contribution(call, first, count), bytes, MPI_BYTE, rows, bytes, MPI_BYTE, comm.handle);
  if (code != MPI_SUCCESS) return code;
  call.elements.reduce(rows, comm.size, count, call.to, first);
  return MPI_SUCCESS;
}

/// Reduces a wide row: each rank receives and reduces a share of all ranks' elements, and sends the results to all
/// ranks.
int allreduce_wide(const Call& call, MPI_Count first, int count, const Communicator& comm, Dealt& shares, Dealt& rows) {
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
  const bool are_packed = call.elements.are_packed();
  std::byte* const result = are_packed ? call.elements.at(call.to, first)
                                       : scratch.result.take(call.elements.bytes() * static_cast<std::size_t>(count));
  call.elements.reduce(gathered, comm.size, bytes / bytes_of(call.elements, 1), result + shares.begins[own]);
  code = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, result, shares.bytes.data(), shares.begins.data(),
                         MPI_BYTE, comm.handle);
  if (code == MPI_SUCCESS && !are_packed) call.elements.unpack(result, count, call.elements.at(call.to, first));
  return code;
}

int scan_round(const Call& call, MPI_Count first, int count, const Communicator& comm) {
  const auto row_bytes = static_cast<std::size_t>(bytes_of(call.elements, count));
  const Records records(row_bytes, comm.size);
  std::byte* const mine = scratch.gathered.take(2 * records.bytes());
  std::byte* const all = mine + records.bytes();
  std::memcpy(records.open(mine, comm.rank), contribution(call, first, count), row_bytes);
  std::memset(all, 0, records.bytes());
  const RecordType type(records.bytes());
  const bool is_inclusive = call.collective == Collective::scan;
  const int code = is_inclusive ? PMPI_Scan(mine, all, 1, type.get(), merging(), comm.handle)
                                : PMPI_Exscan(mine, all, 1, type.get(), merging(), comm.handle);
  const int rows = comm.rank + (is_inclusive ? 1 : 0);
  if (code != MPI_SUCCESS || rows == 0) return code;
  call.elements.reduce(records.rows(all, rows), rows, count, call.to, first);
  return MPI_SUCCESS;
}

int allreduce(const Call& call, const Communicator& comm) {
  const MPI_Count count = call.count;
  const std::size_t of_all = call.elements.memory_bytes() * static_cast<std::size_t>(comm.size);
  if (count <= static_cast<MPI_Count>(most_narrow) && static_cast<std::size_t>(count) * of_all <= most_narrow)
    return allreduce_narrow(call, 0, static_cast<int>(count), comm);
  if (count < comm.size)  // there are too few elements to divide among the ranks
    return in_rounds(count, round_count(call.elements, comm.size, count),
                     [&](MPI_Count first, int now) { return allreduce_narrow(call, first, now, comm); });
  Dealt shares(comm.size), rows(comm.size);
  const auto wide = static_cast<MPI_Count>(std::max<std::size_t>(most_wide / call.elements.memory_bytes(), 1));
  const int most = static_cast<int>(std::min(count, wide));
  return in_rounds(count, most,
                   [&](MPI_Count first, int now) { return allreduce_wide(call, first, now, comm, shares, rows); });
}

int reduce(const Call& call, const Communicator& comm) {
  return in_rounds(call.count, round_count(call.elements, comm.size, call.count), [&](MPI_Count first, int now) {
    const int bytes = bytes_of(call.elements, now);
    std::byte* const rows =
        comm.rank == call.root
            ? scratch.gathered.take(static_cast<std::size_t>(bytes) * static_cast<std::size_t>(comm.size))
            : nullptr;
    const int code =
        PMPI_Gather(contribution(call, first, now), bytes, MPI_BYTE, rows, bytes, MPI_BYTE, call.root, comm.handle);
    if (code != MPI_SUCCESS || comm.rank != call.root) return code;
    call.elements.reduce(rows, comm.size, now, call.to, first);
    return code;
  });
}

int reduce_scatter(const Call& call, const Communicator& comm) {
  const std::vector<MPI_Count>& counts = call.counts;
  const Elements& elements = call.elements;
  const MPI_Count longest = *std::ranges::max_element(counts);
  const int most = round_count(elements, comm.size, longest);
  const void* const from = call.input();
  Dealt sent(comm.size), rows(comm.size);
  // Each round takes the same number of elements from each block. In place, it overwrites only elements that were
  // already sent.
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
    elements.reduce(gathered, comm.size, mine, call.to, first);
  }
  return MPI_SUCCESS;
}

int scan(const Call& call, const Communicator& comm) {
  return in_rounds(call.count, round_count(call.elements, comm.size, call.count),
                   [&](MPI_Count first, int now) { return scan_round(call, first, now, comm); });
}

}  // namespace

bool fits(const Elements& elements, const Communicator& comm) noexcept {
  constexpr std::size_t most = std::size_t{1} << 30;
  return elements.bytes() * static_cast<std::size_t>(comm.size) <= most;
}

int carry_out(const Call& call, const Communicator& comm) {
  switch (call.collective) {
    case Collective::allreduce: return allreduce(call, comm);
    case Collective::reduce: return reduce(call, comm);
    case Collective::reduce_scatter: return reduce_scatter(call, comm);
    case Collective::scan:
    case Collective::exscan: return scan(call, comm);
  }
  return MPI_ERR_INTERN;
}

}  // namespace steadfold::interpose
