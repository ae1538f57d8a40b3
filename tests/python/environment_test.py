"""The process's floating-point environment reaches no result: every function gives the same bits in every rounding mode, and
where a library that was linked with -ffast-math has subnormal numbers taken for zeros."""

from __future__ import annotations

import concurrent.futures
import ctypes
import fractions
import inspect
import os
import platform
import types
import unittest
import warnings

import numpy as np
import steadfold as sf
from steadfold import _core
from support import hostile

try:
    import steadfold.dask as sfd
    from dask import array as da
except ImportError:
    sfd = None

SEED = 20261130
_libm = ctypes.CDLL("libm.so.6")
_reference = ctypes.CDLL(os.environ["STEADFOLD_PYTHON_REFERENCE"])
ROUNDING = {"x86_64": {"nearest": 0, "down": 0x400, "up": 0x800, "zero": 0xC00},
            "aarch64": {"nearest": 0, "up": 0x400000, "down": 0x800000, "zero": 0xC00000}}.get(platform.machine(), {})  # fmt: skip
FLUSHES = hasattr(_reference, "flush_subnormals")
#: Each rounding mode, and subnormal numbers that are zeros in two of them.
ENVIRONMENTS = [("nearest", True), ("up", False), ("down", FLUSHES), ("zero", False)][not FLUSHES:]

#: Names of the package that compute with no elements, and what others make.
OTHERS = {"Binned", "Group", "GroupBy", "Layout", "Member", "Plan", "Request", "Statistics", "Team", "Tree", "binned", "config", "show_config",
          "tree"}  # fmt: skip


def within(environment, function):
    """Calls a function in this environment; the default one comes back."""
    mode, flush = environment
    _libm.fesetround(ROUNDING[mode])
    if flush:
        _reference.flush_subnormals(1)
    try:
        return function()
    finally:
        if flush:
            _reference.flush_subnormals(0)
        _libm.fesetround(ROUNDING["nearest"])


def bits(value):
    if isinstance(value, sf.Accumulator):
        return value.to_bytes()
    if isinstance(value, (list, tuple)):
        return [bits(each) for each in value]
    if value is None or isinstance(value, (bytes, str)):
        return value
    array = np.asarray(value)
    return array.dtype.str, array.shape, array.tobytes()


def made():
    """Elements whose conversions round, and subnormal ones of every width."""
    rng = np.random.default_rng(SEED)
    d = types.SimpleNamespace()
    d.f4 = np.concatenate([np.array([1e-40, 2e-40, -3e-41, 1.4e-45, 1 / 3, -0.1], np.float32), rng.random(6).astype(np.float32)])
    d.f8 = np.concatenate([np.array([5e-324, 1e-310, -2e-320, 1e-40, 1 / 3, 0.1, -1e-39]), rng.random(5)])
    d.f2 = np.concatenate([np.array([6e-8, -2.5e-5, 1 / 3, 0.1], np.float16), rng.random(8).astype(np.float16)])
    d.c8 = (d.f4 + 1j * d.f4[::-1]).astype(np.complex64)
    d.c16 = d.f8 + 1j * d.f8[::-1]
    d.g = d.f8.astype(np.longdouble) + np.longdouble(2) ** -60
    d.i8 = rng.integers(-(2**53), 2**53, 12)
    d.large = rng.integers(2**61, 2**62, 12)
    d.u2 = rng.integers(0, 2**16, 12, np.uint16)
    d.big = d.f8.astype(">f8")
    d.big2 = d.f2.astype(">f2")
    d.tiny4 = np.array([1e-40, 2e-40, -3e-41, 1.4e-45, 1e-39, 7e-41] * 2, np.float32)
    d.tiny8 = np.array([5e-324, 1e-310, -2e-320, 1e-315, 3e-309, 2e-311] * 2)
    d.tiny2 = np.array([6e-8, -2.5e-5, 1e-6, 3e-7, 5e-5, 2e-5] * 2, np.float16)
    d.tiny_list = [np.float32(1e-40), np.float32(3e-41), 5e-324]
    d.tiny_complex = (d.tiny4 + 1j * d.tiny4[::-1]).astype(np.complex64)
    d.whole = rng.integers(1, 9, 12).astype(np.float64)
    d.listed = [np.float32(1e-40), 1.0, np.float16(0.1)]
    d.labels = rng.integers(-1, 3, 12).astype(np.int16)
    d.mask = rng.random(12) < 0.7
    d.hostile4, d.hostile8 = hostile(rng, 12, np.float32), hostile(rng, 12)
    d.alone, d.team = sf.Team(1), sf.Team(2)
    return d


