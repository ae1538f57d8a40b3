! Steadfold as a replacement of shr_reprosum_mod (CESM, E3SM): the same procedures with the same arguments. Change `use
! shr_reprosum_mod` to `use steadfold_shr_reprosum`. docs/from_shr_reprosum.md describes the differences.
!
! Sums are the correctly rounded values of the exact sums, for any distribution, number of ranks and threads, in one
! reduction for all fields. Compile this file after steadfold.f90.
module steadfold_shr_reprosum
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, output_unit, r8 => real64
  use mpi_f08, only: MPI_Abort, MPI_Allreduce, MPI_Comm, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, MPI_SUM
  use steadfold, only: sf_allreduce, sf_combine, sf_sum
  implicit none
  private
  public :: shr_reprosum_setopts, shr_reprosum_calc, shr_reprosum_tolExceeded

  ! Stays false, whatever the arguments of shr_reprosum_setopts: a recomputation cannot improve these sums. A program
  ! that needs its own serial sums nevertheless sets it to true.
  logical, public :: shr_reprosum_recompute = .false.
  ! The largest relative difference from plain sums without a warning. If it is negative, there is no comparison.
  real(r8), public :: shr_reprosum_reldiffmax = -1.0_r8

  logical :: may_be_infinite_or_nan = .false.
