// The table for people; see table.hpp.
#include "table.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <set>

#include "common/bits.hpp"

namespace likelihood {
namespace {

constexpr const char* ways[] = {"plain", "tree", "exact"};

std::string bits_of(const Record& record, const char* way) { return record.at(way).at("bits"); }

/// How many different texts the records have at `path`.
std::size_t different(const std::vector<Record>& records, const char* path) {
  std::set<std::string> seen;
  for (const Record& record : records) seen.insert(record.at(Record::json_pointer(path)).get<std::string>());
  return seen.size();
}

std::string patterns(const std::vector<Record>& records, const char* path) {
  const std::size_t count = different(records, path);
  return count == 1 ? "one bit pattern" : fmt::format("{} bit patterns", count);
}

}  // namespace

std::string table_head(const Record& record) {
  return fmt::format(
      "The log-likelihood of {} sites of {} taxa, summed over the ranks in three ways; {}.\n"
      "Bits are those of the double; * marks what differs from the first row. Times are medians.\n\n"
      "      |  plain loop + MPI_Allreduce  |  sf::sum, tree               |  sf::sum, exact\n"
      "ranks |  {bits:<17}{time:>11}  |  {bits:<17}{time:>11}  |  {bits:<17}{time:>11}\n"
      "------|{line:-<30}|{line:-<30}|{line:-<30}\n",
      record.at("sites").get<std::uint64_t>(), record.at("taxa").get<int>(), example::short_name(record.at("mpi")),
      fmt::arg("bits", "bits"), fmt::arg("time", "time"), fmt::arg("line", ""));
}

std::string table_row(const Record& record, const Record& first) {
  std::string row = fmt::format("{:5} ", record.at("ranks").get<int>());
  for (const char* way : ways) {
    const double milliseconds = 1e3 * record.at(way).at("seconds").get<double>();
    fmt::format_to(std::back_inserter(row), "|  {}{:8.3f} ms  ",
                   example::marked(bits_of(record, way), bits_of(first, way)), milliseconds);
  }
  row.resize(row.find_last_not_of(' ') + 1);
  return row + "\n";
}

std::string describe_search(const Record& record) {
  const Record& search = record.at("search");
  std::string text = fmt::format("A tree search on {} sites, once with either kind of sums:\n",
                                 search.at("sites").get<std::uint64_t>());
  for (const char* kind : {"plain", "steadfold"}) {
    const Record& found = search.at(kind);
    fmt::format_to(std::back_inserter(text), "  {:9}  {} steps, {} moves, log-likelihood {:.6f} = {}\n", kind,
                   found.at("steps").get<int>(), found.at("moves").get<int>(), found.at("value").get<double>(),
                   found.at("bits").get<std::string>());
  }
  return text;
}

bool same_by_steadfold(const std::vector<Record>& records) {
  return different(records, "/tree/bits") == 1 && different(records, "/exact/bits") == 1 &&
         different(records, "/fingerprint_steadfold") == 1;
}

std::string conclude(const std::vector<Record>& records) {
  return fmt::format(
      "On {} rank counts MPI_Allreduce ended in {}, Steadfold's tree in {}, its exact sum in {}.\n"
      "Versions of a tree search that takes {} such sums: {} with MPI_Allreduce, {} with Steadfold.\n{}",
      records.size(), patterns(records, "/plain/bits"), patterns(records, "/tree/bits"),
      patterns(records, "/exact/bits"), records.front().at("search").at("steadfold").at("steps").get<int>(),
      different(records, "/fingerprint_plain"), different(records, "/fingerprint_steadfold"),
      same_by_steadfold(records) ? "" : "Steadfold's bits differ between rank counts: please report this.\n");
}

}  // namespace likelihood
