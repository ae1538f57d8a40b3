/* A library whose functions wrap MPI's, as libraries of solvers have them. */
#include <mpi.h>

#include "edges.h"

static double inner(double x) {
  double y = 0;
  MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return y;
}

double wrapped_sum(double x) { return inner(x) + 0; }
