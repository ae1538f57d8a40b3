! A program in Fortran that knows nothing of Steadfold: it reduces numbers by every function of MPI that reduces, and
! compares the bits with those of the tree over ranks. INTERFACE_F08 and INTERFACE_MODULE say how it sees MPI; without
! either, by mpif.h.
#if defined(INTERFACE_F08)
#define OF(handle) type(handle)
#define COMPARED(request) request%MPI_VAL
#else
#define OF(handle) integer
#define COMPARED(request) request
#endif
#if defined(INTERFACE_EXTENSION)
#define PREPARED_ALLREDUCE mpix_allreduce_init
#define PREPARED_SCAN mpix_scan_init
#else
#define PREPARED_ALLREDUCE mpi_allreduce_init
#define PREPARED_SCAN mpi_scan_init
#endif
#if defined(INTERFACE_F08) && !defined(INTERFACE_EXTENSION)
#define FIRST 0
! MPICH 4.0.2 counts from 0 there
#else
#define FIRST 1
#endif
module numbers
  use, intrinsic :: iso_fortran_env, only: real64, int64
  implicit none
  integer, parameter :: count = 5, most = 16
  integer :: failures = 0, me = 0
contains
  pure real(real64) function number(rank, i)
    integer, intent(in) :: rank, i
    number = real(mod(rank * 7919 + i * 104729, 1000) - 500, real64) / 3 * 2.0_real64**(mod(rank * 31 + i * 17, 80) - 40)
  end function

  ! The sum of the ranks 0, ..., ranks - 1: neighbours add, level by level.
  pure real(real64) function tree(ranks, i)
    integer, intent(in) :: ranks, i
    real(real64) :: level(0:most - 1)
    integer :: r, width
    do r = 0, ranks - 1
      level(r) = number(r, i)
    end do
    width = ranks
    do while (width > 1)
      do r = 0, width / 2 - 1
        level(r) = level(2 * r) + level(2 * r + 1)
      end do
      if (mod(width, 2) == 1) level(width / 2) = level(width - 1)
      width = (width + 1) / 2
    end do
    tree = level(0)
  end function

  subroutine check(what, found, ranks, first)
    character(*), intent(in) :: what
    real(real64), intent(in) :: found(:)
    integer, intent(in) :: ranks, first
    integer :: i
    do i = 1, size(found)
      if (transfer(found(i), 0_int64) /= transfer(tree(ranks, first + i), 0_int64)) then
        failures = failures + 1
        if (failures < 5) print '(a, a, a, i0, a, i0, a, 2es25.17)', 'wrong: ', what, ' on rank ', me, ' at ', i, ': ', &
          found(i), tree(ranks, first + i)
        return
      end if
    end do
  end subroutine

  subroutine must(is, what)
    logical, intent(in) :: is
    character(*), intent(in) :: what
    if (is) return
    failures = failures + 1
    print '(a, a, a, i0)', 'wrong: ', what, ' on rank ', me
  end subroutine
end module

program fortran_reductions
#if defined(INTERFACE_F08)
  use mpi_f08
#if defined(INTERFACE_EXTENSION)
  use mpi_f08_ext
#endif
#elif defined(INTERFACE_MODULE)
  use mpi
#endif
  use numbers
  implicit none
#if !defined(INTERFACE_F08) && !defined(INTERFACE_MODULE)
  include 'mpif.h'
#endif
#if defined(INTERFACE_F08)
  type(MPI_Status) :: status, statuses(6)
