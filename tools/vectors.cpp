// `steadfold vectors`: checks or prints test vectors, by default the installed files.
#include "program/doctor/vectors.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "command.hpp"
#include "findings.hpp"
#include "output.hpp"
#include "program/launcher.hpp"
#include "table.hpp"

namespace steadfold::command {
namespace {

namespace fs = std::filesystem;

constexpr const char* which_files = "give files of test vectors, or none for the installed files";

struct VectorsOptions {
  std::vector<std::string> files;
  bool as_json = false;
  bool prints = false;
};

/// Returns the paths of the installed files, in the order of their names. Throws Failure if there are none.
std::vector<std::string> installed_files() {
  std::vector<std::string> files;
  std::string places;
  for (const fs::path& libraries : library_folders()) {
    for (const fs::path& folder : {libraries / "vectors", libraries / "../share/steadfold/vectors",
                                   libraries / "../../share/steadfold/vectors"}) {
      const fs::path place = folder.lexically_normal();
      places += (places.empty() ? "" : ", ") + place.string();
      std::error_code error;
      for (const fs::directory_entry& each : fs::directory_iterator(place, error))
        if (each.path().extension() == ".json") files.push_back(each.path());
      if (files.empty()) continue;
      std::ranges::sort(files);
      return files;
    }
  }
  throw Failure("there are no installed test vectors (they are not in " + places + "), install all files of a release");
}

/// Reads the JSON of a file. Exceptions of the JSON library say which part is missing or has another type.
VectorFile file_from(const Json& json) {
  VectorFile file{.type = json.at("type"), .inputs = {}, .vectors = {}};
  if (json.at("format") != 1) throw std::invalid_argument("its format is " + json.at("format").dump() + ", not 1");
  for (const auto& [name, input] : json.at("inputs").items())
    file.inputs[name] = {.x = input.at("x"),
                         .y = input.value("y", std::vector<std::string>()),
                         .mask = input.value("mask", std::vector<int>())};
  for (const Json& vector : json.at("vectors"))
    file.vectors.push_back({.operation = vector.at("operation"),
                            .result = vector.at("result"),
                            .input = vector.at("input"),
                            .initial = vector.value("initial", ""),
                            .bits = vector.at("bits")});
  return file;
}

VectorFile file_at(const std::string& path) {
  const std::string text = contents_of(path, which_files);
  try {
    return file_from(Json::parse(text));
  } catch (const std::exception& error) {
    throw Failure("'" + path + "' has no test vectors (" + error.what() + "), " + which_files);
  }
}

/// The findings of all ranks in one file.
struct Found {
  std::string path;
  VectorFile file;
  VectorsChecked of_rank;
  std::vector<std::string> wrong;
};

/// Checks the vectors of a file. Collective. Throws Failure if the file has an error or the library refuses a call.
void check(const Job& job, sf_group* group, Found& found) {
  VectorsChecked over;
  const auto checked = [&](const auto& check) {
    job.together([&] {
      try {
        check();
      } catch (const std::exception& error) {
        throw Failure("'" + found.path + "': " + error.what());
      }
    });
  };
  checked([&] { found.of_rank = check_vectors_alone(found.file); });
  if (group != nullptr) checked([&] { over = check_vectors_over(*group, found.file); });
  std::vector<std::string> wrong = found.of_rank.wrong;
  wrong.insert(wrong.end(), over.wrong.begin(), over.wrong.end());
  found.wrong = lines_of_all_ranks(job, wrong);
}

Json json_of(const Job& job, const std::vector<Found>& all) {
  Json files = Json::array();
  for (const Found& each : all)
    files.push_back({{"file", each.path},
                     {"type", each.file.type},
                     {"checked", each.of_rank.checked},
                     {"not_run_here", each.of_rank.not_run_here},
                     {"wrong", each.wrong}});
  return {{"ranks", job.rank_count()}, {"files", files}};
}

std::string text_of(const std::vector<Found>& all) {
  std::vector<std::vector<std::string>> rows = {{"file", "type", "checked", "not run here", "wrong"}};
  std::vector<std::string> wrong;
  for (const Found& each : all) {
    rows.push_back({each.path, each.file.type, std::to_string(each.of_rank.checked),
                    std::to_string(each.of_rank.not_run_here), std::to_string(each.wrong.size())});
    wrong.insert(wrong.end(), each.wrong.begin(), each.wrong.end());
  }
  std::string text = table(rows);
  if (wrong.empty()) return text + "\nAll results have the bits of the files.\n";
  return text + "\nThe bits of some results differ from the files:\n" + first_lines(wrong);
}

Result run(const Job& job, const VectorsOptions& asked) {
  std::vector<Found> all;
  job.together([&] {
    for (const std::string& path : asked.files.empty() ? installed_files() : asked.files)
      all.push_back({.path = path, .file = file_at(path), .of_rank = {}, .wrong = {}});
  });
  if (asked.prints) {
    std::string lines;
    for (const Found& each : all) lines += list_of(each.file);
    return {lines};
  }
  sf_group* const group = job.group();
  for (Found& each : all) check(job, group, each);
  const bool is_right = std::ranges::all_of(all, [](const Found& each) { return each.wrong.empty(); });
  return {asked.as_json ? line_of(json_of(job, all)) : text_of(all), is_right ? all_well : check_failed};
}

}  // namespace

void add_vectors(CLI::App& app, Action& action) {
  CLI::App& vectors = *app.add_subcommand("vectors", "Check test vectors: inputs and the bits of their results");
  const auto asked = std::make_shared<VectorsOptions>();
  vectors.add_option("FILE", asked->files, "Files of test vectors (default: the installed files)")->type_name("");
  CLI::Option* const json = vectors.add_flag("--json", asked->as_json, "Print one JSON object");
  vectors.add_flag("--print", asked->prints, "Print the vectors, one result on each line, and check nothing")
      ->excludes(json);
  vectors.callback([asked, &action] { action = [asked](const Job& job) { return run(job, *asked); }; });
}

}  // namespace steadfold::command
