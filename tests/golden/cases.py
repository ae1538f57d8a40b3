"""Every combination of operation, type, result, method and data whose bits docs/guarantees.md promises, as records."""
from functools import cache

from data import COMPLEX, INTEGERS, element, selected
from formats import (CANONICAL_NAN, DOUBLE, FORMATS, INFINITE, NAN, compare, decode, encode, minus, product, quotient,
                     quotient_of_numbers, root, root_of_quotient, rounded, size)
from methods import (absolute, adding, best, binned_sum, exact_sum, greatest, least, multiplying, multiplying_complex,
                     square, to_53_bits, tree, tree_with_lanes)

BINS = (2, 3, 4)
ROUNDED_ONCE = ["sum", "mean", "dot", "norm2", "abs_sum", "sum_squares", "masked_sum"]
OF_COMPLEX = ["sum", "mean", "dot", "dotc", "masked_sum"]
SUMS_OF_TREES = ["sum", "abs_sum", "mean", "dot", "dotc", "norm2", "sum_squares"]
EXTENDED = ["x87", "b128"]

# Rows of one column, of results that are the elements' own type and of others; then rows of several columns, as MPI's
# shape and reduce_scatter take them, by the number of ranks; then long vectors.
OWN_SIZES = {
    "near": [0, 1, 2, 3, 7, 8, 9, 63, 64, 65],
    "wide": [5, 33, 129, 500],
    "full": [3, 65, 256],
    "tiny": [2, 33],
    "huge": [2, 3, 33],
    "ties": [2, 3, 17, 40],
    "bins": [9, 127],
    "breaks": [2, 3, 4, 5],
    "squares": [3, 4, 5, 6],
    "few": [17],
    "zeros": [2, 9],
    "minus": [1, 9],
    "infinite": [5],
    "both": [9, 15],
    "nan": [5, 12],
}
OTHER_SIZES = {
    "near": [0, 1, 8, 65],
    "wide": [33],
    "full": [65],
    "tiny": [33],
    "huge": [3],
    "ties": [17],
    "bins": [127],
    "breaks": [4],
    "minus": [9],
    "both": [15],
    "nan": [5],
}
INTEGER_SIZES = {"any": [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 300], "few": [17]}
COLUMNS, VECTOR_ROWS = 3, list(range(1, 9))
LARGE_SIZES = [4097, 33001]
LARGE = [
    ("sum", "f64", "near"),
    ("sum", "f64", "full"),
    ("sum", "f32", "wide"),
    ("sum", "cf64", "near"),
    ("sum", "i32", "any"),
    ("dot", "f64", "wide"),
    ("dot", "cf32", "wide"),
    ("norm2", "f64", "full"),
    ("mean", "f16", "near"),
    ("product", "f32", "near"),
    ("product", "cf64", "near"),
    ("min", "f32", "full"),
    ("masked_sum", "f64", "full"),
    ("abs_sum", "f32", "wide"),
    ("sum_squares", "f32", "full"),
]
LARGEST = [("sum", "f64", "wide", 100003), ("sum", "f32", "near", 100003)]


@cache
def number(type, family, row, column, second):
    """An element as a number or a pair of numbers; as bits, if it is an integer."""
    bits = element(type, family, row, column, second)
    if type in COMPLEX:
        return tuple(decode(FORMATS[COMPLEX[type]], part) for part in bits)
    return decode(FORMATS[type], bits) if type in FORMATS else bits


class Vector:
    """The elements of a data set, column by column, as numbers."""

    def __init__(self, type, family, rows, columns):
        self.type, self.family, self.rows, self.columns = type, family, rows, columns

    def column(self, column, second=False):
        return [number(self.type, self.family, row, column, second) for row in range(self.rows)]


def part_of(type):
    return FORMATS[COMPLEX.get(type, type)]


def as_signed(type, bits):
    """The number that the bits of an integer type are."""
    width = INTEGERS[type]
    return bits - (1 << width) if type[0] == "i" and bits >> (width - 1) else bits


# --- values of one column ---------------------------------------------------------------------------------------------


