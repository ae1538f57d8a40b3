// The main function of the applications: the options that all have, and one job or a comparison of several.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/launch.hpp"
#include "common/run.hpp"

namespace example {

/// The options of every application.
struct Options {
  std::vector<int> rank_counts;  // to compare
  bool json = false, compare = false;
};

/// Declares --json, --compare and --ranks. Returns --compare, whose help is `what`.
CLI::Option* declare(CLI::App& app, Options& options, const std::string& what);

/// A range that a NaN is not in.
CLI::Validator between(double low, double high);

struct Program {
  /// Checks combinations of options after reading them. Returns an error text, the same on all ranks, or nothing.
  std::function<std::string()> complete;
  std::string advice;  // where a job fails: "try fewer --points"
  /// One job. Collective; every rank gets the record.
  std::function<Record(const Ranks&)> job;
  std::function<std::string(const Record&)> describe;  // for people
  /// Starts jobs and compares them; returns the exit status.
  std::function<int()> compare;
};

/// Reads the command line and runs the job; returns the exit status.
int run_program(CLI::App& app, int argc, char** argv, const Options& options, const Program& program);

}  // namespace example
