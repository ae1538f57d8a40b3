// The table of docs/guarantees.md, read, and the calls that stand for its columns.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "call/description.hpp"
#include "support/directory.hpp"

namespace steadfold::test {

/// The calls that stand for the table's columns.
inline std::map<std::string, std::vector<call::Call>> guarantee_columns() {
  using namespace call;
  using arithmetic::Operation;
  using arithmetic::Type;
  const auto with = [](Call call, LayoutKind layout) {
    call.layout = layout;
    return call;
  };
  const Call sum{.operation = Operation::sum};
  Call tree = sum;
  tree.method = Method::tree;
  const Call user{.operation = Operation::user,
                  .method = Method::tree,
                  .type = Type::bytes,
                  .result_type = Type::bytes,
                  .user = {.element_bytes = 8, .is_users = true}};
  Call exact = sum;
  exact.method = Method::exact;
  const Call dot{.operation = Operation::dot};
  const Call mean{.operation = Operation::mean};
  const Call squares{.operation = Operation::sum_squares};
  const Call masked{.operation = Operation::masked_sum};
  const Call absolute{.operation = Operation::abs_sum, .method = Method::tree};
  const Call least{.operation = Operation::min};
  const Call largest{.operation = Operation::norminf};
  const Call integers{.operation = Operation::sum, .type = Type::i64, .result_type = Type::i64};
  const Call where{.operation = Operation::max_location};
  Call plain = sum;
  plain.method = Method::plain;
  Call plain_user = user;
  plain_user.method = Method::plain;
  const LayoutKind listed = LayoutKind::intervals;
  const LayoutKind ordered = LayoutKind::rank_order;
  const LayoutKind anywhere = LayoutKind::anywhere;
  const LayoutKind vectors = LayoutKind::row_per_rank;
  std::map<std::string, std::vector<Call>> columns = {
      {"tree, layout given", {with(tree, listed), with(user, listed), with(absolute, listed)}},
      {"tree, rank order", {with(tree, ordered), with(tree, anywhere), with(user, anywhere)}},
      {"exact",
       {with(exact, listed), with(exact, ordered), with(exact, anywhere), with(dot, anywhere), with(mean, listed),
        with(squares, anywhere), with(masked, ordered)}},
      {"order-free", {with(least, listed), with(least, anywhere), with(largest, anywhere), with(integers, ordered)}},
      {"location, layout given", {with(where, listed)}},
      {"location, rank order", {with(where, ordered), with(where, anywhere)}},
      {"plain", {with(plain, listed), with(plain, anywhere), with(plain_user, listed)}},
      {"MPI's shape", {with(tree, vectors), with(user, vectors), with(exact, vectors), with(least, vectors)}},
  };
  for (const MethodProperties& properties : methods()) {
    if (!properties.rounds_once) continue;
    const Call norm{.operation = Operation::norm2,
                    .method = properties.method,
                    .parameters = {.sweep = arithmetic::Sweep::double_sweep}};
    Call same = sum;
    same.method = properties.method;
    for (const Call& each : {with(same, listed), with(same, anywhere), with(norm, ordered)})
      columns[std::string(properties.merging.method)].push_back(each);
  }
  return columns;
}

inline const std::map<std::string, call::Guarantees> guarantee_rows = {
    {"ranks", call::guarantee::ranks},       {"threads", call::guarantee::threads}, {"layout", call::guarantee::layout},
    {"schedule", call::guarantee::schedule}, {"library", call::guarantee::library}, {"target", call::guarantee::target},
    {"release", call::guarantee::release},
};

inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

/// The documented table: by column and row, whether it is kept.
inline std::map<std::string, std::map<std::string, bool>> documented_guarantees() {
  std::ifstream file(tests::directory() + "/../docs/guarantees.md");
  EXPECT_TRUE(file.good()) << "docs/guarantees.md cannot be read";
  std::map<std::string, std::map<std::string, bool>> table;
  std::vector<std::string> heads;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '|') {
      heads.clear();
      continue;
    }
    const auto cells = cells_of(line);
    if (cells[0] == "may be required") heads = cells;
    const auto name = cells[0].substr(0, cells[0].find('`', 1)).substr(cells[0][0] == '`' ? 1 : 0);
    if (heads.empty() || !guarantee_rows.contains(name)) continue;
    for (std::size_t i = 1; i < cells.size(); ++i) table[heads[i]][name] = cells[i].starts_with("yes");
  }
  return table;
}

}  // namespace steadfold::test