def real_terms(operation, vector, column):
    """The terms of the real sums that a column's results are: one sum, or two if complex. If squares are summed, their
    roots."""
    x = vector.column(column)
    if operation == "masked_sum":
        x = [value for row, value in enumerate(x) if selected(row)]
    is_complex = vector.type in COMPLEX
    if operation in ("dot", "dotc"):
        y = vector.column(column, second=True)
        if operation == "dotc":
            x = [(a, minus(b)) for a, b in x]
        if not is_complex:
            return [[product(a, b) for a, b in zip(x, y)]]
        real = [t for (a, b), (c, d) in zip(x, y) for t in (product(a, c), product(minus(b), d))]
        return [real, [t for (a, b), (c, d) in zip(x, y) for t in (product(a, d), product(b, c))]]
    if operation in ("norm2", "sum_squares"):
        return [[part for z in x for part in z] if is_complex else x]
    if operation == "abs_sum":
        return [[absolute(a) for a in x]]
    return [[z[part] for z in x] for part in (0, 1)] if is_complex else [x]


def rounded_once(operation, terms, rows, f, bins):
    """The result of one real sum, by exact (bins = 0) or binned."""
    squares = operation in ("norm2", "sum_squares")
    if squares:
        sum_of = [square(t) for t in terms]
        value = binned_sum([to_53_bits(t) for t in sum_of], terms, bins, 2) if bins else exact_sum(sum_of)
    elif bins:
        if operation in ("dot", "dotc"):
            terms = [rounded(DOUBLE, t) for t in terms]
        value = binned_sum(terms, terms, bins, 1)
    else:
        value = exact_sum(terms)
    if operation == "norm2":
        return root(f, value)
    if operation == "mean":
        return quotient(f, value, rows)
    return rounded(f, value)


def rounded_terms(operation, vector, f, column):
    """The terms of one sum with method tree, or of two if the result is complex. Products and squares are rounded."""
    x = vector.column(column)
    if vector.type not in COMPLEX:
        if operation in ("dot", "dotc"):
            return [[multiplying(f)(a, b) for a, b in zip(x, vector.column(column, second=True))]]
        if operation in ("norm2", "sum_squares"):
            return [[multiplying(f)(a, a) for a in x]]
        return [[absolute(a) for a in x] if operation == "abs_sum" else x]
    if operation in ("norm2", "sum_squares"):
        return [[adding(f)(multiplying(f)(a, a), multiplying(f)(b, b)) for a, b in x]]
    if operation in ("dot", "dotc"):
        first = [(a, minus(b)) for a, b in x] if operation == "dotc" else x
        x = [multiplying_complex(f)(a, b) for a, b in zip(first, vector.column(column, second=True))]
    return [[z[part] for z in x] for part in (0, 1)]


def fold_by_tree(operation, vector, result, column, lanes=1):
    """What elements come to that are converted to the result's type first, exactly: one number, or the parts of a complex
    one."""
    f = part_of(result)
    one, zero = (False, 1, 0), (False, 0, 0)
    if operation in SUMS_OF_TREES:
        if operation == "mean" and vector.rows == 0:
            return None
        sums = [tree_with_lanes(terms, lanes, adding(f)) if terms else zero for terms in rounded_terms(operation, vector, f, column)]
        finish = {"mean": lambda value: quotient(f, value, vector.rows), "norm2": lambda value: root(f, value)}
        return tuple(finish.get(operation, lambda value: value)(value) for value in sums)
    x = vector.column(column)
    if vector.type in COMPLEX:
        return tree_with_lanes(x, lanes, multiplying_complex(f)) if x else (one, zero)
    if operation == "norminf":
        x = [absolute(a) for a in x]
    if not x:
        return {"norminf": (zero,), "product": (one,)}.get(operation)
    return (tree_with_lanes(x, lanes, {"product": multiplying(f), "min": least}.get(operation, greatest)),)


def fold_integers(operation, vector, result, column):
    width = INTEGERS[result]
    x = [as_signed(vector.type, v) for v in vector.column(column)]
    if operation == "masked_sum":
        x = [value for row, value in enumerate(x) if selected(row)]
    if operation in ("min", "max") and not x:
        return None
    value = 1
    for factor in x if operation == "product" else []:
        value *= factor
    value = {"product": lambda: value, "min": lambda: min(x), "max": lambda: max(x)}.get(operation, lambda: sum(x))()
    return value % (1 << width)


def halve_and_subtract(a, b):
    half = rounded(DOUBLE, (b[0], b[1], b[2] - 1))
    return adding(DOUBLE)(a, minus(half))


def multiply_matrices(x, y):
    return tuple((x[i] * y[j] + x[i + 1] * y[j + 2]) % (1 << 32) for i in (0, 2) for j in (0, 1))


def mix_words(a, b):
    return (3 * a + (b ^ b >> 7)) % (1 << 64)


# --- records ----------------------------------------------------------------------------------------------------------


