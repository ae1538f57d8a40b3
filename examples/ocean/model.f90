! A shallow-water ocean: water flows between the cells of a grid with coasts, is turned by the earth, driven by wind and
! held by drag. Sums over the whole ocean enter every step: the mean level, which is kept where it was, and the energy,
! which the drag follows. So a last bit of a sum reaches every cell.
module model
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use grid
  use report
  use totals
  implicit none
  private
  public :: ocean, level, east, north

  integer, parameter :: level = 1, east = 2, north = 3 ! in m; speeds through the eastern and northern faces, in m/s
  real(real64), parameter :: gravity = 9.81_real64, depth = 100, dy = 5.0e4_real64, dt = 200, wind = 1.0e-6_real64

  type ocean
    type(tiles) :: map
    integer :: steps = 0
    real(real64) :: first_level = 0, first_energy = 0 ! what they were in the beginning
    real(real64) :: mean_level = 0, energy = 0        ! and are
    type(fingerprint) :: seen                         ! all values that sums gave
    real(real64), allocatable :: field(:, :, :, :)    ! (0:tx + 1, 0:ty + 1, tiles, 3)
    real(real64), allocatable :: area(:, :, :), dx(:, :, :), turn(:, :, :) ! of cells: m2, m, 1/s
    logical, allocatable :: wet(:, :, :)
  contains
    procedure :: prepare, fill, step
  end type
