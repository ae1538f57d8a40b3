// The program of most tests over MPI: subjects, each a file, whose cases launch.py picks.
#include "mpi/run_ranks.hpp"

int main(int argc, char** argv) { return steadfold::tests::run_program(argc, argv); }