def hexadecimal(bits, width):
    return f"{bits:0{width // 4}X}"


def text_of(numbers, f):
    """EMPTY where there are none."""
    return "empty" if numbers is None else ",".join(hexadecimal(encode(f, x), size(f)) for x in numbers)


def joined(texts):
    return "empty" if "empty" in texts else ",".join(texts)


def fields(by_method):
    """Methods that give the same bits share a field: exact,binned4=... tree=..."""
    methods = {}
    for method, text in by_method.items():
        methods.setdefault(text, []).append(method)
    return [f"{','.join(names)}={text}" for text, names in methods.items()]


def values_of(texts):
    """The values by method of fields: the inverse of `fields`."""
    parts = (text.split("=") for text in texts)
    return {name: value for names, value in parts for name in names.split(",")}


def record(operation, type, result, vector, by_method):
    size = f"{vector.rows}x{vector.columns}"
    return " ".join([operation, type, result, vector.family, size, *fields(by_method)])


def real_record(operation, type, result, vector, by_tree):
    by_method, columns = {}, range(vector.columns)
    f = part_of(result)
    if by_tree:
        by_method["tree"] = joined([text_of(fold_by_tree(operation, vector, result, c), f) for c in columns])
        if operation in ("min", "max", "norminf"):
            by_method["plain"] = by_method["tree"]
    if operation in [*ROUNDED_ONCE, "dotc"] and type not in EXTENDED and result not in EXTENDED:
        empty = operation == "mean" and vector.rows == 0
        sums = [terms for c in columns for terms in real_terms(operation, vector, c)]
        for bins in (0, *BINS):
            values = None if empty else [rounded_once(operation, terms, vector.rows, f, bins) for terms in sums]
            by_method[f"binned{bins}" if bins else "exact"] = text_of(values, f)
    return record(operation, type, result, vector, by_method)


def vectors_of(type, sizes, with_columns):
    for family, counts in sizes.items():
        for rows in counts:
            yield Vector(type, family, rows, 1)
    if with_columns:
        for rows in VECTOR_ROWS:
            yield Vector(type, "any" if type in INTEGERS or type in ("mix", "matrix") else "wide", rows, COLUMNS)
        if type in FORMATS or type in COMPLEX:
            yield Vector(type, "specials", 2, 36)


def real_records(types):
    """Results of their own type and of others, by every operation."""
    for type in types:
        is_complex = type in COMPLEX
        own = "f32" if type in ("bf16", "f16") else type
        wider = ["f64"] if type in ("f32", "bf16", "f16") else ["cf64"] if type == "cf32" else []
        others = ["cf64", "cf32"] if is_complex else ["f64", "f32"]
        operations = OF_COMPLEX if is_complex else ROUNDED_ONCE
        for operation in operations:
            for result in others:
                by_tree = operation in SUMS_OF_TREES and result in [own, *wider]
                for vector in vectors_of(type, OWN_SIZES if result == own else OTHER_SIZES, result == own):
                    yield real_record(operation, type, result, vector, by_tree)
        for operation in ["norm2", "sum_squares"] if is_complex else []:
            for result in ["f64", "f32"]:
                is_own = result == COMPLEX[type]
                for vector in vectors_of(type, OWN_SIZES if is_own else OTHER_SIZES, is_own):
                    yield real_record(operation, type, result, vector, is_own or type == "cf32")
        for operation in ["product"] if is_complex else ["product", "min", "max", "norminf"]:
            for result in [own, *wider]:
                for vector in vectors_of(type, OWN_SIZES if result == own else OTHER_SIZES, result == own):
                    yield real_record(operation, type, result, vector, True)


def extended_records():
    """Doubles and floats become what a long double is: the 80 bits of the x87 here, binary128 there."""
    for result in EXTENDED:
        for type in [result, "f64", "f32"]:
            for operation in ["sum", "product", "min", "max"]:
                for vector in vectors_of(type, OWN_SIZES if type == result else OTHER_SIZES, type == result):
                    yield real_record(operation, type, result, vector, True)


def integer_record(operation, type, result, vector):
    values = [fold_integers(operation, vector, result, c) for c in range(vector.columns)]
    text = joined(["empty" if v is None else hexadecimal(v, INTEGERS[result]) for v in values])
    methods = ["plain"] if operation == "masked_sum" else ["tree", "plain"]
    return record(operation, type, result, vector, dict.fromkeys(methods, text))


