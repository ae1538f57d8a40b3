#include "catalogue.hpp"

#include "command.hpp"
#include "program/methods.hpp"
#include "request.hpp"

namespace steadfold::command {

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const schedule::Algorithm& algorithm : schedule::registry()) names.emplace_back(algorithm.name);
  return names;
}

std::string own_collective(const std::string& schedule) {
  const schedule::Algorithm* const algorithm = schedule::find(schedule.substr(0, schedule.find(':')));
  const auto usual = algorithm == nullptr ? schedule::Collective::allreduce : algorithm->default_collective;
  const bool offered = algorithm == nullptr || offers(algorithm->collectives, usual);
  return std::string(name_of(offered ? usual : schedule::Collective::reduce));
}

schedule::Collective collective_named(const std::string& name) {
  std::vector<std::string_view> known;
  for (const schedule::Collective each : schedule::every_collective) {
    if (name_of(each) == name) return each;
    known.push_back(name_of(each));
  }
  throw Failure(schedule::unknown_name("collective", name, known));
}

std::optional<std::string> refusal(const std::string& schedule, const std::string& method, bool rooted) {
  if (schedule::is_policy(schedule)) return std::nullopt;
  const schedule::Spec spec = schedule::parse(schedule);
  const auto collective = rooted ? schedule::Collective::reduce : schedule::Collective::allreduce;
  return schedule::refusal(spec, collective, 0, merging_named(method), schedule::OperatorKind::commutative);
}

}  // namespace steadfold::command
