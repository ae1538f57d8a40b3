// One job's work; see job.hpp.
#include "adapters/common/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "common/bits.hpp"

namespace adapters {
namespace {

using example::Record;

struct Contestant {
  std::string dot;
  Outcome outcome = {};
  std::vector<double> seconds = {}, dot_seconds = {};
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double slowest_median(std::vector<double> seconds, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), static_cast<int>(seconds.size()), MPI_DOUBLE, MPI_MAX, comm);
  return median(std::move(seconds));
}

std::string digest_of(const std::vector<double>& values) {
  example::Fingerprint digest;
  for (const double value : values) digest.add(value);
  return digest.text();
}

/// The solution on rank 0, its rows in order; other ranks get nothing.
std::vector<double> gathered(const std::vector<double>& mine, const example::Ranks& ranks) {
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(ranks.count), offsets(ranks.count);
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, ranks.comm);
  for (std::size_t r = 1; r < ranks.count; ++r) offsets[r] = offsets[r - 1] + counts[r - 1];
  std::vector<double> all(ranks.rank == 0 ? static_cast<std::size_t>(offsets.back() + counts.back()) : 0);
  MPI_Gatherv(mine.data(), count, MPI_DOUBLE, all.data(), counts.data(), offsets.data(), MPI_DOUBLE, 0, ranks.comm);
  return all;
}

/// On rank 0 the whole record of one kind of dot products, whose bits all go into the fingerprint.
Record to_json(const Contestant& contestant, example::Fingerprint& fingerprint, bool values,
               const example::Ranks& ranks) {
  const Outcome& outcome = contestant.outcome;
  const std::vector<double> solution = gathered(outcome.solution, ranks);
  Record reductions = Record::object();
  for (const auto& [name, value] : outcome.reductions) reductions[name] = example::to_bits(value);
  for (const double value : outcome.history) fingerprint.add(value);
  for (const double value : solution) fingerprint.add(value);
  for (const auto& [name, value] : outcome.reductions) fingerprint.add(value);
  Record record = {{"iterations", outcome.iterations},
                   {"converged", outcome.converged},
                   {"residual", outcome.residual},
                   {"residual_bits", example::to_bits(outcome.residual)},
                   {"history", digest_of(outcome.history)},
                   {"solution", digest_of(solution)},
                   {"reductions", reductions},
                   {"seconds", slowest_median(contestant.seconds, ranks.comm)},
                   {"dot_seconds", slowest_median(contestant.dot_seconds, ranks.comm)}};
  if (values)
    for (const double value : solution) record["values"].push_back(example::to_bits(value));
  return record;
}

std::string digests(const Record& run) { return run.at("history").get<std::string>().substr(0, 8); }

}  // namespace

double time_of(const std::function<void()>& dot, const example::Ranks& ranks) {
  std::vector<double> seconds;
  dot();
  for (int i = 0; i < 21; ++i) {
    MPI_Barrier(ranks.comm);
    const double begin = MPI_Wtime();
    dot();
    seconds.push_back(MPI_Wtime() - begin);
  }
  return median(std::move(seconds));
}

Record run_job(const Library& library, const Task& task, const example::Ranks& ranks) {
  std::vector<Contestant> contestants;
  for (const std::string& dot : task.dots) contestants.push_back({dot});
  // They take turns, so that a disturbance hits all of them.
  for (int repetition = 0; repetition < task.repetitions; ++repetition) {
    for (Contestant& contestant : contestants) {
      contestant.outcome = library.solve(task, contestant.dot, ranks);
      contestant.seconds.push_back(contestant.outcome.seconds);
      contestant.dot_seconds.push_back(contestant.outcome.dot_seconds);
    }
  }
  Record record = {
      {"application", library.name},       {"ranks", ranks.count},       {"threads", 1},
      {"library", library.version},        {"mpi", sf_mpi_library()},    {"points", task.problem.points},
      {"contrast", task.problem.contrast}, {"solver", task.solver},      {"preconditioner", task.preconditioner},
      {"product", task.product},           {"tolerance", task.tolerance}};
  example::Fingerprint plain, steadfold;
  bool has_plain = false, has_steadfold = false;
  for (const Contestant& contestant : contestants) {
    const bool is_plain = contestant.dot == "plain";
    (is_plain ? has_plain : has_steadfold) = true;
    record["dots"][contestant.dot] = to_json(contestant, is_plain ? plain : steadfold, task.values, ranks);
  }
  record["fingerprint_plain"] = has_plain ? Record(plain.text()) : Record(nullptr);
  record["fingerprint_steadfold"] = has_steadfold ? Record(steadfold.text()) : Record(nullptr);
  return record;
}

std::string describe(const Record& record) {
  std::string text = fmt::format(
      "{} x {} x {} points, contrast {}; {} of {}, preconditioner {}, matrix product: {}; {} ranks\n\n",
      record.at("points")[0].get<int>(), record.at("points")[1].get<int>(), record.at("points")[2].get<int>(),
      record.at("contrast").get<double>(), record.at("solver").get<std::string>(),
      record.at("library").get<std::string>(), record.at("preconditioner").get<std::string>(),
      record.at("product").get<std::string>(), record.at("ranks").get<int>());
  text += "dot products | iter. history           last residual | solution         | seconds  | one dot product\n";
  for (const auto& [name, run] : record.at("dots").items())
    fmt::format_to(std::back_inserter(text), "{:12} | {:5} {} {:13.6e} | {} | {:8.4f} | {:.1f} us{}\n", name,
                   run.at("iterations").get<std::uint64_t>(), run.at("history").get<std::string>(),
                   run.at("residual").get<double>(), run.at("solution").get<std::string>(),
                   run.at("seconds").get<double>(), 1e6 * run.at("dot_seconds").get<double>(),
                   run.at("converged").get<bool>() ? "" : "  (not converged)");
  return text;
}

int compare(const std::string& words, const std::vector<int>& rank_counts) {
  example::prepare_environment();
  std::vector<Record> records;
  for (const int rank_count : rank_counts) {
    records.push_back(example::run_ranks(rank_count, words));
    const Record& first = records.front();
    if (records.size() == 1) {
      fmt::print("Iterations and a digest of the history of all of them; * marks what differs from the first row.\n\n");
      fmt::print("ranks");
      for (const auto& [name, run] : first.at("dots").items()) fmt::print(" | {:15}", name);
      fmt::print("\n");
    }
    fmt::print("{:5}", rank_count);
    for (const auto& [name, run] : records.back().at("dots").items())
      fmt::print(" | {:5} {}", run.at("iterations").get<std::uint64_t>(),
                 example::marked(digests(run), digests(first.at("dots").at(name))));
    fmt::print("\n");
    std::fflush(stdout);
  }
  const bool same = std::all_of(records.begin(), records.end(), [&](const Record& record) {
    return record.at("fingerprint_steadfold") == records.front().at("fingerprint_steadfold");
  });
  fmt::print("\nSteadfold's bits are {} on {} numbers of ranks.\n", same ? "the same" : "NOT the same", records.size());
  return same ? 0 : 1;
}

}  // namespace adapters
