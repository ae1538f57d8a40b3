! Sea ice that wind and water push: viscous-plastic, as climate codes have it, on a B grid with land. Thickness and
! concentration stand at the cells' centres, velocities at their north-eastern corners. For frozen viscosities and
! drag the momentum equation is linear, A(u) u = b(u): a step of Picard's iteration solves that.
! Source: W. D. Hibler, "A dynamic thermodynamic sea ice model", 1979, for the rheology; E. C. Hunke and J. K.
! Dukowicz, "The elastic-viscous-plastic sea ice dynamics model in general curvilinear coordinates", 2002, for the
! stress as the variation of an energy.
module ice
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use grid
  implicit none
  private
  public :: sea_ice

  real(real64), parameter :: side = 16000, dt = 3600      ! of a cell in m, of a step in s
  real(real64), parameter :: ice_density = 917, coriolis = 1.46e-4_real64
  real(real64), parameter :: strength = 27500, fall = 20  ! P* in N/m2, C
  real(real64), parameter :: eccentricity = 2, least_delta = 2.0e-9_real64
  real(real64), parameter :: air_drag = 1.3_real64*1.2e-3_real64, water_drag = 1026*5.5e-3_real64
  integer, parameter :: ne = 1, nw = 2, sw = 3, se = 4    ! corners of a cell

  type sea_ice
    type(tiles) :: map
    type(MPI_Comm) :: comm
    integer :: points = 0                     ! of this rank, at which ice can move
    integer, allocatable :: point(:, :)       ! i, j and tile of each
    logical, allocatable :: ocean(:, :, :)    ! cells with water: (0:tx + 1, 0:ty + 1, tiles)
    ! Of vectors, points east and then points north are velocities: vector(2*points).
    real(real64), allocatable :: mass(:)      ! of points, in kg/m2
    real(real64), allocatable :: wind(:), current(:) ! stress in N/m2, velocities in m/s
    real(real64), allocatable :: pressure(:, :, :)   ! P of cells, in N/m
    ! Frozen for a step of Picard's iteration.
    real(real64), allocatable :: zeta(:, :, :, :), eta(:, :, :, :) ! of corners: (4, tx + 1, ty + 1, tiles), in kg/s
    real(real64), allocatable :: drag(:)      ! of points, in kg/(m2 s)
    real(real64), allocatable :: diagonal(:)  ! of A
    ! Work space: velocities with halos, and the contributions of each cell to its corners.
    real(real64), allocatable :: u(:, :, :, :), force(:, :, :, :)
  contains
    procedure :: prepare, freeze, apply, right_hand_side, velocities
  end type