#else
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 6)
#endif
  OF(MPI_Request) :: request, requests(6)
  OF(MPI_Op) :: op
  OF(MPI_Datatype) :: there
  integer(MPI_ADDRESS_KIND) :: addresses(1)
  real(real64) :: from(count * most), to(count * most), more(count, 6)
  integer :: ranks, error, i, index, ended, indices(6), counts(most), before
  logical :: flag
  external :: add, add_there

  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call fill(from)

  call mpi_allreduce(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call must(error == MPI_SUCCESS, 'the error code')
  call check('allreduce', to(:count), ranks, 0)
  call fill(to)
  call mpi_allreduce(MPI_IN_PLACE, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check('allreduce in place', to(:count), ranks, 0)
  call fill(to)
  if (me == ranks - 1) then
    call mpi_reduce(MPI_IN_PLACE, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, ranks - 1, MPI_COMM_WORLD, error)
    call check('reduce in place', to(:count), ranks, 0)
  else
    call mpi_reduce(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, ranks - 1, MPI_COMM_WORLD, error)
  end if
  call mpi_scan(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check('scan', to(:count), me + 1, 0)
  call mpi_exscan(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (me > 0) call check('exscan', to(:count), me, 0)
  counts = count
  counts(1) = 1
  before = merge(0, count * (me - 1) + 1, me == 0)
  call mpi_reduce_scatter(from, to, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check('reduce_scatter', to(:counts(me + 1)), ranks, before)
  call mpi_reduce_scatter_block(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call check('reduce_scatter_block', to(:count), ranks, count * me)

  ! Started ones, ended by each function in turn.
  do i = 1, 9
    call start(mod(i, 6) + 1, request)
    ended = 0
    flag = .false.
    requests(1) = request
    select case (i)
    case (1)
      call mpi_wait(requests(1), MPI_STATUS_IGNORE, error)
    case (2)
      call mpi_waitall(1, requests, MPI_STATUSES_IGNORE, error)
    case (3)
      call mpi_waitany(1, requests, index, status, error)
      call must(index == FIRST, 'the index of waitany')
    case (4)
      call mpi_waitsome(1, requests, ended, indices, statuses, error)
      call must(ended == 1 .and. indices(1) == FIRST, 'the index of waitsome')
    case (5)
      do while (.not. flag)
        call mpi_test(requests(1), flag, status, error)
      end do
    case (6)
      do while (.not. flag)
        call mpi_testall(1, requests, flag, MPI_STATUSES_IGNORE, error)
      end do
    case (7)
      do while (.not. flag)
        call mpi_testany(1, requests, index, flag, status, error)
      end do
    case (8)
      do while (ended == 0)
        call mpi_testsome(1, requests, ended, indices, statuses, error)
      end do
    case (9)
      do while (.not. flag)
        call mpi_request_get_status(requests(1), flag, status, error)
      end do
      call check_started(mod(i, 6) + 1)
      call mpi_wait(requests(1), MPI_STATUS_IGNORE, error)
    end select
    call check_started(mod(i, 6) + 1)
    call must(COMPARED(requests(1)) == COMPARED(MPI_REQUEST_NULL), 'a request that ended')
  end do

  ! Several at once, ended in another order.
  do i = 1, 6
    call mpi_iallreduce(from, more(1, i), count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, requests(i), error)
  end do
  call mpi_wait(requests(4), status, error)
  call check('the fourth of six', more(:, 4), ranks, 0)
  do i = 1, 5
    call mpi_waitany(6, requests, index, MPI_STATUS_IGNORE, error)
    call check('one of six', more(:, index + 1 - FIRST), ranks, 0)
  end do

  ! Persistent ones.
  to = 7
  call PREPARED_ALLREDUCE(MPI_IN_PLACE, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
    requests(1), error)
  call PREPARED_SCAN(from, more, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2), error)
  do i = 1, 3
    call fill(to)
    more = 7
    if (i == 1) then
      call mpi_start(requests(1), error)
      call mpi_start(requests(2), error)
    else
      call mpi_startall(2, requests, error)
    end if
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, error)
    call check('a persistent allreduce', to(:count), ranks, 0)
    call check('a persistent scan', more(:, 1), me + 1, 0)
  end do
  call mpi_request_free(requests(1), error)
  call mpi_request_free(requests(2), error)

  ! An operator of Fortran's, freed while a call is under way.
  call mpi_op_create(add, .false., op, error)
  call mpi_allreduce(from, to, count, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, error)
  call check('an operator', to(:count), ranks, 0)
  call mpi_iallreduce(from, to, count, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, request, error)
  call mpi_op_free(op, error)
  call must(COMPARED(op) == COMPARED(MPI_OP_NULL), 'a freed operator')
  call mpi_wait(request, MPI_STATUS_IGNORE, error)
  call check('a freed operator', to(:count), ranks, 0)

  ! MPI_BOTTOM: where the elements stand is said by their type.
  call mpi_get_address(to, addresses(1), error)
  call mpi_type_create_hindexed(1, [count], addresses, MPI_DOUBLE_PRECISION, there, error)
  call mpi_type_commit(there, error)
  call mpi_op_create(add_there, .false., op, error)
  call fill(to)
  call mpi_allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, there, op, MPI_COMM_WORLD, error)
  call check('an allreduce at MPI_BOTTOM', to(:count), ranks, 0)
  call mpi_op_free(op, error)
  call mpi_type_free(there, error)

  call mpi_allreduce(failures, index, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (me == 0) print '(i0, a)', index, ' results are wrong'
#if defined(INTERFACE_F08)
  call mpi_finalize()
#else
  call mpi_finalize(error)
#endif
  if (index /= 0) error stop 1

contains
  subroutine fill(numbers_of_this_rank)
    real(real64), intent(out) :: numbers_of_this_rank(:)
    integer :: k
    do k = 1, size(numbers_of_this_rank)
      numbers_of_this_rank(k) = number(me, k)
    end do
  end subroutine

  subroutine start(which, new_request)
    integer, intent(in) :: which
    OF(MPI_Request), intent(out) :: new_request
    to = 7
    select case (which)
    case (1)
      call mpi_iallreduce(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, new_request, error)
    case (2)
      call mpi_ireduce(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, new_request, error)
    case (3)
      call mpi_iscan(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, new_request, error)
    case (4)
      call mpi_iexscan(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, new_request, error)
    case (5)
      call mpi_ireduce_scatter(from, to, counts, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, new_request, error)
    case (6)
      call mpi_ireduce_scatter_block(from, to, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, new_request, error)
    end select
  end subroutine

  subroutine check_started(which)
    integer, intent(in) :: which
    select case (which)
    case (1)
      call check('iallreduce', to(:count), ranks, 0)
    case (2)
      if (me == 0) call check('ireduce', to(:count), ranks, 0)
    case (3)
      call check('iscan', to(:count), me + 1, 0)
    case (4)
      if (me > 0) call check('iexscan', to(:count), me, 0)
    case (5)
      call check('ireduce_scatter', to(:counts(me + 1)), ranks, before)
    case (6)
      call check('ireduce_scatter_block', to(:count), ranks, count * me)
    end select
  end subroutine
end program

subroutine add(left, right, length, type)
#if defined(INTERFACE_F08)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  type(c_ptr), value :: left, right
  integer :: length
  type(MPI_Datatype) :: type
  double precision, pointer :: a(:), b(:)
  call c_f_pointer(left, a, [length])
  call c_f_pointer(right, b, [length])
  b = a + b
#else
  integer :: length, type
  double precision :: left(length), right(length)
  right = left + right
#endif
end subroutine

! Adds elements of five numbers that stand where their type says.
subroutine add_there(left, right, length, type)
#if defined(INTERFACE_F08)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_intptr_t, c_null_ptr
  type(c_ptr), value :: left, right
  integer :: length
  type(MPI_Datatype) :: type
  integer(MPI_ADDRESS_KIND) :: begin, extent
  double precision, pointer :: a(:), b(:)
  call mpi_type_get_true_extent(type, begin, extent)
  call c_f_pointer(transfer(transfer(left, 0_c_intptr_t) + begin, c_null_ptr), a, [5 * length])
  call c_f_pointer(transfer(transfer(right, 0_c_intptr_t) + begin, c_null_ptr), b, [5 * length])
  b = a + b
#else
#if defined(INTERFACE_MODULE)
  use mpi
#else
  include 'mpif.h'
#endif
  integer :: length, type, error
  double precision :: left(*), right(*)
  integer(MPI_ADDRESS_KIND) :: begin, extent, i
  call mpi_type_get_true_extent(type, begin, extent, error)
  do i = begin / 8 + 1, begin / 8 + 5 * length
    right(i) = left(i) + right(i)
  end do
#endif
end subroutine
