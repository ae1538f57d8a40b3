"""`steadfold completion`: what the shells get names all that help names, and bash and fish offer it."""

import re
import shutil
import subprocess
import unittest

from support import METHODS, CommandTest, run

SHELLS = ("bash", "zsh", "fish")


def script(shell):
    done = run("completion", shell)
    assert done.returncode == 0, done.stderr
    return done.stdout


def helped():
    """The options that `steadfold --help-all` names, by subcommand; those of the command itself under ""."""
    found, current = {"": set()}, ""
    for line in run("--help-all").stdout.splitlines():
        if re.fullmatch(r"[a-z][a-z-]*", line):
            current = line
            found[current] = set()
        elif re.match(r" +-", line):
            found[current] |= set(re.findall(r"(?:^ +|,)(-[-\w]+)", re.split(r" {2,}|=", "  " + line.strip() + "  ")[0] or line))
    return found


def bash(*words):
    """What bash offers for the last word."""
    ask = "eval \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _steadfold; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(["bash", "-c", ask, "bash", script("bash"), "steadfold", *words], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


class Completion(CommandTest):
    def test_all_that_help_names_is_in_every_script(self):
        named = helped()
        self.assertLess({"sum", "verify", "simulate", "completion", ""}, set(named))
        self.assertLess({"--method", "--schedule", "--json"}, named["sum"])
        for shell in SHELLS:
            text = script(shell)
            for subcommand, options in named.items():
                with self.subTest(shell=shell, subcommand=subcommand):
                    self.assertIn(subcommand, text)
                    self.assertEqual({each for each in options if not self.names(shell, text, subcommand, each)}, set())

    def names(self, shell, text, subcommand, option):
        if shell == "bash":
            [words] = re.findall(rf"^ *'{subcommand}'\) words='(.*)' ;;$", text, re.MULTILINE)
            return option in words.split()
        if shell == "zsh":
            [lines] = re.findall(rf"^ *'{subcommand}'\) lines=\(\n(.*?)^ *\) ;;$", text, re.MULTILINE | re.DOTALL)
            return re.search(rf"^ *'{option}[=+]?\[", lines, re.MULTILINE)
        condition = f"__fish_seen_subcommand_from {subcommand}'" if subcommand else "-n 'not "
        flag = f" -l {option[2:]} " if option.startswith("--") else f" -s {option[1:]} "
        return any(condition in line and flag in line for line in text.splitlines())

    def test_what_bash_offers(self):
        self.assertEqual(bash("si"), {"simulate"})
        self.assertEqual(bash("sum", "--me"), {"--method"})
        self.assertEqual(bash("sum", "--method", ""), set(METHODS))
        self.assertEqual(bash("sum", "--method", "=", "ex"), {"exact"})  # as bash splits --method=ex
        self.assertEqual(bash("sum", "--schedule", "bi"), {"binomial", "binary"})
        self.assertEqual(bash("sum", ""), set())  # files, by Readline
        self.assertEqual(bash("--v"), {"--version"})
        self.assertNotIn("verify-worker", bash(""))

    def test_what_other_shells_say_of_their_scripts(self):
        if shutil.which("zsh"):
            done = subprocess.run(["zsh", "-n"], input=script("zsh"), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        if shutil.which("fish"):
            for line, offered in (("si", {"simulate"}), ("sum --me", {"--method"}), ("sum --method ex", {"exact"})):
                ask = f"source; complete -C 'steadfold {line}'"
                done = subprocess.run(["fish", "-N", "-c", ask], input=script("fish"), capture_output=True, text=True)
                self.assertEqual({each.split("\t")[0] for each in done.stdout.splitlines()}, offered, done.stderr)

    def test_other_shells(self):
        self.expect_fault(run("completion", "csh"), "csh", "bash, zsh and fish")


if __name__ == "__main__":
    unittest.main()
