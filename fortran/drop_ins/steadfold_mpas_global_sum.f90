! Steadfold as a replacement of mpas_global_sum_mod (the MPAS framework of E3SM): the same functions with the same
! arguments. Change `use mpas_global_sum_mod` to `use steadfold_mpas_global_sum`. docs/from_shr_reprosum.md describes
! the differences.
!
!   mpas_global_sum(array, mpiComm [, indxRange])           the sum of all elements over all ranks of mpiComm
!   mpas_global_sum(array, array2, mpiComm [, indxRange])   the sum of products of two arrays of the same shape
!   mpas_global_sum_nfld(...)                               the same for every index of the last dimension, at once
!
! Arrays are scalars or have up to 6 dimensions. Their type is real or integer of 4 or 8 bytes; results have the same
! type. `indxRange` has the first and last index of dimension 1, of dimension 2, and so on, counted from 1; for
! mpas_global_sum_nfld without the last dimension. Elements outside the range are not added. Real sums are the
! correctly rounded values of the exact sums, and products of reals are not rounded. Integers wrap around.
!
! Contiguous arrays are read in place, others are copied. Compile this file after steadfold.f90.
module steadfold_mpas_global_sum
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc
  use, intrinsic :: iso_fortran_env, only: error_unit, i4 => int32, i8 => int64, r4 => real32, r8 => real64
  use mpi_f08, only: MPI_Abort, MPI_Comm
  use steadfold, only: sf_sum
  implicit none
  private
  public :: mpas_global_sum, mpas_global_sum_nfld

  interface mpas_global_sum
    procedure :: sum_r8, sum_r4, sum_i8, sum_i4, dot_r8, dot_r4, dot_i8
    procedure :: dot_1_i4, dot_2_i4, dot_3_i4, dot_4_i4, dot_5_i4, dot_6_i4
  end interface
  interface mpas_global_sum_nfld
    ! Results are allocatable, since gfortran looks up rank() in the extent of a result among the names of the caller.
    procedure :: sums_r8, sums_r4, sums_i8, sums_i4, dots_r8, dots_r4, dots_i8
    procedure :: dots_1_i4, dots_2_i4, dots_3_i4, dots_4_i4, dots_5_i4
  end interface

  integer, parameter :: most = 6 ! largest number of dimensions
