"""Bytes of accumulators, as steadfold_accumulator.h promises them, from sums of Python's integers."""
from zlib import crc32

from data import element
from formats import FORMATS, INFINITE, NAN, decode, lowest_exponent, minus, product

VERSION = 1
HAS_NAN, HAS_PLUS_INFINITY, HAS_MINUS_INFINITY = 1, 2, 4
DIGIT = 32

# Rows added (0, 1, ...) and rows subtracted (those after them), columns.
SIZES = [
    ("near", 0, 0, 1),
    ("near", 9, 0, 1),
    ("near", 9, 20, 3),
    ("wide", 65, 0, 1),
    ("wide", 40, 33, 2),
    ("full", 66, 0, 1),
    ("full", 10, 7, 3),
    ("tiny", 33, 12, 1),
    ("huge", 33, 0, 2),
    ("huge", 0, 33, 2),
    ("ties", 40, 3, 1),
    ("few", 17, 9, 4),
    ("zeros", 9, 4, 3),
    ("minus", 9, 2, 1),
    ("minus", 0, 3, 1),
    ("infinite", 5, 0, 2),
    ("infinite", 0, 9, 1),
    ("both", 15, 3, 2),
    ("nan", 12, 0, 1),
]


def little(number, size):
    return (number % (1 << 8 * size)).to_bytes(size, "little")


def column_bytes(added, subtracted, lowest):
    """Terms are triples of formats.py."""
    terms = added + [minus(t) for t in subtracted]
    value = sum((-m if negative else m) << (e - lowest) for negative, m, e in terms if m > 0)
    special = 0
    for negative, m, _ in terms:
        if m == NAN:
            special |= HAS_NAN
        elif m == INFINITE:
            special |= HAS_MINUS_INFINITY if negative else HAS_PLUS_INFINITY
    minus_zeros = sum(t[0] and t[1] == 0 for t in added) - sum(t[0] and t[1] == 0 for t in subtracted)
    shift = count = 0
    if value:
        while value % (1 << DIGIT) == 0:
            value >>= DIGIT
            shift += 1
        while not -(1 << DIGIT * count) <= value < (1 << DIGIT * count):
            count += 1
    return (little(minus_zeros, 8) + bytes([special, shift, count, value < 0]) + little(value, 4 * count))


def file_bytes(terms, type, family, added, subtracted, columns):
    f = FORMATS[type]
    factors = 2 if terms == "products" else 1

    def term(row, column):
        x = decode(f, element(type, family, row, column, False))
        return product(x, decode(f, element(type, family, row, column, True))) if factors == 2 else x

    out = b"SFAC" + little(VERSION, 2) + bytes([type == "f32", factors])
    out += little(columns, 8) + little(added - subtracted, 8)
    for column in range(columns):
        out += column_bytes([term(row, column) for row in range(added)],
                            [term(added + row, column) for row in range(subtracted)], factors * lowest_exponent(f))
    return out + little(crc32(out), 4)


def accumulator_records():
    """TERMS TYPE FAMILY ADDED-SUBTRACTEDxCOLUMNS BYTES"""
    for terms in ("elements", "products"):
        for type in ("f64", "f32"):
            for family, added, subtracted, columns in SIZES:
                text = file_bytes(terms, type, family, added, subtracted, columns).hex().upper()
                yield f"{terms} {type} {family} {added}-{subtracted}x{columns} {text}"
