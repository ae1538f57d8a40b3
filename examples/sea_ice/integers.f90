! Sums that hardly depend on the distribution, by the algorithm of shr_reprosum: one reduction finds the greatest and
! the least exponent of every field, a second one adds integers of which several levels hold all bits. Written from
! the description in A. Mirin and P. Worley, "Improving the performance scalability of the community atmosphere
! model", 2012; products with powers of two take the place of shifts.
module integers
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  private
  public :: sums_by_integers
contains

  ! The sums over all ranks of the columns of `fields`, whose numbers are normal or zero. Collective.
  function sums_by_integers(fields, comm) result(sums)
    real(real64), intent(in) :: fields(:, :)
    type(MPI_Comm), intent(in) :: comm
    real(real64) :: sums(size(fields, 2))
    integer :: extremes(2*size(fields, 2) + 1), ranks, bits, levels, k, level
    integer(int64), allocatable :: digits_of(:, :)
    call find_extremes(fields, extremes)
    call MPI_Allreduce(MPI_IN_PLACE, extremes, size(extremes), MPI_INTEGER, MPI_MAX, comm)
    call MPI_Comm_size(comm, ranks)
    bits = 62 - exponent(real(extremes(size(extremes)), real64)*ranks + 1) ! of a level: no sum of integers overflows
    levels = 1
    do k = 1, size(sums)
      levels = max(levels, 1 + (digits(sums) + max(extremes(2*k - 1) + extremes(2*k), 0))/bits)
    end do
    allocate (digits_of(levels, size(sums)), source=0_int64)
    do k = 1, size(sums)
      call add_digits(fields(:, k), extremes(2*k - 1), bits, digits_of(:, k))
    end do
    call MPI_Allreduce(MPI_IN_PLACE, digits_of, size(digits_of), MPI_INTEGER8, MPI_SUM, comm)
    do k = 1, size(sums)
      sums(k) = 0
      do level = levels, 1, -1 ! from the lowest up, so that little is lost
        sums(k) = sums(k) + scale(real(digits_of(level, k), real64), extremes(2*k - 1) - bits*level)
      end do
    end do
  end function

  ! The greatest exponent of every field and the negated least exponent, followed by the number of summands.
  subroutine find_extremes(fields, extremes)
    real(real64), intent(in) :: fields(:, :)
    integer, intent(out) :: extremes(:)
    integer :: k, i, found, greatest, least
    do k = 1, size(fields, 2)
      greatest = minexponent(fields) - 1
      least = maxexponent(fields)
      do i = 1, size(fields, 1)
        found = int(ibits(transfer(fields(i, k), 0_int64), 52, 11)) - 1022
        if (found < minexponent(fields)) cycle ! zero
        greatest = max(greatest, found)
        least = min(least, found)
      end do
      extremes(2*k - 1) = greatest
      extremes(2*k) = -least
    end do
    extremes(size(extremes)) = size(fields, 1)
  end subroutine

  subroutine add_digits(field, greatest, bits, digits_of)
    real(real64), intent(in) :: field(:)
    integer, intent(in) :: greatest, bits
    integer(int64), intent(inout) :: digits_of(:)
    real(real64) :: left, down, up
    integer(int64) :: whole
    integer :: i, level
    down = scale(1.0_real64, -greatest)
    up = scale(1.0_real64, bits)
    do i = 1, size(field)
      left = field(i)*down*up
      do level = 1, size(digits_of)
        whole = int(left, int64)
        digits_of(level) = digits_of(level) + whole
        left = (left - whole)*up
      end do
    end do
  end subroutine
end module
