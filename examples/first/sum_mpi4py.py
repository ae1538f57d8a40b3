# mpirun -n 4 python3 sum_mpi4py.py
import numpy as np
import steadfold as sf
from mpi4py import MPI

comm = MPI.COMM_WORLD
x = 1 / np.arange(comm.rank + 1, 1001, comm.size)  # this rank's elements of 1, 1/2, ..., 1/1000

total = sf.sum(x, comm=comm)  # correctly rounded

if comm.rank == 0:
    print(f"sum {total.hex()} (should be 0x1.df11f45f4e61ap+2)")
