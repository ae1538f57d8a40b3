! The scalar products of a Krylov space: those of its vectors v with a vector w, and w with itself. All that this
! program reduces, made in nine ways.
module products
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use double_double
  use integers
  use report
  use steadfold
  implicit none
  private
  public :: products_of_space, account, way_names, is_way, is_of_steadfold

  ! plain: loops in order. side_by_side: eight sums at once, of which compilers make vectors. Both end in
  ! MPI_Allreduce. integers: the algorithm of shr_reprosum. double_double: pairs of doubles. The others are
  ! Steadfold's, in one call for all products; `each`: a call for each product; `plan`: by plans, agreed on once.
  character(len=*), parameter :: way_names(9) = [character(len=14) :: 'plain', 'side_by_side', 'integers', &
                                                 'double_double', 'exact', 'exact_each', 'exact_plan', 'binned', &
                                                 'binned_plan']

  ! The time and the number of reductions so far.
  type account
    real(real64) :: seconds = 0             ! that reductions took, with the loops over this rank's elements
    integer(int64), allocatable :: calls(:) ! calls(k): reductions of k products
    type(fingerprint) :: seen               ! every product
  end type

  ! Refers to the memory of v and w, which stay where they are.
  type products_of_space
    character(len=14) :: way = ''
    type(MPI_Comm) :: comm
    real(real64), pointer, contiguous :: v(:, :) => null(), w(:) => null()
    type(account), pointer :: book => null()
    type(MPI_Op) :: pair_sum
    type(sf_plan), allocatable :: plans(:)       ! of the first k vectors, or of vector k; the last one of w itself
    real(real64), pointer :: results(:) => null() ! of plans
    real(real64), allocatable :: terms(:, :)      ! of those that first write what they add up
  contains
    procedure :: bind, project, project_on, square, release
  end type
