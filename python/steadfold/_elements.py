"""The computations with elements that the package leaves to NumPy and Python: conversions, arithmetic, and stores into
another dtype.

A process may round in another direction, or flush subnormal numbers to zero because it has loaded a library that was
linked with -ffast-math. Therefore every function here that other modules call runs in the floating-point environment in
which bits are promised. No other module of the package computes with elements; tests/structure checks this."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from . import _core

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    Parameters = ParamSpec("Parameters")

Made = TypeVar("Made")
Array = np.ndarray[Any, np.dtype[Any]]

_LARGEST_EXACT = 2**53  # every integer up to this number can be converted to a double without rounding
_MOST_IN_WORDS = 2**30  # the sum of this number of 32-bit digits has at most 63 bits
_LARGE = 2.0**960  # sums of up to 2**63 doubles below this number are doubles
_DIVISOR = 2.0**64  # of large doubles, which keep all bits


def promised(function: Callable[Parameters, Made]) -> Callable[Parameters, Made]:
    """Makes a function run in the environment in which bits are promised. The caller's environment is restored
    afterwards."""

    @functools.wraps(function)
    def run(*arguments: Parameters.args, **options: Parameters.kwargs) -> Made:
        return cast("Made", _core.in_promised_environment(function, *arguments, **options))

    return run


@promised
def converted(array: Any, dtype: Any) -> Any:
    """Returns the elements, converted to another dtype."""
    return array.astype(dtype)


@promised
def store(result: Any, out: Array) -> None:
    """Stores results in `out`, as NumPy does."""
    np.copyto(out, result, casting="same_kind")


@promised
def from_sequence(x: Any) -> Array:
    """Makes an array of a number, or of sequences of numbers, in the dtype that NumPy finds for all of them."""
    return np.asarray(x)


@promised
def doubles(values: Array) -> Array:
    """Converts all numbers that math.fsum takes, one by one, to doubles. Raises an error for other values."""
    return np.array([math.fsum([value]) for value in values.ravel()], np.float64)


@promised
def is_exact(array: Array, dtype: np.dtype[Any]) -> bool:
    """Returns whether no integer changes when it is converted to another dtype and back."""
    made = array.astype(dtype)
    if dtype.kind in "fc":  # a float above all of these integers cannot be converted back
        made = made.real
        # The number is too large for float16.
        above = np.float64(2.0 ** np.iinfo(array.dtype).bits / (2 if array.dtype.kind == "i" else 1))
        if (made >= above).any():
            return False
    return bool((made.astype(array.dtype) == array).all())


@promised
def as_float64(x: Array) -> Array:
    """Converts integers to doubles. Raises an error if an integer would be rounded."""
    if x.dtype.itemsize == 8 and x.size > 0 and max(abs(int(x.min())), abs(int(x.max()))) > _LARGEST_EXACT:
        raise TypeError(f"{x.dtype} above 2**53 in floating-point arithmetic (they would be rounded), convert the elements")
    return x.astype(np.float64)


@promised
def products(x: Array, y: Array, dtype: Any) -> Array:
    """Returns the products of integers, which wrap around. The factors are broadcast to the elements, not the elements to
    the factors."""
    made: Array = np.multiply(x, np.broadcast_to(y, x.shape), dtype=dtype)
    return made


def _scaled_products(x: Array, y: Array) -> Iterator[tuple[int, Array, Array]]:
    (x, exponents), (y, exponents_of_y) = np.frexp(x), np.frexp(y)
    exponents = exponents + exponents_of_y
    places = (exponents - _SCALES.start) // _SCALES.step
    for place in np.unique(places).tolist():
        chosen = places == place  # elsewhere the product is -0.0, which changes no sum
        scaled = np.ldexp(x, np.where(chosen, exponents - _SCALES[place], 0))
        yield place + 1, np.where(chosen, scaled, -0.0), np.where(chosen, y, 0.0)


@promised
def without_large(x: Array) -> tuple[Array, Array]:
    """Returns two arrays, whose exact sums are not above the largest double: the doubles below _LARGE, and the other
    doubles divided by _DIVISOR. Elsewhere the arrays are 0."""
    are_large = np.isfinite(x) & (np.abs(x) >= _LARGE)
    return np.where(are_large, 0.0, x), np.where(are_large, x, 0.0) / _DIVISOR


@promised
def expansion(rounded: Callable[[], Array], subtract: Callable[[Array], None]) -> list[Array]:
    """Returns doubles whose sums are the exact sums of an accumulator, which becomes 0. A sum that is NaN or infinite has
    this value first."""
    found = [rounded()]
    while np.any(np.isfinite(found[-1]) & (found[-1] != 0)):
        subtract(np.where(np.isfinite(found[-1]), found[-1], 0.0))
        found.append(np.where(np.isfinite(found[0]), rounded(), 0.0))
    return found


@promised
def quotients(operation: str, sums: list[list[Array]], rows: int, target: np.dtype[Any]) -> Array:
    """Returns the results of an operation in QUOTIENTS, rounded once. ``sums[part]`` are the exact sums as `expansion`
    gives them."""
    shape = np.shape(sums[0][0])
    results = np.empty(shape, target)
    with np.errstate(over="ignore"):  # a result above the target's largest number is infinite, as in memory
        for index in np.ndindex(shape):
            values = [[float(value[index]) for value in part] for part in sums]
            results[index] = _quotient_of_sums(operation, values, rows, target)
    return results


def _quotient_of_sums(operation: str, values: list[list[float]], rows: int, target: np.dtype[Any]) -> float:
    are_finite = all(math.isfinite(value) for part in values for value in part)
    total = _total(values[0], values[-1]) if math.isfinite(values[0][0]) else Fraction(0)
    if operation == "weighted_mean":
        products = [part[0] for part in values[1:-1]]
        exact = _sum_of_products(values) if are_finite else Fraction(0)
        if exact != 0 and total != 0:
            return _rounded_fraction(exact / total, target)
        # The quotient needs only the sign of a finite sum of weights. The sum of parts that cancel is +0.0.
        is_cancelled = math.isfinite(values[0][0]) and any(values[0])
        weights = float((total > 0) - (total < 0)) or (0.0 if is_cancelled else values[0][0])
        has_sum = are_finite and any(products)
        dividend = (exact > 0) - (exact < 0) if has_sum else sum(products[1:], products[0])
        with np.errstate(all="ignore"):
            quotient = float(np.float64(dividend) / np.float64(weights))
        return math.nan if math.isnan(quotient) else quotient  # processors differ in the sign of a NaN
    divisor = rows * (rows - 1) if operation.startswith("sample") else rows * rows
    if not are_finite or divisor <= 0:
        return math.nan
    variance = (rows * _sum_of_products(values) - total**2) / divisor
    return _rounded_fraction(_root(variance) if operation.endswith("deviation") else variance, target)


@promised
def lag_correlation(sums: dict[Any, list[float]], rows: int, lag: int) -> float:
    """Returns the sum of (x[i] - mean) (x[i + lag] - mean) over the sum of (x[i] - mean)**2, rounded once. The exact sums,
    as `expansion` gives them: "elements"; "ends", of the first `lag` and the last `lag` elements; ("large", name) of these
    two, as `without_large` divides them; ("squares", part) and ("products", part), of x[i] x[i + lag], with the parts of
    `terms`."""
    if not all(math.isfinite(value) for each in sums.values() for value in each):
        return math.nan
    total, of_ends = (_total(sums[name], sums["large", name]) for name in ("elements", "ends"))
    squares, products = (_sum_of_products([sums.get((name, part), []) for part in range(PARTS)]) for name in ("squares", "products"))
    mean = total / rows
    divisor = squares - total * mean
    if divisor == 0:
        return math.nan
    dividend = products - mean * (2 * total - of_ends) + (rows - lag) * mean * mean
    return _rounded_fraction(dividend / divisor, np.dtype(np.float64))


def _total(values: list[float], large: list[float]) -> Fraction:
    return sum(map(Fraction, values), Fraction(0)) + sum(map(Fraction, large), Fraction(0)) * Fraction(_DIVISOR)


def _sum_of_products(values: list[list[float]]) -> Fraction:
    return sum((sum(map(Fraction, part), Fraction(0)) * Fraction(2) ** scale for part, scale in zip(values[1:], _SCALES)), Fraction(0))


def _root(number: Fraction) -> Fraction:
    """Returns a square root, so near that it is rounded to any target as the exact root is: 128 bits, and one more bit for
    a remainder."""
    if number == 0:
        return number
    shift = 128 + max(number.denominator.bit_length() - number.numerator.bit_length(), 0) // 2
    scaled, rest = divmod(number.numerator << 2 * shift, number.denominator)
    root = math.isqrt(scaled)
    return Fraction(2 * root + (rest > 0 or root * root < scaled), 2 << shift)


def _rounded_fraction(number: Fraction, target: np.dtype[Any]) -> float:
    try:
        return _quotient(number.numerator, number.denominator, target)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


@promised
def wrapped_sum(parts: list[Array]) -> Array:
    """Returns the sum of arrays of integers, which wraps around without a warning."""
    return np.asarray(np.add.reduce(parts, dtype=parts[0].dtype))


@promised
def totals_of_lines(lines: Array) -> Array:
    """Returns the sum of every line of integers, which wraps around."""
    return np.asarray(np.add.reduce(lines, axis=-1, dtype=lines.dtype))


@promised
def cumulated_integers(lines: Array, before: list[Array]) -> Array:
    """Returns the sums of integers up to each, which wrap around. Every line begins with the sum of the integers that are
    before it."""
    starts = np.array([np.add.reduce(each, dtype=lines.dtype) for each in before], lines.dtype)
    return np.asarray(np.cumsum(lines, axis=-1, dtype=lines.dtype) + starts[:, np.newaxis])


@promised
def integer_parts(x: Array, axis: Any, keepdims: bool, where: Any) -> Array:
    """Returns the sum of integers in three parts (multiples of 2**64, of 2**32, and of 1) and the number of integers, in
    one array. Arrays in this form of up to 2**31 ranks or chunks may be added, because the parts of 2**32 and of 1 are
    digits of 32 bits."""
    if x.size > _MOST_IN_WORDS:
        axes = range(x.ndim) if axis is None else np.atleast_1d(axis)
        longest = max(axes, key=lambda each: x.shape[each], default=None)
        if longest is not None and x.shape[longest] > 1:
            masks = [None] * 2 if where is None else np.array_split(np.broadcast_to(where, x.shape), 2, longest)
            first, second = (integer_parts(half, axis, keepdims, mask) for half, mask in zip(np.array_split(x, 2, longest), masks))
            return _digits(*(first + second))
    wide = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64, copy=False)
    parts = (wide >> 32, wide & 0xFFFFFFFF, np.broadcast_to(np.int64(1), x.shape))
    middle, low, rows = (np.asarray(np.sum(part, axis=axis, dtype=np.int64, keepdims=keepdims, where=True if where is None else where))
                         for part in parts)
    return _digits(np.zeros_like(middle), middle, low, rows)


def _digits(high: Array, middle: Array, low: Array, rows: Array) -> Array:
    middle = middle + (low >> 32)
    return np.stack([high + (middle >> 32), middle & 0xFFFFFFFF, low & 0xFFFFFFFF, rows])


@promised
def integer_quotients(parts: Array, mean: bool, target: np.dtype[Any]) -> Any:
    """Returns the sums of `integer_parts`, or for a mean the quotients, rounded once."""
    high, middle, low, rows = (part.astype(object) for part in parts)
    total = (high * 2**32 + middle) * 2**32 + low
    if not mean:
        rows = total * 0 + 1
    real = np.empty(0, target).real.dtype
    quotients = np.vectorize(lambda sum_, count: _quotient(sum_, count, real), otypes=[np.float64])
    return quotients(total, rows).astype(target)[()]


def _quotient(sum_: int, count: int, target: np.dtype[Any]) -> float:
    """Returns a quotient, rounded so that a second rounding to `target` gives the correctly rounded result. If the
    quotient in float64 is halfway between two numbers of a narrower target, the neighbour on the side of the exact
    quotient is returned. The neighbour of the target's largest number is the power of 2 that is infinite there."""
    if count == 0:
        return float("nan")
    quotient = sum_ / count
    narrow = float(target.type(quotient))
    if narrow == quotient:
        return quotient
    other = float(np.nextafter(target.type(quotient), target.type(np.copysign(np.inf, quotient - narrow))))
    narrow, other = (value if math.isfinite(value) else math.copysign(2.0 ** np.finfo(target).maxexp, value) for value in (narrow, other))
    error = Fraction(sum_, count) - Fraction(quotient)
    return quotient if error == 0 or (narrow + other) / 2 != quotient else (max if error > 0 else min)(narrow, other)


