// The 7-point stencil; see stencil.hpp.
#include "stencil.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "parts.hpp"

namespace solver {
namespace {

/// A row of points along x and the four beside it.
struct Rows {
  const double *own, *south, *north, *below, *above;
};

/// Calls at(i, has_west, has_east) for every point of a row. The compiler knows the two flags.
template <class At>
void along(std::uint64_t count, const At& at) {
  constexpr std::true_type yes;
  constexpr std::false_type no;
  if (count == 1) return at(0, no, no);
  at(0, no, yes);
  for (std::uint64_t i = 1; i + 1 < count; ++i) at(i, yes, yes);
  at(count - 1, yes, no);
}

/// k = 1 everywhere.
void compute_row(const Rows& u, std::uint64_t count, double* __restrict result) {
  along(count, [&](std::uint64_t i, auto has_west, auto has_east) {
    const double west = has_west ? u.own[i - 1] : 0, east = has_east ? u.own[i + 1] : 0;
    result[i] = 6 * u.own[i] - (((((west + east) + u.south[i]) + u.north[i]) + u.below[i]) + u.above[i]);
  });
}

/// Between two points k is the mean of both; at a wall it is the point's.
void compute_row(const Rows& u, const Rows& k, std::uint64_t count, double* __restrict result) {
  along(count, [&](std::uint64_t i, auto has_west, auto has_east) {
    const double own = u.own[i], k_own = k.own[i];
    const auto flow = [&](double other, double k_other) { return (k_own + k_other) * (own - other); };
    const double west = has_west ? flow(u.own[i - 1], k.own[i - 1]) : flow(0, k_own);
    const double east = has_east ? flow(u.own[i + 1], k.own[i + 1]) : flow(0, k_own);
    result[i] = 0.5 * (((((west + east) + flow(u.south[i], k.south[i])) + flow(u.north[i], k.north[i])) +
                        flow(u.below[i], k.below[i])) +
                       flow(u.above[i], k.above[i]));
  });
}

template <class Formula>
void fill(double* plane, const Problem& problem, std::uint64_t z, const Formula& formula) {
  for (std::uint64_t y = 0; y < problem.points[1]; ++y)
    for (std::uint64_t x = 0; x < problem.points[0]; ++x) *plane++ = formula(problem, x, y, z);
}

}  // namespace

Stencil::Stencil(const Problem& problem, const Slab& slab, MPI_Comm comm, unsigned threads)
    : problem_(problem),
      slab_(slab),
      comm_(comm),
      threads_(threads),
      conductivity_(problem, slab),
      wall_(problem.points[0]) {
  for (std::uint64_t plane = 0; plane < slab.height() + 2; ++plane) {
    const std::uint64_t z =
        std::max<std::uint64_t>(slab.planes.begin + plane, 1) - 1;  // at a wall, the plane beside it
    fill(conductivity_.plane(plane), problem, std::min(z, problem.points[2] - 1), conductivity);
  }
}

Field Stencil::source() const {
  Field f = zeros();
  for (std::uint64_t plane = 0; plane < slab_.height(); ++plane)
    fill(f.plane(plane + 1), problem_, slab_.planes.begin + plane, solver::source);
  return f;
}

void Stencil::apply(Field& u, Field& result, const std::function<void()>& meanwhile) const {
  const std::uint64_t height = slab_.height();
  if (height == 0) return;
  const auto count = static_cast<int>(problem_.plane());
  std::array<MPI_Request, 4> requests;
  MPI_Irecv(u.plane(0), count, MPI_DOUBLE, slab_.below, 0, comm_, &requests[0]);
  MPI_Irecv(u.plane(height + 1), count, MPI_DOUBLE, slab_.above, 0, comm_, &requests[1]);
  MPI_Isend(u.plane(1), count, MPI_DOUBLE, slab_.below, 0, comm_, &requests[2]);
  MPI_Isend(u.plane(height), count, MPI_DOUBLE, slab_.above, 0, comm_, &requests[3]);

  const std::uint64_t inner = height > 2 ? height - 2 : 0;  // planes that need no neighbour's
  in_parts(threads_, inner, [&](unsigned part, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t plane = begin; plane < end; ++plane) {
      compute(u, result, plane + 2);
      if (part == 0 && meanwhile) meanwhile();
    }
  });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  compute(u, result, 1);
  if (height > 1) compute(u, result, height);
}

void Stencil::compute(const Field& u, Field& result, std::uint64_t plane) const {
  const std::uint64_t width = problem_.points[0], rows = problem_.points[1];
  const auto around = [&](const Field& field, std::uint64_t y, const double* south_wall, const double* north_wall) {
    const double* own = field.plane(plane) + y * width;
    return Rows{.own = own,
                .south = y > 0 ? own - width : south_wall,
                .north = y + 1 < rows ? own + width : north_wall,
                .below = field.plane(plane - 1) + y * width,
                .above = field.plane(plane + 1) + y * width};
  };
  for (std::uint64_t y = 0; y < rows; ++y) {
    const Rows values = around(u, y, wall_.data(), wall_.data());
    double* to = result.plane(plane) + y * width;
    if (problem_.contrast == 1) {
      compute_row(values, width, to);
    } else {
      const double* own = conductivity_.plane(plane) + y * width;
      compute_row(values, around(conductivity_, y, own, own), width, to);
    }
  }
}

}  // namespace solver
