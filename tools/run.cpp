// `steadfold run -- COMMAND`: starts a program, most often a launcher of MPI, whose ranks make their own reductions
// with the same bits on every run. docs/unmodified.md says how.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "program/launcher.hpp"
#include "program/mpi_library.hpp"

namespace steadfold::command {
namespace {

namespace fs = std::filesystem;

struct RunRequest {
  std::string method = "tree";
  std::vector<std::string> words;
};

/// The library to preload: beside this command, as it is built and as it is installed.
fs::path interposer() {
  const fs::path own = this_program().parent_path().parent_path();
  for (const char* const folder : {"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"}) {
    const fs::path library = own / folder / "libsteadfold_interpose.so";
    if (!fs::exists(library)) continue;
    const fs::path found = fs::canonical(library);
    if (found.string().find_first_of(" :") != std::string::npos)
      throw Failure("'" + found.string() +
                    "' cannot be preloaded (LD_PRELOAD parts names at spaces and colons), install elsewhere");
    return found;
  }
  throw Failure("no libsteadfold_interpose.so (nothing in lib/ beside the command's bin/), install all of a release");
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

/// A launcher that hands variables on to ranks of other nodes where it is told their names is told them.
void tell_launcher(std::vector<std::string>& words) {
  const std::string& option = mpi_library().handing_on;
  if (option.empty() || !is_launcher(words.front())) return;
  for (const char* const variable : {"STEADFOLD_INTERPOSE_REPORT", "STEADFOLD_INTERPOSE_METHOD", "LD_PRELOAD"})
    words.insert(words.begin() + 1, {option, variable});
}

Result start(const RunRequest& request) {
  const char* const others = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD", interposer().string() + (others == nullptr ? "" : std::string(":") + others));
  set("STEADFOLD_INTERPOSE_METHOD", request.method);
  set("STEADFOLD_INTERPOSE_REPORT", "1");
  std::vector<std::string> words = request.words;
  tell_launcher(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fprintf(stderr, "steadfold: MPI's reductions by %s: the same bits on every run with the same number of ranks\n",
               request.method.c_str());
  execvp(arguments.front(), arguments.data());
  throw Failure("'" + words.front() + "' cannot be started (" + std::strerror(errno) + "), name a program");
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  CLI::App& run = *app.add_subcommand("run", "Start a program whose own MPI reductions get the same bits on every run");
  const auto request = std::make_shared<RunRequest>();
  run.add_option("--method", request->method, "How sums are made")
      ->check(CLI::IsMember({"tree", "exact", "binned"}))
      ->envname("STEADFOLD_INTERPOSE_METHOD")
      ->capture_default_str();
  run.add_option("command", request->words, "The program and its arguments, behind --")->required();
  run.positionals_at_end();
  run.callback([request, &action] { action = [request](const Job&) { return start(*request); }; });
}

}  // namespace steadfold::command
