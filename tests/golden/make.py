#!/usr/bin/env python3
"""Golden values, made by a program that shares nothing with the project.

    make.py           writes sums.txt and tree_expressions.txt beside it
    make.py check     compares them with what it would write

sums.txt: the bits of sums by tree and by exact, of generated inputs. Element i of a family is made of h = mix(i + SEED) and g = mix(h), where mix is splitmix64's (64-bit wrap-around):

    family  type  sign               exponent of two     mantissa            otherwise
    near    f64   -                  g mod 4             top 52 bits of h
    wide    f64   lowest bit of h    g mod 80 - 40       top 52 bits of h
    full    f64   lowest bit of h    g mod 1900 - 1023   top 52 bits of h    if i mod 3 = 2: minus element i - 1
    near32  f32   -                  g mod 4             top 23 bits of h
    wide32  f32   lowest bit of h    g mod 40 - 20       top 23 bits of h

The exponent -1023 means a subnormal. A line of the file: family, N, bits by tree, bits by exact.

tree_expressions.txt: N, then the tree over elements 0..N-1 as a bracketed expression.
"""
import math
import struct
import sys
from pathlib import Path

SEED = 0x5EED
SIZES = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, 100003]
FAMILIES = ["near", "wide", "full", "near32", "wide32"]
EXPRESSION_SIZES = [1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 16, 21, 33, 47, 48]
WORD = (1 << 64) - 1


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def element(family, i):
    if family == "full" and i % 3 == 2:
        return -element(family, i - 1)
    h = mix(i + SEED)
    g = mix(h)
    sign = 1 if family.startswith("near") else h & 1
    exponent = {"near": g % 4, "wide": g % 80 - 40, "full": g % 1900 - 1023, "near32": g % 4, "wide32": g % 40 - 20}[family]
    if family.endswith("32"):
        return struct.unpack("<f", struct.pack("<I", sign << 31 | (exponent + 127) << 23 | h >> 41))[0]
    return struct.unpack("<d", struct.pack("<Q", sign << 63 | (exponent + 1023) << 52 | h >> 12))[0]


def tree(values, add):
    """Level by level: neighbours combine, a last odd one passes through."""
    level = list(values)
    while len(level) > 1:
        odd = level[len(level) & ~1 :]
        level = [add(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)] + odd
    return level[0] if level else 0.0


def to_f32(x):
    """Rounds a double to a float; the sum of two floats may be rounded to a double first (53 >= 2 * 24 + 2 bits)."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def exact(values, digits, lowest):
    """The sum as an integer multiple of 2^-1074, rounded once to `digits` bits, not below 2^lowest, ties to even."""
    total = 0
    for value in values:
        numerator, denominator = value.as_integer_ratio()
        total += (numerator << 1074) // denominator
    size = abs(total)
    drop = max(size.bit_length() - digits, lowest + 1074, 0)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << (drop - 1) if drop > 0 else 1
    kept += rest > half or (rest == half and drop > 0 and kept & 1)
    return math.copysign(math.ldexp(kept, drop - 1074), -1 if total < 0 else 1)


def sums():
    for family in FAMILIES:
        single = family.endswith("32")
        values = [element(family, i) for i in range(SIZES[-1])]
        for n in SIZES:
            some = values[:n]
            by_tree = tree(some, (lambda a, b: to_f32(a + b)) if single else (lambda a, b: a + b))
            exactly = exact(some, 24, -149) if single else exact(some, 53, -1074)
            if not single:
                assert exactly == math.fsum(some), "two ways to the exact sum differ"
            form = ">f" if single else ">d"
            yield f"{family} {n} {struct.pack(form, by_tree).hex().upper()} {struct.pack(form, exactly).hex().upper()}"


def expressions():
    for n in EXPRESSION_SIZES:
        yield f"{n} {tree([str(i) for i in range(n)], lambda a, b: f'({a} {b})')}"


def main(check):
    for name, lines in (("sums.txt", sums()), ("tree_expressions.txt", expressions())):
        path = Path(__file__).with_name(name)
        text = "".join(line + "\n" for line in lines)
        if not check:
            path.write_text(text)
        elif text != path.read_text():
            sys.exit(f"{name} differs from what make.py writes")


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["check"]):
        sys.exit(__doc__)
    main(check=bool(sys.argv[1:]))
