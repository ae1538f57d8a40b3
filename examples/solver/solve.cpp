// Conjugate gradients; see solve.hpp.
#include "solve.hpp"

#include <algorithm>
#include <cmath>

#include "parts.hpp"

namespace solver {
namespace {

/// The common part of both forms: the solution, the residual, and the stopping test.
struct Iteration {
  Iteration(const Stencil& stencil, const Field& source, const Goal& given, const Dots& kind)
      : matrix(stencil), goal(given), dots(kind), u(stencil.zeros()), r(source) {}

  /// Looks at (r, r); false if this is the end.
  bool goes_on(double squared) {
    residuals.add(squared);
    if (iterations == 0) bound = goal.tolerance * goal.tolerance * squared;
    converged = squared <= bound;
    return !converged && std::isfinite(squared) && iterations < goal.most_iterations;
  }
  /// y = x + factor * y
  void scale_and_add(double factor, const Field& of, Field& to) const {
    in_parts(dots.threads, to.own().size(), [&](unsigned, std::uint64_t begin, std::uint64_t end) {
      const double* x = of.own().data();
      double* __restrict y = to.own().data();
      for (std::uint64_t i = begin; i < end; ++i) y[i] = x[i] + factor * y[i];
    });
  }

  const Stencil& matrix;
  const Goal& goal;
  const Dots& dots;
  Field u, r;
  std::uint64_t iterations = 0;
  bool converged = false;
  double bound = 0;
  example::Fingerprint residuals;
};

/// u += factor * p, r -= factor * q
void advance(Iteration& it, double factor, const Field& along, const Field& image) {
  in_parts(it.dots.threads, it.u.own().size(), [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    const double *p = along.own().data(), *q = image.own().data();
    double* __restrict u = it.u.own().data(), * __restrict r = it.r.own().data();
    for (std::uint64_t i = begin; i < end; ++i) {
      u[i] += factor * p[i];
      r[i] -= factor * q[i];
    }
  });
}

void run_cg(Iteration& it) {
  Field p = it.r, q = it.matrix.zeros();
  const auto curvature = it.dots.bind({{p.own(), q.own()}});
  const auto norm = it.dots.bind({{it.r.own(), it.r.own()}});
  double squared = norm->run()[0];
  while (it.goes_on(squared)) {
    it.matrix.apply(p, q);
    const double pq = curvature->run()[0];
    if (!(pq > 0)) return;  // rounding has taken all directions away
    advance(it, squared / pq, p, q);
    const double before = squared;
    squared = norm->run()[0];
    it.scale_and_add(squared / before, it.r, p);
    ++it.iterations;
  }
}

/// Vectors of the pipelined form: w = A r, q = A w, and p, s = A p, z = A s, which recurrences keep up.
struct Pipeline {
  explicit Pipeline(const Stencil& matrix)
      : p(matrix.zeros()), q(matrix.zeros()), s(matrix.zeros()), w(matrix.zeros()), z(matrix.zeros()) {}
  Field p, q, s, w, z;
};

void advance(Iteration& it, Pipeline& pipeline, double alpha, double beta) {
  in_parts(it.dots.threads, it.u.own().size(), [&](unsigned, std::uint64_t begin, std::uint64_t end) {
    const double* q = pipeline.q.own().data();
    double* __restrict u = it.u.own().data(), * __restrict r = it.r.own().data();
    double* __restrict p = pipeline.p.own().data(), * __restrict s = pipeline.s.own().data();
    double* __restrict w = pipeline.w.own().data(), * __restrict z = pipeline.z.own().data();
    for (std::uint64_t i = begin; i < end; ++i) {
      z[i] = q[i] + beta * z[i];
      s[i] = w[i] + beta * s[i];
      p[i] = r[i] + beta * p[i];
      u[i] += alpha * p[i];
      r[i] -= alpha * s[i];
      w[i] -= alpha * z[i];
    }
  });
}

void run_pipelined(Iteration& it) {
  Pipeline pipeline(it.matrix);
  Field& w = pipeline.w;
  it.matrix.apply(it.r, w);
  const auto products = it.dots.bind({{it.r.own(), it.r.own()}, {w.own(), it.r.own()}});
  for (double alpha = 0, before = 0;; ++it.iterations) {
    products->start();
    it.matrix.apply(w, pipeline.q, [&] { products->test(); });
    const auto values = products->wait();
    const double squared = values[0], rw = values[1];
    if (!it.goes_on(squared)) return;
    const double beta = it.iterations == 0 ? 0 : squared / before;
    const double pq = it.iterations == 0 ? rw : rw - beta * squared / alpha;  // (p, A p)
    if (!(pq > 0)) return;                                                    // rounding has taken all directions away
    alpha = squared / pq;
    before = squared;
    advance(it, pipeline, alpha, beta);
  }
}

/// |f - A u| / |f|
double true_residual(Iteration& it, const Field& f) {
  Field difference = it.matrix.zeros();
  it.matrix.apply(it.u, difference);
  it.scale_and_add(-1, f, difference);
  const auto norms = it.dots.bind({{difference.own(), difference.own()}, {f.own(), f.own()}});
  const auto squared = norms->run();
  return std::sqrt(squared[0] / squared[1]);
}

}  // namespace

Solution solve(Algorithm algorithm, const Stencil& matrix, const Field& f, const Goal& goal, const Dots& dots) {
  Iteration it(matrix, f, goal, dots);
  const double start = MPI_Wtime();
  algorithm == Algorithm::cg ? run_cg(it) : run_pipelined(it);
  const double seconds = MPI_Wtime() - start;
  return {.iterations = it.iterations,
          .converged = it.converged,
          .residual = true_residual(it, f),
          .residuals = it.residuals.text(),
          .seconds = seconds};
}

}  // namespace solver
