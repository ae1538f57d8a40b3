// Every call of the table in docs/calls.md, once. The reference on the site quotes the paragraphs that begin with the
// names of calls; the others set up what they need. Prints "all calls are right" if all results are.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <steadfold/accumulator.hpp>
#include <steadfold/diagnosis.hpp>
#include <steadfold/memory.hpp>
#include <steadfold/mpi.hpp>
#include <steadfold/started.hpp>
#include <steadfold/team.hpp>
#include <thread>
#include <vector>

namespace {

const MPI_Comm comm = MPI_COMM_WORLD;
int rank = 0, ranks = 1;
std::vector<double> x, y;        // this rank's part of 1, 2, ..., 6 and of 6, 5, ..., 1
std::vector<std::uint8_t> even;  // a mask of x: which elements are even
std::vector<int> labels;         // 0 for the elements 1, 2, 3, and 1 for 4, 5, 6

void expect(double found, double expected) {
  if (found == expected) return;
  std::fprintf(stderr, "rank %d found %a (should be %a)\n", rank, found, expected);
  MPI_Abort(comm, 1);
}

void deal() {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 6 * rank / ranks; i < 6 * (rank + 1) / ranks; ++i) {
    x.push_back(i + 1);
    y.push_back(6 - i);
    even.push_back((i + 1) % 2 == 0);
    labels.push_back(i / 3);
  }
}

void one_vector() {
  // sum
  expect(sf::sum(x, comm), 21);
  expect(sf::sum(x, comm, {.method = sf::binned(), .threads = 2}), 21);

  // times
  expect(sf::times(x, comm), 720);

  // min
  expect(sf::min(x, comm), 1);

  // max
  expect(sf::max(x, comm), 6);

  // reduce
  const auto multiply = [](double left, double right) noexcept { return left * right; };
  expect(sf::reduce(x, multiply, comm), 720);

  // norm2
  expect(sf::norm2(x, comm), std::sqrt(91.0));

  // mean
  expect(sf::mean(x, comm), 3.5);

  // min_location
  const sf::Located<double> least = sf::min_location(x, comm);
  expect(least.value, 1);
  expect(double(least.index), 0);

  // max_location
  const sf::Located<double> greatest = sf::max_location(x, comm);
  expect(greatest.value, 6);
  expect(double(greatest.index), 5);

  // abs_sum
  expect(sf::abs_sum(x, comm), 21);

  // sum_squares
  expect(sf::sum_squares(x, comm), 91);

  // statistics
  const sf::Statistics found = sf::statistics(x, comm);
  expect(double(found.count), 6);
  expect(found.mean, 3.5);
  expect(found.sample_variance, 3.5);

  // norminf
  expect(sf::norminf(x, comm), 6);

  // diagnosis
  const sf::Diagnosis<double> trust = sf::diagnosis(x, comm);
  expect(trust.sum, 21);
  expect(trust.condition(), 1);
}

void two_vectors() {
  // dot
  expect(sf::dot(x, y, comm), 56);

  // dotc
  expect(sf::dotc(x, y, comm), 56);

  // weighted_mean
  expect(sf::weighted_mean(x, y, comm), 56.0 / 21);

  // covariance
  expect(sf::covariance(x, y, comm), -35.0 / 12);

  // sample_covariance
  expect(sf::sample_covariance(x, y, comm), -3.5);

  // correlation
  expect(sf::correlation(x, y, comm), -1);

  // masked_sum
  expect(sf::masked_sum(x, even, comm), 12);

  // dots
  const std::vector<double> products = sf::dots(x, {y, x}, comm);
  expect(products[0], 56);
  expect(products[1], 91);

  // dotcs
  expect(sf::dotcs(x, {y, x}, comm)[1], 91);
}

