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
! This file is installed as source: compile it with the compiler of your program, and link steadfold_fortran. Most of the
! procedures are functions of C, which read the compiler's array descriptors. An included file has their interfaces.
module steadfold
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_double_complex, c_float, c_float_complex, c_funptr, c_int, &
                                         c_int32_t, c_int64_t, c_ptr, c_size_t, c_f_pointer
  implicit none
  private
  public :: sf_accumulator, sf_add, sf_subtract, sf_merge, sf_merge_ranks, sf_total, sf_average, sf_write, sf_read, &
            sf_unmerge, sf_clear, sf_negate, sf_copy, sf_compare, sf_shape, sf_root, sf_packed_size, sf_pack, sf_unpack
  public :: sf_plan, sf_team, sf_group, sf_request, sf_layout
  public :: sf_list_name, sf_list_text, sf_error_message, sf_version_text, sf_mpi_library

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

  include "steadfold_operations.inc" ! constants, and the interfaces of sf_sum, sf_dot, sf_start_sum, sf_plan_sum, ...

  public :: sf_statistics, sf_operator, sf_group_transport, sf_plan_text, sf_plan_schedule

  ! The ways to change or round accumulators.
  integer(c_int), parameter :: added = 0, taken_away = 1, copied = 2, cleared = 0, negated = 1
  integer(c_int), parameter :: to_sum = 0, to_mean = 1, to_root = 2

  interface sf_free
    module procedure free_accumulator
  end interface

  interface
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
