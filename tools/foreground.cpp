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

/// While the object lives, the forwarded signals wait. So none is lost before the program is known.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : forwarded) sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsWait() { restore(); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

/// Executes the program in the child process. Writes errno to `failed` if the program cannot be started.
[[noreturn]] void execute_in_child(const std::vector<char*>& arguments, pid_t parent, int failed) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);  // the parent has ended before this process asked for the signal
  execvp(arguments.front(), arguments.data());
  const int error = errno;
  static_cast<void>(!write(failed, &error, sizeof error));
  _exit(1);
}

/// Starts the program, and forwards signals to it. Returns errno if there is no child process, else 0.
int start_in_foreground(std::vector<std::string>& words, int failed) {
  const std::vector<char*> arguments = pointers_to(words);
  const pid_t own = getpid();
  const SignalsWait wait;
  foreground = fork();
  if (foreground < 0) return errno;
  if (foreground == 0) {
    wait.restore();
    execute_in_child(arguments, own, failed);
  }
  struct sigaction action {};
  action.sa_sigaction = forward;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  for (const int signal : forwarded) sigaction(signal, &action, nullptr);
  return 0;
}

}  // namespace

int run_in_foreground(std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) refuse_to_start(words.front(), errno);
  int error = start_in_foreground(words, ends[1]);
  close(ends[1]);
  while (error == 0 && read(ends[0], &error, sizeof error) < 0 && errno == EINTR) continue;
  close(ends[0]);
  int status = 0;
  while (foreground > 0 && waitpid(foreground, &status, 0) < 0 && errno == EINTR) continue;
  if (error != 0) refuse_to_start(words.front(), error);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(std::vector<std::string>& words) {
  execvp(words.front().c_str(), pointers_to(words).data());
  refuse_to_start(words.front(), errno);
}

}  // namespace steadfold::command
