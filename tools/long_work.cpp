// The thread of LongWork, which waits for signals, for the end of the work, and on a terminal for the next half second.
#include "long_work.hpp"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

#include "program/keeper.hpp"
#include "program/launcher.hpp"

namespace steadfold::command {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double silent_seconds = 2;
constexpr int between_lines = 500;  // milliseconds between updates of the line
// Time for programs to end; the command itself must end within a second.
constexpr auto most_wait = std::chrono::milliseconds(850);

bool talks() { return ::isatty(STDERR_FILENO) != 0 && launch_of_this_process().rank == 0; }

/// Returns the signals that end the command: SIGINT and SIGTERM, unless they are ignored.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, number);
  }
  return signals;
}

std::string in_words(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  return seconds < 6000 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

/// Returns the beginning of the text that fits one line of the terminal.
std::string cut(std::string text) {
  winsize size = {};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  const std::size_t width = known ? size.ws_col : 80;
  if (text.size() >= width) text.resize(width - 1);
  return text;
}

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace

class LongWork::Watch {
 public:
  explicit Watch(Output output) : output_(output), signals_(ending_signals()) {
    const bool is_launched = launch_of_this_process().launched;
    if (is_launched) sigemptyset(&signals_);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);  // threads that start from now on inherit the mask
    arrivals_ = ::signalfd(-1, &signals_, SFD_CLOEXEC);
    end_ = ::eventfd(0, EFD_CLOEXEC);
    thread_ = std::thread([this] { watch(); });
  }
  ~Watch() {
    const std::uint64_t one = 1;
    while (::write(end_, &one, sizeof one) < 0 && errno == EINTR) continue;
    thread_.join();
    ::close(arrivals_);
    ::close(end_);
    ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  void show(std::string doing, double done) {
    const std::lock_guard lock(mutex_);
    doing_ = std::move(doing);
    done_ = done;
  }
  void keep(std::function<std::string()> finished) {
    const std::lock_guard lock(mutex_);
    finished_ = std::move(finished);
  }

 private:
  void watch() {
    const int pause = talks() ? between_lines : -1;
    for (;;) {
      pollfd files[] = {{arrivals_, POLLIN, 0}, {end_, POLLIN, 0}};
      if (::poll(files, 2, pause) < 0 && errno != EINTR) break;
      if (files[1].revents != 0) break;
      signalfd_siginfo arrived = {};
      if (files[0].revents != 0 && ::read(arrivals_, &arrived, sizeof arrived) > 0)
        end_command(static_cast<int>(arrived.ssi_signo));
      if (pause > 0 && seconds() >= silent_seconds) draw();
    }
    erase();
  }

  double seconds() const { return Seconds(Clock::now() - begin_).count(); }

  void draw() {
    const std::lock_guard lock(mutex_);
    std::string line = doing_ + ", " + in_words(seconds());
    if (done_ > 0) line += ", about " + in_words(seconds() * (1 - done_) / done_) + " left";
    write_all(STDERR_FILENO, "\r\033[K" + cut(std::move(line)));
    is_drawn_ = true;
  }
  void erase() {
    if (is_drawn_) write_all(STDERR_FILENO, "\r\033[K");
  }

  [[noreturn]] void end_command(int signal) {
    std::unique_lock lock(mutex_);
    const std::string doing = doing_;
    const std::function<std::string()> finished = finished_;
    lock.unlock();
    erase();
    end_kept(most_wait);  // programs are ended first, because the reader of the output may be slow
    if (output_ == Output::for_people && finished) write_all(STDOUT_FILENO, finished());
    write_all(STDERR_FILENO, fmt::format("{} after {} ({})\n", signal == SIGINT ? "interrupted" : "terminated",
                                         in_words(seconds()), doing));
    ::_exit(128 + signal);
  }

  const Output output_;
  const Clock::time_point begin_ = Clock::now();
  sigset_t signals_;
  sigset_t mask_before_;
  int arrivals_ = -1;
  int end_ = -1;
  bool is_drawn_ = false;
  std::mutex mutex_;  // guards the following members
  std::string doing_ = "beginning";
  double done_ = 0;
  std::function<std::string()> finished_;
  std::thread thread_;
};

LongWork::LongWork(Output output) : watch_(std::make_unique<Watch>(output)) {}
LongWork::~LongWork() = default;
void LongWork::show(std::string doing, double done) { watch_->show(std::move(doing), done); }
void LongWork::keep(std::function<std::string()> finished) { watch_->keep(std::move(finished)); }

void announce_minutes(const std::string& what) {
  if (talks())
    fmt::print(stderr, "{}: this takes minutes; Ctrl-C ends the work and prints the finished results\n", what);
}

}  // namespace steadfold::command
