// `steadfold completion`: prints a script with which a shell completes the command's words. The script is made from the
// command's options.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "catalogue.hpp"
#include "command.hpp"
#include "program/methods.hpp"
#include "values.hpp"

namespace steadfold::command {
namespace {

struct Option {
  std::vector<std::string> words;  // names of the option, with their dashes
  std::string sentence;
  bool takes_value = false;
};

struct Subcommand {
  std::string name;  // name of the subcommand; empty for the command itself
  std::string sentence;
  std::vector<Option> options;
};

/// The names under which the command is installed.
constexpr const char* commands = "steadfold steadfold.openmpi steadfold.mpich steadfold.mpi";

std::string joined(const std::vector<std::string>& words, const std::string& between = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

Subcommand described(const CLI::App& app, const std::string& name) {
  Subcommand result{.name = name, .sentence = app.get_description(), .options = {}};
  for (const CLI::Option* const option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    Option found{
        .words = {}, .sentence = option->get_description(), .takes_value = option->get_items_expected_max() > 0};
    for (const std::string& letter : option->get_snames()) found.words.push_back("-" + letter);
    for (const std::string& word : option->get_lnames()) found.words.push_back("--" + word);
    result.options.push_back(std::move(found));
  }
  return result;
}

/// Describes the command itself, then its subcommands without the hidden ones.
std::vector<Subcommand> described(const CLI::App& app) {
  std::vector<Subcommand> result = {described(app, "")};
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    result.push_back(described(*each, each->get_name()));
  return result;
}

std::vector<std::string> names_of(const std::vector<Subcommand>& all) {
  std::vector<std::string> names;
  for (const Subcommand& each : all) {
    if (!each.name.empty()) names.push_back(each.name);
  }
  return names;
}

/// Returns the values of an option; empty if there is no short list, as for file names.
std::vector<std::string> values_of(const std::string& word) {
  if (word == "--method" || word == "--methods") return built_methods();
  if (word != "--schedule" && word != "--schedules") return {};
  std::vector<std::string> names = {"auto", "mpich"};
  for (const std::string& name : schedule_names()) names.push_back(name);
  return names;
}

/// Writes a backslash before each of the special characters.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Writes a text in single quotes, for bash and zsh.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string(R"('\'')") : std::string(1, c);
  return result + "'";
}

// --- bash: if the function offers no word, Readline offers files -----------------------------------------------------

std::string for_bash(const std::vector<Subcommand>& all) {
  std::string by_command;
  for (const Subcommand& each : all) {
    std::vector<std::string> words = each.name.empty() ? names_of(all) : std::vector<std::string>();
    for (const Option& option : each.options) words.insert(words.end(), option.words.begin(), option.words.end());
    by_command += fmt::format("    {}) words='{}' ;;\n", quoted(each.name), joined(words));
  }
  return fmt::format(R"(# Completion of steadfold for bash, as `steadfold completion bash` prints it.
_steadfold() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD - 1]}} command='' words='' i
  if [[ $word == = ]]; then # --option=
    word=''
  elif [[ $option == = ]]; then # --option=begin
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}} && break; }}
  done
  COMPREPLY=()
  case $option in
    --method | --methods) words='{0}' ;;
    --schedule | --schedules) words='{1}' ;;
  esac
  if [[ -z $words ]]; then
    [[ -z $command || $word == -* ]] || return
    case $command in
{2}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _steadfold {3}
)",
                     joined(values_of("--method")), joined(values_of("--schedule")), by_command, commands);
}

// --- zsh: _arguments takes one line per word -------------------------------------------------------------------------

std::string zsh_line(const Option& option, const std::string& word) {
  std::string line = word;
  if (option.takes_value) line += word.starts_with("--") ? "=" : "+";
  line += "[" + escaped(option.sentence, R"([]:\)") + "]";
  if (!option.takes_value) return line;
  const std::vector<std::string> values = values_of(word);
  return line + ":" + escaped(word, ":") + ":" + (values.empty() ? "_files" : "(" + joined(values) + ")");
}

