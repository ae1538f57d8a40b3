! The drop-in modules on every rank count: the calls of climate and ocean codes, on hostile numbers with NaN in halos
! and in rows that no sum has, against sums of the same numbers one after the other by the C++ interface.
module ocean
  use checks
  implicit none
  integer, parameter :: nx = 13, ny = 17, nz = 5
  real(c_double) :: whole(nx, ny, nz), other(nx, ny, nz)
  ! This rank's rows, with a halo of NaN.
  integer :: js, je, rows
  real(c_double), allocatable :: f(:, :, :), g(:, :, :)
contains
  subroutine make_ocean
    real(c_double), allocatable :: numbers(:)
    allocate (numbers(2*size(whole)))
    call fill_hostile(numbers)
    whole = reshape(numbers(:size(whole)), shape(whole))
    other = reshape(numbers(size(whole) + 1:), shape(whole))
    whole(3, 4, 2) = 1e300_c_double
    whole(4, 3, 2) = -1e300_c_double
    js = 1 + (ny*rank)/ranks
    je = (ny*(rank + 1))/ranks
    rows = je + 1 - js
    allocate (f(nx + 2, rows + 2, nz), g(nx + 2, rows + 2, nz))
    f = nan()
    g = nan()
    f(2:nx + 1, 2:rows + 1, :) = whole(:, js:je, :)
    g(2:nx + 1, 2:rows + 1, :) = other(:, js:je, :)
  end subroutine

  pure real(c_double) function nan()
    nan = ieee_value(1.0_c_double, ieee_quiet_nan)
  end function
  pure real(c_double) function infinity()
    infinity = ieee_value(1.0_c_double, ieee_positive_inf)
  end function
  function sum_of(x) result(value)
    real(c_double), intent(in) :: x(:)
    real(c_double) :: value
    value = reference_sum(x, size(x, kind=c_int64_t))
  end function
  function dot_of(x, y) result(value)
    real(c_double), intent(in) :: x(:), y(:)
    real(c_double) :: value
    value = reference_dot(x, y, size(x, kind=c_int64_t))
  end function
  function layer(k) result(x)
    integer, intent(in) :: k
    real(c_double) :: x(nx*ny)
    x = reshape(whole(:, :, k), [nx*ny])
  end function
  function layers() result(sums)
    real(c_double) :: sums(nz)
    integer :: k
    sums = [(sum_of(layer(k)), k = 1, nz)]
  end function
end module

module test_shr_reprosum
  use ocean
  use steadfold_shr_reprosum
  implicit none
