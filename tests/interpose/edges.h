/* The library that edges.c calls: its functions wrap MPI's. */
double wrapped_sum(double x);