#: The results that are quotients of several exact sums. Part 0 is the sum of the elements, or of the weights, below
#: _LARGE. The last part is the sum of the larger elements or weights.
QUOTIENTS = ("weighted_mean", "variance", "sample_variance", "deviation", "sample_deviation")
#: The parts between are sums of products of about one size, divided by 2**_SCALES[part - 1]. So all bits of every sum lie
#: where doubles have bits.
_SCALES = range(-2560, 2560, 512)
PARTS = 2 + len(_SCALES)


@promised
def terms(operation: str, x: Array, factors: Array | None) -> list[tuple[int, Array, Array | None]]:
    """Returns the sums from which a result is computed. Each sum has its part (0: real, 1: imaginary, or see QUOTIENTS),
    its elements, and their factors."""
    return list(_terms(operation, x, factors))


def _terms(operation: str, x: Array, factors: Array | None) -> Iterator[tuple[int, Array, Array | None]]:
    if operation in QUOTIENTS:
        second = x if factors is None else factors
        second = second.astype(np.float64)
        for part, elements in zip((0, PARTS - 1), without_large(second)):
            if part == 0 or elements.any():
                yield part, elements, None
        yield from _scaled_products(x.astype(np.float64), second)
    elif operation == "norm1":
        yield 0, np.abs(x), None
    elif operation == "norm2":
        for side in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
            yield 0, side, side
    elif x.dtype.kind != "c":
        yield 0, x, factors
    elif factors is None:
        yield 0, x.real, None
        yield 1, x.imag, None
    else:
        imag = -x.imag if operation == "vdot" else x.imag
        yield 0, x.real, factors.real
        yield 0, -imag, factors.imag
        yield 1, x.real, factors.imag
        yield 1, imag, factors.real


@promised
def bits(packed: Array, first: int, count: int) -> Array:
    """Returns bits as bool, the lowest bit of a byte first."""
    return np.unpackbits(packed, count=first + count, bitorder="little")[first:].view(bool)


@promised
def packed(are_set: Array) -> Array:
    """Returns bool as bits, the lowest bit of a byte first."""
    return np.packbits(are_set, bitorder="little")


@promised
def labels_with_nulls(labels: Array, are_valid: Array) -> Array:
    """Returns labels as int64, and -1 for a null. A label that int64 cannot hold becomes the largest int64, which the
    library refuses."""
    if labels.dtype == np.uint64:
        labels = np.minimum(labels, np.uint64(2**63 - 1))
    return np.where(are_valid, labels.astype(np.int64), -1)