contains

  function sum_r8(array, mpiComm, indxRange) result(total)
    real(r8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r8) :: total
    call sf_sum(part_r8(array, rank(array), mpiComm, indxRange), total, mpiComm)
  end function

  function sum_r4(array, mpiComm, indxRange) result(total)
    real(r4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r4) :: total
    call sf_sum(part_r4(array, rank(array), mpiComm, indxRange), total, mpiComm)
  end function

  function sum_i8(array, mpiComm, indxRange) result(total)
    integer(i8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i8) :: total
    call sf_sum(part_i8(array, rank(array), mpiComm, indxRange), total, mpiComm)
  end function

  function sum_i4(array, mpiComm, indxRange) result(total)
    integer(i4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call sf_sum(part_i4(array, rank(array), mpiComm, indxRange), total, mpiComm)
  end function

  function dot_r8(array, array2, mpiComm, indxRange) result(total)
    real(r8), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r8) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_r8(array, rank(array), mpiComm, indxRange), total, mpiComm, &
                weight=part_r8(array2, rank(array), mpiComm, indxRange))
  end function

  function dot_r4(array, array2, mpiComm, indxRange) result(total)
    real(r4), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_r4(array, rank(array), mpiComm, indxRange), total, mpiComm, &
                weight=part_r4(array2, rank(array), mpiComm, indxRange))
  end function

  function dot_i8(array, array2, mpiComm, indxRange) result(total)
    integer(i8), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i8) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_i8(array, rank(array), mpiComm, indxRange)* &
                part_i8(array2, rank(array), mpiComm, indxRange), total, mpiComm)
  end function

  ! Integers of 4 bytes. A communicator has this type, too; arrays differ from it by their dimensions.
  function dot_1_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:), array2(:)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function dot_2_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :), array2(:, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function dot_3_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :), array2(:, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function dot_4_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :), array2(:, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function dot_5_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :, :), array2(:, :, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function dot_6_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :, :, :), array2(:, :, :, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sum_i4(array*array2, mpiComm, indxRange)
  end function

  function sums_r8(array, mpiComm, indxRange) result(total)
    real(r8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r8), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call sf_sum(part_r8(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array))
  end function

  function sums_r4(array, mpiComm, indxRange) result(total)
    real(r4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r4), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call sf_sum(part_r4(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array))
  end function

  function sums_i8(array, mpiComm, indxRange) result(total)
    integer(i8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i8), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call sf_sum(part_i8(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array))
  end function

  function sums_i4(array, mpiComm, indxRange) result(total)
    integer(i4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call sf_sum(part_i4(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array))
  end function

  function dots_r8(array, array2, mpiComm, indxRange) result(total)
    real(r8), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r8), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_r8(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array), &
                weight=part_r8(array2, rank(array) - 1, mpiComm, indxRange))
  end function

  function dots_r4(array, array2, mpiComm, indxRange) result(total)
    real(r4), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(r4), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_r4(array, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array), &
                weight=part_r4(array2, rank(array) - 1, mpiComm, indxRange))
  end function

  function dots_i8(array, array2, mpiComm, indxRange) result(total)
    integer(i8), contiguous, target, intent(in) :: array(..), array2(..)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i8), allocatable :: total(:)
    allocate (total(size(array, rank(array))))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    call sf_sum(part_i8(array, rank(array) - 1, mpiComm, indxRange)* &
                part_i8(array2, rank(array) - 1, mpiComm, indxRange), total, mpiComm, keep=rank(array))
  end function

  function dots_1_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :), array2(:, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total(size(array, 2))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sums_i4(array*array2, mpiComm, indxRange)
  end function

  function dots_2_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :), array2(:, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total(size(array, 3))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sums_i4(array*array2, mpiComm, indxRange)
  end function

  function dots_3_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :), array2(:, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total(size(array, 4))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sums_i4(array*array2, mpiComm, indxRange)
  end function

  function dots_4_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :, :), array2(:, :, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total(size(array, 5))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sums_i4(array*array2, mpiComm, indxRange)
  end function

  function dots_5_i4(array, array2, mpiComm, indxRange) result(total)
    integer(i4), intent(in) :: array(:, :, :, :, :, :), array2(:, :, :, :, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    integer(i4) :: total(size(array, 6))
    call require_one_shape(shape(array), shape(array2), mpiComm)
    total = sums_i4(array*array2, mpiComm, indxRange)
  end function

  ! Returns the elements of an array within the range, with as many dimensions as the largest array has.
  function part_r8(array, ranged, comm, range) result(part)
    real(r8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: ranged, comm
    integer, intent(in), optional :: range(:)
    real(r8), pointer :: part(:, :, :, :, :, :)
    integer :: b(2*most)
    b = bounds(shape(array), ranged, comm, range)
    call c_f_pointer(c_loc(array), part, padded(shape(array)))
    part => part(b(1):b(2), b(3):b(4), b(5):b(6), b(7):b(8), b(9):b(10), b(11):b(12))
  end function

  function part_r4(array, ranged, comm, range) result(part)
    real(r4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: ranged, comm
    integer, intent(in), optional :: range(:)
    real(r4), pointer :: part(:, :, :, :, :, :)
    integer :: b(2*most)
    b = bounds(shape(array), ranged, comm, range)
    call c_f_pointer(c_loc(array), part, padded(shape(array)))
    part => part(b(1):b(2), b(3):b(4), b(5):b(6), b(7):b(8), b(9):b(10), b(11):b(12))
  end function

  function part_i8(array, ranged, comm, range) result(part)
    integer(i8), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: ranged, comm
    integer, intent(in), optional :: range(:)
    integer(i8), pointer :: part(:, :, :, :, :, :)
    integer :: b(2*most)
    b = bounds(shape(array), ranged, comm, range)
    call c_f_pointer(c_loc(array), part, padded(shape(array)))
    part => part(b(1):b(2), b(3):b(4), b(5):b(6), b(7):b(8), b(9):b(10), b(11):b(12))
  end function

  function part_i4(array, ranged, comm, range) result(part)
    integer(i4), contiguous, target, intent(in) :: array(..)
    integer, intent(in) :: ranged, comm
    integer, intent(in), optional :: range(:)
    integer(i4), pointer :: part(:, :, :, :, :, :)
    integer :: b(2*most)
    b = bounds(shape(array), ranged, comm, range)
    call c_f_pointer(c_loc(array), part, padded(shape(array)))
    part => part(b(1):b(2), b(3):b(4), b(5):b(6), b(7):b(8), b(9):b(10), b(11):b(12))
  end function

  ! Returns the first and last index of every dimension of an array; dimensions beyond its rank have one index. The
  ! range is given for the first `ranged` dimensions.
  function bounds(extents, ranged, comm, range) result(b)
    integer, intent(in) :: extents(:), ranged, comm
    integer, intent(in), optional :: range(:)
    integer :: b(2*most)
    b(1::2) = 1
    b(2::2) = padded(extents)
    if (.not. present(range)) return
    if (size(range) < 2*ranged) call refuse(comm, range, extents)
    b(:2*ranged) = range(:2*ranged)
    if (any(b(1:2*ranged:2) < 1) .or. any(b(2:2*ranged:2) > extents(:ranged))) call refuse(comm, range, extents)
  end function

  function padded(extents)
    integer, intent(in) :: extents(:)
    integer :: padded(most)
    padded = 1
    padded(:size(extents)) = extents
  end function

  !> Writes numbers as one text, so that a message is written at once and output of other processes cannot split it.
  function listed(numbers)
    integer, intent(in) :: numbers(:)
    character(len=:), allocatable :: listed
    character(len=14*size(numbers) + 1) :: text
    write (text, '(*(i0, :, ", "))') numbers
    listed = trim(text)
  end function

  subroutine require_one_shape(a, b, comm)
    integer, intent(in) :: a(:), b(:), comm
    logical :: are_one
    are_one = size(a) == size(b)
    if (are_one) are_one = all(a == b)
    if (are_one) return
    write (error_unit, '(5a)') 'steadfold: arrays of the shapes (', listed(a), ') and (', listed(b), &
      ') in mpas_global_sum (their elements are multiplied), pass two arrays of one shape'
    flush (error_unit)
    call MPI_Abort(MPI_Comm(comm), 1)
  end subroutine

  subroutine refuse(comm, range, extents)
    integer, intent(in) :: comm, range(:), extents(:)
    write (error_unit, '(5a)') 'steadfold: indxRange=(', listed(range), &
      ') in mpas_global_sum (the array has the shape (', listed(extents), &
      ')), give first and last index of every dimension, counted from 1'
    flush (error_unit)
    call MPI_Abort(MPI_Comm(comm), 1)
  end subroutine
end module
