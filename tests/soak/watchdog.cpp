#include "watchdog.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace steadfold::soak {
namespace {

constexpr unsigned most_seconds = 60;

std::array<char, 2000> where{};
alignas(16) std::array<char, 64 * 1024> signal_stack;  // the rank's own stack may have overflowed

void say_where(int signal) {
  const char* const what = signal == SIGALRM ? "HANGS: " : "CRASHES: ";
  if (::write(STDERR_FILENO, what, std::strlen(what)) < 0) _exit(3);
  if (::write(STDERR_FILENO, where.data(), std::strlen(where.data())) < 0) _exit(3);
  _exit(signal == SIGALRM ? 3 : 4);
}

}  // namespace

void watch() {
  stack_t stack{};
  stack.ss_sp = signal_stack.data();
  stack.ss_size = signal_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = say_where;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
}

void note(const Case& made, std::size_t rank) {
  static std::mutex mutex;  // ranks may be threads
  const std::lock_guard lock(mutex);
  std::snprintf(where.data(), where.size(), "on rank %zu of %s\n", rank, made.text().c_str());
  alarm(most_seconds);
}

void hang() {
  std::raise(SIGALRM);
  _exit(3);
}

}  // namespace steadfold::soak
