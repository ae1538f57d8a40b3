// Runs a GoogleTest program on all ranks: rank 0 prints what failed anywhere, and every rank's exit status says whether
// any did. A test that hangs is named, and ends the program by a signal.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace steadfold::tests {

/// Keeps the text of every failure for later, once each, in place of printing it among that of other ranks.
class Failures : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& info) override {
    test_ = std::string(info.test_suite_name()) + "." + info.name();
    ran_ += 1;
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const std::lock_guard lock(mutex_);  // of threads
    std::ostringstream text;
    text << test_ << " at " << (result.file_name() ? result.file_name() : "?") << ":" << result.line_number() << "\n"
         << result.message() << "\n";
    if (seen_.insert(text.str()).second) text_ += text.str();
  }

  const std::string& text() const { return text_; }
  int ran() const { return ran_; }

 private:
  std::mutex mutex_;
  std::string test_;
  std::set<std::string> seen_;
  std::string text_;
  int ran_ = 0;
};

/// Turns a test that hangs into a failure that names it.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  explicit Watchdog(unsigned most_seconds) : most_seconds_(most_seconds) { std::signal(SIGALRM, bark); }
  void OnTestStart(const testing::TestInfo& info) override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::snprintf(text_.data(), text_.size(), "rank %d: %s.%s HANGS\n", rank, info.test_suite_name(), info.name());
    note_[0] = '\0';
    alarm(most_seconds_);
  }

  /// Where in the test this rank is, to be said when it hangs.
  static void note(const std::string& text) { std::snprintf(note_.data(), note_.size(), "in %s\n", text.c_str()); }

 private:
  static void bark(int /*signal*/) {
    for (const char* text : {text_.data(), note_.data()})
      if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(3);
    std::signal(SIGALRM, SIG_DFL);
    std::raise(SIGALRM);
  }

  static inline std::array<char, 200> text_;
  static inline std::array<char, 200> note_;
  unsigned most_seconds_;
};

/// Rank 0 prints the texts of all ranks, the same one only once. Collective on MPI_COMM_WORLD.
inline void print_from_all(const std::string& own) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  std::string last;
  for (int source = 0; source < rank_count; ++source) {
    int length = static_cast<int>(own.size());
    MPI_Bcast(&length, 1, MPI_INT, source, MPI_COMM_WORLD);
    std::string text = own;
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, source, MPI_COMM_WORLD);
    if (rank != 0 || length == 0) continue;
    std::printf("rank %d: %s", source, text == last ? "the same\n" : text.c_str());
    last = text;
  }
}

/// Runs all tests, each in at most `most_seconds`; the same exit status on every rank. Call between MPI_Init and
/// MPI_Finalize.
inline int run_all(int argc, char** argv, unsigned most_seconds = 200) {
  testing::InitGoogleTest(&argc, argv);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const failures = new Failures;  // GoogleTest deletes it
  listeners.Append(failures);
  listeners.Append(new Watchdog(most_seconds));

  const int own = RUN_ALL_TESTS();
  int any = 0;
  MPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  print_from_all(failures->text());
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("%d tests, %s\n", failures->ran(), any == 0 ? "all passed on all ranks" : "FAILED");
  return any;
}

/// A whole main function.
inline int run_program(int argc, char** argv, unsigned most_seconds = 200) {
  MPI_Init(&argc, &argv);
  const int failed = run_all(argc, argv, most_seconds);
  MPI_Finalize();
  return failed;
}

}  // namespace steadfold::tests
