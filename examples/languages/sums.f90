! mpifort $(pkg-config --variable=source steadfold_fortran) sums.f90 -o sums $(pkg-config --libs steadfold_fortran steadfold-openmpi) -Wl,-rpath,$(pkg-config --variable=libdir steadfold)
! mpirun -n 4 ./sums
program sums
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64
  use mpi_f08
  use steadfold
  implicit none
  integer, parameter :: n = 1000        ! elements of all ranks, dealt in blocks of 16
  real(8), allocatable :: x(:), w(:)    ! this rank's elements of 1, 1/2, ..., 1/1000, and their weights
  logical :: is_mine(n)
  real(8) :: total, exact, norm, weighted, tree, threaded, kept
  type(sf_layout) :: layout
  type(sf_accumulator) :: half, whole
  integer(int8) :: bytes(10000)
  integer(int64) :: length
  integer :: rank, ranks, ierr, unit, i

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do i = 1, n
    is_mine(i) = mod((i - 1)/16, ranks) == rank
  end do
  allocate (x(count(is_mine)), w(count(is_mine)))
  x(:) = pack([(1/real(i, 8), i=1, n)], is_mine)
  w(:) = pack([(real(1 + mod(i, 7), 8), i=0, n - 1)], is_mine)

  ! sum: the sum of all ranks' elements, correctly rounded
  call sf_sum(x, total, MPI_COMM_WORLD)

  ! check: both depend on the elements alone
  call sf_sum(x, exact, MPI_COMM_WORLD)
  norm = sf_norm2(x, MPI_COMM_WORLD)
  if (rank == 0) print '(a, z16.16)', 'check ', exact, 'check2 ', norm

  ! weights: the products are exact, and their sum is rounded once
  call sf_sum(x, weighted, MPI_COMM_WORLD, weight=w)

  ! order: a fixed tree over the indices 1 to n, of which this rank has blocks of 16
  call sf_layout_grid(layout, [n], blocks=[16])
  call sf_sum(x, tree, MPI_COMM_WORLD, options='method=tree', layout=layout)
  call sf_free(layout)

  ! threads: two threads of this rank add its elements
  call sf_sum(x, threaded, MPI_COMM_WORLD, options='threads=2')

  ! require: bits that do not depend on the layout; a tree without one cannot promise that, and every rank gets an error
  call sf_sum(x, tree, MPI_COMM_WORLD, options='method=tree, require=layout', ierr=ierr)
  if (ierr /= SF_OK) write (error_unit, '(a)') sf_error_message()   ! problem (why), suggestion

  ! save: every rank adds elements, and one rank writes the exact sum of all
  call sf_add(half, x(:size(x)/2))
  call sf_merge_ranks(half, MPI_COMM_WORLD)
  call sf_write(half, bytes, length)
  if (rank == 0) then
    open (newunit=unit, file='half', access='stream', status='replace')
    write (unit) bytes(:length)
    close (unit)
  end if

  ! load: one rank reads the file, the others start empty; the sum is rounded once, here
  if (rank == 0) then
    inquire (file='half', size=length)
    open (newunit=unit, file='half', access='stream', status='old')
    read (unit) bytes(:length)
    close (unit)
    call sf_read(whole, bytes(:length))
  end if
  call sf_add(whole, x(size(x)/2 + 1:))
  call sf_merge_ranks(whole, MPI_COMM_WORLD)
  call sf_total(whole, kept)

  if (rank == 0) print '(a, z16.16)', 'sum ', total, 'weights ', weighted, 'order ', tree, 'threads ', threaded, 'kept ', kept
  call MPI_Finalize
end program
