! Steadfold from Fortran: reductions that give the same bits for every number of ranks, every distribution, every
! algorithm and MPI library.
!
! Arrays are of any rank and shape: whole ones, sections with any strides, with halos, scalars. They are read where they
! stand. `comm` is an MPI communicator, of mpi_f08 or an integer; every rank of it calls, and gets the result. Without
! `comm` a call is this process's own. Types: real and complex of 4 and 8 bytes, integers of 4 and 8 bytes; masks are
! logicals of 1 to 8 bytes, labels integers.
!
!   array     the elements of this rank; it is only read
!   x         the first factors; it is only read
!   y         the second factors, of the type and shape of `x`; it is only read
!   result    the variable that gets the result
!   comm      the communicator, or a type(sf_group): every rank of it calls. Without it the call is this process's own
!   where     a mask: elements that it leaves out are never combined, whatever they are. Its dimensions are the first
!             ones of the array; a dimension that it lacks, or that has one index, is repeated
!   weight    factors of the elements, in products that are not rounded. Of the array's type; repeated as a mask is
!   keep      the dimensions that the result has, as `dim` of the intrinsic sum has the one that it has not: results are
!             in the order of these dimensions. Without `keep` there is one result
!   options   text such as 'method=binned, bins=4, threads=2': names and values of sf_call_set (steadfold_names.h)
!   layout    which elements of the whole job this rank has, a type(sf_layout); methods that keep no order need none
!   ierr      0, or an sf_status; sf_error_message() has the text. Without `ierr` a failure prints the text, and calls
!             the communicator's error handler, which as a rule ends the program
!
! This file is installed as source: compile it with the compiler of your program, link steadfold_fortran. It has little
! but interfaces of functions in C, which read the compiler's array descriptors.
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

  ! A reduction that all ranks have agreed on, to be run often: made by sf_plan_sum and its like, freed by sf_free. A
  ! copy made by `=` is the same plan; once one of them is freed, the use of any is an error.
  type, bind(c) :: sf_plan
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! Exact sums that a program keeps, adds to, and rounds when it wants to: in any order, on any thread and rank the same.
  ! Made when something is first added. A value as numbers are: `=` copies the sums, also those of arrays and of types
  ! that have accumulators among their components, and what a procedure declares is freed with its other variables. All
  ! calls but sf_merge_ranks are this process's own; one thread at a time changes an accumulator.
  type :: sf_accumulator
    private
    integer(c_int64_t), allocatable :: state(:)
  end type

  ! Threads that reduce together, of this process or of all ranks. A copy made by `=` is the same team; once one of them
  ! is freed, the use of any is an error.
  type, bind(c) :: sf_team
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! One thread's place in a team: it stands wherever a communicator does. It lasts as long as the team; its use after
  ! that is an error.
  type, bind(c) :: sf_group
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! A call that was started and has not ended. A copy made by `=` is the same call; once one of them has heard its end,
  ! the use of another is an error.
  type, bind(c) :: sf_request
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! Which elements of the whole job a rank has; made by sf_layout_intervals and its like, freed by sf_free. It never
  ! changes. A copy made by `=` is the same layout; once one of them is freed, the use of any is an error.
  type, bind(c) :: sf_layout
    private
    integer(c_int64_t) :: handle = 0
  end type

  ! What sf_describe finds: each number rounded once. NaN is what has too few elements; all numbers if an element is NaN.
  ! Indices count from 1, as those of sf_minloc; 0 without elements.
  type, bind(c) :: sf_statistics
    integer(c_int64_t) :: count
    real(c_double) :: min
    integer(c_int64_t) :: min_index
    real(c_double) :: max
    integer(c_int64_t) :: max_index
    real(c_double) :: mean, variance, sample_variance, deviation, sample_deviation
  end type

  interface
    ! The sum of all elements, or one for every index of the dimensions in `keep`, by the method `exact` for real
    ! numbers: correctly rounded. `result` has the array's type, or a wider one, and the shape of what is kept.
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

    ! Sums of groups: `labels`, of the array's shape or repeated as a mask is (but one number is not), name the group of
    ! every element, from 1 to the last extent of `result`. Those with a label below 1 belong to none. `result` has the
    ! shape of what is kept and then the groups.
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

    ! Any operation by its name (those of SF_LIST_OPERATIONS that make numbers: 'product', 'abs_sum', 'sum_squares',
    ! 'dot', ...), with all that sf_sum takes. `weight` are the other factors; with them 'sum' is a sum of products, and
    ! 'mean' a weighted one.
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
    ! Any operation by its name, as sf_combine, over groups that `labels` name, as in sf_sum_by.
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
    ! The least value, and the lowest index that has it: that of the element in the whole job, counted from 1 in
    ! Fortran's order of elements, on from rank to rank or as the layout says. A NaN wins. With `keep` both are arrays.
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
    ! The greatest value, and the lowest index that has it, as in sf_minloc.
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
    ! Count, extremes, mean, variances and deviations in one pass: into one type(sf_statistics), or an array of them.
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

  ! MPI's shape: combines the elements of all ranks place by place, as MPI_Allreduce in place. `operation` is a name such
  ! as 'sum', 'product', 'min', 'max', or c_funloc(op), for elements of any type without allocatable parts. The bits
  ! depend on the number of ranks, and on nothing else.
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
  ! MPI's shape, as sf_allreduce: rank r gets what the `values` of ranks 0 to r give.
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
  ! MPI's shape, as sf_allreduce: rank r gets what the `values` of the ranks below r give. Rank 0 gets nothing: its `values`
  ! stay.
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

  ! MPI's shape: combines the elements of all ranks place by place, as sf_allreduce. Rank r gets those of its block:
  ! blocks(r + 1) of them, after those of the lower ranks. Without `blocks` all ranks get equally many.
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
    ! Combines elements of any type without allocatable parts by an operator of your own, in the binary tree over all
    ! elements, those of lower ranks first: operator = c_funloc(multiply), a bind(c) function as sf_operator. `result` is
    ! of the same type. `context` is what the operator gets.
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
    ! result(i) = left(i) op right(i) for the `count` elements at these addresses, left before right; 0, or any other
    ! number for failure. `result` may be the memory of `left`.
    function sf_operator(left, right, result, count, context) bind(c) result(failed)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: left, right, result, context
      integer(c_size_t), value :: count
      integer(c_int) :: failed
    end function
  end interface

  include "steadfold_operations.inc" ! constants, and reductions whose results are values: sf_dot, sf_norm2, sf_min, ...

  ! The variance: the sum of squared distances from the mean, divided by the number of elements less `ddof`, 0 or 1
  ! (0 if it is not given); rounded once. Too few elements, or a NaN or infinity among them: NaN.
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

  ! Started calls go on while the program computes, and sf_wait or sf_test end them. Every rank starts the same calls in
  ! the same order; each may end them in any. A request that has ended is empty, and may be used again.
  !
  ! Arrays, masks and results are used until the call has ended. They are variables that stay where they are: expressions,
  ! constants, sections with vector subscripts, and arguments with intent(in), which may be any of these, do not compile.
  ! Declare them `asynchronous` where the call is started and where it ends. What is wrong with the arguments on any rank
  ! is heard by sf_wait, on all.
  interface
    ! Starts what sf_sum does.
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
    ! Starts what sf_sum_by does.
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
    ! Starts what sf_combine does.
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
    ! Starts what sf_combine_by does.
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
    ! Starts what sf_dot does.
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
    ! Starts what sf_minloc does.
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
    ! Starts what sf_maxloc does.
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
    ! Starts what sf_describe does.
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
    ! Starts what sf_reduce does.
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
    ! A barrier: done on no rank before every rank has called, or started, it.
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
    ! Which elements, first to last, this rank has if those of rank 0, `rows` of them, come first, then those of rank 1,
    ! and so on; and how many there are in all.
    subroutine sf_rank_order(rows, comm, first, last, element_count, ierr) bind(c, name="sf_fortran_rank_order")
      import :: c_int, c_int64_t
      integer(c_int64_t), intent(in) :: rows
      type(*), dimension(..), intent(in) :: comm
      integer(c_int64_t), intent(inout) :: first, last
      integer(c_int64_t), intent(inout), optional :: element_count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Starts sf_rank_order: its results are there when the request has ended.
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
    ! sf_bind, started: sf_wait for the request, then run the plan.
    subroutine sf_start_bind(plan, comm, request, ierr) bind(c, name="sf_fortran_start_bind")
      import :: c_int, sf_plan, sf_request
      type(sf_plan), intent(inout) :: plan
      type(*), dimension(..), intent(in) :: comm
      type(sf_request), intent(inout) :: request
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface
  ! Starts what sf_allreduce does.
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
  ! Starts what sf_scan does.
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
  ! Starts what sf_exscan does.
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
  ! Starts what sf_reduce_scatter does.
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

  ! Plans. Collective, as the calls that have the same arguments. What a plan is made with stays where it is until the
  ! plan is freed: variables with the attribute `target`. Expressions, such as a mask `f > 0`, and what else a compiler
  ! would copy do not compile: arrays are intent(inout) for that alone, as those of calls that are started.
  ! Without `comm` nothing is agreed on yet: the reduction is added to the plan, which becomes a bundle. sf_bind makes all
  ! ranks agree on it; its reductions share every message.
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
    ! Makes all ranks agree on a bundle: a plan whose reductions were given without `comm`. Collective.
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
    ! Starts a run, which sf_wait or sf_test end: the program computes meanwhile, and leaves the arrays alone.
    subroutine sf_start(plan, ierr) bind(c, name="sf_fortran_start")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! How reduction number `reduction` of a bundle, counted from 1, ended in the last run: where some had no elements, the
    ! run is SF_EMPTY, and the results of the others are valid.
    subroutine sf_bundle_status(plan, reduction, ierr) bind(c, name="sf_fortran_bundle_status")
      import :: c_int, sf_plan
      type(sf_plan), intent(in) :: plan
      integer(c_int), intent(in) :: reduction
      integer(c_int), intent(out) :: ierr
    end subroutine
    ! What the last run cost this rank: messages, their bytes and, of a plan that is traced, the messages on the longest
    ! chain before this rank was done.
    subroutine sf_plan_figures(plan, messages, bytes, rounds, ierr) bind(c, name="sf_fortran_plan_figures")
      import :: c_int, c_int64_t, sf_plan
      type(sf_plan), intent(in) :: plan
      integer(c_int64_t), intent(out) :: messages, bytes
      integer(c_int), intent(out) :: rounds
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Traces a plan's runs (on = 1), or does so no more (0).
    subroutine sf_plan_trace(plan, on, ierr) bind(c, name="sf_fortran_plan_trace")
      import :: c_int, sf_plan
      type(sf_plan), intent(inout) :: plan
      integer(c_int), intent(in) :: on
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Waits for the end of a run, or of a call, or at most that many seconds: then `done` is 1 if it has ended, else 0, and
  ! the call is made again. An empty request has ended. Where this is refused, what is under way goes on.
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

  ! Looks once, and moves on all that is under way.
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

  ! Accumulators in C, which get what a type(sf_accumulator) holds. How they are changed or rounded:
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
    ! Merges accumulators that are packed, of one shape.
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

  ! Teams. With `comm` the team has the workers of all ranks, `workers` on this one: one thread of every rank calls, MPI
  ! was initialised with MPI_THREAD_FUNNELED at least, and worker 0 is the thread that may call MPI.
  interface
    ! Makes a team of `workers` threads; sf_free gives it back.
    subroutine sf_team_create(team, workers, comm, ierr) bind(c, name="sf_fortran_team_create")
      import :: c_int, sf_team
      type(sf_team), intent(inout) :: team
      integer(c_int), intent(in) :: workers
      type(*), dimension(..), intent(in), optional :: comm
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The place of worker 0, 1, ..., as omp_get_thread_num counts them, for one thread. The first reduction waits until
    ! every worker makes one.
    subroutine sf_team_member(team, worker, group, ierr) bind(c, name="sf_fortran_team_member")
      import :: c_int, sf_group, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      type(sf_group), intent(inout) :: group
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The longest that a call may wait for other workers of this process, in seconds; 0: for ever. To be set before any
    ! worker makes a call: one that waits longer fails (SF_TRANSPORT_FAILED), and the team is of no more use.
    subroutine sf_team_set_timeout(team, seconds, ierr) bind(c, name="sf_fortran_team_set_timeout")
      import :: c_double, c_int, sf_team
      type(sf_team), intent(in) :: team
      real(c_double), intent(in) :: seconds
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Binds the calling thread to the worker's core; before its first call.
    subroutine sf_team_bind(team, worker, ierr) bind(c, name="sf_fortran_team_bind")
      import :: c_int, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int), intent(in) :: worker
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Layouts. Without one elements are anywhere, or in rank order where the method needs an order.
  interface
    ! The indices do not matter: for exact, binned and plain reductions.
    subroutine sf_layout_anywhere(layout, ierr) bind(c, name="sf_fortran_layout_anywhere")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! The elements of a rank come after those of the lower ranks.
    subroutine sf_layout_rank_order(layout, ierr) bind(c, name="sf_fortran_layout_rank_order")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! One row per rank, as in MPI.
    subroutine sf_layout_row_per_rank(layout, ierr) bind(c, name="sf_fortran_layout_row_per_rank")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! Elements first(i) to last(i), counted from 1, in the order of memory: one interval, or a list. `element_count`: how
    ! many the whole job has, if that is to be checked.
    subroutine sf_layout_intervals(layout, first, last, element_count, ierr) bind(c, name="sf_fortran_layout_intervals")
      import :: c_int, c_int64_t, sf_layout
      type(sf_layout), intent(inout) :: layout
      type(*), dimension(..), intent(in) :: first, last
      integer(c_int64_t), intent(in), optional :: element_count
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! A rule: an array of one to three dimensions, whose indices are dealt to the ranks along each dimension in blocks of
    ! blocks(d), round and round, from rank first(d), counted from 0, on. Without `blocks` (or where one is 0) each rank
    ! gets one block. ranks(d) are how many ranks there are along a dimension; 0, for one of them: as many as the others
    ! leave. Without `ranks` all are along the last dimension. The first dimension is the fastest, of elements and of
    ! ranks. The same on all ranks.
    subroutine sf_layout_grid(layout, extents, ranks, blocks, first, ierr) bind(c, name="sf_fortran_layout_grid")
      import :: c_int, sf_layout
      type(sf_layout), intent(inout) :: layout
      type(*), dimension(..), intent(in) :: extents
      type(*), dimension(..), intent(in), optional :: ranks, blocks, first
      integer(c_int), intent(out), optional :: ierr
    end subroutine
  end interface

  ! Groups of ranks: `comm` is a communicator, or the group of a team's worker.
  interface
    ! A communicator as a group: it stands wherever the communicator does, and lives as long. The first use of a
    ! communicator is collective.
    subroutine sf_group_of(comm, group, ierr) bind(c, name="sf_fortran_group_of")
      import :: c_int, sf_group
      type(*), dimension(..), intent(in) :: comm
      type(sf_group), intent(inout) :: group
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! This rank's number, from 0 on; -1 of what is no group.
    function sf_group_rank(comm) bind(c, name="sf_fortran_group_rank") result(rank)
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int) :: rank
    end function
    ! How many ranks there are; -1 of what is no group.
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
    ! Starts (on = 1) or ends (0) a thread that moves on what is under way while the program computes. SF_UNSUPPORTED
    ! unless MPI was initialised with MPI_THREAD_MULTIPLE. Local.
    subroutine sf_progress_thread(comm, on, ierr) bind(c, name="sf_fortran_progress_thread")
      import :: c_int
      type(*), dimension(..), intent(in) :: comm
      integer(c_int), intent(in) :: on
      integer(c_int), intent(out), optional :: ierr
    end subroutine
    ! How many workers a team has on this process; -1 of no team.
    function sf_team_size(team) bind(c, name="sf_fortran_team_size") result(size)
      import :: c_int, sf_team
      type(sf_team), intent(in) :: team
      integer(c_int) :: size
    end function
    ! `bytes` of memory, all zero, that ranks on one node reduce in place: give it a shape by c_f_pointer, and back by
    ! sf_free. Returns an sf_status.
    function sf_allocate(bytes, memory) bind(c, name="sf_allocate") result(status)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(inout) :: memory
      integer(c_int) :: status
    end function
    ! How many entries a list has: one of SF_LIST_SCHEDULES and its like, of what the library knows by name; 0 if there is
    ! no such list.
    function sf_list_size(list) bind(c, name="sf_fortran_list_size") result(size)
      import :: c_int
      integer(c_int), intent(in) :: list
      integer(c_int) :: size
    end function
    ! The number of the entry of that name, counted from 1.
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

  ! Gives back what a plan, an accumulator, a team, a layout or memory of sf_allocate holds, and leaves it empty. Nothing
  ! happens to an empty one, or to a copy of what was freed. The call of a request that has not ended goes on, and uses
  ! its arrays; nobody hears its end.
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

  ! Adds all elements, doubles or floats, to one sum, or to one for every index kept. With `weight` products are added,
  ! from the first addition on or never. A mask has none of the dimensions that are kept.
  subroutine sf_add(accumulator, array, keep, weight, where, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: array
    integer(c_int), dimension(..), intent(in), optional :: keep
    type(*), dimension(..), intent(in), optional :: weight, where
    integer(c_int), intent(out), optional :: ierr
    call c_change(accumulator%state, array, keep, weight, where, added, ierr)
  end subroutine
  ! As if it had never been added.
  subroutine sf_subtract(accumulator, array, keep, weight, where, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: array
    integer(c_int), dimension(..), intent(in), optional :: keep
    type(*), dimension(..), intent(in), optional :: weight, where
    integer(c_int), intent(out), optional :: ierr
    call c_change(accumulator%state, array, keep, weight, where, taken_away, ierr)
  end subroutine
  ! Adds to `into` all that was added to `from`.
  subroutine sf_merge(into, from, ierr)
    type(sf_accumulator), intent(inout) :: into
    type(sf_accumulator), intent(in) :: from
    integer(c_int), intent(out), optional :: ierr
    call c_unite(into%state, from%state, added, ierr)
  end subroutine
  ! Takes from `accumulator` all that was added to `from`.
  subroutine sf_unmerge(accumulator, from, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(sf_accumulator), intent(in) :: from
    integer(c_int), intent(out), optional :: ierr
    call c_unite(accumulator%state, from%state, taken_away, ierr)
  end subroutine
  ! Makes the accumulator of every rank the sum of those of all ranks. Collective. On every rank something has been
  ! added, an array of no elements perhaps.
  subroutine sf_merge_ranks(accumulator, comm, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: comm
    integer(c_int), intent(out), optional :: ierr
    call c_merge_ranks(accumulator%state, comm, ierr)
  end subroutine
  ! Makes it one of nothing, of the same shape.
  subroutine sf_clear(accumulator, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    integer(c_int), intent(out), optional :: ierr
    call c_turn(accumulator%state, cleared, ierr)
  end subroutine
  ! Changes the sign of the sums, and of the number of rows.
  subroutine sf_negate(accumulator, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    integer(c_int), intent(out), optional :: ierr
    call c_turn(accumulator%state, negated, ierr)
  end subroutine
  ! Makes `to` equal to `from`, which is not empty; `to` is empty or of the same shape. Else as `=`.
  subroutine sf_copy(from, to, ierr)
    type(sf_accumulator), intent(in) :: from
    type(sf_accumulator), intent(inout) :: to
    integer(c_int), intent(out), optional :: ierr
    call c_unite(to%state, from%state, copied, ierr)
  end subroutine
  ! How the sums of two accumulators stand to each other, before any rounding: -1, 0 or 1 for each; 2 with a NaN.
  subroutine sf_compare(a, b, orders, ierr)
    type(sf_accumulator), intent(in) :: a, b
    integer(c_int), dimension(..), intent(inout) :: orders
    integer(c_int), intent(out), optional :: ierr
    call c_compare(a%state, b%state, orders, ierr)
  end subroutine
  ! How many sums there are, how many rows were added, and whether they are products (1) or not (0).
  subroutine sf_shape(accumulator, columns, rows, has_products, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    integer(c_int64_t), intent(out), optional :: columns, rows
    integer(c_int), intent(out), optional :: has_products
    integer(c_int), intent(out), optional :: ierr
    call c_shape(accumulator%state, columns, rows, has_products, ierr)
  end subroutine
  ! The sums, each rounded once: into one number, or into an array of one for every index kept. The accumulator stays.
  subroutine sf_total(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_sum, result, ierr)
  end subroutine
  ! The sums divided by the number of rows added, likewise.
  subroutine sf_average(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_mean, result, ierr)
  end subroutine
  ! The roots of the sums, of accumulators of products: into one number or an array, as sf_total.
  subroutine sf_root(accumulator, result, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: result
    integer(c_int), intent(out), optional :: ierr
    call c_round(accumulator%state, to_root, result, ierr)
  end subroutine
  ! How many bytes a packed accumulator takes: as many for all of a shape. 0 of an empty one.
  function sf_packed_size(accumulator) result(size)
    type(sf_accumulator), intent(in) :: accumulator
    integer(c_int64_t) :: size
    size = c_packed_size(accumulator%state)
  end function
  ! Bytes for messages, sf_packed_size of them. What is packed can be merged as it is, by sf_merge_packed.
  subroutine sf_pack(accumulator, bytes, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: bytes
    integer(c_int), intent(out), optional :: ierr
    call c_pack(accumulator%state, bytes, ierr)
  end subroutine
  ! Makes the accumulator what bytes say that were packed from one of its shape.
  subroutine sf_unpack(accumulator, bytes, ierr)
    type(sf_accumulator), intent(inout) :: accumulator
    type(*), dimension(..), intent(in) :: bytes
    integer(c_int), intent(out), optional :: ierr
    call c_unpack(accumulator%state, bytes, ierr)
  end subroutine
  ! Bytes for a restart file, the same on every machine: into an array of any type, whose first `size` bytes they take.
  ! If they are more than it has, `ierr` is SF_INVALID_ARGUMENT, and `size` says how many there are.
  subroutine sf_write(accumulator, bytes, size, ierr)
    type(sf_accumulator), intent(in) :: accumulator
    type(*), dimension(..), intent(inout) :: bytes
    integer(c_int64_t), intent(out) :: size
    integer(c_int), intent(out), optional :: ierr
    call c_write(accumulator%state, bytes, size, ierr)
  end subroutine
  ! Makes the accumulator, an empty one, of exactly these bytes.
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

  ! The name and version of the MPI library.
  function sf_mpi_library() result(name)
    character(len=:), allocatable :: name
    name = text_at(c_mpi_library())
  end function

  ! How bytes move between the ranks of a group: 'mpi', 'shared', 'shared+mpi' or 'rma'.
  function sf_group_transport(comm) result(name)
    type(*), dimension(..), intent(in) :: comm
    character(len=:), allocatable :: name
    name = text_at(c_group_transport(comm))
  end function

  ! The name of a list's entry, and what there is to know of it: heading = 'about' is there for all, others are those of
  ! sf_list_text (steadfold_names.h).
  function sf_list_name(list, entry) result(name)
    integer(c_int), intent(in) :: list, entry
    character(len=:), allocatable :: name
    name = text_at(c_list_name(list, entry))
  end function
  ! What an entry of a list is, in words.
  function sf_list_text(list, entry, heading) result(text)
    integer(c_int), intent(in) :: list, entry
    character(kind=c_char, len=*), intent(in) :: heading
    character(len=:), allocatable :: text
    text = text_at(c_list_text(list, entry, heading))
  end function

  ! What was agreed for a plan, in a few lines, and its schedule. No text without a plan.
  function sf_plan_text(plan) result(text)
    type(sf_plan), intent(in) :: plan
    character(len=:), allocatable :: text
    text = text_at(c_plan_text(plan))
  end function
  ! The name of the schedule in force.
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
