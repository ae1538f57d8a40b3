# mpirun -n 4 python3 basins.py
import numpy as np
import steadfold as sf
from mpi4py import MPI

comm = MPI.COMM_WORLD
# An ocean of 3 levels, 8 rows and 12 columns. This rank has all rows and levels of some columns.
levels, rows, columns, basins = 3, 8, 12, 3
i = np.arange(columns * comm.rank // comm.size, columns * (comm.rank + 1) // comm.size)
k, j = np.arange(levels)[:, None, None], np.arange(rows)[:, None]
area = 1 / (j + 2) + 0 * i
label = (i + j) % 4 - 1  # 0, 1, 2; or -1, which is land and belongs to no basin
ocean = label >= 0
temperature = np.where(ocean, 1 / (1 + i + columns * (j + rows * k)), np.nan)

# levels: the sum of temperature times area for every level; the mask leaves out land, whose NaN is not read
of_level = sf.sum(temperature, axis=(1, 2), where=ocean, weights=area, comm=comm)

# mean: the global mean of the top level, weighted by area, rounded once
mean = sf.mean(temperature[0], where=ocean, weights=area, comm=comm)

# basins: the sum of temperature times area for every basin and level, in one message
heat = sf.sum_by(temperature, label, basins, axis=(1, 2), weights=area, comm=comm)

# budget: each rank adds its own cells in every step (here: for every level); rounded once, at the end
sum_of_steps = sf.Accumulator(products=True)
for step in range(levels):
    sum_of_steps.add(temperature[step], weights=area, where=ocean)
sum_of_steps.merge_ranks(comm)
budget = sum_of_steps.sum()

if comm.rank == 0:
    for basin in range(basins):
        for level in range(levels):
            print(f"basin {basin + 1} level {level + 1} {heat[basin, level].hex()}")
    for level in range(levels):
        print(f"level {level + 1} {of_level[level].hex()}")
    print(f"mean {mean.hex()}\nbudget {budget.hex()}")
