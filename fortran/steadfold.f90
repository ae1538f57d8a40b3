! Steadfold from Fortran: reductions that give the same bits for every number of ranks, every distribution, every
! algorithm and MPI library.
!
! Arrays are of any rank and shape: whole ones, sections with any strides, with halos, scalars. They are read where they
! stand. `comm` is an MPI communicator, of mpi_f08 or an integer; every rank of it calls, and gets the result. Without
! `comm` a call is this process's own. Types: real and complex of 4 and 8 bytes, integers of 4 and 8 bytes; masks are
! logicals of 1 to 8 bytes, labels integers.
!
!   where     a mask: elements that it leaves out are never combined, whatever they are. Its dimensions are the first
!             ones of the array; a dimension that it lacks, or that has one index, is repeated
!   weight    factors of the elements, in products that are not rounded. Of the array's type; repeated as a mask is
!   keep      the dimensions that the result has, as `dim` of the intrinsic sum has the one that it has not: results are
!             in the order of these dimensions. Without `keep` there is one result
!   options   text such as 'method=binned, bins=4, threads=2': names and values of sf_call_set (steadfold_names.h)
!   ierr      0, or an sf_status; sf_error_message() has the text. Without `ierr` a failure prints the text, and calls
!             the communicator's error handler, which as a rule ends the program
!
! This file is installed as source: compile it with the compiler of your program, link steadfold_fortran. It has nothing
! but interfaces of functions in C, which read the compiler's array descriptors.
module steadfold
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_float, c_float_complex, c_funptr, c_int, &
                                         c_int32_t, c_int64_t, c_ptr, c_size_t, c_f_pointer, c_null_ptr
  implicit none
  private
  public :: sf_sum, sf_sum_by, sf_dot, sf_norm2, sf_mean, sf_var, sf_min, sf_max, sf_allreduce, sf_reduce
  public :: sf_plan, sf_plan_sum, sf_plan_dot, sf_plan_norm2, sf_bind, sf_run, sf_start, sf_wait
  public :: sf_accumulator, sf_add, sf_subtract, sf_merge, sf_merge_ranks, sf_total, sf_average, sf_write, sf_read, sf_free
  public :: sf_team, sf_group, sf_team_create, sf_team_member, sf_team_bind
  public :: sf_error_message, sf_version_text, sf_operator
  public :: SF_OK, SF_EMPTY, SF_GAP, SF_OVERLAP, SF_OPERATOR_FAILED, SF_MISMATCH, SF_INVALID_ARGUMENT, &
            SF_UNSUPPORTED, SF_TRANSPORT_FAILED, SF_INTERNAL

  ! What `ierr` is: the numbers of sf_status.
  enum, bind(c)
    enumerator :: SF_OK, SF_EMPTY, SF_GAP, SF_OVERLAP, SF_OPERATOR_FAILED, SF_MISMATCH, SF_INVALID_ARGUMENT, &
                  SF_UNSUPPORTED, SF_TRANSPORT_FAILED, SF_INTERNAL
  end enum

  ! A reduction that all ranks have agreed on, to be run often: made by sf_plan_sum and its like, freed by sf_free. A
  ! copy made by `=` is the same plan.
  type, bind(c) :: sf_plan
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Exact sums that a program keeps, adds to, and rounds when it wants to: in any order, on any thread and rank the same.
  ! Made when something is first added, freed by sf_free. A copy made by `=` is the same accumulator; sf_merge into an
  ! empty one makes another.
  type, bind(c) :: sf_accumulator
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! Threads that reduce together, of this process or of all ranks. A copy made by `=` is the same team.
  type, bind(c) :: sf_team
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  ! One thread's place in a team: it stands wherever a communicator does. It lasts as long as the team.
  type, bind(c) :: sf_group
    private
    type(c_ptr) :: handle = c_null_ptr
  end type

  interface
    ! The sum of all elements, or one for every index of the dimensions in `keep`, by the method `exact` for real
    ! numbers: correctly rounded. `result` has the array's type, or a wider one, and the shape of what is kept.
    subroutine sf_sum(array, result, comm, keep, weight, where, options, ierr) bind(c, name="sf_fortran_sum")
      import :: c_char, c_int
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Sums of groups: `labels`, of the array's shape or repeated as a mask is, name the group of every element, from 1 to
    ! the last extent of `result`. Those with a label below 1 belong to none. `result` has the shape of what is kept and
    ! then the groups.
    subroutine sf_sum_by(array, labels, result, comm, keep, weight, where, options, ierr) &
      bind(c, name="sf_fortran_sum_by")
      import :: c_char, c_int
      type(*), dimension(..), intent(in) :: array, labels
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Combines the elements of all ranks place by place, as MPI_Allreduce in place: `operation` is a name such as 'sum',
    ! 'product', 'min', 'max'. The bits depend on the number of ranks, and on nothing else.
    subroutine sf_allreduce(values, operation, comm, options, ierr) bind(c, name="sf_fortran_allreduce")
      import :: c_char, c_int
      type(*), dimension(..), intent(inout) :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine

    ! Elements of any type without allocatable parts, those of lower ranks first, combined by an operator of your own, in
    ! the binary tree over all elements: operator = c_funloc(multiply), a bind(c) function as sf_operator. `result` is of
    ! the same type.
    subroutine sf_reduce(array, result, operator, comm, options, ierr) bind(c, name="sf_fortran_reduce")
      import :: c_char, c_funptr, c_int
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: result
      type(c_funptr), value :: operator
      type(*), dimension(..), intent(in), optional :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  abstract interface
    ! result(i) = left(i) op right(i) for the `count` elements at these addresses, left before right; 0, or any other
    ! number for failure. `result` may be the memory of `left`.
    function sf_operator(left, right, result, count, context) bind(c) result(failed)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: left, right, result, context
      integer(c_size_t), value :: count
      integer(c_int) :: failed
    end function
  end interface

  ! The sum of products of two arrays of one shape, correctly rounded; of complex numbers the first factors are
  ! conjugated, as in dot_product.
  interface sf_dot
    function sf_dot_f64(x, y, comm, where, options, ierr) bind(c, name="sf_fortran_dot_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_dot_f32(x, y, comm, where, options, ierr) bind(c, name="sf_fortran_dot_f32") result(value)
      import :: c_char, c_float, c_int
      real(c_float), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
    function sf_dot_c64(x, y, comm, where, options, ierr) bind(c, name="sf_fortran_dot_c64") result(value)
      import :: c_char, c_double_complex, c_int
      complex(c_double_complex), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      complex(c_double_complex) :: value
    end function
    function sf_dot_c32(x, y, comm, where, options, ierr) bind(c, name="sf_fortran_dot_c32") result(value)
      import :: c_char, c_float_complex, c_int
      complex(c_float_complex), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      complex(c_float_complex) :: value
    end function
  end interface

  ! The root of the sum of squares of absolute values.
  interface sf_norm2
    function sf_norm2_f64(array, comm, where, options, ierr) bind(c, name="sf_fortran_norm2_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_norm2_f32(array, comm, where, options, ierr) bind(c, name="sf_fortran_norm2_f32") result(value)
      import :: c_char, c_float, c_int
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
    function sf_norm2_c64(array, comm, where, options, ierr) bind(c, name="sf_fortran_norm2_c64") result(value)
      import :: c_char, c_double, c_double_complex, c_int
      complex(c_double_complex), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_norm2_c32(array, comm, where, options, ierr) bind(c, name="sf_fortran_norm2_c32") result(value)
      import :: c_char, c_float, c_float_complex, c_int
      complex(c_float_complex), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
  end interface

  ! The sum, or with `weight` the sum of products with it divided by the sum of weights; rounded once.
  interface sf_mean
    function sf_mean_f64(array, comm, weight, where, options, ierr) bind(c, name="sf_fortran_mean_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      real(c_double), dimension(..), intent(in), optional :: weight
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_mean_f32(array, comm, weight, where, options, ierr) bind(c, name="sf_fortran_mean_f32") result(value)
      import :: c_char, c_float, c_int
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      real(c_float), dimension(..), intent(in), optional :: weight
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
    function sf_mean_c64(array, comm, weight, where, options, ierr) bind(c, name="sf_fortran_mean_c64") result(value)
      import :: c_char, c_double_complex, c_int
      complex(c_double_complex), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      complex(c_double_complex), dimension(..), intent(in), optional :: weight
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      complex(c_double_complex) :: value
    end function
    function sf_mean_c32(array, comm, weight, where, options, ierr) bind(c, name="sf_fortran_mean_c32") result(value)
      import :: c_char, c_float_complex, c_int
      complex(c_float_complex), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      complex(c_float_complex), dimension(..), intent(in), optional :: weight
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      complex(c_float_complex) :: value
    end function
  end interface

  ! The variance: the sum of squared distances from the mean, divided by the number of elements less `ddof`, 0 or 1
  ! (0 if it is not given); rounded once. Too few elements, or a NaN or infinity among them: NaN.
  interface sf_var
    function sf_var_f64(array, comm, ddof, where, options, ierr) bind(c, name="sf_fortran_var_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      integer(c_int), intent(in), optional :: ddof
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_var_f32(array, comm, ddof, where, options, ierr) bind(c, name="sf_fortran_var_f32") result(value)
      import :: c_char, c_double, c_float, c_int
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      integer(c_int), intent(in), optional :: ddof
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
  end interface

  ! The least element. A NaN wins.
  interface sf_min
    function sf_min_f64(array, comm, where, options, ierr) bind(c, name="sf_fortran_min_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_min_f32(array, comm, where, options, ierr) bind(c, name="sf_fortran_min_f32") result(value)
      import :: c_char, c_float, c_int
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
    function sf_min_i32(array, comm, where, options, ierr) bind(c, name="sf_fortran_min_i32") result(value)
      import :: c_char, c_int, c_int32_t
      integer(c_int32_t), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      integer(c_int32_t) :: value
    end function
    function sf_min_i64(array, comm, where, options, ierr) bind(c, name="sf_fortran_min_i64") result(value)
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t) :: value
    end function
  end interface

  ! The greatest element. A NaN wins.
  interface sf_max
    function sf_max_f64(array, comm, where, options, ierr) bind(c, name="sf_fortran_max_f64") result(value)
      import :: c_char, c_double, c_int
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_double) :: value
    end function
    function sf_max_f32(array, comm, where, options, ierr) bind(c, name="sf_fortran_max_f32") result(value)
      import :: c_char, c_float, c_int
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      real(c_float) :: value
    end function
    function sf_max_i32(array, comm, where, options, ierr) bind(c, name="sf_fortran_max_i32") result(value)
      import :: c_char, c_int, c_int32_t
      integer(c_int32_t), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      integer(c_int32_t) :: value
    end function
    function sf_max_i64(array, comm, where, options, ierr) bind(c, name="sf_fortran_max_i64") result(value)
      import :: c_char, c_int, c_int64_t
      integer(c_int64_t), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      integer(c_int64_t) :: value
    end function
  end interface

  ! Plans. Collective, as the calls that have the same arguments. What a plan is made with stays where it is until the
  ! plan is freed: variables with the attribute `target`, never expressions, such as a mask `f > 0`.
  ! Without `comm` nothing is agreed on yet: the reduction is added to the plan, which becomes a bundle. sf_bind makes all
  ! ranks agree on it; its reductions share every message.
  interface
    subroutine sf_plan_sum(plan, array, result, comm, keep, weight, where, options, ierr) &
      bind(c, name="sf_fortran_plan_sum")
      import :: c_char, c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in), target :: array
      type(*), dimension(..), intent(inout), target :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional, target :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_plan_dot(plan, x, y, result, comm, where, options, ierr) bind(c, name="sf_fortran_plan_dot")
      import :: c_char, c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in), target :: x, y
      type(*), dimension(..), intent(inout), target :: result
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional, target :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_plan_norm2(plan, array, result, comm, where, options, ierr) bind(c, name="sf_fortran_plan_norm2")
      import :: c_char, c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in), target :: array
      type(*), dimension(..), intent(inout), target :: result
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional, target :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_bind(plan, comm, ierr) bind(c, name="sf_fortran_bind")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Reduces what stands in the arrays now.
    subroutine sf_run(plan, ierr) bind(c, name="sf_fortran_run")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The same in two phases: the program computes meanwhile, and leaves the arrays alone.
    subroutine sf_start(plan, ierr) bind(c, name="sf_fortran_start")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Waits for the end, or at most that many seconds, 0 to look once: then `done` is 1 if the run has ended, else 0, and
    ! the call is made again.
    subroutine sf_wait(plan, seconds, done, ierr) bind(c, name="sf_fortran_wait")
      import :: c_double, c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      real(c_double), intent(in), optional :: seconds
      integer(c_int), intent(out), optional :: done, ierr
    end subroutine
  end interface

  ! Accumulators: of doubles or floats. All but sf_merge_ranks are this process's own. One thread at a time changes one.
  interface
    ! Adds all elements to one sum, or to one for every index kept. With `weight` products are added, from the first
    ! addition on or never. A mask has none of the dimensions that are kept.
    subroutine sf_add(accumulator, array, keep, weight, where, ierr) bind(c, name="sf_fortran_add")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: array
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! As if it had never been added.
    subroutine sf_subtract(accumulator, array, keep, weight, where, ierr) bind(c, name="sf_fortran_subtract")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: array
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Adds to `into` all that was added to `from`.
    subroutine sf_merge(into, from, ierr) bind(c, name="sf_fortran_merge")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(inout) :: into
      type(sf_accumulator), intent(in) :: from
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes the accumulator of every rank the sum of those of all ranks. Collective. On every rank something has been
    ! added, an array of no elements perhaps.
    subroutine sf_merge_ranks(accumulator, comm, ierr) bind(c, name="sf_fortran_merge_ranks")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The sums, each rounded once: into one number, or into an array of one for every index kept. The accumulator stays.
    subroutine sf_total(accumulator, result, ierr) bind(c, name="sf_fortran_total")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(in) :: accumulator
      type(*), dimension(..), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The sums divided by the number of rows added, likewise.
    subroutine sf_average(accumulator, result, ierr) bind(c, name="sf_fortran_average")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(in) :: accumulator
      type(*), dimension(..), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Bytes for a restart file, the same on every machine: into an array of any type, whose first `size` bytes they take.
    ! If they are more than it has, `ierr` is SF_INVALID_ARGUMENT, and `size` says how many there are.
    subroutine sf_write(accumulator, bytes, size, ierr) bind(c, name="sf_fortran_write")
      import :: c_int, c_int64_t, sf_accumulator
      type(sf_accumulator), intent(in) :: accumulator
      type(*), dimension(..), intent(inout) :: bytes
      integer(c_int64_t), intent(out) :: size
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes the accumulator, an empty one, of exactly these bytes.
    subroutine sf_read(accumulator, bytes, ierr) bind(c, name="sf_fortran_read")
      import :: c_int, sf_accumulator
      type(sf_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: bytes
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Teams. With `comm` the team has the workers of all ranks, `workers` on this one: one thread of every rank calls, MPI
  ! was initialised with MPI_THREAD_FUNNELED at least, and worker 0 is the thread that may call MPI.
  interface
    subroutine sf_team_create(team, workers, comm, ierr) bind(c, name="sf_fortran_team_create")
      import :: c_int, sf_team
      type(sf_team), intent(inout) :: team
      integer(c_int), intent(in) :: workers
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The place of worker 0, 1, ..., as omp_get_thread_num counts them, for one thread. The first call for a worker waits
    ! until there has been one for each.
    subroutine sf_team_member(team, worker, group, ierr) bind(c, name="sf_fortran_team_member")
      import :: c_int, sf_group, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      type(sf_group), intent(inout) :: group
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Binds the calling thread to the worker's core; before sf_team_member.
    subroutine sf_team_bind(team, worker, ierr) bind(c, name="sf_fortran_team_bind")
      import :: c_int, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Gives back what a plan, an accumulator or a team holds, and leaves it empty. Nothing happens to an empty one.
  interface sf_free
    subroutine sf_free_plan(plan) bind(c, name="sf_fortran_free_plan")
      import :: sf_plan
      type(sf_plan), intent(inout) :: plan
    end subroutine
    subroutine sf_free_team(team) bind(c, name="sf_fortran_free_team")
      import :: sf_team
      type(sf_team), intent(inout) :: team
    end subroutine
    subroutine sf_free_accumulator(accumulator) bind(c, name="sf_fortran_free_accumulator")
      import :: sf_accumulator
      type(sf_accumulator), intent(inout) :: accumulator
    end subroutine
  end interface

  interface
    function c_error_text() bind(c, name="sf_error_text") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    function c_version() bind(c, name="sf_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
    pure function c_length(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! What went wrong in this thread's last call that failed: "problem (why), suggestion".
  function sf_error_message() result(message)
    character(len=:), allocatable :: message
    message = text_at(c_error_text())
  end function

  ! Major.minor.patch.
  function sf_version_text() result(version)
    character(len=:), allocatable :: version
    version = text_at(c_version())
  end function

  function text_at(place) result(text)
    type(c_ptr), intent(in) :: place
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(place, letters, [c_length(place)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function
end module
