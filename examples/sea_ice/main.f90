! example_sea_ice: sea ice whose velocities a Krylov solver finds, with scalar products that are made in nine ways.
!   mpirun -n 6 example_sea_ice --json
program example_sea_ice
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  use mpi_f08
  use grid
  use ice
  use krylov
  use products
  use report
  use steadfold, only: sf_group_transport
  implicit none

  type arguments
    integer :: cells(2) = [96, 64], tile(2) = [8, 8]
    integer :: ranks(2) = 0 ! from west to east and from south to north; none: tiles are dealt at random
    integer :: picard = 4, iterations = 40, restart = 30, inner = 5, rounds = 1
    real(real64) :: tolerance = 1.0e-2_real64
    logical :: json = .false., is_modified = .false.
    character(len=14), allocatable :: ways(:)
  end type
  character(len=*), parameter :: usage = 'example_sea_ice [--json] [--cells NX,NY] [--tile NX,NY] '// &
    '[--ranks ACROSSxALONG | --ranks random] [--picard N] [--iterations N] [--tolerance X] '// &
    '[--restart N] [--inner N] [--gram_schmidt classical|modified] [--ways plain,exact,...] [--rounds N]'

  ! A solve by one way, round after round; all rounds have the same bits.
  type outcome
    character(len=14) :: way = ''
    type(account) :: book
    type(fingerprint) :: residuals
    integer :: iterations = 0
    real(real64) :: residual = 0                 ! of the last solve, to its first one
    character(len=16) :: velocities = ''
    real(real64), allocatable :: seconds(:), seconds_of_products(:) ! of rounds, on the slowest rank
    type(krylov_space) :: outer, inner
  end type

  type(arguments), target :: given
  type(tiles) :: map
  type(sea_ice), target :: matrix
  type(outcome), allocatable, target :: outcomes(:)
  integer :: rank, ranks, unknowns, n, round

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments
  call make_tiles(map, given%cells, given%tile, given%ranks(1), given%ranks(2), MPI_COMM_WORLD)
  call matrix%prepare(map, MPI_COMM_WORLD)
  call MPI_Allreduce(2*matrix%points, unknowns, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (unknowns == 0) call refuse('no ice can move', 'every cell touches land')
  allocate (outcomes(size(given%ways)))
  do n = 1, size(outcomes)
    call prepare(outcomes(n), given%ways(n))
  end do
  if (given%rounds > 1) call run_all(0) ! the first time of anything takes longer
  do round = 1, given%rounds
    call run_all(round)
  end do
  if (rank == 0) call print_record
  do n = 1, size(outcomes)
    call outcomes(n)%outer%release()
    call outcomes(n)%inner%release()
  end do
  call MPI_Finalize
contains

  subroutine prepare(self, way)
    type(outcome), intent(inout), target :: self
    character(len=*), intent(in) :: way
    self%way = way
    allocate (self%book%calls(max(given%restart, given%inner)))
    allocate (self%seconds(given%rounds), self%seconds_of_products(given%rounds))
    call self%outer%prepare(2*matrix%points, given%restart, way, given%is_modified, self%book, MPI_COMM_WORLD)
    call self%inner%prepare(2*matrix%points, max(given%inner, 1), way, given%is_modified, self%book, MPI_COMM_WORLD)
  end subroutine

  ! Each way once, in another order in every round, so that none always follows the same one.
  subroutine run_all(round)
    integer, intent(in) :: round
    integer :: n
    do n = 1, size(outcomes)
      call run(outcomes(1 + modulo(n*merge(1, -1, modulo(round, 2) == 0) + round, size(outcomes))), round)
    end do
  end subroutine

  ! One step in time, by Picard's iteration.
  subroutine run(self, round)
    type(outcome), intent(inout), target :: self
    integer, intent(in) :: round
    real(real64) :: begin, seconds(2)
    real(real64) :: velocities(2*matrix%points), b(2*matrix%points)
    type(solution) :: found
    integer :: step
    self%book%seconds = 0
    self%book%calls = 0
    self%book%seen = fingerprint()
    self%residuals = fingerprint()
    self%iterations = 0
    velocities = 0 ! the ice is at rest
    call MPI_Barrier(MPI_COMM_WORLD)
    begin = MPI_Wtime()
    do step = 1, given%picard
      call matrix%freeze(velocities)
      call matrix%right_hand_side(b)
      if (given%inner > 0) then
        call solve(self%outer, matrix, b, velocities, given%tolerance, given%iterations, found, self%inner)
      else
        call solve(self%outer, matrix, b, velocities, given%tolerance, given%iterations, found)
      end if
      self%iterations = self%iterations + found%iterations
      call self%residuals%add_all(found%residuals)
    end do
    seconds = [MPI_Wtime() - begin, self%book%seconds]
    call MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    if (round > 0) self%seconds(round) = seconds(1)
    if (round > 0) self%seconds_of_products(round) = seconds(2)
    self%residual = found%residuals(size(found%residuals))/found%residuals(1)
    self%velocities = digest_of(map, matrix%velocities(velocities), MPI_COMM_WORLD)
  end subroutine

  subroutine print_record
    integer :: n
    if (given%json) then
      write (*, '(*(a))', advance='no') '{"application":"sea_ice","ranks":', number(ranks), ',"threads":1,"mpi":"', &
        mpi_library(), '","transport":"', sf_group_transport(MPI_COMM_WORLD), '","unknowns":', number(unknowns), &
        ',"fingerprint_plain":', digest_of_ways(.false.), ',"fingerprint_steadfold":', digest_of_ways(.true.), &
        ',"ways":['
      do n = 1, size(outcomes)
        if (n > 1) write (*, '(a)', advance='no') ','
        call print_outcome(outcomes(n))
      end do
      write (*, '(a)') ']}'
    else
      write (*, '(a, i0, a, i0, a)') 'Sea ice of ', unknowns, ' velocities on ', ranks, ' ranks'
      write (*, '(a14, a7, 3a18, 2a12)') 'products', 'iter.', 'residuals', 'velocities', 'every product', 'solve, s', &
        'products, s'
      do n = 1, size(outcomes)
        associate (it => outcomes(n))
          write (*, '(a14, i7, 3a18, 2f12.4)') it%way, it%iterations, it%residuals%text(), it%velocities, &
            it%book%seen%text(), median(it%seconds), median(it%seconds_of_products)
        end associate
      end do
    end if
  end subroutine

  subroutine print_outcome(it)
    type(outcome), intent(in) :: it
    integer :: k
    write (*, '(*(a))', advance='no') '{"name":"', trim(it%way), '","iterations":', number(it%iterations), &
      ',"residual":', decimal(it%residual), ',"residuals":"', it%residuals%text(), '","velocities":"', it%velocities, &
      '","products":"', it%book%seen%text(), '","calls":[', &
      (number(int(it%book%calls(k))), comma(k, size(it%book%calls)), k=1, size(it%book%calls)), &
      '],"seconds":[', (decimal(it%seconds(k)), comma(k, given%rounds), k=1, given%rounds), &
      '],"seconds_of_products":[', (decimal(it%seconds_of_products(k)), comma(k, given%rounds), k=1, given%rounds), ']}'
  end subroutine

  pure function comma(k, count) result(text)
    integer, intent(in) :: k, count
    character(len=:), allocatable :: text
    text = repeat(',', merge(1, 0, k < count))
  end function

  ! The digest of all products of Steadfold's ways, or of the plain way.
  function digest_of_ways(of_steadfold) result(text)
    logical, intent(in) :: of_steadfold
    character(len=:), allocatable :: text
    type(fingerprint) :: all
    integer :: n
    text = 'null'
    do n = 1, size(outcomes)
      if (of_steadfold .neqv. is_of_steadfold(outcomes(n)%way)) cycle
      if (.not. of_steadfold .and. outcomes(n)%way /= 'plain') cycle
      call all%add(transfer(outcomes(n)%book%seen%digest, 0.0_real64))
      text = '"'//all%text()//'"'
    end do
  end function

  pure real(real64) function median(values)
    real(real64), intent(in) :: values(:)
    real(real64) :: sorted(size(values)), least
    integer :: i, at
    sorted = values
    do i = 1, size(sorted) - 1
      at = i - 1 + minloc(sorted(i:), 1)
      least = sorted(at)
      sorted(at) = sorted(i)
      sorted(i) = least
    end do
    median = 0.5_real64*(sorted((size(sorted) + 1)/2) + sorted(size(sorted)/2 + 1))
  end function

  subroutine read_arguments
    character(len=256) :: name, value
    integer :: n, wrong
    n = 1
    given%ways = way_names
    call MPI_Dims_create(ranks, 2, given%ranks)
    do while (n <= command_argument_count())
      call get_command_argument(n, name)
      call get_command_argument(n + 1, value)
      wrong = 0
      select case (name)
      case ('--json')
        given%json = .true.
        n = n - 1
      case ('--cells')
        read (value, *, iostat=wrong) given%cells
      case ('--tile')
        read (value, *, iostat=wrong) given%tile
      case ('--picard')
        read (value, *, iostat=wrong) given%picard
      case ('--iterations')
        read (value, *, iostat=wrong) given%iterations
      case ('--tolerance')
        read (value, *, iostat=wrong) given%tolerance
      case ('--restart')
        read (value, *, iostat=wrong) given%restart
      case ('--inner')
        read (value, *, iostat=wrong) given%inner
      case ('--rounds')
        read (value, *, iostat=wrong) given%rounds
      case ('--gram_schmidt')
        given%is_modified = value == 'modified'
        wrong = merge(0, 1, value == 'modified' .or. value == 'classical')
      case ('--ways')
        call read_ways(value, wrong)
      case ('--ranks')
        call read_division(value, ranks, given%ranks, wrong)
      case default
        wrong = 1
      end select
      if (wrong /= 0) call refuse('cannot use '//trim(name)//' '//trim(value), 'there is no such option or value')
      n = n + 2
    end do
    if (any(given%cells < 2) .or. any(given%cells > 16384)) call refuse('cannot use --cells', 'a side has 2 to 16384')
    if (any(given%tile < 1)) call refuse('cannot use --tile', 'a side has one cell at least')
    if (any(mod(given%cells, given%tile) /= 0)) call refuse('cannot use --tile', 'tiles do not divide the cells')
    if (any(given%ranks > given%cells/given%tile)) &
      call refuse('cannot use --ranks', 'there are more than tiles in a row or a column')
    if (given%picard < 1 .or. given%iterations < 1 .or. given%rounds < 1) &
      call refuse('cannot use --picard, --iterations or --rounds', 'there is one at least')
    if (given%restart < 1 .or. given%restart > 999 .or. given%inner < 0 .or. given%inner > 999) &
      call refuse('cannot use --restart or --inner', 'a space has 1 to 999 vectors, an inner one 0 to 999')
    if (.not. given%tolerance >= 0) call refuse('cannot use --tolerance', 'it is 0 or more')
  end subroutine

  subroutine read_ways(value, wrong)
    character(len=*), intent(in) :: value
    integer, intent(out) :: wrong
    integer :: begin, length
    character(len=14) :: name
    wrong = 0
    given%ways = [character(len=14) ::]
    begin = 1
    do while (begin <= len_trim(value))
      length = index(value(begin:)//',', ',') - 1
      name = value(begin:begin + length - 1)
      if (.not. is_way(trim(value(begin:begin + length - 1))) .or. any(given%ways == name)) wrong = 1
      given%ways = [given%ways, name]
      begin = begin + length + 1
    end do
    if (size(given%ways) == 0) wrong = 1
  end subroutine

  ! Prints the error, the reason and the usage, and ends the program. All ranks call it with the same texts.
  subroutine refuse(problem, why)
    character(len=*), intent(in) :: problem, why
    if (rank == 0) write (error_unit, '(a)') 'example_sea_ice: '//problem//' ('//why//'), try: '//usage
    call MPI_Finalize
    stop 2, quiet=.true.
  end subroutine
end program
