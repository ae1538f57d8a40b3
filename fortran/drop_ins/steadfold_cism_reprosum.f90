! Steadfold as a replacement of CISM's cism_reprosum_mod: the same names. If `reprosum` is set, its parallel_global_sum,
! parallel_global_sum_patch and similar functions give the correctly rounded values of the exact sums.
! docs/from_shr_reprosum.md describes the differences. Compile this file after steadfold_ice_reprosum.f90.
module steadfold_cism_reprosum
  use steadfold_ice_reprosum, only: cism_reprosum_setopts => ice_reprosum_setopts, &
                                    cism_reprosum_calc => ice_reprosum_calc, &
                                    cism_reprosum_tolExceeded => ice_reprosum_tolExceeded, &
                                    cism_reprosum_recompute => ice_reprosum_recompute, &
                                    cism_reprosum_reldiffmax => ice_reprosum_reldiffmax
  implicit none
  public
  logical, parameter :: verbose_reprosum = .false. ! CISM reads this variable
end module
