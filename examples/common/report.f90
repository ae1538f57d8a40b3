! Output of the programs in Fortran: digests of values and of fields, and numbers as texts.
module report
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use grid
  implicit none
  private
  public :: fingerprint, digest_of, mpi_library, number, decimal

  ! A digest of every value that a reduction gave: FNV-1a of its bytes.
  type fingerprint
    integer(int64) :: digest = -3750763034362895579_int64
  contains
    procedure :: add, add_all, text
  end type
contains

  elemental subroutine add(self, value)
    class(fingerprint), intent(inout) :: self
    real(real64), intent(in) :: value
    integer(int64) :: bits
    integer :: byte
    bits = transfer(value, bits)
    do byte = 0, 7
      self%digest = ieor(self%digest, ibits(bits, 8*byte, 8))*1099511628211_int64 ! wraps around: compiled with -fwrapv
    end do
  end subroutine

  pure subroutine add_all(self, values)
    class(fingerprint), intent(inout) :: self
    real(real64), intent(in) :: values(:)
    integer :: i
    do i = 1, size(values)
      call self%add(values(i))
    end do
  end subroutine

  pure function text(self)
    class(fingerprint), intent(in) :: self
    character(len=16) :: text
    write (text, '(z16.16)') self%digest
  end function

  ! A digest of the bits of field(0:tx + 1, 0:ty + 1, tiles, fields), without halos, and of where they are, whoever has
  ! them. Collective.
  function digest_of(map, field, comm) result(text)
    type(tiles), intent(in) :: map
    real(real64), intent(in) :: field(0:, 0:, :, :)
    type(MPI_Comm), intent(in) :: comm
    character(len=16) :: text
    type(fingerprint) :: cell
    integer(int64) :: all
    integer :: n, i, j, k
    all = 0
    do k = 1, size(field, 4)
      do n = 1, size(map%mine)
        do j = 1, map%ty
          do i = 1, map%tx
            cell = fingerprint()
            call cell%add(real(k, real64))
            call cell%add(real(map%column(map%mine(n)) + i, real64))
            call cell%add(real(map%row(map%mine(n)) + j, real64))
            call cell%add(field(i, j, n, k))
            all = ieor(all, cell%digest)
          end do
        end do
      end do
    end do
    call MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INTEGER8, MPI_BXOR, comm)
    write (text, '(z16.16)') all
  end function

  ! Its name and version: the text before the first comma, or before the end of the first line.
  function mpi_library() result(text)
    character(len=:), allocatable :: text
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    integer :: length, i
    call MPI_Get_library_version(library, length)
    text = library(:scan(library(:length)//',', ','//new_line('a')) - 1)
    do i = 1, len(text)
      if (iachar(text(i:i)) < 32) text(i:i) = ' '
    end do
  end function

  pure function number(value) result(text)
    integer, intent(in) :: value
    character(len=:), allocatable :: text
    character(len=16) :: digits
    write (digits, '(i0)') value
    text = trim(digits)
  end function

  ! The digits that tell doubles apart.
  pure function decimal(value) result(text)
    real(real64), intent(in) :: value
    character(len=:), allocatable :: text
    character(len=32) :: digits
    write (digits, '(es23.16e2)') value
    text = trim(adjustl(digits))
  end function
end module
