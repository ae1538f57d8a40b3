"""Plans, bundles, started calls, teams, accumulators; and the package as such: documentation, types, memory, processes."""

from __future__ import annotations

import concurrent.futures
import copy
import doctest
import gc
import importlib
import inspect
import os
import pickle
import resource
import subprocess
import sys
import threading
import time
import unittest
import warnings
import weakref
from pathlib import Path

import numpy as np
import steadfold as sf
from support import bits, expect_words_of_python, hostile

SEED = 20261123


class Plans(unittest.TestCase):
    """Without ranks, and between the threads of a team."""

    def test_plans_read_their_arrays_again(self):
        x = np.arange(6.0).reshape(2, 3)
        plan = sf.plan().sum(x, axis=0)
        first = plan.run()
        x += 1
        second = plan.run()
        self.assertEqual([first.tolist(), second.tolist()], [[3, 5, 7], [5, 7, 9]])
        self.assertEqual(plan.run(np.zeros((2, 3))).tolist(), [0, 0, 0])
        self.assertIn("sum", repr(plan))
        self.assertTrue(plan.schedule)
        for other in (np.zeros((3, 2)), np.zeros((2, 3), np.float32), np.zeros((4, 3))[::2]):
            with self.assertRaisesRegex(sf.InvalidArgumentError, "bind another plan"):
                plan.run(other)
        with self.assertRaises(sf.InvalidArgumentError):
            plan.run(x, x)
        plan.start(x)
        self.assertEqual(plan.wait(5).tolist(), [5, 7, 9])
        self.assertEqual(plan.run(x * 0).tolist(), [0, 0, 0])
        self.assertEqual(plan.run().tolist(), [5, 7, 9], "what was bound, again")
        with self.assertRaisesRegex(sf.InvalidArgumentError, "the plan has not run"):
            sf.plan().sum(x).wait()
        with self.assertRaisesRegex(RuntimeError, "not started"):
            sf.Bundle().wait()
        for made in (lambda p: p.reduce(x[:, ::2], np.add), lambda p: p.sum([1.0, 2.0]), lambda p: p.dot(x[0], x[1].astype("f4")),
                     lambda p: p.sum_by(x[0], np.array([0, 0, 0], "i2"), 1), lambda p: p.sum(x, where=[[True, False, True]])):
            with self.assertRaisesRegex((sf.InvalidArgumentError, TypeError), "convert"):
                made(sf.plan())
        bundle = sf.Bundle()
        bundle.sum(x)
        bundle.reduce(x, lambda a, b: {}["missing"])
        with self.assertRaises(KeyError):
            bundle.run()
        dot = sf.plan().dot(x[0], x[1])
        self.assertEqual(float(dot.run(y=np.ones(3))), 6.0 + 0.0)
        dot.start(y=np.full(3, 2.0))
        self.assertEqual(float(dot.wait(5)), 12.0)

    def test_bundles(self):
        x = hostile(np.random.default_rng(SEED), 100)
        bundle = sf.Bundle()
        members = [bundle.sum(x), bundle.norm(x), bundle.max(x), bundle.sum(x, method="tree"), bundle.statistics(x[:3] * 0 + 1)]
        with self.assertRaisesRegex(RuntimeError, "the bundle has not run"):
            members[0].value
        bundle.run()
        self.assertEqual([bits(m.value) for m in members[:4]], [bits(v) for v in (sf.sum(x), sf.norm(x), sf.max(x), sf.sum(x, method="tree"))])
        self.assertEqual(float(members[4].value["mean"]), 1.0)
        with self.assertRaisesRegex(RuntimeError, "another bundle"):
            bundle.sum(x)
        with self.assertRaisesRegex(TypeError, "argument 'axes' does not exist"):
            sf.Bundle().sum(x, axes=0)

    def test_arrays_that_change_in_place(self):
        """A plan reads what it was made of: no run reads beyond an array that has become another one meanwhile."""
        changes = (
            lambda a: a.resize(3, refcheck=False), lambda a: setattr(a, "shape", (5, 200)), lambda a: setattr(a, "dtype", "i1"),
        )  # fmt: skip
        for change in changes:
            for name in ("elements", "factors", "a mask", "labels"):
                x, other = np.ones(1000), np.zeros(1000, bool if name == "a mask" else float if name == "factors" else int)
                plans = {"elements": lambda p: p.sum(x), "factors": lambda p: p.dot(x, other),  # noqa: B023
                         "a mask": lambda p: p.sum(x, where=other), "labels": lambda p: p.sum_by(x, other, 2)}  # noqa: B023
                plan, bundle = plans[name](sf.plan()), sf.Bundle()
                plans[name](bundle)
                plan.run()
                changed = x if name == "elements" else other
                before = changed.dtype, changed.shape
                change(changed)
                if (changed.dtype, changed.shape) == before:
                    continue
                for run in (plan.run, plan.start, bundle.run, bundle.start):
                    with self.assertRaisesRegex(sf.InvalidArgumentError, f"^{name} of shape .* bind another plan"):
                        run()

    def test_what_ranks_agree_on_is_not_copied(self):
        team, bundle = sf.Team(1), sf.Bundle()
        bundle.sum(np.ones(2))
        request = sf.start(team[0]).sum([1.0])
        for made in (sf.plan().sum(np.ones(2)), bundle, team, team[0], request, sf.Layout.rank_order()):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "pickle"):
                    copied(made)
        request.wait(5)

    def test_operators_that_call_back(self):
        """What is in use is refused; everything else may be called, or dropped."""
        x, team, found = np.arange(8.0), sf.Team(1), {}

        def calling(back):
            def op(a, b):
                back()
                return a + b

            return op

        for name in ("run", "start", "test", "wait", "describe"):
            plan = found[name] = sf.plan().reduce(x, calling(lambda: getattr(found[name], name)()))  # noqa: B023
            if name == "describe":
                self.assertEqual(float(plan.run()), 28.0)
                continue
            with self.assertRaisesRegex(sf.InvalidArgumentError, "operator that calls back"):
                plan.run()
        with self.assertRaisesRegex(sf.InvalidArgumentError, "operator that calls back"):
            sf.reduce(x, calling(lambda: sf.sum(x, comm=team[0])), team[0])
        for drop in (found.clear, gc.collect):
            found["plan"] = sf.plan().reduce(x, calling(drop))
            self.assertEqual(float(found["plan"].run()), 28.0)
        self.assertEqual(float(sf.reduce(x, calling(lambda: sf.reduce(x, np.add)))), 28.0)
        self.assertEqual(float(sf.sum(x, comm=team[0])), 28.0)

    def test_a_bundle_that_another_thread_binds(self):
        team = sf.Team(2, timeout=20)
        mine, other = sf.Bundle(team[0]), sf.Bundle(team[1])
        member = mine.sum(np.ones(2))
        other.sum(np.ones(2))
        thread = threading.Thread(target=mine.run)
        thread.start()
        try:
            end = time.monotonic() + 10
            while not mine._is_binding and time.monotonic() < end:
                time.sleep(0.001)
            with self.assertRaisesRegex(sf.InvalidArgumentError, "another thread"):
                mine.run()
            with self.assertRaisesRegex(RuntimeError, "another bundle"):
                mine.sum(np.ones(3))
        finally:
            other.run()
            thread.join(30)
        self.assertEqual(float(member.value), 4.0)

    def test_a_bundle_whose_binding_fails_says_why_again(self):
        bundle = sf.Bundle(comm=sf.Team(1)[0])
        bundle.sum(np.ones(2), root=5)
        for _ in range(2):
            with self.assertRaisesRegex(sf.InvalidArgumentError, "root 5"):
                bundle.run()

    def test_a_run_that_fails_has_no_result(self):
        fails = False

        def add(a, b):
            if fails:
                raise ZeroDivisionError
            return a + b

        plan = sf.plan().reduce(np.arange(4.0), add)
        self.assertEqual(float(plan.run()), 6.0)
        self.assertEqual(float(plan.wait()), 6.0)
        fails = True
        with self.assertRaises(ZeroDivisionError):
            plan.run()
        with self.assertRaises(sf.Error):
            plan.wait()
        fails = False
        with self.assertRaises(ValueError):
            plan.run(np.arange(5.0))
        with self.assertRaises(sf.Error):
            plan.wait()
        self.assertEqual(float(plan.run()), 6.0)
        self.assertEqual(float(plan.wait()), 6.0)

    def test_teams(self):
        x = hostile(np.random.default_rng(SEED), 1000)
        team = sf.Team(3)
        parts = np.array_split(x, 3)
        results = [None] * 3

        def work(worker):
            member = team[worker]
            request = sf.start(member).sum(parts[worker], method="tree")
            results[worker] = (sf.sum(parts[worker], comm=member), request.wait(10), member.rank, member.size, sf.reduce(parts[worker], lambda a, b: a + b, member))

        threads = [threading.Thread(target=work, args=(w,)) for w in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for worker, result in enumerate(results):
            self.assertEqual(bits(result[0]), bits(sf.sum(x)))
            self.assertEqual(bits(result[1]), bits(sf.sum(x, method="tree")))
            self.assertEqual(bits(result[4]), bits(sf.sum(x, method="tree")))
            self.assertEqual(result[2:4], (worker, 3))
        for worker in (3, -1):
            with self.assertRaises(IndexError):
                team[worker]
        with self.assertRaises(sf.InvalidArgumentError):
            sf.Team(0)

    def test_members_wait_for_nobody_before_their_first_call(self):
        team = sf.Team(3)
        members = list(team)
        self.assertEqual([(m.rank, m.size) for m in members], [(0, 3), (1, 3), (2, 3)])
        requests = [sf.start(member).sum([float(w)]) for w, member in enumerate(members)]
        self.assertEqual([float(request.wait(30)) for request in requests], [3.0] * 3)

    def test_a_team_whose_workers_do_not_come(self):
        team = sf.Team(2, timeout=0.1)
        x = np.ones(100)
        for _ in range(2):
            text = r"longer than its limit of 0.1.* \(workers of this process that are in no call: 1\)"
            with self.assertRaisesRegex(sf.TransportError, text):
                sf.sum(x, comm=team[0])
        with self.assertRaisesRegex(sf.TransportError, "in no call: 1"):
            sf.sum(x, comm=team[1])
        for wrong in (-1.0, float("nan")):
            with self.assertRaisesRegex(ValueError, "a timeout of"):
                sf.Team(2, timeout=wrong)
        pool = concurrent.futures.ThreadPoolExecutor(1)  # fewer threads than workers
        late = sf.Team(2, timeout=0.1)
        futures = [pool.submit(sf.sum, x, comm=late[w]) for w in range(2)]
        for future in futures:
            self.assertIsInstance(future.exception(30), sf.TransportError)

    def test_ctrl_c_ends_all_waits_of_a_team(self):
        program = """
import os, signal, threading, time, steadfold as sf
team, texts = sf.Team(3), []
def work():
    try:
        sf.sum([1.0], comm=team[1])
    except sf.TransportError as error:
        texts.append(str(error))
thread = threading.Thread(target=work)
thread.start()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
began = time.monotonic()
try:
    sf.sum([1.0], comm=team[0])
except KeyboardInterrupt:
    took = time.monotonic() - began
thread.join()
try:
    sf.sum([1.0], comm=team[2])
except sf.TransportError as error:
    texts.append(str(error))
print(took < 10 or took, *texts, sep="|")
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
        text = "the team can't be used any more (a call on it was interrupted), use another communicator or team"
        self.assertEqual(done.stdout.strip(), f"True|{text}|{text}", done.stderr)

    def test_time_limits(self):
        team = sf.Team(2)
        done = threading.Event()

        def late():
            member = team[1]
            done.wait(30)
            sf.sum([2.0], comm=member)

        thread = threading.Thread(target=late)
        thread.start()
        request = sf.start(team[0]).sum([1.0])
        self.assertFalse(request.test())
        with self.assertRaises(TimeoutError):
            request.wait(timeout=0.05)
        for over in (-1, float("nan")):  # looks once
            with self.assertRaises(TimeoutError):
                request.wait(timeout=over)
        done.set()
        self.assertEqual(float(request.wait(30)), 3.0)
        self.assertEqual(float(request.wait()), 3.0)
        self.assertTrue(request.test())
        thread.join(30)

    def test_requests_that_nobody_waits_for(self):
        team = sf.Team(1)
        for _ in range(100):
            sf.start(team[0]).sum(np.ones(1000))
        self.assertEqual(float(sf.sum([1.0], comm=team[0])), 1.0)

    def test_what_is_dropped_under_way_keeps_its_arrays(self):
        """As long as another worker is to come, the library reads them."""
        team, may_come, found = sf.Team(2), threading.Event(), []

        def late():
            twos = np.full(1000, 2.0)
            plan = sf.plan(team[1]).sum(twos)
            may_come.wait(30)
            found.extend([float(sf.sum(twos, comm=team[1])), float(plan.run()), float(sf.sum([1.0], comm=team[1]))])

        thread = threading.Thread(target=late)
        thread.start()
        started, bound, given = (np.full(1000, value) for value in (1.0, 5.0, 3.0))
        read = [weakref.ref(array) for array in (started, bound, given)]
        plan = sf.plan(team[0]).sum(bound)
        request = sf.start(team[0]).sum(started)
        plan.start(given)
        try:
            del started, given
            gc.collect()
            self.assertEqual([array() is None for array in read], [False] * 3, "request and plan are there")
            del request
            gc.collect()
            self.assertIsNotNone(read[0](), "a request that was dropped")
            del plan, bound
            gc.collect()
            self.assertEqual([array() is None for array in read], [False] * 3, "a plan that was dropped")
        finally:
            may_come.set()
            self.assertEqual(float(sf.sum([1.0], comm=team[0])), 2.0)
            thread.join(30)
        self.assertEqual(found, [3000.0, 5000.0, 2.0])


class Accumulators(unittest.TestCase):
    """Exact sums as objects."""

    def test_order_and_division_do_not_matter(self):
        x = hostile(np.random.default_rng(SEED), 999)
        whole = sf.Accumulator()
        whole.add(x)
        merged = sf.Accumulator()
        for part in np.array_split(x[::-1], 7):
            one = sf.Accumulator()
            one.add(part)
            merged += one
        self.assertEqual(whole, merged)
        self.assertEqual(whole.to_bytes(), merged.to_bytes())
        self.assertEqual(bits(whole.sum()), bits(sf.sum(x)))
        self.assertEqual(bits(whole.mean()), bits(sf.mean(x)))
        merged.subtract(x[:10])
        merged.add(x[:10])
        self.assertEqual(whole, merged)
        self.assertEqual((whole - merged).rows, 0)
        self.assertEqual(float((whole + -whole).sum()), 0.0)

    def test_columns_masks_products(self):
        x = hostile(np.random.default_rng(SEED), 600).reshape(50, 3, 4)
        sums = sf.Accumulator((3, 4))
        sums.add(x[::2])
        sums.add(x[1::2])
        self.assertEqual(bits(sums.sum()), bits(sf.sum(x, axis=0)))
        self.assertEqual(sums.rows, 50)
        w = np.random.default_rng(1).random(4)
        products = sf.Accumulator(4, products=True)
        products.add(x[:, 0], weights=w)
        self.assertEqual(bits(products.sum()), bits(sf.dot(x[:, 0], w, axis=0)))
        masked = sf.Accumulator()
        masked.add(x, where=x > 0)
        self.assertEqual(bits(masked.sum()), bits(sf.sum(x, where=x > 0)))
        self.assertEqual(masked.compare(sf.Accumulator()), 1)
        squares = sf.Accumulator(products=True)
        squares.add(np.arange(5.0), weights=np.arange(5.0))
        self.assertEqual(bits(squares.norm()), bits(sf.norm(np.arange(5.0))))
        for wrong in (x[:, :2], np.zeros(4)):
            with self.assertRaisesRegex(ValueError, "last axes"):
                sums.add(wrong)
        with self.assertRaises(ValueError):
            sums += masked
        turned = sf.Accumulator((4, 3))  # as many columns, which mean something else
        for change in (sums.__iadd__, sums.__isub__, sums.compare):
            with self.assertRaisesRegex(ValueError, "different shapes"):
                change(turned)
        with self.assertRaises(TypeError):
            sf.Accumulator(dtype=np.float32).add([0.1])
        integers = sf.Accumulator()
        integers.add(np.array([1, 2, 3]))
        self.assertEqual(float(integers.sum()), 6.0)

    def test_one_thread_at_a_time(self):
        """What another thread adds meanwhile is refused, or added: never lost, never half."""
        x = hostile(np.random.default_rng(SEED), 300_000)
        total, added = sf.Accumulator(), [0, 0]

        def work(worker):
            for _ in range(30):
                try:
                    total.add(x)
                    added[worker] += 1
                except sf.InvalidArgumentError:
                    pass

        threads = [threading.Thread(target=work, args=(w,)) for w in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(total.rows, sum(added) * x.size)
        expected = sf.Accumulator()
        for _ in range(sum(added)):
            expected.add(x)
        self.assertEqual(total, expected)

    def test_another_thread_that_changes_it_meanwhile(self):
        """While it is merged with that of a worker who comes late, everyone else is refused."""
        team, one, other = sf.Team(2), sf.Accumulator(), sf.Accumulator()
        one.add([1.0, 2.0])
        other.add([4.0])
        thread = threading.Thread(target=one.merge_ranks, args=(team[0],))
        thread.start()
        try:
            end, is_refused = time.monotonic() + 5, False
            while not is_refused and time.monotonic() < end:
                try:
                    self.assertEqual(one.rows, 2)  # the thread has not come that far
                except sf.InvalidArgumentError:
                    is_refused = True
            self.assertTrue(is_refused)
            for call in (lambda: one.add([8.0]), one.sum, one.copy, one.to_bytes, lambda: other.compare(one)):
                with self.assertRaisesRegex(sf.InvalidArgumentError, "in use by another thread"):
                    call()
            second = sf.Team(2, timeout=5)  # where the other worker must not wait
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(sf.Accumulator().merge_ranks, second[1])
                with self.assertRaisesRegex(sf.InvalidArgumentError, "in use by another thread"):
                    one.merge_ranks(second[0])
                self.assertRegex(str(waiting.exception(30)), "rank 0: the accumulator is in use by another thread")
        finally:
            other.merge_ranks(team[1])
            thread.join(30)
        self.assertEqual([float(each.sum()) for each in (one, other)], [7.0, 7.0])
        self.assertEqual(one, other)

    def test_bytes_and_pickles(self):
        one = sf.Accumulator((2, 3))
        one.add(hostile(np.random.default_rng(SEED), 12).reshape(2, 2, 3))
        for made in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), one.copy(), sf.Accumulator.from_bytes(one.to_bytes(), (2, 3))):
            self.assertEqual(made, one)
            self.assertEqual(made.shape, (2, 3))
        self.assertEqual(sf.Accumulator.from_bytes(one.to_bytes()).shape, (6,))
        damaged = bytearray(one.to_bytes())
        damaged[len(damaged) // 2] ^= 1
        for bad in (bytes(damaged), one.to_bytes()[:-1], b""):
            with self.assertRaises(sf.InvalidArgumentError):
                sf.Accumulator.from_bytes(bad)
        with self.assertRaises(ValueError):
            sf.Accumulator.from_bytes(one.to_bytes(), (5,))
        with self.assertRaises(TypeError):
            hash(one)
        for call, text in (
            (lambda: sf.Accumulator.from_bytes(3), "bytes-like"), (lambda: sf.Accumulator.from_bytes("text"), "bytes-like"),
            (lambda: one.compare(3), "another accumulator"), (lambda: sf.Accumulator.from_bytes(one.to_bytes(), 2.0), "float"),
        ):  # fmt: skip
            with self.assertRaisesRegex(TypeError, text):
                call()
        self.assertEqual(sf.Accumulator.from_bytes(memoryview(one.to_bytes()), [np.int64(3), 2]).shape, (3, 2))
        self.assertEqual(sf.Accumulator(dtype=None).dtype, np.float64)
        self.assertIn("2 rows", repr(one))


class Package(unittest.TestCase):
    """What is not a reduction."""

    def test_examples_in_documentation(self):
        examined = 0
        names = sorted(path.stem for path in Path(sf.__file__).parent.glob("_*.py"))
        names = [*(name for name in names if name not in ("__init__", "__main__")), "_core"]
        for module in [sf, *(importlib.import_module(f"steadfold.{name}") for name in names)]:
            result = doctest.testmod(module)
            self.assertEqual(result.failed, 0, module.__name__)
            examined += result.attempted
        self.assertGreater(examined, 50)

    def test_everything_public_is_documented(self):
        for name in sf.__all__:
            thing = getattr(sf, name)
            self.assertTrue(inspect.getdoc(thing), name)
        self.assertIn("method", inspect.signature(sf.sum).parameters)
        self.assertIn("rank 1", sf.__doc__ + " rank 1")
        self.assertEqual(sf.__version__, sf.config()["version"])
        self.assertIn("exact", sf.config()["methods"])

    def test_types(self):
        """mypy --strict on the packages and on a program that uses one."""
        sample = Path(__file__).with_name("typed_program.py")
        packages = Path(os.path.realpath(Path(sf.__file__).parent / "__init__.py")).parents[1]
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-error-summary", f"--cache-dir={os.environ.get('TMPDIR', '/tmp')}/steadfold-mypy", str(packages / "steadfold"), str(packages / "steadfold_command"), str(sample)],
                              env=dict(os.environ, MYPYPATH=str(packages)), capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_numbers_that_no_call_can_use(self):
        """Every count, axis and time limit: an error that says which."""
        x, team, never = np.ones(6), sf.Team(2), sf.start(sf.Team(2)[0]).sum([1.0])
        grid, numbers = sf.Layout.grid, {
            "threads": lambda n: sf.sum(x, threads=n), "root": lambda n: sf.sum(x, root=n),
            "groups": lambda n: sf.sum_by(x, np.zeros(6, int), n), "workers": sf.Team, "worker": team.bind,
            "threads ": lambda n: sf.Accumulator().add(x, threads=n),
        }  # fmt: skip
        lists = {
            "shape": lambda n: grid([n], [0]), "ranks": lambda n: grid([6], [n]), "blocks": lambda n: grid([6], [0], [n]),
            "first": lambda n: grid([6], [0], [2], [n]), "intervals": lambda n: sf.Layout.intervals([(0, n)]),
        }  # fmt: skip
        for table in (numbers, lists):
            for name, call in table.items():
                for wrong in (1.0, float("nan"), "2", 2**64, -(2**70), [1], object()):
                    with self.assertRaisesRegex(TypeError, f"^{name.strip()} (is|are) ", msg=f"{name}={wrong!r}"):
                        call(wrong)
        for wrong in (2**63, 2**64 - 1):
            with self.assertRaisesRegex(sf.InvalidArgumentError, "groups"):
                numbers["groups"](wrong)
        for wrong in (4097, 2**31, 2**32 - 1):
            for name in ("threads", "threads "):
                with self.assertRaisesRegex(sf.InvalidArgumentError, f"^{wrong} threads"):
                    numbers[name](wrong)
        for wrong in (-1, 2, 3, 2**31, 2**64, -(2**64)):
            with self.assertRaises(IndexError):
                team[wrong]
        for wrong in (1.0, "0", None, slice(0, 1)):
            with self.assertRaises(TypeError):
                team[wrong]
        for wait in (never.wait, lambda limit: sf.Team(2, timeout=limit)):
            for wrong in ("1", [1], object(), 10**400):
                with self.assertRaisesRegex(TypeError, "^timeout is .* number of seconds"):
                    wait(wrong)
        for wrong in ((1,) * 16, (1,) * 64, (2**32, 2**32), 2**62, 0, -1):
            with self.assertRaisesRegex(sf.InvalidArgumentError, "an accumulator (of|with)"):
                sf.Accumulator(wrong)
        for wrong in (2**64, 1.0, (1.0,), "3", None):
            with self.assertRaises(TypeError):
                sf.Accumulator(wrong)
        for wrong in (0, 1, 5, -1, 2**64):
            with self.assertRaisesRegex(ValueError, "takes 2 to 4 bins"):
                sf.Binned(wrong)

    def test_texts_have_the_words_of_python(self):
        accumulator, x = sf.Accumulator(), np.ones(4)
        accumulator.add(x)
        for call, words in (
            (accumulator.norm, "make the accumulator with products=True"), (lambda: accumulator.add(x, weights=x), "make the accumulator with products=True"),
            (lambda: sf.Accumulator.from_bytes(b"x" * 100), "bytes that an accumulator was written to"),
            (lambda: sf.sum(x, require="ranks,"), "names of guarantees"), (lambda: sf.sum(x, root=-1), "counted from 0"),
            (lambda: sf.sum(x, layout=sf.Layout.grid([5], [0], [2]), method="tree"), "5 elements on all ranks"),
        ):  # fmt: skip
            with self.assertRaisesRegex(sf.Error, words) as caught:
                call()
            expect_words_of_python(str(caught.exception))

    def test_names_that_name_nothing(self):
        for name in ("", "exact\0", "\0"):
            for option in ("method", "schedule", "require"):
                with self.assertRaisesRegex(sf.InvalidArgumentError, "null characters"):
                    sf.sum([1.0], **{option: name})

    def test_objects_without_their_constructor(self):
        class Unmade(sf.Team):
            def __init__(self):
                """Forgets the one above."""

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nanobind's
            for call in (lambda: Unmade()[0], lambda: sf.sum([1.0], comm=sf.Group.__new__(sf.Group)),
                         lambda: sf.sum([1.0], layout=sf.Layout.__new__(sf.Layout))):
                with self.assertRaisesRegex(TypeError, "constructor was not called"):
                    call()

    def test_threads_that_run_when_the_interpreter_ends(self):
        """They are left behind: the program ends as it would have, without a crash."""
        program = """
import threading, time, numpy as np, steadfold as sf
x, few = np.ones(1_000_000), [1.0] * 2000
def work(call):
    while True:
        call()
for call in (lambda: sf.sum(x), lambda: sf.sum(few), lambda: sf.reduce(np.ones(500), lambda a, b: a + b),
             lambda: sf.Accumulator().add(x), lambda: sf.sum([1.0], comm=sf.Team(2)[0])):
    threading.Thread(target=work, args=(call,), daemon=True).start()
class Last:
    def __init__(self):
        self.plan, self.sf, self.error = sf.plan().sum(np.ones(4)), sf, sf.InvalidArgumentError
    def __del__(self):
        try:
            self.plan.run(y=np.ones(4))
        except self.error:
            print(int(self.plan.run()))
import builtins
builtins.last = Last()
time.sleep(0.05)
"""
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, "4\n"), done.stderr)

    def test_references_are_not_kept(self):
        x, w, mask, labels = np.ones((20, 2)), np.ones(2), np.ones((20, 2), bool), np.zeros((20, 2), int)

        def calls():
            sf.sum(x, axis=0, weights=w, where=mask)
            sf.sum_by(x, labels, 1)
            sf.reduce(x, np.add)
            sf.statistics(x, axis=1)
            plan = sf.plan().dot(x, x)
            plan.run()
            bundle = sf.Bundle()
            bundle.sum(x)
            bundle.run()
            accumulator = sf.Accumulator()
            accumulator.add(x, where=mask)
            for wrong in (lambda: sf.sum(x, axis=7), lambda: sf.sum(x, method="no"), lambda: sf.reduce(x, lambda a, b: 1 / 0)):
                try:
                    wrong()
                except (ValueError, IndexError, ZeroDivisionError):
                    pass

        calls()
        gc.collect()
        before = [sys.getrefcount(o) for o in (x, w, mask, labels, np.dtype(float), None)]
        for _ in range(200):
            calls()
        gc.collect()
        after = [sys.getrefcount(o) for o in (x, w, mask, labels, np.dtype(float), None)]
        for b, a in zip(before, after):
            self.assertLess(abs(a - b), 100, (before, after))

    def test_memory_stays_flat(self):
        x, y = np.ones(3), np.ones((3, 2))

        def many(count):
            for _ in range(count):
                sf.sum(x)
                sf.sum(y, axis=0)
                sf.sum([1, 2])
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = many(20_000)
        self.assertLess(many(330_000) - before, 2000, "kilobytes after a million calls")

    def test_forked_processes(self):
        """A child of fork has local sums, also by threads."""
        x = hostile(np.random.default_rng(SEED), 70_000)
        expected = sf.sum(x, threads=2)
        child = os.fork()
        if child == 0:
            os._exit(0 if bits(sf.sum(x, threads=2)) == bits(expected) and bits(sf.sum(x)) == bits(expected) else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_calls_at_exit(self):
        """By handlers of atexit, and by a thread's own data when it ends."""
        code = """if True:
            import atexit, threading
            import numpy as np, steadfold as sf
            x = np.array([0.1, 0.2, 0.3])
            def check():
                assert sf.sum(x) == 0.6 and sf.sum(x, method="tree") == 0.1 + 0.2 + 0.3
                try:
                    sf.sum(x, threads=5000)
                except ValueError as error:
                    assert "5000 threads" in str(error), error
                    print("right", flush=True)
            class AtEnd:
                def __del__(self):
                    check()
            atexit.register(check)
            own = threading.local()
            def work():
                own.last = AtEnd()
                check()
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            check()
            atexit.register(check)
        """
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "right\n" * 5))

    def test_intervals_of_no_job(self):
        x = np.ones(3)
        for begin in (2**63 - 3, 2**63, 2**64 - 2048, 2**64 - 4):
            for options in ({"method": "tree"}, {"method": "exact"}):
                with self.assertRaisesRegex(ValueError, "ends beyond 9223372036854775807"):
                    sf.sum(x, comm=sf.Team(1)[0], layout=sf.Layout.intervals([(begin, begin + 3)]), **options)

    def test_threads_of_python(self):
        """Calls of several threads at once; the lock is given up in long ones."""
        x = hostile(np.random.default_rng(SEED), 200_000)
        expected, wrong = bits(sf.sum(x)), []

        def work():
            for _ in range(20):
                if bits(sf.sum(x)) != expected:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(wrong, [])

    def test_without_mpi4py(self):
        """Local sums load no MPI library, and mpi4py need not be there."""
        program = ("import sys; sys.modules['mpi4py'] = None\nimport steadfold as sf\nassert sf.sum([1.0, 2.0]) == 3\n"
                   "maps = open('/proc/self/maps').read()\nassert 'libmpi' not in maps and 'libopen-pal' not in maps\n"
                   "try: sf.sum([1.0], comm=object())\nexcept TypeError as error: print(error)\n"
                   "del sys.modules['mpi4py']\ntry: sf.allreduce([1.0], sum, comm=3)\nexcept TypeError as error: print(error)\n"
                   "assert 'mpi4py' not in sys.modules")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.count("communicator of mpi4py"), 2)


if __name__ == "__main__":
    unittest.main()
