// The tables for people; see table.hpp.
#include "table.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "common/bits.hpp"

namespace climate {
namespace {

std::string text_at(const Record& record, const char* path) { return record.at(Record::json_pointer(path)); }

std::string task_of(const Record& record) {
  const Record& cells = record.at("cells");
  return fmt::format("{} steps of an ocean of {} x {} cells on {} levels", record.at("steps").get<std::uint64_t>(),
                     cells[0].get<std::uint64_t>(), cells[1].get<std::uint64_t>(), cells[2].get<std::uint64_t>());
}

std::string column(const Record& record, const Record& first) {
  constexpr const char* temperature = "/temperature/0/bits";
  const auto heat = [](const Record& of) { return fmt::format("{:13.6e}", of.at("heat").at("value").get<double>()); };
  return fmt::format("  {} {}", example::marked(text_at(record, temperature), text_at(first, temperature)),
                     example::marked(heat(record), heat(first)));
}

std::size_t different(const std::vector<Pair>& pairs, Record Pair::*kind) {
  std::set<std::string> seen;
  for (const Pair& pair : pairs) {
    const Record& record = pair.*kind;
    seen.insert(record.at("temperature").dump() + record.at("salinity").dump() + record.at("heat").dump() +
                record.at("water").dump());
  }
  return seen.size();
}

}  // namespace

std::string describe(const Record& record) {
  std::string text = fmt::format(
      "{}, {} sums;\n{} x {} blocks, {}.\n\nlevel |  mean temperature                |  mean salinity\n"
      "------|----------------------------------|---------------------------------\n",
      task_of(record), text_at(record, "/sums"), record.at("blocks")[0].get<int>(), record.at("blocks")[1].get<int>(),
      example::short_name(record.at("mpi")));
  for (std::size_t level = 0; level < record.at("temperature").size(); ++level) {
    fmt::format_to(std::back_inserter(text), "{:5} ", level);
    for (const char* name : {"temperature", "salinity"}) {
      const Record& mean = record.at(name).at(level);
      fmt::format_to(std::back_inserter(text), "|  {:12.8f}  {}  ", mean.at("value").get<double>(),
                     mean.at("bits").get<std::string>());
    }
    text.resize(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  text += "What the correction left over of all that came through the surface:\n";
  for (const char* name : {"heat", "water"})
    fmt::format_to(std::back_inserter(text), "  {:5}  {:13.6e}  {}\n", name, record.at(name).at("value").get<double>(),
                   record.at(name).at("bits").get<std::string>());
  return text;
}

std::string table_head(const Pair& first) {
  return fmt::format(
      "{}; {}.\nThe mean temperature of the top level, and the heat left over; * marks what differs from the first "
      "row.\n\n"
      "          |  plain loop + MPI_Allreduce        |  sf::sum, exact\n"
      "ranks     |  temperature       heat            |  temperature       heat\n"
      "----------|{:-<36}|{:-<34}\n",
      task_of(first.steadfold), example::short_name(first.steadfold.at("mpi")), "", "");
}

std::string table_row(const Pair& pair, const Pair& first) {
  std::string row = fmt::format("{:9} |{}  |{}", pair.label, column(pair.plain, first.plain),
                                column(pair.steadfold, first.steadfold));
  row.resize(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

bool same_by_steadfold(const std::vector<Pair>& pairs) { return different(pairs, &Pair::steadfold) == 1; }

std::string conclude(const std::vector<Pair>& pairs) {
  return fmt::format("{} runs: {} different oceans with MPI_Allreduce, {} with Steadfold.\n{}", pairs.size(),
                     different(pairs, &Pair::plain), different(pairs, &Pair::steadfold),
                     same_by_steadfold(pairs) ? "" : "Steadfold's bits differ between runs: please report this.\n");
}

}  // namespace climate
