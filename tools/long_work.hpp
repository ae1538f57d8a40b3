// Work that may take seconds or minutes: what a terminal shows of it, and how a signal ends it.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace steadfold::command {

/// While it lives, a terminal on standard error shows what is being done, in one line that is written over: from the
/// third second on, with the time that has passed and an estimate of what is left. The line is erased at the end.
/// Nothing is shown elsewhere, nor on other ranks than the first.
///
/// SIGINT and SIGTERM end the command: standard output gets what is finished (nothing, if that is to be a JSON object),
/// standard error a line with what was being done; the programs that `run_kept` runs are ended; the exit status is
/// 128 + the signal. All of that within a second. Under a launcher, which ends its ranks itself, and for signals that
/// were ignored when the command was started, nothing changes.
///
/// One at a time. It has a thread, which sleeps but for twice a second on a terminal.
class LongWork {
 public:
  enum class Output { for_people, json };

  explicit LongWork(Output output);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  /// What is being done now, such as "launch 2 of 6", and which part of everything is done, 0 to 1.
  void show(std::string doing, double done);
  /// What is finished, in words and tables for people: made only if a signal comes, on another thread. So it holds a
  /// copy of what it is made of.
  void keep(std::function<std::string()> finished);

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

/// Says on a terminal, before the work, that it takes minutes: `what` is a sentence without its end.
void announce_minutes(const std::string& what);

}  // namespace steadfold::command
