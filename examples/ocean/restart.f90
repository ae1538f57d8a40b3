! The ocean's state in a file, from which any number of ranks goes on: numbers of the whole grid, wherever tiles are.
module restart
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use model
  implicit none
  private
  public :: save_ocean, load_ocean

  integer, parameter :: head_size = 8 ! of 8 bytes: grid, steps, digest, level and energy, first and last
contains

  ! Writes the file `name` anew. Collective; ends the program if the file cannot be written.
  subroutine save_ocean(self, name, comm)
    class(ocean), intent(in) :: self
    character(len=*), intent(in) :: name
    type(MPI_Comm), intent(in) :: comm
    type(MPI_File) :: file
    integer(int64) :: head(head_size)
    real(real64) :: line(self%map%tx)
    integer :: j, n, k
    head = [int(self%map%nx, int64), int(self%map%ny, int64), int(self%steps, int64), self%seen%digest, &
            transfer([self%first_level, self%first_energy, self%mean_level, self%energy], head(1:4))]
    call open_file(file, name, ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), comm)
    call MPI_File_set_size(file, 0_MPI_OFFSET_KIND)
    call MPI_File_write_at_all(file, 0_MPI_OFFSET_KIND, head, head_size, MPI_INTEGER8, MPI_STATUS_IGNORE)
    do k = 1, size(self%field, 4)
      do n = 1, size(self%map%mine)
        do j = 1, self%map%ty
          line = self%field(1:self%map%tx, j, n, k)
          call MPI_File_write_at(file, place_of(self, j, n, k), line, size(line), MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
        end do
      end do
    end do
    call MPI_File_close(file)
  end subroutine

  ! Reads it into an ocean that has been prepared. Collective; ends the program if it cannot be read, or has another grid.
  subroutine load_ocean(self, name, comm)
    class(ocean), intent(inout) :: self
    character(len=*), intent(in) :: name
    type(MPI_Comm), intent(in) :: comm
    type(MPI_File) :: file
    integer(int64) :: head(head_size)
    real(real64) :: numbers(4), line(self%map%tx)
    integer :: j, n, k
    head = 0
    call open_file(file, name, MPI_MODE_RDONLY, comm)
    call MPI_File_read_at_all(file, 0_MPI_OFFSET_KIND, head, head_size, MPI_INTEGER8, MPI_STATUS_IGNORE)
    if (head(1) /= self%map%nx .or. head(2) /= self%map%ny) &
      call stop_all(name//' holds another grid, give --cells as it was saved', comm)
    self%steps = int(head(3))
    self%seen%digest = head(4)
    numbers = transfer(head(5:8), numbers)
    self%first_level = numbers(1)
    self%first_energy = numbers(2)
    self%mean_level = numbers(3)
    self%energy = numbers(4)
    do k = 1, size(self%field, 4)
      do n = 1, size(self%map%mine)
        do j = 1, self%map%ty
          call MPI_File_read_at(file, place_of(self, j, n, k), line, size(line), MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE)
          self%field(1:self%map%tx, j, n, k) = line
        end do
      end do
    end do
    call MPI_File_close(file)
  end subroutine

  ! Where a tile's line of cells from west to east begins in the file, in bytes.
  pure integer(MPI_OFFSET_KIND) function place_of(self, j, n, k)
    class(ocean), intent(in) :: self
    integer, intent(in) :: j, n, k
    integer(MPI_OFFSET_KIND) :: line
    line = int(k - 1, MPI_OFFSET_KIND)*self%map%ny + self%map%row(self%map%mine(n)) + j - 1
    place_of = 8*(head_size + line*self%map%nx + self%map%column(self%map%mine(n)))
  end function

  subroutine open_file(file, name, mode, comm)
    type(MPI_File), intent(out) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: mode
    type(MPI_Comm), intent(in) :: comm
    integer :: failed
    call MPI_File_open(comm, name, mode, MPI_INFO_NULL, file, failed)
    if (failed /= MPI_SUCCESS) call stop_all('cannot open '//name//', check its place', comm)
  end subroutine

  subroutine stop_all(text, comm)
    use, intrinsic :: iso_fortran_env, only: error_unit
    character(len=*), intent(in) :: text
    type(MPI_Comm), intent(in) :: comm
    write (error_unit, '("example_ocean: ", a)') text
    call MPI_Abort(comm, 2)
  end subroutine
end module
