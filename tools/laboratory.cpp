#include "laboratory.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <vector>

#include "benchmarks.hpp"
#include "program/launcher.hpp"

namespace steadfold::command {
namespace {

/// Returns the path of steadfold-lab, if it is installed: in the folder of this command, for the same MPI library.
std::filesystem::path laboratory() {
  const std::filesystem::path own = this_program();
  return own.parent_path() / ("steadfold-lab" + own.extension().string());
}

}  // namespace

bool is_for_laboratory(std::span<char* const> arguments) {
  const std::string_view subcommand = arguments.size() > 1 ? arguments[1] : "";
  if (subcommand == "study") return true;
  return subcommand == "bench" &&
         std::ranges::count(laboratory_benchmarks, benchmark_in(arguments), &BenchmarkText::name) > 0;
}

void continue_in_laboratory(std::span<char* const> arguments) noexcept {
  try {
    if (!is_for_laboratory(arguments)) return;
    std::vector<char*> words(arguments.begin(), arguments.end());
    words.push_back(nullptr);
    // Execv returns if the program is not installed: see missing_laboratory.
    ::execv(laboratory().c_str(), words.data());
  } catch (const std::exception&) {
    // The command line is read again later, and the error is reported then.
  }
}

Failure missing_laboratory(const std::string& what) {
  return Failure(what +
                 " is not part of this installation (it is in the laboratory, a separate program, and there is no " +
                 laboratory().string() + "), build Steadfold from source with ./dev build");
}

void add_missing_study(CLI::App& app, Action& /*action*/) {
  CLI::App& study = *app.add_subcommand("study", "Repeat the tables and figures of a publication");
  study.add_option("NAME", "The name of a study; --list shows the names");
  study.add_flag("--list")->description("List the studies: name, publication, description");
  study.add_option("--part,--parts", "Parts of the study, separated by commas, or all");
  study.add_flag("--json")->description("Print one JSON object");
  study.allow_extras();
  study.callback([] { throw missing_laboratory("study"); });
}

}  // namespace steadfold::command
