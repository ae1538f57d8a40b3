// Reads schedules from text: `two_level:inner=[flat]:outer=[ring:block=64]:size=4`.
// Cost: O(length x depth of brackets).
#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "schedule/registry.hpp"

namespace steadfold::schedule {

std::string quoted(std::string_view text) { return std::string("'").append(text).append("'"); }

namespace {

// Returns the number of letters to add, remove or change to turn one text into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> distances(to.size() + 1);
  std::iota(distances.begin(), distances.end(), std::size_t{0});
  for (const char letter : from) {
    std::size_t diagonal = distances[0]++;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t changed = diagonal + (letter == to[i] ? 0 : 1);
      diagonal = distances[i + 1];
      distances[i + 1] = std::min({changed, diagonal + 1, distances[i] + 1});
    }
  }
  return distances.back();
}

}  // namespace

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string_view> known,
                         std::string_view advice) {
  const auto distance = [&](std::string_view each) { return edit_distance(name, each); };
  const std::string_view nearest = *std::ranges::min_element(known, {}, distance);
  const std::size_t most = std::max<std::size_t>(2, name.size() / 3);  // names at a larger distance are not similar
  std::string text = std::string("unknown ").append(what).append(" ").append(quoted(name));
  text += distance(nearest) <= most ? " (the nearest name is " + quoted(nearest) : " (no name is similar";
  std::string names(advice);
  if (advice.empty())
    for (const std::string_view each : known) names.append(names.empty() ? "" : ", ").append(each);
  return text + "), choose one of " + names;
}

std::string unknown_name(std::string_view what, std::string_view name, std::span<const std::string> known,
                         std::string_view advice) {
  return unknown_name(what, name, std::vector<std::string_view>(known.begin(), known.end()), advice);
}

namespace {

[[noreturn]] void fail(const std::string& problem, const std::string& why, const std::string& suggestion) {
  throw std::invalid_argument(problem + " (" + why + "), " + suggestion);
}

// Returns the names that are valid for a schedule. In brackets policies are not valid.
std::vector<std::string_view> known_names(Algorithms algorithms, bool in_brackets) {
  std::vector<std::string_view> names;
  if (!in_brackets) names.assign(policies.begin(), policies.end());
  for (const Algorithm& algorithm : algorithms) names.push_back(algorithm.name);
  return names;
}

// Cuts `text` at the first `mark`: returns the text before it and leaves the text after it. The mark itself is removed.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return before;
}

// Cuts off a text in brackets. `text` begins with '['. Returns the text before the matching ']' and leaves the text
// after it.
std::string_view cut_brackets(std::string_view& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth > 0) continue;
    const std::string_view inside = text.substr(1, i - 1);
    text.remove_prefix(i + 1);
    return inside;
  }
  fail("a bracket is not closed in " + quoted(text), "every '[' needs its ']'", "close the bracket");
}

const Algorithm& algorithm_named(std::string_view name, Algorithms algorithms, bool in_brackets) {
  if (name.empty())
    fail("the schedule name is missing", "the text is empty or begins with ':'", "begin with the name of a schedule");
  const Algorithm* algorithm = find(name, algorithms);
  if (!algorithm) throw std::invalid_argument(unknown_name("schedule", name, known_names(algorithms, in_brackets)));
  return *algorithm;
}

void require_accepted(const Spec& spec, std::string_view key) {
  const auto accepted = spec.algorithm->parameters;
  if (spec.parameter(key))
    fail("parameter " + quoted(key) + " twice", "two values contradict each other", "give the parameter once");
  if (std::find(accepted.begin(), accepted.end(), key) != accepted.end()) return;
  std::string names;
  for (const std::string_view name : accepted) names.append(names.empty() ? "" : ", ").append(name);
  fail("schedule " + quoted(spec.name) + " has no parameter " + quoted(key),
       accepted.empty() ? "it has no parameters" : "its parameters are " + names, "leave out the parameter");
}

std::string problem_of(const Spec& spec, const Spec::Parameter& parameter) {
  return "parameter " + quoted(parameter.name) + " of schedule " + quoted(spec.name) + " cannot be " +
         quoted(parameter.value);
}

Spec parse(std::string_view text, Algorithms algorithms, int depth);

