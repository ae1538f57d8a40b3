// The processes of a run of the command, and their agreement on failures.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "steadfold/steadfold_group.h"

namespace steadfold::command {

enum ExitStatus : int { all_well = 0, check_failed = 1, bad_input = 2 };

/// An error that ends the command: rank 0 prints the text, "problem (why), suggestion", and every rank exits with the
/// status.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& text, ExitStatus status = bad_input)
      : std::runtime_error(text), status_(status) {}
  ExitStatus status() const noexcept { return status_; }

 private:
  ExitStatus status_;
};

/// The processes of this run, from its start to its end. MPI is started only if needed: `verify` starts launchers,
/// which must not run inside an MPI job. `handed_on` says that this process becomes another program, which starts MPI.
class Job {
 public:
  enum class Mpi { always, under_a_launcher, never, handed_on };

  Job(Mpi mpi, int& argc, char**& argv);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  int rank() const noexcept { return rank_; }
  int rank_count() const noexcept { return rank_count_; }

  /// Throws Failure if the launcher belongs to another MPI library than the command. Also throws if the launcher gave
  /// the ranks different command lines, since they would be in a deadlock. Collective.
  void check_start(int argc, char** argv) const;

  /// Executes `work` on every rank, then checks that it succeeded on all ranks. If not, every rank throws the Failure
  /// of the lowest failing rank, so that no rank waits for a rank that gave up. Collective.
  void together(const std::function<void()>& work) const;

  /// Returns the text of every rank, by rank, on all ranks. Collective.
  std::vector<std::string> gather(const std::string& told) const;
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::vector<T> gather(const T& told) const {
    std::vector<T> all(static_cast<std::size_t>(rank_count_));
    gather(&told, sizeof told, all.data());
    return all;
  }

  /// Returns the library's group of all ranks; null if MPI was not started. Collective. Throws Failure.
  sf_group* group() const;

 private:
  void gather(const void* told, std::size_t size, void* all) const;

  bool mpi_;
  int rank_ = 0;
  int rank_count_ = 1;
};

}  // namespace steadfold::command
