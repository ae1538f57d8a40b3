! Calls that are started from Fortran, on every rank count: many under way, ended in any order, against those of the same
! numbers one after the other by the C++ interface.

module started
  use omp_lib, only: omp_get_thread_num
  use checks
  implicit none
  integer, parameter :: n = 501
  ! Of calls that MPI_Finalize cuts off.
  real(c_double), asynchronous, save, target :: left(3) = 1, totals(4) = -7
  ! What an operator asks for, and what it hears.
  type(sf_request), save :: asked
  integer, save :: done_there, ierr_there
contains
  ! A call's elements and results belong to it from its start to its end.
  subroutine test_reductions
    real(c_double), asynchronous :: x(n), y(n), total, dot, norm, least, sections(6), field(n, 3), greatest(2, 3), by_group(4)
    integer(c_int64_t), asynchronous :: place, places(2, 3)
    type(sf_statistics), asynchronous :: levels(5)
    logical, asynchronous :: is_counted(n)
    integer, asynchronous :: labels(n)
    type(sf_statistics) :: expected
    type(sf_request) :: requests(8)
    real(c_double) :: whole(n), other(n)
    integer :: a, b, k, round, i
    call fill_hostile(whole)
    a = first_of(n)
    b = last_of(n)
    do round = 1, 3
      whole = cshift(whole, round)
      other = cshift(whole, 5)
      x = whole
      y = other
      do k = 1, 3
        field(:, k) = cshift(whole, 29*k)
      end do
      is_counted = whole > 0
      labels = [(mod(k, 4) + 1, k = 1, n)]
      sections = -1
      greatest = -1
      places = -1
      call sf_start_sum(x(a:b), total, MPI_COMM_WORLD, requests(1))
      call sf_start_dot(x(a:b), y(a:b), dot, MPI_COMM_WORLD, requests(2))
      call sf_start_sum(field(a:b, :), sections(6:1:-2), MPI_COMM_WORLD%MPI_VAL, requests(3), keep=2, weight=y(a:b:1), &
                        where=is_counted(a:b))
      call sf_start_minloc(x(a:b), least, place, MPI_COMM_WORLD, requests(4))
      call sf_start_maxloc(field(a:b, :), greatest(1, :), places(2, :), MPI_COMM_WORLD, requests(5), keep=2)
      call sf_start_describe(field(a:b, :), levels(1:5:2), MPI_COMM_WORLD, requests(6), keep=2)
      call sf_start_combine(y(a:b), 'abs_sum', norm, MPI_COMM_WORLD, requests(7))
      call sf_start_sum_by(x(a:b), labels(a:b), by_group, MPI_COMM_WORLD, requests(8))
      ! other ranks end them in another order
      do i = 1, size(requests)
        call end_one(requests(1 + mod(i*3 + rank, size(requests))), round)
      end do
      call check(same(total, reference_sum(whole, wide(n))), "a sum")
      call check(same(dot, reference_dot(whole, other, wide(n))), "a dot product")
      call check(same(least, minval(whole)) .and. place == minloc(whole, 1), "the least value and its index")
      call check(same(norm, reference_norm1(other, wide(n))), "a norm by name")
      do k = 1, 3
        call check(same(sections(8 - 2*k), sum_where(field(:, k), other, whole > 0)), "a weighted, masked sum of a level")
        call check(same(greatest(1, k), maxval(field(:, k))) .and. places(2, k) == maxloc(field(:, k), 1), "the greatest")
        call reference_statistics(field(:, k), wide(n), expected)
        call check(same(levels(2*k - 1), expected), "statistics of a level")
      end do
      call check(all(sections(1::2) < 0) .and. all(greatest(2, :) < 0) .and. all(places(1, :) < 0), "nothing else changed")
      do k = 1, 4
        call check(same(by_group(k), sum_where(whole, 0*whole + 1, labels == k)), "a sum of a group")
      end do
    end do
  end subroutine

  function sum_where(x, weight, mask) result(value)
    real(c_double), intent(in) :: x(:), weight(:)
    logical, intent(in) :: mask(:)
    real(c_double) :: value
    value = reference_dot(pack(x, mask), pack(weight, mask), int(count(mask), c_int64_t))
  end function

  subroutine end_one(request, way)
    type(sf_request), intent(inout) :: request
    integer, intent(in) :: way
    integer :: done
    done = 0
    select case (way)
    case (1)
      call sf_wait(request)
    case (2)
      do while (done == 0)
        call sf_test(request, done)
      end do
    case default
      do while (done == 0)
        call sf_wait(request, 1e-4_c_double, done)
      end do
    end select
    call sf_wait(request, done=done) ! which is empty
    call check(done == 1, "an empty request has ended")
  end subroutine

  ! Not commutative: the right number, unless it is negative.
  function prefer_right(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    real(c_double), pointer :: x(:), y(:), z(:)
    call c_f_pointer(left, x, [count])
    call c_f_pointer(right, y, [count])
    call c_f_pointer(result, z, [count])
    z = merge(y, x, y >= 0)
    failed = merge(1, 0, c_associated(context))
  end function

  subroutine test_vectors
    integer, parameter :: m = 60
    real(c_double), asynchronous :: sum_of(m), to_here(2, m), below(m), right(m), mine(m), one
    real(c_double), asynchronous, allocatable :: block(:), alone(:)
    real(c_double) :: every(m, 0:ranks - 1), numbers(m*ranks), expected(m)
    integer(c_int64_t) :: blocks(ranks)
    integer(c_int64_t), asynchronous :: first, last, count
    type(sf_request) :: requests(8)
    integer :: i, end_of_block
    call fill_hostile(numbers)
    every = reshape(numbers, shape(every))
    sum_of = every(:, rank)
    to_here = -1
    to_here(2, :) = every(:, rank)
    below = every(:, rank)
    right = every(:, rank)
    mine = every(:, rank)
    blocks = 0
    blocks(1) = m - 7
    blocks(ranks) = blocks(ranks) + 7
    allocate (block(blocks(rank + 1)), alone(m))
    call sf_start_barrier(MPI_COMM_WORLD, requests(1))
    call sf_start_allreduce(sum_of, 'sum', MPI_COMM_WORLD, requests(2))
    call sf_start_scan(to_here(2, :), 'sum', MPI_COMM_WORLD, requests(3))
    call sf_start_exscan(below, 'sum', MPI_COMM_WORLD, requests(4))
    call sf_start_allreduce(right, c_funloc(prefer_right), MPI_COMM_WORLD, requests(5))
    call sf_start_reduce_scatter(mine, block, 'sum', MPI_COMM_WORLD, requests(6), blocks)
    blocks = 0 ! they are copied
    call sf_start_rank_order(int(rank + 1, c_int64_t), MPI_COMM_WORLD, first, last, requests(7), count)
    call sf_start_reduce(mine(m:1:-1), one, c_funloc(prefer_right), MPI_COMM_WORLD, requests(8))
    do i = size(requests), 1, -1
      call end_one(requests(i), 1 + mod(i, 3))
    end do
    do i = 1, m
      expected(i) = reference_tree(every(i, :), int(ranks, c_int64_t))
    end do
    end_of_block = merge(m, m - 7, rank == ranks - 1)
    call check(same(sum_of, expected), "an allreduce")
    call check(same(block, expected(end_of_block - size(block) + 1:end_of_block)), "a block of a reduction")
    do i = 1, m
      expected(i) = reference_tree(every(i, :rank), int(rank + 1, c_int64_t))
    end do
    call check(same(to_here(2, :), expected) .and. all(to_here(1, :) < 0), "a scan of a section")
    if (rank > 0) expected = [(reference_tree(every(i, :rank - 1), int(rank, c_int64_t)), i = 1, m)]
    if (rank == 0) expected = every(:, 0)
    call check(same(below, expected), "a scan of the lower ranks")
    do i = 1, m
      expected(i) = right_of(every(i, :))
    end do
    call check(same(right, expected), "an operator of the program, in rank order")
    call check(same(one, right_of([(every(m:1:-1, i), i = 0, ranks - 1)])), "over the elements of all ranks")
    call check(first == rank*(rank + 1)/2 + 1 .and. last == first + rank .and. count == ranks*(ranks + 1)/2, "rank order")
  end subroutine

  pure real(c_double) function right_of(x)
    real(c_double), intent(in) :: x(:)
    integer :: i
    right_of = x(1)
    do i = 2, size(x)
      if (x(i) >= 0) right_of = x(i)
    end do
  end function

  subroutine test_binding
    type(sf_plan) :: plan, dropped
    type(sf_request) :: request, another
    real(c_double), asynchronous, target :: x(n), total, norm
    integer :: done, ierr
    call fill_hostile(x)
    call sf_start_bind(plan, MPI_COMM_WORLD, request)
    call sf_wait(request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the bundle cannot be bound (it is empty")
    call sf_plan_sum(plan, x(first_of(n):last_of(n)), total)
    call sf_plan_combine(plan, x(first_of(n):last_of(n)), 'norm1', norm, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a norm that has another name")
    call sf_plan_combine(plan, x(first_of(n):last_of(n)), 'abs_sum', norm)
    call sf_start_bind(plan, MPI_COMM_WORLD, request)
    call sf_run(plan, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no plan (the variable was not made or not bound")
    call sf_plan_sum(plan, x, total, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan exists already")
    call sf_plan_sum(dropped, x, total)
    call sf_start_bind(dropped, MPI_COMM_WORLD, another)
    call sf_free(dropped)
    call sf_wait(request)
    call sf_start(plan)
    done = 0
    do while (done == 0)
      call sf_test(plan, done)
    end do
    call check(same(total, reference_sum(x, wide(n))) .and. same(norm, reference_norm1(x, wide(n))), "a plan's run")
    call sf_wait(another)
    call sf_free(plan)
  end subroutine

  ! Sums, and looks at a call that is under way in the same communicator, which is refused there.
  function add_and_ask(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    real(c_double), pointer :: x(:), y(:), z(:)
    call c_f_pointer(left, x, [count])
    call c_f_pointer(right, y, [count])
    call c_f_pointer(result, z, [count])
    z = x + y
    call sf_test(asked, done_there, ierr_there)
    failed = merge(1, 0, c_associated(context))
  end function

  ! A test that is refused ends nothing: the call goes on, and what it comes to is heard later.
  subroutine test_refused_waits
    real(c_double), asynchronous :: x(6), field(6, 2), sections(3), together(2)
    integer :: done
    x = 1
    field = 1
    sections = -1
    call sf_start_sum(field, sections(1:3:2), MPI_COMM_WORLD, asked, keep=2)
    together = 1
    done_there = -1
    if (ranks == 1) then
      call sf_reduce(x, together(1), c_funloc(add_and_ask), MPI_COMM_WORLD)
    else
      call sf_allreduce(together, c_funloc(add_and_ask), MPI_COMM_WORLD)
      call check(all(nint(together) == ranks), "the reduction that asks")
    end if
    if (done_there /= -1) then
      call check(done_there == 0, "what is refused has not ended")
      call check(ierr_there /= SF_OK, "a call within a call is refused")
    else
      call check(rank > 0 .and. ranks > 2, "some rank's operator asks")
    end if
    call sf_wait(asked, done=done)
    call check(done == 1 .and. all(nint(sections) == [6*ranks, -1, 6*ranks]), "the call has gone on")
  end subroutine

  ! What is wrong on one rank is heard by sf_wait on all, and nobody waits for ever.
  subroutine test_misuse
    real(c_double), asynchronous :: x(6), total, several(2), another
    type(sf_request) :: request, second
    type(sf_layout) :: none
    integer :: ierr, done
    logical :: is_culprit
    x = 1
    is_culprit = rank == ranks - 1
    if (is_culprit) then
      call sf_start_sum(x, several, MPI_COMM_WORLD, request, ierr=ierr)
    else
      call sf_start_sum(x, total, MPI_COMM_WORLD, request, ierr=ierr)
    end if
    call check(ierr == SF_OK, "the start says nothing of it")
    call MPI_Barrier(MPI_COMM_WORLD)
    call sf_start_sum(x, another, MPI_COMM_WORLD, second)
    call sf_wait(request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a result of 1 dimensions (the results of the call have 0 dimensions)")
    call sf_wait(second)
    call check(same(another, 6.0_c_double*ranks), "the next call is not disturbed")
    call sf_start_sum(x, total, MPI_COMM_WORLD, request, options=merge('method=best', 'method=tree', is_culprit))
    call sf_wait(request, done=done, ierr=ierr)
    call check(done == 1, "a call that fails has ended")
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown method 'best'")
    call sf_start_sum(x, total, MPI_COMM_WORLD, request, layout=none)
    call sf_wait(request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout was not made")
    call sf_start_allreduce(x(1:merge(5, 6, is_culprit)), 'sum', MPI_COMM_WORLD, request)
    call sf_wait(request, ierr=ierr)
    call check(ierr == merge(SF_OK, SF_MISMATCH, ranks == 1), "vectors of different lengths")
    x = 1
    call sf_start_sum(x(1:0), total, MPI_COMM_WORLD, request, options='method=exact')
    call sf_start_sum(x, another, MPI_COMM_WORLD, second)
    ! a request that is used twice: that call fails, on the ranks that have one, too
    if (is_culprit) then
      call sf_start_sum(x, total, MPI_COMM_WORLD, request, ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the request is already in use")
      call sf_wait(request)
      call sf_wait(second)
    else
      call sf_wait(request)
      call sf_start_sum(x, total, MPI_COMM_WORLD, request)
      call sf_wait(request, ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the request is already in use")
      call sf_wait(second)
    end if
    call check(same(another, 6.0_c_double*ranks), "others go on")
    call sf_start_sum(x, total, 1.5, request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a communicator of another type")
    call sf_wait(request, ierr=ierr)
    call check(ierr == SF_OK, "nothing was started")
    call sf_start_combine(x(1:0), 'mean', total, MPI_COMM_WORLD, request)
    call sf_wait(request, ierr=ierr)
    call check(ierr == SF_EMPTY, "a mean of nothing")
  end subroutine

  ! A request that is given up: its call goes on, into memory that stays.
  subroutine test_giving_up(x, scattered)
    real(c_double), asynchronous, intent(inout) :: x(:, :), scattered(:)
    type(sf_request) :: request
    real(c_double) :: total
    call sf_start_sum(x, scattered(1:3:2), MPI_COMM_WORLD, request, keep=1)
    call sf_free(request)
    call sf_free(request)
    call sf_sum(x(1, :), total, MPI_COMM_WORLD)
    call check(same(total, sf_dot(x(1, :), 0*x(1, :) + ranks)), "a call after it")
  end subroutine

  ! That the time is over is no failure.
  subroutine test_timeouts
    type(sf_request) :: request
    integer :: done, ierr
    if (rank > 0) then
      call sf_start_barrier(MPI_COMM_WORLD, request)
      call sf_wait(request, 0.01_c_double, done, ierr)
      call check(done == 0 .and. ierr == SF_OK, "a barrier that rank 0 has not reached")
      call sf_test(request, done)
      call check(done == 0, "nor now")
      call sf_wait(request, -1.0_c_double, done, ierr)
      call check(done == 0 .and. ierr == SF_OK, "a time that is over already")
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) call sf_start_barrier(MPI_COMM_WORLD, request)
    call sf_wait(request, 100.0_c_double, done)
    call check(done == 1, "a barrier that all ranks have reached")
  end subroutine

  ! Workers of a team start calls as ranks do.
  subroutine test_team
    type(sf_team) :: team
    type(sf_group) :: group
    type(sf_request) :: sum_of, barrier
    real(c_double) :: x(n)
    real(c_double), asynchronous :: total, mine(n)
    integer :: t
    call fill_hostile(x)
    call sf_team_create(team, 3)
    !$omp parallel num_threads(3) private(group, total, mine, t, sum_of, barrier) firstprivate(x)
    t = omp_get_thread_num()
    mine = x
    sum_of = sf_request()
    barrier = sf_request()
    call sf_team_member(team, t, group)
    call sf_start_sum(mine(t + 1:n:3), total, group, sum_of)
    call sf_start_barrier(group, barrier)
    call sf_wait(sum_of)
    call sf_wait(barrier)
    !$omp critical
    call check(same(total, reference_sum(x, wide(n))), "a team's sum")
    !$omp end critical
    !$omp end parallel
    call sf_free(team)
  end subroutine

  ! Before MPI_Init and after MPI_Finalize: no call over ranks, and why; what needs none works.
  subroutine expect_no_calls(why)
    character(len=*), intent(in) :: why
    real(c_double), asynchronous, target :: x(3), total
    type(sf_plan) :: plan
    type(sf_request) :: request
    type(sf_team) :: team
    type(sf_group) :: group
    integer :: ierr
    x = 1
    total = -7
    call sf_sum(x, total, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_sum(x, total, MPI_COMM_WORLD%MPI_VAL, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_allreduce(x, 'sum', MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_plan_sum(plan, x, total, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_start_sum(x, total, MPI_COMM_WORLD, request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_barrier(MPI_COMM_WORLD, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_group_of(MPI_COMM_WORLD, group, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call sf_team_create(team, 2, MPI_COMM_WORLD, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, why)
    call check(sf_group_rank(MPI_COMM_WORLD) == -1 .and. same(total, -7.0_c_double), "what is refused does nothing")
    call sf_sum(x, total)
    call check(same(total, 3.0_c_double), "a sum of this process alone")
  end subroutine

  ! What is there still when MPI ends, some of it under way.
  subroutine leave_behind(plan, under_way, tested, awaited)
    type(sf_plan), intent(inout) :: plan, under_way
    type(sf_request), intent(inout) :: tested, awaited
    type(MPI_Comm) :: other
    call MPI_Comm_dup(MPI_COMM_WORLD, other)
    call sf_plan_sum(plan, left, totals(1), MPI_COMM_WORLD)
    call sf_plan_sum(under_way, left, totals(2), other)
    call sf_start(under_way)
    call sf_start_sum(left, totals(3), other, tested)
    call sf_start_sum(left, totals(4), other, awaited)
  end subroutine

  subroutine expect_no_ends(plan, under_way, tested, awaited)
    type(sf_plan), intent(inout) :: plan, under_way
    type(sf_request), intent(inout) :: tested, awaited
    integer :: done, ierr
    call sf_run(plan, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_start(plan, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_test(under_way, done, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_wait(under_way, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_test(tested, done, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_wait(awaited, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "MPI is finalised")
    call sf_free(plan)
    call sf_free(under_way)
    call sf_free(tested)
    call sf_free(awaited)
  end subroutine
end module

program fortran_started_test
  use started
  implicit none
  integer :: threads_of_mpi
  real(c_double), asynchronous, save :: x(2, 100), scattered(3)
  type(sf_plan), save :: plan, under_way
  type(sf_request), save :: tested, awaited
  call expect_no_calls("MPI is not initialised")
  call MPI_Init_thread(MPI_THREAD_FUNNELED, threads_of_mpi)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call test_reductions
  call test_vectors
  call test_binding
  call test_refused_waits
  call test_misuse
  call fill_hostile(x(1, :))
  x(2, :) = 1
  call test_giving_up(x, scattered)
  call test_timeouts
  call test_team
  call leave_behind(plan, under_way, tested, awaited)
  call MPI_Finalize
  call expect_no_calls("MPI is finalised")
  call expect_no_ends(plan, under_way, tested, awaited)
  if (rank == 0) write (*, '("calls started from Fortran, ", i0, " ranks: ", i0, " checks passed, ", i0, " failed")') ranks, &
    passed, failures
  if (failures > 0) error stop 1
end program
