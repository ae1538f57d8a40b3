// example_likelihood: a miniature of maximum-likelihood phylogenetics. The log-likelihoods of the sites of a DNA
// alignment are added up over all ranks, by MPI_Allreduce and by Steadfold, and the bits compared between rank counts.
//   mpirun -n 3 example_likelihood [--json]      one job
//   example_likelihood --compare                 starts the jobs itself: 1, 2, 3, 5 and 8 ranks
#include "common/program.hpp"
#include "compare.hpp"
#include "job.hpp"
#include "table.hpp"

namespace {

struct Arguments {
  likelihood::Size size;
  example::Options options = {.rank_counts = {1, 2, 3, 5, 8}};
};

void declare(CLI::App& app, Arguments& arguments) {
  example::declare(app, arguments.options, "start jobs of several rank counts and compare their bits");
  app.add_option("--sites", arguments.size.sites, "sites of the alignment")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--search-sites", arguments.size.search_sites, "of these, how many the tree search looks at")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
}

std::string describe(const likelihood::Record& record) {
  return likelihood::table_head(record) + likelihood::table_row(record, record) + "\n" +
         likelihood::describe_search(record);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Adds up the log-likelihoods of the sites of a DNA alignment over any number of ranks");
  Arguments arguments;
  declare(app, arguments);
  return example::run_program(
      app, argc, argv, arguments.options,
      {.complete = [] { return std::string(); },
       .advice = "try fewer --sites",
       .job = [&](const example::Ranks& ranks) { return likelihood::run_job(arguments.size, ranks); },
       .describe = describe,
       .compare = [&] { return likelihood::compare(arguments.size, arguments.options.rank_counts); }});
}
