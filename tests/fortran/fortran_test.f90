! The Fortran interface on every rank count: sums of fields with halos, masks and weights, against sums of the same numbers
! gathered one after the other by the C++ interface. Every rank makes the whole field and takes its own part of it.

! A field of nx x ny x nz whose rows are dealt to ranks, each with a halo that holds NaN.
module fields
  use checks
  implicit none
  integer, parameter :: nx = 13, ny = 17, nz = 5
  real(c_double) :: whole(nx, ny, nz), area(nx, ny)
  logical :: ocean(nx, ny)
  integer :: basin(nx, ny)
  ! This rank's part.
  integer :: js, je
  real(c_double), allocatable, target :: f(:, :, :), a(:, :)
  logical, allocatable, target :: wet(:, :)
  logical(c_bool), allocatable :: wet_byte(:, :)
  integer, allocatable :: basins(:, :)
contains
  subroutine make_fields
    real(c_double), allocatable :: numbers(:)
    integer :: i, j
    allocate (numbers(nx*ny*nz + nx*ny))
    call fill_hostile(numbers)
    whole = reshape(numbers(:nx*ny*nz), shape(whole))
    area = reshape(numbers(nx*ny*nz + 1:), shape(area))
    do j = 1, ny
      do i = 1, nx
        ocean(i, j) = mod(i*j, 5) /= 2
        basin(i, j) = mod(i + 2*j, 4) ! 0 is no basin
      end do
    end do
    where (spread(.not. ocean, 3, nz)) whole = ieee_value(1.0_c_double, ieee_quiet_nan) ! land
    js = 1 + (ny*rank)/ranks
    je = (ny*(rank + 1))/ranks
    allocate (f(0:nx + 1, js - 1:je + 1, nz), a(0:nx + 1, js - 1:je + 1), wet(nx, js:je), wet_byte(nx, js:je), &
              basins(nx, js:je))
    f = ieee_value(1.0_c_double, ieee_quiet_nan)
    a = ieee_value(1.0_c_double, ieee_quiet_nan)
    f(1:nx, js:je, :) = whole(:, js:je, :)
    a(1:nx, js:je) = area(:, js:je)
    wet = ocean(:, js:je)
    wet_byte = wet
    basins = basin(:, js:je)
  end subroutine

  ! The wet elements of a level, and their areas, one after the other.
  function wet_numbers(level, group) result(numbers)
    integer, intent(in) :: level
    integer, intent(in), optional :: group
    real(c_double), allocatable :: numbers(:)
    numbers = pack(whole(:, :, level), chosen(group))
  end function
  function wet_areas(group) result(numbers)
    integer, intent(in), optional :: group
    real(c_double), allocatable :: numbers(:)
    numbers = pack(area, chosen(group))
  end function
  function chosen(group)
    integer, intent(in), optional :: group
    logical :: chosen(nx, ny)
    chosen = ocean
    if (present(group)) chosen = ocean .and. basin == group
  end function
  function length(x)
    real(c_double), intent(in) :: x(:)
    integer(c_int64_t) :: length
    length = size(x, kind=c_int64_t)
  end function

  subroutine test_fields
    real(c_double) :: sums(nz), expected(nz), total, by_basin(nz, 3), expected_by_basin(nz, 3), scattered(2*nz)
    integer :: k, g, ierr
    do k = 1, nz
      expected(k) = reference_dot(wet_numbers(k), wet_areas(), length(wet_areas()))
      do g = 1, 3
        expected_by_basin(k, g) = reference_sum(wet_numbers(k, g), length(wet_areas(g)))
      end do
    end do
    call sf_sum(f(1:nx, js:je, 1:nz), sums, MPI_COMM_WORLD, keep=3, weight=a(1:nx, js:je), where=wet, ierr=ierr)
    call check(ierr == SF_OK .and. same(sums, expected), "weighted, masked sums of levels")
    call sf_sum(f(nx:1:-1, je:js:-1, nz:1:-1), sums, MPI_COMM_WORLD%MPI_VAL, keep=3, weight=a(nx:1:-1, je:js:-1), &
                where=wet_byte(nx:1:-1, je:js:-1))
    call check(same(sums(nz:1:-1), expected), "the same from behind, by an integer communicator")
    scattered = -1
    call sf_sum(f(1:nx, js:je, :), scattered(2*nz:2:-2), MPI_COMM_WORLD, keep=3, weight=a(1:nx, js:je), where=wet)
    call check(same(scattered(2*nz:2:-2), expected) .and. all(scattered(1::2) == -1.0_c_double), "results in a section")
    call sf_sum_by(f(1:nx, js:je, :), basins, by_basin, MPI_COMM_WORLD, keep=3, where=wet)
    call check(same(reshape(by_basin, [3*nz]), reshape(expected_by_basin, [3*nz])), "sums of levels of basins")
    call sf_sum_by(f(1:nx, js:je, :), 0*basins, by_basin(:, 1:0), MPI_COMM_WORLD, keep=3, ierr=ierr)
    call check(ierr == SF_OK, "no groups")
    call sf_sum(f(1:nx, js:je, 2), total, MPI_COMM_WORLD, where=wet)
    call check(same(total, reference_sum(wet_numbers(2), length(wet_areas()))), "a masked sum")
    total = sf_mean(f(1:nx, js:je, 2), MPI_COMM_WORLD, where=wet)
    call check(same(total, reference_mean(wet_numbers(2), length(wet_areas()))), "a masked mean")
    total = sf_dot(f(1:nx, js:je, 3), a(1:nx, js:je), MPI_COMM_WORLD, where=wet)
    call check(same(total, reference_dot(wet_numbers(3), wet_areas(), length(wet_areas()))), "a masked dot product")
    call check(ieee_is_nan(sf_norm2(f(1:nx, js:je, 2), MPI_COMM_WORLD)), "land counts without a mask")
    call check(sf_max(f(1:nx, js:je, 1), MPI_COMM_WORLD, where=wet) >= maxval(whole(:, :, 1), ocean), "a maximum")
    call check(same(sf_min(f(1:nx, js:je, 1), MPI_COMM_WORLD, where=wet), minval(whole(:, :, 1), ocean)), "a minimum")
  end subroutine
