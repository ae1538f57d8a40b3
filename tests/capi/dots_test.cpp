// Dot products of one vector with several others over the workers of a team: the bits of one process, whatever the form
// of the call; what is wrong on one rank is an error on all.
#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "capi/write_under_way.hpp"
#include "steadfold/bundle.hpp"
#include "steadfold/started.hpp"
#include "support/hostile.hpp"
#include "support/on_team.hpp"
#include "support/parts.hpp"

namespace steadfold::test::team_dots_test {
namespace {

/// Vectors of one job, and what a rank has of each.
struct Basis {
  explicit Basis(std::size_t count, std::size_t n) {
    for (std::size_t j = 0; j < count; ++j) all.push_back(hostile(n, 10 + j));
  }
  std::vector<std::span<const double>> of(const Team::Member& member) const {
    std::vector<std::span<const double>> mine;
    for (const auto& each : all) mine.push_back(part_of<double>(each, member.worker(), member.size()));
    return mine;
  }
  std::vector<std::vector<double>> all;
};

TEST(TeamDots, HaveTheBitsOfOneProcess) {
  for (const std::size_t count : {1U, 3U, 70U}) {  // the last ones do not fit in a handshake
    const Basis basis(count, 3000);
    const auto& x = basis.all.front();
    for (const Method& method : {exact(), binned({.bins = 2, .sweep = SF_DOUBLE_SWEEP})}) {
      std::vector<double> each;
      for (const auto& y : basis.all) each.push_back(dot(x, y, method));
      const auto wanted = bits(each);
      for (const int workers : {1, 3, 4, 5, 7, 8}) {
        if (count == 70 && workers != 7) continue;
        on_team(workers, [&](const Team::Member& member) {
          const auto mine = basis.of(member);
          const Options options{.method = method};
          for (int again = 0; again < 2; ++again)
            EXPECT_EQ(bits(dots(mine.front(), mine, member, options)), wanted) << workers << ", " << count;
          Pending<std::vector<double>> started = start_dots(mine.front(), mine, member, options);
          Pending<double> beside = start(norm2, mine.front(), member);
          EXPECT_EQ(bits(started.get()), wanted) << workers << ", " << count;
          beside.wait();
          Bundle bundle;
          const auto found = bundle.dots(mine.front(), mine, {.method = method});
          const auto norm = bundle.norm2(mine.front());
          BundlePlan plan = bundle.bind(member);
          for (int again = 0; again < 2; ++again) plan.run();
          EXPECT_EQ(bits(found.value()), wanted) << workers << ", " << count;
          EXPECT_EQ(bits(norm.value()), bits(norm2(x)));
        });
      }
    }
  }
}

TEST(TeamDots, OfComplexNumbersConjugateTheOthers) {
  using Number = std::complex<double>;
  std::vector<std::vector<Number>> all(3);
  for (std::size_t j = 0; j < all.size(); ++j) {
    const auto real = hostile(500, 20 + j), imaginary = hostile(500, 30 + j);
    for (std::size_t i = 0; i < real.size(); ++i) all[j].emplace_back(real[i], imaginary[i]);
  }
  on_team(5, [&](const Team::Member& member) {
    std::vector<std::span<const Number>> mine;
    for (const auto& each : all) mine.push_back(part_of<Number>(each, member.worker(), member.size()));
    const auto found = dotcs(mine[0], mine, member);
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Number wanted = dotc(all[j], all[0]);
      EXPECT_EQ(bits(found[j].real()), bits(wanted.real())) << j;
      EXPECT_EQ(bits(found[j].imag()), bits(wanted.imag())) << j;
    }
  });
}

/// A run of a plan may bring another list; lists under way are kept apart from results.
TEST(TeamDots, PlansTakeOtherListsInTheirRuns) {
  const Basis basis(3, 1000);
  const auto& x = basis.all.front();
  on_team(4, [&](const Team::Member& member) {
    const auto mine = basis.of(member);
    const std::vector<const void*> list = {mine[0].data(), mine[1].data()};
    const std::vector<const void*> others = {mine[2].data(), mine[0].data()};
    sf_arrays arrays = sf_arrays_default();
    arrays.x = Array<double>(nullptr, {mine[0].size()}).c_array();
    arrays.factors = Array<double>(mine[0].data(), {mine[0].size()}).c_array();
    arrays.xs = list.data();
    arrays.x_count = 2;
    sf_call call = sf_call_default();
    call.operation = SF_DOT;
    call.arrays = &arrays;
    sf_plan* plan = nullptr;
    std::vector<double> results(2);
    ASSERT_EQ(sf_group_bind(&call, 1, member.group().handle(), &plan), SF_OK) << sf_error_text();
    ASSERT_EQ(sf_plan_run(plan, nullptr, nullptr, results.data()), SF_OK) << sf_error_text();
    EXPECT_EQ(bits(results), bits(std::vector{dot(x, x), dot(x, basis.all[1])}));
    ASSERT_EQ(sf_plan_run(plan, others.data(), nullptr, results.data()), SF_OK) << sf_error_text();
    EXPECT_EQ(bits(results), bits(std::vector{dot(x, basis.all[2]), dot(x, x)}));
    std::vector<const void*> broken = others;
    if (member.worker() == 1) broken[1] = nullptr;
    EXPECT_EQ(sf_plan_run(plan, broken.data(), nullptr, results.data()), SF_INVALID_ARGUMENT);
    sf_plan_free(plan);
  });
}

/// The results of one call are among the vectors of another one, where the list's own bounds say nothing.
TEST(TeamDots, DoNotReadWhatACallUnderWayWrites) {
  while_part_1_is_written([](const Team::Member& member, const Part& part) {
    const auto apart = [&] { return start_dots(part(0), {part(2), part(0)}, member).get(); };
    EXPECT_EQ(apart(), std::vector<double>(2, 30.0));
    EXPECT_THROW(start_dots(part(0), {part(2), part(1)}, member).get(), Error);
  });
}

TEST(TeamDots, FailOnAllRanksIfTheyDoOnOne) {
  on_team(4, [](const Team::Member& member) {
    const std::vector<double> x(5, 1.0);
    const std::vector<double> other(member.worker() == 2 ? 4 : 5, 1.0);
    EXPECT_THROW(dots(x, {x, other}, member), Error);
    std::vector<std::span<const double>> some(member.worker() == 1 ? 2 : 3, x);
    try {
      dots(x, some, member);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), SF_MISMATCH) << error.what();
      EXPECT_NE(std::string(error.what()).find("columns"), std::string::npos) << error.what();
    }
    EXPECT_EQ(dots(x, {x, x}, member), std::vector<double>(2, 20.0));
  });
}

}  // namespace
}  // namespace steadfold::test::team_dots_test