contains

  ! Ice at rest. Collective.
  subroutine prepare(self, map, comm)
    class(sea_ice), intent(out) :: self
    type(tiles), intent(in) :: map
    type(MPI_Comm), intent(in) :: comm
    real(real64), allocatable :: thickness(:, :, :)
    integer :: n, i, j, k
    self%map = map
    self%comm = comm
    call fill_cells(self, thickness)
    self%points = count_points(self)
    allocate (self%point(3, self%points), self%mass(self%points), self%drag(self%points))
    k = 0
    do n = 1, size(map%mine)
      do j = 1, map%ty
        do i = 1, map%tx
          if (.not. all(self%ocean(i:i + 1, j:j + 1, n))) cycle
          k = k + 1
          self%point(:, k) = [i, j, n]
          self%mass(k) = ice_density*(0.25_real64*((thickness(i, j, n) + thickness(i + 1, j, n)) &
                                                   + (thickness(i, j + 1, n) + thickness(i + 1, j + 1, n))))
        end do
      end do
    end do
    allocate (self%wind(2*self%points), self%current(2*self%points), self%diagonal(2*self%points))
    call fill_points(self)
    associate (tx => map%tx, ty => map%ty, mine => size(map%mine))
      allocate (self%zeta(4, tx + 1, ty + 1, mine), self%eta(4, tx + 1, ty + 1, mine))
      allocate (self%force(8, tx + 1, ty + 1, mine))
      allocate (self%u(0:tx + 1, 0:ty + 1, mine, 2), source=0.0_real64)
    end associate
  end subroutine

  ! A continent, an island and walls in the south and the north; ice that is thicker and denser in the north-west.
  subroutine fill_cells(self, thickness)
    class(sea_ice), intent(inout) :: self
    real(real64), allocatable, intent(out) :: thickness(:, :, :)
    real(real64) :: x, y, part
    integer :: n, i, j
    associate (map => self%map, tx => self%map%tx, ty => self%map%ty, mine => size(self%map%mine))
      allocate (self%ocean(0:tx + 1, 0:ty + 1, mine))
      allocate (thickness(0:tx + 1, 0:ty + 1, mine), self%pressure(0:tx + 1, 0:ty + 1, mine))
      do n = 1, mine
        do j = 0, ty + 1
          do i = 0, tx + 1
            call map%find_place(map%mine(n), i, j, x, y)
            self%ocean(i, j, n) = abs(y) < 1 .and. (x - 0.3_real64)**2 + 0.5_real64*y*y > 0.1_real64 &
                                  .and. (x + 0.5_real64)**2 + (y - 0.4_real64)**2 > 0.02_real64
            thickness(i, j, n) = 1 + 0.5_real64*(y - x)
            part = 0.9_real64 + 0.04_real64*(y - x) ! of the cell that has ice
            self%pressure(i, j, n) = strength*thickness(i, j, n)*exp(-fall*(1 - part))
            if (.not. self%ocean(i, j, n)) self%pressure(i, j, n) = 0
          end do
        end do
      end do
    end associate
  end subroutine

  pure integer function count_points(self)
    class(sea_ice), intent(in) :: self
    integer :: n, i, j
    count_points = 0
    do n = 1, size(self%map%mine)
      do j = 1, self%map%ty
        do i = 1, self%map%tx
          if (all(self%ocean(i:i + 1, j:j + 1, n))) count_points = count_points + 1
        end do
      end do
    end do
  end function

  ! A storm over a gyre.
  subroutine fill_points(self)
    class(sea_ice), intent(inout) :: self
    real(real64) :: x, y, east, north, speed
    integer :: k
    associate (points => self%points)
      do k = 1, points
        call self%map%find_place(self%map%mine(self%point(3, k)), self%point(1, k), self%point(2, k), x, y)
        speed = 20/(1 + 8*((x + 0.2_real64)**2 + (y - 0.1_real64)**2))
        east = 3 - speed*(y - 0.1_real64)
        north = speed*(x + 0.2_real64)
        self%wind(k) = air_drag*sqrt(east*east + north*north)*east
        self%wind(points + k) = air_drag*sqrt(east*east + north*north)*north
        self%current(k) = -0.1_real64*y
        self%current(points + k) = 0.1_real64*x
      end do
    end associate
  end subroutine

  ! Freezes viscosities and drag for the velocities `vector`. Collective.
  subroutine freeze(self, vector)
    class(sea_ice), intent(inout) :: self
    real(real64), intent(in) :: vector(:)
    real(real64) :: east, north, delta, viscosity, ux(4), uy(4), vx(4), vy(4)
    integer :: n, i, j, k, corner
    call unpack_velocities(self, vector)
    do n = 1, size(self%map%mine)
      do j = 1, self%map%ty + 1
        do i = 1, self%map%tx + 1
          associate (u => self%u)
            call find_slopes(u(i, j, n, 1), u(i - 1, j, n, 1), u(i - 1, j - 1, n, 1), u(i, j - 1, n, 1), ux, uy)
            call find_slopes(u(i, j, n, 2), u(i - 1, j, n, 2), u(i - 1, j - 1, n, 2), u(i, j - 1, n, 2), vx, vy)
          end associate
          do corner = 1, 4
            associate (spread => ux(corner) + vy(corner), stretch => ux(corner) - vy(corner), &
                       shear => uy(corner) + vx(corner))
              delta = sqrt(spread*spread + (stretch*stretch + shear*shear)/eccentricity**2)
            end associate
            viscosity = 0.5_real64*self%pressure(i, j, n)/max(delta, least_delta)
            self%zeta(corner, i, j, n) = viscosity
            self%eta(corner, i, j, n) = viscosity/eccentricity**2
          end do
        end do
      end do
    end do
    do k = 1, self%points
      east = self%current(k) - vector(k)
      north = self%current(self%points + k) - vector(self%points + k)
      self%drag(k) = water_drag*sqrt(east*east + north*north)
    end do
    call find_diagonal(self)
  end subroutine

  ! y = A x. Collective.
  subroutine apply(self, x, y)
    class(sea_ice), intent(inout) :: self
    real(real64), intent(in) :: x(:)
    real(real64), intent(out) :: y(:)
    real(real64) :: ux(4), uy(4), vx(4), vy(4), s11(4), s22(4), s12(4), spread, stretch
    integer :: n, i, j, k, corner
    call unpack_velocities(self, x)
    do n = 1, size(self%map%mine)
      do j = 1, self%map%ty + 1
        do i = 1, self%map%tx + 1
          associate (u => self%u)
            call find_slopes(u(i, j, n, 1), u(i - 1, j, n, 1), u(i - 1, j - 1, n, 1), u(i, j - 1, n, 1), ux, uy)
            call find_slopes(u(i, j, n, 2), u(i - 1, j, n, 2), u(i - 1, j - 1, n, 2), u(i, j - 1, n, 2), vx, vy)
          end associate
          do corner = 1, 4
            spread = self%zeta(corner, i, j, n)*(ux(corner) + vy(corner))
            stretch = self%eta(corner, i, j, n)*(ux(corner) - vy(corner))
            s11(corner) = spread + stretch
            s22(corner) = spread - stretch
            s12(corner) = self%eta(corner, i, j, n)*(uy(corner) + vx(corner))
          end do
          call find_forces(s11, s22, s12, self%force(:, i, j, n))
        end do
      end do
    end do
    call gather(self, y)
    associate (points => self%points)
      do k = 1, points
        associate (kept => self%mass(k)/dt + self%drag(k), turned => coriolis*self%mass(k))
          y(k) = (kept*x(k) - turned*x(points + k)) - y(k)
          y(points + k) = (kept*x(points + k) + turned*x(k)) - y(points + k)
        end associate
      end do
    end associate
  end subroutine

  ! b for the frozen viscosities and drag, of a step that begins at rest. No communication.
  subroutine right_hand_side(self, b)
    class(sea_ice), intent(inout) :: self
    real(real64), intent(out) :: b(:)
    real(real64) :: pressed(4), none(4)
    integer :: n, i, j, k
    none = 0
    do n = 1, size(self%map%mine)
      do j = 1, self%map%ty + 1
        do i = 1, self%map%tx + 1
          pressed = -0.5_real64*self%pressure(i, j, n)
          call find_forces(pressed, pressed, none, self%force(:, i, j, n))
        end do
      end do
    end do
    call gather(self, b)
    associate (points => self%points)
      do k = 1, points
        b(k) = b(k) + (self%wind(k) + self%drag(k)*self%current(k))
        b(points + k) = b(points + k) + (self%wind(points + k) + self%drag(k)*self%current(points + k))
      end do
    end associate
  end subroutine

  ! The velocities of a vector where they stand, zero at land: (0:tx + 1, 0:ty + 1, tiles, 2). Collective.
  function velocities(self, vector) result(u)
    class(sea_ice), intent(inout) :: self
    real(real64), intent(in) :: vector(:)
    real(real64), allocatable :: u(:, :, :, :)
    call unpack_velocities(self, vector)
    allocate (u, source=self%u)
  end function

  subroutine unpack_velocities(self, vector)
    class(sea_ice), intent(inout) :: self
    real(real64), intent(in) :: vector(:)
    integer :: k
    do k = 1, self%points
      associate (i => self%point(1, k), j => self%point(2, k), n => self%point(3, k))
        self%u(i, j, n, 1) = vector(k)
        self%u(i, j, n, 2) = vector(self%points + k)
      end associate
    end do
    call exchange_halos(self%map, self%u, self%comm)
  end subroutine

  ! The derivatives along x and y, at a cell's corners, of what is bilinear between the values there. Its two calls stand
  ! twice: a procedure around them makes gfortran's solve a third slower.
  pure subroutine find_slopes(at_ne, at_nw, at_sw, at_se, along_x, along_y)
    real(real64), intent(in) :: at_ne, at_nw, at_sw, at_se
    real(real64), intent(out) :: along_x(4), along_y(4)
    along_x(ne) = (at_ne - at_nw)*(1/side)
    along_x(nw) = along_x(ne)
    along_x(sw) = (at_se - at_sw)*(1/side)
    along_x(se) = along_x(sw)
    along_y(ne) = (at_ne - at_se)*(1/side)
    along_y(se) = along_y(ne)
    along_y(nw) = (at_nw - at_sw)*(1/side)
    along_y(sw) = along_y(nw)
  end subroutine

  ! The contributions of the stress in a cell to its corners, east and then north, per m2 of the cell.
  pure subroutine find_forces(s11, s22, s12, force)
    real(real64), intent(in) :: s11(4), s22(4), s12(4)
    real(real64), intent(out) :: force(8)
    call find_forces_along(s11, s12, force(:4))
    call find_forces_along(s12, s22, force(5:))
  end subroutine
  pure subroutine find_forces_along(across, along, force)
    real(real64), intent(in) :: across(4), along(4)
    real(real64), intent(out) :: force(4)
    real(real64) :: north, south, east, west
    north = across(ne) + across(nw)
    south = across(se) + across(sw)
    east = along(ne) + along(se)
    west = along(nw) + along(sw)
    force(ne) = -(north + east)*(0.25_real64/side)
    force(nw) = (north - west)*(0.25_real64/side)
    force(sw) = (south + west)*(0.25_real64/side)
    force(se) = (east - south)*(0.25_real64/side)
  end subroutine

  ! Adds the contributions of the four cells around each point in one order, wherever the cells are.
  subroutine gather(self, vector)
    class(sea_ice), intent(in) :: self
    real(real64), intent(out) :: vector(:)
    integer :: k, part
    do part = 0, 1
      do k = 1, self%points
        associate (i => self%point(1, k), j => self%point(2, k), n => self%point(3, k))
          vector(part*self%points + k) = &
            (self%force(4*part + ne, i, j, n) + self%force(4*part + nw, i + 1, j, n)) &
            + (self%force(4*part + sw, i + 1, j + 1, n) + self%force(4*part + se, i, j + 1, n))
        end associate
      end do
    end do
  end subroutine

  subroutine find_diagonal(self)
    class(sea_ice), intent(inout) :: self
    integer :: k
    do k = 1, self%points
      associate (i => self%point(1, k), j => self%point(2, k), n => self%point(3, k), points => self%points)
        self%diagonal(k) = self%mass(k)/dt + self%drag(k)
        self%diagonal(points + k) = self%diagonal(k)
        call add_corner(i, j, ne, nw, se)
        call add_corner(i + 1, j, nw, ne, sw)
        call add_corner(i + 1, j + 1, sw, se, nw)
        call add_corner(i, j + 1, se, sw, ne)
      end associate
    end do
  contains
    ! `beside` and `over` share an edge along x, and along y, with the corner.
    subroutine add_corner(i, j, corner, beside, over)
      integer, intent(in) :: i, j, corner, beside, over
      associate (zeta => self%zeta(:, i, j, self%point(3, k)), eta => self%eta(:, i, j, self%point(3, k)), &
                 points => self%points)
        self%diagonal(k) = self%diagonal(k) + 0.25_real64/side/side* &
                           (((zeta(corner) + eta(corner)) + (zeta(beside) + eta(beside))) + (eta(corner) + eta(over)))
        self%diagonal(points + k) = self%diagonal(points + k) + 0.25_real64/side/side* &
                                    (((zeta(corner) + eta(corner)) + (zeta(over) + eta(over))) &
                                     + (eta(corner) + eta(beside)))
      end associate
    end subroutine
  end subroutine
end module
