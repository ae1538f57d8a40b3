"""Commands that are ended say what is finished and leave no ranks behind; and they ask before they start very many."""

import contextlib
import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
import unittest
import uuid
from functools import partial
from pathlib import Path

from support import COMMAND, ENVIRONMENT, LAUNCHER, TIMEOUT, CommandTest, binpsllh, run

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
from commands import waits_for_signals  # noqa: E402

SOON = 8  # seconds: one is promised, other programs may keep the machine busy

# A launcher whose children hear no signal that can be ignored, in sessions of their own and one generation further down.
STUBBORN = """#!/usr/bin/env python3
import os, signal, sys, time
def asked(number, frame):
    open(sys.argv[0] + ".asked", "a").write("x")
    sys.exit(1)
signal.signal(signal.SIGTERM, asked)  # before the first child: a test sends the signal as soon as all children exist
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.fork()
        time.sleep(1000)
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


def hear_signals():
    """In a child: whoever started the tests may have had SIGINT ignored, as shells do for what runs behind."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def has_terminal():
    """In a child whose standard error is a terminal: Ctrl-C there is for it."""
    hear_signals()
    os.setsid()
    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


class Ended(CommandTest):
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

    def start(self, *arguments, stderr=subprocess.PIPE, prepare=hear_signals, **environment):
        environment = {**ENVIRONMENT, "OMPI_MCA_orte_tmpdir_base": str(self.folder), "MARK": self.mark, **environment}
        words = [COMMAND, *map(str, arguments)]
        started = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=stderr, preexec_fn=prepare)  # fmt: skip  # noqa: PLW1509 (there are no threads)
        self.addCleanup(started.__exit__, None, None, None)
        return started

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


class LeftBehind(Ended):
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
                self.assertEqual(started.wait(SOON), 128 + signal.SIGINT)
                self.expect_none()

    def test_every_signal(self):
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
        launcher = self.launcher("waiting")  # written once: a command may be about to start it
        started = [self.start("verify", self.path, "--ranks", "2", **launcher) for _ in numbers]
        self.wait_for(7 * len(numbers), "waiting")
        for number, each in zip(numbers, started):
            each.send_signal(number)
            caught = number in (signal.SIGINT, signal.SIGTERM)
            self.assertEqual(each.wait(SOON), 128 + number if caught else -number)
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


class InterruptTest(Ended):
    def one_rank_only(self):
        """A launcher that starts one rank, and for more of them says that it was asked and starts nothing."""
        words = " ".join(f"'{word}'" for word in LAUNCHER)
        stuck = self.folder / "stuck"
        script = f"""#!/bin/sh
case "$*" in *"-n 1 "*) exec {words} "$@" ;; esac
touch '{stuck}'
exec sleep 1000
"""
        path = self.write("one", script)
        path.chmod(0o755)
        return stuck, {"STEADFOLD_MPIRUN": str(path)}

    def interrupt(self, started, number=signal.SIGINT):
        """Standard output and error of a command that a signal ends."""
        begin = time.monotonic()
        started.send_signal(number)
        output, told = (stream.decode() for stream in started.communicate(timeout=TIMEOUT))
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual(started.returncode, 128 + number, output + told)
        word = "interrupted" if number == signal.SIGINT else "terminated"
        self.assertRegex(told, rf"^{word} after \d+ s \(.+\)\n$")
        self.expect_none()
        return output, told

    def expect_what_is_finished(self, words, expected):
        """Of several jobs, the last of which hangs."""
        stuck, launcher = self.one_rank_only()
        stuck.unlink(missing_ok=True)
        started = self.start(*words, **launcher)
        self.wait_until(stuck.exists, "one job ends, the next one begins")
        output, told = self.interrupt(started)
        self.assertRegex(output, expected)
        self.assertRegex(told, r"\((job 2 of 2|launch 2 of 2|part 2 of 2): ")
        return output


