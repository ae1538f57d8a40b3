# mpirun -n 4 python3 products.py
import numpy as np
import steadfold as sf
from mpi4py import MPI

comm = MPI.COMM_WORLD
total = 10_000  # of which this rank has a run
d = 1.0 + np.arange(total * comm.rank // comm.size, total * (comm.rank + 1) // comm.size) % 1000
x, r, q = np.zeros_like(d), np.ones_like(d), np.empty_like(d)
p = r.copy()

# plan: the ranks agree once, on arrays that stay; a run sends the messages of one reduction
plan_rr = sf.plan(comm).dot(r, r)  # method="binned" for less time
plan_pq = sf.plan(comm).dot(p, q)

# loop: conjugate gradients for a diagonal matrix, d x = 1
squared = first = plan_rr.run()
iterations = 0
while squared > 1e-20 * first:
    q[:] = d * p
    alpha = squared / plan_pq.run()
    x += alpha * p
    r -= alpha * q
    before, squared = squared, plan_rr.run()
    p[:] = r + squared / before * p
    iterations += 1

# bundle: a bundle sends the sums of both products in the same messages
both = sf.Bundle(comm)
xx, xd = both.dot(x, x), both.dot(x, d)
both.run()  # again whenever the arrays have new elements

# start: the reduction goes on while the program multiplies
both.start()
q[:] = d * p  # changes neither x nor d
both.wait()

# gram: dot products of one vector with several others, the rows of an array, in one message
h = sf.sum(np.array([d, x]), axis=1, weights=x, comm=comm)

# once: a product outside of loops needs no plan
length = sf.norm(x, comm=comm)

if comm.rank == 0:
    print(f"iterations {float(iterations).hex()}\nsquared {squared.hex()}")
    print(f"bundle {xx.value.hex()}\nbundle2 {xd.value.hex()}")
    print(f"gram {h[0].hex()}\ngram2 {h[1].hex()}\nonce {length.hex()}")
