! Operations, layouts, vectors and names from Fortran on every rank count, against those of the same numbers one after the
! other by the C++ interface.

module operations
  use checks
  implicit none
  integer, parameter :: n = 997
contains
  subroutine test_values
    real(c_double) :: x(n), y(n), total
    complex(c_double_complex) :: z(n), product
    real(c_double), allocatable :: mine(:), other(:)
    real(c_float) :: short(3)
    integer :: a, b
    call fill_hostile(x)
    y = cshift(x, 13)
    a = first_of(n)
    b = last_of(n)
    mine = x(a:b)
    other = y(a:b)
    call check(same(sf_norm1(mine, MPI_COMM_WORLD), reference_norm1(x, wide(n))), "norm1")
    call check(same(sf_norminf(mine, MPI_COMM_WORLD), reference_norminf(x, wide(n))), "norminf")
    call check(same(sf_sum_squares(mine, MPI_COMM_WORLD), reference_sum_squares(x, wide(n))), "sum of squares")
    call check(same(sf_norm1(x(n:1:-1)), reference_norm1(x, wide(n))), "norm1 of a section, alone")
    short = [3.0, -16777216.0, 1.0]
    call check(same(sf_norm1(short), 16777220.0) .and. same(sf_norminf(short), 16777216.0), "norms of floats")
    call check(same(sf_sum_squares([(3.0, 4.0)]), 25.0), "a sum of squares of complex floats")
    z = cmplx(x, y, c_double_complex)
    call reference_dotu(z, z(n:1:-1), wide(n), product)
    total = real(sf_dotu(z(a:b), z(n + 1 - a:n + 1 - b:-1), MPI_COMM_WORLD), c_double)
    call check(same(total, real(product, c_double)), "a dot product that conjugates nothing")
    call check(sf_dotu([(0.0, 1.0)], [(0.0, 1.0)]) == (-1.0, 0.0), "of floats")
    call combine_by_name(x, y, mine, other)
  end subroutine

  subroutine combine_by_name(x, y, mine, other)
    real(c_double), intent(in) :: x(:), y(:), mine(:), other(:)
    real(c_double) :: result, near(n)
    integer :: whole, ierr
    call sf_combine(mine, 'abs_sum', result, MPI_COMM_WORLD)
    call check(same(result, reference_norm1(x, wide(n))), "abs_sum by name")
    call sf_combine(mine, 'sum ', result, MPI_COMM_WORLD)
    call check(same(result, reference_sum(x, wide(n))), "sum by name")
    call sf_combine(mine, 'sum', result, MPI_COMM_WORLD, weight=other)
    call check(same(result, reference_dot(x, y, wide(n))), "a weighted sum by name")
    call sf_combine(mine, 'mean', result, MPI_COMM_WORLD, weight=other)
    call check(same(result, reference_weighted_mean(x, y, wide(n))), "a weighted mean by name")
    call sf_combine(mine, 'weighted_mean', result, MPI_COMM_WORLD, weight=other)
    call check(same(result, reference_weighted_mean(x, y, wide(n))), "weighted_mean by name")
    result = sf_covariance(mine, other, MPI_COMM_WORLD)
    call check(same(result, reference_covariance(x, y, wide(n), 0)), "a covariance")
    call check(same(sf_sample_covariance(mine, other, MPI_COMM_WORLD), reference_covariance(x, y, wide(n), 1)), "of samples")
    call check(sf_covariance([1.0, 2.0], [4.0, 2.0]) == -0.5, "a covariance of floats")
    call check(same(sf_correlation(mine, other, MPI_COMM_WORLD), reference_correlation(x, y, wide(n))), "a correlation")
    call check(sf_correlation([1.0, 2.0], [4.0, 2.0]) == -1.0, "a correlation of floats")
    call sf_combine(mine, 'norm2', result, MPI_COMM_WORLD, options='method=exact')
    call check(same(result, reference_norm2(x, wide(n))), "norm2 by name")
    near = 1 + x/(1 + maxval(abs(x)))*1e-3_c_double
    call sf_combine(near(first_of(n):last_of(n)), 'product', result, MPI_COMM_WORLD)
    call check(same(result, reference_product(near, wide(n))), "a product in rank order")
    call check(.not. same(product(near), reference_product(near, wide(n))), "that of a loop differs")
    call sf_combine([3, 4, 5], 'product', whole, MPI_COMM_SELF)
    call check(whole == 60, "a product of integers")
    call sf_sum(mine, result, MPI_COMM_WORLD, options='collective=scan, layout=rank_order, commutative=0')
    call check(same(result, reference_sum(x(:last_of(n)), wide(last_of(n)))), "a scan of the elements of lower ranks")
    call sf_combine(mine, 'dot', result, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a dot product of one vector")
    call sf_combine(mine, 'median', result, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown name 'median'")
    call sf_combine(mine, 'user', result, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a user operator without one")
    call sf_combine(mine, 'min_location', result, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no variable for the index")
    call sf_combine(mine, 'statistics', result, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "statistics in a variable of another type")
  end subroutine

  subroutine test_locations_and_statistics
    real(c_double) :: x(n), value, values(4), field(4, n), expected(4)
    integer(c_int64_t) :: place, places(2, 4)
    type(sf_statistics) :: found, expected_found, levels(0:9)
    integer :: a, b, k, g, basins(n), ierr
    call fill_hostile(x)
    a = first_of(n)
    b = last_of(n)
    call sf_minloc(x(a:b), value, place, MPI_COMM_WORLD)
    call check(same(value, minval(x)) .and. place == minloc(x, 1), "the least value and its index")
    call sf_maxloc(x(a:b), value, place, MPI_COMM_WORLD%MPI_VAL, where=x(a:b) < 0)
    call check(same(value, maxval(x, x < 0)) .and. place == maxloc(x, 1, x < 0), "the greatest of those below zero")
    do k = 1, 4
      field(k, :) = cshift(x, 31*k)
      expected(k) = minval(field(k, :))
    end do
    places = -1
    call sf_minloc(field(:, a:b), values, places(2, :), MPI_COMM_WORLD, keep=1)
    call check(same(values, expected) .and. all(places(2, :) == minloc(field, 2)) .and. all(places(1, :) == -1), &
               "for every index kept, into a section")
    call sf_maxloc([5, 7, 7], g, place)
    call check(g == 7 .and. place == 2, "the first of equal integers")
    call sf_minloc([1.0_c_double, ieee_value(value, ieee_quiet_nan)], value, place)
    call check(ieee_is_nan(value) .and. place == 2, "a NaN wins")
    call sf_minloc(x(1:0), value, place, MPI_COMM_WORLD, ierr=ierr)
    call check(ierr == SF_EMPTY, "the least of nothing")

    call reference_statistics(x, wide(n), expected_found)
    call sf_describe(x(a:b), found, MPI_COMM_WORLD)
    call check(same(found, expected_found) .and. found%min_index == minloc(x, 1), "statistics")
    call sf_describe(field(:, a:b), levels(1:8:2), MPI_COMM_WORLD, keep=1)
    do k = 1, 4
      call reference_statistics(field(k, :), wide(n), expected_found)
      call check(same(levels(2*k - 1), expected_found), "statistics of levels, into a section")
    end do
    call sf_describe(x(1:0), found, MPI_COMM_WORLD)
    call check(found%count == 0 .and. found%min_index == 0 .and. ieee_is_nan(found%mean), "statistics of nothing")
    call sf_describe(x(a:b), found, MPI_COMM_WORLD, options='root=0')
    call sf_describe(x(a:b), found, MPI_COMM_WORLD, options='root=0')
    call reference_statistics(x, wide(n), expected_found)
    if (rank == 0) call check(same(found, expected_found), "statistics on one rank")
    if (rank > 0) call check(found%count == 0 .and. found%min_index == 0, "and nothing on others")

    basins = [(mod(k, 5) - 1, k = 1, n)]
    call sf_combine_by(x(a:b), basins(a:b), 'max', values(1:3), MPI_COMM_WORLD)
    expected(1:3) = [(maxval(x, basins == g), g = 1, 3)]
    call check(same(values(1:3), expected(1:3)), "greatest values of groups")
  end subroutine

  ! By a mask, at a kept dimension of one index too: results are NaN, and no call fails.
  subroutine test_nothing_is_selected
    character(*), parameter :: names(3) = [character(4) :: 'max', 'min', 'mean']
    real(c_double) :: field(2, 9), values(2), everyones(2)
    logical :: nothing(2, 9)
    integer :: i, k, alone, together
    field = 1
    nothing = .false.
    do i = 1, size(names)
      do k = 1, 2
        values = 0
        everyones = 0
        call sf_combine(field(1:k, :), names(i), values(1:k), keep=1, where=nothing(1:k, :), ierr=alone)
        call sf_combine(field(1:k, :), names(i), everyones(1:k), MPI_COMM_WORLD, keep=1, where=nothing(1:k, :), ierr=together)
        call check(alone == SF_OK .and. all(ieee_is_nan(values(1:k))), trim(names(i))//" of nothing, alone")
        call check(together == SF_OK .and. all(ieee_is_nan(everyones(1:k))), trim(names(i))//" of nothing on all ranks")
      end do
    end do
  end subroutine

  ! With a root, others keep what they had, in sections too; so does rank 0 in a scan of the lower ranks. Lists of names.
  subroutine test_options
    real(c_double) :: x(6, 10), result(8), seen_by_four_bins(3), cancelling(4)
    character(511) :: longest
    integer :: ierr
    call fill_hostile(x(:, 1))
    x = spread(x(:, 1), 2, 10)
    result = -5
    call sf_sum(x(1:4, :), result(8:1:-2), MPI_COMM_WORLD, keep=1, options='root=0')
    call check(all(result(1:8:2) < -4.9) .and. (all(result(2:8:2) < -4.9) .eqv. rank > 0), "results on the root alone")
    result = -5
    call sf_sum(x(1:4, :), result(8:1:-2), MPI_COMM_WORLD, keep=1, options='collective=exscan, layout=rank_order')
    call check(all(result(1:8:2) < -4.9) .and. (all(result(2:8:2) < -4.9) .eqv. rank == 0), "results but on rank 0")
    call sf_sum(x(1, :), result(1), MPI_COMM_WORLD, options='require=ranks, layout,threads, method=exact')
    call check(same(result(1), 10*ranks*x(1, 1)), "a list of guarantees")
    call test_what_is_no_option
    call sf_sum(x, result(1), MPI_COMM_WORLD, options='require=ranks,colour', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown guarantee 'colour'")
    ! Lanes: (1e16 - 1e16) + (1 + 1), where the tree gives 0; and calls that cannot have them.
    cancelling = [1e16_c_double, 1.0_c_double, -1e16_c_double, 1.0_c_double]
    call sf_sum(cancelling, result(1), options='method=tree')
    call sf_sum(cancelling, result(2), options='method=tree, lanes=2')
    call check(same(result(1), 0.0_c_double) .and. same(result(2), 2.0_c_double), "two lanes")
    call sf_sum(cancelling, result(1), options='method=tree, lanes=1025', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "'1025' for option lanes")
    call sf_sum(cancelling, result(1), options='method=exact, lanes=2', ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "2 lanes with method exact")
    ! Dot products and means in the tree, where correctly rounded ones are 2 and 0.5.
    call check(same(sf_dot(cancelling, cancelling/cancelling, options='method=tree'), 0.0_c_double), "dot by tree")
    call check(same(sf_mean(cancelling, options='method=tree'), 0.0_c_double), "mean by tree")
    call check(same(sf_mean(cancelling), 0.5_c_double), "the exact mean")
    ! As long as options may be, with one that counts at the very end.
    seen_by_four_bins = [1.0_c_double, scale(1.0_c_double, -130), -1.0_c_double]
    longest = 'method=binned'
    call sf_sum(seen_by_four_bins, result(1), options=longest)
    longest(505:) = ',bins=4'
    call sf_sum(seen_by_four_bins, result(2), options=longest)
    call check(same(result(1), 0.0_c_double) .and. same(result(2), seen_by_four_bins(2)), "options of 511 letters")
    call sf_sum(seen_by_four_bins, result(2), options=longest//' ', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "options of 512 characters (at most 511 are read)")
  end subroutine

  ! What arguments say, by every kind of call. A result beside which nothing may be written.
  subroutine test_what_is_no_option
    character(*), parameter :: said(7) = [character(18) :: 'columns=2', 'type=f32', 'result_type=f32', 'rows=1', &
                                          'element_bytes=4', 'operation=norm2', ' operation = norm2']
    real(c_double) :: x(6), result(3), vector(4)
    type(sf_plan) :: plan
    integer :: i, ierr
    call fill_hostile(x)
    result = -5
    vector = 2
    do i = 1, size(said)
      call sf_sum(x, result(2), MPI_COMM_WORLD, options='method=exact, '//trim(said(i)), ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the arguments determine it")
      call sf_sum(x, result(2), options=trim(said(i)), ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the arguments determine it")
      call sf_combine(x, 'max', result(2), MPI_COMM_WORLD, options=trim(said(i)), ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the arguments determine it")
      call sf_allreduce(vector, 'sum', MPI_COMM_WORLD, options=trim(said(i)), ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the arguments determine it")
      call sf_plan_sum(plan, x, result(2), MPI_COMM_WORLD, options=trim(said(i)), ierr=ierr)
      call expect(ierr, SF_INVALID_ARGUMENT, "the arguments determine it")
    end do
    call sf_sum(x, result(2), MPI_COMM_WORLD, options='collective=reduce_scatter', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "sf_reduce_scatter")
    call sf_allreduce(vector, 'sum', MPI_COMM_WORLD, options='collective=scan', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "leave out the option")
    call sf_scan(vector, 'sum', MPI_COMM_WORLD, options='collective=exscan', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "leave out the option")
    call sf_allreduce(vector, 'sum', MPI_COMM_WORLD, options='layout=rank_order', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "leave out the option")
    call sf_allreduce(vector, 'sum', MPI_COMM_WORLD, options='layout=anywhere', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "leave out the option")
    call sf_scan(vector, 'sum', MPI_COMM_WORLD, options='collective=reduce', ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "leave out the option")
    call check(all(result < -4.9) .and. all(abs(vector - 2) < 0.1), "nothing is written by what is refused")
  end subroutine
end module

! Which rank has which elements: sums by tree, whose bits depend on the order, and indices of values.
module layouts
  use checks
  implicit none
  integer, parameter :: n = 600
contains
  ! The sum by tree of what a layout gives this rank, and where the least value is.
  subroutine check_layout(layout, x, mine, what)
    type(sf_layout), intent(inout) :: layout
    real(c_double), intent(in) :: x(:), mine(:)
    character(len=*), intent(in) :: what
    real(c_double) :: total, least
    integer(c_int64_t) :: place
    type(sf_statistics) :: found, expected
    call sf_sum(mine, total, MPI_COMM_WORLD, options='method=tree', layout=layout)
    call check(same(total, reference_tree(x, size(x, kind=c_int64_t))), "a sum by tree over "//what)
    call sf_minloc(mine, least, place, MPI_COMM_WORLD, layout=layout)
    call check(same(least, minval(x)) .and. place == minloc(x, 1), "the least value over "//what)
    call sf_describe(mine, found, MPI_COMM_WORLD, layout=layout)
    call reference_statistics(x, size(x, kind=c_int64_t), expected)
    call check(same(found, expected), "statistics over "//what)
    call sf_sum(mine(size(mine):1:-1), total, MPI_COMM_WORLD, layout=layout, options='method=exact')
    call check(same(total, reference_sum(x, size(x, kind=c_int64_t))), "an exact sum over "//what)
    call sf_free(layout)
    call sf_free(layout)
  end subroutine

  subroutine test_layouts
    type(sf_layout) :: layout, same_layout
    real(c_double) :: x(n), total, field(20, 30)
    integer(c_int64_t), allocatable :: first(:), last(:)
    integer, parameter :: count_of_pieces = ceiling(n/7.0)
    integer :: i, b, ierr
    call fill_hostile(x)
    call sf_layout_rank_order(layout)
    call check_layout(layout, x, x(first_of(n):last_of(n)), "rank order")
    ! every so manieth piece of 7
    first = [(7_c_int64_t*i + 1, i = rank, count_of_pieces - 1, ranks)]
    last = min(first + 6, int(n, c_int64_t))
    call sf_layout_intervals(layout, first, last)
    call check_layout(layout, x, [(x(first(i):last(i)), i = 1, size(first))], "intervals")
    call sf_layout_intervals(layout, int(first), int(last), element_count=int(n, c_int64_t))
    call check_layout(layout, x, [(x(first(i):last(i)), i = 1, size(first))], "short intervals and the number of all")
    call sf_layout_intervals(layout, [1_c_int64_t, first, 9_c_int64_t], [0_c_int64_t, last, 8_c_int64_t])
    call check_layout(layout, x, [(x(first(i):last(i)), i = 1, size(first))], "intervals, some of them empty")
    call sf_layout_intervals(layout, first, last, element_count=n + 1_c_int64_t)
    call sf_sum([(x(first(i):last(i)), i = 1, size(first))], total, MPI_COMM_WORLD, options='method=tree', &
                layout=layout, ierr=ierr)
    call check(ierr == SF_GAP, "an element that no rank has")
    call sf_free(layout)
    call sf_layout_intervals(layout, first + 2, last + 2)
    call sf_sum([(x(first(i):last(i)), i = 1, size(first))], total, MPI_COMM_WORLD, options='method=tree', &
                layout=layout, ierr=ierr)
    call expect(ierr, SF_GAP, "(elements 1 to 2 are listed nowhere), list every element of 1..N exactly once")
    call sf_free(layout)
    call sf_layout_grid(layout, n, blocks=7)
    same_layout = layout
    call sf_sum([(x(first(i):last(i)), i = 1, size(first))], total, MPI_COMM_WORLD, options='method=tree', &
                layout=same_layout)
    call check(same(total, reference_tree(x, int(n, c_int64_t))), "a copy is the same layout")
    call check_layout(layout, x, [(x(first(i):last(i)), i = 1, size(first))], "blocks in turn")
    field = reshape(x, [20, 30])
    call sf_layout_grid(layout, [20, 30])
    call sf_sum(field(:, first_block(30):last_block(30)), total, MPI_COMM_WORLD, layout=layout, options='method=tree')
    call check_layout(layout, x, reshape(field(:, first_block(30):last_block(30)), &
                                         [20*(last_block(30) - first_block(30) + 1)]), "the last dimension's blocks")
    call check(same(total, reference_tree(x, int(n, c_int64_t))), "a field that is dealt by its last dimension")
    call sf_layout_grid(layout, [20_c_int64_t, 30_c_int64_t], ranks=[ranks, 1], first=[ranks - 1, 0])
    b = mod(rank + 1, ranks)
    call sf_sum(field(1 + first_at(20, b):first_at(20, b + 1), :), total, MPI_COMM_WORLD, layout=layout, &
                options='method=tree')
    call check(same(total, reference_tree(x, int(n, c_int64_t))), "a field dealt by its first dimension, from the last rank")
    call sf_free(layout)
    b = 0
    do i = 1, 10
      call fill_hostile(x)
      x = cshift(x, 17*i)
      call sf_sum(x(rank + 1:n:ranks), total, MPI_COMM_WORLD, options='method=tree')
      if (.not. same(total, reference_tree(x, int(n, c_int64_t)))) b = b + 1
    end do
    call check((b > 0) .eqv. (ranks > 1), "without a layout other bits (else this proves nothing)")
    call sf_layout_row_per_rank(layout)
    call sf_sum(x(rank + 1), total, MPI_COMM_WORLD, options='method=tree', layout=layout)
    call check(same(total, reference_tree(x, int(ranks, c_int64_t))), "a row per rank")
    call sf_free(layout)
    call sf_layout_anywhere(layout)
    call sf_sum(x(first_of(n):last_of(n)), total, MPI_COMM_WORLD, layout=layout)
    call check(same(total, reference_sum(x, int(n, c_int64_t))), "anywhere")
    call sf_layout_anywhere(layout, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout exists already")
    call sf_free(layout)
  end subroutine

  ! Blocks as a grid has them: the first extent % ranks of them one larger. `b` counts from 0.
  pure integer function first_at(extent, b)
    integer, intent(in) :: extent, b
    first_at = b*(extent/ranks) + min(b, mod(extent, ranks))
  end function
  pure integer function first_block(extent)
    integer, intent(in) :: extent
    first_block = 1 + first_at(extent, rank)
  end function
  pure integer function last_block(extent)
    integer, intent(in) :: extent
    last_block = first_at(extent, rank + 1)
  end function

  ! Plans with layouts that are freed before they are bound.
  subroutine test_plans
    type(sf_layout) :: layout
    type(sf_plan) :: plan
    real(c_double), target :: x(n), mine(n), total, least, product, empty
    integer(c_int64_t), target :: place
    type(sf_statistics), target :: found
    type(sf_statistics) :: expected
    integer(c_int64_t) :: messages, bytes
    integer :: run, ierr, rounds
    call fill_hostile(x)
    mine(1:length_of()) = x(rank + 1:n:ranks)
    call sf_layout_grid(layout, n, blocks=1)
    call sf_plan_sum(plan, mine(1:length_of()), total, options='method=tree', layout=layout)
    call sf_plan_minloc(plan, mine(1:length_of()), least, place, layout=layout)
    call sf_plan_describe(plan, mine(1:length_of()), found, layout=layout)
    call sf_free(layout)
    call sf_plan_combine(plan, mine(1:length_of()), 'abs_sum', product)
    call sf_plan_combine(plan, mine(1:0), 'mean', empty)
    call sf_bind(plan, MPI_COMM_WORLD)
    call reference_statistics(x, int(n, c_int64_t), expected)
    do run = 1, 2
      total = 0
      place = -1
      call sf_run(plan, ierr)
      call check(ierr == SF_EMPTY, "a bundle with a mean of nothing")
      call check(same(total, reference_tree(x, int(n, c_int64_t))), "a sum by tree of a plan with a layout")
      call check(same(least, minval(x)) .and. place == minloc(x, 1), "its least value")
      call check(same(found, expected), "its statistics")
      call check(same(product, reference_norm1(x, int(n, c_int64_t))), "its norm")
      call sf_bundle_status(plan, 2, ierr)
      call check(ierr == SF_OK, "the status of a member")
      call sf_bundle_status(plan, 5, ierr)
      call check(ierr == SF_EMPTY, "the status of the empty one")
    end do
    call sf_plan_trace(plan, 1)
    call sf_run(plan, ierr)
    call sf_plan_figures(plan, messages, bytes, rounds)
    call check((messages > 0) .eqv. ranks > 1, "messages of a run")
    call check(len(sf_plan_text(plan)) > 0 .and. len(sf_plan_schedule(plan)) > 0, "what was agreed")
    call sf_free(plan)
    call check(len(sf_plan_text(plan)) == 0 .and. len(sf_plan_schedule(plan)) == 0, "nothing was")
  contains
    pure integer function length_of()
      length_of = (n - 1 - rank)/ranks + 1
    end function
  end subroutine

  ! Its descriptors end with it.
  subroutine make_plan(plan, field, values, places)
    type(sf_plan), intent(inout) :: plan
    real(c_double), target, intent(inout) :: field(:, :), values(:)
    integer(c_int64_t), target, intent(inout) :: places(:, :)
    real(c_double) :: total
    call sf_plan_minloc(plan, field(:, first_of(n):last_of(n)), values(1::2), places(2, :), MPI_COMM_WORLD, keep=1, &
                        options='root=0')
    call sf_sum(field(1, :), total)
  end subroutine

  ! Values and indices into sections, on one rank; what the plan was made with stays after other calls.
  subroutine test_plan_on_one_rank
    type(sf_plan) :: plan
    real(c_double), target :: field(3, n), values(6)
    integer(c_int64_t), target :: places(2, 3)
    real(c_double) :: total
    integer :: k
    logical :: is_right
    do k = 1, 3
      call fill_hostile(field(k, :))
      field(k, :) = cshift(field(k, :), 41*k)
    end do
    values = -7
    places = -7
    call make_plan(plan, field, values, places)
    call sf_sum(field(3:1:-2, n:1:-3), total)
    call sf_run(plan)
    is_right = .true.
    do k = 1, 3
      if (rank == 0) is_right = is_right .and. same(values(2*k - 1), minval(field(k, :))) .and. &
                                places(2, k) == minloc(field(k, :), 1)
      if (rank > 0) is_right = is_right .and. same(values(2*k - 1), -7.0_c_double) .and. places(2, k) == -7
      is_right = is_right .and. same(values(2*k), -7.0_c_double) .and. places(1, k) == -7
    end do
    call check(is_right, "a plan's values and indices on rank 0 alone")
    call sf_free(plan)
  end subroutine

  ! Two vectors have one shape, where weights are repeated.
  subroutine test_pairs(x)
    real(c_double), intent(in) :: x(:)
    real(c_double), asynchronous, target :: a(6), b(6), total
    complex(c_double_complex) :: z(6), of_complex
    type(sf_plan) :: plan
    type(sf_request) :: request
    integer :: ierr
    a = x
    b = x
    z = x
    total = -7
    total = sf_dot(x, x(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a first vector of shape (6) and a second vector of shape (1)")
    total = sf_dot(x, x(1:1), MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a first vector of shape (6) and a second vector of shape (1)")
    total = sf_dot(x, x(1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape ()")
    total = sf_dot(reshape(x, [2, 3]), x(1:2), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a first vector of shape (2, 3) and a second vector of shape (2)")
    total = sf_dot(x, x(:merge(1, 6, rank == ranks - 1)), MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    total = sf_dot(x, x(1:1), where=x > 0, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    total = sf_covariance(x, x(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    total = sf_sample_covariance(x, x(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    total = sf_correlation(x, x(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    of_complex = sf_dot(z, z(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    of_complex = sf_dotu(z, z(1:1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    call sf_plan_dot(plan, a, b(1:1), total, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    call sf_start_dot(a, b(1:1), total, MPI_COMM_WORLD, request)
    call sf_wait(request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a second vector of shape (1)")
    call sf_sum(x, total, weight=2*x(1:1))
    call check(same(total, 12.0_c_double), "weights are repeated")
    call check(same(sf_mean(x, weight=x(1:1)), 1.0_c_double), "those of a mean, too")
  end subroutine

  ! Errors that C finds, in Fortran's words.
  subroutine test_words
    real(c_double) :: x(6), total
    integer(c_int64_t) :: first, last, size
    integer(c_int64_t), asynchronous :: from, to
    integer(c_int8_t) :: bytes(100)
    type(sf_accumulator) :: sums, products
    type(sf_plan) :: plan
    type(sf_request) :: request
    real(c_double), target :: y(6), norm
    integer :: entry, ierr, whole
    x = 1
    y = 1
    call sf_sum(x, total, options='collective=scan', ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "(these collectives need ranks), pass a communicator")
    call sf_combine(x, 'masked_sum', total, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "use operation 'sum' and pass the argument 'where'")
    call sf_combine(x, 'max', total, weight=x, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, &
      "factors for max (the operation takes no factors), use operation 'dot' or 'weighted_mean'")
    call sf_combine(x, 'user', total, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "operation 'user' without an operator")
    call sf_allreduce(x, 'user', MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "operation 'user' without an operator")
    call sf_list_find(99, 'exact', entry, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "give a list such as SF_LIST_METHODS")
    call sf_add(sums, x)
    call sf_add(sums, x, weight=x, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "(it holds 1 sum of doubles), call sf_add with a weight from the first call on")
    call sf_add(sums, reshape(x, [2, 3]), keep=2, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "keep dimensions whose extents multiply to the number of sums")
    call sf_root(sums, total, ierr)
    call expect(ierr, SF_UNSUPPORTED, "the norm of an accumulator of elements")
    call sf_total(sums, whole, ierr)
    call expect(ierr, SF_UNSUPPORTED, "(accumulators take real numbers of kinds 4 and 8)")
    call sf_add(products, [1, 2], ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "(accumulators take real numbers of kinds 4 and 8)")
    call sf_pack(sums, bytes, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, &
      "100 bytes for a packed accumulator (it needs 328 bytes), get the size from sf_packed_size")
    call sf_unpack(sums, bytes, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, &
      "100 bytes for a packed accumulator (it needs 328 bytes), get the size from sf_packed_size")
    bytes = 0
    call sf_read(products, bytes, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "give the bytes that sf_write wrote")
    call sf_write(sums, bytes(1:3), size, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "room for 3 bytes")
    call sf_plan_combine(plan, y(1:0), 'mean', norm)
    call sf_plan_combine(plan, y, 'product', norm, options='method=binned', ierr=ierr)
    call sf_bind(plan, MPI_COMM_WORLD, ierr)
    call expect(ierr, ierr, "reduction 2: ")
    call sf_free(plan)
    call sf_plan_norm2(plan, y, norm, MPI_COMM_WORLD)
    call sf_bundle_status(plan, 0, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "reduction 0 of a plan of 1 (reductions are counted from 1)")
    call sf_bundle_status(plan, 2, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "reduction 2 of a plan of 1")
    call sf_free(plan)
    call sf_reduce_scatter(x, x(1:1), 'sum', MPI_COMM_WORLD, [(-1, entry = 1, ranks)], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "-1 elements in blocks(1)")
    call sf_rank_order(-1_c_int64_t, MPI_COMM_WORLD, first, last, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "-1 rows of this rank")
    call sf_rank_order(merge(-1_c_int64_t, 2_c_int64_t, rank == ranks - 1), MPI_COMM_WORLD, first, last, ierr=ierr)
    call check(ierr /= SF_OK, "-1 rows of the last rank are an error on all")
    call sf_start_rank_order(-1_c_int64_t, MPI_COMM_WORLD, from, to, request)
    call sf_wait(request, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "-1 rows of this rank")
  end subroutine

  subroutine test_misuse
    type(sf_layout) :: layout, none
    real(c_double) :: x(6), total, field(2, 3), by_group(3)
    type(sf_team) :: team
    type(sf_group) :: members(2)
    integer :: ierr, w
    x = 1
    field = 1
    call test_pairs(x)
    call test_words
    call sf_sum(field, total, MPI_COMM_WORLD, weight=reshape(x, [3, 2]), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "factors of shape (3, 2) for elements of shape (2, 3)")
    call sf_sum(field, total, MPI_COMM_WORLD, where=[.true., .true., .true.], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a mask of shape (3) for elements of shape (2, 3)")
    call sf_sum_by(field, reshape([0, 1, 2, 3, 4, 3], [2, 3]), by_group, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "label 4 of element 5, counted from 1, names no group (the last group is 3)")
    call sf_sum_by(x, [1], by_group, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "one label for elements of shape (6) (every element has one label)")
    call sf_sum_by(field, merge(1, 2, rank == 0), by_group, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "one label for elements of shape (2, 3)")
    call sf_combine_by(x(:merge(6, 1, rank == ranks - 1)), [1], 'sum', by_group, MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "one label for elements of shape (6)")
    call sf_sum_by(x(:1), [1], by_group)
    call check(all(by_group == [1, 0, 0]), "one label for one element")
    call sf_sum_by(field, [1, 2], by_group)
    call check(all(by_group == [3, 3, 0]), "labels are repeated along other dimensions")
    ! Asking for members waits for nobody; a call does, no longer than the team's limit.
    call sf_team_create(team, 2)
    call sf_team_set_timeout(team, -1d0, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a timeout of -1 seconds")
    call sf_team_set_timeout(team, 0.05d0)
    do w = 1, 2
      call sf_team_member(team, w - 1, members(w))
    end do
    do w = 1, 2
      call sf_sum(x, total, members(w), ierr=ierr)
      call expect(ierr, SF_TRANSPORT_FAILED, "took longer than its limit of 0.05")
    end do
    call sf_free(team)
    call sf_sum(x, total, MPI_COMM_WORLD, layout=none, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout was not made")
    call sf_layout_rank_order(layout)
    if (rank == ranks - 1) call sf_sum(x, total, MPI_COMM_WORLD, layout=none, ierr=ierr)
    if (rank < ranks - 1) call sf_sum(x, total, MPI_COMM_WORLD, layout=layout, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout was not made")
    call sf_free(layout)
    call sf_layout_intervals(layout, [1, 4], [3], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "2 first elements and 1 last elements")
    call sf_layout_intervals(layout, [1, 0], [3, 2], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "interval 2 from 0 to 2")
    call sf_layout_intervals(layout, 5, 3, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "interval 1 from 5 to 3")
    call sf_layout_intervals(layout, 1.5, 3, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "first elements of type real")
    call sf_layout_intervals(layout, 1, 3, element_count=-1_c_int64_t, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "-1 elements")
    call sf_layout_grid(layout, [1, 2, 3, 4], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "a grid of 4 dimensions")
    call sf_layout_grid(layout, [4, 5], blocks=2, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "1 block sizes for a grid of 2 dimensions")
    call sf_layout_grid(layout, [4, -5], ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "extents of -5")
    call sf_layout_intervals(layout, 1 + 6*rank, 6 + 6*rank)
    call sf_sum(x(1:merge(5, 6, rank == 0)), total, MPI_COMM_WORLD, layout=layout, ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "fewer elements than the intervals of rank 0 say")
    call sf_free(layout)
    call sf_layout_intervals(layout, 1 + 5*rank, 6 + 5*rank)
    call sf_sum(x, total, MPI_COMM_WORLD, options='method=tree', layout=layout, ierr=ierr)
    call check(ierr == merge(SF_OK, SF_OVERLAP, ranks == 1), "intervals that overlap")
    call sf_free(layout)
  end subroutine
end module

! MPI's shape: scans, and blocks of a reduction.
module vectors
  use checks
  implicit none
contains
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
    integer, parameter :: n = 60
    real(c_double) :: x(2, n), line(n), all(n, 0:ranks - 1), expected(n), numbers(n*ranks)
    real(c_double), allocatable :: block(:), broad(:, :)
    integer(c_int64_t) :: blocks(ranks)
    integer :: i, last, share
    real(c_double), target :: failing
    real(c_float) :: narrow(n)
    integer(c_int64_t) :: as_wide(n)
    type(c_ptr) :: context
    integer :: ierr
    call fill_hostile(numbers)
    all = reshape(numbers, shape(all))
    line = all(:, rank)
    call sf_scan(line, 'sum', MPI_COMM_WORLD)
    do i = 1, n
      expected(i) = reference_tree(all(i, :rank), int(rank + 1, c_int64_t))
    end do
    call check(same(line, expected), "a scan")
    x = -7
    x(2, :) = all(:, rank)
    call sf_exscan(x(2, :), 'sum', MPI_COMM_WORLD)
    do i = 1, n
      if (rank > 0) expected(i) = reference_tree(all(i, :rank - 1), int(rank, c_int64_t))
      if (rank == 0) expected(i) = all(i, 0)
    end do
    call check(same(x(2, :), expected) .and. maxval(x(1, :)) < 0, "a scan of the lower ranks, of a section")
    line = all(:, rank)
    call sf_allreduce(line, c_funloc(prefer_right), MPI_COMM_WORLD)
    do i = 1, n
      last = ranks - 1
      do while (last > 0 .and. all(i, last) < 0)
        last = last - 1
      end do
      expected(i) = all(i, last)
    end do
    call check(same(line, expected), "an operator of the program, in rank order")
    context = c_loc(failing)
    call sf_reduce(all(:, 0), failing, c_funloc(prefer_right), MPI_COMM_WORLD, ierr=ierr, context=context)
    call check(ierr == SF_OPERATOR_FAILED, "an operator that fails where it has a context")

    do i = 1, n
      expected(i) = reference_tree(all(i, :), int(ranks, c_int64_t))
    end do
    blocks = 0
    blocks(1) = n/2 + 1
    blocks(ranks) = blocks(ranks) + n/2 - 1
    last = int(sum(blocks(:rank + 1)))
    allocate (block(blocks(rank + 1)))
    call sf_reduce_scatter(all(:, rank), block, 'sum', MPI_COMM_WORLD, blocks)
    call check(same(block, expected(last - int(blocks(rank + 1)) + 1:last)), "blocks of several sizes")
    share = n/ranks
    allocate (broad(3, share))
    broad = -7
    x(2, :) = all(:, rank)
    call sf_reduce_scatter(x(2, :share*ranks), broad(2, :), 'sum', MPI_COMM_WORLD)
    call check(same(broad(2, :), expected(share*rank + 1:share*(rank + 1))) .and. maxval(broad(1::2, :)) < 0, &
               "blocks of one size, of sections")
    call sf_reduce_scatter(all(:, rank), block, 'sum', MPI_COMM_WORLD, int(blocks) + merge(1, 0, rank == 0), ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "other blocks on rank 0")
    call sf_reduce_scatter(all(:, rank), block(1:merge(0, size(block), rank == 0)), 'sum', MPI_COMM_WORLD, blocks, &
                           ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "no place for the block of rank 0")
    call sf_reduce_scatter(all(:, rank), block, 'sum', MPI_COMM_WORLD, blocks(1:ranks - 1), ierr=ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "too few blocks")
    call sf_reduce_scatter(all(:, rank), block, 'sum', MPI_COMM_WORLD, -blocks - 1, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "in blocks(1) (a block has at least 0 elements)")
    call sf_reduce_scatter(all(:, rank), narrow(:size(block)), 'sum', MPI_COMM_WORLD, blocks, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the result has a different type than the elements")
    call sf_reduce_scatter(all(:, rank), as_wide(:size(block)), 'sum', MPI_COMM_WORLD, blocks, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the result has a different type than the elements")
    call sf_allreduce(line, "5", MPI_COMM_WORLD, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "unknown name")
  end subroutine
end module

module others
  use checks
  implicit none
contains
  subroutine test_accumulators
    type(sf_accumulator) :: a, b, c, nothing
    real(c_double) :: x(500), total, root, columns_of(2), apart(3)
    integer(c_int64_t) :: columns, rows
    integer(c_int8_t), allocatable :: bytes(:), others(:)
    integer :: order, orders(2), products, ierr
    call fill_hostile(x)
    call sf_add(a, x(1:300))
    call sf_copy(a, b)
    call sf_add(b, x(301:))
    call sf_compare(b, a, order)
    call check(order == merge(1, merge(-1, 0, sum_of(x(301:)) < 0), sum_of(x(301:)) > 0), "which sum is greater")
    call sf_unmerge(b, a)
    call sf_total(b, total)
    call check(same(total, sum_of(x(301:))), "what is left")
    call sf_shape(b, columns, rows, products)
    call check(columns == 1 .and. rows == 200 .and. products == 0, "a shape")
    call sf_negate(b)
    call sf_total(b, root)
    call check(same(root, -total), "a negated sum")
    call sf_copy(a, b)
    call sf_compare(a, b, order)
    call check(order == 0, "equal sums")
    allocate (bytes(sf_packed_size(a)), others(sf_packed_size(b)))
    call sf_negate(b)
    call sf_add(b, 2.5_c_double)
    call sf_pack(a, bytes)
    call sf_pack(b, others)
    call sf_merge_packed(others, bytes)
    call sf_unpack(a, bytes)
    call sf_total(a, total)
    call check(same(total, 2.5_c_double), "packed sums that are merged")
    call sf_merge_packed(others(2:), bytes, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "of other sizes")
    call sf_clear(a)
    call sf_total(a, total)
    call check(same(total, 0.0_c_double), "a sum of nothing")
    call sf_add(c, reshape(x(1:4), [2, 2]), keep=1, weight=reshape(x(1:4), [2, 2]))
    call sf_root(c, columns_of)
    call check(same(columns_of, [sf_norm2(x(1:3:2)), sf_norm2(x(2:4:2))]), "roots of sums of squares")
    apart = -7
    call sf_total(c, apart(1:3:2))
    call check(same(apart, [sf_dot(x(1:3:2), x(1:3:2), options='method=exact'), -7.0_c_double, &
                            sf_dot(x(2:4:2), x(2:4:2), options='method=exact')]), "sums into a section")
    call sf_compare(c, c, orders)
    call check(all(orders == 0), "equal columns")
    call sf_compare(c, c, order, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "too few places for orders")
    call sf_compare(c, nothing, orders, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the accumulator is empty")
    call sf_shape(nothing, columns)
    call check(columns == 0 .and. sf_packed_size(nothing) == 0, "the shape of nothing")
    call sf_add(c, reshape([1.0_c_double, 2.0_c_double], [2, 1]), keep=1)
    call sf_unmerge(c, c)
    call sf_add(c, reshape([1.0_c_double, 2.0_c_double], [2, 1]), keep=1)
    call sf_total(c, columns_of)
    call check(same(columns_of, [1.0_c_double, 2.0_c_double]), "elements among products")
    call sf_clear(a)
    call sf_add(a, 3.0_c_double)
    ierr = SF_OK
    do order = 1, 100
      if (ierr == SF_OK) call sf_merge(a, a, ierr)
    end do
    call expect(ierr, SF_UNSUPPORTED, "the accumulator is full")
    call sf_add(a, 1.0_c_double, ierr=ierr)
    call expect(ierr, SF_UNSUPPORTED, "the accumulator is full")
    call sf_total(a, total)
    call sf_shape(a, rows=rows)
    call check(rows == ishft(1_c_int64_t, 62) .and. same(total, scale(3.0_c_double, 62)), "what is full stays as it is")
    call sf_free(a)
    call sf_free(b)
    call sf_free(c)
  end subroutine

  function sum_of(x) result(value)
    real(c_double), intent(in) :: x(:)
    real(c_double) :: value
    value = reference_sum(x, size(x, kind=c_int64_t))
  end function

  subroutine test_groups_and_names
    type(sf_group) :: group
    type(sf_team) :: team
    type(c_ptr) :: memory
    integer(c_int64_t) :: first, last, count
    real(c_double), pointer :: numbers(:)
    real(c_double) :: total
    integer :: entry, ierr
    call sf_group_of(MPI_COMM_WORLD, group)
    call check(sf_group_rank(group) == rank .and. sf_group_size(MPI_COMM_WORLD%MPI_VAL) == ranks, "a communicator's group")
    call check(len(sf_group_transport(MPI_COMM_WORLD)) > 0, "how its bytes move")
    call check(sf_group_rank(1.5) == -1 .and. sf_group_transport(1.5) == '', "what is no group")
    call sf_sum(1.5_c_double, total, group)
    call check(same(total, 1.5_c_double*ranks), "a group in place of a communicator")
    call sf_barrier(group)
    call sf_barrier(1.5, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a barrier of nobody")
    call sf_rank_order(int(rank + 2, c_int64_t), MPI_COMM_WORLD, first, last, count)
    call check(first == (rank*(rank + 3))/2 + 1 .and. last == first + rank + 1, "this rank's elements in rank order")
    call check(count == (ranks*(ranks + 3))/2, "how many elements there are")
    call sf_progress_thread(MPI_COMM_WORLD, 1, ierr)
    call check(ierr == SF_UNSUPPORTED, "a thread without MPI_THREAD_MULTIPLE")
    call sf_progress_thread(MPI_COMM_WORLD, 0)
    call check(sf_team_size(team) == -1, "the size of no team")
    call sf_team_create(team, 3)
    call check(sf_team_size(team) == 3, "a team's size")
    call sf_team_member(team, -1, group, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a worker before the first")
    call sf_team_member(team, 3, group, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "a worker behind the last")
    call sf_free(team)
    ierr = sf_allocate(-1_c_int64_t, memory)
    call expect(ierr, SF_INTERNAL, "no -1 bytes of memory")
    call check(sf_allocate(80_c_int64_t, memory) == SF_OK, "memory")
    call c_f_pointer(memory, numbers, [10])
    call check(same(numbers, [(0.0_c_double, entry = 1, 10)]), "it is zero")
    numbers = rank
    call sf_allreduce(numbers, 'max', MPI_COMM_WORLD)
    call check(same(numbers, [(real(ranks - 1, c_double), entry = 1, 10)]), "it is memory as any other")
    call sf_free(memory)

    call sf_list_find(SF_LIST_METHODS, 'exact ', entry)
    call check(sf_list_name(SF_LIST_METHODS, entry) == 'exact', "a method by its name")
    call check(len(sf_list_text(SF_LIST_METHODS, entry, 'about')) > 10, "what there is to know of it")
    call check(sf_list_size(SF_LIST_OPTIONS) > 10 .and. sf_list_size(99) == 0, "sizes of lists")
    call check(sf_list_name(SF_LIST_METHODS, 0) == '' .and. sf_list_text(SF_LIST_METHODS, 1, 'colour') == '', "no entry")
    call sf_list_find(SF_LIST_SCHEDULES, 'nonsense', entry, ierr)
    call check(ierr == SF_INVALID_ARGUMENT, "no such schedule")
    call check(len(sf_mpi_library()) > 3, "the MPI library")
  end subroutine
end module

! Assignments: accumulators are values; copies of all else are the same thing, and none of any use when that has ended.
module copies
  use checks
  implicit none
  type :: budget
    type(sf_accumulator) :: total, levels(2)
    type(sf_accumulator), allocatable :: basins(:), whole
  end type
  type :: nested
    type(budget) :: of_heat
  end type
  type :: held
    type(sf_plan) :: plan
    type(sf_layout) :: layouts(2)
  end type
contains
  ! Whether the accumulator holds this sum.
  logical function holds(accumulator, value)
    type(sf_accumulator), intent(in) :: accumulator
    real(c_double), intent(in) :: value
    real(c_double) :: total
    integer :: ierr
    total = -7
    call sf_total(accumulator, total, ierr)
    holds = ierr == SF_OK .and. same(total, value)
  end function

  logical function is_empty(accumulator)
    type(sf_accumulator), intent(in) :: accumulator
    is_empty = sf_packed_size(accumulator) == 0
  end function

  function accumulator_of(x) result(made)
    real(c_double), intent(in) :: x
    type(sf_accumulator) :: made
    call sf_add(made, x)
  end function

  subroutine reset(accumulator)
    type(sf_accumulator), intent(out) :: accumulator
    call check(is_empty(accumulator), "an argument with intent(out) is empty")
    call sf_add(accumulator, 8.0_c_double)
  end subroutine

  subroutine test_values(n)
    integer, intent(in) :: n
    type(sf_accumulator) :: a, b, c, nothing, list(4), automatic(n)
    type(sf_accumulator), allocatable :: many(:), one
    type(nested) :: here, there, theirs(2)
    real(c_double) :: columns(2)
    integer :: i, failed, ierr
    call sf_add(a, [1e16_c_double, 1.0_c_double, -1e16_c_double])
    b = a
    call sf_add(a, 1.0_c_double)
    call check(holds(a, 2.0_c_double) .and. holds(b, 1.0_c_double), "what is added to one is not added to its copy")
    call sf_free(a)
    call check(holds(b, 1.0_c_double), "a copy outlives what it was made of")
    call sf_add(a, 5.0_c_double)
    call sf_free(b)
    call sf_free(b)
    call check(holds(a, 5.0_c_double) .and. is_empty(b), "freed twice")
    a = a
    call check(holds(a, 5.0_c_double), "assigned to itself")
    call sf_merge(a, a)
    call check(holds(a, 10.0_c_double), "merged with itself")
    b = a
    b = nothing
    call check(is_empty(b) .and. holds(a, 10.0_c_double), "an empty one is assigned")
    call sf_add(c, reshape([1.0_c_double, 2.0_c_double], [2, 1]), keep=1)
    call sf_copy(c, a, ierr)
    call check(ierr == SF_INVALID_ARGUMENT .and. holds(a, 10.0_c_double), "sf_copy to another shape is refused")
    a = c
    call sf_total(a, columns, ierr)
    call check(ierr == SF_OK .and. same(columns, [1.0_c_double, 2.0_c_double]), "one of another shape is assigned")

    list = [(accumulator_of(real(i, c_double)), i = 1, 4)]
    list(2:4) = list(1:3)
    call check(all([(holds(list(i), real(max(i - 1, 1), c_double)), i = 1, 4)]), "sections that overlap")
    list([4, 3, 2, 1]) = list
    call check(all([(holds(list(i), real(max(4 - i, 1), c_double)), i = 1, 4)]), "a vector of indices")
    many = list(2:4)
    one = list(1)
    automatic = one
    list = nothing
    call check(all([(is_empty(list(i)), i = 1, 4)]), "one for all of a list")
    call sf_add(automatic(1), 1.0_c_double)
    call check(holds(many(1), 2.0_c_double) .and. holds(one, 3.0_c_double), "memory that an assignment allocates")
    call check(holds(automatic(1), 4.0_c_double) .and. holds(automatic(n), 3.0_c_double), "an automatic array")
    deallocate (many)
    allocate (many, source=automatic)
    call sf_add(automatic(n), 1.0_c_double)
    call check(holds(many(n), 3.0_c_double), "memory that is allocated with a source")

    here%of_heat%total = accumulator_of(6.0_c_double)
    here%of_heat%levels = here%of_heat%total
    here%of_heat%basins = here%of_heat%levels
    here%of_heat%whole = here%of_heat%basins(2)
    there = here
    theirs = there
    call sf_add(here%of_heat%total, 1.0_c_double)
    call sf_add(here%of_heat%levels(2), 1.0_c_double)
    call sf_add(here%of_heat%basins(2), 1.0_c_double)
    call sf_add(here%of_heat%whole, 1.0_c_double)
    call sf_free(there%of_heat%basins(1))
    call check(holds(there%of_heat%total, 6.0_c_double) .and. holds(there%of_heat%levels(2), 6.0_c_double) .and. &
               holds(there%of_heat%basins(2), 6.0_c_double) .and. holds(there%of_heat%whole, 6.0_c_double), "components")
    call check(all([(holds(theirs(2)%of_heat%basins(i), 6.0_c_double), i = 1, 2)]), "components of a list")

    a = accumulator_of(3.0_c_double)
    a = accumulator_of(4.0_c_double)
    call check(holds(a, 4.0_c_double), "results of a function")
    failed = 0
    !$omp parallel do num_threads(3) firstprivate(a) reduction(+: failed)
    do i = 1, 3
      call sf_add(a, real(i, c_double))
      if (.not. holds(a, 4.0_c_double + i)) failed = failed + 1
    end do
    call check(failed == 0 .and. holds(a, 4.0_c_double), "copies of threads")
    call reset(a)
    call check(holds(a, 8.0_c_double), "added again")
    a = sf_accumulator()
    call check(is_empty(a), "what the constructor makes is empty")
  end subroutine

  ! What has ended is never mistaken for what is made later, nor are variables of another type.
  subroutine test_ended_plans
    type(held) :: mine, copy
    type(sf_plan) :: plans(3), others(3), again
    real(c_double), target :: x(3), total(3)
    integer(c_int64_t) :: messages, bytes
    integer :: i, done, rounds, ierr
    x = [1, 2, 3]
    do i = 1, 3
      call sf_plan_sum(plans(i), x(:i), total(i), MPI_COMM_WORLD)
    end do
    others = plans
    call sf_free(others(2))
    call sf_plan_dot(again, x, x, total(2), MPI_COMM_WORLD)
    call sf_run(plans(1))
    call sf_start(plans(3))
    call sf_wait(others(3))
    call check(same(total(1:3:2), [1.0_c_double*ranks, 6.0_c_double*ranks]), "a copy is the same plan")
    call sf_run(plans(2), ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended through another variable")
    call sf_start(plans(2), ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_wait(plans(2), done=done, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_test(plans(2), done, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_bind(plans(2), MPI_COMM_WORLD, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_bundle_status(plans(2), 1, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_plan_trace(plans(2), 1, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call sf_plan_figures(plans(2), messages, bytes, rounds, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the plan was freed or ended")
    call check(len(sf_plan_text(plans(2))) == 0 .and. len(sf_plan_schedule(plans(2))) == 0, "it has no text")
    call sf_sum(x, total(1), plans(1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no group")
    call sf_sum(x, total(1), plans(2), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no group")
    do i = 1, 3
      call sf_free(plans(i))
      call sf_free(others(i))
    end do
    call sf_run(again)
    call check(same(total(2), 14.0_c_double*ranks), "a plan that was made after others were freed")
    call sf_free(again)
    ! As components; a variable whose plan or layout has ended may be used for another one.
    call sf_layout_rank_order(mine%layouts(2))
    call sf_plan_sum(mine%plan, x, total(1), options='method=tree', layout=mine%layouts(2))
    copy = mine
    call sf_free(copy%layouts(2))
    call sf_bind(copy%plan, MPI_COMM_WORLD)
    call sf_run(mine%plan)
    call check(same(total(1), 6.0_c_double*ranks), "a plan in a copy of what holds it")
    call sf_sum(x, total(1), MPI_COMM_WORLD, layout=mine%layouts(2), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout was freed or ended through another variable")
    call sf_sum(x, total(1), MPI_COMM_WORLD, layout=mine%layouts(1), ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the layout was not made")
    call sf_layout_anywhere(mine%layouts(2))
    call sf_sum(x, total(1), MPI_COMM_WORLD, layout=mine%layouts(2))
    call sf_free(copy%layouts(2))
    call sf_sum(x, total(1), MPI_COMM_WORLD, layout=mine%layouts(2))
    call sf_free(mine%layouts(2))
    call sf_free(copy%plan)
    call sf_free(mine%plan)
  end subroutine

  subroutine test_ended_requests
    type(sf_request) :: request, copy, copies(2)
    real(c_double), asynchronous :: x(3), total
    integer :: done, ierr
    x = [1, 2, 3]
    call sf_start_sum(x, total, MPI_COMM_WORLD, request)
    copy = request
    copies = request
    call sf_wait(copy)
    call check(same(total, 6.0_c_double*ranks), "a copy is the same call")
    done = 0
    call sf_wait(request, done=done, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the request was freed or ended through another variable")
    call check(done == 1, "nothing is under way")
    call sf_test(copies(1), done, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the request was freed or ended")
    call sf_start_sum(x, total, MPI_COMM_WORLD, request)
    call sf_free(copies(2))
    call sf_wait(copies(1))
    call sf_wait(request)
    call sf_wait(request)
    call check(same(total, 6.0_c_double*ranks), "another call with a variable whose call has ended")
  end subroutine

  subroutine test_ended_teams
    type(sf_team) :: team, copy, another
    type(sf_group) :: group, same_group
    type(sf_plan) :: plan
    type(sf_request) :: request
    real(c_double), asynchronous, target :: x(3), total(2), later(2)
    integer :: ierr
    x = [1, 2, 3]
    total = -7
    call sf_team_create(team, 1)
    call sf_team_member(team, 0, group)
    copy = team
    same_group = group
    call sf_sum(x, total(1), same_group)
    call check(same(total(1), 6.0_c_double) .and. sf_team_size(copy) == 1, "a copy is the same team")
    call make_plan(plan, x, later(1), group)
    call sf_start(plan)
    call sf_start_sum(x, later(2), group, request)
    call sf_free(copy)
    call sf_team_create(another, 1)
    call sf_sum(x, total(1), group, ierr=ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no group (its team was freed")
    call sf_barrier(same_group, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "no group (its team was freed")
    call check(sf_group_size(group) == -1 .and. sf_group_rank(group) == -1 .and. sf_group_transport(group) == '', "nobody")
    call sf_team_member(team, 0, group, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the team was freed or ended through another variable")
    call sf_team_bind(team, 0, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the team was freed or ended")
    call sf_team_set_timeout(team, 1d0, ierr)
    call expect(ierr, SF_INVALID_ARGUMENT, "the team was freed or ended")
    call check(sf_team_size(team) == -1, "it has no workers")
    call sf_wait(plan, ierr=ierr)
    call sf_wait(request, ierr=ierr)
    call sf_free(plan)
    call sf_free(team)
    call sf_team_member(another, 0, group)
    call sf_sum(x, total(1), group)
    call sf_free(team)
    call check(same(total(1), 6.0_c_double), "a team that was made after another one was freed")
    call sf_free(another)
  end subroutine

  subroutine make_plan(plan, x, total, comm)
    type(sf_plan), intent(inout) :: plan
    real(c_double), asynchronous, target, intent(inout) :: x(:), total
    type(sf_group), intent(in) :: comm
    call sf_plan_sum(plan, x, total, comm)
  end subroutine

  ! Threads that make handles and end them at once.
  subroutine test_threads
    type(sf_layout) :: layout, copy
    real(c_double) :: total
    integer :: i, failed, ierr
    failed = 0
    !$omp parallel do num_threads(4) private(layout, copy, total, ierr) reduction(+: failed)
    do i = 1, 2000
      layout = sf_layout()
      call sf_layout_rank_order(layout, ierr)
      copy = layout
      call sf_sum([1.0_c_double, 2.0_c_double], total, layout=copy, ierr=ierr)
      if (ierr /= SF_OK .or. .not. same(total, 3.0_c_double)) failed = failed + 1
      call sf_free(layout)
      call sf_sum([1.0_c_double, 2.0_c_double], total, layout=copy, ierr=ierr)
      if (ierr /= SF_INVALID_ARGUMENT) failed = failed + 1
    end do
    call check(failed == 0, "handles of threads")
  end subroutine

  subroutine test_copies
    call test_threads
    call test_values(3)
    call test_ended_plans
    call test_ended_requests
    call test_ended_teams
  end subroutine
end module

program fortran_operations_test
  use operations, only: test_values, test_locations_and_statistics, test_nothing_is_selected, test_options
  use layouts, only: test_layouts, test_plans, test_plan_on_one_rank, test_misuse
  use vectors, only: test_vectors
  use others
  use copies, only: test_copies
  implicit none
  integer :: threads_of_mpi
  call MPI_Init_thread(MPI_THREAD_FUNNELED, threads_of_mpi)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call test_values
  call test_locations_and_statistics
  call test_nothing_is_selected
  call test_options
  call test_layouts
  call test_plans
  call test_plan_on_one_rank
  call test_misuse
  call test_vectors
  call test_accumulators
  call test_groups_and_names
  call test_copies
  if (rank == 0) write (*, '("operations from Fortran, ", i0, " ranks: ", i0, " checks passed, ", i0, " failed")') ranks, &
    passed, failures
  call MPI_Finalize
  if (failures > 0) error stop 1
end program
