// What a study is: tables or figures of a source, made again. One file (or more) per study, one row in studies.cpp.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../command.hpp"
#include "transport/topology.hpp"

namespace steadfold::command::studies {

/// What is asked of a study; a part takes what concerns it.
struct Asked {
  std::string data;                           // a directory with the source's data; empty: generated ones
  std::uint64_t largest = ~std::uint64_t{0};  // data sets of at most so many elements
  std::vector<int> ranks = {1, 2, 4, 8};      // that are started
  int rounds = 9;                             // samples of every candidate
  transport::LogGP link;                      // of networks that are predicted
};

template <class T>
Json json_of(const std::optional<T>& known) {
  return known ? Json(*known) : Json();
}

/// What a part found: rows with the same fields, and what it could not look at, as "name: problem (why), suggestion".
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
};

/// All of them, in the order in which they are shown.
std::span<const Study> all();

}  // namespace steadfold::command::studies
