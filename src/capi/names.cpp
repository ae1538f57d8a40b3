#include "capi/names.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "call/failure.hpp"
#include "call/methods.hpp"
#include "capi/boundary.hpp"
#include "capi/lists.hpp"
#include "schedule/registry.hpp"

namespace steadfold::capi {
namespace {

using call::Failure;

/// The name and the descriptions of a schedule, as texts that stay valid until the program ends.
struct Schedule {
  std::string name, about, parameters, collectives, methods, examples, restrictions, source;
};

void append(std::string& names, std::string_view name) { names.append(names.empty() ? "" : " ").append(name); }

Schedule schedule_of(const schedule::Algorithm& algorithm) {
  Schedule texts{.name = std::string(algorithm.name),
                 .about = std::string(algorithm.sentence),
                 .parameters = {},
                 .collectives = {},
                 .methods = {},
                 .examples = {},
                 .restrictions = std::string(algorithm.restrictions),
                 .source = std::string(algorithm.source)};
  for (const std::string_view each : algorithm.parameters) append(texts.parameters, each);
  for (const schedule::Collective each : schedule::every_collective)
    if (offers(algorithm.collectives, each)) append(texts.collectives, name_of(each));
  for (const call::MethodProperties& each : call::methods())
    if (serves(algorithm, each.merging)) append(texts.methods, each.merging.method);
  for (const std::string& each : names_of(algorithm)) append(texts.examples, each);
  return texts;
}

const std::vector<Schedule>& schedules() {
  static const auto& all = *new auto([] {
    std::vector<Schedule> made;
    for (const schedule::Algorithm& algorithm : schedule::registry()) made.push_back(schedule_of(algorithm));
    return made;
  }());
  return all;
}

const std::string* text_of(const Schedule& schedule, std::string_view heading) {
  constexpr std::pair<std::string_view, std::string Schedule::*> headings[] = {
      {"about", &Schedule::about},     {"parameters", &Schedule::parameters}, {"collectives", &Schedule::collectives},
      {"methods", &Schedule::methods}, {"examples", &Schedule::examples},     {"restrictions", &Schedule::restrictions},
      {"source", &Schedule::source},
  };
  const auto* const found =
      std::ranges::find(headings, heading, &std::pair<std::string_view, std::string Schedule::*>::first);
  return found == std::end(headings) ? nullptr : &(schedule.*found->second);
}

std::string_view name_now(sf_list list, std::string_view name) {
  for (const lists::Older& each : lists::older)
    if (each.list == list && each.name == name) return each.now;
  return name;
}

bool is_list(sf_list list) { return number(list) <= SF_LIST_OPTIONS; }

std::size_t size_of(sf_list list) {
  if (!is_list(list)) return 0;
  if (list == SF_LIST_SCHEDULES) return schedules().size();
  return list == SF_LIST_OPTIONS ? options().size() : enumerators(list).size();
}

const char* name_in(sf_list list, std::size_t entry) {
  if (entry >= size_of(list)) return nullptr;
  if (list == SF_LIST_SCHEDULES) return schedules()[entry].name.c_str();
  return list == SF_LIST_OPTIONS ? options()[entry].name : enumerators(list)[entry].name;
}

const char* text_in(sf_list list, std::size_t entry, std::string_view heading) {
  if (entry >= size_of(list)) return nullptr;
  if (list == SF_LIST_SCHEDULES) {
    const std::string* const text = text_of(schedules()[entry], heading);
    return text == nullptr ? nullptr : text->c_str();
  }
  if (list == SF_LIST_OPTIONS && heading == "values") return options()[entry].values;
  if (list == SF_LIST_OPTIONS && heading == "arguments") return options()[entry].arguments;
  if (heading != "about") return nullptr;
  return list == SF_LIST_OPTIONS ? options()[entry].about : enumerators(list)[entry].about;
}

/// Returns the result of `body`, or `otherwise` if there is no memory for texts.
template <class Body, class Value>
Value or_else(Value otherwise, Body body) noexcept {
  caught([&] { otherwise = body(); });
  return otherwise;
}

}  // namespace

std::span<const ListEntry> enumerators(sf_list list) noexcept {
  switch (number(list)) {
    case SF_LIST_STATUSES: return lists::statuses;
    case SF_LIST_TYPES: return lists::types;
    case SF_LIST_OPERATIONS: return lists::operations;
    case SF_LIST_METHODS: return lists::methods;
    case SF_LIST_SWEEPS: return lists::sweeps;
    case SF_LIST_GUARANTEES: return lists::guarantees;
    case SF_LIST_LAYOUTS: return lists::layouts;
    case SF_LIST_COLLECTIVES: return lists::collectives;
    default: return {};
  }
}

std::size_t entry_of(sf_list list, std::string_view name, std::string_view what) {
  if (!is_list(list))
    throw Failure(Status::invalid_argument, "list " + std::to_string(number(list)) + " is unknown (the last list is " +
                                                std::to_string(SF_LIST_OPTIONS) + "), give a value of sf_list");
  const std::string_view asked = name_now(list, name);
  for (std::size_t i = 0; i < size_of(list); ++i)
    if (name_in(list, i) == asked) return i;
  std::string known;
  for (std::size_t i = 0; i < size_of(list); ++i) known.append(i == 0 ? "" : ", ").append(name_in(list, i));
  throw Failure(Status::invalid_argument, "unknown " + std::string(what) + " '" + std::string(name) + "' (known are " +
                                              known + "), choose one of these");
}

}  // namespace steadfold::capi

extern "C" {

size_t sf_list_size(sf_list list) {
  return steadfold::capi::or_else(size_t{0}, [&] { return steadfold::capi::size_of(list); });
}

const char* sf_list_name(sf_list list, size_t entry) {
  return steadfold::capi::or_else<>(static_cast<const char*>(nullptr),
                                    [&] { return steadfold::capi::name_in(list, entry); });
}

const char* sf_list_text(sf_list list, size_t entry, const char* heading) {
  return steadfold::capi::or_else(static_cast<const char*>(nullptr), [&] {
    return heading == nullptr ? nullptr : steadfold::capi::text_in(list, entry, heading);
  });
}

sf_status sf_list_find(sf_list list, const char* name, size_t* entry) {
  return steadfold::capi::caught([&] {
    if (name == nullptr || entry == nullptr)
      throw steadfold::call::Failure(
          steadfold::Status::invalid_argument,
          "the name or the address for its entry is missing (a pointer is null), give both addresses");
    *entry = steadfold::capi::entry_of(list, name, "name");
  });
}
}
