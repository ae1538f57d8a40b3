// The main function; see program.hpp.
#include "common/program.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>

namespace example {
namespace {

/// The work of every rank.
int run(const Options& options, const Program& program, const std::string& complaint) {
  return run_on_ranks(complaint, program.advice, [&](const Ranks& ranks) {
    const Record record = program.job(ranks);
    if (is_first(ranks)) fmt::print("{}", options.json ? record.dump() + "\n" : program.describe(record));
  });
}

}  // namespace

CLI::Option* declare(CLI::App& app, Options& options, const std::string& what) {
  auto* json = app.add_flag("--json", options.json, "print one JSON object instead of a table");
  auto* compare = app.add_flag("--compare", options.compare, what);
  compare->excludes(json);
  app.add_option("--ranks", options.rank_counts, "rank counts to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->needs(compare)
      ->capture_default_str();
  return compare;
}

CLI::Validator between(double low, double high) {
  const auto complain = [=](const std::string& text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool fits = fault == std::errc() && end == text.data() + text.size() && value >= low && value <= high;
    return fits ? std::string() : fmt::format("Value {} not in range {} to {}", text, low, high);
  };
  return {complain, fmt::format("in [{} - {}]", low, high)};
}

int run_program(CLI::App& app, int argc, char** argv, const Options& options, const Program& program) {
  try {
    app.parse(argc, argv);
    const std::string complaint = program.complete();
    if (!options.compare || !complaint.empty()) return run(options, program, complaint);
    if (const int ranks = ranks_of_outer_job(); ranks > 1)
      return run(options, program,
                 fmt::format("--compare starts ranks itself (these are {} already), leave out mpirun", ranks));
    return program.compare();
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return run(options, program, fmt::format("cannot use the command line ({}), see --help", error.what()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return usage_error;
  }
}

}  // namespace example
