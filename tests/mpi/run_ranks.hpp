// Runs GoogleTest cases on all ranks, for launch.py: which of them, by their names; what became of each in a journal.
// Rank 0 prints what failed anywhere, and every rank's exit status says whether any did. A case that hangs is named,
// and ends the program by a signal.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace steadfold::tests {

inline std::string name_of(const testing::TestInfo& info) {
  return std::string(info.test_suite_name()) + "." + info.name();
}

/// Rank 0 prints the texts of all ranks, the same one only once. Collective.
inline void print_from_all(const std::string& own, MPI_Comm comm) {
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &rank_count);
  std::string last;
  for (int source = 0; source < rank_count; ++source) {
    int length = static_cast<int>(own.size());
    MPI_Bcast(&length, 1, MPI_INT, source, comm);
    std::string text = own;
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, source, comm);
    if (rank != 0 || length == 0) continue;
    std::printf("rank %d: %s", source, text == last ? "the same\n" : text.c_str());
    last = text;
  }
  std::fflush(stdout);
}

/// Ends every case on all ranks together, so that none runs beside the next one: rank 0 prints what failed on any, and
/// writes a line into the journal as a case begins and as it ends. Collective.
class Report : public testing::EmptyTestEventListener {
 public:
  explicit Report(const std::string& journal) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);  // apart from what tests do on theirs
    MPI_Comm_rank(comm_, &rank_);
    if (rank_ == 0 && !journal.empty()) journal_.open(journal, std::ios::app);
  }
  void OnTestStart(const testing::TestInfo& info) override { journal_ << "began " << name_of(info) << std::endl; }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.skipped() && rank_ == 0) std::printf("skipped: %s\n", result.message());
    if (!result.failed()) return;
    const std::lock_guard lock(mutex_);  // of threads
    std::ostringstream text;
    text << (result.file_name() ? result.file_name() : "?") << ":" << result.line_number() << "\n"
         << result.message() << "\n";
    if (seen_.insert(text.str()).second) text_ += text.str();
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    enum Verdict : int { skipped, passed, failed };
    const auto* const result = info.result();
    const int own = result->Failed() ? failed : result->Skipped() ? skipped : passed;
    int worst = own;
    MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, comm_);
    if (worst == failed) {
      failed_ = true;
      if (rank_ == 0) std::printf("FAILED: %s\n", name_of(info).c_str());
      print_from_all(text_, comm_);
    }
    constexpr std::array words = {"skipped", "passed", "failed"};
    journal_ << words.at(static_cast<std::size_t>(worst)) << " " << name_of(info) << " " << result->elapsed_time()
             << std::endl;
    ran_ += 1;
    text_.clear();
    seen_.clear();
  }

  /// Whether any case failed on any rank; rank 0 prints it. Collective.
  bool end() {
    if (rank_ == 0) std::printf("%d tests, %s\n", ran_, failed_ ? "FAILED" : "all passed on all ranks");
    MPI_Comm_free(&comm_);
    return failed_;
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  std::ofstream journal_;  // of rank 0
  std::mutex mutex_;
  std::set<std::string> seen_;
  std::string text_;
  int ran_ = 0;
  bool failed_ = false;
};

/// Turns a case that hangs into a failure that names it.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  explicit Watchdog(unsigned most_seconds) : most_seconds_(most_seconds) { std::signal(SIGALRM, bark); }
  void OnTestStart(const testing::TestInfo& info) override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::snprintf(text_.data(), text_.size(), "rank %d: %s HANGS\n", rank, name_of(info).c_str());
    note_[0] = '\0';
    alarm(most_seconds_);
  }
  void OnTestProgramEnd(const testing::UnitTest& /*all*/) override { alarm(0); }

  /// Where in the case this rank is, to be said when it hangs.
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

/// What launch.py says: `--list`, `--cases=FILE`, `--journal=FILE`, `--limit=SECONDS` of each case.
struct Arguments {
  bool list = false;
  std::string cases;
  std::string journal;
  unsigned limit = 200;

  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const auto value_of = [&](std::string_view name, std::string& value) {
        if (word.starts_with(name)) value = word.substr(name.size());
      };
      std::string seconds;
      list |= word == "--list";
      value_of("--cases=", cases);
      value_of("--journal=", journal);
      value_of("--limit=", seconds);
      if (!seconds.empty()) limit = static_cast<unsigned>(std::stoul(seconds));
    }
  }
};

/// Prints a line per case: its subject, which is the name of its file, and its own name.
inline void list_cases() {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& info = *suite.GetTestInfo(k);
      std::printf("%s %s\n", std::filesystem::path(info.file()).stem().c_str(), name_of(info).c_str());
    }
  }
}

/// GoogleTest's filter for the names in a file, one per line.
inline std::string filter_of(const std::string& cases) {
  std::ifstream file(cases);
  std::string filter;
  for (std::string name; std::getline(file, name);) filter += (filter.empty() ? "" : ":") + name;
  return filter;
}

/// Runs the cases that are asked for; the same exit status on every rank. Call between MPI_Init and MPI_Finalize.
inline int run_all(int argc, char** argv) {
  const Arguments arguments(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  if (!arguments.cases.empty()) testing::GTEST_FLAG(filter) = filter_of(arguments.cases);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  auto* const report = new Report(arguments.journal);  // GoogleTest deletes it
  listeners.Append(new Watchdog(arguments.limit));
  listeners.Append(report);
  const int outside_of_cases = RUN_ALL_TESTS();
  return report->end() || outside_of_cases != 0 ? 1 : 0;
}

/// Whether the program was only asked what cases it has, which it prints; asked before MPI_Init.
inline bool only_lists(int argc, char** argv) {
  if (!Arguments(argc, argv).list) return false;
  testing::InitGoogleTest(&argc, argv);
  list_cases();
  return true;
}

/// A whole main function.
inline int run_program(int argc, char** argv) {
  if (only_lists(argc, argv)) return 0;
  MPI_Init(&argc, &argv);
  const int failed = run_all(argc, argv);
  MPI_Finalize();
  return failed;
}

}  // namespace steadfold::tests