// Removes the next `key=value` from `text`, and the ':' after it. `depth` is the number of open brackets.
Spec::Parameter next_parameter(const Spec& spec, std::string_view& text, Algorithms algorithms, int depth) {
  const std::string_view whole = text;
  const std::size_t equals = text.find('=');
  const std::string_view key = text.substr(0, std::min(equals, text.find(':')));
  if (key.empty())
    fail("a parameter has no name in " + quoted(whole), "parameters are written key=value",
         "write the parameter's name before the value");
  require_accepted(spec, key);
  if (equals != key.size())
    fail("parameter " + quoted(key) + " has no value", "parameters are written key=value", "give a value");
  text.remove_prefix(equals + 1);

  Spec::Parameter parameter{std::string(key), {}, {}};
  if (text.starts_with('[')) {
    parameter.value = cut_brackets(text);
    if (depth == most_nested)
      fail("too many brackets around " + quoted(parameter.value),
           "schedules can be nested " + std::to_string(most_nested) + " levels deep at most", "nest fewer schedules");
    parameter.nested.push_back(parse(parameter.value, algorithms, depth + 1));
    if (!text.empty() && text.front() != ':') {
      fail("unexpected " + quoted(text) + " after a bracket", "parameters are separated by ':'", "write ':' before it");
    }
    cut(text, ':');
  } else {
    parameter.value = cut(text, ':');
  }
  if (parameter.value.empty()) {
    fail("parameter " + quoted(key) + " has no value", "there is nothing after '='", "give a value");
  }
  return parameter;
}

Spec parse(std::string_view text, Algorithms algorithms, int depth) {
  const bool ends_early = text.ends_with(':');
  Spec spec;
  spec.name = cut(text, ':');
  spec.algorithm = &algorithm_named(spec.name, algorithms, depth > 0);
  if (ends_early) fail("the text ends with ':'", "a parameter must follow each ':'", "leave out the last ':'");
  while (!text.empty()) spec.parameters.push_back(next_parameter(spec, text, algorithms, depth));
  if (spec.algorithm->check_parameters) spec.algorithm->check_parameters(spec);
  return spec;
}

}  // namespace

const Spec::Parameter* Spec::parameter(std::string_view key) const noexcept {
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& each) { return each.name == key; });
  return found == parameters.end() ? nullptr : &*found;
}

Count number_of(const Spec& spec, std::string_view key, Count otherwise, Count least, Count most) {
  const Spec::Parameter* parameter = spec.parameter(key);
  if (!parameter) return otherwise;
  const std::string& text = parameter->value;
  Count number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    fail("parameter " + quoted(key) + " of schedule " + quoted(spec.name) + " cannot be " + quoted(text),
         "it is a number from " + std::to_string(least) + " to " + std::to_string(most),
         "choose a number from this range");
  return number;
}

void require_nested(const Spec& spec, std::string_view key, std::optional<Collective> collective) {
  const Spec::Parameter* parameter = spec.parameter(key);
  if (!parameter) return;
  if (parameter->nested.empty())
    fail(problem_of(spec, *parameter), "its value is a schedule",
         "write the schedule in brackets, as in " + std::string(key) + "=[flat]");
  const Algorithm& algorithm = *parameter->nested.front().algorithm;
  if (collective == Collective::reduce && algorithm.layouts != Layouts::any &&
      offers(algorithm.collectives, Collective::allreduce))
    refuse_value(spec, key, "the messages of that schedule depend on the layout",
                 "use schedule " + quoted(algorithm.name) + " by itself, which broadcasts the result of an allreduce");
  if (algorithm.layouts != Layouts::any || !algorithm.messages)
    refuse_value(spec, key, "the messages of that schedule depend on the layout, or the MPI library sends them");
  if (!collective) return;
  if (algorithm.has_groups) refuse_value(spec, key, "that schedule itself is made of other schedules");
  if (!offers(algorithm.collectives, *collective))
    refuse_value(spec, key, "that schedule does not offer " + std::string(name_of(*collective)));
  if (!algorithm.keeps_order(0)) refuse_value(spec, key, "that schedule does not keep rank order");
  if (refusal(parameter->nested.front(), 1))  // a listed tree has at least two ranks
    refuse_value(spec, key, "that schedule serves a single number of ranks", "name the shape of its tree");
}

void refuse_value(const Spec& spec, std::string_view key, const std::string& why, const std::string& suggestion) {
  fail(problem_of(spec, *spec.parameter(key)), why, suggestion);
}

std::string text_of(const Spec& spec) {
  std::string text(spec.algorithm->name);
  for (const Spec::Parameter& each : spec.parameters)
    text += ":" + each.name + "=" + (each.nested.empty() ? each.value : "[" + text_of(each.nested.front()) + "]");
  return text;
}

Spec parse(std::string_view text, Algorithms algorithms) { return parse(text, algorithms, 0); }

}  // namespace steadfold::schedule
