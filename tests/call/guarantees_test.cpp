// What a call may require: one test per cell of the table in docs/guarantees.md, which is read and held against the
// library.
#include "call/guarantees.hpp"

#include <gtest/gtest.h>

#include "call/failure.hpp"
#include "call/guarantees_table.hpp"
#include "call/kinds.hpp"
#include "call/methods.hpp"

namespace steadfold::test::guarantees_test {
namespace {

using namespace call;
using arithmetic::Operation;
using arithmetic::Type;

TEST(Guarantees, AreThoseOfTheDocumentedTable) {
  const auto table = documented_guarantees();
  const auto calls = guarantee_columns();
  ASSERT_EQ(table.size(), calls.size());
  for (const auto& [column, cells] : table) {
    ASSERT_TRUE(calls.contains(column)) << column;
    ASSERT_EQ(cells.size(), guarantee_rows.size()) << column;
    for (const auto& [row, is_kept] : cells) {
      std::vector<Call> all = calls.at(column);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].layout != LayoutKind::intervals) continue;
        all.push_back(all[i]);
        all.back().layout = LayoutKind::grid;  // a rule is worth as much as a list
      }
      for (Call call : all) {
        call.require = guarantee_rows.at(row);
        SCOPED_TRACE(column + ", " + row);
        EXPECT_EQ((kept(describe(call)) & guarantee_rows.at(row)) != 0, is_kept);
        if (is_kept) {
          EXPECT_NO_THROW(require_kept(call));
          continue;
        }
        try {
          require_kept(call);
          ADD_FAILURE() << "not refused";
        } catch (const Failure& failure) {
          EXPECT_EQ(failure.status(), Status::unsupported);
          EXPECT_NE(std::string(failure.what()).find("cannot give guarantee '" + row + "'"), std::string::npos)
              << failure.what();
        }
      }
    }
  }
}

/// What an error names serves the call, and keeps the guarantee.
TEST(Guarantees, AreKeptByTheMethodsThatErrorsName) {
  for (auto operation = Operation::sum; operation <= arithmetic::last_operation;
       operation = static_cast<Operation>(static_cast<std::uint32_t>(operation) + 1)) {
    Call call{.operation = operation, .method = Method::plain, .layout = LayoutKind::row_per_rank};
    call.require = guarantee::schedule;
    if (operation == Operation::user) {
      call.type = call.result_type = Type::bytes;
      call.user = {.apply = [](const void*, const void*, void*, std::size_t, void*) { return 0; }, .element_bytes = 8};
    }
    if (order_free(describe(call))) continue;
    std::string text;
    try {
      require_kept(call);
    } catch (const Failure& failure) {
      text = failure.what();
    }
    const std::string advice = text.substr(text.rfind("), ") + 3);
    SCOPED_TRACE(text);
    ASSERT_TRUE(advice.starts_with("use method "));
    for (const Method method : {Method::tree, Method::exact}) {
      call.method = method;
      const auto make = [&] {
        const auto description = describe(call);
        const auto op = operator_of(description, call.user);
        make_kind(description, op, 1);
      };
      if (advice.find(call::name_of(method)) == std::string::npos) {
        EXPECT_THROW(make(), Failure);
      } else {
        EXPECT_NO_THROW(make());
        EXPECT_NO_THROW(require_kept(call));
      }
    }
  }
}

/// What stands before a rank depends on how many ranks there are, and on what they hold.
TEST(Guarantees, OfScansLeaveOutRanksAndLayouts) {
  for (const Method method : {Method::tree, Method::exact, Method::binned}) {
    for (const LayoutKind layout : {LayoutKind::intervals, LayoutKind::rank_order}) {
      Call call{.method = method, .layout = layout};
      const Guarantees of_all_ranks = kept(describe(call));
      for (const Collective collective : {Collective::scan, Collective::exscan}) {
        call.collective = collective;
        EXPECT_EQ(kept(describe(call)), of_all_ranks & ~(guarantee::ranks | guarantee::layout));
      }
      call.require = guarantee::ranks;
      EXPECT_THROW(require_kept(call), Failure);
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
}  // namespace steadfold::test::guarantees_test
