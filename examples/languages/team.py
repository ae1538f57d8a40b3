# mpirun -n 2 python3 team.py
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import steadfold as sf
from mpi4py import MPI

comm, threads = MPI.COMM_WORLD, 2

# team: all threads of all ranks are in one team; each adds its own elements, and gets the sum of all
team = sf.Team(threads, comm)


def work(t):
    x = 1 / np.arange(comm.rank * threads + t + 1, 1001, comm.size * threads)  # of 1, 1/2, ..., 1/1000
    return sf.sum(x, comm=team[t])


with ThreadPoolExecutor(threads) as pool:  # as many threads as the team has workers
    totals = list(pool.map(work, range(threads)))

if comm.rank == 0:
    print(f"sum {totals[0].hex()}")
