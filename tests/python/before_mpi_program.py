"""Before MPI_Init, every call on a communicator is refused, and what needs no ranks works; afterwards all is well."""

from __future__ import annotations

import mpi4py

mpi4py.rc.initialize = False

import numpy as np  # noqa: E402
import steadfold as sf  # noqa: E402
from mpi4py import MPI  # noqa: E402
from support import expect_refused  # noqa: E402

comm, x = MPI.COMM_WORLD, np.ones(3)
assert not MPI.Is_initialized()
expect_refused(
    "MPI is not initialised",
    lambda: sf.sum(x, comm=comm), lambda: sf.plan(comm).sum(x), lambda: sf.start(comm).sum(x), lambda: sf.allreduce(x, comm=comm),
    lambda: sf.Accumulator().merge_ranks(comm), lambda: sf.Group(comm), lambda: sf.Team(2, comm),
)  # fmt: skip
assert sf.sum(x) == 3
MPI.Init()
print(int(sf.sum([1.0], comm=comm)), flush=True)
MPI.Finalize()
