! Sums with twice the digits. Each is a pair of doubles: a value and its rounding error. Another distribution gives
! different bits less often than with plain sums, but it may. Source: Y. He and C. H. Q. Ding, "Using accurate
! arithmetics to improve numerical reproducibility and stability in parallel applications", 2001.
module double_double
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private
  public :: sums_in_pairs, make_pair_sum

contains

  ! The operator that sums_in_pairs takes. Its caller frees it.
  subroutine make_pair_sum(op)
    type(MPI_Op), intent(out) :: op
    call MPI_Op_create(add_pairs, .true., op)
  end subroutine

  ! The sums over all ranks of the columns of `fields`. Collective.
  function sums_in_pairs(fields, op, comm) result(sums)
    real(real64), intent(in) :: fields(:, :)
    type(MPI_Op), intent(in) :: op
    type(MPI_Comm), intent(in) :: comm
    real(real64) :: sums(size(fields, 2))
    complex(real64) :: pairs(size(fields, 2))
    integer :: i, k
    do k = 1, size(fields, 2)
      pairs(k) = 0
      do i = 1, size(fields, 1)
        pairs(k) = sum_of(cmplx(fields(i, k), 0, real64), pairs(k))
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, pairs, size(pairs), MPI_DOUBLE_COMPLEX, op, comm)
    sums = pairs%re + pairs%im
  end function

  pure complex(real64) function sum_of(a, b)
    complex(real64), intent(in) :: a, b
    real(real64) :: high, part, low
    high = a%re + b%re
    part = high - a%re
    low = ((b%re - part) + (a%re - (high - part))) + a%im + b%im
    sum_of = cmplx(high + low, low - ((high + low) - high), real64)
  end function

  subroutine add_pairs(from, into, count, datatype)
    type(c_ptr), value :: from, into
    integer :: count
    type(MPI_Datatype) :: datatype
    complex(real64), pointer :: a(:), b(:)
    integer :: i
    if (datatype /= MPI_DOUBLE_COMPLEX) return ! the operator serves nothing else
    call c_f_pointer(from, a, [count])
    call c_f_pointer(into, b, [count])
    do i = 1, count
      b(i) = sum_of(a(i), b(i))
    end do
  end subroutine
end module
