// One job's work; see job.hpp.
#include "job.hpp"

#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "common/bits.hpp"
#include "totals.hpp"

namespace climate {
namespace {

using example::Record;

void load(const std::string& directory, Ocean& ocean, Totals& totals) {
  ocean.tracers().read(directory + "/tracers");
  std::ifstream in(directory + "/budget", std::ios::binary);
  if (!in)
    throw std::invalid_argument(
        fmt::format("cannot read {}/budget (it is not there), give what --save wrote", directory));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  totals.restore(std::as_bytes(std::span(text)));
}

void save(const std::string& directory, const Ocean& ocean, const Totals& totals, const example::Ranks& ranks) {
  ocean.tracers().write(directory + "/tracers");
  const std::vector<std::byte> bytes = totals.saved();
  if (ranks.rank != 0) return;
  std::ofstream out(directory + "/budget", std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error(fmt::format("{}/budget could not be written", directory));
}

/// A step of the model. What comes through the surface is corrected so that the ocean as a whole takes up nothing: a
/// last bit of the global mean thus reaches every cell.
void step(Ocean& ocean, Fields& fluxes, Totals& totals, double surface, example::Fingerprint& fingerprint) {
  ocean.mix();
  ocean.find(fluxes);
  const std::vector<double> sums = totals.sums(fluxes);
  for (std::uint64_t field = 0; field < fluxes.count(); ++field) {
    const double mean = fingerprint.add(sums[field]) / surface;
    for_each_cell(ocean, 0, [&](std::uint64_t row, std::uint64_t column) { fluxes.at(field, 0, row, column) -= mean; });
  }
  totals.keep(fluxes);
  ocean.take(fluxes);
}

Record to_json(double value) { return {{"value", value}, {"bits", example::to_bits(value)}}; }

}  // namespace

Record run_job(const Task& task, const example::Ranks& ranks) {
  const Block block(task.grid, ranks);
  Ocean ocean(block);
  const auto totals = task.plain ? plain_totals(ocean) : steadfold_totals(ocean);
  if (!task.load.empty()) load(task.load, ocean, *totals);

  example::Fingerprint fingerprint;
  Fields fluxes(block, tracer_count, 1);
  const std::vector<double> areas = totals->areas();
  for (std::uint64_t i = 0; i < task.steps; ++i) step(ocean, fluxes, *totals, areas[0], fingerprint);
  if (!task.save.empty()) save(task.save, ocean, *totals, ranks);

  Record record = {{"application", "climate"}, {"ranks", ranks.count},
                   {"blocks", block.counts},   {"cells", {task.grid.columns, task.grid.rows, task.grid.levels}},
                   {"steps", task.steps},      {"sums", task.plain ? "plain" : "exact"},
                   {"mpi", sf_mpi_library()}};
  const std::vector<double> sums = totals->sums(ocean.tracers());
  for (std::uint64_t level = 0; level < areas.size(); ++level) {
    record["temperature"].push_back(to_json(fingerprint.add(sums[level] / areas[level])));
    record["salinity"].push_back(to_json(fingerprint.add(sums[areas.size() + level] / areas[level])));
  }
  const std::vector<double> budget = totals->budget();
  record["heat"] = to_json(fingerprint.add(budget[0]));
  record["water"] = to_json(fingerprint.add(budget[1]));
  record["fingerprint"] = fingerprint.text();
  return record;
}

}  // namespace climate
