// example_likelihood: a miniature of maximum-likelihood phylogenetics. The log-likelihoods of the sites of a DNA
// alignment are added up over all ranks, by MPI_Allreduce and by Steadfold, and the bits compared between rank counts.
//   mpirun -n 3 example_likelihood [--json]      one job
//   example_likelihood --compare                 starts the jobs itself: 1, 2, 3, 5 and 8 ranks
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "common/launch.hpp"
#include "common/run.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

struct Arguments {
  likelihood::Size size;
  std::vector<int> rank_counts = {1, 2, 3, 5, 8};
  bool json = false, compare = false;
};

void declare(CLI::App& app, Arguments& arguments) {
  auto* json = app.add_flag("--json", arguments.json, "print one JSON object instead of a table");
  auto* compare =
      app.add_flag("--compare", arguments.compare, "start jobs of several rank counts and compare their bits");
  compare->excludes(json);
  app.add_option("--ranks", arguments.rank_counts, "rank counts to compare")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->needs(compare)
      ->capture_default_str();
  app.add_option("--sites", arguments.size.sites, "sites of the alignment")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--search-sites", arguments.size.search_sites, "of these, how many the tree search looks at")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
}

void print(const likelihood::Record& record, bool json) {
  if (json) {
    fmt::print("{}\n", record.dump());
  } else {
    fmt::print("{}{}\n{}", likelihood::table_head(record), likelihood::table_row(record, record),
               likelihood::describe_search(record));
  }
}

/// What every rank does. `complaint` is about the command line, the same on all ranks.
int run(const Arguments& arguments, const std::string& complaint) {
  return example::run_on_ranks(complaint, "try fewer --sites", [&](const example::Ranks& ranks) {
    const likelihood::Record record = likelihood::run_job(arguments.size, ranks);
    if (example::is_first(ranks)) print(record, arguments.json);
  });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Adds up the log-likelihoods of the sites of a DNA alignment over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  try {
    app.parse(argc, argv);
    if (!arguments.compare) return run(arguments, "");
    if (const int ranks = example::ranks_of_outer_job(); ranks > 1)
      return run(arguments,
                 fmt::format("--compare starts ranks itself (these are {} already), leave out mpirun", ranks));
    return likelihood::compare(arguments.size, arguments.rank_counts);
  } catch (const CLI::Success& request) {
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    return run(arguments, fmt::format("cannot use the command line ({}), see --help", error.what()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return example::usage_error;
  }
}
