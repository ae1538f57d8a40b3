! Steadfold as a replacement of the reproducing sums of MOM_coms (MOM6, SIS2): the same procedures with the same
! arguments. Change `use MOM_coms, only : reproducing_sum` to `use steadfold_mom_coms, only : reproducing_sum`, and
! leave all other uses of MOM_coms. docs/from_shr_reprosum.md describes the differences.
!
! Sums are the correctly rounded values of the exact sums, for any distribution and number of ranks. An EFP_type is the
! exact sum itself, of any doubles, so it cannot run out of precision. Compile this file after steadfold.f90.
module steadfold_mom_coms
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, r8 => real64
  use mpi_f08, only: MPI_Abort, MPI_Allreduce, MPI_Comm, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION, &
                     MPI_IN_PLACE, MPI_SUM
  use steadfold, only: sf_error_message, sf_reduce, sf_sum
  implicit none
  private
  public :: set_sum_comm
  public :: reproducing_sum, reproducing_sum_EFP, EFP_sum_across_PEs, EFP_list_sum_across_PEs
  public :: EFP_type, EFP_plus, EFP_minus, EFP_to_real, real_to_EFP, EFP_real_diff
  public :: operator(+), operator(-), assignment(=)
  public :: query_EFP_overflow_error, reset_EFP_overflow_error

  ! Computes the sum of all elements of a field; for three dimensions also the sums of its layers.
  interface reproducing_sum
    procedure :: reproducing_sum_2d, reproducing_sum_3d
  end interface
  ! Computes the sum of all elements of a field of two dimensions, as an exact sum to which other sums can be added.
  interface reproducing_sum_EFP
    procedure :: reproducing_EFP_sum_2d
  end interface
  ! Replaces exact sums by their sums over all ranks.
  interface EFP_sum_across_PEs
    procedure :: EFP_list_sum_across_PEs, EFP_val_sum_across_PEs
  end interface

  ! An exact sum: an accumulator of the C interface, as sf_accumulator_pack writes it. A variable that was never set is
  ! zero.
  type :: EFP_type
    private
    integer(c_int64_t), allocatable :: packed(:)
  end type
  interface operator(+)
    procedure :: EFP_plus
  end interface
  interface operator(-)
    procedure :: EFP_minus
  end interface
  interface assignment(=)
    procedure :: EFP_assign
  end interface

  ! Constants and functions of steadfold.h and steadfold_accumulator.h.
  integer(c_int), parameter :: f64 = 0, elements = 0, sum_of_terms = 0
  integer(c_int64_t), parameter :: word = 8 ! bytes; the size of packed accumulators is a multiple of this number
  interface
    function create(type, terms, columns, accumulator) bind(c, name="sf_accumulator_create") result(status)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int), value :: type, terms
      integer(c_int64_t), value :: columns
      type(c_ptr), intent(out) :: accumulator
      integer(c_int) :: status
    end function
    subroutine release(accumulator) bind(c, name="sf_accumulator_free")
      import :: c_ptr
      type(c_ptr), value :: accumulator
    end subroutine
    function add(accumulator, numbers, rows, threads) bind(c, name="sf_accumulator_add") result(status)
      import :: c_double, c_int, c_int32_t, c_int64_t, c_ptr
      type(c_ptr), value :: accumulator
      real(c_double), intent(in) :: numbers(*)
      integer(c_int64_t), value :: rows
      integer(c_int32_t), value :: threads
      integer(c_int) :: status
    end function
    function negate(accumulator) bind(c, name="sf_accumulator_negate") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int) :: status
    end function
    function round_to(accumulator, operation, type, value) bind(c, name="sf_accumulator_round") result(status)
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int), value :: operation, type
      real(c_double), intent(out) :: value
      integer(c_int) :: status
    end function
    function packed_size(accumulator) bind(c, name="sf_accumulator_packed_size") result(size)
      import :: c_int64_t, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int64_t) :: size
    end function
    function pack_into(accumulator, packed, bytes) bind(c, name="sf_accumulator_pack") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int64_t), intent(out) :: packed(*)
      integer(c_int64_t), value :: bytes
      integer(c_int) :: status
    end function
    function unpack_from(accumulator, packed, bytes) bind(c, name="sf_accumulator_unpack") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: accumulator
      integer(c_int64_t), intent(in) :: packed(*)
      integer(c_int64_t), value :: bytes
      integer(c_int) :: status
    end function
    ! Multiplies by a factor or its inverse, independently of the program's rounding mode and of flushing of subnormals.
    subroutine scale_by(from, factor, is_inverse, count, to) bind(c, name="sf_fortran_scale")
      import :: c_double, c_int, c_int64_t
      real(c_double), intent(in) :: from(*), factor
      integer(c_int), value :: is_inverse
      integer(c_int64_t), value :: count
      real(c_double), intent(out) :: to(*)
    end subroutine
    subroutine merge_packed(from, into, bytes) bind(c, name="sf_accumulator_merge_packed")
      import :: c_int64_t
      integer(c_int64_t), intent(in) :: from(*)
      integer(c_int64_t), intent(inout) :: into(*)
      integer(c_int64_t), value :: bytes
    end subroutine
  end interface

  ! The communicator of the sums, and whether a sum since the last reset was NaN or infinite.
  integer, save :: ranks_of_sums
  logical, save :: is_set = .false., overflowed = .false.