def integer_records():
    for type in INTEGERS:
        for result in [type, *([type[0] + "64"] if type[1:] == "32" else [])]:
            for operation in ["sum", "product", "min", "max", "masked_sum"]:
                for vector in vectors_of(type, INTEGER_SIZES, result == type):
                    yield integer_record(operation, type, result, vector)


def location_record(operation, type, vector):
    texts = []
    sign = 1 if operation == "min_location" else -1
    for column in range(vector.columns):
        bits = [element(type, vector.family, row, column) for row in range(vector.rows)]
        if not bits:
            texts.append("empty")
            continue
        if type in FORMATS:
            f = FORMATS[type]
            values = [None if x[1] == -2 else x for x in (decode(f, b) for b in bits)]
            value, at = best(values, lambda a, b: sign * compare(a, b) < 0)
            text = text_of([(False, -2, 0) if value is None else value], f)
        else:
            width = INTEGERS[type]
            value, at = best([as_signed(type, b) for b in bits], lambda a, b: sign * (a - b) < 0)
            text = hexadecimal(value % (1 << width), width)
        texts.append(f"{text}@{at}")
    return record(operation, type, type, vector, {"plain": joined(texts)})


def location_records():
    for type in ["f64", "f32", *INTEGERS]:
        sizes = INTEGER_SIZES if type in INTEGERS else OWN_SIZES
        for operation in ["min_location", "max_location"]:
            for vector in vectors_of(type, sizes, True):
                yield location_record(operation, type, vector)


def extreme(values, sign):
    """The least (sign 1) or greatest number, a NaN before all, and where it is first."""
    marked = [None if x[1] == NAN else x for x in values]
    value, at = best(marked, lambda a, b: sign * compare(a, b) < 0)
    return CANONICAL_NAN if value is None else value, at


def statistics_of(x, result):
    """Ten words: the number of elements, the least and where, the greatest and where, the mean, the variances with n and
    n - 1 as the divisor, and their roots. (n S2 - S1^2) / (n (n - ddof)) without rounding, then one rounding each to the
    result's format, in words of 64 bits."""
    n, nowhere = len(x), (1 << 64) - 1
    (low, low_at), (high, high_at) = (extreme(x, 1), extreme(x, -1)) if x else [(CANONICAL_NAN, nowhere)] * 2
    sum_of = exact_sum(x)
    mean = quotient(result, sum_of, n) if x else CANONICAL_NAN
    spread = [CANONICAL_NAN] * 4
    if x and all(v[1] >= 0 for v in x):
        squares = exact_sum([square(v) for v in x])
        count = (False, n, 0)
        scaled = exact_sum([product(count, squares), minus(square(sum_of))])
        for ddof in (0, 1):
            if n > ddof:
                spread[ddof] = quotient(result, scaled, n * (n - ddof))
                spread[2 + ddof] = root_of_quotient(result, scaled, n * (n - ddof))
    numbers = [hexadecimal(encode(DOUBLE, v), 64) for v in (low, high, mean, *spread)]
    indices = [hexadecimal(i, 64) for i in (n, low_at, high_at)]
    return "".join([indices[0], numbers[0], indices[1], numbers[1], indices[2], *numbers[2:]])


def statistics_records():
    for type, result in [("f64", "f64"), ("f32", "f64"), ("f32", "f32"), ("bf16", "f64"), ("f16", "f64")]:
        for vector in vectors_of(type, OWN_SIZES, True):
            text = ",".join(statistics_of(vector.column(c), FORMATS[result]) for c in range(vector.columns))
            yield record("statistics", type, result, vector, {"exact": text})


def weighted_mean(f, x, w):
    """The quotient of two exact sums, rounded once; what is no number is divided as IEEE 754 divides it."""
    products, weights = exact_sum([product(a, b) for a, b in zip(x, w)]), exact_sum(w)
    negative, classes = products[0] != weights[0], (products[1], weights[1])
    if NAN in classes or classes in ((0, 0), (INFINITE, INFINITE)):
        return CANONICAL_NAN
    if products[1] == INFINITE or weights[1] == 0:
        return (negative, INFINITE, 0)
    if weights[1] == INFINITE or products[1] == 0:
        return (negative, 0, 0)
    return quotient_of_numbers(f, products, weights)


def covariance(f, x, y, ddof=0):
    """(n P - X Y) / (n (n - ddof)) of the sums of products and of numbers without rounding, rounded once."""
    n = len(x)
    if n <= ddof or any(v[1] < 0 for v in [*x, *y]):
        return CANONICAL_NAN
    products = exact_sum([product(a, b) for a, b in zip(x, y)])
    scaled = exact_sum([product((False, n, 0), products), minus(product(exact_sum(x), exact_sum(y)))])
    return quotient(f, scaled, n * (n - ddof)) if scaled[1] != 0 else (False, 0, 0)


