"""Reductions on the ranks of MPI.COMM_WORLD. Rank 0 prints a line for every result: its name and its bits, which must not
depend on the number of ranks, on the MPI library, or on threads; then what plain sums give, which does."""

from __future__ import annotations

import faulthandler
import gc
import inspect
import os
import sys
import traceback

import numpy as np
import steadfold as sf
from mpi4py import MPI
from ranks_inputs import N, area, digest, fields, labels, matrices, ocean, whole, x, y
from support import expect_refused, expect_words_of_python, hostile

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size


def mine(array):
    """The rows of this rank: unequal parts, one of them empty."""
    ends = np.sort(np.random.default_rng(ranks).integers(0, len(array), ranks - 1))
    ends = np.concatenate([[0], ends, [len(array)]])
    if ranks > 2:
        ends[2] = ends[1]
    return array[ends[rank] : ends[rank + 1]]


def show(name, *values):
    """Checks that all ranks have the same bits, and prints them."""
    found = digest(*values)
    assert set(comm.allgather(found)) == {found}, f"ranks differ in {name}"
    if rank == 0:
        print(name, found)


def raises(kind, call):
    """All ranks must raise an error of one of these kinds, and go on afterwards."""
    try:
        call()
    except kind as error:
        text = f"{type(error).__name__}: {error}"
    else:
        raise AssertionError(f"rank {rank}: no error")
    assert sf.sum([1.0], comm=comm) == ranks
    expect_words_of_python(text)
    return text