std::string for_zsh(const std::vector<Subcommand>& all) {
  std::string by_command;
  std::string subcommands;
  for (const Subcommand& each : all) {
    if (!each.name.empty())
      subcommands += fmt::format("    {}\n", quoted(each.name + ":" + escaped(each.sentence, R"(:\)")));
    by_command += fmt::format("    {}) lines=(\n", quoted(each.name));
    for (const Option& option : each.options) {
      for (const std::string& word : option.words) by_command += "      " + quoted(zsh_line(option, word)) + "\n";
    }
    by_command += "      ) ;;\n";
  }
  return fmt::format(R"(#compdef {0}
# Completion of steadfold for zsh, as `steadfold completion zsh` prints it.
_steadfold() {{
  local command='' i
  local -a lines subcommands
  subcommands=(
{1}  )
  for ((i = 2; i < CURRENT; ++i)); do
    [[ $words[i] == -* ]] || {{ command=$words[i]; break; }}
  done
  case $command in
{2}  esac
  if [[ -z $command ]]; then
    _describe subcommand subcommands
    _arguments $lines
  else
    _arguments $lines '*:file:_files'
  fi
}}
if [[ $funcstack[1] == _steadfold ]]; then # loaded by the completion system
  _steadfold "$@"
else
  compdef _steadfold {0}
fi
)",
                     commands, subcommands, by_command);
}

// --- fish: one line per word -----------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) { return "'" + escaped(text, R"('\)") + "'"; }

std::string fish_line(const std::string& when, const Option& option) {
  std::string line = "complete -c steadfold -n " + fish_quoted(when);
  for (const std::string& word : option.words)
    line += word.starts_with("--") ? " -l " + word.substr(2) : " -s " + word.substr(1);
  const std::vector<std::string> values = values_of(option.words.back());
  if (!values.empty()) line += " -x -a " + fish_quoted(joined(values));
  if (values.empty() && option.takes_value) line += " -r";
  return line + " -d " + fish_quoted(option.sentence) + "\n";
}

std::string for_fish(const std::vector<Subcommand>& all) {
  std::string text = "# Completion of steadfold for fish, as `steadfold completion fish` prints it.\n";
  const std::string none = "not __fish_seen_subcommand_from " + joined(names_of(all));
  for (const Subcommand& each : all) {
    if (!each.name.empty())
      text += fmt::format("complete -c steadfold -f -n {} -a {} -d {}\n", fish_quoted(none), each.name,
                          fish_quoted(each.sentence));
    for (const Option& option : each.options)
      text += fish_line(each.name.empty() ? none : "__fish_seen_subcommand_from " + each.name, option);
  }
  return text +
         "for other in steadfold.openmpi steadfold.mpich steadfold.mpi\n  complete -c $other -w steadfold\nend\n";
}

void check_shell(const std::string& shell) {
  if (shell == "bash" || shell == "zsh" || shell == "fish") return;
  throw Failure("there is no completion for '" + shell +
                "' (the known shells are bash, zsh and fish), choose one of these");
}

std::string completion(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return for_bash(described(app));
  return shell == "zsh" ? for_zsh(described(app)) : for_fish(described(app));
}

}  // namespace

void add_completion(CLI::App& app, Action& action) {
  CLI::App& added =
      *app.add_subcommand("completion", "Print a script for bash, zsh or fish that completes this command");
  const auto shell = std::make_shared<std::string>();
  check_words(*added.add_option("SHELL", *shell, "bash, zsh or fish")->required(), check_shell);
  added.callback([&app, shell, &action] {
    // The text is made now, because the app is destroyed before the action runs.
    action = [text = completion(app, *shell)](const Job&) { return Result{text}; };
  });
}

}  // namespace steadfold::command
