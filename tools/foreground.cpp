#include "foreground.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "program/job.hpp"
#include "program/keeper.hpp"

namespace steadfold::command {
namespace {

constexpr std::array forwarded = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
volatile pid_t foreground = 0;  // the program

/// Sends a signal on to the program. The terminal sends its signals to the program, too, so they are not sent again.
void forward(int signal, siginfo_t* from, void* /*context*/) {
  const int before = errno;
  if (from->si_code <= 0) kill(foreground, signal);
  errno = before;
}

[[noreturn]] void refuse_to_start(const std::string& program, int error) {
  throw Failure("'" + program + "' cannot be started (" + std::strerror(error) + "), name a program");
}

/// Executes the program in the child process. Writes errno to `failed` if the program cannot be started.
[[noreturn]] void execute_in_child(const std::vector<char*>& arguments, pid_t parent, int failed) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // the parent has ended before this process asked for the signal
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(!write(failed, &error, sizeof error));
  _exit(1);
}

}  // namespace

int run_in_foreground(std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse_to_start(words.front(), errno);
  const std::vector<char*> arguments = pointers_to(words);
  const pid_t own = getpid();
  foreground = fork();
  if (foreground == 0) execute_in_child(arguments, own, ends[1]);
  const int fork_error = errno;
  close(ends[1]);
  if (foreground < 0) {
    close(ends[0]);
    refuse_to_start(words.front(), fork_error);
  }
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : forwarded) sigaction(signal, &action, nullptr);
  int error = 0;
  ssize_t got = 0;
  while ((got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
  close(ends[0]);
  int status = 0;
  while (waitpid(foreground, &status, 0) < 0 && errno == EINTR) continue;
  if (got == static_cast<ssize_t>(sizeof error)) refuse_to_start(words.front(), error);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(std::vector<std::string>& words) {
  execvp(words.front().c_str(), pointers_to(words).data());
  refuse_to_start(words.front(), errno);
}

}  // namespace steadfold::command
