#include "program/keeper.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>

#include "program/job.hpp"

namespace steadfold::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int cannot_start = 127;
constexpr auto until_killed = std::chrono::milliseconds(2000);
// Time for processes to end before they are killed, if a user may wait at a terminal.
constexpr auto until_killed_soon = std::chrono::milliseconds(600);
// Time after which processes are given up that are in the kernel and that no signal ends.
constexpr auto until_given_up = std::chrono::seconds(20);

/// Starts the program with no signals blocked. Returns 0 and sets errno if it cannot be started.
pid_t start(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, words[0].c_str(), &actions, &attributes, pointers_to(words).data(),
                                   pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  return failed == 0 ? child : 0;
}

/// Returns the parent of a process, or 0. /proc/PID/stat has the number, the name in parentheses (which may contain any
/// character), the state and the parent.
pid_t parent_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t end = line.rfind(") ");
  pid_t parent = 0;
  if (end != std::string::npos && line.size() > end + 4)
    std::from_chars(line.data() + end + 4, line.data() + line.size(), parent);
  return parent;
}

std::multimap<pid_t, pid_t> children_of_all() {
  std::multimap<pid_t, pid_t> children;
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return children;
  while (const dirent* entry = ::readdir(processes)) {
    pid_t process = 0;
    std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), process);
    if (process > 0) children.emplace(parent_of(process), process);
  }
  ::closedir(processes);
  return children;
}

/// Returns all descendants, parents first, so that a launcher ends before it can start more ranks.
std::vector<pid_t> descendants() {
  const auto children = children_of_all();
  std::vector<pid_t> found;
  const auto append = [&](pid_t process) {
    const auto [first, last] = children.equal_range(process);
    for (auto each = first; each != last; ++each) found.push_back(each->second);
  };
  append(::getpid());
  for (std::size_t i = 0; i < found.size(); ++i) append(found[i]);
  return found;
}

/// Reaps children that have ended. Returns whether any are left.
bool any_left() {
  pid_t ended = 0;
  while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) continue;
  return ended == 0;
}

/// Waits for the children. Returns whether all ended before the deadline. Orphans become children of the keeper, so
/// then no descendant is left.
template <class Signal>
bool all_gone_before(Clock::time_point deadline, const sigset_t& signals, Signal signal) {
  for (; any_left(); signal()) {
    if (Clock::now() > deadline) return false;
    const timespec pause = {.tv_sec = 0, .tv_nsec = 20'000'000};
    ::sigtimedwait(&signals, nullptr, &pause);
  }
  return true;
}

void end_all(const sigset_t& signals, std::chrono::milliseconds patience) {
  if (!any_left()) return;
  // After SIGTERM, a launcher ends its ranks and removes its files.
  const auto children = children_of_all();
  const auto [first, last] = children.equal_range(::getpid());
  for (auto each = first; each != last; ++each) ::kill(each->second, SIGTERM);
  const auto now = Clock::now();
  if (all_gone_before(now + patience, signals, [] {})) return;
  all_gone_before(now + until_given_up, signals, [] {
    for (const pid_t process : descendants()) ::kill(process, SIGKILL);
  });
}

/// The exit status of the program, as a shell would report it, or the signal that ends the keeper.
struct Ended {
  int status = 0;
  bool was_asked = false;
};

Ended wait_for(pid_t program, const sigset_t& signals) {
  for (;;) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended == program) return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
    }
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal > 0 && signal != SIGCHLD) return {.status = 128 + signal, .was_asked = true};
  }
}

/// Does the whole work of the keeper, and returns its exit status.
int keep(pid_t starter, std::vector<std::string>& words, std::vector<std::string>& environment, int out,
         int err) noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGCHLD, SIG_DFL);  // the process that started the command may have ignored this signal
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != starter) return 128 + SIGTERM;  // the process that started the keeper has ended
  const pid_t program = start(words, environment, out, err);
  if (program == 0) {
    ::dprintf(err, "%s\n", std::strerror(errno));
    return cannot_start;
  }
  const Ended ended = wait_for(program, signals);
  end_all(signals, ended.was_asked ? until_killed_soon : until_killed);
  return ended.status;
}

/// The keeper for which this process waits, if there is one.
struct Kept {
  std::mutex mutex;
  std::condition_variable is_gone;
  pid_t keeper = 0;
  bool is_ending = false;
};

Kept& kept() {
  static Kept all;
  return all;
}

/// Does not return if the process is ending itself, so that the caller starts no further program.
void stay_if_ending(std::unique_lock<std::mutex>& lock) {
  while (kept().is_ending) kept().is_gone.wait(lock);
}

/// Restores the default action of a signal that a library catches (UCX, below MPICH, catches SIGHUP). A signal that the
/// starter of the command had ignored stays ignored, as with nohup.
void do_not_catch(int signal) {
  struct sigaction action = {};
  ::sigaction(signal, nullptr, &action);
  if (action.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
}

}  // namespace

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

int run_kept(std::vector<std::string>& words, std::vector<std::string>& environment, int out, int err) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) do_not_catch(signal);
  const pid_t self = ::getpid();
  std::unique_lock lock(kept().mutex);
  stay_if_ending(lock);
  const pid_t keeper = ::fork();
  if (keeper < 0)
    throw Failure("cannot start " + words[0] + " (the system cannot start more processes), end some processes");
  if (keeper == 0) ::_exit(keep(self, words, environment, out, err));
  kept().keeper = keeper;
  lock.unlock();
  siginfo_t ended = {};
  while (::waitid(P_PID, static_cast<id_t>(keeper), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  lock.lock();
  int status = 0;
  ::waitpid(keeper, &status, 0);
  kept().keeper = 0;
  kept().is_gone.notify_all();
  stay_if_ending(lock);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void end_kept(std::chrono::milliseconds most_wait) {
  std::unique_lock lock(kept().mutex);
  kept().is_ending = true;
  if (kept().keeper == 0) return;
  ::kill(kept().keeper, SIGTERM);
  kept().is_gone.wait_for(lock, most_wait, [] { return kept().keeper == 0; });
}

}  // namespace steadfold::command
