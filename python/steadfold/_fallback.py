"""What the library does not do itself: elements of other types, which are converted only where no bit is lost.

Integers never pass through floating point: their sums and products wrap as NumPy's do, their means are the exact quotients,
rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from . import _core
from ._convert import are_wider, as_array, as_mask
from ._mode import Mode
from ._numbers import Collective, List, Operation
from ._told import refuse, told

_WRAPPING = (Operation.SUM, Operation.PRODUCT)
_EXTREMES = (Operation.MIN, Operation.MAX, Operation.MIN_LOCATION, Operation.MAX_LOCATION)
_LARGEST_EXACT = 2**53  # every integer up to it is a double
_MOST_IN_WORDS = 2**30  # digits of 32 bits whose sum has 63

Array = np.ndarray[Any, np.dtype[Any]]


def reduce(operation: int, x: Any, factors: Any, axis: Any, dtype: Any, keepdims: bool, *rest: Any) -> Any:
    """As _core.reduce, which said NotImplemented."""
    comm = rest[4]
    with told(comm):
        operands = _operands(Operation(operation), as_array(x), factors, dtype)
    if operands is None:
        return _integer_quotient(Operation(operation), as_array(x), axis, dtype, keepdims, *rest)
    operation, converted, factors, dtype, back = operands
    result = _core.reduce(operation, converted, factors, axis, dtype, keepdims, *rest)
    if result is NotImplemented:
        name = Operation(operation).name.lower()
        refuse(comm, TypeError(f"{name} of dtype {converted.dtype} is not offered, convert the elements"))
    return result.astype(back) if back is not None and isinstance(result, (np.ndarray, np.generic)) else result


def _operands(operation: Operation, x: Array, factors: Any, dtype: Any) -> tuple[int, Array, Any, Any, Any] | None:
    """Operation, elements, factors, dtype of the result, and what the result is converted to. None: a quotient of
    integers."""
    kind = x.dtype.kind
    if not x.dtype.isnative:
        return operation, _as_wide_as(x.astype(x.dtype.newbyteorder("=")), factors), factors, dtype, None
    if factors is not None and kind in "fc" and are_wider(as_array(factors), x.dtype):
        return operation, _as_wide_as(x, factors), factors, dtype, None
    if kind not in "biufc":
        raise TypeError(f"elements of dtype {x.dtype} cannot be reduced (numbers and bool can), convert them; of what is iterated over, take steadfold.fsum")
    if kind == "f" and x.dtype.itemsize == 2:  # locations of halves
        return operation, x.astype(np.float32), factors, dtype, None
    if kind not in "biu" and dtype is not None and np.dtype(dtype).kind in "biu":
        raise TypeError(f"results of dtype {np.dtype(dtype)} for elements of dtype {x.dtype} (they are rounded to floating point), round the result yourself")
    if kind not in "biu":
        raise TypeError(f"{operation.name.lower()} of dtype {x.dtype} is not offered, convert the elements")
    if operation is Operation.MEAN or (operation in _WRAPPING and dtype is not None and np.dtype(dtype).kind not in "iu"):
        if operation is Operation.PRODUCT:
            return operation, as_float64(x), factors, dtype, None
        return None
    if operation in _EXTREMES:
        back = x.dtype if operation in (Operation.MIN, Operation.MAX) else None
        return operation, _widened(x), factors, None, back
    if operation in _WRAPPING:
        wide = _widened(x)
        return operation, wide, factors, None if dtype is None else wide.dtype, dtype
    if operation in (Operation.DOT, Operation.DOTC) and as_array(factors).dtype.kind in "biu":
        if dtype is not None and np.dtype(dtype).kind not in "iu":
            raise TypeError(f"products of integers as {np.dtype(dtype)} (they wrap at 64 bits), convert the factors")
        return Operation.SUM, _products(x, as_array(factors)), None, None, dtype
    return operation, _as_wide_as(as_float64(x), factors), factors, dtype, None


def _as_wide_as(x: Array, factors: Any) -> Array:
    """Elements in the wider dtype of themselves and their factors."""
    if factors is None or x.dtype.kind not in "fc" or not are_wider(as_array(factors), x.dtype):
        return x
    return x.astype(np.result_type(as_array(factors).dtype, x.dtype))


def _widened(x: Array) -> Array:
    """bool, and integers of 8 and 16 bits, as integers of 64."""
    return x if x.dtype.itemsize >= 4 else x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)


def _products(x: Array, y: Array) -> Array:
    common = np.result_type(x, y, np.uint8 if "u" in (x.dtype.kind, y.dtype.kind) else np.int8)
    if common.kind not in "iu":
        raise TypeError(f"products of {x.dtype} and {y.dtype} (no integer type holds both), convert one of them")
    y = np.broadcast_to(y, x.shape)  # factors are stretched to the elements, not the other way round
    products: Array = np.multiply(x, y, dtype=np.uint64 if common.kind == "u" else np.int64)
    return products


def as_float64(x: Array) -> Array:
    if x.dtype.itemsize == 8 and x.size > 0 and max(abs(int(x.min())), abs(int(x.max()))) > _LARGEST_EXACT:
        raise TypeError(f"{x.dtype} above 2**53 in floating-point arithmetic (they would be rounded), convert them")
    return x.astype(np.float64)


def _integer_quotient(
    operation: Operation, x: Array, axis: Any, dtype: Any, keepdims: bool, where: Any, labels: Any, groups: Any,
    method: Any, comm: Any, layout: Any, root: Any, schedule: Any, threads: int, require: Any, mode: int,
) -> Any:
    """The sum of integers, for a mean divided by their number: exact, rounded once into a floating-point type."""
    with told(comm):
        if mode != Mode.RUN or labels is not None:
            raise TypeError(f"a {operation.name.lower()} of dtype {x.dtype} in floating point by groups, plans or started calls (it takes "
                            "several reductions), convert the elements")
        target = np.dtype(np.float64 if dtype is None else dtype)
        if target.kind not in "fc":
            raise TypeError(f"a result of dtype {target} for a quotient of integers (it is rounded to floating point), convert it")
        if target.itemsize > 8 and target.kind == "f":
            raise TypeError(f"a quotient of integers as {target} (it is rounded to float64 or narrower), take dtype=float")
        if isinstance(method, str):
            _core.find(List.METHODS, method)
        parts = integer_parts(x, axis, keepdims, None if where is None else as_mask(where))
    if comm is not None:
        parts = _core.reduce_buffer(Collective.REDUCE, parts, "sum", None, False, comm, None, root, schedule, Mode.RUN)
    return None if parts is None else integer_quotients(np.asarray(parts), operation is Operation.MEAN, target)


def integer_parts(x: Array, axis: Any, keepdims: bool, where: Any) -> Array:
    """The sum of integers as a number of 2**64, of 2**32 and of ones, and how many they are, in one array. Arrays of 2**31
    ranks or chunks may be added: those of 2**32 and of ones are digits."""
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


def integer_quotients(parts: Array, mean: bool, target: np.dtype[Any]) -> Any:
    """The sums of `integer_parts`, or for a mean the quotients, rounded once."""
    high, middle, low, rows = (part.astype(object) for part in parts)
    total = (high * 2**32 + middle) * 2**32 + low
    if not mean:
        rows = total * 0 + 1
    real = np.empty(0, target).real.dtype
    quotients = np.vectorize(lambda sum_, count: _quotient(sum_, count, real), otypes=[np.float64])
    return quotients(total, rows).astype(target)[()]


def _quotient(sum_: int, count: int, target: np.dtype[Any]) -> float:
    """Correctly rounded to float64, which a narrower target would round again: so in the middle between two of its
    numbers, the neighbour on the quotient's side."""
    if count == 0:
        return float("nan")
    quotient = sum_ / count
    narrow = float(target.type(quotient))
    if narrow == quotient or not np.isfinite(narrow):
        return quotient
    other = float(np.nextafter(target.type(quotient), target.type(np.copysign(np.inf, quotient - narrow))))
    error = Fraction(sum_, count) - Fraction(quotient)
    return quotient if error == 0 or (narrow + other) / 2 != quotient else (max if error > 0 else min)(narrow, other)