class Finished(InterruptTest):
    def test_proofs(self):
        for number, arguments in ((signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGINT, ["--json"])):
            with self.subTest(number=number, arguments=arguments):
                started = self.start("check-schedules", "--max-ranks", "500", *arguments)
                self.wait_until(partial(waits_for_signals, started), "the command begins")
                time.sleep(0.5)
                output, told = self.interrupt(started, number)
                self.assertRegex(told, r"\(checking for \d+ of 500 ranks, \d+ passed, 0 failed\)")
                whole = r"[1-9]\d* passed, 0 failed; every schedule was checked for up to \d+ ranks\n"
                self.assertRegex(output, "^$" if arguments else f"^{whole}$")

    def test_a_prediction(self):
        started = self.start("simulate", "--ranks", "2000000", "--elements", "1e9", "--schedule", "linear")
        self.wait_until(partial(waits_for_signals, started), "the command begins")
        time.sleep(0.5)  # it takes signals before it says what it does
        output, told = self.interrupt(started)
        self.assertEqual(output, "")
        self.assertIn("(predicting 2000000 ranks)", told)

    def test_rows(self):
        """Prints the rows of the jobs that ended. The last job hangs."""
        verify = ["verify", self.path, "--ranks", "1,2", "--schedules", "flat", "--methods", "exact"]
        for words, expected in (
            (verify, r"^ranks +method .*\n *1 +exact +flat +[0-9A-F]{16}\n\n$"),
            ([*verify, "--json"], "^$"),
            (["bench", "bundle", "--ranks", "1,2", "--rounds", "3", "--counts", "1"], r"^.* on 1 ranks, .*\n[\s\S]* bundle "),
        ):  # fmt: skip
            with self.subTest(words=words):
                self.assertNotIn("identical", self.expect_what_is_finished(words, expected))

    def test_at_a_terminal(self):
        """Says first that it takes minutes, then how far it is. Ctrl-C erases that and prints what is finished."""
        ours, terminal = pty.openpty()
        self.addCleanup(os.close, ours)
        started = self.start("check-schedules", "--max-ranks", "500", stderr=terminal, prepare=has_terminal)
        os.close(terminal)
        told, end = "", time.monotonic() + TIMEOUT
        while " left" not in told:
            self.assertLess(time.monotonic(), end, told)
            told += os.read(ours, 10000).decode()
        self.assertRegex(told, r"^checking .* to 500: this takes minutes; .*\r\n\r\033\[Kchecking for \d+ of 500 ranks, ")
        os.write(ours, b"\x03")
        output = started.communicate(timeout=TIMEOUT)[0].decode()
        self.assertEqual(started.returncode, 128 + signal.SIGINT)
        self.assertRegex(output, r"^\d+ passed, 0 failed; every schedule was checked for up to [1-9]\d* ranks\n$")
        told = ""
        with contextlib.suppress(OSError):
            while chunk := os.read(ours, 10000):
                told += chunk.decode()
        self.assertRegex(told, r"(^|left)(\^C)?\r\033\[Kinterrupted after \d+ s \(checking for .*\)\r\n$")

    def test_ignored(self):
        """As by nohup, or by a shell that starts what runs behind: then nothing ends it."""

        def ignore():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

        started = self.start("check-schedules", "--max-ranks", "20", "--json", prepare=ignore)
        time.sleep(0.2)
        started.send_signal(signal.SIGINT)
        self.assertEqual(started.wait(TIMEOUT), 0)


class ManyTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.binpsllh", binpsllh([1.0, 2.0, 3.0]))
        # Instead of a launcher: whether it was called.
        self.called = self.folder / "called"
        launcher = self.write("launcher", f"#!/bin/sh\ntouch '{self.called}'\nexit 3\n")
        launcher.chmod(0o755)
        self.environment = {"STEADFOLD_MPIRUN": str(launcher)}

    def expect_a_question(self, words):
        self.expect_fault(run(*words, environment=self.environment), "65 ranks", "64", "--yes")
        self.assertFalse(self.called.exists(), words)
        self.expect_fault(run(*words, "--yes", environment=self.environment), "launcher -n")
        self.assertTrue(self.called.exists(), words)
        self.called.unlink()


class Many(ManyTest):
    def test_are_not_started_unasked(self):
        for words in (["verify", self.path, "--ranks", "2,65"], ["bench", "allreduce", "--ranks", "65"]):  # fmt: skip
            self.expect_a_question(words)
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
            self.assertIn("nothing was started (you did not agree to 65 ranks", self.answered(answer))
            self.assertFalse(self.called.exists())
        self.assertIn("launcher -n 65 failed", self.answered(b"y\n"))
        self.assertTrue(self.called.exists())


if __name__ == "__main__":
    unittest.main()
