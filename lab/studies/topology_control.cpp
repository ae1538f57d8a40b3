// Whether libraries that reduce by themselves keep their bits: MPI_Allreduce by each of its library's algorithms, and
// OpenMP's reduction by the number of threads, beside this library on the same ranks and threads.
// Source: [S3] section V; the data are ours. An algorithm is forced by the library's own settings.
#include <cstdlib>
#include <future>
#include <optional>
#include <set>

#include "lab/bench/thread_rivals.hpp"
#include "lab/control.hpp"
#include "program/mpi_library.hpp"
#include "steadfold/team.hpp"
#include "tools/worker.hpp"
#include "topology.hpp"

namespace steadfold::command::studies::topology {
namespace {

constexpr int rank_counts[] = {5, 8};
constexpr int thread_counts[] = {1, 2, 3, 5, 8};

struct Setting {
  int ranks = 1;
  int threads = 1;
  std::string algorithm;
  ControlSums sums;
};

/// Environment variables that are set while it lives.
class Variables {
 public:
  explicit Variables(const Environment& environment) {
    for (const auto& [name, value] : environment) {
      const char* const before = std::getenv(name.c_str());
      before_.emplace_back(name, before == nullptr ? std::nullopt : std::optional<std::string>(before));
      setenv(name.c_str(), value.c_str(), 1);
    }
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

Setting over_ranks(int ranks, const MpiLibrary::Algorithm& algorithm) {
  const Variables variables(algorithm.environment);
  const Json answer = ask("control-worker", {}, ranks, Placement::anywhere, "try another launcher (STEADFOLD_MPIRUN)");
  return {.ranks = ranks,
          .algorithm = algorithm.name,
          .sums = {.plain = answer.at("plain").get<std::vector<Bits>>(),
                   .tree = answer.at("tree").get<Bits>(),
                   .exact = answer.at("exact").get<Bits>()}};
}

/// By OpenMP over so many threads; empty without OpenMP.
Bits by_openmp(int threads, const ControlShare& all) {
  std::vector<double> sums;
  for (std::size_t column = 0; column < ControlShare::columns; ++column) {
    const auto sum = bench::openmp_sum(threads, {all.column(column), ControlShare::all_rows});
    if (sum) sums.push_back(*sum);
  }
  return bits_of(sums);
}

Setting over_threads(int threads) {
  Setting setting{.threads = threads, .algorithm = "static schedule", .sums = {}};
  const ControlShare all(0, 1);
  for (int run = 0; run < ControlSums::runs; ++run) setting.sums.plain.push_back(by_openmp(threads, all));
  const Team team(threads);
  std::vector<std::future<std::pair<Bits, Bits>>> members;
  for (int thread = 0; thread < threads; ++thread)
    members.push_back(std::async(std::launch::async, [&team, thread, threads] {
      const ControlShare share(thread, threads);
      Bits tree = share.sums("tree", team[thread]);
      return std::pair(std::move(tree), share.sums("exact", team[thread]));
    }));
  for (auto& member : members) std::tie(setting.sums.tree, setting.sums.exact) = member.get();
  return setting;
}

template <class BitsOf>
std::size_t number_of_results(const std::vector<Setting>& settings, BitsOf bits_of_setting) {
  std::set<Bits> different;
  for (const Setting& each : settings) different.insert(bits_of_setting(each.sums));
  return different.size();
}

const Bits& plain_of(const ControlSums& sums) { return sums.plain.front(); }

/// The column in which plain sums have the most results.
std::size_t most_different_column(const std::vector<Setting>& settings) {
  std::size_t column = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < ControlShare::columns; ++i) {
    std::set<std::uint64_t> different;
    for (const Setting& each : settings) different.insert(plain_of(each.sums)[i]);
    if (different.size() > most) most = different.size(), column = i;
  }
  return column;
}

/// A row per setting of one library. Bits are those of one column, results are counted over all columns.
void add_rows(const std::string& plain, const std::vector<Setting>& settings, Json& rows) {
  const std::size_t column = most_different_column(settings);
  const auto bits = [&](const Bits& all) { return fmt::format("{:016X}", all[column]); };
  for (const Setting& each : settings) {
    const ControlSums& sums = each.sums;
    rows.push_back({{"part", "control"},
                    {"plain", plain},
                    {"ranks", each.ranks},
                    {"threads", each.threads},
                    {"algorithm", each.algorithm},
                    {"column", column},
                    {"plain_bits", bits(plain_of(sums))},
                    {"tree_bits", bits(sums.tree)},
                    {"exact_bits", bits(sums.exact)},
                    {"plain_results", number_of_results(settings, plain_of)},
                    {"tree_results", number_of_results(settings, [](const auto& of) { return of.tree; })},
                    {"exact_results", number_of_results(settings, [](const auto& of) { return of.exact; })},
                    {"runs", sums.plain.size()},
                    {"plain_results_of_runs", std::set<Bits>(sums.plain.begin(), sums.plain.end()).size()}});
  }
}

}  // namespace

Findings control(const Asked& /*asked*/) {
  Findings found;
  const MpiLibrary& library = mpi_library();
  std::vector<MpiLibrary::Algorithm> algorithms = {{.name = "as the library chooses", .environment = {}}};
  algorithms.insert(algorithms.end(), library.allreduce_algorithms.begin(), library.allreduce_algorithms.end());
  if (algorithms.size() == 1)
    found.left_out.push_back(library.name +
                             ": by one algorithm only (how to ask for others is not known), use Open MPI");
  std::vector<Setting> settings;
  for (const int ranks : rank_counts)
    for (const MpiLibrary::Algorithm& each : algorithms) settings.push_back(over_ranks(ranks, each));
  add_rows("MPI_Allreduce of " + library.name, settings, found.rows);

  settings.clear();
  for (const int threads : thread_counts) settings.push_back(over_threads(threads));
  if (plain_of(settings.front().sums).empty())
    found.left_out.push_back("OpenMP: not shown (the compiler of this command has none), build with GCC");
  else
    add_rows("OpenMP reduction(+)", settings, found.rows);
  return found;
}

}  // namespace steadfold::command::studies::topology