def sample_covariance(f, x, y):
    return covariance(f, x, y, 1)


def correlation(f, x, y):
    """The root of (n P - X Y)^2 / ((n A - X^2) (n B - Y^2)) without rounding, A and B the sums of squares, rounded once."""
    n = len(x)

    def comoment(a, b):
        products = exact_sum([product(u, v) for u, v in zip(a, b)])
        return exact_sum([product((False, n, 0), products), minus(product(exact_sum(a), exact_sum(b)))])

    if any(v[1] < 0 for v in [*x, *y]):
        return CANONICAL_NAN
    negative, m, e = comoment(x, y)
    _, count, down = product(comoment(x, x), comoment(y, y))
    if count == 0:
        return CANONICAL_NAN
    if m == 0:
        return (False, 0, 0)
    up = count.bit_length()
    _, m, e = root_of_quotient(f, (False, m * m << up, 2 * e - down - up), count)
    return (negative, m, e)


def records_of_pairs(name, value):
    for type in ["f64", "f32", "bf16", "f16"]:
        for result in ["f64", "f32"]:
            own = "f32" if type in ("bf16", "f16") else type
            for vector in vectors_of(type, OWN_SIZES if result == own else OTHER_SIZES, result == own):
                f = FORMATS[result]
                values = None if vector.rows == 0 else [
                    value(f, vector.column(c), vector.column(c, second=True)) for c in range(vector.columns)]
                yield record(name, type, result, vector, {"exact": text_of(values, f)})


USERS_SIZES = {"any": [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 300]}


def user_elements(name, vector, column):
    rows = range(vector.rows)
    if name == "matrix":
        return [tuple(element("u32", "any", row, 4 * column + i) for i in range(4)) for row in rows]
    if name == "mix":
        return [element("u64", "any", row, column) for row in rows]
    return [decode(DOUBLE, element("f64", vector.family, row, column)) for row in rows]


USERS = {"matrix": multiply_matrices, "mix": mix_words, "halves": halve_and_subtract}


def user_text(name, value):
    if name == "matrix":
        return "".join(hexadecimal(part, 32) for part in value)
    return text_of([value], DOUBLE) if name == "halves" else hexadecimal(value, 64)


def user_record(name, vector):
    texts = []
    for column in range(vector.columns):
        x = user_elements(name, vector, column)
        if not x:
            texts.append("empty")
            continue
        texts.append(user_text(name, tree(x, USERS[name])))
    return record("user", name, name, vector, {"tree": joined(texts)})


def user_records():
    """mix: 3 a + (b xor b / 128) on u64, neither commutative nor associative. matrix: products of 2 x 2 of u32, not
    commutative. halves: a - b / 2 on f64, every operation rounded, neither."""
    for name in ["mix", "matrix"]:
        for vector in vectors_of(name, USERS_SIZES, True):
            yield user_record(name, vector)
    for vector in vectors_of("halves", {k: OWN_SIZES[k] for k in ("near", "wide", "full")}, True):
        yield user_record("halves", vector)


def large_records():
    sized = [(*case, rows) for case in LARGE for rows in LARGE_SIZES] + LARGEST
    for operation, type, family, rows in sized:
        vector = Vector(type, family, rows, 1)
        if type in INTEGERS:
            yield integer_record(operation, type, type, vector)
        else:
            result = {"f16": "f32", "bf16": "f32"}.get(type, type)
            yield real_record(operation, type, result, vector, operation != "masked_sum")


FILES = {
    "double.txt": lambda: real_records(["f64"]),
    "float.txt": lambda: real_records(["f32"]),
    "half.txt": lambda: real_records(["bf16", "f16"]),
    "complex.txt": lambda: real_records(["cf64", "cf32"]),
    "extended.txt": extended_records,
    "integers.txt": integer_records,
    "locations.txt": location_records,
    "statistics.txt": lambda: [*statistics_records(), *records_of_pairs("weighted_mean", weighted_mean)],
    "covariances.txt": lambda: [*records_of_pairs("covariance", covariance),
                                *records_of_pairs("sample_covariance", sample_covariance),
                                *records_of_pairs("correlation", correlation)],
    "users.txt": user_records,
    "large.txt": large_records,
}
