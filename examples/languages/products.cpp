// mpicxx products.cpp -o products $(pkg-config --cflags --libs steadfold-openmpi-static) && mpirun -n 4 ./products
#include <cstdio>
#include <steadfold/bundle.hpp>
#include <steadfold/mpi.hpp>
#include <steadfold/plan.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    constexpr int total = 10'000;  // of which this rank has a run
    const int begin = total * rank / ranks, end = total * (rank + 1) / ranks;
    const auto n = static_cast<std::size_t>(end - begin);
    std::vector<double> d(n), x(n), r(n, 1.0), p = r, q(n);
    for (std::size_t i = 0; i < n; ++i) d[i] = 1 + (begin + static_cast<int>(i)) % 1000;

    // plan: the ranks agree on a plan once; a run sends the messages of one reduction and allocates nothing
    sf::Plan<double> dot(sf::dot, n, MPI_COMM_WORLD);  // {.method = sf::binned()} for less time

    // loop: conjugate gradients for a diagonal matrix, d x = 1
    double squared = dot.run(r, r);
    const double first = squared;
    int iterations = 0;
    for (; squared > 1e-20 * first; ++iterations) {
      for (std::size_t i = 0; i < n; ++i) q[i] = d[i] * p[i];
      const double alpha = squared / dot.run(p, q);
      for (std::size_t i = 0; i < n; ++i) x[i] += alpha * p[i];
      for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
      const double before = squared;
      squared = dot.run(r, r);
      for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + squared / before * p[i];
    }

    // bundle: a bundle sends the sums of both products in the same messages
    sf::Bundle bundle;
    const auto xx = bundle.sum_squares(x);
    const auto xd = bundle.dot(x, d);
    auto both = bundle.bind(MPI_COMM_WORLD);
    both.run();  // again whenever the vectors have new elements

    // start: the reduction goes on while the program multiplies
    both.start();
    for (std::size_t i = 0; i < n; ++i) q[i] = d[i] * p[i];  // changes neither x nor d
    both.test();                                             // moves the reduction on
    both.wait();

    // gram: dot products of one vector with several others, read once, in one message
    const std::vector<double> h = sf::dots(x, {d, x}, MPI_COMM_WORLD);

    // once: a product outside of loops needs no plan
    const double length = sf::norm2(x, MPI_COMM_WORLD);

    if (rank == 0) {
      std::printf("iterations %a\nsquared %a\n", static_cast<double>(iterations), squared);
      std::printf("bundle %a\nbundle2 %a\ngram %a\ngram2 %a\nonce %a\n", xx.value(), xd.value(), h[0], h[1], length);
    }
  }  // plans end before MPI does
  MPI_Finalize();
}