contains

  pure logical function is_way(name)
    character(len=*), intent(in) :: name
    is_way = any(way_names == name)
  end function

  pure logical function is_of_steadfold(way)
    character(len=*), intent(in) :: way
    is_of_steadfold = way(:5) == 'exact' .or. way(:6) == 'binned'
  end function

  pure function options_of(way) result(text)
    character(len=*), intent(in) :: way
    character(len=13) :: text
    text = 'method=exact'
    if (way(:6) == 'binned') text = 'method=binned'
  end function

  ! Collective, as all that follows.
  subroutine bind(self, way, v, w, one_by_one, book, comm)
    class(products_of_space), intent(inout) :: self
    character(len=*), intent(in) :: way
    real(real64), intent(in), target, contiguous :: v(:, :), w(:)
    logical, intent(in) :: one_by_one ! project_on is called, not project
    type(account), intent(in), target :: book
    type(MPI_Comm), intent(in) :: comm
    self%way = way
    self%comm = comm
    self%v => v
    self%w => w
    self%book => book
    if (way == 'double_double') call make_pair_sum(self%pair_sum)
    if (way == 'double_double' .or. way == 'integers') allocate (self%terms, mold=v)
    if (way == 'exact_plan' .or. way == 'binned_plan') call bind_plans(self, one_by_one)
  end subroutine

  subroutine bind_plans(self, one_by_one)
    class(products_of_space), intent(inout) :: self
    logical, intent(in) :: one_by_one
    real(real64), pointer, contiguous :: first(:, :)
    integer :: k, most
    most = size(self%v, 2)
    allocate (self%plans(most + 1), self%results(most))
    do k = 1, most
      if (one_by_one) then
        call sf_plan_dot(self%plans(k), self%v(:, k), self%w, self%results(1), self%comm, options=options_of(self%way))
      else
        first => self%v(:, :k)
        call sf_plan_sum(self%plans(k), first, self%results(:k), self%comm, keep=2, weight=self%w, &
                         options=options_of(self%way))
      end if
    end do
    call sf_plan_dot(self%plans(most + 1), self%w, self%w, self%results(1), self%comm, options=options_of(self%way))
  end subroutine

  subroutine release(self)
    class(products_of_space), intent(inout) :: self
    integer :: k
    if (self%way == 'double_double') call MPI_Op_free(self%pair_sum)
    if (.not. allocated(self%plans)) return
    do k = 1, size(self%plans)
      call sf_free(self%plans(k))
    end do
    deallocate (self%plans, self%results)
  end subroutine

  ! The products of the first k vectors with w.
  function project(self, k) result(values)
    class(products_of_space), intent(inout) :: self
    integer, intent(in) :: k
    real(real64) :: values(k)
    real(real64) :: begin
    integer :: j
    begin = MPI_Wtime()
    select case (self%way)
    case ('exact', 'binned')
      call sf_sum(self%v(:, :k), values, self%comm, keep=2, weight=self%w, options=options_of(self%way))
    case ('exact_each')
      do j = 1, k
        values(j) = sf_dot(self%v(:, j), self%w, self%comm, options=options_of(self%way))
      end do
    case ('exact_plan', 'binned_plan')
      call sf_run(self%plans(k))
      values = self%results(:k)
    case default
      values = rivals(self, self%v(:, :k))
    end select
    call enter(self, values, begin)
  end function

  ! The product of vector j with w.
  real(real64) function project_on(self, j) result(value)
    class(products_of_space), intent(inout) :: self
    integer, intent(in) :: j
    value = product_of(self, self%v(:, j), j)
  end function

  ! The product of w with itself.
  real(real64) function square(self) result(value)
    class(products_of_space), intent(inout) :: self
    value = product_of(self, self%w, size(self%v, 2) + 1)
  end function

  ! The product of x with w, for which there is that plan, if there are plans.
  real(real64) function product_of(self, x, plan) result(value)
    class(products_of_space), intent(inout) :: self
    real(real64), intent(in), target, contiguous :: x(:)
    integer, intent(in) :: plan
    real(real64), pointer, contiguous :: vectors(:, :)
    real(real64) :: begin, values(1)
    begin = MPI_Wtime()
    if (allocated(self%plans)) then
      call sf_run(self%plans(plan))
      values(1) = self%results(1)
    else if (is_of_steadfold(self%way)) then
      values(1) = sf_dot(x, self%w, self%comm, options=options_of(self%way))
    else
      vectors(1:size(x), 1:1) => x
      values = rivals(self, vectors)
    end if
    call enter(self, values, begin)
    value = values(1)
  end function

  ! The products of vectors with w, as codes have them without Steadfold.
  function rivals(self, vectors) result(values)
    class(products_of_space), intent(inout) :: self
    real(real64), intent(in), contiguous :: vectors(:, :)
    real(real64) :: values(size(vectors, 2))
    integer :: j
    associate (k => size(values))
      do j = 1, k
        if (self%way == 'plain') then
          values(j) = dot_product(vectors(:, j), self%w)
        else if (self%way == 'side_by_side') then
          values(j) = side_by_side(vectors(:, j), self%w)
        else
          self%terms(:, j) = vectors(:, j)*self%w
        end if
      end do
      select case (self%way)
      case ('integers')
        values = sums_by_integers(self%terms(:, :k), self%comm)
      case ('double_double')
        values = sums_in_pairs(self%terms(:, :k), self%pair_sum, self%comm)
      case default
        call MPI_Allreduce(MPI_IN_PLACE, values, k, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm)
      end select
    end associate
  end function

  pure real(real64) function side_by_side(x, y) result(value)
    real(real64), intent(in), contiguous :: x(:), y(:)
    real(real64) :: sums(8)
    integer :: i, whole
    whole = size(x) - mod(size(x), 8)
    sums = 0
    do i = 1, whole, 8
      sums = sums + x(i:i + 7)*y(i:i + 7)
    end do
    value = sum(sums)
    do i = whole + 1, size(x)
      value = value + x(i)*y(i)
    end do
  end function

  subroutine enter(self, values, begin)
    class(products_of_space), intent(inout) :: self
    real(real64), intent(in) :: values(:), begin
    self%book%seconds = self%book%seconds + (MPI_Wtime() - begin)
    self%book%calls(size(values)) = self%book%calls(size(values)) + 1
    call self%book%seen%add_all(values)
  end subroutine
end module
