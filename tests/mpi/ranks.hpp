// A communicator as tests see it: its ranks, parts of it, and what Steadfold makes of distributed data there.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "mpi/inputs.hpp"
#include "steadfold/mpi.hpp"
#include "steadfold/steadfold_names.h"

namespace steadfold::tests {

/// A communicator with its rank and size; freed at the end where it was made here.
class Ranks {
 public:
  Ranks() : Ranks(MPI_COMM_WORLD, false) {}
  Ranks(Ranks&& other) noexcept
      : comm(std::exchange(other.comm, MPI_COMM_NULL)), rank(other.rank), size(other.size), owned_(other.owned_) {}
  Ranks& operator=(Ranks&& other) noexcept {
    free();
    comm = std::exchange(other.comm, MPI_COMM_NULL);
    rank = other.rank;
    size = other.size;
    owned_ = other.owned_;
    return *this;
  }
  ~Ranks() { free(); }

  /// A duplicate of all ranks, which starts with nothing kept on it.
  static Ranks duplicate(MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &made);
    return {made, true};
  }
  /// Ranks of one colour, in the order of `key`.
  static Ranks split(int color, int key, MPI_Comm comm = MPI_COMM_WORLD) {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_split(comm, color, key, &made);
    return {made, true};
  }

  void free() {
    if (owned_ && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  std::size_t index() const { return static_cast<std::size_t>(rank); }
  std::size_t count() const { return static_cast<std::size_t>(size); }

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int size = 0;

 private:
  Ranks(MPI_Comm made, bool owned) : comm(made), owned_(owned) {
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  bool owned_;
};

inline Layout layout_on(const Ranks& ranks, const Ownership& ownership) {
  return Layout::intervals(ownership[ranks.index()]);
}

/// Schedules by name; "" is the library's choice.
inline std::vector<std::string> schedules_of(const Method& method, bool rooted) {
  std::vector<std::string> names = {"", "flat", "linear", "binomial"};
  if (!rooted) names.emplace_back("recursive_doubling");
  if (method.id == SF_EXACT || (method.id == SF_BINNED && method.sweep == SF_DOUBLE_SWEEP))
    names.emplace_back("native");
  if (method.id != SF_PLAIN && method.id != SF_AUTOMATIC) names.emplace_back("multi_notify");
  return names;
}

inline std::string name_of(const Method& method) {
  if (method.id == SF_BINNED)
    return "binned, " + std::to_string(method.bins) + " bins, sweep " + std::to_string(method.sweep);
  return sf_list_name(SF_LIST_METHODS, method.id);
}

/// What a failure message says of a call.
inline std::string text_of(const Options& options) {
  return name_of(options.method) + ", schedule '" + options.schedule + "'" +
         (options.root ? ", root " + std::to_string(*options.root) : "") + " ";
}

/// The sweeps are longer where this is set.
inline bool full() {
  const char* const text = std::getenv("STEADFOLD_FULL");
  return text != nullptr && *text != '\0' && std::string(text) != "0";
}

/// One of them, another each time; the same on every rank.
inline const std::string& next_of(const std::vector<std::string>& all) {
  static std::size_t turn = 0;
  return all[turn++ % all.size()];
}

/// Whether to try everything: a call with more ranks than cores takes milliseconds.
inline bool thorough(const Ranks& ranks) { return full() || ranks.size <= 2; }

/// The seed of a program: STEADFOLD_SEED, or `otherwise`. Rank 0 prints it, once.
inline std::uint64_t seed_of(const char* what, std::uint64_t otherwise) {
  const char* const text = std::getenv("STEADFOLD_SEED");
  const std::uint64_t seed = text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
  static bool printed = false;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && !std::exchange(printed, true))
    std::printf("%s: seed %llu\n", what, static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace steadfold::tests
