#include "transport/mpi/window.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "transport/mpi/endpoint.hpp"

namespace steadfold::transport {
namespace {

std::mutex windows_mutex;
/// Returns the windows that have not ended. The list is never destroyed, because destructors of a program's static
/// objects may finalise MPI.
std::vector<std::shared_ptr<Window>>& windows() {
  static auto& all = *new std::vector<std::shared_ptr<Window>>;
  return all;
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  return text;
}

/// Throws the error of a window that cannot be made. With Open MPI 4.1, a group over several machines has no window if
/// several threads of the program call MPI.
[[noreturn]] void refuse(const std::string& why, const std::string& remedy = "STEADFOLD_TRANSPORT=mpi") {
  throw std::runtime_error("transport rma cannot be used (" + why + "), set " + remedy);
}

/// Whether `comm` has several processes, but not all processes of the job.
bool is_part_of_job(MPI_Comm comm) {
  MPI_Group of_job = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group others = MPI_GROUP_NULL;
  int count = 0;
  PMPI_Comm_size(comm, &count);
  if (count == 1) return false;
  PMPI_Comm_group(MPI_COMM_WORLD, &of_job);
  PMPI_Comm_group(comm, &members);
  PMPI_Group_difference(of_job, members, &others);
  PMPI_Group_size(others, &count);
  for (MPI_Group* each : {&of_job, &members, &others})
    if (*each != MPI_GROUP_EMPTY) PMPI_Group_free(each);
  return count > 0;
}

/// Open MPI before 5.0, unless OMPI_MCA_osc selects another component, puts a window's memory into a file whose name
/// has the communicator's number. Communicators that share no process may have the same number. In this case their
/// windows would be the same memory.
/// Source: https://github.com/open-mpi/ompi/issues/9492.
bool names_windows_by_number() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  int major = 0;
  const char* const asked = std::getenv("OMPI_MCA_osc");
  const std::string_view components = asked == nullptr ? "" : asked;
  const bool lists_rdma = components.find("rdma") != std::string_view::npos;
  const bool excludes = !components.empty() && lists_rdma == components.starts_with('^');
  return std::sscanf(text, "Open MPI v%d.", &major) == 1 && major < 5 && !excludes;
}

}  // namespace

Window::Window(MPI_Comm comm, Bytes bytes, Reads reads) : reads_(reads), free_(bytes / sizeof(Word)) {
  if (const int error = PMPI_Comm_dup(comm, &comm_); error != MPI_SUCCESS) refuse(text_of(error));
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  PMPI_Comm_rank(comm_, &rank_);
  PMPI_Comm_size(comm_, &rank_count_);
  if (!all(!names_windows_by_number() || !is_part_of_job(comm_))) {
    PMPI_Comm_free(&comm_);
    refuse("Open MPI before 5.0 may give the windows of two parts of a job the same memory",
           "OMPI_MCA_osc=^rdma, or STEADFOLD_TRANSPORT=mpi");
  }
  int error = PMPI_Win_allocate(static_cast<MPI_Aint>(bytes), sizeof(Word), MPI_INFO_NULL, comm_, &words_, &window_);
  if (error == MPI_SUCCESS) {
    PMPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    *words_ = 0;
    error = PMPI_Win_lock_all(MPI_MODE_NOCHECK, window_);  // the window stays locked until it is freed
    if (error == MPI_SUCCESS) PMPI_Win_sync(window_);
  }
  if (!all(error == MPI_SUCCESS))
    refuse(error == MPI_SUCCESS ? "another rank cannot create its window" : text_of(error));
  if (!all(delivers())) {
    free();
    refuse("the MPI library delivers no write before a flush, which may cause a deadlock");
  }

  static std::atomic<std::uint64_t> made = 0;
  std::uint64_t number[] = {0, made.fetch_add(1, std::memory_order_relaxed)};
  int of_job = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &of_job);
  number[0] = static_cast<std::uint64_t>(of_job);
  PMPI_Bcast(number, 2, MPI_UINT64_T, 0, comm_);
  number_ = {static_cast<int>(number[0]), number[1]};
}

/// Whether `here` is true on all ranks. Collective.
bool Window::all(bool here) const noexcept {
  int everywhere = here ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_LAND, comm_);
  return everywhere != 0;
}