void arrays() {
  // sum_by
  const std::vector<double> groups = sf::sum_by(x, labels, 2, comm);
  expect(groups[0], 6);
  expect(groups[1], 15);

  // Array, Axes
  const double field[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const sf::Array<double> array(&field[0][0], {2, 3});
  const std::vector<double> of_rows = sf::sum(array, {.keep = {0}}, comm);  // of all ranks
  expect(of_rows[0], 6.0 * ranks);
  expect(of_rows[1], 15.0 * ranks);

  // ArrayPlan
  sf::ArrayPlan plan(sf::plus, array, {.keep = {1}}, comm);
  const sf::View<const double> of_columns = plan.run();
  expect(of_columns[2], 9.0 * ranks);
}

void vectors() {
  // allreduce
  std::vector<double> all = {1.0, double(rank)};
  sf::allreduce(all, sf::plus, comm);
  expect(all[0], ranks);

  // reduce_to
  std::vector<double> of_root = {1.0, double(rank)};
  sf::reduce_to(0, of_root, sf::max, comm);
  if (rank == 0) expect(of_root[1], ranks - 1);

  // scan
  std::vector<double> so_far = {1.0};
  sf::scan(so_far, sf::plus, comm);
  expect(so_far[0], rank + 1);

  // exscan
  std::vector<double> before = {1.0};
  sf::exscan(before, sf::plus, comm);
  if (rank > 0) expect(before[0], rank);

  // reduce_scatter
  const std::vector<std::uint64_t> blocks(std::size_t(ranks), 2);  // two elements for every rank
  const std::vector<double> values(2 * std::size_t(ranks), 1.0);
  std::vector<double> mine(2);
  sf::reduce_scatter(values, blocks, mine, sf::plus, comm);
  expect(mine[1], ranks);

  // reduce_scatter_block
  sf::reduce_scatter_block(values, mine, sf::plus, comm);
  expect(mine[0], ranks);

  // VectorPlan
  auto plan = sf::Plan<double>::of_vectors(sf::plus, 2, comm);
  std::vector<double> again = {1.0, 2.0};
  plan.run(again);
  expect(again[1], 2 * ranks);
}

void often_and_later() {
  // Bundle
  sf::Bundle bundle;
  const auto total = bundle.sum(x);
  const auto product = bundle.dot(x, y);
  auto together = bundle.bind(comm);
  together.run();  // one message for both, as often as needed
  expect(total.value(), 21);
  expect(product.value(), 56);

  // Plan
  sf::Plan<double> plan(sf::dot, x.size(), comm);
  expect(plan.run(x, y), 56);

  // start
  auto pending = sf::start(sf::plus, x, comm);
  while (!pending.test()) continue;  // or compute meanwhile
  expect(pending.get(), 21);

  // start_allreduce
  std::vector<double> all = {1.0};
  auto started = sf::start_allreduce(all, sf::plus, comm);
  started.wait();
  expect(all[0], ranks);

  // barrier
  sf::barrier(comm);
}

void kept_sums() {
  // Accumulator
  sf::Accumulator<double> budget;
  budget += x;
  budget += 0.5;
  budget -= 0.5;                                        // as if it had never been added
  const std::vector<std::byte> bytes = budget.bytes();  // for a file
  auto later = sf::Accumulator<double>::load(bytes);

  // merge_ranks
  sf::merge_ranks(later, comm);
  expect(later.sum(), 21);
  expect(later.mean(), 3.5);

  // MpiAccumulators
  const sf::MpiAccumulators handles(budget.get());
  auto packed = budget.packed();
  MPI_Allreduce(MPI_IN_PLACE, packed.data(), 1, handles.type(), handles.op(), comm);
  budget.unpack(packed);
  expect(budget.sum(), 21);
}

void ranks_and_memory() {
  // Layout
  const auto layout = sf::Layout::contiguous(x.size(), comm);
  expect(sf::sum(x, comm, {.method = sf::tree(), .layout = layout}), 21);

  // Options, Method
  const sf::Options options{.method = sf::tree(), .layout = layout, .require = sf::ranks | sf::layout};
  expect(sf::sum(x, comm, options), 21);

  // Team
  sf::Team team(2);
  std::thread other([&] { expect(sf::sum(std::vector<double>{1, 2}, team[1]), 6); });
  expect(sf::sum(std::vector<double>{3}, team[0]), 6);
  other.join();

  // group_of
  const sf::Group group = sf::group_of(comm);
  expect(group.size(), ranks);
  expect(sf::sum(x, group), 21);

  // allocate, Allocator
  sf::Memory<double> buffer = sf::allocate<double>(1000);  // all zero
  buffer[0] = 1;
  std::vector<double, sf::Allocator<double>> likewise(1000);
  sf::allreduce(buffer, sf::plus, comm);  // nothing is copied between the ranks of a node
  expect(buffer[0], ranks);

  // Error
  try {
    sf::sum(x, comm, {.method = sf::plain(), .require = sf::ranks});
    expect(0, 1);
  } catch (const sf::Error& error) {
    expect(error.status(), SF_UNSUPPORTED);  // error.what() says why, and what to do
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  deal();
  one_vector();
  two_vectors();
  arrays();
  vectors();
  often_and_later();
  kept_sums();
  ranks_and_memory();
  if (rank == 0) std::puts("all calls are right");
  MPI_Finalize();
}
