! Counting checks, comparing bits, and hostile numbers: what the programs in Fortran share.
module checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, error_unit
  use, intrinsic :: ieee_arithmetic
  use mpi_f08
  use steadfold
  implicit none
  integer :: failures = 0, passed = 0, rank = 0, ranks = 1

  interface
    function set_environment(rounding, flushes) bind(c) result(is_followed)
      import :: c_int
      integer(c_int), value :: rounding, flushes
      integer(c_int) :: is_followed
    end function
    function reference_sum(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_tree(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_dot(x, y, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_norm2(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_mean(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_norm1(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_norminf(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_sum_squares(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_product(x, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_weighted_mean(x, weights, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*), weights(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    function reference_covariance(x, y, n, ddof) bind(c) result(value)
      import :: c_double, c_int, c_int64_t
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_int64_t), value :: n
      integer(c_int), value :: ddof
      real(c_double) :: value
    end function
    function reference_correlation(x, y, n) bind(c) result(value)
      import :: c_double, c_int64_t
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_int64_t), value :: n
      real(c_double) :: value
    end function
    subroutine reference_statistics(x, n, found) bind(c)
      import :: c_double, c_int64_t, sf_statistics
      real(c_double), intent(in) :: x(*)
      integer(c_int64_t), value :: n
      type(sf_statistics), intent(out) :: found
    end subroutine
    subroutine reference_dotu(x, y, n, value) bind(c)
      import :: c_double_complex, c_int64_t
      complex(c_double_complex), intent(in) :: x(*), y(*)
      integer(c_int64_t), value :: n
      complex(c_double_complex), intent(out) :: value
    end subroutine
  end interface

  interface same
    procedure :: same_double, same_float, same_doubles, same_statistics
  end interface
contains
  subroutine check(is_so, what)
    logical, intent(in) :: is_so
    character(len=*), intent(in) :: what
    if (is_so) then
      passed = passed + 1
    else
      failures = failures + 1
      write (error_unit, '("rank ", i0, " of ", i0, ": ", a, " (", a, ")")') rank, ranks, what, sf_error_message()
    end if
  end subroutine

  pure logical function same_double(a, b)
    real(c_double), intent(in) :: a, b
    same_double = transfer(a, 0_int64) == transfer(b, 0_int64)
  end function
  pure logical function same_float(a, b)
    real(c_float), intent(in) :: a, b
    same_float = transfer(a, 0) == transfer(b, 0)
  end function
  pure logical function same_doubles(a, b)
    real(c_double), intent(in) :: a(:), b(:)
    integer :: i
    same_doubles = size(a) == size(b)
    do i = 1, min(size(a), size(b))
      same_doubles = same_doubles .and. same_double(a(i), b(i))
    end do
  end function

  ! Of what C++ found, whose indices count from 0.
  pure logical function same_statistics(a, found)
    type(sf_statistics), intent(in) :: a, found
    type(sf_statistics) :: b
    b = found
    b%min_index = found%min_index + 1
    b%max_index = found%max_index + 1
    same_statistics = all(transfer(a, [0_int64]) == transfer(b, [0_int64]))
  end function

  ! The elements of this rank if they are dealt in blocks of one size, in rank order.
  pure integer function first_of(n)
    integer, intent(in) :: n
    first_of = 1 + (n*rank)/ranks
  end function
  pure integer function last_of(n)
    integer, intent(in) :: n
    last_of = (n*(rank + 1))/ranks
  end function
  pure integer(c_int64_t) function wide(n)
    integer, intent(in) :: n
    wide = n
  end function

  ! What is wrong on one rank is heard on this one.
  subroutine expect(ierr, status, text)
    integer, intent(in) :: ierr, status
    character(len=*), intent(in) :: text
    call check(ierr == status .and. index(sf_error_message(), text) > 0, "expected: "//text)
    call check(is_fortran(sf_error_message()), "a text in words of another language")
  end subroutine

  ! Whether a text has none of the words that C, or an array that begins with 0, has for something.
  logical function is_fortran(text)
    character(len=*), intent(in) :: text
    character(len=*), parameter :: words(14) = [character(18) :: 'sf_accumulator_', 'sf_call', 'sf_arrays', 'sf_type', &
      'sf_plan_bind', 'sf_group_of_', 'SF_F64', 'SF_BYTES', 'SF_PRODUCTS', 'SF_SUM', 'SF_DOT', 'axis', 'axes', &
      'counted from 0']
    integer :: i
    is_fortran = .true.
    do i = 1, size(words)
      is_fortran = is_fortran .and. index(text, trim(words(i))) == 0
    end do
    is_fortran = is_fortran .and. index(text, 'pointer') == 0
  end function

  subroutine set_usual_environment
    if (set_environment(0, 0) == 0) error stop 'the usual floating-point environment does not come back'
  end subroutine

  ! The program's own sums differ in environments that arithmetic follows (else what was compared proves nothing).
  subroutine check_control(differ, followed)
    integer, intent(in) :: differ, followed
    call check(differ >= min(4, followed), "the program's own sums differ (else this proves nothing)")
    if (followed == 0 .and. rank == 0) write (*, '(a)') 'arithmetic follows no floating-point environment here (under valgrind?)'
  end subroutine

  ! Numbers of many sizes that cancel, some of them subnormal, in places that no loop adds in order.
  subroutine fill_hostile(x)
    real(c_double), intent(out) :: x(:)
    integer(int64) :: state
    integer :: i
    state = 88172645463325252_int64
    do i = 1, size(x)
      state = ieor(state, ishft(state, 13))
      state = ieor(state, ishft(state, -7))
      state = ieor(state, ishft(state, 17))
      x(i) = scale(real(mod(state, 1000003_int64), c_double), int(mod(abs(state/7), 60_int64)) - 30)
      if (mod(i, 11) == 0) x(i) = -x(i - 10)
      if (mod(i, 97) == 0) x(i) = tiny(1.0_c_double)/1024
    end do
  end subroutine
end module
