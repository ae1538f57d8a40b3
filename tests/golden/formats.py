"""Binary floating-point formats and their operations, by integers: nothing here is a number of the machine's.

A number is a triple (negative, m, e): m 2^e with its sign; zeros have m = 0; INFINITE and NAN stand in the place of m.
Every operation rounds once, to nearest, ties to even; subnormals are kept, overflow is infinite.
"""
from collections import namedtuple
from functools import cache
from math import isqrt

INFINITE, NAN = -1, -2
CANONICAL_NAN = (False, NAN, 0)

# digits: of the significand, the leading one included. integer_bit: the leading one is written down (x87).
Format = namedtuple("Format", "name digits exponent_bits integer_bit")
FORMATS = {
    f.name: f
    for f in (
        Format("f64", 53, 11, False),
        Format("f32", 24, 8, False),
        Format("bf16", 8, 8, False),
        Format("f16", 11, 5, False),
        Format("x87", 64, 15, True),
        Format("b128", 113, 15, False),
    )
}

DOUBLE = FORMATS["f64"]


def bias(f):
    return (1 << (f.exponent_bits - 1)) - 1


def mantissa_bits(f):
    """Those that are written down but for the leading one."""
    return f.digits - 1


@cache
def size(f):
    return 1 + f.exponent_bits + mantissa_bits(f) + f.integer_bit


@cache
def lowest_exponent(f):
    """The exponent of the last bit of subnormals."""
    return 1 - bias(f) - mantissa_bits(f)


def pack(f, negative, exponent, mantissa):
    """The bits of the fields; the exponent is biased."""
    field = exponent << f.integer_bit | (f.integer_bit and exponent > 0)
    return negative << (size(f) - 1) | field << mantissa_bits(f) | mantissa


def decode(f, bits):
    m = mantissa_bits(f)
    negative = bool(bits >> (size(f) - 1))
    exponent = bits >> (m + f.integer_bit) & ((1 << f.exponent_bits) - 1)
    mantissa = bits & ((1 << m) - 1)
    if exponent == (1 << f.exponent_bits) - 1:
        return (negative, NAN if mantissa else INFINITE, 0)
    if exponent == 0:
        return (negative, mantissa, lowest_exponent(f))
    return (negative, mantissa | 1 << m, exponent - 1 + lowest_exponent(f))


def encode(f, number):
    """The bits of a number that has the format; every NaN becomes the canonical quiet one."""
    negative, m, e = number
    highest = (1 << f.exponent_bits) - 1
    if m == NAN:
        return pack(f, 0, highest, 1 << (mantissa_bits(f) - 1))
    if m == INFINITE:
        return pack(f, negative, highest, 0)
    if m == 0:
        return pack(f, negative, 0, 0)
    up = f.digits - m.bit_length()
    up = min(up, e - lowest_exponent(f))
    m, e = (m << up, e - up) if up >= 0 else (m >> -up, e - up)
    exponent = e - lowest_exponent(f) + 1 if m >> mantissa_bits(f) else 0
    return pack(f, negative, exponent, m & ((1 << mantissa_bits(f)) - 1))


def to_nearest(m, drop):
    """m 2^-drop as an integer, ties to even."""
    if drop <= 0:
        return m << -drop
    kept, rest, half = m >> drop, m & ((1 << drop) - 1), 1 << (drop - 1)
    return kept + (rest > half or (rest == half and kept & 1))


def rounded(f, number):
    """Rounds to the format; nothing else here rounds."""
    negative, m, e = number
    if m <= 0:
        return number if m != NAN else CANONICAL_NAN
    last = max(m.bit_length() + e - f.digits, lowest_exponent(f))
    if last <= e:
        kept, last = m, e
    else:
        kept = to_nearest(m, last - e)
    if kept and kept.bit_length() + last > bias(f) + 1:
        return (negative, INFINITE, 0)
    return (negative, kept, last)


def is_nan(x):
    return x[1] == NAN


def minus(x):
    return (not x[0], x[1], x[2])


def total(a, b):
    """a + b without rounding. A sum of zeros of both signs, or of opposite numbers, is +0."""
    if a[1] == NAN or b[1] == NAN or (a[1] == b[1] == INFINITE and a[0] != b[0]):
        return CANONICAL_NAN
    if a[1] == INFINITE or b[1] == INFINITE:
        return a if a[1] == INFINITE else b
    if a[1] == b[1] == 0:
        return (a[0] and b[0], 0, 0)
    e = min(a[2], b[2])
    x, y = a[1] << (a[2] - e), b[1] << (b[2] - e)
    m = (-x if a[0] else x) + (-y if b[0] else y)
    return (m < 0, abs(m), e)


def product(a, b):
    """a b without rounding."""
    negative = a[0] != b[0]
    if a[1] == NAN or b[1] == NAN or {a[1], b[1]} == {INFINITE, 0}:
        return CANONICAL_NAN
    if a[1] == INFINITE or b[1] == INFINITE:
        return (negative, INFINITE, 0)
    return (negative, a[1] * b[1], a[2] + b[2])


def with_sticky_bit(numerator, denominator):
    """A quotient's integer part, and a last bit that says whether anything is left."""
    kept, rest = divmod(numerator, denominator)
    return kept << 1 | (rest > 0)


def quotient(f, number, count):
    negative, m, e = number
    if m <= 0:
        return number
    return rounded(f, (negative, with_sticky_bit(m << 256, count), e - 257))


def quotient_of_numbers(f, a, b):
    """Of numbers that are not 0."""
    up = 256 + max(b[1].bit_length() - a[1].bit_length(), 0)
    return rounded(f, (a[0] != b[0], with_sticky_bit(a[1] << up, b[1]), a[2] - b[2] - up - 1))


def root(f, number):
    negative, m, e = number
    if m <= 0:
        return number
    up = 512 + (e & 1)
    m, e = m << up, e - up
    kept = isqrt(m)
    return rounded(f, (negative, kept << 1 | (kept * kept < m), e // 2 - 1))


def root_of_quotient(f, number, count):
    negative, m, e = number
    return number if m <= 0 else root(f, (negative, with_sticky_bit(m << 256, count), e - 257))


def compare(a, b):
    """Less than, equal or greater, by sign; -0 is below +0. No NaN."""

    def ordinal(x):
        return (-1 if x[0] else 1) * (1 << 40000 if x[1] == INFINITE else (x[1] << (x[2] + 20000)))

    x, y = ordinal(a), ordinal(b)
    return (x > y) - (x < y) or (a[0] < b[0]) - (a[0] > b[0])