contains
  subroutine test_reprosum
    real(c_double), allocatable :: arr(:, :)
    real(c_double) :: sums(nz), greatest(nz), rel_diff(2, nz), plain(nz)
    integer :: count, room, levels(nz), most, stats(6), i
    count = nx*rows
    room = count + 3
    allocate (arr(room, nz))
    arr = nan() ! in the rows that are no summands
    arr(:count, :) = reshape(whole(:, js:je, :), [count, nz])
    call shr_reprosum_calc(arr, sums, count, room, nz, commid=MPI_COMM_WORLD%MPI_VAL)
    call check(same(sums, layers()), "shr_reprosum_calc")
    call shr_reprosum_calc(whole(:, js:je, :), sums, count, count, nz)
    call check(same(sums, layers()), "of three dimensions, with the default communicator")
    ! As the mediator CMEPS and the data models CDEPS call it, of several fields and of one.
    call shr_reprosum_calc(arr=arr(:count, :), arr_gsum=sums, nsummands=count, dsummands=count, nflds=nz, &
                           commid=MPI_COMM_WORLD%MPI_VAL)
    call check(same(sums, layers()), "by keywords")
    call shr_reprosum_calc(arr=arr(:count, 2:2), arr_gsum=sums(:1), nsummands=count, dsummands=count, nflds=1, &
                           commid=MPI_COMM_WORLD%MPI_VAL)
    call check(same(sums(:1), [sum_of(layer(2))]), "of one field by keywords")
    stats = [(i, i = 1, 6)]
    rel_diff = -1
    call shr_reprosum_calc(arr, sums, count, room, nz, .false., .true., [(0.0_c_double, i = 1, nz)], greatest, &
                           [(1, i = 1, nz)], levels, 1, most, 2, .true., stats, rel_diff, MPI_COMM_WORLD%MPI_VAL)
    call check(same(sums, layers()), "with bounds that are wrong")
    call check(same(greatest, [(maxval(abs(layer(i))), i = 1, nz)]), "greatest absolute values")
    call check(all(levels == 0) .and. most == nx*((ny + ranks - 1)/ranks), "levels and the most summands")
    call check(all(stats == [2, 2, 3, 4, 6, 6]), "statistics without comparison")
    call check(all_zero(rel_diff), "no comparison with plain sums")
    call check(.not. shr_reprosum_tolExceeded('heat', nz, .true., rel_diff=rel_diff + 1), "no tolerance, none exceeded")

    call shr_reprosum_setopts(repro_sum_use_ddpdd_in=.true., repro_sum_rel_diff_max_in=0.0_c_double, &
                              repro_sum_recompute_in=.true., repro_sum_master=.false.)
    call check(.not. shr_reprosum_recompute, "exact sums are not computed again")
    call shr_reprosum_calc(arr, sums, count, room, nz, repro_sum_stats=stats, rel_diff=rel_diff)
    plain = sum(arr(:count, :), dim=1)
    call MPI_Allreduce(MPI_IN_PLACE, plain, nz, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(same(rel_diff(2, :), abs(plain - layers())), "absolute differences from plain sums")
    call check(.not. same(plain, layers()), "plain sums differ (else this proves nothing)")
    do i = 1, nz
      plain(i) = rel_diff(2, i)
      if (abs(sums(i)) > plain(i)) plain(i) = plain(i)/abs(sums(i))
    end do
    call check(same(rel_diff(1, :), plain), "relative differences")
    call check(all(stats == [3, 2, 3, 5, 6, 6]), "statistics with comparison")
    call check(shr_reprosum_tolExceeded('heat', nz, .false., rel_diff=rel_diff), "a tolerance of 0 is exceeded")
    shr_reprosum_reldiffmax = huge(1.0_c_double)
    call check(.not. shr_reprosum_tolExceeded('heat', nz, .false., 6, rel_diff), "a great one is not")
    plain(1:3) = [1e20_c_double, 0.5_c_double, -1e20_c_double]
    call shr_reprosum_calc(plain, sums, 3, nz, 1, rel_diff=rel_diff)
    call check(same(rel_diff(:, 1), [0.5_c_double, 0.5_c_double]*ranks), "a difference as great as the sum")
    call shr_reprosum_calc(whole, sums, nx*ny, nx*ny, nz, commid=MPI_COMM_SELF%MPI_VAL)
    call check(same(sums, layers()), "over a communicator of one's own")
    call test_not_finite(arr, count, room)
  end subroutine

  subroutine test_not_finite(arr, count, room)
    real(c_double), intent(inout) :: arr(:, :)
    integer, intent(in) :: count, room
    real(c_double) :: sums(nz), rel_diff(2, nz)
    if (count > 0 .and. rank == ranks - 1) then
      arr(1, 1) = infinity()
      arr(1, 2) = nan()
      arr(1:2, 3) = [infinity(), -infinity()]
    end if
    call shr_reprosum_calc(arr, sums, count, room, nz, allow_infnan=.true., rel_diff=rel_diff)
    call check(same(sums(1), infinity()) .and. all(ieee_is_nan(sums(2:3))) .and. all(ieee_is_finite(sums(4:))), &
               "infinities and NaN where they are allowed")
    call check(all_zero(rel_diff(:, :3)), "no difference of what is not finite")
    arr = 0
    arr(:min(1, count), 1) = huge(1.0_c_double)
    call shr_reprosum_calc(arr, sums, count, room, nz)
    call check(ieee_is_finite(sums(1)) .eqv. ranks == 1, "finite summands with an infinite sum are allowed")
  end subroutine

  pure logical function all_zero(x)
    real(c_double), intent(in) :: x(:, :)
    all_zero = all(abs(x) <= 0)
  end function
end module

! Sums as CICE and CISM make them: blocks with halos, masks, a seam whose cells are counted once, a sum per patch.
module test_ice
  use ocean
  use steadfold_ice_reprosum
  use steadfold_cism_reprosum, only: cism_reprosum_calc, verbose_reprosum
  implicit none
  integer, parameter :: bx = 4, by = 5, across = 3, along = 4, halo = 1 ! blocks of 4 x 5 cells, 3 x 4 of them
  integer, parameter :: width = bx*across, height = by*along
  real(c_double) :: field(width, height), factor(width, height), mask(width, height)
contains
  subroutine test_ice_sums
    real(c_double), allocatable :: numbers(:)
    integer :: way
    logical :: differs
    allocate (numbers(3*width*height))
    call fill_hostile(numbers)
    field = reshape(numbers(:width*height), shape(field))
    factor = reshape(numbers(width*height + 1:), shape(factor))
    mask = merge(1.0_c_double, 0.0_c_double, mod(reshape([(way, way = 1, width*height)], shape(mask)), 3) /= 0)
    differs = .false.
    do way = 1, 3
      call test_blocks(way, differs)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, differs, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
    if (ranks > 2) call check(differs, "plain sums over blocks differ (else this proves nothing)")
    call test_patches
    call check(.not. verbose_reprosum, "verbose_reprosum")
  end subroutine

  ! Whose a block is: in a row, dealt in turn, or from both ends.
  integer function owner(block, way)
    integer, intent(in) :: block, way
    integer :: blocks
    blocks = across*along
    select case (way)
    case (1)
      owner = (block*ranks)/blocks
    case (2)
      owner = mod(block, ranks)
    case default
      owner = mod(min(block, blocks - 1 - block), ranks)
    end select
  end function

  ! Of the seam of a tripole grid, where the last row stands twice, only the first half is counted.
  pure logical function is_counted(i, j)
    integer, intent(in) :: i, j
    is_counted = j < height .or. i <= width/2
  end function

  subroutine test_blocks(way, differs)
    integer, intent(in) :: way
    logical, intent(inout) :: differs
    real(c_double) :: work(bx + 2*halo, by + 2*halo), sums8(1), due
    real(c_double) :: array2(width*height, 1), products(width*height, 1), plain
    integer :: block, i, j, ib, jb, ns
    array2 = 0
    products = 0
    ns = 0
    do block = 0, across*along - 1
      if (owner(block, way) /= rank) cycle
      ib = mod(block, across)*bx
      jb = (block/across)*by
      work = nan()
      work(1 + halo:bx + halo, 1 + halo:by + halo) = field(ib + 1:ib + bx, jb + 1:jb + by)
      do j = 1, by
        do i = 1, bx
          ns = ns + 1
          if (.not. is_counted(ib + i, jb + j)) cycle
          array2(ns, 1) = work(i + halo, j + halo)*mask(ib + i, jb + j)
          products(ns, 1) = work(i + halo, j + halo)*factor(ib + i, jb + j)
        end do
      end do
    end do
    ns = max(ns, 1)
    call ice_reprosum_calc(array2(:ns, :), sums8, ns, ns, 1, ddpdd_sum=.false., commid=MPI_COMM_WORLD%MPI_VAL)
    due = sum_of(counted(field*mask))
    call check(same(sums8(1), due), "global_sum of CICE")
    call ice_reprosum_calc(products(:ns, :), sums8, ns, ns, 1, ddpdd_sum=.true., commid=MPI_COMM_WORLD%MPI_VAL)
    call check(same(sums8(1), sum_of(counted(field*factor))), "global_sum_prod of CICE")
    plain = sum(array2(:ns, 1))
    call MPI_Allreduce(MPI_IN_PLACE, plain, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    differs = differs .or. .not. same(plain, due)
  end subroutine

  function counted(x) result(all)
    real(c_double), intent(in) :: x(:, :)
    real(c_double) :: all(size(x))
    integer :: i, j
    do j = 1, height
      do i = 1, width
        all((j - 1)*width + i) = merge(x(i, j), 0.0_c_double, is_counted(i, j))
      end do
    end do
  end function

  ! CISM: each rank's rows, a field for each patch, and all outputs asked for.
  subroutine test_patches
    integer, parameter :: patches = 3
    real(c_double), allocatable :: arr(:, :)
    real(c_double) :: arr_gsum(patches), greatest(patches), rel_diff(2, patches), due(patches), largest(patches)
    integer :: first, last, i, j, k, count, levels(patches), most, stats(6)
    first = 1 + (height*rank)/ranks
    last = (height*(rank + 1))/ranks
    allocate (arr(width*(last + 1 - first), patches))
    arr = 0
    count = 0
    do j = first, last
      do i = 1, width
        count = count + 1
        arr(count, patch_of(i, j)) = field(i, j)
      end do
    end do
    stats = [(i, i = 1, 6)]
    call cism_reprosum_calc(arr, arr_gsum, size(arr, 1), size(arr, 1), size(arr, 2), ddpdd_sum=.false., &
                            arr_gbl_max_out=greatest, arr_max_levels_out=levels, gbl_max_nsummands_out=most, &
                            repro_sum_validate=.true., repro_sum_stats=stats, rel_diff=rel_diff, &
                            commid=MPI_COMM_WORLD%MPI_VAL)
    do k = 1, patches
      arr = reshape(field, [width*height, 1])
      do j = 1, height
        do i = 1, width
          if (patch_of(i, j) /= k) arr((j - 1)*width + i, 1) = 0
        end do
      end do
      due(k) = sum_of(arr(:, 1))
      largest(k) = maxval(abs(arr(:, 1)))
    end do
    call check(same(arr_gsum, due), "parallel_global_sum_patch of CISM")
    call check(same(greatest, largest), "greatest absolute values of patches")
    call check(most == width*((height + ranks - 1)/ranks) .and. all(levels == 0), "the most summands")
    call check(all(stats([1, 5, 6]) == [2, 6, 6]), "CISM's statistics")
  end subroutine

  pure integer function patch_of(i, j)
    integer, intent(in) :: i, j
    patch_of = 1 + mod(i/3 + j/4, 3)
  end function
end module

module test_mpas
  use ocean
  use steadfold_mpas_global_sum
  implicit none
contains
  subroutine test_reals
    integer :: range(6), comm, i, k
    real(c_double) :: x(nz), y(nx*ny*nz), z(nx*ny*nz)
    real(c_float) :: short(3)
    real(c_double), allocatable :: six(:, :, :, :, :, :)
    comm = MPI_COMM_WORLD%MPI_VAL
    range = [2, nx + 1, 2, rows + 1, 1, nz]
    y = reshape(whole, [size(whole)])
    z = reshape(other, [size(whole)])
    call check(same(mpas_global_sum(f, comm, range), sum_of(y)), "mpas_global_sum of three dimensions in a range")
    call check(same(mpas_global_sum(whole(:, js:je, :), comm), sum_of(y)), "of a section")
    call check(same(mpas_global_sum(f(2:nx + 1, 3, 1), MPI_COMM_SELF%MPI_VAL), sum_of(f(2:nx + 1, 3, 1))), "of a row")
    call check(same(mpas_global_sum(f(5, 2:rows + 1, 1), comm), sum_of(whole(4, :, 1))), "of a scattered row")
    call check(same(mpas_global_sum(0.1_c_double, comm), sum_of([(0.1_c_double, k = 1, ranks)])), "of scalars")
    call check(same(mpas_global_sum(f, g, comm, range), dot_of(y, z)), "of products in a range")
    call check(same(mpas_global_sum(f(:, :, 2), g(:, :, 2), comm, range), &
                    dot_of(layer(2), reshape(other(:, :, 2), [nx*ny]))), "of products of two dimensions")
    call check(same(mpas_global_sum(f, comm, [1, 0, 1, 1, 1, 1]), 0.0_c_double), "of nothing")
    call check(same(mpas_global_sum_nfld(f, comm, range(:4)), layers()), "fields of two dimensions in a range")
    x = mpas_global_sum_nfld(f, g, comm, range)
    call check(same(x, [(dot_of(layer(k), reshape(other(:, :, k), [nx*ny])), k = 1, nz)]), "fields of products")
    call check(same(mpas_global_sum_nfld(whole(1, 1, :), comm), &
                    [(sum_of([(whole(1, 1, k), i = 1, ranks)]), k = 1, nz)]), "fields of scalars")
    six = reshape(whole(:, js:je, :), [1, nx, 1, rows, 1, nz])
    call check(same(mpas_global_sum(six, comm), sum_of(y)), "of six dimensions")
    call check(same(mpas_global_sum_nfld(six, comm), layers()), "fields of five dimensions")
    short = [16777216.0, 1.0, -16777216.0]
    call check(same(mpas_global_sum(short, comm), real(ranks)), "of floats")
    call check(same(mpas_global_sum(short, short(3:1:-1), comm), -2*(2.0**24)**2*ranks), "of products of floats")
    short = mpas_global_sum_nfld(reshape(short, [1, 3]), comm)/ranks
    call check(same(dble(short), [16777216.0_c_double, 1.0_c_double, -16777216.0_c_double]), "fields of floats")
  end subroutine

  subroutine test_integers
    integer :: comm, i4(4, 3), i
    integer(c_int64_t) :: i8(4, 3)
    comm = MPI_COMM_WORLD%MPI_VAL
    i4 = reshape([(i, i = 1, 12)], [4, 3])
    i8 = i4*10000000000_c_int64_t
    call check(mpas_global_sum(i4, comm) == 78*ranks, "of integers")
    call check(mpas_global_sum(i8, comm) == 780000000000_c_int64_t*ranks, "of long integers")
    call check(mpas_global_sum(i4, comm, [2, 3, 1, 2]) == 18*ranks, "of integers in a range")
    call check(mpas_global_sum(i4, i4, comm) == 650*ranks, "of products of integers")
    call check(mpas_global_sum(i4(:, 1), i4(:, 1), comm) == 30*ranks, "of one dimension")
    call check(mpas_global_sum(i8, i8*0 + 3, comm, [1, 1, 1, 3]) == 450000000000_c_int64_t*ranks, &
               "of products of long integers")
    call check(mpas_global_sum(7, comm) == 7*ranks, "of an integer")
    call check(mpas_global_sum(7_c_int64_t, comm) == 7*ranks, "of a long integer")
    call check(all(mpas_global_sum_nfld(i4, comm) == sum(i4, dim=1)*ranks), "fields of integers")
    call check(all(mpas_global_sum_nfld(i4, i4, comm, [4, 4]) == i4(4, :)**2*ranks), "fields of products of integers")
    call check(all(mpas_global_sum_nfld(i8, comm) == sum(i8, dim=1)*ranks), "fields of long integers")
  end subroutine
end module

module test_mom
  use ocean
  use steadfold_mom_coms
  implicit none
contains
  subroutine test_reproducing_sums
    real(c_double) :: total, sums(nz + 1), plain
    type(EFP_type) :: exact, lay(nz), nothing
    integer :: err, k
    total = reproducing_sum(f(:, :, 1), 2, nx + 1, 2, rows + 1)
    call check(same(total, sum_of(layer(1))), "reproducing_sum in a window")
    total = reproducing_sum(whole(:, js:je, 1), EFP_sum=exact, overflow_check=.false., err=err)
    call check(same([total, EFP_to_real(exact)], [sum_of(layer(1)), total]) .and. err == 0, "as an exact sum")
    total = reproducing_sum(f, 2, nx + 1, 2, rows + 1)
    call check(same(total, sum_of(reshape(whole, [size(whole)]))), "of three dimensions")
    sums = -1
    total = reproducing_sum(f, 2, nx + 1, 2, rows + 1, sums, exact, lay, err)
    call check(same(total, sum_of(reshape(whole, [size(whole)]))) .and. err == 0, "of three dimensions, with layers")
    call check(same(sums(:nz), layers()) .and. same(sums(nz + 1), -1.0_c_double), "of layers")
    call check(same(EFP_to_real(exact), total), "exact sums of three dimensions")
    do k = 1, nz
      call check(same(EFP_to_real(lay(k)), sums(k)), "exact sums of layers")
      exact = exact - lay(k)
    end do
    call check(same(EFP_to_real(exact), 0.0_c_double), "what is subtracted leaves nothing")
    total = reproducing_sum(f(:, :, 3), 2, nx + 1, 2, rows + 1, only_on_PE=.true.)
    call check(same(total, sum_of(reshape(whole(:, js:je, 3), [nx*rows]))), "on one rank")
    total = reproducing_sum(f(:, :, 3), 2, nx + 1, 2, rows + 1, unscale=1024.0_c_double)
    call check(same(total, sum_of(layer(3))), "with a scale")
    total = reproducing_sum(f(:, :, 3:4), 2, nx + 1, 2, rows + 1, sums, exact, unscale=1024.0_c_double)
    call check(same([EFP_to_real(exact)/1024, sums(1)], [total, sum_of(layer(3))]), "of layers, with a scale")
    plain = reproducing_sum(f(:, :, 2), 2, nx + 1, 2, rows + 1, EFP_sum=exact, reproducing=.false.)
    call check(.not. same(plain, sum_of(layer(2))), "plain sums differ (else this proves nothing)")
    call check(same(EFP_to_real(exact), plain), "a plain sum as an exact one")
    call check(same(EFP_to_real(nothing), 0.0_c_double), "an exact sum that nobody set")
    call set_sum_comm(MPI_COMM_SELF%MPI_VAL)
    total = reproducing_sum(whole(:, :, 1))
    call check(same(total, sum_of(layer(1))), "over a communicator of one's own")
    call set_sum_comm(MPI_COMM_WORLD%MPI_VAL)
  end subroutine

  subroutine test_exact_sums
    type(EFP_type) :: a, b, list(4)
    logical :: over, errors(4)
    real(c_double) :: x(4)
    integer :: i, err
    a = real_to_EFP(1e300_c_double)
    b = a + real_to_EFP(1e-300_c_double)
    call check(same([EFP_to_real(b), EFP_real_diff(b, a)], [1e300_c_double, 1e-300_c_double]), "differences")
    call check(same(EFP_to_real(EFP_minus(EFP_plus(a, b), a) - b), 0.0_c_double), "sums and differences")
    x = [0.1_c_double, -3.0_c_double, 1e-310_c_double, 1e200_c_double]
    do i = 1, 3
      list(i) = real_to_EFP(x(i)*(rank + 1))
    end do
    call EFP_sum_across_PEs(list, 4, errors)
    do i = 1, 3
      call check(same(EFP_to_real(list(i)), sum_of([(x(i)*(err + 1), err = 0, ranks - 1)])), "a list over ranks")
    end do
    call check(same(EFP_to_real(list(4)), 0.0_c_double) .and. .not. any(errors), "one that nobody set, over ranks")
    a = real_to_EFP(huge(x)*0.75_c_double)
    call EFP_sum_across_PEs(a, over)
    call check(over .eqv. ranks > 1, "a sum above all doubles")
    a = a - real_to_EFP(huge(x)*0.75_c_double)
    call check(same(EFP_to_real(a), merge(0.0_c_double, huge(x)*0.75_c_double, ranks == 1)) .or. ranks > 2, &
               "is exact nevertheless")
    call EFP_list_sum_across_PEs(list, 0)
    call check(same(EFP_to_real(list(4)), 0.0_c_double), "a list of none")
    call test_not_finite
  end subroutine

  subroutine test_not_finite
    real(c_double) :: x(2, 2), total, sums(1)
    type(EFP_type) :: exact
    logical :: over
    integer :: err
    call reset_EFP_overflow_error
    x = 1
    total = reproducing_sum(x, err=err)
    call check(err == 0 .and. .not. query_EFP_overflow_error(), "no error")
    if (rank == ranks - 1) x(2, 1) = infinity()
    total = reproducing_sum(x, err=err)
    call check(err == 2 .and. same(total, infinity()) .and. query_EFP_overflow_error(), "an infinity on one rank")
    if (rank == 0) x(1, 1) = -infinity()
    total = reproducing_sum(x, EFP_sum=exact, err=err)
    call check(err == 4 .and. ieee_is_nan(total), "infinities of both signs")
    total = reproducing_sum(reshape(x, [2, 2, 1]), sums=sums, err=err)
    call check(err == 4 .and. ieee_is_nan(total) .and. ieee_is_nan(sums(1)), "in three dimensions")
    call reset_EFP_overflow_error
    over = .false.
    exact = real_to_EFP(nan(), over)
    call check(over .and. query_EFP_overflow_error(), "a NaN as an exact sum")
  end subroutine
end module

! Rounding modes and flushed subnormals of the program reach no sum, of any module.
module test_environment
  use ocean
  use steadfold_shr_reprosum, only: shr_reprosum_calc
  use steadfold_ice_reprosum, only: ice_reprosum_calc
  use steadfold_mpas_global_sum
  use steadfold_mom_coms
  implicit none
  integer, parameter :: n = 12
contains
  function results(x, short) result(bits)
    real(c_double), intent(in) :: x(n, 2)
    real(c_float), intent(in) :: short(n)
    integer, allocatable :: bits(:)
    real(c_double) :: sums(2), greatest(2), own(2), total, layers_of(1)
    type(EFP_type) :: exact, layers(1), list(2)
    integer :: comm
    comm = MPI_COMM_WORLD%MPI_VAL
    call shr_reprosum_calc(x, sums, n, n, 2, arr_gbl_max_out=greatest, commid=comm)
    call ice_reprosum_calc(x, own, n, n, 2, commid=comm)
    bits = [transfer(sums, [0]), transfer(greatest, [0]), transfer(own, [0])]
    bits = [bits, transfer(mpas_global_sum(x, comm), [0]), transfer(mpas_global_sum(short, comm), [0]), &
            transfer(mpas_global_sum(x, x, comm), [0]), transfer(mpas_global_sum_nfld(x, comm), [0])]
    total = reproducing_sum(x, EFP_sum=exact, unscale=0.7_c_double)
    bits = [bits, transfer([total, EFP_to_real(exact)], [0])]
    total = reproducing_sum(reshape(x, [n, 2, 1]), sums=layers_of, EFP_sum=exact, EFP_lay_sums=layers, unscale=3.0_c_double)
    bits = [bits, transfer([total, layers_of, EFP_to_real(layers(1))], [0])]
    list = [real_to_EFP(x(1, 1)), exact - layers(1)]
    call EFP_sum_across_PEs(list, 2)
    bits = [bits, transfer([EFP_to_real(list(1) + list(2)), EFP_real_diff(list(1), exact)], [0])]
    bits = [bits, transfer(reproducing_sum(x, unscale=1.0_c_double/1024), [0])]
  end function

  subroutine test_environments
    real(c_double) :: x(n, 2), at
    real(c_double), volatile :: plain
    real(c_float) :: short(n)
    integer, allocatable :: usual(:), bits(:)
    integer :: kind, rounding, flushes, i, differ, followed
    do kind = 1, 2
      x = whole(:n, :2, 1)
      if (kind == 2) x = reshape([((-1)**i*i*1e-310_c_double, i = 1, 2*n)], [n, 2])
      short = [((-1)**i*i*1e-41, i = 1, n)]
      usual = results(x, short)
      at = sum(x(:, 1)*0.7_c_double)
      differ = 0
      followed = -1 ! the usual one is no other
      do rounding = 0, 3
        do flushes = 0, 1
          followed = followed + set_environment(rounding, flushes)
          bits = results(x, short)
          plain = 0
          do i = 1, n
            plain = plain + x(i, 1)*0.7_c_double
          end do
          call set_usual_environment
          call check(all(bits == usual), "drop-in modules in another environment")
          if (.not. same(plain, at)) differ = differ + 1
        end do
      end do
      call check_control(differ, followed)
    end do
  end subroutine
end module

program drop_ins_test
  use test_shr_reprosum
  use test_ice, only: test_ice_sums
  use test_mpas
  use test_mom, only: test_reproducing_sums, test_exact_sums
  use test_environment, only: test_environments
  use steadfold_mom_coms, only: EFP_sum_across_PEs, EFP_type, reproducing_sum
  implicit none
  character(len=16) :: mode
  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call make_ocean
  call get_command_argument(1, mode)
  if (mode /= '') call misuse(mode)
  call test_reprosum
  call test_ice_sums
  call test_reals
  call test_integers
  call test_reproducing_sums
  call test_exact_sums
  call test_environments
  if (rank == 0) write (*, '("drop-in modules, ", i0, " ranks: ", i0, " checks passed, ", i0, " failed")') &
    ranks, passed, failures
  call MPI_Finalize
  if (failures > 0) error stop 1
contains
  ! What ends the program, on one rank alone where that is possible.
  subroutine misuse(mode)
    character(len=*), intent(in) :: mode
    real(c_double) :: x(2, 2), sums(2)
    type(EFP_type) :: list(2)
    x = 1
    if (rank == ranks - 1) then
      select case (mode)
      case ('nan')
        x(2, 2) = nan()
      case ('summands')
        call shr_reprosum_calc(x, sums, 3, 2, 2)
      case ('range')
        sums = mpas_global_sum_nfld(x, MPI_COMM_WORLD%MPI_VAL, [1, 3])
      case ('shapes')
        sums = mpas_global_sum(x, x(:, :1), MPI_COMM_WORLD%MPI_VAL)
      case ('window')
        sums = reproducing_sum(x, isr=0)
      case ('layers')
        sums = reproducing_sum(reshape(x, [2, 1, 2]), sums=sums(:1))
      end select
    end if
    if (mode == 'lists') call EFP_sum_across_PEs(list, 2*rank)
    if (mode == 'infinite') sums = reproducing_sum(x*huge(x))
    call shr_reprosum_calc(x, sums, 2, 2, 2)
  end subroutine
end program
