// The table of methods: what an entry says is what its kinds of partials do, and what errors name.
#include "call/methods.hpp"

#include <gtest/gtest.h>

#include <set>

#include "call/description.hpp"
#include "call/kinds.hpp"
#include "call/validation.hpp"
#include "schedule/registry.hpp"

namespace steadfold::test::methods_test {
namespace {

using arithmetic::Operation;
using arithmetic::Sweep;
using call::Call;
using call::Description;
using call::Method;
using call::MethodProperties;

std::unique_ptr<arithmetic::PartialKind> kind_of(const Call& call) {
  const Description description = describe(call);
  return make_kind(description, operator_of(description, call.user), call.columns);
}

/// Whether a text has the name as a word of its own.
bool names(const std::string& text, std::string_view name) {
  const std::size_t at = text.rfind(name);
  return at != std::string::npos && !std::isalpha(static_cast<unsigned char>((text + " ")[at + name.size()]));
}

TEST(Methods, AreFoundByNumberAndName) {
  std::set<std::string_view> names;
  for (const MethodProperties& properties : call::methods()) {
    EXPECT_EQ(&call::properties_of(properties.method), &properties);
    EXPECT_EQ(call::find_method(properties.merging.method), &properties);
    EXPECT_EQ(call::name_of(properties.method), properties.merging.method);
    EXPECT_TRUE(names.insert(properties.merging.method).second);
  }
  EXPECT_EQ(call::find_method("automatic"), nullptr);
  EXPECT_EQ(call::find_method("kahan"), nullptr);
  EXPECT_EQ(call::name_of(Method::automatic), "automatic");
}

TEST(Methods, OfferWordsWhereTheirRowsSaySo) {
  for (const MethodProperties& properties : call::methods()) {
    for (const Operation operation : {Operation::sum, Operation::abs_sum, Operation::masked_sum}) {
      if (operation == Operation::masked_sum && properties.needs_indices) continue;
      bool ever = false;
      for (const Sweep sweep : {Sweep::single_sweep, Sweep::double_sweep}) {
        const Call call{
            .operation = operation, .method = properties.method, .columns = 3, .parameters = {.sweep = sweep}};
        const bool offers = kind_of(call)->added_words() != nullptr;
        EXPECT_EQ(offers, merging_of(properties, sweep).offers_words) << properties.merging.method;
        EXPECT_EQ(offers, merging_of(describe(call)).offers_words) << properties.merging.method;
        ever = ever || offers;
      }
      EXPECT_EQ(ever, properties.merging.offers_words) << properties.merging.method;
    }
  }
}

/// Whether partials of five rows are these rows.
bool keeps_five(const Call& call, const call::MergedRows& merged) {
  const Description description = describe(call);
  const auto kind = make_kind(description, operator_of(description, call.user), call.columns, merged);
  return kind->row_count(order::IntervalSet({0, 5})) == 5 && !kind->has_fixed_size();
}

TEST(Methods, KeepFewWideRowsThatAreSummedUp) {
  using schedule::Collective;
  for (const Method method : {Method::exact, Method::binned}) {
    const Call wide{.method = method, .columns = 9};
    for (const Count rows : {Count{2}, Count{8}, Count{16}}) EXPECT_TRUE(keeps_five(wide, {.rows = rows, .ranks = 4}));
    EXPECT_FALSE(keeps_five(wide, {}));
    EXPECT_FALSE(keeps_five(wide, {.rows = 1, .ranks = 4}));
    EXPECT_FALSE(keeps_five(wide, {.rows = 17, .ranks = 16}));
    EXPECT_FALSE(keeps_five(wide, {.rows = 9, .ranks = 2}));
    const auto differs = [&](const auto& change) {
      Call call = wide;
      change(call);
      return !keeps_five(call, {.rows = 5, .ranks = 5});
    };
    EXPECT_TRUE(differs([](Call& call) { call.columns = 8; }));
    EXPECT_TRUE(differs([](Call& call) { call.operation = Operation::mean; }));
    EXPECT_TRUE(differs([](Call& call) { call.operation = Operation::masked_sum; }));
    EXPECT_TRUE(differs([](Call& call) { call.result_type = arithmetic::Type::f32; }));
    EXPECT_TRUE(differs([](Call& call) { call.type = arithmetic::Type::bf16; }));
    EXPECT_TRUE(differs([](Call& call) { call.collective = Collective::scan; }));
    EXPECT_FALSE(differs([](Call& call) { call.collective = Collective::reduce_scatter; }));
    if (method == Method::binned) {
      EXPECT_TRUE(differs([](Call& call) { call.parameters.sweep = Sweep::double_sweep; }));
    }
  }
  EXPECT_FALSE(keeps_five({.method = Method::plain, .columns = 9}, {.rows = 5, .ranks = 5}));
}

TEST(Methods, ServeTheOperationsWhoseRowsNameThem) {
  for (std::uint32_t number = 0; number <= static_cast<std::uint32_t>(arithmetic::last_operation); ++number) {
    const auto operation = static_cast<Operation>(number);
    if (operation == Operation::user) continue;
    for (const MethodProperties& properties : call::methods()) {
      SCOPED_TRACE(std::string(name_of(operation)) + " by " + std::string(properties.merging.method));
      const Call call{.operation = operation, .method = properties.method};
      if (properties_of(operation).is_served_by(properties.method))
        EXPECT_NE(kind_of(call), nullptr);
      else
        EXPECT_THROW(kind_of(call), call::Failure);
    }
  }
}

TEST(Methods, HaveLanesWhereTheirRowsSaySo) {
  for (const MethodProperties& properties : call::methods()) {
    const Call call{.method = properties.method, .parameters = {.lanes = 2}};
    if (properties.method == Method::tree)
      EXPECT_NO_THROW(call::validate(call, 1));
    else
      EXPECT_THROW(call::validate(call, 1), call::Failure) << properties.merging.method;
  }
}

TEST(Methods, HaveBinsAndRoundOnceWhereTheirRowsSaySo) {
  for (const MethodProperties& properties : call::methods()) {
    const Call call{.method = properties.method, .parameters = {.bins = 2, .sweep = arithmetic::Sweep::double_sweep}};
    EXPECT_EQ(describe(call).parameters.bins == 2, properties.has_sweep) << properties.merging.method;
    EXPECT_EQ(describe(call) == describe(Call{.method = properties.method}), !properties.has_sweep)
        << properties.merging.method;
    const Call mean{.operation = Operation::mean, .method = properties.method};
    if (properties.rounds_once || properties.method == Method::tree)
      EXPECT_NE(kind_of(mean), nullptr);
    else
      EXPECT_THROW(kind_of(mean), call::Failure) << properties.merging.method;
  }
}

// Errors of schedules name methods for people; what is served follows from the properties alone.
TEST(Methods, AreNamedByTheErrorsThatSuggestThem) {
  using schedule::Collective;
  using schedule::OperatorKind;
  constexpr schedule::Merging neither{.method = "neither", .is_associative = false};
  schedule::Algorithm unequal = *schedule::find("flat");
  unequal.same_on_all_ranks = schedule::SameOnAllRanks::no;
  const auto words = refusal(*schedule::find("native"), Collective::allreduce, 0, neither, OperatorKind::commutative);
  const auto order = refusal(unequal, Collective::allreduce, 0, neither, OperatorKind::commutative);
  for (const MethodProperties& properties : call::methods()) {
    EXPECT_EQ(names(words.value(), properties.merging.method), properties.merging.offers_words) << *words;
    EXPECT_LE(names(order.value(), properties.merging.method), properties.merging.is_associative) << *order;
  }
}

}  // namespace
}  // namespace steadfold::test::methods_test
