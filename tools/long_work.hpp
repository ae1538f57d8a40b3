// Work that takes seconds or minutes: a line of progress on a terminal, and a clean end after a signal.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace steadfold::command {

/// Shows the current step of the work on standard error while the object lives, from the third second on, with the time
/// used and an estimate of the remaining time. One line is overwritten, and erased at the end. If standard error is not
/// a terminal, and on all ranks but the first, nothing is shown.
///
/// SIGINT and SIGTERM end the command within a second: standard output gets the finished results (nothing in JSON
/// mode), standard error a line with the current step, the programs that `run_kept` runs are ended, and the exit status
/// is 128 plus the number of the signal. Under a launcher, which ends its ranks itself, signals are not handled.
/// Signals that were ignored when the command was started stay ignored.
///
/// Only one object may live at a time. The object has a thread, which wakes twice a second on a terminal and sleeps
/// otherwise.
class LongWork {
 public:
  enum class Output { for_people, json };

  explicit LongWork(Output output);
  ~LongWork();
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  /// Sets the current step, such as "launch 2 of 6", and the finished part of the work, 0 to 1.
  void show(std::string doing, double done);
  /// Sets the function that makes the text of the finished results. Another thread calls it if a signal comes, so it
  /// must hold copies of its data.
  void keep(std::function<std::string()> finished);

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

/// Tells the user on a terminal that the work will take minutes. `what` is a sentence without its full stop.
void announce_minutes(const std::string& what);

}  // namespace steadfold::command