contains

  ! Sets options of later calls of shr_reprosum_calc. May be called again; the last call counts.
  ! `repro_sum_use_ddpdd_in` and `repro_sum_recompute_in` are ignored.
  subroutine shr_reprosum_setopts(repro_sum_use_ddpdd_in, repro_sum_allow_infnan_in, repro_sum_rel_diff_max_in, &
                                  repro_sum_recompute_in, repro_sum_master, repro_sum_logunit)
    logical, intent(in), optional :: repro_sum_use_ddpdd_in, repro_sum_allow_infnan_in
    real(r8), intent(in), optional :: repro_sum_rel_diff_max_in
    logical, intent(in), optional :: repro_sum_recompute_in
    logical, intent(in), optional :: repro_sum_master ! whether this rank writes to the log
    integer, intent(in), optional :: repro_sum_logunit
    integer :: unit
    if (present(repro_sum_allow_infnan_in)) may_be_infinite_or_nan = repro_sum_allow_infnan_in
    if (present(repro_sum_rel_diff_max_in)) shr_reprosum_reldiffmax = repro_sum_rel_diff_max_in
    if (.not. is_true(repro_sum_master)) return
    unit = log_unit(repro_sum_logunit)
    write (unit, '(a)') 'steadfold_shr_reprosum: sums are exact and rounded once'
    if (is_true(repro_sum_use_ddpdd_in) .or. is_true(repro_sum_recompute_in)) write (unit, '(2a)') &
      'steadfold_shr_reprosum: the settings use_ddpdd and recompute are ignored (exact sums need ', 'neither)'
    if (shr_reprosum_reldiffmax >= 0) write (unit, '(a, es10.3)') &
      'steadfold_shr_reprosum: plain sums are compared, with a tolerance of ', shr_reprosum_reldiffmax
  end subroutine

  ! Computes the sums of the first `nsummands` rows of every field, over all ranks of `commid` (default MPI_COMM_WORLD).
  ! Every rank gets all sums. The rows from `nsummands` + 1 to `dsummands` are not read. The arguments `ddpdd_sum`,
  ! `arr_gbl_max`, `arr_max_levels`, `gbl_max_nsummands`, `gbl_count` and `repro_sum_validate` are ignored, since there
  ! is nothing to estimate. Every rank must give the same number of fields, and ask for the same outputs.
  subroutine shr_reprosum_calc(arr, arr_gsum, nsummands, dsummands, nflds, allow_infnan, ddpdd_sum, arr_gbl_max, &
                               arr_gbl_max_out, arr_max_levels, arr_max_levels_out, gbl_max_nsummands, &
                               gbl_max_nsummands_out, gbl_count, repro_sum_validate, repro_sum_stats, rel_diff, commid)
    integer, intent(in) :: nsummands, dsummands, nflds
    real(r8), intent(in) :: arr(dsummands, nflds)
    real(r8), intent(out) :: arr_gsum(nflds)
    logical, intent(in), optional :: allow_infnan ! if false, a NaN or an infinity among the summands ends the program
    logical, intent(in), optional :: ddpdd_sum
    real(r8), intent(in), optional :: arr_gbl_max(nflds)
    real(r8), intent(out), optional :: arr_gbl_max_out(nflds) ! largest absolute values; costs a second reduction
    integer, intent(in), optional :: arr_max_levels(nflds)
    integer, intent(out), optional :: arr_max_levels_out(nflds) ! 0, which shr_reprosum_mod takes for "not known"
    integer, intent(in), optional :: gbl_max_nsummands
    integer, intent(out), optional :: gbl_max_nsummands_out ! the largest number of summands on any rank; found in the
                                                            ! same reduction
    integer, intent(in), optional :: gbl_count
    logical, intent(in), optional :: repro_sum_validate
    integer, intent(inout), optional :: repro_sum_stats(6) ! counts of calls are added to elements 1, 4 and 5
    real(r8), intent(out), optional :: rel_diff(2, nflds) ! differences from plain sums, if shr_reprosum_reldiffmax is
                                                          ! not negative
    integer, intent(in), optional :: commid
    type(MPI_Comm) :: comm
    real(r8) :: greatest(nflds + 1) ! largest absolute value of each field, and the largest number of summands
    logical :: is_compared
    comm = MPI_COMM_WORLD
    if (present(commid)) comm%MPI_VAL = commid
    if (nsummands < 0 .or. nsummands > dsummands) call refuse(comm, nsummands, dsummands)

    call sf_sum(arr(1:nsummands, :), arr_gsum, comm, keep=2)
    if (.not. setting(allow_infnan, may_be_infinite_or_nan)) &
      call require_finite(arr(1:nsummands, :), arr_gsum, comm)

    if (present(arr_gbl_max_out) .or. present(gbl_max_nsummands_out)) then
      greatest = 0
      greatest(nflds + 1) = nsummands
      if (present(arr_gbl_max_out)) call sf_combine(arr(1:nsummands, :), 'norminf', greatest(:nflds), keep=2, &
                                                    where=.not. is_nan(arr(1:nsummands, :)))
      call sf_allreduce(greatest, 'max', comm)
      if (present(arr_gbl_max_out)) arr_gbl_max_out = greatest(:nflds)
      if (present(gbl_max_nsummands_out)) gbl_max_nsummands_out = nint(greatest(nflds + 1))
    end if
    if (present(arr_max_levels_out)) arr_max_levels_out = 0
    is_compared = present(rel_diff) .and. shr_reprosum_reldiffmax >= 0
    if (present(rel_diff)) rel_diff = 0
    if (is_compared) call compare_with_plain_sums(arr(1:nsummands, :), arr_gsum, rel_diff, comm)
    if (present(repro_sum_stats)) &
      repro_sum_stats = repro_sum_stats + [1, 0, 0, merge(1, 0, is_compared), &
                                           merge(1, 0, present(gbl_max_nsummands_out)), 0]

    if (any([present(ddpdd_sum), present(arr_gbl_max), present(arr_max_levels), present(gbl_max_nsummands), &
             present(gbl_count), present(repro_sum_validate)])) continue ! these arguments are ignored
  end subroutine

  ! Returns whether a difference from plain sums is above the tolerance. If so, the rank `master` prints the largest
  ! differences.
  logical function shr_reprosum_tolExceeded(name, nflds, master, logunit, rel_diff) result(exceeded)
    character(len=*), intent(in) :: name ! the name of the sums, which is printed
    integer, intent(in) :: nflds
    logical, intent(in) :: master
    integer, intent(in), optional :: logunit
    real(r8), intent(in) :: rel_diff(2, nflds)
    logical :: is_above(nflds)
    integer :: i, worst
    exceeded = .false.
    if (shr_reprosum_reldiffmax < 0) return
    is_above = rel_diff(1, :) > shr_reprosum_reldiffmax
    exceeded = any(is_above)
    if (.not. exceeded .or. .not. master) return
    write (log_unit(logunit), '(2a, i0, a, es10.3)') trim(name), ': plain sums of ', count(is_above), &
      ' fields differ from the exact sums by more than ', shr_reprosum_reldiffmax
    do i = 1, 2
      worst = maxloc(rel_diff(i, :), 1, is_above)
      write (log_unit(logunit), '(3a, i0, 2(a, es10.3))') '  the greatest ', merge('relative', 'absolute', i == 1), &
        ' difference: field ', worst, ', relative ', rel_diff(1, worst), ', absolute ', rel_diff(2, worst)
    end do
  end function

  ! Computes the relative and absolute differences from plain sums. If the absolute difference is not smaller than the
  ! sum, it is used as the relative difference, too.
  subroutine compare_with_plain_sums(arr, exact, rel_diff, comm)
    real(r8), intent(in) :: arr(:, :), exact(:)
    real(r8), intent(out) :: rel_diff(:, :)
    type(MPI_Comm), intent(in) :: comm
    real(r8) :: mine(size(exact)), plain(size(exact))
    mine = sum(arr, dim=1)
    call MPI_Allreduce(mine, plain, size(exact), MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    rel_diff = 0
    where (is_finite(exact)) rel_diff(2, :) = abs(plain - exact)
    rel_diff(1, :) = rel_diff(2, :)
    where (is_finite(exact) .and. abs(exact) > rel_diff(2, :)) rel_diff(1, :) = rel_diff(2, :)/abs(exact)
  end subroutine

  ! Ends the program if a summand is infinite or NaN. This summand makes the sum infinite or NaN, so ranks search only
  ! in this case, and the ranks that find one report it.
  subroutine require_finite(arr, sums, comm)
    real(r8), intent(in) :: arr(:, :), sums(:)
    type(MPI_Comm), intent(in) :: comm
    integer :: i, nans, infinities
    do i = 1, size(sums)
      if (is_finite(sums(i))) cycle
      nans = count(is_nan(arr(:, i)))
      infinities = count(.not. is_finite(arr(:, i))) - nans
      if (nans + infinities == 0) cycle
      write (error_unit, '(3(a, i0), a)') 'steadfold: ', nans, ' NaNs and ', infinities, &
        ' infinities among the summands of field ', i, &
        ' (allow_infnan is not set), set allow_infnan, or find the source of these values'
      flush (error_unit)
      call MPI_Abort(comm, 1)
    end do
  end subroutine

  subroutine refuse(comm, nsummands, dsummands)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nsummands, dsummands
    write (error_unit, '(2(a, i0), a)') 'steadfold: nsummands=', nsummands, ' in shr_reprosum_calc (dsummands=', &
      dsummands, '), give 0 to dsummands'
    flush (error_unit)
    call MPI_Abort(comm, 1)
  end subroutine

  logical function is_true(given)
    logical, intent(in), optional :: given
    is_true = setting(given, .false.)
  end function

  logical function setting(given, default)
    logical, intent(in), optional :: given
    logical, intent(in) :: default
    setting = default
    if (present(given)) setting = given
  end function

  ! Tests the bits, since a compiler may assume that there are no NaNs or infinities (-ffast-math).
  elemental logical function is_finite(x)
    real(r8), intent(in) :: x
    is_finite = ibits(transfer(x, 0_int64), 52, 11) /= 2047
  end function
  elemental logical function is_nan(x)
    real(r8), intent(in) :: x
    is_nan = .not. is_finite(x) .and. ibits(transfer(x, 0_int64), 0, 52) /= 0
  end function

  integer function log_unit(unit)
    integer, intent(in), optional :: unit
    log_unit = output_unit
    if (present(unit)) log_unit = unit
  end function
end module
