// The C++ API over MPI compiled as C++17: the bits of one process that has all elements, on any number of ranks.
#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "steadfold/accumulator.hpp"
#include "steadfold/memory.hpp"
#include "steadfold/mpi.hpp"
#include "steadfold/started.hpp"
#include "steadfold/team.hpp"
#include "support/hostile.hpp"

#if __cplusplus >= 202002L
#error "this file is compiled as C++17"
#endif

namespace steadfold::tests::cxx17_test {
namespace {

using test::bits;
using test::hostile;

struct Matrix {
  double a, b, c, d;
};
Matrix product(const Matrix& l, const Matrix& r) noexcept {
  return {l.a * r.a + l.b * r.c, l.a * r.b + l.b * r.d, l.c * r.a + l.d * r.c, l.c * r.b + l.d * r.d};
}
template <class T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

class Cxx17Test : public testing::Test {
 protected:
  /// Elements of `all` in rank order, more on each rank than on the one before.
  template <class T>
  std::vector<T> part_of(const std::vector<T>& all) const {
    const auto cut = [&](int r) { return static_cast<std::ptrdiff_t>(all.size()) * r * r / (size * size); };
    return {all.begin() + cut(rank), all.begin() + cut(rank + 1)};
  }
  template <class Call>
  std::string text_of(const Call& call) const {
    try {
      call();
      return "";
    } catch (const sf::Error& error) {
      return error.what();
    }
  }

  template <class Call>
  sf_status status_of(const Call& call) const {
    try {
      call();
      return SF_OK;
    } catch (const sf::Error& error) {
      return error.status();
    }
  }

  static int number_by(int (*function)(MPI_Comm, int*)) {
    int number = 0;
    function(MPI_COMM_WORLD, &number);
    return number;
  }

  MPI_Comm comm = MPI_COMM_WORLD;
  const int rank = number_by(MPI_Comm_rank);
  const int size = number_by(MPI_Comm_size);
  const std::vector<double> x = hostile(2000, 1), y = hostile(2000, 2);
  const std::vector<double> my_x = part_of(x), my_y = part_of(y);
};

TEST_F(Cxx17Test, PartsAreAll) {
  std::uint64_t rows = my_x.size();
  sf::allreduce(sf::view(&rows, 1), sf::plus, comm);
  EXPECT_EQ(rows, x.size());
}

TEST_F(Cxx17Test, HasTheBitsOfOneProcess) {
  EXPECT_EQ(bits(sf::sum(my_x, comm)), bits(sf::sum(x, sf::exact())));
  EXPECT_EQ(bits(sf::sum(my_x, comm, sf::binned())), bits(sf::sum(x, sf::binned())));
  EXPECT_EQ(bits(sf::dot(my_x, my_y, comm)), bits(sf::dot(x, y)));
  EXPECT_EQ(bits(sf::norm2(my_x, comm)), bits(sf::norm2(x)));
  EXPECT_EQ(bits(sf::mean(my_x, comm)), bits(sf::mean(x)));
  EXPECT_EQ(bits(sf::max(my_x, comm)), bits(sf::max(x)));
  sf::Options options = sf::tree();
  options.layout = sf::Layout::contiguous(my_x.size(), comm);
  options.schedule = "binomial";
  options.threads = 2;
  EXPECT_EQ(bits(sf::sum(my_x, comm, options)), bits(sf::sum(x, sf::tree())));
  options.root = size - 1;
  EXPECT_EQ(bits(sf::sum(my_x, comm, options)),
            rank == size - 1 ? bits(sf::sum(x, sf::tree())) : bits(std::numeric_limits<double>::quiet_NaN()));
  std::vector<std::complex<float>> z;
  for (std::size_t i = 0; i < x.size(); ++i) z.emplace_back(static_cast<float>(x[i]), static_cast<float>(y[i]));
  const auto my_z = part_of(z);
  EXPECT_TRUE(same(sf::dotc(my_z, my_z, comm), sf::dotc(z, z)));
}

TEST_F(Cxx17Test, OperatorsAndPlans) {
  std::vector<Matrix> all;
  for (std::size_t i = 0; i < 50; ++i)
    all.push_back({x[4 * i] * 1e-4, x[4 * i + 1] * 1e-4, x[4 * i + 2] * 1e-4, x[4 * i + 3] * 1e-4});
  const auto mine = part_of(all);
  const Matrix wanted = sf::reduce(all, product);
  EXPECT_TRUE(same(sf::reduce(mine, product, comm), wanted));
  sf::Plan<Matrix> products(sf::named("product", product), mine.size(), comm);
  sf::Plan<double> dots(sf::dot, my_x.size(), comm);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(same(products.run(mine), wanted));
    double found = 0;
    dots.start(my_x, my_y, found);
    dots.wait();
    EXPECT_EQ(bits(found), bits(sf::dot(x, y)));
  }
  std::vector<double> row(3, 0.1 * rank), result(3);
  auto vectors = sf::Plan<double>::of_vectors(sf::plus, 3, comm);
  vectors.run(row, result);
  sf::allreduce(row, sf::plus, comm);
  EXPECT_EQ(bits(row), bits(result));
}

TEST_F(Cxx17Test, AccumulatorsInMpisOwnReduction) {
  sf::Accumulator<double> all, mine, by_mpi;
  all += x;
  mine += sf::View<const double>(my_x);
  std::vector<std::byte> packed = mine.packed();
  const sf::MpiAccumulators handles(mine.get());
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, handles.type(), handles.op(), comm);
  by_mpi.unpack(packed);
  EXPECT_EQ(by_mpi.bytes(), all.bytes());
  sf::merge_ranks(mine, comm);
  EXPECT_EQ(mine.bytes(), all.bytes());
  EXPECT_EQ(bits(mine.sum()), bits(sf::sum(x, sf::exact())));
}

