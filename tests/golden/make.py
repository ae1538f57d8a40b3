#!/usr/bin/env python3
"""Golden values, made by a program that shares nothing with the project.

    make.py write     writes the files beside it
    make.py check     compares them with what it would write; status 1 and the first difference where they differ

formats.py is the arithmetic of all formats by integers, data.py says how inputs are made, methods.py is what
docs/guarantees.md promises, cases.py lists what is recorded. A line of a file:

    OPERATION TYPE RESULT FAMILY ROWSxCOLUMNS METHOD,METHOD=VALUE METHOD=VALUE

Types are f64 f32 bf16 f16 i32 i64 u32 u64 cf32 cf64 (complex), x87 (80 bits of a long double), b128 (binary128), and
those of user operators: mix, matrix, halves (cases.py). Methods are tree, exact, binned2, binned3, binned4 (both
sweeps) and plain, where it is order-free. A value is the bits, column by column with commas between, a complex number
its two parts, a location VALUE@INDEX, statistics ten words (cases.py); `empty` is the status of no elements.

The prefixes of a family are the same rows: what a scan gives rank r is the record of the rows up to it.

accumulators.txt: an accumulator's terms, type, family, rows added and rows subtracted (those after them), columns, and
its bytes for a file; accumulators.py has what they are.

tree_expressions.txt: N, then the tree over elements 0..N-1 as a bracketed expression.

program/doctor/golden_cases.inc: the records that `steadfold doctor` runs, as a string of C++.

vectors/TYPE.json: the test vectors that are installed (vectors.py).
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from accumulators import accumulator_records  # noqa: E402
from cases import BINS, COLUMNS, EXTENDED, FILES, fields, values_of  # noqa: E402
from methods import tree  # noqa: E402
from vectors import vector_files  # noqa: E402

EXPRESSION_SIZES = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 21, 33, 47, 48]


def expressions():
    for n in EXPRESSION_SIZES:
        yield f"{n} {tree([str(i) for i in range(n)], lambda a, b: f'({a} {b})')}"


# Method tree of these operations is younger than the digest of `steadfold doctor`, which many machines have recorded.
LATER_BY_TREE = {"mean", "dot", "dotc", "norm2", "sum_squares"}


def without_tree(line):
    """A record without method tree."""
    words = line.split()
    values = values_of(words[5:])
    methods = [name for name in ("exact", *(f"binned{bins}" for bins in BINS)) if name in values]
    return " ".join(words[:5] + fields({name: values[name] for name in methods}))


def doctors(lines):
    """Of every operation and type that all machines have, one record of a column or three that is not zero: the one whose
    methods differ most, and where several do, another family each time."""
    of_pair = {}
    for line in lines:
        if line.split()[0] in LATER_BY_TREE:
            line = without_tree(line)
        operation, type, result, _, size, *values = line.split()
        rows, columns = map(int, size.split("x"))
        if not {type, result} & set(EXTENDED) and 8 <= rows <= 500 and columns <= COLUMNS and values[0].split("=")[1].strip("0,"):
            of_pair.setdefault((operation, type), []).append((len(values), line))
    yield 'R"('
    for number, records in enumerate(of_pair.values()):
        most = max(differing for differing, _ in records)
        best = [line for differing, line in records if differing == most]
        yield best[number % len(best)]
    yield ')"'


def first_difference(name, wanted, found):
    for number, (a, b) in enumerate(zip(wanted, found), 1):
        if a != b:
            return f"{name}:{number} differs from what make.py writes\n  found   {b}\n  make.py {a}"
    if len(wanted) != len(found):
        return f"{name} has {len(found)} lines, make.py writes {len(wanted)}"
    return None


def write_or_compare(path, wanted, check):
    if not check:
        path.write_text("".join(line + "\n" for line in wanted))
        return
    difference = first_difference(path.name, wanted, path.read_text().splitlines())
    if difference:
        sys.exit(difference)


def main(check):
    here = Path(__file__).parent
    installed = here.parents[1] / "vectors"
    recorded = {*here.glob("*.txt"), *installed.glob("*")}
    all_lines = []
    others = {
        "accumulators.txt": accumulator_records,
        "tree_expressions.txt": expressions,
        "../../program/doctor/golden_cases.inc": lambda: doctors(all_lines),
    }
    for name, lines in {**FILES, **others}.items():
        wanted = list(lines())
        recorded.discard(here / name)
        if name in FILES:
            all_lines += wanted
        write_or_compare(here / name, wanted, check)
    for name, lines in vector_files(all_lines).items():
        recorded.discard(installed / name)
        write_or_compare(installed / name, list(lines()), check)
    if recorded:
        sys.exit(f"no part of make.py writes {', '.join(sorted(map(str, recorded)))}, remove it")


if __name__ == "__main__":
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit(__doc__)
    main(check=sys.argv[1] == "check")
