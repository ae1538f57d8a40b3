! Every call of the table in docs/calls.md, once. The reference on the site quotes the paragraphs that begin with the names
! of calls; the others set up what they need. Prints "all calls are right" if all results are.
module multiplication
  use, intrinsic :: iso_c_binding
  implicit none
contains

  ! result(i) = left(i) * right(i), as sf_operator has it.
  function multiply(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    real(c_double), pointer :: a(:), b(:), c(:)
    call c_f_pointer(left, a, [count])
    call c_f_pointer(right, b, [count])
    call c_f_pointer(result, c, [count])
    c = a*b
    failed = merge(0, 1, .not. c_associated(context))
  end function
end module

program calls
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use multiplication, only: multiply
  use steadfold
  implicit none
  type(MPI_Comm) :: comm
  integer :: rank, ranks, i
  real(8), allocatable, target :: x(:), y(:)  ! this rank's part of 1, 2, ..., 6 and of 6, 5, ..., 1
  logical, allocatable :: even(:)             ! a mask of x: which elements are even
  integer, allocatable :: labels(:)           ! 1 for the elements 1, 2, 3, and 2 for 4, 5, 6

  call MPI_Init
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  x = [(real(i, 8), i=6*rank/ranks + 1, 6*(rank + 1)/ranks)]
  y = 7 - x
  even = mod(nint(x), 2) == 0
  labels = 1 + (nint(x) - 1)/3
  call reductions
  call arrays
  call vectors
  call often_and_later
  call kept_sums
  call ranks_and_memory
  if (rank == 0) print '(a)', 'all calls are right'
  call MPI_Finalize
contains

  subroutine expect(found, expected)
    real(8), intent(in) :: found, expected
    if (.not. (found < expected .or. found > expected)) return
    print *, 'rank', rank, 'found', found, '(should be', expected, ')'
    call MPI_Abort(comm, 1)
  end subroutine

  subroutine reductions
    real(8) :: total, product, least, greatest, selected, combined
    integer(8) :: place
    type(sf_statistics) :: found

    ! sf_sum
    call sf_sum(x, total, comm)
    call expect(total, 21d0)
    call sf_sum(x, selected, comm, where=even, options='method=binned, threads=2')
    call expect(selected, 12d0)

    ! sf_combine
    call sf_combine(x, 'product', product, comm)
    call expect(product, 720d0)

    ! sf_min
    call expect(sf_min(x, comm), 1d0)

    ! sf_max
    call expect(sf_max(x, comm), 6d0)

    ! sf_reduce
    call sf_reduce(x, combined, c_funloc(multiply), comm)  ! multiply: a function as sf_operator
    call expect(combined, 720d0)

    ! sf_dot
    call expect(sf_dot(x, y, comm), 56d0)

    ! sf_dotu
    call expect(real(sf_dotu(cmplx(0, x, 8), cmplx(0, y, 8), comm), 8), -56d0)

    ! sf_norm2
    call expect(sf_norm2(x, comm), sqrt(91d0))

    ! sf_mean
    call expect(sf_mean(x, comm), 3.5d0)
    call expect(sf_mean(x, comm, weight=y), 56d0/21)

    ! sf_minloc
    call sf_minloc(x, least, place, comm)
    call expect(least, 1d0)
    call expect(real(place, 8), 1d0)

    ! sf_maxloc
    call sf_maxloc(x, greatest, place, comm)
    call expect(greatest, 6d0)
    call expect(real(place, 8), 6d0)

    ! sf_norm1
    call expect(sf_norm1(x, comm), 21d0)

    ! sf_sum_squares
    call expect(sf_sum_squares(x, comm), 91d0)

    ! sf_describe
    call sf_describe(x, found, comm)
    call expect(found%mean, 3.5d0)
    call expect(found%sample_variance, 3.5d0)

    ! sf_norminf
    call expect(sf_norminf(x, comm), 6d0)

    ! sf_covariance
    call expect(sf_covariance(x, y, comm), -35d0/12)

    ! sf_sample_covariance
    call expect(sf_sample_covariance(x, y, comm), -3.5d0)

    ! sf_correlation
    call expect(sf_correlation(x, y, comm), -1d0)

    ! sf_var
    call expect(sf_var(x, comm, ddof=1), 3.5d0)
  end subroutine

  subroutine arrays
    real(8) :: groups(2), greatest(2)

    ! sf_sum_by
    call sf_sum_by(x, labels, groups, comm)
    call expect(groups(1), 6d0)
    call expect(groups(2), 15d0)

    ! sf_combine_by
    call sf_combine_by(x, labels, 'max', greatest, comm)
    call expect(greatest(1), 3d0)
  end subroutine

  subroutine vectors
    real(8) :: all(2), so_far(1), before(1), mine(2), values(2*ranks)

    ! sf_allreduce
    all = [1, rank]
    call sf_allreduce(all, 'sum', comm)
    call expect(all(1), real(ranks, 8))

    ! sf_scan
    so_far = 1
    call sf_scan(so_far, 'sum', comm)
    call expect(so_far(1), real(rank + 1, 8))

    ! sf_exscan
    before = 1
    call sf_exscan(before, 'sum', comm)
    if (rank > 0) call expect(before(1), real(rank, 8))

    ! sf_reduce_scatter
    values = 1
    call sf_reduce_scatter(values, mine, 'sum', comm)  ! two elements for every rank
    call expect(mine(2), real(ranks, 8))
  end subroutine

  subroutine often_and_later
    type(sf_plan) :: plan, bundle
    type(sf_request) :: request
    real(8), target, asynchronous :: again, total, product, later

    ! sf_plan_sum, sf_run
    call sf_plan_sum(plan, x, again, comm)
    call sf_run(plan)
    call expect(again, 21d0)
    call sf_free(plan)

    ! sf_bind
    call sf_plan_sum(bundle, x, total)
    call sf_plan_dot(bundle, x, y, product)
    call sf_bind(bundle, comm)
    call sf_run(bundle)  ! one message for both, as often as needed
    call expect(total, 21d0)
    call expect(product, 56d0)
    call sf_free(bundle)

    ! sf_start_sum, sf_wait
    call sf_start_sum(x, later, comm, request)  ! compute meanwhile
    call sf_wait(request)
    call expect(later, 21d0)

    ! sf_barrier
    call sf_barrier(comm)
  end subroutine

  subroutine kept_sums
    type(sf_accumulator) :: budget
    real(8) :: total

    ! sf_accumulator, sf_add, sf_total
    call sf_add(budget, x)
    call sf_merge_ranks(budget, comm)
    call sf_total(budget, total)
    call expect(total, 21d0)
  end subroutine

  subroutine ranks_and_memory
    type(sf_layout) :: layout
    type(sf_team) :: team
    type(sf_group) :: worker, group
    type(c_ptr) :: memory
    real(8), pointer :: buffer(:)
    real(8) :: total
    integer(8) :: first, last
    integer(c_int) :: ierr

    ! sf_layout, sf_layout_intervals
    first = 6*rank/ranks + 1
    last = 6*(rank + 1)/ranks
    call sf_layout_intervals(layout, first, last)
    call sf_sum(x, total, comm, options='method=tree, require=ranks', layout=layout)
    call expect(total, 21d0)
    call sf_free(layout)

    ! sf_team_create, sf_team_member
    call sf_team_create(team, 1, comm)       ! one worker per rank: more are threads of the program's own
    call sf_team_member(team, 0, worker)     ! what the thread of worker 0 takes as its communicator
    call sf_sum(x, total, worker)
    call expect(total, 21d0)
    call sf_free(team)

    ! sf_group_of
    call sf_group_of(comm, group)
    call expect(real(sf_group_size(group), 8), real(ranks, 8))

    ! sf_allocate
    if (sf_allocate(8000_8, memory) /= SF_OK) error stop
    call c_f_pointer(memory, buffer, [1000])  ! all zero
    buffer(1) = 1
    call sf_allreduce(buffer, 'sum', comm)    ! nothing is copied between the ranks of a node
    call expect(buffer(1), real(ranks, 8))
    call sf_free(memory)

    ! sf_error_message
    call sf_sum(x, total, comm, options='method=plain, require=ranks', ierr=ierr)
    if (ierr /= SF_UNSUPPORTED) error stop
    if (len(sf_error_message()) == 0) error stop  ! it says why, and what to do
  end subroutine
end program