/// Whether a word that the previous rank writes arrives without a flush of the window. Over TCP, Open MPI 4.1 sends
/// nothing before a flush. Collective and blocking.
bool Window::delivers() noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const Word mark = 1;
  Word seen = 0;
  MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  auto& [writing, reading] = requests;
  write({&mark, 1}, (rank_ + 1) % rank_count_, 0, writing);
  bool has_come = false;
  while (!has_come && std::chrono::steady_clock::now() < deadline) {
    if (reading == MPI_REQUEST_NULL) read({&seen, 1}, 0, reading);
    int done = 0;
    PMPI_Test(&reading, &done, MPI_STATUS_IGNORE);
    has_come = reading == MPI_REQUEST_NULL && seen == mark;  // `seen` is undefined until the read has ended
    PMPI_Test(&writing, &done, MPI_STATUS_IGNORE);
    make_progress();
    sched_yield();
  }
  PMPI_Win_flush_all(window_);
  PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return has_come;
}

std::optional<std::uint64_t> Window::take(std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  const auto first = free_.take(count);
  if (!first) return std::nullopt;
  std::memset(words_ + *first, 0, count * sizeof(Word));
  PMPI_Win_sync(window_);
  return first;
}

void Window::give_back(std::uint64_t first, std::uint64_t count) noexcept {
  const std::lock_guard lock(mutex_);
  free_.give_back(first, count);
}

int Window::write(std::span<const Word> words, Rank target, std::uint64_t first, MPI_Request& request) noexcept {
  const auto count = static_cast<int>(words.size());
  return PMPI_Raccumulate(words.data(), count, MPI_UINT64_T, target, static_cast<MPI_Aint>(first), count, MPI_UINT64_T,
                          MPI_REPLACE, window_, &request);
}

int Window::read(std::span<Word> words, std::uint64_t first, MPI_Request& request) noexcept {
  if (reads_ == Reads::by_loads) {
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = std::atomic_ref(words_[first + i]).load(std::memory_order_relaxed);
    request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  const auto count = static_cast<int>(words.size());
  return PMPI_Rget_accumulate(nullptr, 0, MPI_UINT64_T, words.data(), count, MPI_UINT64_T, rank_,
                              static_cast<MPI_Aint>(first), count, MPI_UINT64_T, MPI_NO_OP, window_, &request);
}

void Window::make_progress() noexcept {
  int is_there = 0;
  // Makes progress; no message is ever sent over this communicator.
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &is_there, MPI_STATUS_IGNORE);
}

void Window::enter() {
  const std::lock_guard lock(mutex_);
  if (kept_.capacity() < most_kept_ + 1) kept_.reserve(2 * most_kept_ + 16);
  most_kept_ += 1;
  users_.fetch_add(1, std::memory_order_relaxed);
}

void Window::keep(std::vector<Word> memory) noexcept {
  const std::lock_guard lock(mutex_);
  if (memory.empty())
    most_kept_ -= 1;
  else
    kept_.push_back(std::move(memory));
}

void Window::end() {
  if (has_ended() || finalized()) return;
  if (!all(users_.load(std::memory_order_relaxed) == 0)) return;
  free();
  const std::lock_guard lock(windows_mutex);
  std::erase_if(windows(), [this](const auto& each) { return each.get() == this; });
}

void Window::free() noexcept {
  PMPI_Win_unlock_all(window_);
  PMPI_Win_free(&window_);
  PMPI_Comm_free(&comm_);
  window_ = MPI_WIN_NULL;
}

std::shared_ptr<Window> make_window(MPI_Comm comm, Bytes bytes, Reads reads) {
  auto made = std::make_shared<Window>(comm, bytes, reads);
  const std::lock_guard lock(windows_mutex);
  windows().push_back(made);
  return made;
}

/// Frees all windows. The windows are sorted first, because threads may have made them in different orders on different
/// ranks.
void end_windows() noexcept {
  const std::lock_guard lock(windows_mutex);
  std::ranges::sort(windows(), {}, [](const auto& each) { return each->number_; });
  for (const auto& each : windows()) each->free();
  windows().clear();
}

}  // namespace steadfold::transport
