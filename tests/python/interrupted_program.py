"""A user presses Ctrl-C on rank 0, which waits for ranks that make no call: it raises, and goes on without the
communicator; all others go on with another one."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import steadfold as sf
from mpi4py import MPI

world = MPI.COMM_WORLD
used, unused = world.Dup(), world.Dup()
x = np.ones(1000)
total = sf.sum(x, comm=used)  # what the communicator needs is there
assert total == 1000 * world.size

if world.rank == 0:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    try:
        sf.sum(x, comm=used)
    except KeyboardInterrupt:
        print(f"interrupted {time.monotonic() - began < 10 or time.monotonic() - began}", flush=True)
    for call in (lambda: sf.sum(x, comm=used), lambda: sf.plan(used).sum(x), lambda: sf.start(used).sum(x)):
        try:
            call()
        except sf.TransportError as error:
            print(error, flush=True)
world.Barrier()
assert sf.sum(x, comm=unused) == total
sys.stdout.flush()
os._exit(0) if "--exit" in sys.argv else None
