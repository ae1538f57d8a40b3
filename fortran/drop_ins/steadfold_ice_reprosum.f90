! Steadfold as a replacement of CICE's ice_reprosum: the same procedures with the same arguments. If `bfbflag` is
! `reprosum` or `ddpdd`, global_sum and global_sum_prod give the correctly rounded values of the exact sums.
! docs/from_shr_reprosum.md describes the differences. Compile this file after steadfold_shr_reprosum.f90.
module steadfold_ice_reprosum
  use, intrinsic :: iso_fortran_env, only: r8 => real64
  use steadfold_shr_reprosum, only: shr_reprosum_calc, shr_reprosum_setopts, &
                                    ice_reprosum_tolExceeded => shr_reprosum_tolExceeded, &
                                    ice_reprosum_recompute => shr_reprosum_recompute, &
                                    ice_reprosum_reldiffmax => shr_reprosum_reldiffmax
  implicit none
  private
  public :: ice_reprosum_setopts, ice_reprosum_calc, ice_reprosum_tolExceeded
  public :: ice_reprosum_recompute, ice_reprosum_reldiffmax
contains

  ! Does what shr_reprosum_setopts does.
  subroutine ice_reprosum_setopts(repro_sum_use_ddpdd_in, repro_sum_rel_diff_max_in, repro_sum_recompute_in, &
                                  repro_sum_master, repro_sum_logunit)
    logical, intent(in), optional :: repro_sum_use_ddpdd_in
    real(r8), intent(in), optional :: repro_sum_rel_diff_max_in
    logical, intent(in), optional :: repro_sum_recompute_in, repro_sum_master
    integer, intent(in), optional :: repro_sum_logunit
    call shr_reprosum_setopts(repro_sum_use_ddpdd_in=repro_sum_use_ddpdd_in, &
                              repro_sum_rel_diff_max_in=repro_sum_rel_diff_max_in, &
                              repro_sum_recompute_in=repro_sum_recompute_in, repro_sum_master=repro_sum_master, &
                              repro_sum_logunit=repro_sum_logunit)
  end subroutine

  ! Does what shr_reprosum_calc does; NaNs and infinities end the program. `repro_sum_stats` has 5 elements, in CISM 6.
  subroutine ice_reprosum_calc(arr, arr_gsum, nsummands, dsummands, nflds, ddpdd_sum, arr_gbl_max, arr_gbl_max_out, &
                               arr_max_levels, arr_max_levels_out, gbl_max_nsummands, gbl_max_nsummands_out, &
                               gbl_count, repro_sum_validate, repro_sum_stats, rel_diff, commid)
    integer, intent(in) :: nsummands, dsummands, nflds
    real(r8), intent(in) :: arr(dsummands, nflds)
    real(r8), intent(out) :: arr_gsum(nflds)
    logical, intent(in), optional :: ddpdd_sum
    real(r8), intent(in), optional :: arr_gbl_max(nflds)
    real(r8), intent(out), optional :: arr_gbl_max_out(nflds)
    integer, intent(in), optional :: arr_max_levels(nflds)
    integer, intent(out), optional :: arr_max_levels_out(nflds)
    integer, intent(in), optional :: gbl_max_nsummands
    integer, intent(out), optional :: gbl_max_nsummands_out
    integer, intent(in), optional :: gbl_count
    logical, intent(in), optional :: repro_sum_validate
    integer, intent(inout), optional :: repro_sum_stats(5)
    real(r8), intent(out), optional :: rel_diff(2, nflds)
    integer, intent(in), optional :: commid
    integer :: done(6)
    done = 0
    call shr_reprosum_calc(arr, arr_gsum, nsummands, dsummands, nflds, ddpdd_sum=ddpdd_sum, arr_gbl_max=arr_gbl_max, &
                           arr_gbl_max_out=arr_gbl_max_out, arr_max_levels=arr_max_levels, &
                           arr_max_levels_out=arr_max_levels_out, gbl_max_nsummands=gbl_max_nsummands, &
                           gbl_max_nsummands_out=gbl_max_nsummands_out, gbl_count=gbl_count, &
                           repro_sum_validate=repro_sum_validate, repro_sum_stats=done, rel_diff=rel_diff, &
                           commid=commid)
    if (present(repro_sum_stats)) repro_sum_stats = repro_sum_stats + done(:5)
  end subroutine
end module
