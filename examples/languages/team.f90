! mpifort -fopenmp $(pkg-config --variable=source steadfold_fortran) team.f90 -o team $(pkg-config --libs steadfold_fortran steadfold-openmpi) -Wl,-rpath,$(pkg-config --variable=libdir steadfold)
! mpirun -n 2 ./team
program threads_of_ranks
  use mpi_f08
  use omp_lib
  use steadfold
  implicit none
  integer, parameter :: threads = 2
  real(8), allocatable :: x(:)   ! a thread's elements of 1, 1/2, ..., 1/1000
  real(8) :: total
  type(sf_team) :: team
  type(sf_group) :: group
  integer :: provided, rank, ranks, t, i

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! team: all threads of all ranks are in one team; each adds its own elements, and gets the sum of all
  call sf_team_create(team, threads, MPI_COMM_WORLD)
  !$omp parallel num_threads(threads) private(t, group, x, total)
  t = omp_get_thread_num()
  x = [(1/real(i, 8), i=rank*threads + t + 1, 1000, ranks*threads)]
  call sf_team_member(team, t, group)
  call sf_sum(x, total, group)
  if (rank == 0 .and. t == 0) print '(a, z16.16)', 'sum ', total
  !$omp end parallel
  call sf_free(team)

  call MPI_Finalize
end program
