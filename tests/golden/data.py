"""The inputs: every element is a function of its family, type, row and column, so that any reader can make it again.

With mix = splitmix64's (below), element (row, column) of a vector has h = mix(SEED + row + 2^32 column), g = mix(h) and
k = mix(g). A second vector (the other factors of a dot product) has SEED + 2^56 in place of SEED. A complex number has
its real part in column 2 c and its imaginary one in column 2 c + 1. The mask of row i is mix(i + SEED + 2^57): 0 where
that is a multiple of 3, else 1 + (its top seven bits).

Floating point: sign, biased exponent and mantissa are put together, with B the format's bias and M the highest biased
exponent of a finite number. A random sign is the lowest bit of h; the mantissa is the top bits of h (of 112 bits: h,
then the top bits of k) unless something else is said.

    near      random sign, exponent B - 2 + g mod 4
    wide      random sign, exponent B - W + g mod 2W with W = min(B / 2, 80)
    full      random sign, exponent g mod (M - M / 16); every third row (row mod 3 = 2) is minus the one before
    tiny      random sign, exponent g mod 3, of which 0 means subnormals
    huge      random sign, exponent M - g mod 2: overflow on the way
    ties      random sign, P the bits of the mantissa (bf16: 23); by g mod 4: exponent B, mantissa the top bit of h |
              exponent B - P - 1, mantissa 0: half a unit in the last place of 1 | the same, mantissa 1 | exponent
              B - P - 2, mantissa 0
    bins      +1 where row mod 8 = 3, -1 where row mod 8 = 5; else random sign, mantissa the top two bits of h, then
              zeros, exponent B - 75 - 40 (g mod 3) + (g / 4096) mod 2, at least 1: halves of the units of 2, 3 and 4
              bins. A second vector is all ones
    breaks    by row: 1 | 2^-(P + 1) | 2^-156 | 2^-116 | 2^-76 | 0 from there on: a tie at the last place of 1, and what
              breaks it, below the units of 4, 3 and 2 bins. Exponents are at least 1. A second vector is all ones
    squares   the same for squares: 1 | 2^-((P + 2) / 2) | the same, but 0 where P is odd | 2^-76 | 2^-58 | 2^-39 | 0
    few       by g mod 7: -0, +0, 1, -1, 2, -2, 1
    zeros     by h mod 2: +0, -0
    minus     -0
    infinite  near, but +infinity in every fifth row (row mod 5 = 3)
    both      near, but infinity of random sign there
    specials  of +0, -0, +infinity, -infinity, a negative NaN of mantissa 2^(P - 1) + 5 and 1: number column mod 6 in
              even rows and (column / 6) mod 6 in odd ones, so that 36 columns have all pairs; a second vector the other
              way round
    nan       near, but NaNs, signalling ones among them, in every seventh row (row mod 7 = 4): mantissa | 1

Integers: `any` is the top bits of h, `few` is g mod 5 - 2.
"""
from functools import lru_cache

from formats import FORMATS, bias, mantissa_bits, pack

SEED = 0x5EED
WORD = (1 << 64) - 1
INTEGERS = {"i32": 32, "i64": 64, "u32": 32, "u64": 64}
COMPLEX = {"cf32": "f32", "cf64": "f64"}


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def float_bits(f, family, row, column, seed):
    if family == "full" and row % 3 == 2:
        return float_bits(f, family, row - 1, column, seed) ^ pack(f, 1, 0, 0)
    h = mix(seed + row + (column << 32))
    g = mix(h)
    p, b = mantissa_bits(f), bias(f)
    tie = 23 if f.name == "bf16" else p
    highest = 2 * b
    one = pack(f, 0, b, 0)
    mantissa = (h << 64 | mix(g)) >> (128 - p)
    sign = h & 1

    if family == "minus":
        return pack(f, 1, 0, 0)
    if family == "zeros":
        return pack(f, sign, 0, 0)
    if family == "few":
        negative, exponent = [(1, 0), (0, 0), (0, b), (1, b), (0, b + 1), (1, b + 1), (0, b)][g % 7]
        return pack(f, negative, exponent, 0)
    if family == "specials":
        above, nan = highest + 1, (1 << (p - 1)) + 5
        number = (column if (row % 2 == 0) == (seed == SEED) else column // 6) % 6
        return pack(f, *[(0, 0, 0), (1, 0, 0), (0, above, 0), (1, above, 0), (1, above, nan), (0, b, 0)][number])
    if family == "ties":
        exponent, mantissa = [(b, h >> 63), (b - tie - 1, 0), (b - tie - 1, 1), (b - tie - 2, 0)][g % 4]
        return pack(f, sign, exponent, mantissa)
    if family in ("bins", "breaks") and seed != SEED:
        return one
    if family == "bins":
        if row % 8 in (3, 5):
            return pack(f, row % 8 == 5, b, 0)
        return pack(f, sign, max(1, b - 75 - 40 * (g % 3) + (g >> 12) % 2), (h >> 62) << (p - 2))
    if family in ("breaks", "squares"):
        half = (tie + 2) // 2
        down = [0, tie + 1, 156, 116, 76] if family == "breaks" else [0, half, None if tie % 2 else half, 76, 58, 39]
        if row >= len(down) or down[row] is None:
            return 0
        return pack(f, 0, max(1, b - down[row]), 0)
    if family in ("infinite", "both") and row % 5 == 3:
        return pack(f, sign if family == "both" else 0, highest + 1, 0)
    if family == "nan" and row % 7 == 4:
        return pack(f, sign, highest + 1, mantissa | 1)
    width = min(b // 2, 80)
    exponent = {
        "wide": b - width + g % (2 * width),
        "full": g % (highest - highest // 16),
        "tiny": g % 3,
        "huge": highest - g % 2,
    }.get(family, b - 2 + g % 4)
    return pack(f, sign, exponent, mantissa)


def integer_bits(width, family, row, column, seed):
    h = mix(seed + row + (column << 32))
    return h >> (64 - width) if family == "any" else (mix(h) % 5 - 2) & ((1 << width) - 1)


@lru_cache(None)
def element(type, family, row, column, second=False):
    """The bits, or the pair of them of a complex number."""
    seed = SEED + (second << 56)
    if type in INTEGERS:
        return integer_bits(INTEGERS[type], family, row, column, seed)
    if type in COMPLEX:
        f = FORMATS[COMPLEX[type]]
        return tuple(float_bits(f, family, row, 2 * column + part, seed) for part in (0, 1))
    return float_bits(FORMATS[type], family, row, column, seed)


def selected(row):
    return mix(row + SEED + (1 << 57)) % 3 != 0
