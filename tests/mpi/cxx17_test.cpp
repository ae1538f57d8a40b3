// The API for C++17 over MPI, compiled as C++17: the bits of one process that has all elements, on any number of ranks.
#include "steadfold/cxx17_mpi.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

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
    } catch (const sf17::Error& error) {
      return error.what();
    }
  }

  template <class Call>
  sf_status status_of(const Call& call) const {
    try {
      call();
      return SF_OK;
    } catch (const sf17::Error& error) {
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
  sf17::allreduce(sf17::view(&rows, 1), sf17::plus, comm);
  EXPECT_EQ(rows, x.size());
}

TEST_F(Cxx17Test, HasTheBitsOfOneProcess) {
  EXPECT_EQ(bits(sf17::sum(my_x, comm)), bits(sf17::sum(x, sf17::exact())));
  EXPECT_EQ(bits(sf17::sum(my_x, comm, sf17::binned())), bits(sf17::sum(x, sf17::binned())));
  EXPECT_EQ(bits(sf17::dot(my_x, my_y, comm)), bits(sf17::dot(x, y)));
  EXPECT_EQ(bits(sf17::norm2(my_x, comm)), bits(sf17::norm2(x)));
  EXPECT_EQ(bits(sf17::mean(my_x, comm)), bits(sf17::mean(x)));
  EXPECT_EQ(bits(sf17::max(my_x, comm)), bits(sf17::max(x)));
  sf17::Options options = sf17::tree();
  options.layout = sf17::Layout::contiguous(my_x.size(), comm);
  options.schedule = "binomial";
  options.threads = 2;
  EXPECT_EQ(bits(sf17::sum(my_x, comm, options)), bits(sf17::sum(x, sf17::tree())));
  options.root = size - 1;
  EXPECT_EQ(bits(sf17::sum(my_x, comm, options)),
            rank == size - 1 ? bits(sf17::sum(x, sf17::tree())) : bits(std::numeric_limits<double>::quiet_NaN()));
  std::vector<std::complex<float>> z;
  for (std::size_t i = 0; i < x.size(); ++i) z.emplace_back(static_cast<float>(x[i]), static_cast<float>(y[i]));
  const auto my_z = part_of(z);
  EXPECT_TRUE(same(sf17::dotc(my_z, my_z, comm), sf17::dotc(z, z)));
}

TEST_F(Cxx17Test, OperatorsAndPlans) {
  std::vector<Matrix> all;
  for (std::size_t i = 0; i < 50; ++i)
    all.push_back({x[4 * i] * 1e-4, x[4 * i + 1] * 1e-4, x[4 * i + 2] * 1e-4, x[4 * i + 3] * 1e-4});
  const auto mine = part_of(all);
  const Matrix wanted = sf17::reduce(all, product);
  EXPECT_TRUE(same(sf17::reduce(mine, product, comm), wanted));
  sf17::Plan<Matrix> products(sf17::named("product", product), mine.size(), comm);
  sf17::Plan<double> dots(sf17::dot, my_x.size(), comm);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(same(products.run(mine), wanted));
    double found = 0;
    dots.start(my_x, my_y, found);
    dots.wait();
    EXPECT_EQ(bits(found), bits(sf17::dot(x, y)));
  }
  std::vector<double> row(3, 0.1 * rank), result(3);
  auto vectors = sf17::Plan<double>::of_vectors(sf17::plus, 3, comm);
  vectors.run(row, result);
  sf17::allreduce(row, sf17::plus, comm);
  EXPECT_EQ(bits(row), bits(result));
}

TEST_F(Cxx17Test, AccumulatorsInMpisOwnReduction) {
  sf17::Accumulator<double> all, mine, by_mpi;
  all += x;
  mine += sf17::View<const double>(my_x);
  std::vector<std::byte> packed = mine.packed();
  const sf17::MpiAccumulators handles(mine.get());
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, handles.type(), handles.op(), comm);
  by_mpi.unpack(packed);
  EXPECT_EQ(by_mpi.bytes(), all.bytes());
  sf17::merge_ranks(mine, comm);
  EXPECT_EQ(mine.bytes(), all.bytes());
  EXPECT_EQ(bits(mine.sum()), bits(sf17::sum(x, sf17::exact())));
}

TEST_F(Cxx17Test, AccumulatorsThatCannotBeMerged) {
  const bool is_last = rank == size - 1;
  sf17::Accumulator<double> columns(is_last ? 9 : 8);
  const std::vector<std::byte> before = columns.bytes();
  EXPECT_EQ(status_of([&] { sf17::merge_ranks(columns, comm); }), SF_MISMATCH);
  EXPECT_EQ(columns.bytes(), before);

  sf17::Accumulator<double> left, elsewhere;
  if (is_last) elsewhere = std::move(left);
  EXPECT_EQ(status_of([&] { sf17::merge_ranks(left, comm); }), SF_INVALID_ARGUMENT);
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
  sf17::merge_ranks(left, comm);
  EXPECT_EQ(left.sum(), 1.0 * size) << "the next one works";
}

TEST_F(Cxx17Test, CallsOfACommunicator) {  // all others are those of its group: every_call_test
  sf17::Team team(comm, 1);
  EXPECT_EQ(bits(sf17::sum(my_x, team[0], sf17::tree())), bits(sf17::sum(x, sf17::tree())));
  EXPECT_EQ(bits(sf17::start(sf17::plus, my_x, comm).get()), bits(sf17::sum(x, sf17::exact())));
  EXPECT_EQ(bits(sf17::dots(my_x, {my_y}, comm)), bits(sf17::dots(x, {y})));
  sf17::Bundle bundle;
  const auto dot = bundle.dot(my_x, my_y);
  bundle.bind(comm).run();
  EXPECT_EQ(bits(dot.value()), bits(sf17::dot(x, y)));
  sf17::barrier(comm);
}

TEST_F(Cxx17Test, ErrorsReachEveryRank) {
  const std::vector<double> wrong(rank == 1 ? 5 : 4), right(4);
  const std::string dot = text_of([&] { sf17::dot(right, wrong, comm); });
  EXPECT_NE(dot, "");
  EXPECT_EQ(dot.find("differ in size (4 and 5 elements)") != std::string::npos, rank == 1) << dot;
  sf17::Plan<double> plan(sf17::plus, 4, comm);
  const std::string run = text_of([&] { plan.run(wrong); });
  EXPECT_NE(run, "");
  EXPECT_EQ(run.find("bound for 4") != std::string::npos, rank == 1) << run;
  EXPECT_EQ(text_of([&] { plan.run(right); }), "");
  const auto throws = [this](double a, double b) -> double {
    if (rank == 2) throw rank;
    return a + b;
  };
  if (rank == 2)
    EXPECT_THROW(sf17::reduce(x, throws, comm), int);
  else
    EXPECT_THROW(sf17::reduce(x, throws, comm), sf17::Error);
}

}  // namespace
}  // namespace steadfold::tests::cxx17_test