TEST_F(Cxx17Test, AccumulatorsThatCannotBeMerged) {
  const bool is_last = rank == size - 1;
  sf::Accumulator<double> columns(is_last ? 9 : 8);
  const std::vector<std::byte> before = columns.bytes();
  EXPECT_EQ(status_of([&] { sf::merge_ranks(columns, comm); }), SF_MISMATCH);
  EXPECT_EQ(columns.bytes(), before);

  sf::Accumulator<double> left, elsewhere;
  if (is_last) elsewhere = std::move(left);
  EXPECT_EQ(status_of([&] { sf::merge_ranks(left, comm); }), SF_INVALID_ARGUMENT);
  if (is_last) {
    const auto expect_none = [this](const auto& call) {
      const std::string text = text_of(call);
      EXPECT_NE(text.find("no accumulator (the pointer is null)"), std::string::npos) << text;
      EXPECT_EQ(status_of(call), SF_INVALID_ARGUMENT);
    };
    expect_none([&] { left += 1.0; });
    expect_none([&] { left += elsewhere; });
    expect_none([&] { elsewhere += left; });
    expect_none([&] { left.sum(); });
    left = elsewhere;
  }
  left += 1.0;
  sf::merge_ranks(left, comm);
  EXPECT_EQ(left.sum(), 1.0 * size) << "the next one works";
}

TEST_F(Cxx17Test, CallsOfACommunicator) {  // all others are those of its group: every_call_test
  sf::Team team(comm, 1);
  EXPECT_EQ(bits(sf::sum(my_x, team[0], sf::tree())), bits(sf::sum(x, sf::tree())));
  EXPECT_EQ(bits(sf::start(sf::plus, my_x, comm).get()), bits(sf::sum(x, sf::exact())));
  EXPECT_EQ(bits(sf::dots(my_x, {my_y}, comm)), bits(sf::dots(x, {y})));
  sf::Bundle bundle;
  const auto dot = bundle.dot(my_x, my_y);
  bundle.bind(comm).run();
  EXPECT_EQ(bits(dot.value()), bits(sf::dot(x, y)));
  sf::barrier(comm);
}

TEST_F(Cxx17Test, ErrorsReachEveryRank) {
  const std::vector<double> wrong(rank == 1 ? 5 : 4), right(4);
  const std::string dot = text_of([&] { sf::dot(right, wrong, comm); });
  EXPECT_NE(dot.find("differ in size (4 and 5 elements)"), std::string::npos) << dot;
  sf::Plan<double> plan(sf::plus, 4, comm);
  const std::string run = text_of([&] { plan.run(wrong); });
  EXPECT_NE(run, "");
  EXPECT_EQ(run.find("bound for 4") != std::string::npos, rank == 1) << run;
  EXPECT_EQ(text_of([&] { plan.run(right); }), "");
  const auto throws = [this](double a, double b) -> double {
    if (rank == 2) throw rank;
    return a + b;
  };
  if (rank == 2)
    EXPECT_THROW(sf::reduce(x, throws, comm), int);
  else
    EXPECT_THROW(sf::reduce(x, throws, comm), sf::Error);
}

}  // namespace
}  // namespace steadfold::tests::cxx17_test
