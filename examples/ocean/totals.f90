! Sums over the whole ocean, in two ways: as most codes make them, and by Steadfold.
module totals
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use steadfold
  implicit none
  private
  public :: method, total_of

  ! How sums are made.
  type method
    logical :: plain = .false.
    integer :: threads = 1
  end type
contains

  ! The sums over wet cells of area times field, one for every field: field(0:tx + 1, 0:ty + 1, tiles, fields), area and
  ! wet without fields. Collective.
  function total_of(field, area, wet, how, comm) result(sums)
    real(real64), intent(in) :: field(0:, 0:, :, :), area(0:, 0:, :)
    logical, intent(in) :: wet(0:, 0:, :)
    type(method), intent(in) :: how
    type(MPI_Comm), intent(in) :: comm
    real(real64) :: sums(size(field, 4))
    character(len=24) :: options
    integer :: tx, ty
    if (how%plain) then
      sums = plain_total_of(field, area, wet, comm)
      return
    end if
    tx = ubound(field, 1) - 1
    ty = ubound(field, 2) - 1
    write (options, '("threads=", i0)') how%threads
    call sf_sum(field(1:tx, 1:ty, :, :), sums, comm, keep=4, weight=area(1:tx, 1:ty, :), where=wet(1:tx, 1:ty, :), &
                options=options)
  end function

  function plain_total_of(field, area, wet, comm) result(sums)
    real(real64), intent(in) :: field(0:, 0:, :, :), area(0:, 0:, :)
    logical, intent(in) :: wet(0:, 0:, :)
    type(MPI_Comm), intent(in) :: comm
    real(real64) :: sums(size(field, 4))
    integer :: i, j, tile, n
    sums = 0
    do n = 1, size(field, 4)
      do tile = 1, size(field, 3)
        do j = 1, ubound(field, 2) - 1
          do i = 1, ubound(field, 1) - 1
            if (wet(i, j, tile)) sums(n) = sums(n) + area(i, j, tile)*field(i, j, tile, n)
          end do
        end do
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, sums, size(sums), MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end function
end module
