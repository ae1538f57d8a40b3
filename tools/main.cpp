// The `steadfold` command.
#include "command_line.hpp"
#include "laboratory.hpp"

int main(int argc, char** argv) {
  steadfold::command::continue_in_laboratory({argv, static_cast<std::size_t>(argc)});
  return steadfold::command::run_command_line(steadfold::command::subcommands(), argc, argv);
}