D = made()
REAL = ("f8", "f4", "f2", "tiny8", "tiny4", "tiny2", "tiny_list", "big", "big2", "listed", "u2", "i8", "hostile4", "hostile8")


def into(dtype, function, *operands, **options):
    out = np.zeros((), dtype)
    function(*operands, out=out, **options)
    return out


def accumulated(x, weights=None, where=None, dtype=np.float64):
    made = sf.Accumulator(dtype=dtype, products=weights is not None)
    made.add(x, weights, where)
    taken = made.copy()
    taken.subtract(x[:3], None if weights is None else weights[:3])
    return made, made.sum(), made.mean(np.float32), taken - made, -made, made.compare(taken)


def of_real(function, **options):
    return [lambda name=name: function(getattr(D, name), **options) for name in REAL]


def of_pairs(function):
    pairs = [("f4", "f8"), ("f8", "f4"), ("f2", "f8"), ("f4", "f2"), ("f4", "u2"), ("i8", "f8"), ("u2", "f4"), ("big", "f4"), ("f4", "big"),
             ("tiny4", "whole"), ("whole", "tiny4"), ("tiny8", "f4"), ("f2", "tiny8"), ("tiny2", "whole"), ("tiny4", "u2"), ("hostile4", "hostile8")]
    return [lambda a=a, b=b: function(getattr(D, a), getattr(D, b)) for a, b in pairs]


def of_complex(function):
    return [lambda a=a, b=b: function(getattr(D, a), getattr(D, b)) for a, b in [("c8", "f8"), ("c8", "c16"), ("f4", "c16"), ("c16", "f4"), ("tiny_complex", "whole"), ("whole", "tiny_complex"), ("tiny4", "c16")]]