def results():
    everything = {"comm": comm}
    a, b = mine(x), mine(y)
    for method in ("exact", "tree", "binned", sf.binned(bins=4, double_sweep=True)):
        name = method if isinstance(method, str) else "binned4"
        show(f"sum {name}", sf.sum(a, method=method, **everything))
        show(f"columns {name}", sf.sum(mine(fields), axis=0, method=method, **everything))
    show("threads", sf.sum(a, threads=1 + rank % 2, **everything))
    show("dot", sf.dot(a, b, **everything), sf.vdot(a, b, **everything))
    show("norm", *(sf.norm(a, ord=o, **everything) for o in (1, 2, np.inf)))
    show("mean", sf.mean(a, **everything), sf.mean(mine(fields), axis=0, weights=mine(area), where=mine(ocean), **everything))
    show("covariance", sf.covariance(a, b, **everything), sf.sample_covariance(a, b, **everything), sf.corr(a, b, **everything))
    show("spread", sf.var(mine(fields), axis=0, **everything), sf.std(a[:0] if rank else a, ddof=1, comm=comm) * 0 + 1)
    show("narrow spread", *(sf.var(mine(fields).astype(t), axis=0, **everything) for t in ("f4", "f2", ">f4")), sf.std(mine(fields), dtype="f4", **everything))
    show("extremes", sf.min(a, **everything), sf.max(a, **everything), sf.argmin(a, **everything), sf.argmax(a, **everything))
    show("groups", sf.sum_by(a, mine(labels), 5, **everything))
    by_key = sf.group_by(np.array([None, *"EDCBA"], object)[mine(labels) + 1], **everything)
    show("keys", *(key.encode() for key in by_key.keys), by_key.count(), by_key.sum(a), by_key.mean(a))
    show("by key", by_key.min(a), by_key.std(a), *by_key.statistics(a), by_key.dot(a, b), by_key.corr(a, b), by_key.var(mine(fields), axis=0))
    by_label = sf.group_by(mine(labels), 5, **everything)
    show("by label", by_label.mean(a), by_label.max(a), by_label.mean(a, weights=np.abs(b)))
    show("cumsum", *(np.concatenate(comm.allgather(sf.cumsum(each, **everything))) for each in (a, mine(whole))))
    show("autocorrelation", *(sf.autocorrelation(a, lag, **everything) for lag in (1, 7, N - 1)))
    show("integers", sf.sum(mine(whole), **everything), sf.mean(mine(whole), **everything), sf.sum(mine(whole).astype("i1"), **everything), sf.prod(mine(whole) | 1, **everything))
    show("floats", sf.sum(mine(fields).astype(np.float32), **everything), sf.sum(mine(fields).astype(np.float16), axis=0, **everything))
    show("complex", sf.sum(mine(fields[:, 0] + 1j * fields[:, 1]), **everything))
    show("matrices", sf.reduce(mine(matrices), np.matmul, comm))
    show("batched", sf.reduce(mine(fields), np.hypot, comm, batched=True))
    accumulator = sf.Accumulator()
    accumulator.add(a)
    accumulator.merge_ranks(comm)
    show("accumulator", np.frombuffer(accumulator.to_bytes(), np.uint8))
    cyclic = sf.Layout.grid([N], [0], [7])
    show("cyclic", sf.sum(np.concatenate([x[i : i + 7] for i in range(7 * rank, N, 7 * ranks)] or [x[:0]]), method="tree", layout=cyclic, **everything))
    parts = [(N * rank // ranks, N * (rank + 1) // ranks)]
    parts = [((ranks - 1 - rank) * 100, (ranks - rank) * 100)] if ranks * 100 < N else parts
    intervals = sf.Layout.intervals(parts)
    first = np.concatenate([x[begin:end] for begin, end in parts])
    assert sf.sum(first, method="tree", layout=intervals, **everything) == sf.sum(x[: 100 * ranks], method="tree")
    plan = sf.plan(comm).sum(a, method="tree")
    plan.run()
    plan.start()
    show("plan", plan.wait(60))
    bundle = sf.Bundle(comm)
    members = [bundle.sum(a), bundle.norm(b), bundle.sum(mine(fields), axis=0), bundle.max(a)]
    bundle.run()
    bundle.start()
    while not bundle.test():
        pass
    bundle.wait()
    show("bundle", *(m.value for m in members))
    requests = [sf.start(comm).sum(a), sf.start(comm).dot(a, b), sf.start(comm).sum(a, method="tree")]
    show("started", *(r.wait(60) for r in reversed(requests)))
    # MPI's shapes depend on the number of ranks; they are compared with NumPy.
    buffer = np.arange(6.0).reshape(2, 3) + rank
    every = np.arange(6.0).reshape(2, 3) + np.arange(ranks)[:, None, None]
    np.testing.assert_array_equal(sf.allreduce(buffer, "sum", comm), every.sum(axis=0))
    np.testing.assert_array_equal(sf.allreduce(buffer, np.maximum, comm), every.max(axis=0))
    np.testing.assert_array_equal(sf.allreduce(buffer.astype("i2"), "prod", comm), every.astype("i2").prod(axis=0, dtype="i2"))
    np.testing.assert_array_equal(sf.scan(buffer, "max", comm), buffer)
    before = sf.exscan(buffer, "sum", comm)
    assert before is None if rank == 0 else (before == every[:rank].sum(axis=0)).all()
    blocks = [2] * (ranks - 1) + [1]
    flat = np.arange(sum(blocks)) + rank
    np.testing.assert_array_equal(sf.reduce_scatter(flat, "sum", comm, blocks=blocks), (np.arange(sum(blocks)) * ranks + ranks * (ranks - 1) // 2)[2 * rank : 2 * rank + blocks[rank]])
    at_root = sf.sum(a, root=ranks - 1, **everything)
    assert (at_root is None) == (rank != ranks - 1)
    of_integers = sf.mean(np.arange(3), comm=comm, root=ranks - 1)
    assert of_integers == (1.0 if rank == ranks - 1 else None)
    assert sf.sum(np.ones((2, 0)), axis=0, **everything).shape == (0,)


def failures():
    last = ranks - 1
    group = sf.Group(comm.Dup())
    assert group.rank == rank
    other = np.float32 if rank == last else np.float64
    texts = [
        raises((TypeError, sf.Error), lambda: sf.sum([1.0], root=1.5 if rank == last else 0, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.sum([1.0], threads=-1 if rank == last else 1, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.sum_by([1.0], [0], -1 if rank == last else 1, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.sum([1.0], out=[] if rank == last else None, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.reduce_scatter(np.ones(ranks), "sum", comm, blocks=[-1] if rank == last else None)),
        raises((ValueError, sf.Error), lambda: sf.norm([1.0], ord=[1] if rank == last else 2, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.plan(comm).sum(np.ones(2), **({"bogus": 1} if rank == last else {}))),
        raises((TypeError, sf.Error), lambda: sf.start(comm).allreduce(np.ones(2), **({"bogus": 1} if rank == last else {})).wait(60)),
        raises((TypeError, sf.Error), lambda: sf.sum(np.ones(2), comm=comm, **({"bogus": 1} if rank == last else {}))),
        raises((TypeError, sf.Error), lambda: sf.mean([1, 2], comm=comm, **({"threads": "two"} if rank == last else {}))),
        raises((TypeError, sf.Error), lambda: sf.scan(np.ones(2), "sum", comm, **({"layout": None} if rank == last else {}))),
        raises((TypeError, sf.InvalidArgumentError), lambda: sf.sum(["text"] if rank == last else [1.0], comm=comm)),
        raises((ValueError, IndexError, sf.Error), lambda: sf.sum([1.0], axis=3 if rank == last else None, comm=comm)),
        raises((ValueError, sf.Error), lambda: sf.norm([1.0], ord=3 if rank == last else 2, comm=comm)),
        raises((ValueError, sf.Error), lambda: sf.var([1.0], ddof=3 if rank == last else 0, comm=comm)),
        raises((ZeroDivisionError, sf.OperatorError), lambda: sf.reduce([1.0, 2.0], lambda p, q: 1 / 0 if rank == last else p, comm)),
        raises((TypeError, sf.InvalidArgumentError), lambda: sf.sum_by([1.0], ["a"] if rank == last else [0], 1, comm=comm)),
        raises((TypeError, sf.Error), lambda: sf.mean(np.array([2**40]), method=7 if rank == last else None, dtype="S1" if rank == last else None, comm=comm)),
        raises(sf.EmptyError, lambda: sf.min([], comm=comm)),
        raises(sf.InvalidArgumentError, lambda: sf.sum([1.0], root=ranks, comm=comm)),
        raises(sf.InvalidArgumentError, lambda: sf.plan(comm).sum(np.ones(2), root=-2)),
        raises((TypeError, sf.Error), lambda: sf.reduce_scatter(np.ones(ranks), "sum", comm, blocks=[-1] * ranks)),
        raises(sf.InvalidArgumentError, lambda: sf.reduce_scatter(np.ones(ranks), "sum", comm, blocks=[1] * (ranks + 1))),
        raises(sf.InvalidArgumentError, lambda: sf.reduce_scatter(np.ones(ranks), "sum", comm, blocks=[])),
        raises(sf.InvalidArgumentError, lambda: sf.reduce_scatter(np.ones(ranks), "sum", comm, blocks=[2**63] * ranks)),
        raises(sf.InvalidArgumentError, lambda: sf.sum([1.0], require="ranks,", comm=comm)),
        raises(sf.InvalidArgumentError, lambda: sf.allreduce(np.ones(2), "sum", comm, root=-1 if rank == last else None)),
        raises((TypeError, sf.Error), lambda: sf.sum([1.5], out=np.array(0, int if rank == last else float), comm=comm)),
    ]
    for function in (sf.sum, sf.mean):
        out = np.zeros(2) if rank == last else np.array(0.0)
        texts.append(raises(ValueError if rank == last else sf.Error, lambda: function([1.0], out=out, comm=comm)))  # noqa: B023
        assert "out of shape (2,)" in texts[-1], texts[-1]
    if ranks > 1:
        texts += [
            raises(sf.MismatchError, lambda: sf.reduce(np.ones(2, other), np.add, comm)),
            raises(sf.MismatchError, lambda: sf.reduce(np.ones((2, 2, 3) if rank else (2, 3, 2)), np.add, comm)),
            raises(sf.MismatchError, lambda: sf.sum(np.ones(3, np.float32 if rank == last else np.float64), comm=comm)),
            raises(sf.MismatchError, lambda: sf.var(np.ones(3), dtype="f4" if rank == last else "f8", comm=comm)),
            raises((ValueError, sf.Error), lambda: sf.dot(np.ones(3), np.ones(1 if rank == last else 3), comm=comm)),
            raises((TypeError, sf.Error), lambda: sf.var(np.ma.ones(3) if rank == last else np.ones(3), comm=comm)),
            raises((ValueError, sf.Error), lambda: sf.sum([1.0], dtype="c16" if rank == last else None, comm=comm)),
            raises(sf.MismatchError, lambda: sf.sum([1.0], method="tree" if rank == last else "exact", comm=comm)),
            raises(sf.MismatchError, lambda: sf.sum(np.ones((2, 3 + rank // last)), axis=0, comm=comm)),
            raises(sf.OverlapError, lambda: sf.sum([1.0, 2.0], method="tree", layout=sf.Layout.intervals([(rank, rank + 2)]), comm=comm)),
            raises((sf.MismatchError, sf.InvalidArgumentError), lambda: sf.plan(comm).sum([1.0] if rank == last else [[1.0, 2.0]], axis=0)),
            raises(sf.MismatchError, lambda: sf.Accumulator(3 if rank == last else 2).merge_ranks(comm)),
        ]
        plan = sf.plan(comm).sum(np.ones(4))
        texts.append(raises(sf.Error, lambda: plan.run(np.ones(5) if rank == last else np.ones(4))))
        assert plan.run() == 4 * ranks
        text = raises(sf.MismatchError, lambda: sf.sum(np.ones(2), where=[True, False] if rank == last else None, comm=comm))
        assert "elements given as rows without a mask against an array with a mask of rows" in text, text
    if rank == 0 and "--texts" in sys.argv:
        print("\n".join(texts))


def every_argument():
    """Whatever one rank gives for one argument: every rank raises or none does, and nobody waits."""
    column, square, blocks = np.ones(4), np.ones((2, 2)), {"blocks": [1] * ranks}
    started, planned = sf.start(comm), sf.plan(comm)
    functions = [
        *((getattr(sf, name), {"x": column}) for name in "sum prod norm mean min max statistics var std argmin argmax".split()),
        *((getattr(sf, name), {"x": column, "y": column}) for name in ("dot", "vdot", "covariance", "sample_covariance", "corr")),
        (sf.sum_by, {"x": column, "labels": np.zeros(4, int), "groups": 2}),
        (sf.group_by, {"keys": ["a", "b", "b", "c"]}), (sf.cumsum, {"x": column}), (sf.autocorrelation, {"x": np.arange(4.0), "lag": 1}),
        (sf.reduce, {"x": column, "op": np.hypot}), (sf.reduce, {"x": square, "op": np.hypot, "batched": True}),
        *((getattr(sf, name), {"buffer": column, "op": "sum"}) for name in ("allreduce", "scan", "exscan")),
        (sf.reduce_scatter, {"buffer": np.ones(ranks), "op": "sum", **blocks}),
        *((made.sum, {"x": column, "keepdims": False, "threads": 1}) for made in (started, planned)),
        *((made.dot, {"x": column, "y": column}) for made in (started, planned)),
        *((made.reduce, {"x": column, "op": np.hypot}) for made in (started, planned)),
        *((made.allreduce, {"buffer": column, "op": "sum", "root": 0}) for made in (started, planned)),
        *((made.reduce_scatter, {"buffer": np.ones(ranks), "op": "sum", **blocks}) for made in (started, planned)),
    ]  # fmt: skip
    tried = refused = 0
    alone = []
    for function, good in functions:
        names = [*inspect.signature(function).parameters, *good]
        for name in dict.fromkeys(n for n in names if n not in ("comm", "options", "out")):
            for bad in (None, object(), "banana", -7, [1, 2, 3], b"x", 1e300):
                given = {**good, **({name: bad} if rank == ranks - 1 else {})}
                if "comm" in names:
                    given["comm"] = comm
                faulthandler.dump_traceback_later(15, exit=True)  # ranks that wait for others
                try:
                    made = function(**given)
                    if isinstance(made, sf.Request):
                        made.wait(60)
                    raised = None
                except Exception as error:  # noqa: BLE001 - any will do, if all ranks have one
                    raised = error
                everyone = comm.allgather(raised is not None)
                if len(set(everyone)) > 1:
                    alone.append(f"{function.__qualname__}({name}={bad!r}) on the last rank: {everyone}, {raised!r}")
                tried, refused = tried + 1, refused + everyone[0]
    assert sf.sum([1.0], comm=comm) == ranks
    faulthandler.cancel_dump_traceback_later()
    assert not alone, "\n".join(alone)
    assert tried > 1500 and refused > 1100, (tried, refused)


def operators_that_return_something_else():
    """Nothing that does not fit the elements becomes a result."""
    whole, names = np.arange(4), np.array(["a", "b"])
    for values, op, words in (
        (np.ones(4), lambda p, q: None, "returned None"), (whole, lambda p, q: (p + q) / 2, "float64"),
        (np.ones(4), lambda p, q: p + 1j * q, "complex128"), (np.ones(4), lambda p, q: "text", "dtype"),
        (names, lambda p, q: p + q, "dtype"),
    ):  # fmt: skip
        text = raises((TypeError, sf.Error), lambda: sf.reduce(values, op, comm))  # noqa: B023
        assert words in text, text
    assert sf.reduce(whole, lambda p, q: int(p + q), comm) == 6 * ranks
    assert sf.reduce(np.ones(4, np.float32), lambda p, q: float(p + q), comm) == 4 * ranks


def plans_started_twice():
    """Every rank is refused, however far its run has come; the run goes on."""
    plan = sf.plan(comm).sum(np.ones(4))
    for _ in range(50):
        plan.start()
        for again in (plan.start, plan.run):
            try:
                again()
            except sf.InvalidArgumentError:
                continue
            raise AssertionError("a run that is under way")
        assert plan.wait(60) == 4 * ranks


def threads_of_the_library():
    """A thread that moves calls on wants Python's lock for operators, while other calls have it."""
    group = sf.Group(comm)
    group.progress_thread(True)
    for _ in range(5):
        assert sf.start(group).reduce(np.ones(50), lambda p, q: p + q).wait(60) == 50 * ranks
    plan = sf.plan(comm).reduce(np.ones(3), lambda p, q: p + q)
    for _ in range(5):
        plan.start()
        assert plan.wait(60) == 3 * ranks
    group.progress_thread(False)


def objects_that_are_no_communicators():
    """MPI's other objects have numbers as communicators have: every function refuses them all, before it communicates."""
    x = np.ones(4)
    functions = {
        **{name: lambda c, f=getattr(sf, name): f(x, comm=c)
           for name in "sum prod mean var std statistics min max argmin argmax norm".split()},
        **{name: lambda c, f=getattr(sf, name): f(x, x, comm=c) for name in ("dot", "vdot", "covariance", "sample_covariance", "corr")},
        **{name: lambda c, f=getattr(sf, name): f(x, "sum", c) for name in ("reduce", "allreduce", "reduce_scatter", "scan", "exscan")},
        "sum_by": lambda c: sf.sum_by(x, [0] * 4, 1, comm=c), "group_by": lambda c: sf.group_by([1, 2], comm=c),
        "by labels": lambda c: sf.group_by([0] * 4, 1, comm=c).mean(x), "cumsum": lambda c: sf.cumsum(x, comm=c),
        "autocorrelation": lambda c: sf.autocorrelation(np.arange(4.0), comm=c), "callable": lambda c: sf.reduce(x, np.add, c),
        "mean of integers": lambda c: sf.mean([1, 2], comm=c), "sum of bytes": lambda c: sf.sum(x.astype("i1"), comm=c),
        "unknown option": lambda c: sf.plan(c).sum(x, bogus=1), "plan": lambda c: sf.plan(c).sum(x), "start": lambda c: sf.start(c).sum(x),
        "bundle": lambda c: sf.Bundle(c).sum(x), "group": sf.Group, "team": lambda c: sf.Team(1, c),
        "accumulator": lambda c: sf.Accumulator().merge_ranks(c),
    }  # fmt: skip
    others = (MPI.SUM, MPI.BYTE, MPI.GROUP_EMPTY, MPI.OP_NULL, MPI.REQUEST_NULL, MPI.INFO_NULL, MPI.Status(), MPI.WIN_NULL, MPI, 0)
    for name, function in functions.items():
        for other in others:
            try:
                function(other)
            except TypeError as error:
                assert "a communicator of mpi4py, or a member" in str(error), error
                continue
            raise AssertionError(f"{name} over {other!r}")
        expect_refused("no reduction over MPI_COMM_NULL", lambda: function(MPI.COMM_NULL))  # noqa: B023
    if ranks > 1:
        part = comm.Split(rank % 2)
        between = part.Create_intercomm(0, comm, 1 - rank % 2)
        expect_refused("intercommunicator", *(lambda f=f: f(between) for f in functions.values()))
        between.Free()
        part.Free()
    for place in (MPI.IN_PLACE, MPI.BOTTOM):
        raises((TypeError, sf.Error), lambda: sf.allreduce(place if rank == 0 else x, "sum", comm))  # noqa: B023


def operations_of_mpi4py():
    """SUM, PROD, MIN and MAX wherever an operation is taken; no rank waits where one of them gives another one."""
    x = hostile(np.random.default_rng(rank), 2 * ranks)
    for op, name in ((MPI.SUM, "sum"), (MPI.PROD, "prod"), (MPI.MIN, "min"), (MPI.MAX, "max")):
        for function in (sf.allreduce, sf.reduce_scatter, sf.scan, sf.exscan, sf.reduce):
            mixed = op if rank % 2 else name  # which ranks say in either way
            assert digest(function(x, mixed, comm)) == digest(function(x, name, comm)), (function, name)
        for made in (sf.plan(comm), sf.start(comm)):
            found = [made.allreduce(x, op), made.reduce(x, op), made.reduce(x, name)]
            values = [one.run() if isinstance(one, sf.Plan) else one.wait(60) for one in found]
            assert digest(*values) == digest(sf.allreduce(x, name, comm), *[sf.reduce(x, name, comm)] * 2), (made, name)
        assert digest(sf.allreduce(np.arange(3, dtype="i2"), op, comm)) == digest(sf.allreduce(np.arange(3, dtype="i2"), name, comm))
    own = MPI.Op.Create(lambda a, b, _: None)
    for op, words in ((MPI.MINLOC, "argmin"), (MPI.MAXLOC, "argmax"), (MPI.BAND, "numpy.bitwise_and"), (MPI.LXOR, "numpy.logical_xor"),
                      (MPI.REPLACE, "MPI.REPLACE"), (MPI.OP_NULL, "MPI.OP_NULL"), (own, "function of which the operation was made")):
        for call in (lambda o: sf.allreduce(x, o, comm), lambda o: sf.reduce(x, o, comm), lambda o: sf.plan(comm).scan(x, o)):
            text = raises(TypeError if rank == 0 else sf.InvalidArgumentError, lambda: call(op if rank == 0 else MPI.SUM))  # noqa: B023
            assert words in text, text
    own.Free()


def what_one_rank_gets_wrong_of_objects():
    """Teams over all ranks, results that cannot be stored, and arrays that a plan has: nobody waits."""
    last = ranks - 1
    faulthandler.dump_traceback_later(10, exit=True)  # ranks that wait for others
    for wrong in ({"workers": "a"}, {"workers": 2**40}, {"timeout": -1}, {"timeout": "long"}):
        raises((TypeError, sf.Error), lambda: sf.Team(**{"workers": 2, "comm": comm, **(wrong if rank == last else {})}))  # noqa: B023
    out = np.array(0.0)
    out.flags.writeable = rank != last
    assert "read-only" in raises((ValueError, sf.Error), lambda: sf.sum([1.0], out=out, comm=comm))
    x = np.ones(1000)
    plan = sf.plan(comm).sum(x)
    if rank == last:
        x.resize(2, refcheck=False)
    raises(sf.InvalidArgumentError, plan.run)
    faulthandler.cancel_dump_traceback_later()


def children_of_fork():
    """They reduce by themselves, and are refused what MPI's ranks do. What a child drops, its parent still has."""
    plan, started = sf.plan(comm).sum(np.ones(4)), sf.plan(comm).sum(np.ones(4))
    started.start()
    plan.run()
    request = sf.start(comm.Dup()).sum(np.ones(4))
    child = os.fork()
    if child == 0:
        try:
            expect_refused(
                "in a child of fork", plan.run, plan.start, started.wait, request.wait, request.test, lambda: sf.sum([1.0], comm=comm),
                lambda: sf.plan(comm).sum(np.ones(4)), lambda: sf.start(comm).sum([1.0]), lambda: sf.Accumulator().merge_ranks(comm),
                lambda: sf.Group(comm).barrier(), lambda: sf.Team(1, comm),
            )  # fmt: skip
            assert sf.sum(np.ones(4)) == sf.plan().sum(np.ones(4)).run() == 4
            del plan, started, request
            gc.collect()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, "a child of fork"
    assert plan.run() == started.wait(60) == request.wait(60) == 4 * ranks
    others = [sf.plan(comm).sum(np.full(4, float(i))) for i in range(4)]
    assert [plan.run()] + [other.run() for other in others] == [4 * ranks] + [4 * i * ranks for i in range(4)]


def what_is_gone():
    """Groups of communicators that were freed, and all calls after the end of MPI, also of what is from before, are refused."""
    copy = comm.Dup()
    group = sf.Group(copy)
    assert sf.sum([1.0], comm=group) == ranks
    copy.Free()
    expect_refused("", lambda: group.rank, lambda: sf.sum([1.0], comm=group))
    plan, run = (sf.plan(comm).sum(np.ones(4)) for _ in range(2))
    run.start()
    request = sf.start(comm.Dup()).sum(np.ones(4))
    MPI.Finalize()
    expect_refused(
        "MPI is finalised",
        lambda: sf.sum([1.0], comm=comm), lambda: sf.plan(comm).sum(np.ones(2)), lambda: sf.start(comm).sum(np.ones(2)),
        lambda: sf.allreduce([1.0], comm=comm), lambda: sf.Accumulator().merge_ranks(comm), lambda: sf.Group(comm),
        plan.run, plan.start, run.wait, request.test, request.wait,
    )  # fmt: skip


results()
failures()
every_argument()
operators_that_return_something_else()
plans_started_twice()
objects_that_are_no_communicators()
operations_of_mpi4py()
what_one_rank_gets_wrong_of_objects()
if ranks <= 3:
    children_of_fork()
if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
    threads_of_the_library()
plain = np.array([comm.allreduce(float(np.sum(mine(x))))])
if rank == 0:
    print("# plain", plain.tobytes().hex())
    print("# transport", sf.Group(comm).transport, sf.config()["mpi library"]["layer"])
what_is_gone()
