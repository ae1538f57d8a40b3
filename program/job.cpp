// The processes of a run, and their agreement on failures.
#include "program/job.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

#include "program/launcher.hpp"
#include "program/mpi_library.hpp"
#include "steadfold/steadfold_mpi.h"

namespace steadfold::command {
namespace {

/// The outcome of a rank's work: success, or the failure.
struct Outcome {
  int status = all_well;
  std::string text;
};

constexpr const char* no_memory =
    "out of memory (the data of one process does not fit into memory), use fewer elements or more ranks";
constexpr const char* own_fault =
    "the command cannot continue (an internal error), report this error with this command line";

/// Whether a text is meant for users. The library and the readers write "problem (why), suggestion"; the C++ standard
/// library does not.
bool is_for_users(const std::string& text) {
  const std::size_t why = text.find(" (");
  return why != std::string::npos && text.find("), ", why) != std::string::npos;
}

Outcome attempt(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Failure& failure) {
    return {failure.status(), failure.what()};
  } catch (const std::bad_alloc&) {
    return {bad_input, no_memory};
  } catch (const std::length_error&) {
    return {bad_input, no_memory};
  } catch (const std::system_error& error) {
    return {bad_input, "a file cannot be used (" + error.code().message() + "), check the paths on the command line"};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return {bad_input, is_for_users(text) ? text : own_fault};
  }
}

/// Returns on every rank the outcome of the lowest rank whose work failed.
Outcome agree(Outcome mine, int rank, int rank_count) {
  int failed = mine.status == all_well ? rank_count : rank;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (failed == rank_count) return {};
  int told[] = {mine.status, static_cast<int>(mine.text.size())};
  MPI_Bcast(told, 2, MPI_INT, failed, MPI_COMM_WORLD);
  mine.text.resize(static_cast<std::size_t>(told[1]));
  MPI_Bcast(mine.text.data(), told[1], MPI_CHAR, failed, MPI_COMM_WORLD);
  mine.status = told[0];
  return mine;
}

}  // namespace

Job::Job(Mpi mpi, int& argc, char**& argv) {
  const Launch launch = launch_of_this_process();
  // Some launchers report a crash if a rank exits without MPI_Init. So even commands that start launchers call it.
  mpi_ = has_mpi() && (mpi == Mpi::always || (mpi == Mpi::under_a_launcher && launch.launched) ||
                       (mpi == Mpi::never && launch.rank_count > 1));
  rank_ = launch.rank;
  rank_count_ = launch.rank_count;
  if (!mpi_) return;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);  // benchmarks start threads, which do not call MPI
  int rank_count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  // If the launcher belongs to another MPI library, its ranks do not find each other. In this case the launcher's
  // number of ranks is kept, and check_start() reports the error.
  if (rank_count == 1 && launch.rank_count > 1) return;
  rank_count_ = rank_count;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}

Job::~Job() {
  if (mpi_) MPI_Finalize();
}

void Job::check_start(int argc, char** argv) const {
  if (!mpi_) return;
  int known = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &known);
  if (known != rank_count_) {
    // When a process fails, its launcher ends all other processes. Rank 0 prints the error, so the other ranks wait.
    if (rank_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    throw Failure("the launcher started " + std::to_string(rank_count_) +
                  " separate jobs of one rank (the launcher belongs to another MPI library than this command), start "
                  "this command with the launcher of " +
                  mpi_library().name);
  }
  std::string line;  // the arguments without the program's path, which may differ between machines
  for (int i = 1; i < argc; ++i) line.append(argv[i]).push_back('\0');
  const std::uint64_t mine = std::hash<std::string>()(line);
  std::uint64_t words[] = {mine, ~mine};
  MPI_Allreduce(MPI_IN_PLACE, words, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  if (words[0] != ~words[1])
    throw Failure(
        "the ranks were started with different command lines (the ranks would be in a deadlock), give all ranks the "
        "same command line");
}

void Job::together(const std::function<void()>& work) const {
  Outcome outcome = attempt(work);
  int known = 1;
  if (mpi_) MPI_Comm_size(MPI_COMM_WORLD, &known);
  if (known > 1) outcome = agree(std::move(outcome), rank_, known);
  if (outcome.status != all_well) throw Failure(outcome.text, static_cast<ExitStatus>(outcome.status));
}

std::vector<std::string> Job::gather(const std::string& told) const {
  if (rank_count_ == 1) return {told};
  const auto mine = static_cast<int>(told.size());
  const std::vector<int> sizes = gather(mine);
  std::vector<int> begins(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), begins.begin(), 0);
  std::string all(static_cast<std::size_t>(begins.back() + sizes.back()), '\0');
  MPI_Allgatherv(told.data(), mine, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> parts;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank)
    parts.push_back(all.substr(static_cast<std::size_t>(begins[rank]), static_cast<std::size_t>(sizes[rank])));
  return parts;
}

void Job::gather(const void* told, std::size_t size, void* all) const {
  if (rank_count_ == 1)
    std::memcpy(all, told, size);
  else
    MPI_Allgather(told, static_cast<int>(size), MPI_BYTE, all, static_cast<int>(size), MPI_BYTE, MPI_COMM_WORLD);
}

sf_group* Job::group() const {
  sf_group* group = nullptr;
  together([&] {
    if (mpi_ && sf_group_of(MPI_COMM_WORLD, &group) != SF_OK) throw Failure(sf_error_text());
  });
  return group;
}

}  // namespace steadfold::command
