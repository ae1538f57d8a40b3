# mpirun -n 4 python3 sums.py
import sys
from pathlib import Path

import numpy as np
import steadfold as sf
from mpi4py import MPI

comm = MPI.COMM_WORLD
n = 1000  # elements of all ranks, dealt in blocks of 16
i = np.arange(n)
mine = i[i // 16 % comm.size == comm.rank]
x, w = 1 / (mine + 1), 1.0 + mine % 7  # this rank's elements of 1, 1/2, ..., 1/1000, and their weights

# sum: the sum of all ranks' elements, correctly rounded
total = sf.sum(x, comm=comm)

# check: both depend on the elements alone
exact, norm = sf.sum(x, comm=comm), sf.norm(x, comm=comm)
if comm.rank == 0:
    print(f"check {exact.hex()}\ncheck2 {norm.hex()}")

# weights: the products are exact, and their sum is rounded once
weighted = sf.sum(x, weights=w, comm=comm)

# order: a fixed tree over the indices 0 to n - 1, of which this rank has blocks of 16
tree = sf.sum(x, method="tree", layout=sf.Layout.grid([n], [0], [16]), comm=comm)

# threads: two threads of this rank add its elements
threaded = sf.sum(x, threads=2, comm=comm)

# require: bits that do not depend on the layout; a tree without one cannot promise that, and every rank gets an error
try:
    sf.sum(x, method="tree", require="layout", comm=comm)
except sf.Error as error:
    print(error, file=sys.stderr)  # problem (why), suggestion

# save: every rank adds elements, and one rank writes the exact sum of all
half = sf.Accumulator()
half.add(x[: len(x) // 2])
half.merge_ranks(comm)
if comm.rank == 0:
    Path("half").write_bytes(half.to_bytes())

# load: one rank reads the file, the others start empty; the sum is rounded once, here
whole = sf.Accumulator.from_bytes(Path("half").read_bytes()) if comm.rank == 0 else sf.Accumulator()
whole.add(x[len(x) // 2 :])
whole.merge_ranks(comm)
kept = whole.sum()

if comm.rank == 0:
    print(f"sum {total.hex()}\nweights {weighted.hex()}\norder {tree.hex()}")
    print(f"threads {threaded.hex()}\nkept {kept.hex()}")