end module

module vectors
  use checks
  implicit none
  type, bind(c) :: matrix
    real(c_double) :: m(2, 2)
  end type
contains
  function multiply(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    type(matrix), pointer :: x(:), y(:), z(:)
    integer :: i
    call c_f_pointer(left, x, [count])
    call c_f_pointer(right, y, [count])
    call c_f_pointer(result, z, [count])
    do i = 1, int(count)
      z(i)%m = matmul(x(i)%m, y(i)%m)
    end do
    failed = merge(1, 0, c_associated(context))
  end function

  subroutine test_vectors
    integer, parameter :: n = 1000
    real(c_double) :: x(n), y(n), total, mean, naive, expected
    real(c_double), allocatable :: mine(:), other(:)
    real(c_float) :: short(2)
    complex(c_double_complex) :: z(3), product
    integer(c_int64_t) :: whole_number
    integer :: from, to, i, differ, ierr
    call fill_hostile(x)
    y = cshift(x, 7)
    from = 1 + (n*rank)/ranks
    to = (n*(rank + 1))/ranks
    mine = x(from:to)
    other = y(from:to)
    call sf_sum(mine, total, MPI_COMM_WORLD)
    expected = reference_sum(x, int(n, c_int64_t))
    call check(same(total, expected), "a sum")
    differ = 0
    do i = 1, 10 ! the same numbers, beginning with others
      y = cshift(x, 97*i)
      naive = sum(y(from:to))
      call MPI_Allreduce(MPI_IN_PLACE, naive, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      if (.not. same(naive, expected)) differ = differ + 1
      call sf_sum(y(from:to), total, MPI_COMM_WORLD)
      call check(same(total, expected), "a sum in another order")
    end do
    call check(differ > 0, "plain sums differ (else this test proves nothing)")
    y = cshift(x, 7)
    call sf_sum(mine, total, MPI_COMM_WORLD, options="method = tree, layout = rank_order")
    call check(same(total, reference_tree(x, int(n, c_int64_t))), "a sum by tree")
    call sf_sum(x, total)
    call check(same(total, expected), "this process's own")
    call sf_sum(x(n:1:-1), total)
    call check(same(total, expected), "in no order")
    call check(same(sf_dot(mine, other, MPI_COMM_WORLD), reference_dot(x, y, int(n, c_int64_t))), "a dot product")
    call check(same(sf_norm2(mine, MPI_COMM_WORLD), reference_norm2(x, int(n, c_int64_t))), "a norm")
    mean = sf_mean(mine, MPI_COMM_WORLD)
    call check(same(mean, reference_mean(x, int(n, c_int64_t))), "a mean")
    call check(same(sf_mean(mine, MPI_COMM_WORLD, weight=other), sf_mean(x, weight=y)), "a weighted mean")
    call check(same(sf_var([1.0_c_double, 2.0_c_double, 6.0_c_double]), 14/3.0_c_double), "a variance")
    call check(same(sf_var([1.0, 2.0, 6.0], ddof=1), 7.0_c_double), "a sample variance of floats")
    z = [(1, 2), (3, -1), (0, 1)]
    product = sf_dot(z, z)
    call check(product == (16, 0), "a complex dot product conjugates its first factors")
    call check(same(sf_norm2(z), 4.0_c_double), "a complex norm")
    short = [16777216.0, 1.0]
    call sf_sum(short, total)
    call check(same(total, 16777217.0_c_double), "floats into a double")
    call sf_sum([huge(1_c_int64_t), -1_c_int64_t], whole_number, MPI_COMM_SELF)
    call check(whole_number == huge(1_c_int64_t) - 1, "integers of 8 bytes")
    call sf_sum(2.5_c_double, total, MPI_COMM_WORLD)
    call check(same(total, 2.5_c_double*ranks), "a scalar of every rank")
    call sf_sum(mine(1:0), total, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_OK .and. same(total, 0.0_c_double), "a sum of nothing")
    ! Weights that are repeated, and behind them what nobody may read.
    y = ieee_value(1.0_c_double, ieee_quiet_nan)
    y(1:4) = x(1:4)
    call sf_sum(reshape(x(1:20), [4, 5]), total, weight=y(1:4))
    call check(same(total, reference_dot(x(1:20), [(x(1:4), i = 1, 5)], wide(20))), "fewer weights than elements")
  end subroutine

  subroutine test_allreduce_and_operators
    integer, parameter :: n = 301
    real(c_double) :: x(2, n), line(n), total(n), all(n, 0:ranks - 1)
    type(matrix), allocatable :: mine(:), every(:)
    type(matrix) :: product, expected
    real(c_double), allocatable :: numbers(:)
    integer :: i, p
    allocate (numbers(n*ranks))
    call fill_hostile(numbers)
    all = reshape(numbers, shape(all))
    line = all(:, rank)
    x = -7
    x(2, :) = line
    call sf_allreduce(x(2, :), 'sum', MPI_COMM_WORLD)
    call sf_allreduce(line, 'sum ', MPI_COMM_WORLD)
    do i = 1, n
      total(i) = reference_tree(all(i, :), int(ranks, c_int64_t))
    end do
    call check(same(line, total), "an allreduce is the tree over ranks")
    call check(same(x(2, :), total) .and. all_are(x(1, :), -7.0_c_double), "of a section")
    line = all(:, rank)
    call sf_allreduce(line, 'max', MPI_COMM_WORLD, options='schedule=ring:block=16')
    do i = 1, n
      total(i) = maxval(all(i, :))
    end do
    call check(same(line, total), "a maximum by ring")

    allocate (every(100))
    do i = 1, size(every)
      every(i)%m = reshape([0.3_c_double*i, -1.0_c_double/i, 1.1_c_double, sin(real(i, c_double))], [2, 2])
    end do
    allocate (mine, source=every(1 + (100*rank)/ranks:(100*(rank + 1))/ranks))
    call sf_reduce(every, expected, c_funloc(multiply))
    call sf_reduce(mine, product, c_funloc(multiply), MPI_COMM_WORLD)
    call check(same(reshape(product%m, [4]), reshape(expected%m, [4])), "products of matrices, in order")
    call sf_reduce(every(100:1:-1), expected, c_funloc(multiply))
    do p = 1, 50
      product = every(p)
      every(p) = every(101 - p)
      every(101 - p) = product
    end do
    call sf_reduce(every, product, c_funloc(multiply))
    call check(same(reshape(product%m, [4]), reshape(expected%m, [4])), "of a section from behind")
  end subroutine

  pure logical function all_are(x, value)
    real(c_double), intent(in) :: x(:), value
    integer :: i
    all_are = .true.
    do i = 1, size(x)
      all_are = all_are .and. same(x(i), value)
    end do
  end function
end module

! Plans, and accumulators that threads fill.
module kept
  use fields
  implicit none
contains
  subroutine test_plans
    type(sf_plan) :: plan, products, norm
    real(c_double), target :: sums(2*nz), product, length_of
    real(c_double) :: expected(nz)
    real(c_double), target :: x(100)
    real(c_double), allocatable :: before(:, :, :)
    integer :: k, run, done, ierr
    call fill_hostile(x)
    allocate (before, source=f)
    sums = -1
    call sf_plan_sum(plan, f(1:nx, js:je, :), sums(2*nz:2:-2), MPI_COMM_WORLD, keep=3, weight=a(1:nx, js:je), where=wet)
    call sf_plan_dot(products, x, x(100:1:-1), product, MPI_COMM_WORLD)
    call sf_plan_norm2(norm, x, length_of, MPI_COMM_WORLD%MPI_VAL, options='method=binned')
    do run = 1, 3
      do k = 1, nz
        expected(k) = reference_dot(run*wet_numbers(k), wet_areas(), length(wet_areas()))
      end do
      f = run*before
      if (run == 1) then
        call sf_run(plan)
      else
        call sf_start(plan)
        call sf_start(products)
        done = 0
        do while (done == 0)
          call sf_wait(plan, 0.001_c_double, done)
        end do
        call sf_wait(products)
      end if
      f = before
      call check(same(sums(2*nz:2:-2), expected) .and. all(sums(1::2) < 0), "a plan's run")
    end do
    call check(same(product, sf_dot(x, x(100:1:-1), MPI_COMM_WORLD)), "a plan of a dot product")
    ! Started and run again while under way: both are refused, and the run goes on.
    do k = 1, nz
      expected(k) = reference_dot(wet_numbers(k), wet_areas(), length(wet_areas()))
    end do
    sums = -1
    call sf_start(plan)
    call sf_start(plan, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan is running")
    call sf_run(plan, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan is running")
    call check(all(sums < 0) .and. all(sums > -1.5_c_double), "what is refused delivers nothing")
    call sf_wait(plan)
    call check(same(sums(2*nz:2:-2), expected) .and. all(sums(1::2) < 0), "a run that was asked for again")
    call sf_run(norm)
    call check(same(length_of, sf_norm2(x, MPI_COMM_WORLD, options='method=binned')), "a plan of a norm")
    call sf_plan_norm2(norm, x, length_of, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a plan that is made again")
    call sf_free(plan)
    call sf_free(plan)
    call sf_free(products)
    call sf_free(norm)
    call sf_run(plan, ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. index(sf_error_message(), "no plan") > 0, "a run of no plan")
    call sf_plan_sum(plan, f(1:nx, js:je, :), sums(1:nz - merge(1, 0, rank == 0)), MPI_COMM_WORLD, keep=3, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a plan that does not fit on one rank")
    call sf_run(plan, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "there is none then")
  end subroutine

  subroutine test_bundles
    type(sf_plan) :: plan
    real(c_double), target :: sums(2*nz), product, length_of, x(100)
    real(c_double) :: expected(nz)
    integer :: k, run, ierr
    call fill_hostile(x)
    do k = 1, nz
      expected(k) = reference_dot(wet_numbers(k), wet_areas(), length(wet_areas()))
    end do
    call sf_run(plan, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a run of no plan")
    call sf_bind(plan, MPI_COMM_WORLD, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "an empty bundle")
    call sf_plan_sum(plan, f(1:nx, js:je, :), sums(2*nz:2:-2), keep=3, weight=a(1:nx, js:je), where=wet)
    call sf_plan_sum(plan, f(1:nx, js:je, :), sums(1:2), keep=3, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a reduction that is not added")
    call sf_run(plan, ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. index(sf_error_message(), "not bound") > 0, "a run before sf_bind")
    call sf_plan_dot(plan, x, x(100:1:-1), product)
    call sf_plan_norm2(plan, x, length_of, options='method=binned')
    call sf_bind(plan, MPI_COMM_WORLD)
    call sf_plan_norm2(plan, x, length_of, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "one that comes too late")
    do run = 1, 3
      sums = -1
      product = 0
      length_of = 0
      if (run == 2) then
        call sf_start(plan)
        call sf_run(plan, ierr)
        call expect(ierr, SF_INVALID_ARGUMENT, "the plan is running")
        call sf_wait(plan)
      else
        call sf_run(plan)
      end if
      call check(same(sums(2*nz:2:-2), expected) .and. all(sums(1::2) < 0), "sums of a bundle")
      call check(same(product, sf_dot(x, x(100:1:-1), MPI_COMM_WORLD)), "a dot product of a bundle")
      call check(same(length_of, sf_norm2(x, MPI_COMM_WORLD, options='method=binned')), "a norm of a bundle")
    end do
    call sf_free(plan)
    if (rank == 0) call sf_plan_norm2(plan, x, length_of)
    call sf_plan_dot(plan, x, x, product)
    call sf_bind(plan, MPI_COMM_WORLD, ierr)
    call check(ierr == merge(SF_OK, SF_MISMATCH, ranks == 1), "other bundles on other ranks")
    call sf_free(plan)
  end subroutine

  subroutine test_accumulators
    integer, parameter :: n = 1200, threads = 3
    type(sf_accumulator) :: acc(threads), all, levels, again, nothing
    real(c_double) :: x(n), mine(n), total, mean, sums(nz), expected(nz)
    real(c_float) :: rounded
    integer(1), allocatable :: bytes(:)
    integer(c_int64_t) :: size
    integer :: t, k, ierr
    call fill_hostile(x)
    mine = 0
    mine(1 + (n*rank)/ranks:(n*(rank + 1))/ranks) = x(1 + (n*rank)/ranks:(n*(rank + 1))/ranks)
    !$omp parallel do num_threads(threads)
    do t = 1, threads
      call sf_add(acc(t), mine(t::threads), where=mine(t::threads) /= 0)
    end do
    do t = 1, threads
      call sf_merge(all, acc(t))
      call sf_free(acc(t))
    end do
    call sf_merge_ranks(all, MPI_COMM_WORLD)
    call sf_total(all, total)
    call check(same(total, reference_sum(x, int(n, c_int64_t))), "an accumulator of threads and ranks")
    call sf_average(all, mean)
    call check(same(mean, reference_mean(pack(x, x /= 0), int(count(x /= 0), c_int64_t))), "its mean")
    call sf_subtract(all, x(2:), where=x(2:) /= 0)
    call sf_total(all, total)
    call check(same(total, x(1)), "what is left of it")
    call sf_total(all, rounded)
    call check(same(rounded, real(x(1), c_float)), "rounded to a float")

    call sf_add(levels, f(1:nx, js:je, :), keep=3, weight=a(1:nx, js:je), where=wet)
    call sf_write(levels, mine(1:0), size, ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. size > 0, "no room for bytes")
    allocate (bytes(size))
    call sf_write(levels, bytes, size)
    call sf_read(again, bytes)
    call sf_merge_ranks(again, MPI_COMM_WORLD)
    call sf_total(again, sums)
    do k = 1, nz
      expected(k) = reference_dot(wet_numbers(k), wet_areas(), length(wet_areas()))
    end do
    call check(same(sums, expected), "levels that were written and read")
    bytes(size/2) = not(bytes(size/2))
    call sf_read(nothing, bytes, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "damaged bytes")
    call sf_total(nothing, total, ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. index(sf_error_message(), "the accumulator is empty") > 0, "nothing")
    call sf_total(again, sums(1:2), ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "too few places")
    call sf_add(again, f(1:nx, js:je, 1), ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "elements for several columns")
    if (rank == 0) then
      call sf_merge_ranks(nothing, MPI_COMM_WORLD, ierr)
    else
      call sf_merge_ranks(again, MPI_COMM_WORLD, ierr)
    end if
    call check(ierr == SF_INVALID_ARGUMENT .and. index(sf_error_message(), "the accumulator is empty") > 0, "nothing on rank 0")
    if (rank == 0) call sf_merge(nothing, all)
    if (rank == 0) call sf_merge_ranks(nothing, MPI_COMM_WORLD, ierr)
    if (rank > 0) call sf_merge_ranks(again, MPI_COMM_WORLD, ierr)
    call check(ierr == merge(SF_OK, SF_MISMATCH, ranks == 1), "another shape on rank 0")
    call sf_free(all)
    call sf_free(levels)
    call sf_free(again)
    call sf_free(nothing)
  end subroutine
end module

! Threads of this rank, and of all ranks, in place of ranks.
module teams
  use omp_lib, only: omp_get_thread_num
  use checks
  implicit none
  integer, parameter :: n = 700
contains
  subroutine test_teams
    type(sf_team) :: own, all
    type(sf_group) :: nobody
    real(c_double) :: x(n), total
    integer :: ierr
    call fill_hostile(x)
    call sf_team_create(own, 3)
    call sum_by_threads(own, 3, x, 0, 1)
    call sum_by_threads(own, 3, x, 0, 1)
    call sf_free(own)
    call sf_team_create(all, 2, MPI_COMM_WORLD)
    call sum_by_threads(all, 2, x, rank, ranks)
    call sf_team_create(all, 2, MPI_COMM_WORLD, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a team that is made again")
    call sf_free(all)
    call sf_free(all)
    if (rank == ranks - 1) call sf_team_create(own, 1)
    call sf_team_create(own, 2, MPI_COMM_WORLD, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a team that one rank makes again")
    call sf_free(own)
    call sf_team_create(own, 0, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a team of nobody")
    call sf_sum(x, total, nobody, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. index(sf_error_message(), "a group without ranks") > 0, "nobody's group")
    call sf_team_member(own, 0, nobody, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a member of no team")
  end subroutine

  ! Every thread of every part brings every so manieth element.
  subroutine sum_by_threads(team, threads, x, part, parts)
    type(sf_team), intent(in) :: team
    integer, intent(in) :: threads, part, parts
    real(c_double), intent(in) :: x(n)
    type(sf_group) :: group
    real(c_double) :: total, norm
    integer :: t
    !$omp parallel num_threads(threads) private(group, total, norm, t)
    t = omp_get_thread_num()
    call sf_team_bind(team, t)
    call sf_team_member(team, t, group)
    call sf_sum(x(1 + part*threads + t::parts*threads), total, group)
    norm = sf_norm2(x(1 + part*threads + t::parts*threads), group)
    !$omp critical
    call check(same(total, reference_sum(x, int(n, c_int64_t))), "a team's sum")
    call check(same(norm, reference_norm2(x, int(n, c_int64_t))), "a team's norm")
    !$omp end critical
    !$omp end parallel
  end subroutine
end module

! Arrays that an assignment allocates for the result of a function that moves elements. gfortran 12 leaves the distances
! in their descriptors undefined: of variables that are saved they are 0.
module assigned
  use checks
  implicit none
  real(c_double), allocatable, save :: packed(:), table(:, :), copies(:, :), turned(:), product(:), results(:)
  integer, allocatable, save :: labels(:), kept(:)
contains
  subroutine test_assigned_arrays
    real(c_double) :: x(12), total, sums(3), least
    integer(c_int64_t) :: place
    integer :: i
    x = [(2.0_c_double**i, i=1, 12)]
    packed = pack(x, mod([(i, i=1, 12)], 2) == 1)
    table = reshape(x, [3, 4])
    copies = spread(x(:4), 1, 3)
    turned = cshift(x, 1)
    product = matmul(table, x(:4))
    labels = pack([(1 + mod(i, 3), i=1, 12)], x > 0)
    kept = pack([1, 2], [.true., .false.])
    call sf_sum(packed, total)
    call agree(total, sum(packed), "packed")
    call sf_sum(table, total)
    call agree(total, sum(table), "reshaped")
    call sf_sum(table, sums, keep=kept)
    call agree(sums(2), sum(table(2, :)), "reshaped, by rows")
    call sf_sum(copies, total)
    call agree(total, sum(copies), "spread")
    call sf_sum(product, total)
    call agree(total, sum(product), "product")
    call agree(sf_dot(turned, packed(1)*x), packed(1)*sum(turned*x), "shifted")
    call sf_sum_by(x, labels, sums)
    call agree(sums(1), sum(x(3::3)), "groups by packed labels")
    call sf_minloc(turned, least, place)
    call check(least == 2 .and. place == 12, "the least of shifted elements")
    results = pack([(0*x(i), i=1, 3)], [.true., .true., .true.])
    call sf_sum(table, results, keep=1)
    call agree(results(3), sum(table(3, :)), "results in a packed array")
  end subroutine

  subroutine agree(value, due, what)
    real(c_double), intent(in) :: value, due
    character(len=*), intent(in) :: what
    call check(value == due, "an array that an assignment allocated: "//what)
  end subroutine
end module

! What is wrong on one rank is an error on all of them, with the text that names the rank.
module misuse
  use checks
  implicit none
contains
  subroutine test_misuse
    real(c_double) :: x(6, 4), result(4), one, wrong(3), square(4, 4)
    integer :: ierr
    logical :: is_culprit
    real(c_double), allocatable :: nothing(:)
    x = 1
    is_culprit = rank == ranks - 1
    if (is_culprit) then
      call sf_sum(x, wrong, MPI_COMM_WORLD, keep=2, ierr=ierr)
    else
      call sf_sum(x, result, MPI_COMM_WORLD, keep=2, ierr=ierr)
    end if
    call expect(ierr, SF_INVALID_ARGUMENT, &
      "a result with 3 indices in dimension 1 (the call has 4 results along it), give the result as many")
    call sf_sum(x, result, MPI_COMM_WORLD, keep=2, ierr=ierr)
    call check(ierr == SF_OK .and. all(result == 6.0_c_double*ranks), "the next call is not disturbed")
    call sf_sum(x, result, MPI_COMM_WORLD, keep=merge(3, 2, is_culprit), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, &
      "dimension 3 in keep (the dimensions in keep must ascend, from 1 to the array's rank, 2)")
    call sf_sum(x, one, keep=[2, 1], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "dimension 1 in keep")
    call sf_sum(x, square, keep=[2, 2], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "dimension 2 in keep")
    call sf_sum(x, result, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a result of 1 dimensions (the results of the call have 0 dimensions)")
    call sf_sum(x, one, where=x(:, 1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a mask of type real (a mask must be logical)")
    call sf_sum(x, one, where=spread(.true., 1, 5), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a mask of shape (5)")
    call sf_sum(x, one, weight=real(x), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the factors and the elements have different types")
    call sf_sum(['a', 'b'], one, ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "elements of type character with 1 bytes")
    call sf_sum(x, one, MPI_COMM_WORLD, options="bins", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "option 'bins' (the option has no value)")
    call sf_sum(x, one, options="method=best", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown method 'best'")
    call sf_sum(x, one, MPI_COMM_WORLD, options="root=99", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "root 99 is not a rank (the ranks are 0 to")
    call sf_sum(x, one, MPI_COMM_WORLD, options="root=-1", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "'-1' for option root (the option takes a rank or all)")
    ! What only ranks can have: alone, it may be wrong as well.
    call sf_sum(x, one, options="root=3", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "root 3 is not a rank (the ranks are 0 to 0)")
    call sf_sum(x, one, options="schedule=rng", ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown schedule 'rng'")
    call sf_sum(x, one, options="root=0, schedule=ring", ierr=ierr)
    call check(ierr == SF_OK .and. same(one, 24.0_c_double), "a root and a schedule that there are")
    call sf_sum(x, one, 1.5, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a communicator of another type")
    call sf_allreduce(result, 'add', MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown name 'add'")
    one = sf_var([1.0, 2.0], MPI_COMM_WORLD, ddof=2, ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "a variance with ddof=2")
    one = sf_mean(x(1:0, :), ierr=ierr)
    call check(ierr == SF_EMPTY, "a mean of nothing")
    call assumed_size(x, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "elements of assumed size")
    allocate (nothing(0))
    one = sf_min(nothing, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_EMPTY, "a minimum of nothing")
  end subroutine

  subroutine assumed_size(x, ierr)
    real(c_double), intent(in) :: x(*)
    integer, intent(out) :: ierr
    real(c_double) :: one
    call sf_sum(x, one, ierr=ierr)
  end subroutine
end module

! Rounding modes and flushed subnormals of the program reach no result: every procedure, in every environment.
module environments
  use checks
  implicit none
  integer, parameter :: n = 67
  real(c_double), asynchronous, save, target :: x(n), y(n), field(n, 2), total, least, sums(2)
  real(c_float), asynchronous, save, target :: short(n), weights(n), rounded
  complex(c_double_complex), save :: z(n)
  complex(c_float_complex), save :: narrow(n)
  integer, asynchronous, save :: labels(n)
  integer(c_int64_t), asynchronous, save, target :: place
  type(sf_statistics), asynchronous, save, target :: found
  integer, allocatable, save :: results(:) ! their bits
contains
  subroutine note(bits)
    integer, intent(in) :: bits(:)
    results = [results, bits]
  end subroutine

  function take_right(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    integer(c_int64_t), pointer :: from(:), to(:)
    call c_f_pointer(right, from, [count])
    call c_f_pointer(result, to, [count])
    to = from
    failed = merge(1, 0, c_associated(context) .or. .not. c_associated(left))
  end function

  ! Elements that cancel, halves of last places, and subnormals; `kind` 2: nothing but subnormals, also as floats.
  subroutine make_numbers(kind)
    integer, intent(in) :: kind
    integer :: i
    call set_usual_environment
    call fill_hostile(x)
    x = cshift(x, 11*rank)
    if (kind == 2) x = [((-1)**i*i*1e-310_c_double, i = 1, n)]
    y = cshift(x, 5)
    field = reshape([x, y], [n, 2])
    short = real(x/(1 + maxval(abs(x)))*3, c_float)
    if (kind == 2) short = [((-1)**i*i*1e-41, i = 1, n)]
    weights = cshift(short, 3)
    if (kind == 2) weights = 1.5
    z = cmplx(x, y, c_double_complex)
    narrow = cmplx(short, weights, c_float_complex)
    labels = [(1 + mod(i, 2), i = 1, n)]
  end subroutine

  subroutine reduce_by_all
    character(*), parameter :: names(11) = [character(13) :: 'sum', 'product', 'min', 'max', 'norm2', 'mean', 'abs_sum', &
                                            'sum_squares', 'norminf', 'weighted_mean', 'covariance']
    character(*), parameter :: methods(3) = [character(13) :: 'method=exact', 'method=tree', 'method=binned']
    real(c_double) :: by_group(2)
    complex(c_double_complex) :: of_complex
    integer :: i
    do i = 1, size(methods)
      call sf_sum(x, total, MPI_COMM_WORLD, options=methods(i))
      call note(transfer(total, [0]))
      call sf_sum(short, rounded, MPI_COMM_WORLD, options=methods(i))
      call note(transfer(rounded, [0]))
      if (i /= 2) call note(transfer(sf_dot(x, y, options=methods(i)), [0]))
    end do
    call sf_sum(short, total, weight=weights)
    call note(transfer(total, [0]))
    call sf_sum(x, rounded, MPI_COMM_WORLD)
    call note(transfer(rounded, [0]))
    call sf_sum(field(n:1:-2, :), sums, MPI_COMM_WORLD, keep=2, weight=y(::2), where=x(::2) > -huge(total))
    call note(transfer(sums, [0]))
    call sf_sum(narrow, of_complex, MPI_COMM_WORLD)
    call note(transfer(of_complex, [0]))
    do i = 1, size(names)
      if (i < 10) call sf_combine(x, names(i), total, MPI_COMM_WORLD)
      if (i >= 10) call sf_combine(x, names(i), total, MPI_COMM_WORLD, weight=y)
      call note(transfer(total, [0]))
      if (i < 10) call sf_combine(short, names(i), rounded)
      if (i >= 10) call sf_combine(short, names(i), rounded, weight=weights)
      call note(transfer(rounded, [0]))
    end do
    call sf_sum_by(x, labels, by_group, MPI_COMM_WORLD, weight=y)
    call note(transfer(by_group, [0]))
    call sf_combine_by(x, labels, 'mean', by_group, MPI_COMM_WORLD)
    call note(transfer(by_group, [0]))
    call sf_minloc(short, rounded, place, MPI_COMM_WORLD)
    call note([transfer(rounded, [0]), int(place)])
    call sf_maxloc(x, total, place, MPI_COMM_WORLD)
    call note([transfer(total, [0]), int(place)])
    call sf_describe(short, found, MPI_COMM_WORLD)
    call note(transfer(found, [0]))
  end subroutine

  subroutine reduce_to_values
    call note(transfer([sf_min(x), sf_max(x), sf_norm1(x), sf_norm2(x), sf_norminf(x), sf_sum_squares(x), sf_mean(x), &
                        sf_dot(x, y), sf_covariance(x, y), sf_sample_covariance(x, y), &
                        sf_correlation(x, y), sf_var(x), sf_var(short, ddof=1)], [0]))
    call note(transfer([sf_min(short), sf_max(short), sf_norm1(short), sf_norm2(short), sf_norminf(short), &
                        sf_sum_squares(short), sf_mean(short), sf_dot(short, weights), sf_covariance(short, weights), &
                        sf_sample_covariance(short, weights), sf_mean(short, weight=weights), sf_norm2(narrow)], [0]))
    call note(transfer([sf_dot(z, z), sf_dotu(z, z), sf_mean(z)], [0]))
    call note(transfer([sf_dot(narrow, narrow), sf_dotu(narrow, narrow), sf_mean(narrow)], [0]))
  end subroutine

  subroutine combine_vectors
    real(c_double) :: values(n), block(n), one
    real(c_float) :: floats(n)
    values = x
    call sf_allreduce(values, 'sum', MPI_COMM_WORLD)
    call note(transfer(values, [0]))
    floats = short
    call sf_allreduce(floats, 'sum', MPI_COMM_WORLD)
    call note(transfer(floats, [0]))
    values = x
    call sf_scan(values, 'sum', MPI_COMM_WORLD)
    call note(transfer(values, [0]))
    values = x
    call sf_exscan(values, 'sum', MPI_COMM_WORLD)
    call note(transfer(values, [0]))
    call sf_reduce_scatter(spread_over_ranks(), block, 'sum', MPI_COMM_WORLD)
    call note(transfer(block, [0]))
    call sf_reduce(x, one, c_funloc(take_right), MPI_COMM_WORLD)
    call note(transfer(one, [0]))
  end subroutine

  ! A block for every rank.
  function spread_over_ranks() result(blocks)
    real(c_double) :: blocks(n*ranks)
    blocks = reshape(spread(x, 2, ranks), [n*ranks])
  end function

  ! Runs them by one word of a request or a plan: they have the same ways to their results.
  subroutine end_and_note(request)
    type(sf_request), intent(inout) :: request
    call sf_wait(request)
    call note([transfer(total, [0]), transfer(rounded, [0]), transfer(sums, [0]), int(place), transfer(least, [0])])
  end subroutine

  subroutine start_all
    type(sf_request) :: request
    real(c_double), asynchronous :: values(n), block(n), blocks(n*ranks)
    blocks = spread_over_ranks()
    call sf_start_sum(x, rounded, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_sum_by(x, labels, sums, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_combine(short, 'mean', rounded, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_combine_by(x, labels, 'abs_sum', sums, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_dot(short, weights, rounded, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_minloc(x, least, place, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_maxloc(x, least, place, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_describe(x, found, MPI_COMM_WORLD, request)
    call end_and_note(request)
    call note(transfer(found, [0]))
    values = x
    call sf_start_allreduce(values, 'sum', MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_scan(values, 'sum', MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_exscan(values, 'sum', MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_reduce_scatter(blocks, block, 'sum', MPI_COMM_WORLD, request)
    call end_and_note(request)
    call sf_start_reduce(x, total, c_funloc(take_right), MPI_COMM_WORLD, request)
    call end_and_note(request)
    call note([transfer(values, [0]), transfer(block, [0])])
  end subroutine

  subroutine plan_all
    type(sf_plan) :: plan
    type(sf_request) :: request
    real(c_double), target :: of_names(3)
    call sf_plan_sum(plan, x, rounded)
    call sf_plan_dot(plan, x, y, total)
    call sf_plan_norm2(plan, x, of_names(1))
    call sf_plan_combine(plan, short, 'mean', of_names(2))
    call sf_plan_minloc(plan, x, least, place)
    call sf_plan_maxloc(plan, x, of_names(3), place)
    call sf_plan_describe(plan, short, found)
    call sf_start_bind(plan, MPI_COMM_WORLD, request)
    call sf_wait(request)
    call sf_run(plan)
    call end_and_note(request)
    call note([transfer(of_names, [0]), transfer(found, [0])])
    call sf_start(plan)
    call sf_wait(plan)
    call end_and_note(request)
    call sf_free(plan)
    call sf_plan_sum(plan, short, total)
    call sf_bind(plan, MPI_COMM_WORLD)
    call sf_run(plan)
    call end_and_note(request)
    call sf_free(plan)
  end subroutine

  subroutine accumulate
    type(sf_accumulator) :: a, b, floats, products
    integer(c_int8_t) :: bytes(4000), packed(328)
    integer(c_int64_t) :: size
    integer :: order
    call sf_add(a, x)
    call sf_add(a, 1e-310_c_double)
    call sf_subtract(a, y(::3))
    call sf_add(floats, short)
    call sf_add(products, short, weight=weights)
    call sf_add(products, short(1:1))
    call sf_copy(a, b)
    call sf_negate(b)
    call sf_merge(b, a)
    call sf_unmerge(b, a)
    call sf_compare(a, b, order)
    call sf_merge_ranks(a, MPI_COMM_WORLD)
    call sf_pack(b, packed)
    call sf_unpack(b, packed)
    call sf_merge_packed(packed, packed)
    bytes = 0
    call sf_write(a, bytes, size)
    call note([order, transfer(bytes, [0]), transfer(packed, [0])])
    call sf_total(a, total)
    call sf_total(b, rounded)
    call note([transfer(total, [0]), transfer(rounded, [0])])
    call sf_average(a, total)
    call sf_average(floats, rounded)
    call note([transfer(total, [0]), transfer(rounded, [0])])
    call sf_root(products, total)
    call sf_total(products, rounded)
    call note([transfer(total, [0]), transfer(rounded, [0])])
    call sf_clear(b)
    call sf_free(a)
    call sf_read(a, bytes(:size))
    call sf_merge(b, a)
    call sf_total(b, rounded)
    call note(transfer(rounded, [0]))
  end subroutine

  ! Sums that the program makes itself, which must differ (else this proves nothing).
  subroutine sum_by_loop
    real(c_double), volatile :: own
    real(c_float), volatile :: narrower
    integer :: i
    own = 0
    narrower = 0
    do i = 1, n
      own = own + x(i)*0.7_c_double
      narrower = narrower + short(i)*0.7
    end do
    call note([transfer(own, [0]), transfer(narrower, [0])])
  end subroutine

  subroutine run_all
    results = [integer ::]
    total = 0
    least = 0
    sums = 0
    rounded = 0
    place = 0
    call reduce_by_all
    call reduce_to_values
    call combine_vectors
    call start_all
    call plan_all
    call accumulate
  end subroutine

  subroutine test_environments
    integer, allocatable :: usual(:), own(:)
    integer :: kind, rounding, flushes, differ, followed, again
    character(len=40) :: where
    do kind = 1, 2
      call make_numbers(kind)
      call run_all
      usual = results
      results = [integer ::]
      call sum_by_loop
      own = results
      differ = 0
      followed = -1 ! the usual one is no other
      do rounding = 0, 3
        do flushes = 0, 1
          followed = followed + set_environment(rounding, flushes)
          call run_all
          call set_usual_environment
          write (where, '("numbers ", i0, ", rounding ", i0, ", flushed ", i0)') kind, rounding, flushes
          call check(size(results) == size(usual) .and. all(results == usual), "another environment: "//where)
          again = set_environment(rounding, flushes)
          results = [integer ::]
          call sum_by_loop
          call set_usual_environment
          if (any(results /= own)) differ = differ + 1
        end do
      end do
      call check_control(differ, followed)
    end do
  end subroutine
end module

program fortran_test
  use fields
  use vectors
  use kept
  use teams
  use assigned, only: test_assigned_arrays
  use misuse
  use environments, only: test_environments
  implicit none
  character(len=16) :: mode
  integer :: threads_of_mpi
  real(c_double) :: one
  call MPI_Init_thread(MPI_THREAD_FUNNELED, threads_of_mpi)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call get_command_argument(1, mode)
  if (mode == 'fail') call sf_sum([1.0_c_double], one, MPI_COMM_WORLD, options='method=best') ! ends the program
  call make_fields
  call test_fields
  call test_vectors
  call test_allreduce_and_operators
  call test_plans
  call test_bundles
  call test_accumulators
  call test_teams
  call test_assigned_arrays
  call test_misuse
  call test_environments
  if (rank == 0) write (*, '("Steadfold ", a, " in Fortran, ", i0, " ranks: ", i0, " checks passed, ", i0, " failed")') &
    sf_version_text(), ranks, passed, failures
  call MPI_Finalize
  if (failures > 0) error stop 1
end program
