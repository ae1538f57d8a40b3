// The processes of a run of the command, and how they agree on failures.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold::command {

enum ExitStatus : int { all_well = 0, check_failed = 1, bad_input = 2 };

/// Ends the command: rank 0 prints the text, "problem (why), suggestion", and every rank exits with the status.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, ExitStatus status = bad_input)
      : std::runtime_error(text), status_(status) {}
  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

/// The processes of this run, from its beginning to its end. MPI is started only if needed: `verify` starts launchers,
/// which must not find themselves inside a job. `handed_on`: the process becomes another program, which starts MPI.
class Job {
 public:
  enum class Mpi { always, under_a_launcher, never, handed_on };

  Job(Mpi mpi, int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const noexcept { return rank_; }
  int rank_count() const noexcept { return rank_count_; }

  /// Throws Failure if the launcher belongs to another MPI library than the command, or started the ranks with
  /// different command lines, so that they would wait for each other. Collective.
  void check_start(int argc, char** argv) const;

  /// Does the work on every rank, then asks whether it went well everywhere. If not, every rank throws the Failure of
  /// the lowest failing rank, so that no rank waits for one that gave up. Collective.
  void together(const std::function<void()>& work) const;

  /// What every rank told, by rank, on all of them. Collective.
  std::vector<std::string> gather(const std::string& told) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> gather(const T& told) const {
    std::vector<T> all(static_cast<std::size_t>(rank_count_));
    gather(&told, sizeof told, all.data());
    return all;
  }

  /// The group of all ranks, the library's; null where MPI was not started. Collective. Throws Failure.
  sf_group* group() const;

 private:
  void gather(const void* told, std::size_t size, void* all) const;

  bool mpi_;
  int rank_ = 0;
  int rank_count_ = 1;
};

}  // namespace steadfold::command
