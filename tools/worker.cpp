#include "worker.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "request.hpp"

namespace steadfold::command {
namespace {

/// Returns the beginning of an answer on standard output. A launcher may have printed something before it.
std::string beginning_of(const std::string& worker) { return "{\"" + worker + "\":"; }

Json answer_in(const std::string& output, const std::string& worker) {
  const std::size_t begin = output.find(beginning_of(worker));
  return begin == std::string::npos ? Json() : Json::parse(output.substr(begin), nullptr, false);
}

}  // namespace

Result answer(const Job& job, const std::string& worker, const std::function<void(Json& answer)>& work) {
  Json answer = {{worker, 1}};
  try {
    job.together([&] { work(answer); });
  } catch (const Failure& failure) {
    answer["error"] = failure.what();
    answer["status"] = static_cast<int>(failure.status());
  }
  return {line_of(answer)};
}

Json ask(const std::string& worker, const std::vector<std::string>& arguments, int rank_count, Placement placement,
         const std::string& suggestion) {
  std::vector<std::string> words = {worker};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const Ran ran = run_ranks(rank_count, placement, this_program().string(), words);
  Json answer = answer_in(ran.out, worker);
  if (answer.contains("error"))
    throw Failure(answer["error"].get<std::string>(), static_cast<ExitStatus>(answer["status"].get<int>()));
  if (answer.is_object() && ran.status == 0) return answer;
  throw Failure(ran.command + " failed (exit status " + std::to_string(ran.status) +
                (ran.complaint.empty() ? "" : ": " + ran.complaint) + "), " + suggestion);
}

Json ask_command(const std::string& command, const std::string& worker, const std::vector<std::string>& arguments) {
  const Ran ran = run_program(command, arguments);
  Json answer = answer_in(ran.out, worker);
  if (answer.is_object() && ran.status == 0) return answer;
  if (!ran.complaint.empty()) throw Failure(ran.complaint, ran.status == check_failed ? check_failed : bad_input);
  throw Failure(ran.command + " failed (exit status " + std::to_string(ran.status) +
                "), run this command by itself to see the error");
}

std::vector<int> rank_counts(const std::string& text) {
  constexpr int most = 1024;
  std::vector<int> counts;
  for (const std::string& part : split(text, "--ranks")) {
    int count = 0;
    const auto [end, failed] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (failed != std::errc() || end != part.data() + part.size() || count < 1 || count > most)
      throw Failure(fmt::format(
          "--ranks cannot be understood ('{}' is not a number from 1 to {}), write numbers like 1,2,3", part, most));
    counts.push_back(count);
  }
  return counts;
}

void agree_to_many(const std::vector<int>& rank_counts, bool yes) {
  constexpr int few = 64;
  const int most = std::ranges::max(rank_counts);
  if (yes || most <= few) return;
  const std::string what = fmt::format("{} ranks on a machine with {} cores", most, core_count());
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)
    throw Failure(fmt::format(
        "{} are not started without your consent (more than {} ranks may keep the machine busy for minutes), use --yes",
        what, few));
  fmt::print(stderr, "start {}, which may keep it busy for minutes? [y/N] ", what);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes")
    throw Failure(fmt::format("nothing was started (you did not agree to {}), use {} ranks or fewer", what, few));
}

}  // namespace steadfold::command
