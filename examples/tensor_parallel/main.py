"""A small language model whose layers are divided among ranks as tensor parallelism does it: the same log-probabilities of
the same tokens, in bits, on any number of ranks. The control is the usual way: one matrix product per rank and an allreduce
of the products. README.md explains it.

  mpirun -n 4 python3 examples/tensor_parallel/main.py [--json]
  python3 examples/tensor_parallel/main.py --compare --ranks 1,2,4,8
"""

import os

# A matrix product with several threads has different bits. Set this before NumPy loads its library.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[name] = "1"

import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
from jobs import Fingerprint, Parser, at_least, compare, numbers, run_job

SEED = 1


def normals(key, shape, deviation):
    """The same numbers on every rank that asks for them."""
    return (np.random.default_rng([SEED, *key]).standard_normal(shape) * deviation).astype(np.float32)


class Layer:
    """y = relu(x A) B. The hidden features, which are columns of A and rows of B, are cut into tiles of one width whatever
    the number of ranks; a rank has a run of them."""

    def __init__(self, number, arguments, first, last):
        width, tile, hidden = arguments.width, arguments.tile, arguments.tile * arguments.tiles
        shapes = ((0, (width, tile), width**-0.5), (1, (tile, width), hidden**-0.5))
        self.up, self.down = (
            [normals((number, t, side), shape, deviation) for t in range(first, last)] for side, shape, deviation in shapes
        )
        self.shard = (np.hstack(self.up), np.vstack(self.down)) if self.up else None

    def tiles(self, x):
        """One product per tile. All have the same shape, so a tile has the same bits on whatever rank it is."""
        products = np.empty((len(self.up), *x.shape), np.float32)
        for up, down, product in zip(self.up, self.down, products):
            np.matmul(np.maximum(x @ up, 0), down, out=product)
        return products

    def product(self, x):
        """The usual way: one product per rank, whose shape depends on the number of ranks."""
        if self.shard is None:
            return np.zeros_like(x)
        up, down = self.shard
        return np.maximum(x @ up, 0) @ down


def plain(layer, x, comm):
    from mpi4py import MPI

    total = np.empty_like(x)
    comm.Allreduce(layer.product(x), total, MPI.SUM)
    return total


def steadfold(method):
    import steadfold as sf

    def reduced(layer, x, comm):
        return sf.sum(layer.tiles(x), axis=0, method=method, comm=comm)

    return reduced


def normalised(x):
    return x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + np.float32(1e-6))


def generate(model, reduce, arguments, comm, tokens=None):
    """Follows `batch` texts for `steps` tokens: the likeliest ones, or those that are given. Returns tokens, their
    log-probabilities, and the fingerprint of all that reductions gave."""
    layers, embedding, head = model
    seen = Fingerprint()
    x = embedding[: arguments.batch].copy()
    chosen, scores = [], []
    for step in range(arguments.steps):
        for layer in layers:
            y = reduce(layer, normalised(x), comm)
            seen.add(y)
            x = x + y
        logits = normalised(x) @ head
        token = logits.argmax(axis=1) if tokens is None else tokens[step]
        highest = logits.max(axis=1, keepdims=True)
        total = np.log(np.exp(logits - highest).sum(axis=1)) + highest[:, 0]
        scores.append(logits[np.arange(len(token)), token] - total)
        chosen.append(token)
        x = normalised(x) + embedding[token]
    return np.array(chosen), np.array(scores, np.float32), str(seen)


def job(comm, arguments):
    count = arguments.tiles
    first, last = (count * (comm.rank + side) // comm.size for side in (0, 1))
    layers = [Layer(number, arguments, first, last) for number in range(arguments.layers)]
    embedding = normals((arguments.layers, 0), (arguments.words, arguments.width), 1.0)
    head = normals((arguments.layers, 1), (arguments.width, arguments.words), 2 * arguments.width**-0.5)
    model = (layers, embedding, head)
    ways = {"plain": plain, "steadfold": steadfold(arguments.method)}
    record = {"application": "tensor_parallel", "ranks": comm.size, "threads": 1, "method": arguments.method}
    # The tokens of one rank: what would have been generated elsewhere, say.
    tokens = None
    if comm.size > 1:
        alone = [Layer(number, arguments, 0, count) for number in range(arguments.layers)] if comm.rank == 0 else None
        tokens = generate((alone, embedding, head), lambda layer, x, _: layer.product(x), arguments, None)[0] if alone else None
        tokens = comm.bcast(tokens)
    for name, reduce in ways.items():
        comm.Barrier()
        begin = time.perf_counter()
        found, scores, seen = generate(model, reduce, arguments, comm, tokens)
        if name == "plain" and tokens is None:
            tokens = found
        record[f"seconds_{name}"] = time.perf_counter() - begin
        record[f"fingerprint_{name}"] = seen
        record[f"log_probability_{name}"] = float(scores.astype(np.float64).sum())
        record[f"scores_{name}"] = [float(score) for score in scores.ravel()]
    return record, show


def show(record):
    print(f"{record['ranks']} ranks   reductions        log-probability of the text   seconds")
    for name in ("plain", "steadfold"):
        print(f"{name:10} {record['fingerprint_' + name]}  {record['log_probability_' + name]:<28.9f}  "
              f"{record['seconds_' + name]:.3f}")


def main():
    parser = Parser(prog="tensor_parallel", description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--compare", action="store_true", help="start jobs of several numbers of ranks")
    parser.add_argument("--ranks", type=numbers, default=None, help="for --compare: 1,2,4,8")
    parser.add_argument("--method", choices=("tree", "exact", "binned"), default="tree", help="of Steadfold's reductions")
    for name, default, meaning in (("layers", 4, "layers"), ("width", 256, "features of a token"), ("tile", 64, "hidden features per tile"),
                                   ("tiles", 16, "tiles of a layer"), ("batch", 4, "texts"), ("steps", 8, "tokens per text"),
                                   ("words", 512, "words there are")):  # fmt: skip
        parser.add_argument(f"--{name}", type=at_least(1), default=default, help=f"{meaning} ({default})")
    arguments = parser.parse_args()
    if arguments.batch < 2:
        parser.error("argument --batch: 1 text (its products are of matrices and vectors), take 2 or more")
    if arguments.words < arguments.batch:
        parser.error(f"argument --words: {arguments.words} words for {arguments.batch} texts")
    if not arguments.compare:
        if arguments.ranks:
            parser.error("argument --ranks: without --compare the launcher says how many")
        return run_job(job, arguments)
    if arguments.json:
        parser.error("argument --json: not with --compare")
    options = [f"--{name}={getattr(arguments, name)}" for name in
               ("method", "layers", "width", "tile", "tiles", "batch", "steps", "words")]  # fmt: skip
    columns = [("plain", "fingerprint_plain"), ("log-probability", lambda r: f"{r['log_probability_plain']:.9f}"),
               (f"Steadfold, {arguments.method}", "fingerprint_steadfold"),
               ("log-probability", lambda r: f"{r['log_probability_steadfold']:.9f}")]  # fmt: skip
    return compare(__file__, options, arguments.ranks or [1, 2, 4, 8], columns)


if __name__ == "__main__":
    sys.exit(main())
