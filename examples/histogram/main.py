"""Sums the rows of a CSV or Parquet file by a key, over ranks that read a part each: the same bits in every sum on any
number of ranks. The control is the usual way: a sum by groups on every rank and an allreduce of them. README.md explains it.

  mpirun -n 4 python3 examples/histogram/main.py payments.csv --by shop --sum amount [--times count] [--json]
  python3 examples/histogram/main.py --compare --ranks 1,2,3,4
"""

import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common"))
from jobs import Fingerprint, Parser, Refusal, agree, at_least, compare, numbers, run_job
from rows import read, write_sample

SEED = 1


def labels_of(keys, comm):
    """The sorted keys of all ranks, and the places of this rank's keys among them."""
    mine = sorted(set(keys.tolist()))
    known = sorted(set().union(*comm.allgather(mine)))
    if not known:
        return known, np.zeros(0, np.int64)
    return known, np.searchsorted(np.array(known), keys).astype(np.int64)


def plain(values, labels, groups, weights, comm):
    from mpi4py import MPI

    terms = values if weights is None else values * weights
    total = np.empty(groups)
    comm.Allreduce(np.bincount(labels, terms, groups).astype(np.float64), total, MPI.SUM)
    return total


def steadfold(values, labels, groups, weights, comm):
    import steadfold as sf

    return sf.sum_by(values, labels, groups, weights=weights, comm=comm)


def sums_of(path, comm, arguments):
    columns = [arguments.sum] + ([arguments.times] if arguments.times else [])
    keys, read_columns = agree(comm, lambda: read(path, arguments.by, columns, comm.rank, comm.size))
    known, labels = labels_of(keys, comm)
    rows = comm.allreduce(len(keys))
    if rows == 0:
        raise Refusal(f"{path} has no rows (there is nothing to sum), take another file")
    values, weights = read_columns[0], read_columns[1] if arguments.times else None
    record = {"application": "histogram", "ranks": comm.size, "threads": 1, "rows": rows, "groups": len(known)}
    for name, way in (("plain", plain), ("steadfold", steadfold)):
        found, seen = way(values, labels, len(known), weights, comm), Fingerprint()
        seen.add(found)
        record[f"fingerprint_{name}"] = str(seen)
        record[f"sums_{name}"] = dict(zip(known, found.tolist()))
        record[f"bits_{name}"] = dict(zip(known, (f"{bits:016X}" for bits in found.view(np.uint64).tolist())))
    for name in ("plain", "steadfold"):  # JSON has no numbers for NaN and infinities
        record[f"sums_{name}"] = {key: value if np.isfinite(value) else None for key, value in record[f"sums_{name}"].items()}
    return record, show


def job(comm, arguments):
    if arguments.file:
        return sums_of(arguments.file, comm, arguments)
    with tempfile.TemporaryDirectory() as directory:
        path = comm.bcast(f"{directory}/sample.csv")
        agree(comm, lambda: write_sample(path, arguments.rows, SEED) if comm.rank == 0 else None)
        record = sums_of(path, comm, arguments)
        comm.Barrier()  # rank 0 removes the file
        return record


def show(record):
    print(f"{record['rows']} rows, {record['groups']} groups, {record['ranks']} ranks")
    width = max(map(len, record["sums_plain"]))
    print(f"{'':{width}}  {'plain':34} Steadfold")
    for key in record["sums_plain"]:
        cells = []
        for name in ("plain", "steadfold"):
            value = record[f"sums_{name}"][key]
            cells.append(f"{record[f'bits_{name}'][key]} {'not finite' if value is None else f'{value:.9g}':<17}")
        print(f"{key:{width}}  {' '.join(cells)}".rstrip())


def main():
    parser = Parser(prog="histogram", description=__doc__.split("\n\n")[0], allow_abbrev=False)
    parser.add_argument("file", nargs="?", help="CSV with a header line, or .parquet; none: a sample is made")
    parser.add_argument("--by", default="shop", help="column of keys (shop)")
    parser.add_argument("--sum", default="amount", help="column that is added up (amount)")
    parser.add_argument("--times", help="column of factors")
    parser.add_argument("--rows", type=at_least(1), default=20000, help="of the sample (20000)")
    parser.add_argument("--write", action="store_true", help="write the sample to the file, and do nothing else")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--compare", action="store_true", help="start jobs of several numbers of ranks")
    parser.add_argument("--ranks", type=numbers, default=None, help="for --compare: 1,2,3,4")
    arguments = parser.parse_args()
    if arguments.write:
        if not arguments.file:
            parser.error("argument --write: no file (the sample is written to one), name it")
        write_sample(arguments.file, arguments.rows, SEED)
        return 0
    if not arguments.compare:
        if arguments.ranks:
            parser.error("argument --ranks: without --compare the launcher says how many")
        return run_job(job, arguments)
    if arguments.json:
        parser.error("argument --json: not with --compare")
    options = [arguments.file] if arguments.file else [f"--rows={arguments.rows}"]
    options += [f"--by={arguments.by}", f"--sum={arguments.sum}"] + ([f"--times={arguments.times}"] if arguments.times else [])
    columns = [("plain", "fingerprint_plain"), ("Steadfold", "fingerprint_steadfold")]
    return compare(__file__, options, arguments.ranks or [1, 2, 3, 4], columns)


if __name__ == "__main__":
    sys.exit(main())
