! mpifort $(pkg-config --variable=source steadfold_fortran) basins.f90 -o basins $(pkg-config --libs steadfold_fortran steadfold-openmpi) -Wl,-rpath,$(pkg-config --variable=libdir steadfold)
! mpirun -n 4 ./basins
program basins
  use, intrinsic :: ieee_arithmetic
  use mpi_f08
  use steadfold
  implicit none
  ! An ocean of 12 columns, 8 rows and 3 levels. This rank has all rows and levels of some columns, with a halo of one cell.
  integer, parameter :: columns = 12, rows = 8, levels = 3, basin_count = 3
  real(8), allocatable :: temperature(:, :, :), area(:, :)
  integer, allocatable :: basin(:, :)
  logical, allocatable :: ocean(:, :)
  real(8) :: heat(levels, basin_count), of_level(levels), mean, budget
  type(sf_accumulator) :: sum_of_steps
  integer :: rank, ranks, first, last, i, j, k

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  first = columns*rank/ranks + 1
  last = columns*(rank + 1)/ranks
  allocate (temperature(first - 1:last + 1, 0:rows + 1, levels))
  allocate (area(first:last, rows), basin(first:last, rows), ocean(first:last, rows))
  temperature = ieee_value(0d0, ieee_quiet_nan)
  do concurrent(i=first:last, j=1:rows)
    area(i, j) = 1/real(j + 1, 8)
    basin(i, j) = mod(i + j - 2, 4)   ! 1, 2, 3; or 0, which is land and belongs to no basin
    do k = 1, levels
      if (basin(i, j) > 0) temperature(i, j, k) = 1/real(i + columns*(j - 1 + rows*(k - 1)), 8)
    end do
  end do
  ocean(:, :) = basin > 0

  ! levels: the sum of temperature times area for every level; the mask leaves out land, whose NaN is not read
  call sf_sum(temperature(first:last, 1:rows, :), of_level, MPI_COMM_WORLD, keep=3, weight=area, where=ocean)

  ! mean: the global mean of the top level, weighted by area, rounded once
  mean = sf_mean(temperature(first:last, 1:rows, 1), MPI_COMM_WORLD, weight=area, where=ocean)

  ! basins: the sum of temperature times area for every level and basin, in one message; the halo stays out
  call sf_sum_by(temperature(first:last, 1:rows, :), basin, heat, MPI_COMM_WORLD, keep=3, weight=area)

  ! budget: each rank adds its own cells in every step (here: for every level); rounded once, at the end
  do k = 1, levels
    call sf_add(sum_of_steps, temperature(first:last, 1:rows, k), weight=area, where=ocean)
  end do
  call sf_merge_ranks(sum_of_steps, MPI_COMM_WORLD)
  call sf_total(sum_of_steps, budget)

  if (rank == 0) then
    print '(2(a, i0), a, z16.16)', (('basin ', j, ' level ', k, ' ', heat(k, j), k=1, levels), j=1, basin_count)
    print '(a, i0, a, z16.16)', ('level ', k, ' ', of_level(k), k=1, levels)
    print '(a, z16.16)', 'mean ', mean, 'budget ', budget
  end if
  call MPI_Finalize
end program
