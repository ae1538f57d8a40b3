// What a call may require: one test a cell of the table in docs/guarantees.md, which is read and held against the
// library.
#include "collective/guarantees.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <sstream>

#include "collective/failure.hpp"

namespace steadfold::test {
namespace {

using namespace collective;
using arithmetic::Operation;
using arithmetic::Type;

/// The calls that stand for the table's columns.
std::map<std::string, std::vector<Call>> columns() {
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
  Call binned = sum;
  binned.method = Method::binned;
  const Call binned_norm{
      .operation = Operation::norm2, .method = Method::binned, .sweep = arithmetic::Sweep::double_sweep};
  const Call dot{.operation = Operation::dot};
  const Call mean{.operation = Operation::mean};
  const Call squares{.operation = Operation::sum_squares};
  const Call masked{.operation = Operation::masked_sum};
  const Call absolute{.operation = Operation::abs_sum, .method = Method::tree};
  const Call least{.operation = Operation::min};
  const Call integers{.operation = Operation::sum, .type = Type::i64, .result_type = Type::i64};
  const Call where{.operation = Operation::max_location};
  Call plain = sum;
  plain.method = Method::plain;
  Call plain_user = user;
  plain_user.method = Method::plain;
  const LayoutKind listed = LayoutKind::intervals;
  const LayoutKind ordered = LayoutKind::rank_order;
  const LayoutKind anywhere = LayoutKind::anywhere;
  const LayoutKind vectors = LayoutKind::row_a_rank;
  return {
      {"tree, layout given", {with(tree, listed), with(user, listed), with(absolute, listed)}},
      {"tree, rank order", {with(tree, ordered), with(tree, anywhere), with(user, anywhere)}},
      {"exact",
       {with(exact, listed), with(exact, ordered), with(exact, anywhere), with(dot, anywhere), with(mean, listed),
        with(squares, anywhere), with(masked, ordered)}},
      {"binned", {with(binned, listed), with(binned, anywhere), with(binned_norm, ordered)}},
      {"order-free", {with(least, listed), with(least, anywhere), with(integers, ordered)}},
      {"location, layout given", {with(where, listed)}},
      {"location, rank order", {with(where, ordered), with(where, anywhere)}},
      {"plain", {with(plain, listed), with(plain, anywhere), with(plain_user, listed)}},
      {"MPI's shape", {with(tree, vectors), with(user, vectors), with(exact, vectors), with(least, vectors)}},
  };
}

const std::map<std::string, Guarantees> rows = {
    {"ranks", guarantee::ranks},       {"threads", guarantee::threads}, {"layout", guarantee::layout},
    {"schedule", guarantee::schedule}, {"library", guarantee::library}, {"target", guarantee::target},
    {"release", guarantee::release},
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

/// The documented table: by column and row, whether it is kept.
std::map<std::string, std::map<std::string, bool>> documented() {
  std::ifstream file(STEADFOLD_TESTS_DIR "/../docs/guarantees.md");
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
    if (heads.empty() || !rows.contains(name)) continue;
    for (std::size_t i = 1; i < cells.size(); ++i) table[heads[i]][name] = cells[i].starts_with("yes");
  }
  return table;
}

TEST(Guarantees, AreThoseOfTheDocumentedTable) {
  const auto table = documented();
  const auto calls = columns();
  ASSERT_EQ(table.size(), calls.size());
  for (const auto& [column, cells] : table) {
    ASSERT_TRUE(calls.contains(column)) << column;
    ASSERT_EQ(cells.size(), rows.size()) << column;
    for (const auto& [row, is_kept] : cells) {
      for (Call call : calls.at(column)) {
        call.require = rows.at(row);
        SCOPED_TRACE(column + ", " + row);
        EXPECT_EQ((kept(describe(call)) & rows.at(row)) != 0, is_kept);
        if (is_kept) {
          EXPECT_NO_THROW(require_kept(call));
          continue;
        }
        try {
          require_kept(call);
          ADD_FAILURE() << "not refused";
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.status(), Status::unsupported);
          EXPECT_NE(std::string(failure.what()).find("cannot keep '" + row + "'"), std::string::npos) << failure.what();
        }
      }
    }
  }
}

TEST(Guarantees, AreRefusedTogetherWhereOneIsNotKept) {
  Call call{.operation = Operation::sum, .method = Method::plain};
  call.require = guarantee::target;
  EXPECT_NO_THROW(require_kept(call));
  call.require = guarantee::target | guarantee::ranks;
  EXPECT_THROW(require_kept(call), Failure);
  call.method = Method::exact;
  call.require = guarantee::all;
  EXPECT_NO_THROW(require_kept(call));
  call.require = guarantee::all + 1;
  EXPECT_THROW(require_kept(call), Failure);
}

}  // namespace
}  // namespace steadfold::test
