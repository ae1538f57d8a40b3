"""What docs/guarantees.md says of the methods: the tree, the exact value, the binned one, and the order-free operators."""
from formats import CANONICAL_NAN, INFINITE, compare, is_nan, minus, product, rounded, to_nearest, total

BITS_VERSIONS = {"tree": "tree-1", "exact": "exact-1", "binned": "binned-1"}


def tree(values, combine):
    """Level by level: neighbours combine, a last odd one passes through. There is at least one value."""
    level = list(values)
    while len(level) > 1:
        odd = level[len(level) & ~1 :]
        level = [combine(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)] + odd
    return level[0]


def tree_with_lanes(values, lanes, combine):
    """Lane j takes values j, j + lanes, j + 2 lanes, ...; the results of the lanes combine in the order of the lanes."""
    used = min(lanes, len(values))
    return tree([tree(values[lane::lanes], combine) for lane in range(used)], combine)


# --- operators --------------------------------------------------------------------------------------------------------


def adding(f):
    return lambda a, b: rounded(f, total(a, b))


def multiplying(f):
    return lambda a, b: rounded(f, product(a, b))


def least(a, b):
    """IEEE 754-2019 minimum: a NaN wins, -0 is below +0."""
    if is_nan(a) or is_nan(b):
        return CANONICAL_NAN
    return a if compare(a, b) <= 0 else b


def greatest(a, b):
    if is_nan(a) or is_nan(b):
        return CANONICAL_NAN
    return a if compare(a, b) >= 0 else b


def multiplying_complex(f):
    """(ac - bd) + (ad + bc)i, every operation rounded, none fused, infinities not repaired."""
    add, multiply = adding(f), multiplying(f)

    def combine(x, y):
        (a, b), (c, d) = x, y
        return add(multiply(a, c), minus(multiply(b, d))), add(multiply(a, d), multiply(b, c))

    return combine


def best(values, wins):
    """The first value that no other beats, and its index; the first NaN where there is one."""
    at = 0
    for i, value in enumerate(values):
        if value is None or wins(value, values[at]):
            at = i
        if value is None:
            break
    return values[at], at


# --- sums without rounding --------------------------------------------------------------------------------------------


def exact_sum(terms):
    """-0 if all terms are -0; the sum of nothing is +0."""
    terms = list(terms)
    if any(is_nan(t) for t in terms):
        return CANONICAL_NAN
    signs = {t[0] for t in terms if t[1] == INFINITE}
    if signs:
        return CANONICAL_NAN if len(signs) == 2 else (signs.pop(), INFINITE, 0)
    lowest = min((t[2] for t in terms if t[1]), default=0)
    m = sum((-t[1] if t[0] else t[1]) << (t[2] - lowest) for t in terms if t[1])
    if m == 0:
        return (bool(terms) and all(t[0] and t[1] == 0 for t in terms), 0, 0)
    return (m < 0, abs(m), lowest)


def binned_sum(terms, largest, bins, factors):
    """The exact sum of terms rounded to the unit below the largest element, where squares have two factors."""
    top = bins - 1
    low = 1074 * factors
    above = max((x[1].bit_length() + x[2] for x in largest if x[1] > 0), default=None)
    if above is not None:
        top = max(top, (factors * above + low) // 40)
    unit = 40 * (top - bins + 1) - low

    def to_unit(term):
        negative, m, e = term
        return term if m <= 0 else (negative, to_nearest(m, unit - e), unit)

    # A term that becomes zero is no -0: those are told by the terms as they were.
    kept = [to_unit(t) for t in terms]
    value = exact_sum(kept)
    if value[1] == 0:
        return (bool(terms) and all(t[0] and t[1] == 0 for t in terms), 0, 0)
    return value


def to_53_bits(number):
    """Whatever its exponent."""
    negative, m, e = number
    drop = m.bit_length() - 53
    return number if m <= 0 or drop <= 0 else (negative, to_nearest(m, drop), e + drop)


def absolute(x):
    return (False, x[1], x[2])


def square(x):
    return product(absolute(x), absolute(x))
