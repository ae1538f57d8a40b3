"""What takes more than two seconds says on a terminal how far it is, and nowhere else."""

import contextlib
import os
import pty
import re
import subprocess
import unittest

from support import COMMAND, ENVIRONMENT, LAUNCHER, TIMEOUT, CommandTest, binpsllh

ERASE = "\r\033[K"


class ProgressTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.path = self.write("x.binpsllh", binpsllh([1.0, 2.0, 3.0]))

    def launcher(self, seconds):
        """Starts ranks so much later: work that takes long and costs nothing. Each launch has a session directory:
        a launch of Open MPI that ends can remove a shared directory in which another launch is about to begin."""
        words = " ".join(f"'{word}'" for word in LAUNCHER)
        script = f"""#!/bin/sh
sleep {seconds}
OMPI_MCA_orte_tmpdir_base=$(mktemp -d '{self.folder}/session.XXXXXX')
export OMPI_MCA_orte_tmpdir_base
exec {words} "$@"
"""
        path = self.write("launcher", script)
        path.chmod(0o755)
        return {**ENVIRONMENT, "STEADFOLD_MPIRUN": str(path)}

    def start(self, words, environment, terminal):
        return subprocess.Popen([COMMAND, *map(str, words)], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=terminal)  # fmt: skip

    def on_terminals(self, calls, environment):
        """Status, standard output, and what the terminal on standard error got; of commands that run at once."""
        started = []
        for words in calls:
            ours, terminal = pty.openpty()
            started.append((self.start(words, environment, terminal), ours))
            os.close(terminal)
        results = []
        for ran, ours in started:
            output = ran.communicate(timeout=TIMEOUT)[0].decode()
            told = b""
            with contextlib.suppress(OSError):  # where nobody has the terminal open, after all that was told
                while chunk := os.read(ours, 10000):
                    told += chunk
            os.close(ours)
            results.append((ran.returncode, output, told.decode()))
        return results

    def expect_progress(self, calls):
        """Of commands, each with a pattern of what it says."""
        results = self.on_terminals([words for words, _ in calls], self.launcher(4))
        for (words, expected), (status, output, told) in zip(calls, results):
            with self.subTest(words=words):
                self.assertEqual(status, 0, output + told.rpartition(ERASE)[2])
                self.assertNotIn("\033", output)
                self.assertTrue(output.endswith("\n"))
                self.assertTrue(told.startswith(ERASE) and told.endswith(ERASE), told)
                for line in told.split(ERASE)[1:-1]:
                    self.assertRegex(line, rf"^{expected}, \d+ s(, about \d+ (s|min) left)?$")
                    self.assertGreaterEqual(int(re.search(r", (\d+) s", line)[1]), 2)
                self.assertGreater(told.count(ERASE), 2, told)


class Progress(ProgressTest):
    def test_of_what_takes_long(self):
        self.expect_progress([
            (["verify", self.path, "--ranks", "1", "--json"], r"job 1 of 1: \d+ combinations on 1 ranks"),
            (["bench", "bundle", "--ranks", "1", "--rounds", "3", "--counts", "1"], r"launch 1 of 1: bundle on 1 ranks"),
        ])  # fmt: skip

    def test_not_of_what_is_quick(self):
        ((status, output, told),) = self.on_terminals([["check-schedules", "--max-ranks", "3"]], dict(ENVIRONMENT))
        self.assertEqual((status, told), (0, ""), output)

    def test_not_elsewhere(self):
        started = self.start(["verify", self.path, "--ranks", "1"], self.launcher(4), subprocess.PIPE)
        output, told = started.communicate(timeout=TIMEOUT)
        self.assertEqual((started.returncode, told), (0, b""), output)


if __name__ == "__main__":
    unittest.main()
