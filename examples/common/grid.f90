! A grid of cells, cut into tiles that are dealt to ranks in any way. A rank keeps its tiles one after the other, each
! with a halo of one cell.
module grid
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  private
  public :: tiles, make_tiles, read_division, exchange_halos

  ! The grid is periodic from west to east, and has walls in the south and the north.
  type tiles
    integer :: nx = 0, ny = 0              ! cells of the whole grid
    integer :: tx = 0, ty = 0              ! cells of a tile
    integer :: across = 0, along = 0       ! tiles from west to east, from south to north
    integer, allocatable :: owner(:)       ! the rank of every tile, tiles counted from 1, the west-east index fastest
    integer, allocatable :: place(:)       ! where it stands among its owner's tiles, from 1
    integer, allocatable :: mine(:)        ! the tiles of this rank
    ! Halo cells from rank r are those of received(:, first_received(r) + 1:), in the order in which r sends them;
    ! each is i, j and place. sent likewise.
    integer, allocatable :: sent(:, :), received(:, :), sends(:), receives(:)
  contains
    procedure :: column, row, find_place
  end type
contains

  ! The cell of the whole grid that is cell (1, 1) of a tile, less one.
  pure integer function column(self, tile)
    class(tiles), intent(in) :: self
    integer, intent(in) :: tile
    column = mod(tile - 1, self%across)*self%tx
  end function
  pure integer function row(self, tile)
    class(tiles), intent(in) :: self
    integer, intent(in) :: tile
    row = (tile - 1)/self%across*self%ty
  end function

  ! Where a tile's cell is: between -1 and 1 from west to east and from south to north. The same bits on every rank.
  pure subroutine find_place(self, tile, i, j, x, y)
    class(tiles), intent(in) :: self
    integer, intent(in) :: tile, i, j
    real(real64), intent(out) :: x, y
    x = real(2*modulo(self%column(tile) + i - 1, self%nx) + 1, real64)/self%nx - 1
    y = real(2*(self%row(tile) + j) - 1, real64)/self%ny - 1
  end subroutine

  ! Reads `4x2` as ranks from west to east and from south to north, `random` as none; wrong: not 0 if it is neither, or
  ! not of `ranks`.
  subroutine read_division(text, ranks, division, wrong)
    character(len=*), intent(in) :: text
    integer, intent(in) :: ranks
    integer, intent(out) :: division(2), wrong
    wrong = 0
    division = 0
    if (text == 'random') return
    read (text(:index(text, 'x') - 1), *, iostat=wrong) division(1)
    if (wrong == 0) read (text(index(text, 'x') + 1:), *, iostat=wrong) division(2)
    if (any(division < 1) .or. product(division) /= ranks) wrong = 1
  end subroutine

  ! Cuts nx x ny cells into tiles of tx x ty, which divide them. `ranks_across` x `ranks_along` ranks get a block of
  ! tiles each; if `ranks_across` is 0, tiles are dealt at random, the same way on all ranks. Collective.
  subroutine make_tiles(self, cells, cells_of_tile, ranks_across, ranks_along, comm)
    type(tiles), intent(out) :: self
    integer, intent(in) :: cells(2), cells_of_tile(2), ranks_across, ranks_along
    type(MPI_Comm), intent(in) :: comm
    integer :: tile, rank, ranks
    integer, allocatable :: count(:)
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, ranks)
    self%nx = cells(1)
    self%ny = cells(2)
    self%tx = cells_of_tile(1)
    self%ty = cells_of_tile(2)
    self%across = self%nx/self%tx
    self%along = self%ny/self%ty
    allocate (self%owner(self%across*self%along), self%place(self%across*self%along), count(0:ranks - 1))
    count = 0
    do tile = 1, size(self%owner)
      self%owner(tile) = owner_of(self, tile, ranks_across, ranks_along, ranks)
      count(self%owner(tile)) = count(self%owner(tile)) + 1
      self%place(tile) = count(self%owner(tile))
    end do
    self%mine = pack([(tile, tile=1, size(self%owner))], self%owner == rank)
    call list_halos(self, rank, ranks)
  end subroutine

  pure integer function owner_of(self, tile, ranks_across, ranks_along, ranks)
    type(tiles), intent(in) :: self
    integer, intent(in) :: tile, ranks_across, ranks_along, ranks
    integer(int64) :: mixed
    integer :: i, j
    if (ranks_across == 0) then
      mixed = ieor(int(tile, int64)*2654435761_int64, ishft(int(tile, int64)*40503_int64, 16))
      owner_of = int(mod(ishft(mixed, -7), int(ranks, int64)))
    else
      i = mod(tile - 1, self%across)*ranks_across/self%across
      j = (tile - 1)/self%across*ranks_along/self%along
      owner_of = j*ranks_across + i
    end if
  end function

  ! Every rank goes through the halo cells of all tiles in the same order, and notes those that it sends or receives.
  subroutine list_halos(self, rank, ranks)
    type(tiles), intent(inout) :: self
    integer, intent(in) :: rank, ranks
    integer :: pass, other, sent, received
    do pass = 1, 2 ! counts, then lists
      sent = 0
      received = 0
      if (pass == 1) allocate (self%sends(0:ranks - 1), self%receives(0:ranks - 1), source=0)
      do other = 0, ranks - 1
        call list_halos_with(other)
      end do
      if (pass == 1) allocate (self%sent(3, sent), self%received(3, received))
    end do
  contains
    subroutine list_halos_with(other)
      integer, intent(in) :: other
      integer :: tile, from, i, j, x, y
      do tile = 1, size(self%owner)
        do j = 0, self%ty + 1
          do i = 0, self%tx + 1
            if (i >= 1 .and. i <= self%tx .and. j >= 1 .and. j <= self%ty) cycle
            x = modulo(self%column(tile) + i - 1, self%nx)
            y = self%row(tile) + j - 1
            if (y < 0 .or. y >= self%ny) cycle
            from = y/self%ty*self%across + x/self%tx + 1
            if (self%owner(from) == rank .and. self%owner(tile) == other) then
              sent = sent + 1
              if (pass == 1) self%sends(other) = self%sends(other) + 1
              if (pass == 2) self%sent(:, sent) = [mod(x, self%tx) + 1, mod(y, self%ty) + 1, self%place(from)]
            end if
            if (self%owner(tile) == rank .and. self%owner(from) == other) then
              received = received + 1
              if (pass == 1) self%receives(other) = self%receives(other) + 1
              if (pass == 2) self%received(:, received) = [i, j, self%place(tile)]
            end if
          end do
        end do
      end do
    end subroutine
  end subroutine

  ! Fills the halos of all fields: field(0:tx + 1, 0:ty + 1, tiles, fields). Halos beyond the walls stay. Collective.
  subroutine exchange_halos(self, field, comm)
    type(tiles), intent(in) :: self
    real(real64), intent(inout) :: field(0:, 0:, :, :)
    type(MPI_Comm), intent(in) :: comm
    real(real64), allocatable :: outgoing(:, :), incoming(:, :)
    integer :: fields, n
    fields = size(field, 4)
    allocate (outgoing(fields, size(self%sent, 2)), incoming(fields, size(self%received, 2)))
    do n = 1, size(self%sent, 2)
      outgoing(:, n) = field(self%sent(1, n), self%sent(2, n), self%sent(3, n), :)
    end do
    call exchange(fields*self%sends, outgoing, fields*self%receives, incoming, comm)
    do n = 1, size(self%received, 2)
      field(self%received(1, n), self%received(2, n), self%received(3, n), :) = incoming(:, n)
    end do
  end subroutine

  ! Sends every rank its part of `outgoing`, and gets its part of `incoming` from it. Only ranks with tiles side by
  ! side have anything for each other.
  subroutine exchange(sends, outgoing, receives, incoming, comm)
    integer, intent(in) :: sends(0:), receives(0:)
    real(real64), intent(in), asynchronous :: outgoing(*)
    real(real64), intent(inout), asynchronous :: incoming(*)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Request) :: requests(2*size(sends))
    integer :: other, begin, under_way
    under_way = 0
    begin = 1
    do other = 0, size(receives) - 1
      if (receives(other) == 0) cycle
      under_way = under_way + 1
      call MPI_Irecv(incoming(begin), receives(other), MPI_DOUBLE_PRECISION, other, 0, comm, requests(under_way))
      begin = begin + receives(other)
    end do
    begin = 1
    do other = 0, size(sends) - 1
      if (sends(other) == 0) cycle
      under_way = under_way + 1
      call MPI_Isend(outgoing(begin), sends(other), MPI_DOUBLE_PRECISION, other, 0, comm, requests(under_way))
      begin = begin + sends(other)
    end do
    call MPI_Waitall(under_way, requests, MPI_STATUSES_IGNORE)
  end subroutine
end module