def on_two(call):
    """The results of two workers, on threads; a new one has the environment of the one that starts it."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        other = pool.submit(call, D.team[1])
        return call(D.team[0]), other.result(30)


def buffers(function):
    names = ("f8", "f4", "f2", "tiny2", "tiny8", "tiny4", "c8", "u2", "big", "big2")
    return [lambda name=name, op=op: on_two(lambda member: function(getattr(D, name), op, member)) for name in names for op in ("sum", "prod")] + [
        lambda: on_two(lambda member: function(D.f4, lambda a, b: D.f8[: len(a)], member))]  # which computes nothing; its results are converted


def of_calls(make, run):
    """Plans, bundles and started calls convert no operands."""
    calls = [lambda c: c.sum(D.f4), lambda c: c.sum(D.f8, weights=D.hostile8), lambda c: c.mean(D.f4), lambda c: c.norm(D.c8), lambda c: c.dot(D.f4, D.hostile4),
             lambda c: c.covariance(D.f8, D.hostile8), lambda c: c.statistics(D.f2), lambda c: c.prod(D.f4), lambda c: c.sum(D.f8, method="tree"),
             lambda c: c.reduce(D.f4, lambda a, b: D.f8[2])]
    return [lambda call=call: run(call(made)) for call in calls for made in [make()]]


def run_bundle():
    bundle = sf.Bundle()
    members = [bundle.sum(D.f4), bundle.mean(D.f8), bundle.vdot(D.c8, D.c8), bundle.statistics(D.f4)]
    bundle.run()
    return [member.value for member in members]


def statistics_of(x, **options):
    return tuple(sf.statistics(x, **options))


ROWS = {
    "sum": [*of_real(sf.sum), *of_real(sf.sum, method="tree")[:3], *of_pairs(lambda x, y: sf.sum(x, weights=y)), *of_complex(lambda x, y: sf.sum(x, weights=y)),
            lambda: sf.sum(D.f8, dtype="f4"), lambda: sf.sum(D.f4, dtype="f8"), lambda: sf.sum(D.i8, dtype="f4"), lambda: sf.sum(D.large, dtype="f8"),
            lambda: sf.sum(D.f8, dtype=np.longdouble), lambda: sf.sum(D.g), lambda: into("f4", sf.sum, D.f8), lambda: into("f8", sf.sum, D.f4),
            lambda: into("f2", sf.sum, D.f8), lambda: into("f8", sf.sum, D.tiny4), lambda: into("f4", sf.sum, D.tiny8), lambda: into("c16", sf.sum, D.c8), lambda: into("f4", sf.sum, D.large), lambda: sf.sum(D.f8, where=D.mask, method="binned")],
    "prod": [*of_real(sf.prod)[:-3], lambda: sf.prod(D.i8[:3], dtype="f8"), lambda: into("f8", sf.prod, D.f4), lambda: into("f4", sf.prod, D.f8), lambda: into("f8", sf.prod, D.tiny4[:1]), lambda: sf.prod(D.c8)],
    "mean": [*of_real(sf.mean), *of_pairs(lambda x, y: sf.mean(np.abs(x), weights=np.abs(y))), lambda: sf.mean(D.i8, dtype="f4"), lambda: into("f4", sf.mean, D.f8),
             lambda: into("f4", sf.mean, D.large), lambda: into("f2", sf.mean, D.f8), lambda: sf.mean(D.c8), lambda: sf.mean(D.large, where=D.mask)],
    "var": [*of_real(sf.var)[:-2], lambda: sf.var(D.f8, dtype="f4"), lambda: into("f4", sf.var, D.f8), lambda: into("f2", sf.var, D.f8), lambda: sf.var(D.f4, dtype="f8")],
    "std": [*of_real(sf.std, ddof=1)[:-2], lambda: into("f4", sf.std, D.f8), lambda: into("f8", sf.std, D.f4)],
    "min": [*of_real(sf.min), lambda: into("f4", sf.min, D.f8), lambda: sf.min(D.f8, where=D.mask)],
    "max": [*of_real(sf.max), lambda: into("f4", sf.max, D.f8), lambda: into("f8", sf.max, D.tiny4)],
    "argmin": of_real(sf.argmin),
    "argmax": [*of_real(sf.argmax), lambda: sf.argmax([np.float32(1e-40), 0.0])],
    "norm": [*of_real(sf.norm), *of_real(sf.norm, ord=1), *of_real(sf.norm, ord=np.inf), lambda: sf.norm(D.c8), lambda: sf.norm(D.f8, dtype="f4")],
    "statistics": of_real(statistics_of),
    "sum_by": [*(lambda name=name: sf.sum_by(getattr(D, name), D.labels, 3) for name in ("f8", "f4", "f2", "big", "u2", "c8")),
               lambda: sf.sum_by(D.tiny4, D.labels, 3, weights=D.whole), lambda: sf.sum_by(D.f4, D.labels, 3, weights=D.f8), lambda: sf.sum_by(D.u2, D.labels, 3, weights=D.f4)],
    "reduce": [lambda: sf.reduce(D.f4, "sum"), lambda: sf.reduce(D.f4, lambda a, b: D.f8[2]), lambda: sf.reduce(D.f4, lambda a, b: D.f8[: len(a)], batched=True),
               lambda: sf.reduce(D.f8, lambda a, b: D.f4[0])],
    "fsum": [lambda: sf.fsum(D.f4), lambda: sf.fsum(D.tiny4), lambda: sf.fsum(D.tiny_list), lambda: sf.fsum(D.tiny2), lambda: sf.fsum(list(D.f4)), lambda: sf.fsum([fractions.Fraction(1, 3), 5e-324, np.float16(6e-8)]), lambda: sf.fsum(D.big),
             lambda: sf.fsum(float(x) for x in D.f8), lambda: sf.fsum(D.large), lambda: sf.fsum([5e-324] * 3), lambda: sf.fsum(D.g)],
    "dot": [*of_pairs(sf.dot), *of_complex(sf.dot), lambda: sf.dot(D.u2, D.i8), lambda: sf.dot(D.f8, D.f4, dtype="f4")],
    "vdot": [*of_pairs(sf.vdot), *of_complex(sf.vdot)],
    "covariance": of_pairs(sf.covariance)[:-1],
    "sample_covariance": of_pairs(sf.sample_covariance)[:-1],
    "corr": of_pairs(sf.corr)[:-1],
    "group_by": [*(lambda name=name, method=method: getattr(sf.group_by(D.labels, 3), method)(getattr(D, name))
                   for name in ("f8", "f4", "f2", "big", "u2") for method in ("sum", "mean", "std", "max")),
                 *of_pairs(lambda x, y: sf.group_by(np.zeros(len(x), int)).corr(x, y))[:-1],
                 lambda: sf.group_by(D.labels, 3).mean(D.tiny4, weights=D.whole), lambda: tuple(sf.group_by(D.labels, 3).statistics(D.f4))],
    "cumsum": [*of_real(sf.cumsum), lambda: sf.cumsum(D.f8, dtype="f4"), lambda: sf.cumsum(D.f4, dtype="f8"), lambda: sf.cumsum(D.c8), lambda: sf.cumsum(D.u2, dtype="f4"),
               lambda: on_two(lambda member: sf.cumsum(D.f4, comm=member))],
    "autocorrelation": [*of_real(sf.autocorrelation), lambda: sf.autocorrelation(D.hostile8, 3), lambda: on_two(lambda member: sf.autocorrelation(D.f4, 2, comm=member))],
    "allreduce": buffers(sf.allreduce),
    "reduce_scatter": buffers(sf.reduce_scatter),
    "scan": buffers(sf.scan),
    "exscan": buffers(sf.exscan),
    "plan": of_calls(sf.plan, lambda plan: plan.run()),
    "start": of_calls(lambda: sf.start(D.alone[0]), lambda request: request.wait(30)),
    "Bundle": [run_bundle],
    "Accumulator": [lambda: accumulated(D.f4), lambda: accumulated(D.f8), lambda: accumulated(D.f2, dtype=np.float32), lambda: accumulated(D.big2),
                    lambda: accumulated(D.f4, D.f8), lambda: accumulated(D.f4, D.f2, dtype=np.float32), lambda: accumulated(D.f8, D.i8), lambda: accumulated(D.tiny4), lambda: accumulated(D.whole, D.tiny4), lambda: accumulated(D.i8)],
}  # fmt: skip

if sfd is not None:
    CHUNKED = [lambda x: da.from_array(x, chunks=12), lambda x: da.from_array(x, chunks=5)]

    def of_chunks(function, *names):
        """One chunk, and several."""
        return [lambda name=name, cut=cut: function(*(cut(getattr(D, each)) for each in name.split())).compute(scheduler="sync") for name in names for cut in CHUNKED]

    DASK_ROWS = {
        "sum": [*of_chunks(sfd.sum, "f8", "f4", "big", "u2", "c8", "tiny4"), *of_chunks(lambda x, w: sfd.sum(x, weights=w), "f8 f4", "u2 f4", "whole tiny4"),
                *of_chunks(lambda x: sfd.sum(x, dtype="f4"), "f8", "large"), *of_chunks(lambda x: sfd.sum(x, dtype="f8"), "tiny4", "large")],
        "dot": of_chunks(sfd.dot, "f8 f4", "whole tiny4", "c8 c8", "i8 f8"),
        "vdot": of_chunks(sfd.vdot, "f8 f4", "whole tiny4", "c8 c8", "c16 tiny_complex"),
        "mean": [*of_chunks(sfd.mean, "f8", "f4", "large", "c8"), *of_chunks(lambda x, w: sfd.mean(x, weights=w), "f8 f4", "whole tiny4", "hostile8 hostile8"),
                 *of_chunks(lambda x: sfd.mean(x, dtype="f4"), "f8", "large")],
        "norm": [*of_chunks(sfd.norm, "f8", "f4", "i8", "c8"), *of_chunks(lambda x: sfd.norm(x, 1), "f8", "tiny4", "u2")],
        "var": [*of_chunks(sfd.var, "f8", "f4", "i8", "tiny4", "hostile8"), *of_chunks(lambda x: sfd.var(x, dtype="f4"), "f8")],
        "std": [*of_chunks(sfd.std, "f8", "f4", "u2", "tiny4", "hostile4"), *of_chunks(lambda x: sfd.std(x, ddof=1), "f8", "big")],
        "min": of_chunks(sfd.min, "f8", "f4", "tiny4", "i8"),
        "max": of_chunks(sfd.max, "f8", "f4", "tiny4", "u2"),
        "group_by": [case for method in ("sum", "mean", "var", "std", "min", "max")
                     for case in of_chunks(lambda x, labels, method=method: getattr(sfd.group_by(labels, 3), method)(x), "f8 labels", "f4 labels", "tiny4 labels")],
        "GroupBy": of_chunks(lambda x, labels, w: sfd.group_by(labels).mean(x, weights=w), "f8 labels f4", "hostile8 labels hostile8"),
        "sum_by": [*of_chunks(lambda x, labels: sfd.sum_by(x, labels, 3), "f8 labels", "f4 labels"),
                   *of_chunks(lambda x, labels, w: sfd.sum_by(x, labels, 3, weights=w), "f8 labels f4")],
    }  # fmt: skip


@unittest.skipUnless(ROUNDING, f"how {platform.machine()} rounds is not known here")
class Environments(unittest.TestCase):
    def expect_same_bits(self, rows):
        wrong = []
        for name, cases in rows.items():
            for number, case in enumerate(cases):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own, as of what is stored into halves
                    expected = bits(case())
                    wrong += [(name, number, *environment) for environment in ENVIRONMENTS if bits(within(environment, case)) != expected]
        self.assertEqual(wrong, [], f"function, case, rounding, whether subnormals are zeros; seed {SEED}")

    def test_no_function_feels_it(self):
        self.expect_same_bits(ROWS)

    def test_dask(self):
        if sfd is None:
            self.skipTest("dask is not installed, install dask[array] and distributed")
        self.assertEqual(set(DASK_ROWS), set(sfd.__all__), "a public function without a row, or the other way round")
        self.expect_same_bits(DASK_ROWS)

    def test_every_function_has_a_row(self):
        public = {name for name in sf.__all__ if not (inspect.isclass(getattr(sf, name)) and issubclass(getattr(sf, name), Exception))}
        self.assertEqual(set(ROWS), public - OTHERS)
        for name, cases in ROWS.items():
            self.assertGreater(len(cases), 0, name)

    def test_control_numpy_feels_it(self):
        """Each environment changes what NumPy makes of these elements."""
        for environment in ENVIRONMENTS:
            plain = [lambda: D.f4.astype(np.float64), lambda: D.f8.astype(np.float32), lambda: D.large.astype(np.float64), lambda: np.sum(D.f8)]
            changed = [bits(within(environment, case)) != bits(case()) for case in plain]
            if environment[1]:
                self.assertTrue(changed[0], environment)
            if environment[0] != "nearest":
                self.assertTrue(changed[1] and changed[2], environment)

    def test_the_callers_environment_comes_back(self):
        """Also where a conversion is refused, and with NumPy's warnings."""
        for environment in ENVIRONMENTS:
            def third():
                return bits(np.float64(1.0) / np.float64(3.0)), bits(D.f4 * np.float32(1))

            def after_calls():
                sf.sum(D.f4, weights=D.f8)
                with self.assertRaisesRegex(TypeError, "above 2..53"):
                    sf.norm(D.large)
                with self.assertWarnsRegex(RuntimeWarning, "overflow"):
                    into("f2", sf.sum, [1e300])
                return third()

            self.assertEqual(within(environment, after_calls), within(environment, third), environment)

    def test_the_examination_of_the_doctor(self):
        found = _core.examine(None)
        self.assertEqual(found["wrong"], [])
        for environment in ENVIRONMENTS:
            self.assertEqual(within(environment, lambda: _core.examine(None)), found, environment)

    def test_what_the_issue_names(self):
        if not FLUSHES:
            self.skipTest("this processor's subnormal numbers cannot be flushed here")
        x = np.array([1e-40, 2e-40], np.float32)
        found = within(("nearest", True), lambda: sf.sum(x, weights=np.ones(2)))
        self.assertEqual(found, 2.999997843319071e-40)


if __name__ == "__main__":
    unittest.main()
