// The common options of `sum` and `verify`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "readers/reader.hpp"
#include "steadfold/steadfold.hpp"

namespace CLI {
class App;
}

namespace steadfold::command {

struct Request {
  std::string file;
  std::string collective;  // the collective; empty: the default of the schedule
  std::string distribution = "upper";
  std::string type;  // the type of the elements; empty: the type of the file
  std::string format = "auto";
  std::string column, column_name;
  std::string header;  // whether line 1 is a header: yes, no, or empty
  std::string separator, decimal, comment, missing;
  std::string byte_order;
  bool has_fortran_records = false;
  bool force = false;
  bool json = false;

  /// Declares the options on a subcommand.
  void add_to(CLI::App& app);
  /// Throws Failure if the value of an option is wrong.
  void check() const;
  /// Returns these options as arguments for another run of the command.
  std::vector<std::string> arguments() const;

  readers::Options reader_options() const;
  std::string collective_by(const std::string& schedule) const;
  bool rooted_by(const std::string& schedule) const { return collective_by(schedule) == "reduce"; }
};

/// Returns the parts of a comma-separated text. Throws Failure, which names the option, if a part is empty.
std::vector<std::string> split(const std::string& text, const std::string& option);

inline constexpr const char* reproblas_help = "also measure ReproBLAS, from FOLDER/lib/libreproblas.so";

/// Throws Failure unless `seconds`, the value of the option, is finite and not negative.
void check_time(const char* option, double seconds);

}  // namespace steadfold::command
