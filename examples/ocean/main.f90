! example_ocean: an ocean in Fortran whose sums are made twice, plainly and by Steadfold.
!   mpirun -n 6 example_ocean --json
program example_ocean
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  use grid
  use model
  use report
  use restart
  use totals
  implicit none

  type arguments
    integer :: cells(2) = [96, 64], tile(2) = [8, 8], steps = 200, threads = 1
    integer :: ranks(2) = 0 ! from west to east and from south to north; none: tiles are dealt at random
    logical :: json = .false.
    character(len=256) :: save = '', load = ''
  end type
  character(len=*), parameter :: usage = 'example_ocean [--json] [--cells NX,NY] [--tile NX,NY] [--steps N] '// &
    '[--ranks ACROSSxALONG | --ranks random] [--threads N] [--save NAME] [--load NAME]'

  type(arguments) :: given
  type(tiles) :: map
  type(ocean) :: plain, ours
  character(len=16) :: plain_state, our_state
  integer :: rank, ranks, threads_of_mpi

  call MPI_Init_thread(MPI_THREAD_FUNNELED, threads_of_mpi)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call read_arguments
  call make_tiles(map, given%cells, given%tile, given%ranks(1), given%ranks(2), MPI_COMM_WORLD)
  call run(plain, method(plain=.true.), '.plain', plain_state)
  call run(ours, method(threads=given%threads), '', our_state)
  if (rank == 0) call print_record
  call MPI_Finalize
contains

  subroutine run(self, how, suffix, state)
    type(ocean), intent(inout) :: self
    type(method), intent(in) :: how
    character(len=*), intent(in) :: suffix
    character(len=16), intent(out) :: state
    integer :: n
    call self%prepare(map)
    if (given%load == '') then
      call self%fill(how, MPI_COMM_WORLD)
    else
      call load_ocean(self, trim(given%load)//suffix, MPI_COMM_WORLD)
    end if
    do n = 1, given%steps
      call self%step(how, MPI_COMM_WORLD)
    end do
    if (given%save /= '') call save_ocean(self, trim(given%save)//suffix, MPI_COMM_WORLD)
    state = digest_of(map, self%field, MPI_COMM_WORLD)
  end subroutine

  subroutine print_record
    if (given%json) then
      write (*, '(*(a))') '{"application":"ocean","ranks":', number(ranks), ',"threads":', number(given%threads), &
        ',"mpi":"', mpi_library(), '","steps":', number(ours%steps), &
        ',"fingerprint_plain":"', plain%seen%text(), '","fingerprint_steadfold":"', ours%seen%text(), &
        '","state_plain":"', plain_state, '","state_steadfold":"', our_state, &
        '","mean_level":', decimal(ours%mean_level), ',"energy":', decimal(ours%energy), '}'
    else
      write (*, '(a, i0, a, i0, a)') 'An ocean after ', ours%steps, ' steps, on ', ranks, ' ranks'
      write (*, '(a12, 2a18, 2a25)') 'sums', 'every sum', 'every cell', 'mean level, m', 'energy, m3/s2'
      write (*, '(a12, 2a18, 2a25)') 'plain', plain%seen%text(), plain_state, decimal(plain%mean_level), decimal(plain%energy)
      write (*, '(a12, 2a18, 2a25)') 'Steadfold', ours%seen%text(), our_state, decimal(ours%mean_level), decimal(ours%energy)
    end if
  end subroutine

  subroutine read_arguments
    character(len=256) :: name, value
    integer :: n, wrong
    n = 1
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
      case ('--steps')
        read (value, *, iostat=wrong) given%steps
      case ('--threads')
        read (value, *, iostat=wrong) given%threads
      case ('--ranks')
        call read_division(value, ranks, given%ranks, wrong)
      case ('--save')
        given%save = value
        wrong = merge(1, 0, value == '')
      case ('--load')
        given%load = value
        wrong = merge(1, 0, value == '')
      case default
        wrong = 1
      end select
      if (wrong /= 0) call refuse('cannot use '//trim(name)//' '//trim(value))
      n = n + 2
    end do
    if (any(given%cells < 1) .or. any(given%tile < 1) .or. given%steps < 0 .or. given%threads < 1) &
      call refuse('sizes, steps and threads are positive')
    if (any(mod(given%cells, given%tile) /= 0)) call refuse('tiles do not divide the cells')
    if (any(given%ranks > given%cells/given%tile)) call refuse('there are more ranks than tiles in a row or a column')
  end subroutine

  ! Prints the text and the usage and ends the program. All ranks call it, with one text.
  subroutine refuse(text)
    character(len=*), intent(in) :: text
    if (rank == 0) write (error_unit, '(a)') 'example_ocean: '//text//' (see the usage), try: '//usage
    call MPI_Finalize
    stop 2, quiet=.true.
  end subroutine
end program