contains

  ! Sets the communicator over whose ranks later sums are taken, in place of MOM6's list of PEs. Every rank of the
  ! communicator makes the call. Without a call the communicator is MPI_COMM_WORLD.
  subroutine set_sum_comm(comm)
    integer, intent(in) :: comm
    ranks_of_sums = comm
    is_set = .true.
  end subroutine

  ! Computes the sum of array(isr:ier, jsr:jer); indices count from 1. `overflow_check` is ignored. `err` is 4 if the
  ! sum is NaN, 2 if it is infinite, else 0, on all ranks; without `err` a NaN or infinite sum ends the program.
  ! `unscale` is a factor: elements are multiplied by it, rounded as products are, and the sum is divided by it.
  ! `reproducing=.false.` gives a plain sum.
  function reproducing_sum_2d(array, isr, ier, jsr, jer, EFP_sum, reproducing, overflow_check, err, only_on_PE, &
                              unscale) result(sum)
    real(r8), intent(in) :: array(:, :)
    integer, intent(in), optional :: isr, ier, jsr, jer
    type(EFP_type), intent(out), optional :: EFP_sum
    logical, intent(in), optional :: reproducing, overflow_check
    integer, intent(out), optional :: err
    logical, intent(in), optional :: only_on_PE ! whether to sum only the elements of this rank
    real(r8), intent(in), optional :: unscale
    real(r8) :: sum
    integer :: at(4)
    at = window(shape(array), isr, ier, jsr, jer)
    if (.not. setting(reproducing, .true.)) then
      sum = plain_sum(array(at(1):at(2), at(3):at(4)), only_on_PE, unscale)
      if (present(EFP_sum)) EFP_sum = exact_sum(reshape([sum], [1, 1]))
    else if (present(EFP_sum)) then
      EFP_sum = reproducing_EFP_sum_2d(array, isr, ier, jsr, jer, overflow_check, err, only_on_PE, unscale)
      sum = EFP_to_real(EFP_sum)
    else if (present(unscale)) then
      call sf_sum(scaled(array(at(1):at(2), at(3):at(4)), unscale), sum, comm_of(only_on_PE))
    else
      call sf_sum(array(at(1):at(2), at(3):at(4)), sum, comm_of(only_on_PE))
    end if
    call judge([sum], err)
    if (present(unscale)) sum = unscaled(sum, unscale)
  end function

  ! Computes the sum of all layers of array(isr:ier, jsr:jer, :), rounded once, and the sums of each layer in `sums` and
  ! `EFP_lay_sums`, which may have more elements than there are layers. All other arguments are as in
  ! reproducing_sum_2d.
  function reproducing_sum_3d(array, isr, ier, jsr, jer, sums, EFP_sum, EFP_lay_sums, err, only_on_PE, unscale) &
    result(sum)
    real(r8), intent(in) :: array(:, :, :)
    integer, intent(in), optional :: isr, ier, jsr, jer
    real(r8), intent(out), optional :: sums(:)
    type(EFP_type), intent(out), optional :: EFP_sum, EFP_lay_sums(:)
    integer, intent(out), optional :: err
    logical, intent(in), optional :: only_on_PE
    real(r8), intent(in), optional :: unscale
    real(r8) :: sum
    type(EFP_type) :: layers(size(array, 3)), total
    integer :: at(4), k
    at = window(shape(array), isr, ier, jsr, jer)
    if (present(sums)) call require_room(size(sums), size(layers))
    if (present(EFP_lay_sums)) call require_room(size(EFP_lay_sums), size(layers))
    do k = 1, size(layers)
      layers(k) = exact_sum(array(at(1):at(2), at(3):at(4), k), unscale)
    end do
    call sum_over(comm_of(only_on_PE), layers)
    do k = 1, size(layers)
      total = total + layers(k)
      if (present(sums)) sums(k) = EFP_to_real(layers(k))
      if (present(EFP_lay_sums)) EFP_lay_sums(k) = layers(k)
    end do
    if (present(EFP_sum)) EFP_sum = total
    sum = EFP_to_real(total)
    call judge([sum], err)
    if (present(unscale)) sum = unscaled(sum, unscale)
    if (present(sums) .and. present(unscale)) sums(:size(layers)) = [(unscaled(sums(k), unscale), k = 1, size(layers))]
  end function

  function reproducing_EFP_sum_2d(array, isr, ier, jsr, jer, overflow_check, err, only_on_PE, unscale) result(EFP_sum)
    real(r8), intent(in) :: array(:, :)
    integer, intent(in), optional :: isr, ier, jsr, jer
    logical, intent(in), optional :: overflow_check, only_on_PE
    integer, intent(out), optional :: err
    real(r8), intent(in), optional :: unscale
    type(EFP_type) :: EFP_sum
    type(EFP_type) :: total(1)
    integer :: at(4)
    if (present(overflow_check)) continue ! overflow_check is ignored
    at = window(shape(array), isr, ier, jsr, jer)
    total(1) = exact_sum(array(at(1):at(2), at(3):at(4)), unscale)
    call sum_over(comm_of(only_on_PE), total)
    EFP_sum = total(1)
    call judge([EFP_to_real(EFP_sum)], err)
  end function

  ! Replaces each of the first `nval` exact sums by its sum over all ranks. `errors` tells which are NaN or infinite;
  ! without `errors` a NaN or infinite sum ends the program. Every rank must give the same `nval`.
  subroutine EFP_list_sum_across_PEs(EFPs, nval, errors)
    type(EFP_type), intent(inout) :: EFPs(:)
    integer, intent(in) :: nval
    logical, intent(out), optional :: errors(:)
    real(r8) :: values(nval)
    integer :: i, err
    call sum_over(comm_of(), EFPs(:nval))
    values = [(EFP_to_real(EFPs(i)), i = 1, nval)]
    if (present(errors)) then
      errors = .false.
      errors(:nval) = .not. is_finite(values)
      call judge(values, err)
    else
      call judge(values)
    end if
  end subroutine

  subroutine EFP_val_sum_across_PEs(EFP, error)
    type(EFP_type), intent(inout) :: EFP
    logical, intent(out), optional :: error
    type(EFP_type) :: list(1)
    logical :: errors(1)
    list(1) = EFP
    if (present(error)) then
      call EFP_list_sum_across_PEs(list, 1, errors)
      error = errors(1)
    else
      call EFP_list_sum_across_PEs(list, 1)
    end if
    EFP = list(1)
  end subroutine

  function EFP_plus(EFP1, EFP2)
    type(EFP_type), intent(in) :: EFP1, EFP2
    type(EFP_type) :: EFP_plus
    if (.not. allocated(EFP2%packed)) then
      EFP_plus = EFP1
    else if (.not. allocated(EFP1%packed)) then
      EFP_plus = EFP2
    else
      EFP_plus = EFP1
      call merge_packed(EFP2%packed, EFP_plus%packed, bytes_of(EFP_plus%packed))
    end if
  end function

  function EFP_minus(EFP1, EFP2)
    type(EFP_type), intent(in) :: EFP1, EFP2
    type(EFP_type) :: EFP_minus
    type(c_ptr) :: accumulator
    accumulator = unpacked(EFP2)
    call require(negate(accumulator))
    EFP_minus = EFP1 + packed_and_freed(accumulator)
  end function

  subroutine EFP_assign(EFP1, EFP2)
    type(EFP_type), intent(out) :: EFP1
    type(EFP_type), intent(in) :: EFP2
    if (allocated(EFP2%packed)) EFP1%packed = EFP2%packed
  end subroutine

  ! Returns the correctly rounded value of an exact sum.
  function EFP_to_real(EFP1) result(value)
    type(EFP_type), intent(in) :: EFP1
    real(r8) :: value
    type(c_ptr) :: accumulator
    accumulator = unpacked(EFP1)
    call require(round_to(accumulator, sum_of_terms, f64, value))
    call release(accumulator)
  end function

  ! Returns the difference EFP1 - EFP2, computed exactly and then rounded.
  function EFP_real_diff(EFP1, EFP2) result(value)
    type(EFP_type), intent(in) :: EFP1, EFP2
    real(r8) :: value
    value = EFP_to_real(EFP1 - EFP2)
  end function

  ! Converts a number to an exact sum. `overflow` becomes true if the number is NaN or infinite; without `overflow` a
  ! NaN or infinite number ends the program.
  function real_to_EFP(val, overflow) result(EFP)
    real(r8), intent(in) :: val
    logical, intent(inout), optional :: overflow
    type(EFP_type) :: EFP
    integer :: err
    EFP = exact_sum(reshape([val], [1, 1]))
    if (present(overflow)) then
      call judge([val], err)
      overflow = overflow .or. err /= 0
    else
      call judge([val])
    end if
  end function

  ! Returns whether a sum since the last reset was NaN or infinite.
  logical function query_EFP_overflow_error()
    query_EFP_overflow_error = overflowed
  end function

  subroutine reset_EFP_overflow_error()
    overflowed = .false.
  end subroutine

  ! Returns the first and last index of both dimensions.
  function window(extents, isr, ier, jsr, jer) result(at)
    integer, intent(in) :: extents(:)
    integer, intent(in), optional :: isr, ier, jsr, jer
    integer :: at(4)
    at = [1, extents(1), 1, extents(2)]
    if (present(isr)) at(1) = isr
    if (present(ier)) at(2) = ier
    if (present(jsr)) at(3) = jsr
    if (present(jer)) at(4) = jer
    if (any(at(1::2) < 1) .or. any(at(2::2) > extents(:2))) then
      write (error_unit, '("steadfold: the window (", i0, ":", i0, ", ", i0, ":", i0, a, i0, " x ", i0, a)') at, &
        ') in reproducing_sum (the array has ', extents(:2), &
        ' places), give isr, ier, jsr and jer within it, counted from 1'
      call stop_all
    end if
  end function

  subroutine require_room(places, layers)
    integer, intent(in) :: places, layers
    if (places >= layers) return
    write (error_unit, '("steadfold: ", i0, " places for the sums of ", i0, a)') places, layers, &
      ' layers in reproducing_sum (every layer has one sum), give one place per layer'
    call stop_all
  end subroutine

  function exact_sum(array, unscale) result(EFP)
    real(r8), intent(in) :: array(:, :)
    real(r8), intent(in), optional :: unscale
    type(EFP_type) :: EFP
    type(c_ptr) :: accumulator
    accumulator = unpacked(EFP)
    if (present(unscale)) then
      call require(add(accumulator, scaled(array, unscale), size(array, kind=c_int64_t), 1_c_int32_t))
    else
      call require(add(accumulator, array, size(array, kind=c_int64_t), 1_c_int32_t))
    end if
    EFP = packed_and_freed(accumulator)
  end function

  function plain_sum(array, only_on_PE, unscale) result(total)
    real(r8), intent(in) :: array(:, :)
    logical, intent(in), optional :: only_on_PE
    real(r8), intent(in), optional :: unscale
    real(r8) :: total
    type(MPI_Comm) :: comm
    total = sum(array)
    if (present(unscale)) total = sum(unscale*array)
    comm%MPI_VAL = comm_of(only_on_PE)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end function

  ! Replaces exact sums by their sums over ranks, in one message. The packed accumulators follow each other in one
  ! element, which begins with their number and size.
  subroutine sum_over(comm, EFPs)
    integer, intent(in) :: comm
    type(EFP_type), intent(inout) :: EFPs(:)
    integer(c_int64_t), allocatable :: words(:)
    character(kind=c_char, len=:), allocatable :: mine, every
    integer :: i, each
    if (comm == MPI_COMM_SELF%MPI_VAL) return
    do i = 1, size(EFPs)
      if (.not. allocated(EFPs(i)%packed)) EFPs(i) = packed_and_freed(unpacked(EFPs(i)))
    end do
    each = 1
    if (size(EFPs) > 0) each = size(EFPs(1)%packed)
    words = [integer(c_int64_t) :: size(EFPs), each, (EFPs(i)%packed, i = 1, size(EFPs))]
    allocate (character(kind=c_char, len=bytes_of(words)) :: mine, every)
    mine = transfer(words, mine)
    call sf_reduce(mine, every, c_funloc(merge_lists), MPI_Comm(comm))
    words = transfer(every, words)
    do i = 1, size(EFPs)
      EFPs(i)%packed = words(3 + (i - 1)*each:2 + i*each)
    end do
  end subroutine

  ! The operator of sum_over: an sf_operator that merges two lists of packed accumulators.
  function merge_lists(left, right, result, count, context) bind(c) result(failed)
    type(c_ptr), value :: left, right, result, context
    integer(c_size_t), value :: count
    integer(c_int) :: failed
    integer(c_int64_t), pointer :: head(:), from(:), into(:)
    integer(c_int64_t) :: element, at, all, each
    call c_f_pointer(left, head, [2])
    each = head(2)
    all = 2 + head(1)*each
    call c_f_pointer(left, from, [all*count])
    call c_f_pointer(result, into, [all*count])
    into = from
    call c_f_pointer(right, from, [all*count])
    do element = 0, all*(int(count, c_int64_t) - 1), all
      do at = element + 3, element + all, each
        call merge_packed(from(at:at + each - 1), into(at:at + each - 1), word*each)
      end do
    end do
    failed = merge(1, 0, c_associated(context))
  end function

  pure integer(c_int64_t) function bytes_of(words)
    integer(c_int64_t), intent(in) :: words(:)
    bytes_of = word*size(words)
  end function

  ! Reports a NaN or an infinity as an error code, or ends the program.
  subroutine judge(values, err)
    real(r8), intent(in) :: values(:)
    integer, intent(out), optional :: err
    integer :: code
    code = 0
    if (any(.not. is_finite(values))) code = 2
    if (any(is_nan(values))) code = 4
    overflowed = overflowed .or. code /= 0
    if (present(err)) then
      err = code
    else if (code /= 0) then
      write (error_unit, '(3a)') 'steadfold: a sum that is ', trim(merge('NaN     ', 'infinite', code == 4)), &
        ' (elements are too, or the sum exceeds the largest double), find the source of these values, or pass err'
      call stop_all
    end if
  end subroutine

  subroutine require(status)
    integer(c_int), intent(in) :: status
    if (status == 0) return
    write (error_unit, '("steadfold: ", a)') sf_error_message()
    call stop_all
  end subroutine

  subroutine stop_all
    flush (error_unit)
    call MPI_Abort(MPI_Comm(comm_of()), 1)
  end subroutine

  integer function comm_of(only_on_PE)
    logical, intent(in), optional :: only_on_PE
    comm_of = MPI_COMM_WORLD%MPI_VAL
    if (is_set) comm_of = ranks_of_sums
    if (setting(only_on_PE, .false.)) comm_of = MPI_COMM_SELF%MPI_VAL
  end function

  logical function setting(given, default)
    logical, intent(in), optional :: given
    logical, intent(in) :: default
    setting = default
    if (present(given)) setting = given
  end function

  function scaled(array, factor) result(products)
    real(r8), intent(in) :: array(:, :), factor
    real(r8) :: products(size(array, 1), size(array, 2))
    call scale_by(array, factor, 0, size(array, kind=c_int64_t), products)
  end function

  real(r8) function unscaled(sum, factor)
    real(r8), intent(in) :: sum, factor
    real(r8) :: quotient(1)
    call scale_by([sum], factor, 1, 1_c_int64_t, quotient)
    unscaled = quotient(1)
  end function

  ! Tests the bits, since a compiler may assume that there are no NaNs or infinities (-ffast-math).
  elemental logical function is_finite(x)
    real(r8), intent(in) :: x
    is_finite = ibits(transfer(x, 0_int64), 52, 11) /= 2047
  end function
  elemental logical function is_nan(x)
    real(r8), intent(in) :: x
    is_nan = .not. is_finite(x) .and. ibits(transfer(x, 0_int64), 0, 52) /= 0
  end function

  ! Makes an accumulator of an exact sum. The caller frees it.
  function unpacked(EFP) result(accumulator)
    type(EFP_type), intent(in) :: EFP
    type(c_ptr) :: accumulator
    call require(create(f64, elements, 1_c_int64_t, accumulator))
    if (allocated(EFP%packed)) call require(unpack_from(accumulator, EFP%packed, bytes_of(EFP%packed)))
  end function

  function packed_and_freed(accumulator) result(EFP)
    type(c_ptr), value :: accumulator
    type(EFP_type) :: EFP
    allocate (EFP%packed(packed_size(accumulator)/word))
    call require(pack_into(accumulator, EFP%packed, bytes_of(EFP%packed)))
    call release(accumulator)
  end function
end module
