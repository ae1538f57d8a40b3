! Prints the release, and the sum of 1/1 to 1/1000, dealt to the ranks.
program client
  use mpi_f08
  use steadfold
  implicit none
  integer :: rank, ranks, i
  real(8) :: total
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call sf_sum([(1/real(i, 8), i=rank + 1, 1000, ranks)], total, MPI_COMM_WORLD)
  if (rank == 0) write (*, '(a, es25.16)') sf_version_text(), total
  call MPI_Finalize
end program
