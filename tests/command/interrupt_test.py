"""Commands that start ranks leave none behind, however they end; and ask before they start very many."""

import contextlib
import os
import pty
import signal
import subprocess
import time
import unittest
import uuid
from pathlib import Path

from support import COMMAND, ENVIRONMENT, TIMEOUT, CommandTest, binpsllh, run

# A launcher whose children hear no signal that can be ignored, in sessions of their own and one generation further down.
STUBBORN = """#!/usr/bin/env python3
import os, signal, sys, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.fork()
        time.sleep(1000)
def asked(number, frame):
    open(sys.argv[0] + ".asked", "a").write("x")
    sys.exit(1)
signal.signal(signal.SIGTERM, asked)
if sys.argv[0].endswith("waiting"):
    time.sleep(1000)
"""


def marked(mark):
    """Numbers and command lines of the processes that inherited the mark."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            pass  # ended meanwhile
    return found


class LeftBehind(CommandTest):
    def setUp(self):
        super().setUp()
        self.mark = f"mark-{uuid.uuid4()}"
        self.path = self.write("x.binpsllh", binpsllh([1.0, 2.0, 3.0]))
        self.addCleanup(self.end)

    def end(self):
        for process in marked(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def launcher(self, name):
        path = self.write(name, STUBBORN)
        path.chmod(0o755)
        return {"STEADFOLD_MPIRUN": str(path)}

    def start(self, *arguments, **environment):
        environment = {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": str(self.folder), "MARK": self.mark, **environment}
        words = [COMMAND, *map(str, arguments)]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(words, env=environment, **quiet)

    def wait_until(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition():
            self.assertLess(time.monotonic(), end, f"{what}: {marked(self.mark)}")
            time.sleep(0.02)

    def wait_for(self, count, word):
        def there():
            return sum(word in line for line in marked(self.mark).values()) >= count

        self.wait_until(there, f"{count} processes {word}")

    def expect_none(self):
        self.wait_until(lambda: not marked(self.mark), "left behind")

    def test_ranks(self):
        """While they are being started, and while they work; by Ctrl-C, which only the command hears."""
        for arguments, ranks in (
            (["verify", self.path, "--ranks", "16"], 3),
            (["bench", "bundle", "--ranks", "3", "--rounds", "10001", "--counts", "1000"], 3),
            (["bench", "bundle", "--libraries", "openmpi,mpich", "--ranks", "3", "--rounds", "10001"], 3),
        ):
            with self.subTest(arguments=arguments):
                started = self.start(*arguments)
                self.wait_for(ranks, "-worker")
                started.send_signal(signal.SIGINT)
                self.assertEqual(started.wait(TIMEOUT), -signal.SIGINT)
                self.expect_none()

    def test_every_signal(self):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
        launcher = self.launcher("waiting")  # written once: a command may be about to start it
        started = [self.start("verify", self.path, "--ranks", "2", **launcher) for _ in numbers]
        self.wait_for(7 * len(numbers), "waiting")
        for number, each in zip(numbers, started):
            each.send_signal(number)
            self.assertEqual(each.wait(TIMEOUT), -number)
        self.expect_none()
        self.assertEqual((self.folder / "waiting.asked").read_text(), "x" * len(numbers))

    def test_a_launcher_that_ends_before_its_ranks(self):
        ran = run("verify", self.path, "--ranks", "2", environment={**self.launcher("ending"), "MARK": self.mark})
        self.expect_fault(ran, "ending -n 2 failed")
        self.assertEqual(marked(self.mark), {})

    def test_a_launcher_that_is_killed(self):
        started = self.start("verify", self.path, "--ranks", "2", **self.launcher("waiting"))
        self.wait_for(7, "waiting")
        os.kill(min(process for process, line in marked(self.mark).items() if "waiting" in line), signal.SIGKILL)
        self.assertEqual(started.wait(TIMEOUT), 2)
        self.assertEqual(marked(self.mark), {})


class Many(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.binpsllh", binpsllh([1.0, 2.0, 3.0]))
        # Instead of a launcher: whether it was called.
        self.called = self.folder / "called"
        launcher = self.write("launcher", f"#!/bin/sh\ntouch '{self.called}'\nexit 3\n")
        launcher.chmod(0o755)
        self.environment = {"STEADFOLD_MPIRUN": str(launcher)}

    def test_are_not_started_unasked(self):
        for words in (["verify", self.path, "--ranks", "2,65"], ["bench", "allreduce", "--ranks", "65"],
                      ["study", "thesis", "--part", "time", "--ranks", "2,65"]):  # fmt: skip
            self.expect_fault(run(*words, environment=self.environment), "65 ranks", "64", "--yes")
            self.assertFalse(self.called.exists(), words)
            self.expect_fault(run(*words, "--yes", environment=self.environment), "launcher -n")
            self.assertTrue(self.called.exists(), words)
            self.called.unlink()
        self.expect_fault(run("verify", self.path, "--ranks", "64", environment=self.environment), "launcher -n 64")

    def answered(self, answer):
        """What the command says on a terminal where that is typed."""
        ours, terminal = pty.openpty()
        words = [COMMAND, "verify", str(self.path), "--ranks", "65"]
        ran = subprocess.Popen(words, stdin=terminal, stderr=terminal, stdout=subprocess.DEVNULL,
                               env={**ENVIRONMENT, **self.environment})  # fmt: skip
        os.close(terminal)
        os.write(ours, answer)
        self.assertEqual(ran.wait(TIMEOUT), 2)
        told = b""
        with contextlib.suppress(OSError):  # where nobody has the terminal open, after all that was told
            while chunk := os.read(ours, 10000):
                told += chunk
        os.close(ours)
        return told.decode()

    def test_are_asked_for_on_a_terminal(self):
        for answer in (b"\n", b"n\n", b"\x04"):
            self.assertIn("nothing was started (65 ranks", self.answered(answer))
            self.assertFalse(self.called.exists())
        self.assertIn("launcher -n 65 failed", self.answered(b"y\n"))
        self.assertTrue(self.called.exists())


if __name__ == "__main__":
    unittest.main()
