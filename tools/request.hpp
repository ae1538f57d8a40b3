// What `sum` and `verify` are asked to do: the options that both have.
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
  std::string collective;  // empty: the schedule's own
  std::string distribution = "upper";
  std::string type;  // empty: the file's own
  std::string format = "auto";
  std::string column, column_name;
  std::string header;  // yes, no, or empty
  bool force = false;
  bool json = false;

  /// Declares the options on a subcommand.
  void add_to(CLI::App& app);
  /// Throws Failure if a value is none that its option takes.
  void check() const;
  /// These options as arguments for another run of the command.
  std::vector<std::string> arguments() const;

  readers::Options reader_options() const;
  std::string collective_by(const std::string& schedule) const;
  bool rooted_by(const std::string& schedule) const { return collective_by(schedule) == "reduce"; }
};

/// The parts of a comma-separated text. Throws Failure, naming the option, if one is empty.
std::vector<std::string> split(const std::string& text, const std::string& option);

inline constexpr const char* reproblas_help = "measure ReproBLAS, too, from FOLDER/lib/libreproblas.so";

/// Throws Failure unless `seconds`, given by the option, is a time.
void check_time(const char* option, double seconds);

}  // namespace steadfold::command
