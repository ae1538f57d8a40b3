// `steadfold tune`: measures the link between two ranks and the time of partials (partial results), and writes the
// profile from which the library chooses schedules and predicts times.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/bench.hpp"
#include "bench/link.hpp"
#include "bench/rates.hpp"
#include "command.hpp"
#include "long_work.hpp"
#include "output.hpp"
#include "plan/profile.hpp"
#include "program/mpi_library.hpp"
#include "table.hpp"
#include "worker.hpp"

namespace steadfold::command {
namespace {

using bench::LinkTimes;
using plan::links_inside;

constexpr const char* tune_worker = "tune-worker";
constexpr double most_residual = 0.3;

struct TuneOptions {
  std::string output;  // path of the profile; empty: the path where the library looks for it
  std::string times;   // path of the file with an earlier answer; empty: measure
  int launches = 5;
  int rounds = 21;
  bool json = false;
};

Json to_json(const LinkTimes& times) {
  return {{"bytes", times.bytes},
          {"one_way", times.one_way},
          {"in_stream", times.in_stream},
          {"byte_in_stream", times.byte_in_stream}};
}
LinkTimes times_in(const Json& json) {
  return {.bytes = json.at("bytes").get<std::vector<std::size_t>>(),
          .one_way = json.at("one_way").get<std::vector<double>>(),
          .in_stream = json.at("in_stream").get<double>(),
          .byte_in_stream = json.value("byte_in_stream", 0.0)};  // older answers do not have this value
}

/// The measured times of messages, and rates of partials by their content. Empty entries are not measured yet.
struct Measured {
  bench::TimesOfLinks links;
  std::array<std::optional<plan::Rates>, arithmetic::content_count> rates = {};
};

/// Starts two ranks several times, and measures in each launch.
LinkTimes of_launches(const TuneOptions& options, LongWork& work) {
  std::vector<LinkTimes> launches;
  for (int i = 0; i < options.launches; ++i) {
    work.show(fmt::format("launch {} of {}", i + 1, options.launches), static_cast<double>(i) / options.launches);
    const Json answer = ask(tune_worker, {fmt::format("--rounds={}", options.rounds)}, 2, Placement::on_cores,
                            "run mpirun with steadfold tune to see the error");
    launches.push_back(times_in(answer.at("times")));
  }
  return median_of(launches);
}

Json to_json(const bench::FittedLink& fitted, const LinkTimes& times) {
  const transport::LogGP& link = fitted.link;
  Json found = {{"latency", link.latency}, {"gap", link.gap}, {"per_byte", link.per_byte}};
  for (const plan::LinkLimit& each : plan::link_limits) {
    const bool is_known = link.*each.limit != transport::LogGP::no_limit;
    found[std::string(each.limit_name)] = is_known ? Json(link.*each.limit) : Json();
    found[std::string(each.name)] = is_known ? Json(link.*each.figure) : Json();
  }
  found.update({{"residual", fitted.residual}, {"times", to_json(times)}});
  return found;
}

Json to_json(const plan::Rates& rates) {
  return {{"merge_per_byte", rates.merge_per_byte}, {"finish_per_byte", rates.finish_per_byte}};
}

plan::Rates rates_in(const Json& found) {
  return {.merge_per_byte = found.at("merge_per_byte"), .finish_per_byte = found.at("finish_per_byte")};
}

/// A profile, and the answer in JSON with its values.
struct Profiled {
  plan::Network network;
  double residual = 0;  // the residual of the link that the model fits worst
  Json answer;
};

Profiled profiled(const Measured& measured, int rounds) {
  Profiled found;
  const auto fit = [&](const LinkTimes& times, transport::LogGP& link) {
    const bench::FittedLink fitted = bench::fitted(times);
    found.residual = std::max(found.residual, fitted.residual);
    link = fitted.link;
    return to_json(fitted, times);
  };
  found.answer = fit(measured.links.between, found.network.link);
  const Json environment = bench::environment();
  found.answer.update(
      {{"processor", environment.at("cpu")}, {"mpi", mpi_library().name}, {"date", environment.at("date")}});
  for (std::size_t i = 0; i < links_inside.size(); ++i) {
    const auto& [name, link, around] = links_inside[i];
    found.network.*link = found.network.*around;
    if (const auto& times = measured.links.inside[i])
      found.answer[std::string(name)] = fit(*times, found.network.*link);
  }
  found.answer["residual"] = found.residual;
  for (std::size_t i = 0; i < measured.rates.size(); ++i) {
    const std::optional<plan::Rates>& known = measured.rates[i];
    found.network.rates[i] = known ? *known : bench::measured_rates(static_cast<arithmetic::Content>(i), rounds);
    found.answer[std::string(plan::content_names[i])] = to_json(found.network.rates[i]);
  }
  return found;
}

std::string profile_of(const Profiled& found) {
  std::string text = "# The profile of a machine, measured by `steadfold tune`, in seconds and bytes.\n";
  for (const char* key : {"processor", "mpi", "date"})
    text += fmt::format("{} = {}\n", key, found.answer.at(key).get<std::string>());
  return text + fmt::format("residual = {:.4g}\n", found.residual) + text_of(found.network);
}

std::string table_of_link(const LinkTimes& times, const transport::LogGP& link) {
  std::vector<std::vector<std::string>> lines = {{"bytes", "one way us", "model us"}};
  for (std::size_t i = 0; i < times.bytes.size(); ++i)
    lines.push_back({std::to_string(times.bytes[i]), fmt::format("{:.3f}", 1e6 * times.one_way[i]),
                     fmt::format("{:.3f}", 1e6 * (link.latency + link.duration(times.bytes[i])))});
  std::string text = table(lines);
  if (times.byte_in_stream > 0 && link.per_byte == times.byte_in_stream)
    text += fmt::format(
        "The model uses the time per byte of a stream of messages, {:.3g} ns, because it is much longer than in the "
        "messages above.\n",
        1e9 * link.per_byte);
  return text;
}

/// Writes the profile, unless the model does not fit.
Result written(const TuneOptions& options, const Measured& measured) {
  Profiled found = profiled(measured, options.rounds);
  if (found.residual > most_residual)
    throw Failure(fmt::format("no profile is written (the median error of the model is {:.0f} %, more than {:.0f} %), "
                              "measure again while no other program runs",
                              100 * found.residual, 100 * most_residual),
                  check_failed);
  write_whole("--output", options.output, profile_of(found));
  found.answer["profile"] = options.output;
  if (options.json) return {line_of(found.answer)};
  const std::string use =
      plan::profile_of(mpi_library().version) == options.output
          ? ". Steadfold uses this profile from now on.\n"
          : ". To use this profile:\n  export STEADFOLD_PROFILE=" + std::filesystem::absolute(options.output).string() +
                "\n";
  std::string tables = table_of_link(measured.links.between, found.network.link);
  for (std::size_t i = 0; i < links_inside.size(); ++i)
    if (const auto& times = measured.links.inside[i])
      tables += fmt::format("Inside a {}:\n", links_inside[i].name) +
                table_of_link(*times, found.network.*links_inside[i].link);
  return {tables + fmt::format("The median error of the model is {:.0f} %. {} is written{}", 100 * found.residual,
                               options.output, use)};
}

/// Returns the path of the file to write. Creates its folder, unless the user named the file.
std::string output_of(const TuneOptions& options) {
  if (!options.output.empty()) return options.output;
  const std::string path = plan::own_profile(mpi_library().version);
  if (path.empty())
    throw Failure("no place for the profile (neither XDG_CONFIG_HOME nor HOME is set), name a file with --output");
  std::error_code ignored;  // reported below, if the file cannot be written
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  return path;
}

bool are_usable(const LinkTimes& times) {
  return times.bytes.size() >= 3 && times.bytes.size() == times.one_way.size() &&
         std::ranges::adjacent_find(times.bytes, std::greater_equal()) == times.bytes.end() &&  // the sizes must ascend
         std::ranges::all_of(times.one_way, [](double each) { return each > 0; }) && times.in_stream >= 0 &&
         times.byte_in_stream >= 0 && times.byte_in_stream < 1;
}

bool are_usable(const plan::Rates& rates) { return rates.merge_per_byte >= 0 && rates.finish_per_byte >= 0; }

bool are_usable(const Measured& measured) {
  const auto is_usable = [](const auto& each) { return !each || are_usable(*each); };
  return are_usable(measured.links.between) && std::ranges::all_of(measured.links.inside, is_usable) &&
         std::ranges::all_of(measured.rates, is_usable);
}

Measured read_times(const std::string& path) {
  const Json answer = Json::parse(contents_of(path, "name a file with the output of tune --json"), nullptr, false);
  try {
    Measured measured{.links = {.between = times_in(answer.at("times"))}};
    for (std::size_t i = 0; i < links_inside.size(); ++i)
      if (answer.contains(links_inside[i].name))
        measured.links.inside[i] = times_in(answer.at(links_inside[i].name).at("times"));
    for (std::size_t i = 0; i < measured.rates.size(); ++i)
      if (const std::string content(plan::content_names[i]); answer.contains(content))
        measured.rates[i] = rates_in(answer.at(content));
    if (are_usable(measured)) return measured;
  } catch (const Json::exception&) {  // the error is reported below
  }
  throw Failure("cannot use " + path + " (it is not the output of tune --json with times), measure again");
}

bench::TimesOfLinks measured_links(const TuneOptions& options, const Job& job, LongWork& work) {
  if (job.rank_count() == 1) return {.between = of_launches(options, work)};
  return bench::times_of_links(options.rounds);
}

Result run(TuneOptions options, const Job& job) {
  LongWork work(options.json ? LongWork::Output::json : LongWork::Output::for_people);
  job.together([&] {
    if (job.rank() != 0) return;
    options.output = output_of(options);
    require_writable("--output", options.output, {options.times});
  });
  Measured measured;
  if (options.times.empty()) measured.links = measured_links(options, job, work);
  Result result;
  job.together([&] {
    if (job.rank() != 0) return;  // the other ranks may not see the files
    if (!options.times.empty()) measured = read_times(options.times);
    result = written(options, measured);
  });
  return result;
}

}  // namespace

void add_tune(CLI::App& app, Action& action) {
  CLI::App& tune = *app.add_subcommand(
      "tune", "Measure messages between two ranks and the cost of partial results, and write a profile of the machine");
  const auto options = std::make_shared<TuneOptions>();
  tune.add_option("--output", options->output,
                  "The file of the profile; default: the file in which all programs look for a profile");
  auto* const times = tune.add_option(
      "--times", options->times, "Use the times and rates in this file, which tune --json wrote, instead of measuring");
  auto* const launches =
      tune.add_option("--launches", options->launches,
                      "Number of launches of two ranks; if a launcher started tune, its job is the only launch")
          ->check(CLI::Range(1, 100))
          ->excludes(times)
          ->capture_default_str();
  tune.add_option("--rounds", options->rounds, "The number of samples of every message length")
      ->check(CLI::Range(3, 10001))
      ->capture_default_str();
  tune.add_flag("--json", options->json, "Print one JSON object");
  tune.callback([options, launches, &action] {
    if (launches->count() > 0 && options->launches != 1 && launch_of_this_process().rank_count > 1)
      throw Failure("--launches cannot be used under a launcher (the running job is one launch), leave out --launches");
    action = [options](const Job& job) { return run(*options, job); };
  });
}

void add_tune_worker(CLI::App& app, Action& action) {
  CLI::App& worker = *app.add_subcommand(tune_worker, "The ranks that tune starts")->group("");
  const auto rounds = std::make_shared<int>(21);
  worker.add_option("--rounds", *rounds);
  worker.callback([rounds, &action] {
    action = [rounds](const Job& job) {
      return answer(job, tune_worker, [&](Json& answer) {
        const bench::TimesOfLinks links = bench::times_of_links(*rounds);
        answer["times"] = to_json(links.between);
        for (std::size_t i = 0; i < links_inside.size(); ++i)
          if (links.inside[i]) answer[std::string(links_inside[i].name)]["times"] = to_json(*links.inside[i]);
      });
    };
  });
}

}  // namespace steadfold::command
