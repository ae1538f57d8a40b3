// What a study is: tables or figures of a source, made again. One or more files per study, one row in studies.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command.hpp"
#include "transport/simulated/topology.hpp"

namespace steadfold::command::studies {

/// The options of a study; a part uses those that concern it.
struct Asked {
  std::string data;                           // a directory with the source's data; empty: generated data
  std::uint64_t largest = ~std::uint64_t{0};  // data sets of at most this many elements
  std::vector<int> ranks = {1, 2, 4, 8};      // rank counts that are started
  int most_ranks = 64;                        // that are predicted, in studies of every rank count
  int rounds = 9;                             // samples per candidate
  std::string distribution = "upper";         // of elements over ranks that are started
  std::string reproblas = {};                 // where ReproBLAS is installed; empty: it is not measured
  transport::LogGP link;                      // of predicted networks
  /// Nodes x processes of predicted jobs.
  std::vector<std::string> configurations = {"36x32"};
};

template <class T>
Json json_of(const std::optional<T>& known) {
  return known ? Json(*known) : Json();
}

/// What a part found: rows with the same fields, and what it left out, as "name: problem (why), suggestion".
struct Findings {
  Json rows = Json::array();
  std::vector<std::string> left_out = {};
};

struct Part {
  std::string_view name;
  std::string_view sentence;
  Findings (*run)(const Asked&);
};

struct Study {
  std::string_view name;
  std::string_view source;
  std::string_view sentence;
  std::span<const Part> parts;
  bool takes_minutes = false;  // all parts together, by default
};

/// All studies, in the order in which they are shown.
std::span<const Study> all();

}  // namespace steadfold::command::studies