contains

  ! Memory for this rank's tiles, and the constant fields.
  subroutine prepare(self, map)
    class(ocean), intent(inout) :: self
    type(tiles), intent(in) :: map
    integer :: n, i, j
    real(real64) :: x, y
    self%map = map
    associate (tx => map%tx, ty => map%ty, mine => size(map%mine))
      allocate (self%field(0:tx + 1, 0:ty + 1, mine, 3), source=0.0_real64)
      allocate (self%area(0:tx + 1, 0:ty + 1, mine), self%dx(0:tx + 1, 0:ty + 1, mine), &
                self%turn(0:tx + 1, 0:ty + 1, mine), self%wet(0:tx + 1, 0:ty + 1, mine))
      do n = 1, mine
        do j = 0, ty + 1
          do i = 0, tx + 1
            call map%find_place(map%mine(n), i, j, x, y)
            self%dx(i, j, n) = dy*(1 - 0.4_real64*y*y) ! meridians come closer
            self%area(i, j, n) = self%dx(i, j, n)*dy
            self%turn(i, j, n) = 1.0e-4_real64*y
            self%wet(i, j, n) = abs(y) < 1 .and. (x - 0.3_real64)**2 + 0.5_real64*y*y > 0.1_real64
          end do
        end do
      end do
    end associate
  end subroutine

  ! The ocean at rest, with a hill of water. Collective.
  subroutine fill(self, how, comm)
    class(ocean), intent(inout) :: self
    type(method), intent(in) :: how
    type(MPI_Comm), intent(in) :: comm
    integer :: n, i, j
    real(real64) :: x, y
    do n = 1, size(self%map%mine)
      do j = 1, self%map%ty
        do i = 1, self%map%tx
          call self%map%find_place(self%map%mine(n), i, j, x, y)
          if (self%wet(i, j, n)) self%field(i, j, n, level) = 1/(1 + 20*((x + 0.4_real64)**2 + (y - 0.2_real64)**2))
        end do
      end do
    end do
    call measure(self, how, comm)
    self%first_level = self%mean_level
    self%first_energy = self%energy
  end subroutine

  ! Finds the mean level and the energy by three sums in one call. Collective.
  subroutine measure(self, how, comm)
    class(ocean), intent(inout) :: self
    type(method), intent(in) :: how
    type(MPI_Comm), intent(in) :: comm
    real(real64), allocatable :: summands(:, :, :, :)
    real(real64) :: sums(3)
    allocate (summands, mold=self%field)
    summands(:, :, :, 1) = self%field(:, :, :, level)
    summands(:, :, :, 2) = 0.5_real64*(gravity*self%field(:, :, :, level)**2 &
                                       + depth*(self%field(:, :, :, east)**2 + self%field(:, :, :, north)**2))
    summands(:, :, :, 3) = 1
    sums = total_of(summands, self%area, self%wet, how, comm)
    call self%seen%add_all(sums)
    self%mean_level = sums(1)/sums(3)
    self%energy = sums(2)/sums(3)
  end subroutine

  ! Collective.
  subroutine step(self, how, comm)
    class(ocean), intent(inout) :: self
    type(method), intent(in) :: how
    type(MPI_Comm), intent(in) :: comm
    real(real64), allocatable :: before(:, :, :, :)
    integer :: n
    call exchange_halos(self%map, self%field, comm)
    allocate (before, source=self%field)
    !$omp parallel do num_threads(how%threads)
    do n = 1, size(self%map%mine)
      call drive(before(:, :, n, :), self%wet(:, :, n), self%dx(:, :, n), self%turn(:, :, n), &
                 1.0e-6_real64*self%energy/self%first_energy, self%field(:, :, n, :))
    end do
    call exchange_halos(self%map, self%field, comm)
    !$omp parallel do num_threads(how%threads)
    do n = 1, size(self%map%mine)
      call flow(self%wet(:, :, n), self%dx(:, :, n), self%area(:, :, n), self%field(:, :, n, :))
    end do
    call measure(self, how, comm)
    where (self%wet) self%field(:, :, :, level) = self%field(:, :, :, level) - (self%mean_level - self%first_level)
    self%steps = self%steps + 1
  end subroutine

  ! Changes the speeds of a tile by slopes, wind, drag and the earth's rotation. Faces of land stay closed.
  pure subroutine drive(before, wet, dx, turn, drag, after)
    real(real64), intent(in) :: before(0:, 0:, :), dx(0:, 0:), turn(0:, 0:), drag
    logical, intent(in) :: wet(0:, 0:)
    real(real64), intent(inout) :: after(0:, 0:, :)
    real(real64) :: u, v, across, along
    integer :: i, j
    do j = 1, ubound(before, 2) - 1
      do i = 1, ubound(before, 1) - 1
        u = before(i, j, east)
        v = before(i, j, north)
        across = 0.25_real64*((v + before(i + 1, j, north)) + (before(i, j - 1, north) + before(i + 1, j - 1, north)))
        along = 0.25_real64*((u + before(i, j + 1, east)) + (before(i - 1, j, east) + before(i - 1, j + 1, east)))
        if (wet(i, j) .and. wet(i + 1, j)) &
          after(i, j, east) = u + dt*(turn(i, j)*across - drag*u + 1.0e4_real64*wind*turn(i, j) &
                                      - gravity*(before(i + 1, j, level) - before(i, j, level))/dx(i, j))
        if (wet(i, j) .and. wet(i, j + 1)) &
          after(i, j, north) = v - dt*(turn(i, j)*along + drag*v &
                                       + gravity*(before(i, j + 1, level) - before(i, j, level))/dy)
      end do
    end do
  end subroutine

  ! Changes the levels of a tile by the flow in and out.
  pure subroutine flow(wet, dx, area, field)
    logical, intent(in) :: wet(0:, 0:)
    real(real64), intent(in) :: dx(0:, 0:), area(0:, 0:)
    real(real64), intent(inout) :: field(0:, 0:, :)
    real(real64) :: gone
    integer :: i, j
    do j = 1, ubound(field, 2) - 1
      do i = 1, ubound(field, 1) - 1
        if (.not. wet(i, j)) cycle
        gone = dy*(field(i, j, east) - field(i - 1, j, east)) &
               + (dx(i, j)*field(i, j, north) - dx(i, j - 1)*field(i, j - 1, north))
        field(i, j, level) = field(i, j, level) - dt*depth*gone/area(i, j)
      end do
    end do
  end subroutine
end module
