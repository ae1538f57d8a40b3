! mpifort $(pkg-config --variable=source steadfold_fortran) sum.f90 -o sum $(pkg-config --libs steadfold_fortran steadfold-openmpi) -Wl,-rpath,$(pkg-config --variable=libdir steadfold)
! mpirun -n 4 ./sum
program first_sum
  use mpi_f08
  use steadfold
  implicit none
  real(8), allocatable :: x(:)
  real(8) :: total
  integer :: rank, ranks, i

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  x = [(1/real(i, 8), i=rank + 1, 1000, ranks)]   ! this rank's elements of 1, 1/2, ..., 1/1000

  call sf_sum(x, total, MPI_COMM_WORLD)           ! correctly rounded

  if (rank == 0) print '(a, z16.16, a)', 'sum ', total, ' (should be 401DF11F45F4E61A)'
  call MPI_Finalize
end program
