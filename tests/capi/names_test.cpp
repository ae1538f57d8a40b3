// Lists of names, and options by name.
#include "steadfold/steadfold_names.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "steadfold/types.hpp"

namespace steadfold::test::names_test {
namespace {

std::string said() { return sf_error_text(); }

constexpr sf_list every_list[] = {SF_LIST_STATUSES,  SF_LIST_TYPES,      SF_LIST_OPERATIONS, SF_LIST_METHODS,
                                  SF_LIST_SWEEPS,    SF_LIST_GUARANTEES, SF_LIST_LAYOUTS,    SF_LIST_COLLECTIVES,
                                  SF_LIST_SCHEDULES, SF_LIST_OPTIONS};

std::string text(sf_list list, std::size_t entry, const char* heading) {
  const char* const found = sf_list_text(list, entry, heading);
  return found == nullptr ? "(none)" : found;
}

std::size_t entry(sf_list list, const char* name) {
  std::size_t found = 999;
  EXPECT_EQ(sf_list_find(list, name, &found), SF_OK) << said();
  return found;
}

TEST(Names, EveryEntryHasItsNameOnce) {
  for (const sf_list list : every_list) {
    SCOPED_TRACE(list);
    std::set<std::string> names;
    ASSERT_GE(sf_list_size(list), 2u);
    for (std::size_t i = 0; i < sf_list_size(list); ++i) {
      const std::string name = sf_list_name(list, i);
      EXPECT_TRUE(names.insert(name).second) << name;
      EXPECT_EQ(entry(list, name.c_str()), i);
      EXPECT_GT(text(list, i, "about").size(), 3u) << name;
    }
    EXPECT_EQ(sf_list_name(list, sf_list_size(list)), nullptr);
    EXPECT_EQ(sf_list_text(list, sf_list_size(list), "about"), nullptr);
    EXPECT_EQ(sf_list_text(list, 0, "colour"), nullptr);
  }
}

/// Whether the library reduces a row of the type, all bytes 0, leaving the method to itself.
bool is_offered(sf_operation operation, sf_type type) {
  alignas(16) const std::byte row[32] = {};
  const std::byte mask[1] = {std::byte{1}};
  alignas(16) std::byte result[sizeof(sf_statistics)] = {};
  sf_call call = sf_call_default();
  call.operation = operation;
  call.type = type;
  call.rows = 1;
  const bool is_masked = detail::second_of(operation) == detail::Second::mask;
  const sf_status status = sf_reduce_local(&call, row, is_masked ? mask : row, result);
  EXPECT_TRUE(status == SF_OK || status == SF_UNSUPPORTED) << said();
  return status == SF_OK;
}

TEST(Names, OperationsTakeTheTypesThatTheirRowsName) {
  for (std::size_t operation = 0; operation < sf_list_size(SF_LIST_OPERATIONS); ++operation) {
    if (operation == SF_USER) continue;
    for (std::size_t type = 0; type < sf_list_size(SF_LIST_TYPES); ++type) {
      if (type == SF_BYTES) continue;
#if !defined(__SIZEOF_FLOAT128__)
      if (type == SF_FLOAT128) continue;
#endif
      const auto id = static_cast<sf_operation>(operation);
      EXPECT_EQ(is_offered(id, static_cast<sf_type>(type)), detail::takes(id, static_cast<sf_type>(type)))
          << sf_list_name(SF_LIST_OPERATIONS, operation) << " of " << sf_list_name(SF_LIST_TYPES, type) << ": "
          << said();
    }
  }
}

TEST(Names, EntriesAreEnumerators) {
  EXPECT_EQ(entry(SF_LIST_METHODS, "binned"), SF_BINNED);
  EXPECT_EQ(entry(SF_LIST_METHODS, "exact"), SF_EXACT);
  EXPECT_EQ(entry(SF_LIST_OPERATIONS, "dotc"), SF_DOTC);
  EXPECT_EQ(entry(SF_LIST_OPERATIONS, "abs_sum"), SF_NORM1);
  EXPECT_EQ(entry(SF_LIST_TYPES, "complex_f64"), SF_COMPLEX_F64);
  EXPECT_EQ(entry(SF_LIST_STATUSES, "unsupported"), SF_UNSUPPORTED);
  EXPECT_EQ(1u << entry(SF_LIST_GUARANTEES, "release"), SF_RELEASE);
  EXPECT_EQ(entry(SF_LIST_LAYOUTS, "row_per_rank"), SF_ROW_PER_RANK);
  // whoever appends an enumerator appends its name
  EXPECT_EQ(sf_list_size(SF_LIST_OPERATIONS), SF_CORRELATION + 1u);
  EXPECT_EQ(sf_list_size(SF_LIST_TYPES), SF_FLOAT128 + 1u);
  EXPECT_EQ(sf_list_size(SF_LIST_METHODS), SF_BINNED + 1u);
  EXPECT_EQ(sf_list_size(SF_LIST_STATUSES), SF_INTERNAL + 1u);
  EXPECT_EQ(sf_list_size(SF_LIST_LAYOUTS), SF_GRID + 1u);
  EXPECT_EQ(sf_list_size(SF_LIST_COLLECTIVES), SF_EXSCAN + 1u);
}

/// What programs and files say that were written for an older release.
TEST(Names, OlderOnesAreFound) {
  EXPECT_EQ(entry(SF_LIST_LAYOUTS, "row_a_rank"), SF_ROW_PER_RANK);
  EXPECT_EQ(SF_ROW_A_RANK, SF_ROW_PER_RANK);
  sf_call call = sf_call_default();
  EXPECT_EQ(sf_call_set(&call, "layout", "row_a_rank"), SF_OK) << said();
  EXPECT_EQ(call.layout, SF_ROW_PER_RANK);
  EXPECT_EQ(sf_call_set(&call, "layout", "row"), SF_INVALID_ARGUMENT);
  EXPECT_NE(said().find("intervals, row_per_rank, grid)"), std::string::npos) << said();
}

TEST(Names, SchedulesTellWhatTheyTake) {
  const std::size_t ring = entry(SF_LIST_SCHEDULES, "ring");
  EXPECT_EQ(text(SF_LIST_SCHEDULES, ring, "parameters"), "block");
  EXPECT_EQ(text(SF_LIST_SCHEDULES, ring, "collectives"), "reduce allreduce reduce_scatter");
  EXPECT_EQ(text(SF_LIST_SCHEDULES, ring, "methods"), "tree exact binned plain");
  EXPECT_EQ(text(SF_LIST_SCHEDULES, entry(SF_LIST_SCHEDULES, "native"), "methods"), "exact binned");
  EXPECT_EQ(text(SF_LIST_SCHEDULES, entry(SF_LIST_SCHEDULES, "linear"), "parameters"), "");
}

TEST(Names, WrongOnesAreAnswered) {
  std::size_t found = 7;
  EXPECT_EQ(sf_list_find(SF_LIST_SWEEPS, "triple_sweep", &found), SF_INVALID_ARGUMENT);
  EXPECT_EQ(said(), "unknown name 'triple_sweep' (known are single_sweep, double_sweep), choose one of these");
  EXPECT_EQ(sf_list_find(static_cast<sf_list>(10), "exact", &found), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_list_find(SF_LIST_METHODS, nullptr, &found), SF_INVALID_ARGUMENT);
  EXPECT_EQ(sf_list_find(SF_LIST_METHODS, "exact", nullptr), SF_INVALID_ARGUMENT);
  EXPECT_EQ(found, 7u);
  EXPECT_EQ(sf_list_size(static_cast<sf_list>(10)), 0u);
  EXPECT_EQ(sf_list_name(static_cast<sf_list>(15), 0), nullptr);
}

TEST(Options, SetTheirFields) {
  sf_call call = sf_call_default();
  const auto set = [&](const char* option, const char* value) {
    EXPECT_EQ(sf_call_set(&call, option, value), SF_OK) << said();
  };
  set("operation", "weighted_mean");
  set("method", "binned");
  set("type", "f32");
  set("result_type", "f64");
  set("columns", "18446744073709551615");
  set("root", "3");
  set("schedule", "ring:block=64");
  set("element_count", "12");
  set("element_bytes", "24");
  set("operator_name", "mine");
  set("commutative", "1");
  set("never_fails", "1");
  set("writes_right", "1");
  set("layout", "intervals");
  set("rows", "9");
  set("require", "ranks,release");
  set("threads", "5");
  set("bins", "4");
  set("sweep", "double_sweep");
  set("collective", "exscan");
  set("lanes", "1024");
  EXPECT_EQ(call.operation, SF_WEIGHTED_MEAN);
  EXPECT_EQ(call.method, SF_BINNED);
  EXPECT_EQ(call.type, SF_F32);
  EXPECT_EQ(call.result_type, SF_F64);
  EXPECT_EQ(call.columns, UINT64_MAX);
  EXPECT_EQ(call.root, 3);
  EXPECT_STREQ(call.schedule, "ring:block=64");
  EXPECT_EQ(call.element_count, 12u);
  EXPECT_EQ(call.element_bytes, 24u);
  EXPECT_STREQ(call.operator_name, "mine");
  EXPECT_EQ(call.commutative + call.never_fails + call.writes_right, 3);
  EXPECT_EQ(call.layout, SF_INTERVALS);
  EXPECT_EQ(call.rows, 9u);
  EXPECT_EQ(call.require, static_cast<unsigned>(SF_RANKS) | SF_RELEASE);
  EXPECT_EQ(call.threads, 5u);
  EXPECT_EQ(call.bins, 4u);
  EXPECT_EQ(call.sweep, SF_DOUBLE_SWEEP);
  EXPECT_EQ(call.collective, SF_EXSCAN);
  EXPECT_EQ(call.lanes, 1024u);
  set("root", "all");
  set("element_count", "unknown");
  set("require", "");
  EXPECT_EQ(call.root, SF_ALL_RANKS);
  EXPECT_EQ(call.element_count, SF_UNKNOWN);
  EXPECT_EQ(call.require, 0u);
}

/// Every option, with its default, changes nothing.
TEST(Options, AreAllThere) {
  EXPECT_EQ(sf_list_size(SF_LIST_OPTIONS), 21u);
  for (std::size_t i = 0; i < sf_list_size(SF_LIST_OPTIONS); ++i)
    EXPECT_NE(text(SF_LIST_OPTIONS, i, "values"), "(none)");
  const std::map<std::string, std::string> said = {
      {"type", "arrays"},    {"result_type", "arrays"},   {"columns", "arrays"},   {"rows", "arrays"},
      {"layout", "vectors"}, {"element_bytes", "arrays"}, {"operation", "arrays"}, {"collective", "vectors"}};
  for (std::size_t i = 0; i < sf_list_size(SF_LIST_OPTIONS); ++i) {
    const auto found = said.find(sf_list_name(SF_LIST_OPTIONS, i));
    EXPECT_EQ(text(SF_LIST_OPTIONS, i, "arguments"), found == said.end() ? "" : found->second);
  }
}

TEST(Options, WrongOnesChangeNothing) {
  sf_call call = sf_call_default();
  const sf_call before = call;
  const auto refused = [&](const char* option, const char* value, const char* why) {
    EXPECT_EQ(sf_call_set(&call, option, value), SF_INVALID_ARGUMENT) << option << value;
    EXPECT_NE(said().find(why), std::string::npos) << said();
    EXPECT_EQ(std::memcmp(&call, &before, sizeof call), 0) << option << value;
  };
  refused("bin", "3", "unknown option 'bin' (known are operation, method,");
  refused("bins", "5", "'5' for option bins (the option takes 2, 3, 4, or 0");
  refused("bins", "1", "'1' for option bins (the option takes 2, 3, 4, or 0");
  refused("root", "4294967295", "'4294967295' for option root");
  refused("commutative", "4294967296", "'4294967296' for option commutative");
  refused("threads", "4294967296", "'4294967296' for option threads");
  refused("bins", "-1", "'-1' for option bins");
  refused("bins", "3 ", "'3 ' for option bins");
  refused("bins", "", "'' for option bins");
  refused("lanes", "1025", "'1025' for option lanes (the option takes a number from 1 to 1024, or 0 for 1)");
  refused("rows", "18446744073709551616", "for option rows (the option takes a number");
  refused("root", "-2", "'-2' for option root (the option takes a rank or all)");
  refused("method", "Exact", "unknown method 'Exact' (known are automatic, tree, exact, plain, binned)");
  refused("require", "ranks,", "'ranks,' for option require");
  refused("require", "ranks,,layout", "unknown guarantee ''");
  refused("commutative", "2", "(the option takes 0 or 1)");
  refused("rows", nullptr, "a pointer is null");
  refused(nullptr, "3", "a pointer is null");
  EXPECT_EQ(sf_call_set(nullptr, "rows", "3"), SF_INVALID_ARGUMENT);
}

/// A program compiled before an option came has no place for it, unless it is what the library takes anyway.
TEST(Options, NeedAPlaceInTheCallersStruct) {
  sf_call call = sf_call_default();
  call.size = offsetof(sf_call, writes_right);
  EXPECT_EQ(sf_call_set(&call, "writes_right", "1"), SF_UNSUPPORTED);
  EXPECT_NE(said().find("option writes_right for an sf_call of"), std::string::npos) << said();
  EXPECT_EQ(call.writes_right, 0);
  EXPECT_EQ(sf_call_set(&call, "writes_right", "0"), SF_OK) << said();
}

}  // namespace
}  // namespace steadfold::test::names_test
