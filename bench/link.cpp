// Measures messages between two ranks. The model that fits their times is in fitted_link.cpp.
#include "link.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>

#include "statistics.hpp"
#include "transport/hardware.hpp"

namespace steadfold::bench {
namespace {

// The lengths of messages in bytes. The lengths are just below powers of two: eager limits are powers of two, less the
// MPI library's headers of at most 64 bytes.
constexpr std::array<std::size_t, 15> sizes = {8,     64,    256,    960,    1984,   4032,    8128,   16320,
                                               32704, 65472, 131072, 262144, 524288, 1048576, 2097152};
constexpr std::size_t most_in_stream = 64;  // number of messages in a stream
// Number of messages of length_in_stream bytes in a stream.
constexpr std::size_t long_ones = 32;
static_assert(long_ones * length_in_stream <= sizes.back());  // the memory of a Side must have room for the stream

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/// The ranks with which rank 0 exchanges messages, the same on all ranks. 0 means none.
struct Partners {
  int between = 0;
  std::array<int, plan::links_inside.size()> inside = {};  // partner for each link of plan::links_inside
};

/// Returns, by rank, the first rank of its node.
std::vector<int> firsts_of_nodes() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int first_of_node = rank_in(MPI_COMM_WORLD);
  MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> firsts(static_cast<std::size_t>(ranks));
  MPI_Allgather(&first_of_node, 1, MPI_INT, firsts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  return firsts;
}

/// Returns, by rank, its node, package and caches. Collective.
std::vector<transport::Whereabouts> whereabouts_of_all(std::size_t ranks) {
  const transport::Whereabouts own = transport::own_whereabouts();
  std::vector<transport::Whereabouts> all(ranks);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

Partners partners_of_rank_0() {
  const std::vector<int> firsts = firsts_of_nodes();
  const std::vector<transport::Whereabouts> whereabouts = whereabouts_of_all(firsts.size());
  std::vector<int> neighbours;  // the other ranks of rank 0's node
  std::vector<transport::Whereabouts> of_neighbours;
  int outside = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const int rank = static_cast<int>(i);
    if (firsts[i] == 0) {
      neighbours.push_back(rank);
      of_neighbours.push_back(whereabouts[i]);
    } else {
      outside = rank;
    }
  }
  const std::vector<int> parts = transport::parts_of(of_neighbours);
  int apart = 0;   // a rank in another part of the node, or any rank if the parts are unknown
  int beside = 0;  // a rank in the part of rank 0
  for (std::size_t i = 1; i < neighbours.size(); ++i) {
    const bool is_beside = !parts.empty() && parts[i] == parts[0];
    (is_beside ? beside : apart) = neighbours[i];
  }
  return outside != 0 ? Partners{.between = outside, .inside = {apart, beside}}
                      : Partners{.between = apart, .inside = {0, beside}};
}

/// This rank's end of the link between rank 0 and another rank.
class Side {
 public:
  explicit Side(int other) : rank_(rank_in(MPI_COMM_WORLD)), other_(rank_ == 0 ? other : 0), memory_(sizes.back()) {}

  /// Returns the seconds per message of a ping-pong.
  double ping_pong(std::size_t bytes, int repetitions) {
    const double begin = MPI_Wtime();
    for (int i = 0; i < 2 * repetitions; ++i) {
      const bool sends = (i % 2 == 0) == (rank_ == 0);
      sends ? MPI_Send(memory_.data(), static_cast<int>(bytes), MPI_BYTE, other_, 0, MPI_COMM_WORLD)
            : MPI_Recv(memory_.data(), static_cast<int>(bytes), MPI_BYTE, other_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - begin) / (2 * repetitions);
  }

  /// Returns the seconds for `count` messages that rank 0 sends at once, each of `bytes` bytes, and for an answer of 8
  /// bytes.
  double stream(std::size_t count, std::size_t bytes) {
    const int length = static_cast<int>(bytes);
    std::array<MPI_Request, most_in_stream> requests;
    if (rank_ != 0)  // receives are posted before the messages arrive
      for (std::size_t i = 0; i < count; ++i)
        MPI_Irecv(memory_.data() + i * bytes, length, MPI_BYTE, other_, 1, MPI_COMM_WORLD, &requests[i]);
    ping_pong(8, 1);
    const double begin = MPI_Wtime();
    if (rank_ == 0)
      for (std::size_t i = 0; i < count; ++i)
        MPI_Isend(memory_.data(), length, MPI_BYTE, other_, 1, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(static_cast<int>(count), requests.data(), MPI_STATUSES_IGNORE);
    rank_ == 0 ? MPI_Recv(memory_.data(), 8, MPI_BYTE, other_, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
               : MPI_Send(memory_.data(), 8, MPI_BYTE, other_, 2, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
  }

 private:
  int rank_;
  int other_;
  std::vector<char> memory_;
};

/// Measures messages between rank 0 and the rank `other`; all other ranks wait.
LinkTimes link_times_to(int other, int rounds) {
  constexpr double bytes_of_a_sample = 4e6;
  LinkTimes times{.bytes = {sizes.begin(), sizes.end()}};
  if (const int rank = rank_in(MPI_COMM_WORLD); rank == 0 || rank == other) {
    Side side(other);
    std::vector<std::vector<double>> one_way(sizes.size());
    std::vector<double> in_stream;
    std::vector<double> long_in_stream;
    for (int round = -1; round < rounds; ++round) {  // the first round is not counted
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double repetitions = std::clamp(bytes_of_a_sample / static_cast<double>(sizes[i]), 4.0, 200.0);
        const double seconds = side.ping_pong(sizes[i], static_cast<int>(repetitions));
        if (round >= 0) one_way[i].push_back(seconds);
      }
      const double of_short = side.stream(most_in_stream, 8);
      const double of_long = side.stream(long_ones, length_in_stream);
      if (round < 0) continue;
      in_stream.push_back(of_short / (most_in_stream + 1));
      long_in_stream.push_back(of_long);
    }
    for (const std::vector<double>& each : one_way) times.one_way.push_back(quantile(each, 0.5));
    times.in_stream = quantile(in_stream, 0.5);
    const double of_bytes = quantile(long_in_stream, 0.5) - (long_ones + 1) * times.in_stream;
    times.byte_in_stream = std::max(of_bytes, 0.0) / static_cast<double>(long_ones * length_in_stream);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return times;
}

}  // namespace

TimesOfLinks times_of_links(int rounds) {
  const Partners partners = partners_of_rank_0();
  TimesOfLinks times{.between = link_times_to(partners.between, rounds)};
  for (std::size_t i = 0; i < times.inside.size(); ++i)
    if (partners.inside[i] != 0) times.inside[i] = link_times_to(partners.inside[i], rounds);
  return times;
}

}  // namespace steadfold::bench
