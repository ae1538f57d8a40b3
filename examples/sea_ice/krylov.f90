! Flexible GMRES with restarts, whose preconditioner is the diagonal or some steps of GMRES with the diagonal.
! Source: Y. Saad, "A flexible inner-outer preconditioned GMRES algorithm", 1993.
module krylov
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use ice
  use products
  implicit none
  private
  public :: krylov_space, solution, solve

  ! The projected matrix, made triangular by Givens' rotations, column by column.
  type rotations
    real(real64), allocatable :: column(:)    ! the one that is being made
    real(real64), allocatable :: upper(:, :), cosine(:), sine(:), rest(:)
    real(real64) :: residual = 0
  contains
    procedure :: begin, add, weights
  end type

  ! Memory of one solver, and its scalar products.
  type krylov_space
    type(products_of_space) :: dots
    logical :: is_modified = .false.          ! Gram-Schmidt: a reduction for every vector, not one for all
    real(real64), allocatable :: v(:, :), z(:, :), w(:)
    type(rotations) :: projected
  contains
    procedure :: prepare, release
  end type

  ! The result of a solve.
  type solution
    integer :: iterations = 0
    real(real64), allocatable :: residuals(:) ! of the iterations, the first before them
  end type
contains

  ! For vectors of so many elements on this rank, restarted after so many iterations. Collective.
  subroutine prepare(self, elements, restart, way, is_modified, book, comm)
    class(krylov_space), intent(inout), target :: self
    integer, intent(in) :: elements, restart
    character(len=*), intent(in) :: way
    logical, intent(in) :: is_modified
    type(account), intent(in), target :: book
    type(MPI_Comm), intent(in) :: comm
    self%is_modified = is_modified
    allocate (self%v(elements, restart + 1), self%z(elements, restart), self%w(elements), source=0.0_real64)
    associate (it => self%projected)
      allocate (it%column(restart), it%upper(restart, restart))
      allocate (it%cosine(restart), it%sine(restart), it%rest(restart + 1))
    end associate
    call self%dots%bind(way, self%v(:, :restart), self%w, is_modified, book, comm)
  end subroutine

  ! Collective.
  subroutine release(self)
    class(krylov_space), intent(inout) :: self
    call self%dots%release()
    deallocate (self%v, self%z, self%w)
    self%projected = rotations()
  end subroutine

  ! Solves A x = b from the x that is given, until the residual is `tolerance` times the first one, or after `most`
  ! iterations. `inner` is the space of the preconditioner's solver; without it the preconditioner is the diagonal.
  ! Collective.
  recursive subroutine solve(space, matrix, b, x, tolerance, most, found, inner)
    type(krylov_space), intent(inout), target :: space ! its products point to its vectors
    type(sea_ice), intent(inout) :: matrix
    real(real64), intent(in) :: b(:), tolerance
    real(real64), intent(inout) :: x(:)
    integer, intent(in) :: most
    type(solution), intent(out) :: found
    type(krylov_space), intent(inout), target, optional :: inner
    real(real64) :: norm, goal
    integer :: k
    found%residuals = [real(real64) ::]
    goal = 0
    do
      call matrix%apply(x, space%w)
      space%w = b - space%w
      norm = sqrt(space%dots%square())
      if (size(found%residuals) == 0) goal = tolerance*norm
      found%residuals = [found%residuals, norm]
      if (norm <= goal .or. found%iterations == most) exit
      space%v(:, 1) = space%w/norm
      call space%projected%begin(norm)
      do k = 1, size(space%z, 2)
        call precondition(space%v(:, k), space%z(:, k))
        call matrix%apply(space%z(:, k), space%w)
        call orthogonalise(space, k, space%projected%column(:k))
        norm = sqrt(space%dots%square())
        call space%projected%add(k, norm)
        found%iterations = found%iterations + 1
        found%residuals = [found%residuals, space%projected%residual]
        if (norm <= 0 .or. space%projected%residual <= goal .or. found%iterations == most) exit
        space%v(:, k + 1) = space%w/norm
      end do
      call add_columns(x, space%z, space%projected%weights(min(k, size(space%z, 2))))
      if (space%projected%residual <= goal .or. found%iterations == most) exit
    end do
  contains
    subroutine precondition(v, z)
      real(real64), intent(in) :: v(:)
      real(real64), intent(out) :: z(:)
      type(solution) :: ignored
      if (present(inner)) then
        z = 0
        call solve(inner, matrix, v, z, 1.0e-6_real64, size(inner%z, 2), ignored)
      else
        z = v/matrix%diagonal
      end if
    end subroutine
  end subroutine

  ! Takes from w its parts along the first k vectors, by Gram and Schmidt's process, and returns them.
  subroutine orthogonalise(space, k, parts)
    type(krylov_space), intent(inout), target :: space
    integer, intent(in) :: k
    real(real64), intent(out) :: parts(:)
    integer :: j
    if (space%is_modified) then
      do j = 1, k
        parts(j) = space%dots%project_on(j)
        space%w = space%w - parts(j)*space%v(:, j)
      end do
    else
      parts = space%dots%project(k)
      call add_columns(space%w, space%v, -parts)
    end if
  end subroutine

  ! x + sum of weights(j) columns(:, j), in the order of j; piece by piece, so that x stays in cache.
  subroutine add_columns(x, columns, weights)
    real(real64), intent(inout) :: x(:)
    real(real64), intent(in), contiguous :: columns(:, :)
    real(real64), intent(in) :: weights(:)
    integer, parameter :: piece = 1024
    integer :: begin, end, j
    do begin = 1, size(x), piece
      end = min(begin + piece - 1, size(x))
      do j = 1, size(weights)
        x(begin:end) = x(begin:end) + weights(j)*columns(begin:end, j)
      end do
    end do
  end subroutine

  ! Forgets all columns; the first residual is `norm`.
  subroutine begin(self, norm)
    class(rotations), intent(inout) :: self
    real(real64), intent(in) :: norm
    self%rest(1) = norm
    self%residual = norm
  end subroutine

  ! Adds column k, with `norm` below it.
  subroutine add(self, k, norm)
    class(rotations), intent(inout) :: self
    integer, intent(in) :: k
    real(real64), intent(in) :: norm
    real(real64) :: above, length
    integer :: j
    do j = 1, k - 1
      above = self%column(j)
      self%column(j) = self%cosine(j)*above + self%sine(j)*self%column(j + 1)
      self%column(j + 1) = self%cosine(j)*self%column(j + 1) - self%sine(j)*above
    end do
    length = sqrt(self%column(k)*self%column(k) + norm*norm)
    self%cosine(k) = self%column(k)/length
    self%sine(k) = norm/length
    self%column(k) = length
    self%upper(:k, k) = self%column(:k)
    self%rest(k + 1) = -self%sine(k)*self%rest(k)
    self%rest(k) = self%cosine(k)*self%rest(k)
    self%residual = abs(self%rest(k + 1))
  end subroutine

  ! The solution in the first k columns.
  function weights(self, k) result(y)
    class(rotations), intent(in) :: self
    integer, intent(in) :: k
    real(real64) :: y(k)
    integer :: j
    y = self%rest(:k)
    do j = k, 1, -1
      y(j) = y(j)/self%upper(j, j)
      y(:j - 1) = y(:j - 1) - y(j)*self%upper(:j - 1, j)
    end do
  end function
end module
