! Steadfold for Fortran: reductions that give the same bits for every number of ranks, every distribution, every
! algorithm and every MPI library.
!
! Arrays have any rank and shape: whole arrays, sections with any strides or halos, scalars. Arrays are read in place.
! `comm` is an MPI communicator, of mpi_f08 or an integer; every rank of it makes the call and gets the result. Without
! `comm` a call reduces the elements of this process alone. Types: real and complex of 4 and 8 bytes, integers of 4 and
! 8 bytes; masks are logicals of 1 to 8 bytes, labels are integers.
!
!   array     the elements of this rank; it is only read
!   x         the first factors; it is only read
!   y         the second factors, of the type and shape of `x`; it is only read
!   result    the variable that receives the result
!   comm      the communicator, or a type(sf_group): every rank makes the call. Without it the call is local
!   where     a mask: elements that it leaves out are never combined, whatever their values. Its dimensions are the
!             first dimensions of the array; a dimension that is missing, or has one index, is repeated
!   weight    factors of the elements, of the array's type; the products are not rounded. Repeated as a mask is
!   keep      the dimensions that the result keeps, in this order (`dim` of the intrinsic sum is the dimension that
!             its result lacks). Without `keep` there is one result
!   options   text such as 'method=binned, bins=4, threads=2': names and values of sf_call_set (steadfold_names.h)
!   layout    which elements of the whole job this rank has, a type(sf_layout); not needed by methods without an order
!   ierr      0, or an sf_status; sf_error_message() has the text. Without `ierr` a failure prints the text and calls
!             the communicator's error handler, which by default ends the program
!
! This file is installed as source: compile it with the compiler of your program, and link steadfold_fortran. This file
! consists mostly of interfaces of C functions, which read the compiler's array descriptors.
module steadfold
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_float, c_float_complex, c_funptr, c_int, &
                                         c_int32_t, c_int64_t, c_ptr, c_size_t, c_f_pointer
  implicit none
  private
  public :: sf_sum, sf_sum_by, sf_var, sf_allreduce, sf_reduce
  public :: sf_combine, sf_combine_by, sf_minloc, sf_maxloc, sf_describe, sf_statistics
  public :: sf_scan, sf_exscan, sf_reduce_scatter
  public :: sf_request, sf_start_sum, sf_start_sum_by, sf_start_combine, sf_start_combine_by, sf_start_dot
  public :: sf_start_minloc, sf_start_maxloc, sf_start_describe, sf_start_allreduce, sf_start_scan, sf_start_exscan
  public :: sf_start_reduce_scatter, sf_start_reduce, sf_start_barrier, sf_start_rank_order, sf_start_bind, sf_test
  public :: sf_layout, sf_layout_anywhere, sf_layout_rank_order, sf_layout_row_per_rank, sf_layout_intervals, &
            sf_layout_grid
  public :: sf_plan, sf_plan_sum, sf_plan_dot, sf_plan_norm2, sf_bind, sf_run, sf_start, sf_wait
  public :: sf_plan_combine, sf_plan_minloc, sf_plan_maxloc, sf_plan_describe, sf_bundle_status, sf_plan_figures
  public :: sf_plan_trace, sf_plan_text, sf_plan_schedule
  public :: sf_accumulator, sf_add, sf_subtract, sf_merge, sf_merge_ranks, sf_total, sf_average, sf_write, sf_read, sf_free
  public :: sf_unmerge, sf_clear, sf_negate, sf_copy, sf_compare, sf_shape, sf_root
  public :: sf_packed_size, sf_pack, sf_unpack, sf_merge_packed
  public :: sf_team, sf_group, sf_team_create, sf_team_member, sf_team_bind, sf_team_size, &
            sf_team_set_timeout
  public :: sf_group_of, sf_group_rank, sf_group_size, sf_group_transport, sf_barrier, sf_rank_order, sf_progress_thread
  public :: sf_allocate, sf_list_size, sf_list_name, sf_list_text, sf_list_find
  public :: sf_error_message, sf_version_text, sf_mpi_library, sf_operator

  ! A plan: a reduction that all ranks have agreed on, and that is run often. Made by sf_plan_sum and similar calls,
  ! freed by sf_free. A copy made by `=` is the same plan; after one copy is freed, using any copy is an error.
  type, bind(c) :: sf_plan
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! Exact sums as objects: a program keeps them, adds to them, and rounds them when it needs a result. The order of
  ! additions, threads and ranks do not change the results. The sums are made when something is first added. An
  ! accumulator behaves like a number: `=` copies the sums, also for arrays of accumulators and for types with
  ! accumulators as components, and local variables are freed with the procedure. All calls except sf_merge_ranks are
  ! local. Only one thread at a time may change an accumulator.
  type :: sf_accumulator
    private
    integer(c_int64_t), allocatable :: state(:)
  end type

  ! A team: threads of this process, or of all ranks, that reduce with each other. A copy made by `=` is the same team;
  ! after one copy is freed, using any copy is an error.
  type, bind(c) :: sf_team
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! The group of one thread of a team, or of a communicator. Pass it in place of a communicator. The group lives as long
  ! as the team or the communicator; using the group afterwards is an error.
  type, bind(c) :: sf_group
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! A started call that has not ended. A copy made by `=` is the same call; after the end was reported through one copy,
  ! using another copy is an error.
  type, bind(c) :: sf_request
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! A layout: says which elements of the whole job a rank has. Made by sf_layout_intervals and similar calls, freed by
  ! sf_free. It never changes. A copy made by `=` is the same layout; after one copy is freed, using any copy is an
  ! error.
  type, bind(c) :: sf_layout
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! The result of sf_describe; each number is rounded once. A number is NaN if there are too few elements to define it;
  ! all numbers are NaN if an element is NaN. Indices count from 1, as in sf_minloc; they are 0 if there are no
  ! elements.
  type, bind(c) :: sf_statistics
    integer(c_int64_t) :: count
    real(c_double) :: min
    integer(c_int64_t) :: min_index
    real(c_double) :: max
    integer(c_int64_t) :: max_index
    real(c_double) :: mean, variance, sample_variance, deviation, sample_deviation
  end type

  interface
    ! Computes the sum of all elements, or one sum for every index of the dimensions in `keep`. Real and complex sums
    ! use method `exact`: they are correctly rounded. `result` has the array's type, or a wider one, and the shape of
    ! the kept dimensions.
    subroutine sf_sum(array, result, comm, keep, weight, where, options, ierr, layout) bind(c, name="sf_fortran_sum")
      import :: c_char, c_int, sf_layout
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine

    ! Computes the sums of groups of elements. `labels` gives the group of every element, 1 to the last extent of
    ! `result`; an element with a label below 1 belongs to no group. `labels` has the array's shape or is repeated as a
    ! mask is (except a single label). The shape of `result` is that of the kept dimensions, followed by the number of
    ! groups.
    subroutine sf_sum_by(array, labels, result, comm, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_sum_by")
      import :: c_char, c_int, sf_layout
      type(*), dimension(..), intent(in) :: array, labels
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine

    ! Makes any operation by its name: the operations of SF_LIST_OPERATIONS whose results are numbers ('product',
    ! 'abs_sum', 'sum_squares', 'dot', ...), with all arguments of sf_sum. `weight` has the second factors; with it
    ! 'sum' is a sum of products, and 'mean' a weighted mean.
    subroutine sf_combine(array, operation, result, comm, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_combine")
      import :: c_char, c_int, sf_layout
      type(*), dimension(..), intent(in) :: array
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes any operation by its name, as sf_combine, for groups of elements given by `labels`, as in sf_sum_by.
    subroutine sf_combine_by(array, labels, operation, result, comm, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_combine_by")
      import :: c_char, c_int, sf_layout
      type(*), dimension(..), intent(in) :: array, labels
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Finds the smallest value and the lowest index that has it. The index is that of the element in the whole job,
    ! counted from 1 in Fortran's order of elements: in rank order, or as the layout says. If an element is NaN, the
    ! value is NaN. With `keep` both results are arrays.
    subroutine sf_minloc(array, value, index, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_minloc")
      import :: c_char, c_int, c_int64_t, sf_layout
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: value
      integer(c_int64_t), dimension(..), intent(inout) :: index
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Finds the largest value and the lowest index that has it, as sf_minloc.
    subroutine sf_maxloc(array, value, index, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_maxloc")
      import :: c_char, c_int, c_int64_t, sf_layout
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: value
      integer(c_int64_t), dimension(..), intent(inout) :: index
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Computes the number of elements, the extremes, the mean, the variances and the deviations in one pass, into one
    ! type(sf_statistics) or an array of them.
    subroutine sf_describe(array, statistics, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_describe")
      import :: c_char, c_int, sf_layout
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: statistics
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
  end interface

  ! Combines the elements of all ranks position by position, in MPI's shape and in place, as MPI_Allreduce does.
  ! `operation` is a name such as 'sum', 'product', 'min' or 'max'; or c_funloc(op), for elements of any type without
  ! allocatable components. The bits depend only on the number of ranks.
  interface sf_allreduce
    subroutine sf_allreduce_name(values, operation, comm, options, ierr) bind(c, name="sf_fortran_allreduce")
      import :: c_char, c_int
      type(*), dimension(..), intent(inout) :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_allreduce_by(values, operation, comm, options, ierr) bind(c, name="sf_fortran_allreduce_by")
      import :: c_char, c_funptr, c_int
      type(*), dimension(..), intent(inout) :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Combines as sf_allreduce does, but rank r gets the combined `values` of ranks 0 to r.
  interface sf_scan
    subroutine sf_scan_name(values, operation, comm, options, ierr) bind(c, name="sf_fortran_scan")
      import :: c_char, c_int
      type(*), dimension(..), intent(inout) :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_scan_by(values, operation, comm, options, ierr) bind(c, name="sf_fortran_scan_by")
      import :: c_char, c_funptr, c_int
      type(*), dimension(..), intent(inout) :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Combines as sf_allreduce does, but rank r gets the combined `values` of the ranks below r. On rank 0 `values` stays
  ! unchanged.
  interface sf_exscan
    subroutine sf_exscan_name(values, operation, comm, options, ierr) bind(c, name="sf_fortran_exscan")
      import :: c_char, c_int
      type(*), dimension(..), intent(inout) :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_exscan_by(values, operation, comm, options, ierr) bind(c, name="sf_fortran_exscan_by")
      import :: c_char, c_funptr, c_int
      type(*), dimension(..), intent(inout) :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Combines as sf_allreduce does, and gives every rank a block of the result: rank r gets blocks(r + 1) elements, which
  ! follow those of the lower ranks. Without `blocks` all blocks are equal.
  interface sf_reduce_scatter
    subroutine sf_reduce_scatter_name(values, result, operation, comm, blocks, options, ierr) &
      bind(c, name="sf_fortran_reduce_scatter")
      import :: c_char, c_int
      type(*), dimension(..), intent(in) :: values
      type(*), dimension(..), intent(inout) :: result
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      type(*), dimension(..), intent(in), optional :: blocks
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_reduce_scatter_by(values, result, operation, comm, blocks, options, ierr) &
      bind(c, name="sf_fortran_reduce_scatter_by")
      import :: c_char, c_funptr, c_int
      type(*), dimension(..), intent(in) :: values
      type(*), dimension(..), intent(inout) :: result
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      type(*), dimension(..), intent(in), optional :: blocks
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  interface
    ! Combines elements of any type without allocatable components by your own operator, in the binary tree over all
    ! elements; the elements of lower ranks come first. `operator` is c_funloc(multiply), where multiply is a bind(c)
    ! function with the interface sf_operator. `result` has the type of the elements. `context` is passed to the
    ! operator.
    subroutine sf_reduce(array, result, operator, comm, options, ierr, layout, context) &
      bind(c, name="sf_fortran_reduce")
      import :: c_char, c_funptr, c_int, c_ptr, sf_layout
      type(*), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(inout) :: result
      type(c_funptr), value :: operator
      type(*), dimension(..), intent(in), optional :: comm
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
      type(c_ptr), intent(in), optional :: context
    end subroutine
  end interface

  abstract interface
    ! Combines result(i) = left(i) op right(i) for the `count` elements at these addresses, in this order of operands.
    ! Returns 0 for success, any other number for failure. `result` may be the memory of `left`.
    function sf_operator(left, right, result, count, context) bind(c) result(failed)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: left, right, result, context
      integer(c_size_t), value :: count
      integer(c_int) :: failed
    end function
  end interface

  include "steadfold_operations.inc" ! constants, and reductions that return values: sf_dot, sf_norm2, sf_min, ...

  ! Computes the variance: the sum of the squared distances from the mean, divided by the number of elements minus
  ! `ddof`, which is 0 (the default) or 1; rounded once. NaN if there are too few elements, or if an element is NaN or
  ! infinite.
  interface sf_var
    function sf_var_f64(array, comm, ddof, where, options, ierr, layout) bind(c, name="sf_fortran_var_f64") result(value)
      import :: c_char, c_double, c_int, sf_layout
      real(c_double), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      integer(c_int), intent(in), optional :: ddof
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
      real(c_double) :: value
    end function
    function sf_var_f32(array, comm, ddof, where, options, ierr, layout) bind(c, name="sf_fortran_var_f32") result(value)
      import :: c_char, c_double, c_float, c_int, sf_layout
      real(c_float), dimension(..), intent(in) :: array
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(in), optional :: where
      integer(c_int), intent(in), optional :: ddof
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
      real(c_double) :: value
    end function
  end interface

  ! Started calls proceed while the program computes; sf_wait or sf_test end them. Every rank starts the same calls in
  ! the same order; each rank may end its calls in any order. A request whose call has ended is empty and may be used
  ! again.
  !
  ! Arrays, masks and results are used until the call has ended. Arrays, masks and results must be variables that stay
  ! at their addresses: expressions, constants, sections with vector subscripts, and arguments with intent(in), which
  ! may be any of these, do not compile. Declare the variables `asynchronous` where the call is started and where it
  ! ends. If the arguments are wrong on any rank, sf_wait reports the error on all ranks.
  interface
    ! Starts the call sf_sum.
    subroutine sf_start_sum(array, result, comm, request, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_sum")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, result
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_sum_by.
    subroutine sf_start_sum_by(array, labels, result, comm, request, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_sum_by")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, labels, result
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_combine.
    subroutine sf_start_combine(array, operation, result, comm, request, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_combine")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_combine_by.
    subroutine sf_start_combine_by(array, labels, operation, result, comm, request, keep, weight, where, &
      options, ierr, layout) &
      bind(c, name="sf_fortran_start_combine_by")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, labels
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_dot.
    subroutine sf_start_dot(x, y, result, comm, request, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_dot")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: x, y, result
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_minloc.
    subroutine sf_start_minloc(array, value, index, comm, request, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_minloc")
      import :: c_char, c_int, c_int64_t, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, value
      integer(c_int64_t), dimension(..), intent(inout), asynchronous, target :: index
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_maxloc.
    subroutine sf_start_maxloc(array, value, index, comm, request, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_maxloc")
      import :: c_char, c_int, c_int64_t, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, value
      integer(c_int64_t), dimension(..), intent(inout), asynchronous, target :: index
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_describe.
    subroutine sf_start_describe(array, statistics, comm, request, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_start_describe")
      import :: c_char, c_int, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, statistics
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Starts the call sf_reduce.
    subroutine sf_start_reduce(array, result, operator, comm, request, options, ierr, layout, context) &
      bind(c, name="sf_fortran_start_reduce")
      import :: c_char, c_funptr, c_int, c_ptr, sf_layout, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: array, result
      type(c_funptr), value :: operator
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
      type(c_ptr), intent(in), optional :: context
    end subroutine
    ! Waits at a barrier, which ends on no rank before every rank has called or started it.
    subroutine sf_barrier(comm, ierr) bind(c, name="sf_fortran_barrier")
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Starts a barrier.
    subroutine sf_start_barrier(comm, request, ierr) bind(c, name="sf_fortran_start_barrier")
      import :: c_int, sf_request
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Finds the elements, `first` to `last`, of this rank if the `rows` elements of rank 0 come first, then the elements
    ! of rank 1, and so on. `element_count` receives the number of elements of all ranks.
    subroutine sf_rank_order(rows, comm, first, last, element_count, ierr) bind(c, name="sf_fortran_rank_order")
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(in) :: rows
      type(*), dimension(..), intent(in) :: comm
      integer(c_int64_t), intent(inout) :: first, last
      integer(c_int64_t), intent(inout), optional :: element_count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Starts the call sf_rank_order. Its results are written when the request has ended.
    subroutine sf_start_rank_order(rows, comm, first, last, request, element_count, ierr) &
      bind(c, name="sf_fortran_start_rank_order")
      import :: c_int, c_int64_t, sf_request
      integer(c_int64_t), intent(in) :: rows
      type(*), dimension(..), intent(in) :: comm
      integer(c_int64_t), intent(inout), asynchronous, target :: first, last
      type(sf_request), intent(inout) :: request
      integer(c_int64_t), intent(inout), asynchronous, target, optional :: element_count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Starts the call sf_bind. Call sf_wait for the request, then run the plan.
    subroutine sf_start_bind(plan, comm, request, ierr) bind(c, name="sf_fortran_start_bind")
      import :: c_int, sf_plan, sf_request
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Starts the call sf_allreduce.
  interface sf_start_allreduce
    subroutine sf_start_allreduce_name(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_allreduce")
      import :: c_char, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_start_allreduce_by(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_allreduce_by")
      import :: c_char, c_funptr, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Starts the call sf_scan.
  interface sf_start_scan
    subroutine sf_start_scan_name(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_scan")
      import :: c_char, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_start_scan_by(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_scan_by")
      import :: c_char, c_funptr, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Starts the call sf_exscan.
  interface sf_start_exscan
    subroutine sf_start_exscan_name(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_exscan")
      import :: c_char, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_start_exscan_by(values, operation, comm, request, options, ierr) &
      bind(c, name="sf_fortran_start_exscan_by")
      import :: c_char, c_funptr, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Starts the call sf_reduce_scatter.
  interface sf_start_reduce_scatter
    subroutine sf_start_reduce_scatter_name(values, result, operation, comm, request, blocks, options, ierr) &
      bind(c, name="sf_fortran_start_reduce_scatter")
      import :: c_char, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values, result
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      type(*), dimension(..), intent(in), optional :: blocks
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_start_reduce_scatter_by(values, result, operation, comm, request, blocks, options, ierr) &
      bind(c, name="sf_fortran_start_reduce_scatter_by")
      import :: c_char, c_funptr, c_int, sf_request
      type(*), dimension(..), intent(inout), asynchronous, target :: values, result
      type(c_funptr), value :: operation
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      type(*), dimension(..), intent(in), optional :: blocks
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Plans. Collective, as the calls with the same arguments. The arguments with which a plan is made must stay at their
  ! addresses until the plan is freed: they are variables with the attribute `target`. Expressions, such as a mask `f >
  ! 0`, and other arguments that a compiler would copy do not compile; only for this check the arrays are intent(inout),
  ! as in started calls. Without `comm` nothing is agreed on yet: the reduction is added to the plan, which becomes a
  ! bundle. sf_bind makes all ranks agree on the bundle; its reductions share every message.
  interface
    ! Makes a plan of sf_sum; without `comm`, adds it to a bundle.
    subroutine sf_plan_sum(plan, array, result, comm, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_plan_sum")
      import :: c_char, c_int, sf_plan, sf_layout
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_dot; without `comm`, adds it to a bundle.
    subroutine sf_plan_dot(plan, x, y, result, comm, where, options, ierr, layout) bind(c, name="sf_fortran_plan_dot")
      import :: c_char, c_int, sf_plan, sf_layout
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: x, y
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_norm2; without `comm`, adds it to a bundle.
    subroutine sf_plan_norm2(plan, array, result, comm, where, options, ierr, layout) bind(c, name="sf_fortran_plan_norm2")
      import :: c_char, c_int, sf_plan, sf_layout
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in), optional :: comm
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_combine; without `comm`, adds it to a bundle.
    subroutine sf_plan_combine(plan, array, operation, result, comm, keep, weight, where, options, ierr, layout) &
      bind(c, name="sf_fortran_plan_combine")
      import :: c_char, c_int, sf_layout, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      character(kind=c_char, len=*), intent(in) :: operation
      type(*), dimension(..), intent(inout), asynchronous, target :: result
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: weight, where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_minloc; without `comm`, adds it to a bundle.
    subroutine sf_plan_minloc(plan, array, value, index, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_plan_minloc")
      import :: c_char, c_int, c_int64_t, sf_layout, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(*), dimension(..), intent(inout), asynchronous, target :: value
      integer(c_int64_t), dimension(..), intent(inout), asynchronous, target :: index
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_maxloc; without `comm`, adds it to a bundle.
    subroutine sf_plan_maxloc(plan, array, value, index, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_plan_maxloc")
      import :: c_char, c_int, c_int64_t, sf_layout, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(*), dimension(..), intent(inout), asynchronous, target :: value
      integer(c_int64_t), dimension(..), intent(inout), asynchronous, target :: index
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes a plan of sf_describe; without `comm`, adds it to a bundle.
    subroutine sf_plan_describe(plan, array, statistics, comm, keep, where, options, ierr, layout) &
      bind(c, name="sf_fortran_plan_describe")
      import :: c_char, c_int, sf_layout, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(*), dimension(..), intent(inout), asynchronous, target :: statistics
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(inout), asynchronous, target, optional :: where
      character(kind=c_char, len=*), intent(in), optional :: options
      integer(c_int), intent(out), optional :: ierr
      type(sf_layout), intent(in), optional :: layout
    end subroutine
    ! Makes all ranks agree on a bundle, that is, a plan whose reductions were added without `comm`. Collective.
    subroutine sf_bind(plan, comm, ierr) bind(c, name="sf_fortran_bind")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Runs a plan: reduces the current elements of its arrays.
    subroutine sf_run(plan, ierr) bind(c, name="sf_fortran_run")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Starts a run, which sf_wait or sf_test ends. Meanwhile the program computes, and must not use the arrays.
    subroutine sf_start(plan, ierr) bind(c, name="sf_fortran_start")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Tells how one reduction of a bundle ended in the last run. `reduction` counts from 1. If some reductions had no
    ! elements, the run is SF_EMPTY, and the results of the others are valid.
    subroutine sf_bundle_status(plan, reduction, ierr) bind(c, name="sf_fortran_bundle_status")
      import :: c_int, sf_plan
      type(sf_plan), intent(in) :: plan
      integer(c_int), intent(in) :: reduction
      integer(c_int), intent(out) :: ierr
    end subroutine
    ! Tells the cost of the last run on this rank: messages, their bytes and, if the plan is traced, the length of the
    ! longest chain of dependent messages before this rank was done.
    subroutine sf_plan_figures(plan, messages, bytes, rounds, ierr) bind(c, name="sf_fortran_plan_figures")
      import :: c_int, c_int64_t, sf_plan
      type(sf_plan), intent(in) :: plan
      integer(c_int64_t), intent(out) :: messages, bytes
      integer(c_int), intent(out) :: rounds
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Turns the tracing of a plan's runs on (on = 1) or off (on = 0).
    subroutine sf_plan_trace(plan, on, ierr) bind(c, name="sf_fortran_plan_trace")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(in) :: on
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Waits for the end of a run or of a started call, at most the given number of seconds. `done` is 1 if it has ended,
  ! else 0; then make the call again. An empty request counts as ended. If the wait is refused, the run or call
  ! continues.
  interface sf_wait
    subroutine sf_wait_plan(plan, seconds, done, ierr) bind(c, name="sf_fortran_wait")
      import :: c_double, c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      real(c_double), intent(in), optional :: seconds
      integer(c_int), intent(out), optional :: done, ierr
    end subroutine
    subroutine sf_wait_request(request, seconds, done, ierr) bind(c, name="sf_fortran_wait_request")
      import :: c_double, c_int, sf_request
      type(sf_request), intent(inout) :: request
      real(c_double), intent(in), optional :: seconds
      integer(c_int), intent(out), optional :: done, ierr
    end subroutine
  end interface

  ! Checks once whether a run or a started call has ended, and advances all calls under way.
  interface sf_test
    subroutine sf_test_plan(plan, done, ierr) bind(c, name="sf_fortran_test")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out) :: done
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine sf_test_request(request, done, ierr) bind(c, name="sf_fortran_test_request")
      import :: c_int, sf_request
      type(sf_request), intent(inout) :: request
      integer(c_int), intent(out) :: done
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Accumulators in C, which receive the state of a type(sf_accumulator). The ways to change or round them:
  integer(c_int), parameter :: added = 0, taken_away = 1, copied = 2, cleared = 0, negated = 1
  integer(c_int), parameter :: to_sum = 0, to_mean = 1, to_root = 2
  interface
    subroutine c_change(state, array, keep, weight, where, how, ierr) bind(c, name="sf_fortran_change")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: state(:)
      type(*), dimension(..), intent(in) :: array
      integer(c_int), dimension(..), intent(in), optional :: keep
      type(*), dimension(..), intent(in), optional :: weight, where
      integer(c_int), value :: how
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_unite(into, from, how, ierr) bind(c, name="sf_fortran_unite")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: into(:)
      integer(c_int64_t), allocatable, intent(in) :: from(:)
      integer(c_int), value :: how
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_merge_ranks(state, comm, ierr) bind(c, name="sf_fortran_merge_ranks")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: state(:)
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_turn(state, how, ierr) bind(c, name="sf_fortran_turn")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: state(:)
      integer(c_int), value :: how
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_compare(a, b, orders, ierr) bind(c, name="sf_fortran_compare")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: a(:), b(:)
      integer(c_int), dimension(..), intent(inout) :: orders
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_shape(state, columns, rows, has_products, ierr) bind(c, name="sf_fortran_shape")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: state(:)
      integer(c_int64_t), intent(out), optional :: columns, rows
      integer(c_int), intent(out), optional :: has_products
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_round(state, how, result, ierr) bind(c, name="sf_fortran_round")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: state(:)
      integer(c_int), value :: how
      type(*), dimension(..), intent(inout) :: result
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    function c_packed_size(state) bind(c, name="sf_fortran_packed_size") result(size)
      import :: c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: state(:)
      integer(c_int64_t) :: size
    end function
    subroutine c_pack(state, bytes, ierr) bind(c, name="sf_fortran_pack")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: state(:)
      type(*), dimension(..), intent(inout) :: bytes
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_unpack(state, bytes, ierr) bind(c, name="sf_fortran_unpack")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: state(:)
      type(*), dimension(..), intent(in) :: bytes
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Merges packed accumulators of the same shape.
    subroutine sf_merge_packed(from, into, ierr) bind(c, name="sf_fortran_merge_packed")
      import :: c_int
      type(*), dimension(..), intent(in) :: from
      type(*), dimension(..), intent(inout) :: into
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_write(state, bytes, size, ierr) bind(c, name="sf_fortran_write")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(in) :: state(:)
      type(*), dimension(..), intent(inout) :: bytes
      integer(c_int64_t), intent(out) :: size
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    subroutine c_read(state, bytes, ierr) bind(c, name="sf_fortran_read")
      import :: c_int, c_int64_t
      integer(c_int64_t), allocatable, intent(inout) :: state(:)
      type(*), dimension(..), intent(in) :: bytes
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Teams. With `comm` a team has the workers of all ranks, `workers` of them on this rank. One thread of every rank
  ! calls; MPI must be initialised with MPI_THREAD_FUNNELED at least, and worker 0 must be the thread that may call MPI.
  interface
    ! Makes a team of `workers` threads. Free it with sf_free.
    subroutine sf_team_create(team, workers, comm, ierr) bind(c, name="sf_fortran_team_create")
      import :: c_int, sf_team
      type(sf_team), intent(inout) :: team
      integer(c_int), intent(in) :: workers
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Gives one thread the group of its worker. Workers count from 0, as omp_get_thread_num does. The first reduction
    ! waits until every worker has made one.
    subroutine sf_team_member(team, worker, group, ierr) bind(c, name="sf_fortran_team_member")
      import :: c_int, sf_group, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      type(sf_group), intent(inout) :: group
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Sets the longest time, in seconds, that a call waits for other workers of this process; 0: without limit. Set it
    ! before any worker makes a call. A call that waits longer fails with SF_TRANSPORT_FAILED, and the team cannot be
    ! used any more.
    subroutine sf_team_set_timeout(team, seconds, ierr) bind(c, name="sf_fortran_team_set_timeout")
      import :: c_double, c_int, sf_team
      type(sf_team), intent(in) :: team
      real(c_double), intent(in) :: seconds
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Binds the calling thread to the worker's core. Call this function before the worker's first reduction.
    subroutine sf_team_bind(team, worker, ierr) bind(c, name="sf_fortran_team_bind")
      import :: c_int, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Layouts. Without a layout the elements have no indices, or are in rank order if the method needs an order.
  interface
    ! Makes a layout without indices, for exact, binned and plain reductions.
    subroutine sf_layout_anywhere(layout, ierr) bind(c, name="sf_fortran_layout_anywhere")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes the layout in rank order: the elements of a rank follow those of the lower ranks.
    subroutine sf_layout_rank_order(layout, ierr) bind(c, name="sf_fortran_layout_rank_order")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes the layout with one row per rank, as in MPI.
    subroutine sf_layout_row_per_rank(layout, ierr) bind(c, name="sf_fortran_layout_row_per_rank")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes a layout of intervals, one or a list: elements first(i) to last(i), counted from 1, in the order of memory.
    ! `element_count` is the number of elements of the whole job, if it is to be checked.
    subroutine sf_layout_intervals(layout, first, last, element_count, ierr) bind(c, name="sf_fortran_layout_intervals")
      import :: c_int, c_int64_t, sf_layout
      type(sf_layout), intent(inout) :: layout
      type(*), dimension(..), intent(in) :: first, last
      integer(c_int64_t), intent(in), optional :: element_count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Makes the layout of an array of one to three dimensions that is distributed over a grid of ranks by a rule. Along
    ! each dimension d the indices are cut into blocks of blocks(d); rank first(d), counted from 0, gets the first
    ! block, the next rank the next, and so on, and after the last rank comes rank 0. Without `blocks`, or if one is 0,
    ! each rank gets one block. ranks(d) is the number of ranks along a dimension; 0, for one of them: it follows from
    ! the others. Without `ranks` all ranks are along the last dimension. The first dimension varies fastest, for
    ! elements and for ranks. All ranks must give the same rule.
    subroutine sf_layout_grid(layout, extents, ranks, blocks, first, ierr) bind(c, name="sf_fortran_layout_grid")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      type(*), dimension(..), intent(in) :: extents
      type(*), dimension(..), intent(in), optional :: ranks, blocks, first
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Groups of ranks. `comm` is a communicator, or the group of a team's worker.
  interface
    ! Gives the group of a communicator. Pass it in place of the communicator; it lives as long. The first use of a
    ! communicator is collective.
    subroutine sf_group_of(comm, group, ierr) bind(c, name="sf_fortran_group_of")
      import :: c_int, sf_group
      type(*), dimension(..), intent(in) :: comm
      type(sf_group), intent(inout) :: group
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Returns this rank's number, counted from 0; -1 if `comm` is not a group.
    function sf_group_rank(comm) bind(c, name="sf_fortran_group_rank") result(rank)
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int) :: rank
    end function
    ! Returns the number of ranks; -1 if `comm` is not a group.
    function sf_group_size(comm) bind(c, name="sf_fortran_group_size") result(size)
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int) :: size
    end function
    function c_group_transport(comm) bind(c, name="sf_fortran_group_transport") result(text)
      import :: c_ptr
      type(*), dimension(..), intent(in) :: comm
      type(c_ptr) :: text
    end function
    ! Starts (on = 1) or ends (0) a thread that advances calls under way while the program computes. SF_UNSUPPORTED
    ! unless MPI was initialised with MPI_THREAD_MULTIPLE. Local.
    subroutine sf_progress_thread(comm, on, ierr) bind(c, name="sf_fortran_progress_thread")
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(in) :: on
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Returns the number of workers of a team on this process; -1 if there is no team.
    function sf_team_size(team) bind(c, name="sf_fortran_team_size") result(size)
      import :: c_int, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int) :: size
    end function
    ! Allocates `bytes` bytes of memory, all zero, in which ranks on one node reduce in place. Give the memory a shape
    ! with c_f_pointer, and free it with sf_free. Returns an sf_status.
    function sf_allocate(bytes, memory) bind(c, name="sf_allocate") result(status)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(inout) :: memory
      integer(c_int) :: status
    end function
    ! Returns the number of entries of a list of names, such as SF_LIST_SCHEDULES; 0 if there is no such list.
    function sf_list_size(list) bind(c, name="sf_fortran_list_size") result(size)
      import :: c_int
      integer(c_int), intent(in) :: list
      integer(c_int) :: size
    end function
    ! Returns the number, counted from 1, of the entry with a name.
    subroutine sf_list_find(list, name, entry, ierr) bind(c, name="sf_fortran_list_find")
      import :: c_char, c_int
      integer(c_int), intent(in) :: list
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(inout) :: entry
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    function c_list_name(list, entry) bind(c, name="sf_fortran_list_name") result(text)
      import :: c_int, c_ptr
      integer(c_int), intent(in) :: list, entry
      type(c_ptr) :: text
    end function
    function c_list_text(list, entry, heading) bind(c, name="sf_fortran_list_text") result(text)
      import :: c_char, c_int, c_ptr
      integer(c_int), intent(in) :: list, entry
      character(kind=c_char, len=*), intent(in) :: heading
      type(c_ptr) :: text
    end function
    function c_plan_text(plan) bind(c, name="sf_fortran_plan_text") result(text)
      import :: c_ptr, sf_plan
      type(sf_plan), intent(in) :: plan
      type(c_ptr) :: text
    end function
    function c_plan_schedule(plan) bind(c, name="sf_fortran_plan_schedule") result(text)
      import :: c_ptr, sf_plan
      type(sf_plan), intent(in) :: plan
      type(c_ptr) :: text
    end function
    function c_mpi_library() bind(c, name="sf_mpi_library") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function
  end interface

  ! Frees a plan, an accumulator, a team, a layout, or memory of sf_allocate, and leaves the variable empty. Does
  ! nothing for an empty variable, or a copy of a freed one. If the call of a request has not ended, it continues and
  ! uses its arrays; its end is not reported.
  interface sf_free
    subroutine sf_free_plan(plan) bind(c, name="sf_fortran_free_plan")
      import :: sf_plan
      type(sf_plan), intent(inout) :: plan
    end subroutine
    subroutine sf_free_team(team) bind(c, name="sf_fortran_free_team")
      import :: sf_team
      type(sf_team), intent(inout) :: team
    end subroutine
    subroutine sf_free_request(request) bind(c, name="sf_fortran_free_request")
      import :: sf_request
      type(sf_request), intent(inout) :: request
    end subroutine
    subroutine sf_free_layout(layout) bind(c, name="sf_fortran_free_layout")
      import :: sf_layout
      type(sf_layout), intent(inout) :: layout
    end subroutine
    subroutine sf_free_memory(memory) bind(c, name="sf_free")
      import :: c_ptr
      type(c_ptr), value :: memory
    end subroutine
    module procedure free_accumulator
  end interface

  interface
    function c_error_text() bind(c, name="sf_fortran_error_text") result(text)
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

  ! Adds all elements, of kind 8 or 4, to one sum, or to one sum for every kept index. With `weight` products are added;
  ! an accumulator takes either only products or only elements. A mask must not have a kept dimension.
  subroutine sf_add(accumulator, array, keep, weight, where, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: array
    integer(c_int), dimension(..), intent(in), optional :: keep
    type(*), dimension(..), intent(in), optional :: weight, where
    integer(c_int), intent(out), optional :: ierr
    call c_change(accumulator%state, array, keep, weight, where, added, ierr)
  end subroutine
  ! Subtracts elements, as if they had never been added.
  subroutine sf_subtract(accumulator, array, keep, weight, where, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: array
    integer(c_int), dimension(..), intent(in), optional :: keep
    type(*), dimension(..), intent(in), optional :: weight, where
    integer(c_int), intent(out), optional :: ierr
    call c_change(accumulator%state, array, keep, weight, where, taken_away, ierr)
  end subroutine
  ! Adds the sums of `from` to `into`.
  subroutine sf_merge(into, from, ierr)
    type(sf_accumulator), intent(inout) :: into
    type(sf_accumulator), intent(in) :: from
    integer(c_int), intent(out), optional :: ierr
    call c_unite(into%state, from%state, added, ierr)
  end subroutine
  ! Subtracts the sums of `from` from `accumulator`.
  subroutine sf_unmerge(accumulator, from, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(sf_accumulator), intent(in) :: from
    integer(c_int), intent(out), optional :: ierr
    call c_unite(accumulator%state, from%state, taken_away, ierr)
  end subroutine
  ! Replaces the accumulator of every rank by the sum of the accumulators of all ranks. Collective. On every rank
  ! something must have been added before, for instance an array without elements.
  subroutine sf_merge_ranks(accumulator, comm, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierr
    call c_merge_ranks(accumulator%state, comm, ierr)
  end subroutine
  ! Resets an accumulator to no elements; the shape stays.
  subroutine sf_clear(accumulator, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    integer(c_int), intent(out), optional :: ierr
    call c_turn(accumulator%state, cleared, ierr)
  end subroutine
  ! Changes the sign of the sums and of the number of rows.
  subroutine sf_negate(accumulator, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    integer(c_int), intent(out), optional :: ierr
    call c_turn(accumulator%state, negated, ierr)
  end subroutine
  ! Copies `from`, which must not be empty, into `to`, which is empty or has the same shape. In all other respects
  ! sf_copy does the same as `=`.
  subroutine sf_copy(from, to, ierr)
    type(sf_accumulator), intent(in) :: from
    type(sf_accumulator), intent(inout) :: to
    integer(c_int), intent(out), optional :: ierr
    call c_unite(to%state, from%state, copied, ierr)
  end subroutine
  ! Compares the exact sums of two accumulators: -1, 0 or 1 for each pair of sums (less, equal, greater); 2 if one is
  ! NaN.
  subroutine sf_compare(a, b, orders, ierr)
    type(sf_accumulator), intent(in) :: a, b
    integer(c_int), dimension(..), intent(inout) :: orders
    integer(c_int), intent(out), optional :: ierr
    call c_compare(a%state, b%state, orders, ierr)
  end subroutine
  ! Tells the number of sums, the number of rows added, and whether the sums are sums of products (1) or not (0).
  subroutine sf_shape(accumulator, columns, rows, has_products, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    integer(c_int64_t), intent(out), optional :: columns, rows
    integer(c_int), intent(out), optional :: has_products
    integer(c_int), intent(out), optional :: ierr
    call c_shape(accumulator%state, columns, rows, has_products, ierr)
  end subroutine
  ! Rounds each sum once and writes it to a number, or to an array with one element for every kept index. The
  ! accumulator is unchanged.
  subroutine sf_total(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_sum, result, ierr)
  end subroutine
  ! Writes the sums divided by the number of rows, rounded once, in the same way.
  subroutine sf_average(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_mean, result, ierr)
  end subroutine
  ! Writes the square roots of sums of products, rounded once, to a number or an array, as sf_total does.
  subroutine sf_root(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_root, result, ierr)
  end subroutine
  ! Returns the size of a packed accumulator in bytes, equal for all accumulators of a shape. 0 for an empty
  ! accumulator.
  function sf_packed_size(accumulator) result(size)
    type(sf_accumulator), intent(in) :: accumulator
    integer(c_int64_t) :: size
    size = c_packed_size(accumulator%state)
  end function
  ! Writes the packed accumulator, for messages: sf_packed_size bytes. sf_merge_packed merges packed accumulators.
  subroutine sf_pack(accumulator, bytes, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: bytes
    integer(c_int), intent(out), optional :: ierr
    call c_pack(accumulator%state, bytes, ierr)
  end subroutine
  ! Replaces the accumulator by a packed accumulator of the same shape.
  subroutine sf_unpack(accumulator, bytes, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    call c_unpack(accumulator%state, bytes, ierr)
  end subroutine
  ! Writes the bytes for a restart file, which are the same on every machine, to an array of any type. `size` receives
  ! their number; the first `size` bytes of the array are used. If the array is too small, `ierr` is
  ! SF_INVALID_ARGUMENT.
  subroutine sf_write(accumulator, bytes, size, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: bytes
    integer(c_int64_t), intent(out) :: size
    integer(c_int), intent(out), optional :: ierr
    call c_write(accumulator%state, bytes, size, ierr)
  end subroutine
  ! Reads the bytes that sf_write wrote, exactly as many, into an empty accumulator.
  subroutine sf_read(accumulator, bytes, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    call c_read(accumulator%state, bytes, ierr)
  end subroutine
  subroutine free_accumulator(accumulator)
    type(sf_accumulator), intent(inout) :: accumulator
    if (allocated(accumulator%state)) deallocate (accumulator%state)
  end subroutine

  ! Returns the text of this thread's last failing call: "problem (why), suggestion".
  function sf_error_message() result(message)
    character(len=:), allocatable :: message
    message = text_at(c_error_text())
  end function

  ! Returns the version of the library as major.minor.patch.
  function sf_version_text() result(version)
    character(len=:), allocatable :: version
    version = text_at(c_version())
  end function

  ! Returns the name and version of the MPI library.
  function sf_mpi_library() result(name)
    character(len=:), allocatable :: name
    name = text_at(c_mpi_library())
  end function

  ! Returns how bytes move between the ranks of a group: 'mpi', 'shared', 'shared+mpi' or 'rma'.
  function sf_group_transport(comm) result(name)
    type(*), dimension(..), intent(in) :: comm
    character(len=:), allocatable :: name
    name = text_at(c_group_transport(comm))
  end function

  ! Returns the name of an entry of a list. Entries count from 1.
  function sf_list_name(list, entry) result(name)
    integer(c_int), intent(in) :: list, entry
    character(len=:), allocatable :: name
    name = text_at(c_list_name(list, entry))
  end function
  ! Returns the text about an entry of a list under a heading. Every entry has the heading 'about'; sf_list_text
  ! (steadfold_names.h) names the others.
  function sf_list_text(list, entry, heading) result(text)
    integer(c_int), intent(in) :: list, entry
    character(kind=c_char, len=*), intent(in) :: heading
    character(len=:), allocatable :: text
    text = text_at(c_list_text(list, entry, heading))
  end function

  ! Returns a readable description of what the ranks agreed on for a plan, a few lines of text. The text is empty if
  ! there is no plan.
  function sf_plan_text(plan) result(text)
    type(sf_plan), intent(in) :: plan
    character(len=:), allocatable :: text
    text = text_at(c_plan_text(plan))
  end function
  ! Returns the name of the schedule in use.
  function sf_plan_schedule(plan) result(name)
    type(sf_plan), intent(in) :: plan
    character(len=:), allocatable :: name
    name = text_at(c_plan_schedule(plan))
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
