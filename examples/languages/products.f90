! mpifort $(pkg-config --variable=source steadfold_fortran) products.f90 -o products $(pkg-config --libs steadfold_fortran steadfold-openmpi) -Wl,-rpath,$(pkg-config --variable=libdir steadfold)
! mpirun -n 4 ./products
program products
  use mpi_f08
  use steadfold
  implicit none
  integer, parameter :: total = 10000   ! of which this rank has a run
  real(8), allocatable, target :: d(:), x(:), r(:), p(:), q(:)
  real(8), target :: rr, pq, xx, xd, h(2)
  real(8) :: first, before, alpha, length
  type(sf_plan) :: plan_rr, plan_pq, both
  integer :: rank, ranks, begin, n, iterations, i

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  begin = total*rank/ranks
  n = total*(rank + 1)/ranks - begin
  allocate (d(n), x(n), r(n), p(n), q(n))
  d(:) = [(real(1 + mod(begin + i, 1000), 8), i=0, n - 1)]
  x = 0
  r = 1
  p = 1

  ! plan: the ranks agree once, on arrays that stay; a run sends the messages of one reduction and allocates nothing
  call sf_plan_dot(plan_rr, r, r, rr, MPI_COMM_WORLD)   ! options='method=binned' for less time
  call sf_plan_dot(plan_pq, p, q, pq, MPI_COMM_WORLD)

  ! loop: conjugate gradients for a diagonal matrix, d x = 1
  call sf_run(plan_rr)
  first = rr
  iterations = 0
  do while (rr > 1d-20*first)
    q(:) = d*p
    call sf_run(plan_pq)
    alpha = rr/pq
    x(:) = x + alpha*p
    r(:) = r - alpha*q
    before = rr
    call sf_run(plan_rr)
    p(:) = r + rr/before*p
    iterations = iterations + 1
  end do

  ! bundle: a bundle sends the sums of both products in the same messages
  call sf_plan_combine(both, x, 'sum_squares', xx)
  call sf_plan_dot(both, x, d, xd)
  call sf_bind(both, MPI_COMM_WORLD)
  call sf_run(both)   ! again whenever the arrays have new elements

  ! start: the reduction goes on while the program multiplies
  call sf_start(both)
  q(:) = d*p   ! changes neither x nor d
  call sf_wait(both)

  ! gram: dot products of one vector with several others, the columns of an array, in one message
  call sf_sum(reshape([d, x], [size(x), 2]), h, MPI_COMM_WORLD, keep=2, weight=x)

  ! once: a product outside of loops needs no plan
  length = sf_norm2(x, MPI_COMM_WORLD)

  if (rank == 0) then
    print '(a, z16.16)', 'iterations ', real(iterations, 8), 'squared ', rr, 'bundle ', xx, 'bundle2 ', xd, &
      'gram ', h(1), 'gram2 ', h(2), 'once ', length
  end if
  call sf_free(plan_rr)
  call sf_free(plan_pq)
  call sf_free(both)
  call MPI_Finalize
end program
