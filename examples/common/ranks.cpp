// The ranks of a job; see ranks.hpp.
#include "common/ranks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <stdexcept>

namespace example {

Ranks::Ranks(MPI_Comm communicator) : comm(communicator) {
  int my_rank = 0, size = 1;
  MPI_Comm_rank(comm, &my_rank);
  MPI_Comm_size(comm, &size);
  rank = static_cast<std::uint64_t>(my_rank);
  count = static_cast<std::uint64_t>(size);
}

sf::Interval Ranks::share(std::uint64_t total, std::uint64_t of_rank) const {
  const std::uint64_t each = total / count, longer = total % count, shorter = count - longer;
  const std::uint64_t begin = of_rank * each + (of_rank > shorter ? of_rank - shorter : 0);
  return {begin, begin + each + (of_rank >= shorter ? 1 : 0)};
}

bool is_first(const Ranks& ranks) { return ranks.rank == 0; }

int run_on_ranks(std::string complaint, const std::string& advice, const std::function<void(const Ranks&)>& job) {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  const Ranks ranks(MPI_COMM_WORLD);
  if (complaint.empty()) {
    try {
      job(ranks);
    } catch (const sf::Error& error) {
      complaint = error.what();
    } catch (const std::invalid_argument& error) {
      complaint = error.what();
    } catch (const std::exception& error) {  // out of memory, say: the other ranks would wait for this one
      fmt::print(stderr, "rank {} cannot go on ({}), {}\n", ranks.rank, error.what(), advice);
      MPI_Abort(MPI_COMM_WORLD, usage_error);
    }
  }
  if (ranks.rank == 0 && !complaint.empty()) fmt::print(stderr, "{}\n", complaint);
  MPI_Finalize();
  return complaint.empty() ? 0 : usage_error;
}

}  // namespace example
