"""Reductions of element types that the library does not take: their elements are converted, but only if no bit is lost.

Integers are never converted to floating point: their sums and products wrap as in NumPy, and their means are the exact
quotients, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core, _elements
from ._arrow import Chunks, Column, is_column
from ._convert import are_wider, as_array, as_labels, as_mask, as_operand, common_dtype, is_half, without_nulls
from ._elements import Array, as_float64, integer_parts, integer_quotients
from ._mode import Mode
from ._numbers import Collective, Operation
from ._told import refuse, told

_WRAPPING = (Operation.SUM, Operation.PRODUCT)
_PRODUCTS = (Operation.SUM, Operation.DOT, Operation.DOTC)  # with factors, a sum is a sum of products
_EXTREMES = (Operation.MIN, Operation.MAX, Operation.MIN_LOCATION, Operation.MAX_LOCATION)

#: The names of operations in Python, if they differ from the names in C.
_NAMES = {
    Operation.PRODUCT: "prod", Operation.NORM2: "norm", Operation.NORM1: "norm", Operation.NORMINF: "norm", Operation.DOTC: "vdot",
    Operation.MIN_LOCATION: "argmin", Operation.MAX_LOCATION: "argmax", Operation.STATISTICS: "statistics, var or std",
    Operation.WEIGHTED_MEAN: "a mean with weights",
}


def reduce(operation: int, x: Any, factors: Any, axis: Any, dtype: Any, keepdims: bool, *rest: Any) -> Any:
    """Makes a call for which _core.reduce returned NotImplemented: of columns of tables, or of types that the library
    does not take."""
    where, labels, groups, comm = rest[:4]
    if any(is_column(each) for each in (x, factors, where, labels)):
        with told(comm):
            x, labels = as_operand(x), None if labels is None else as_labels(labels)
            chunks = None if axis == () else _chunks_of(x, factors, where, comm is not None)
        if chunks is not None:
            result = _core.reduce(operation, chunks, factors, axis, dtype, keepdims, None, labels, groups, *rest[3:])
            if result is not NotImplemented:
                return result
        with told(comm):
            x, factors, where = without_nulls(x, factors, where, comm is not None)
            rest = (where, labels, groups, *rest[3:])
        result = _core.reduce(operation, x, factors, axis, dtype, keepdims, *rest)
        if result is not NotImplemented:
            return result
    with told(comm):
        array = as_array(x)
        operands = _operands(Operation(operation), array, None if factors is None else as_array(factors), dtype)
    if operands is None:
        return _integer_quotient(Operation(operation), array, axis, dtype, keepdims, *rest)
    operation, array, factors, dtype, back = operands
    result = _core.reduce(operation, array, factors, axis, dtype, keepdims, *rest)
    if result is NotImplemented:
        refuse(comm, TypeError(_not_offered(Operation(operation), array.dtype)))
    return _elements.converted(result, back) if back is not None and isinstance(result, (np.ndarray, np.generic)) else result


def _chunks_of(x: Any, factors: Any, where: Any, is_over_ranks: bool) -> Chunks | None:
    """Returns the chunks of a column. None if the chunks must be joined: for a mask, for other
    operands with nulls, or over ranks if there is no mask, because other ranks may have a contiguous array."""
    has_mask = where is not None and where is not True
    if not isinstance(x, Column) or is_column(factors) or has_mask:
        return None
    is_nullable = x.is_nullable if is_over_ranks else any(x.bitmaps)
    return Chunks(x, is_nullable) if is_nullable or (len(x.parts) > 1 and not is_over_ranks) else None


def _operands(operation: Operation, x: Array, factors: Array | None, dtype: Any) -> tuple[int, Array, Any, Any, Any] | None:
    """Returns the operation, elements, factors, dtype of the result, and the dtype to which the result is converted.
    Returns None for a quotient of integers."""
    has_halves = is_half(x.dtype)
    kind = "f" if has_halves else x.dtype.kind
    if kind not in "biufc":
        raise TypeError(_no_numbers(x))
    if kind in "fc":
        _check_result(x, dtype)
    if has_halves:
        x = _elements.converted(x, np.float32)
    if kind in "fc" and factors is not None and are_wider(factors, x.dtype):
        return operation, _as_wide_as(x, factors), factors, dtype, None
    if has_halves:  # the library cannot find locations for these dtypes
        return operation, x, factors, dtype, None
    if kind in "fc":
        raise TypeError(_not_offered(operation, x.dtype))
    return _operands_of_integers(operation, x, factors, dtype)


def _operands_of_integers(operation: Operation, x: Array, factors: Array | None, dtype: Any) -> tuple[int, Array, Any, Any, Any] | None:
    is_wrapping = operation in _WRAPPING and factors is None
    if operation is Operation.MEAN or (is_wrapping and dtype is not None and np.dtype(dtype).kind not in "iu"):
        if operation is Operation.PRODUCT:
            return operation, as_float64(x), factors, dtype, None
        return None
    if operation in _EXTREMES:
        back = x.dtype if operation in (Operation.MIN, Operation.MAX) else None
        return operation, _widened(x), factors, None, back
    if is_wrapping:
        wide = _widened(x)
        return operation, wide, factors, None if dtype is None else wide.dtype, dtype
    if operation in _PRODUCTS and factors is not None and factors.dtype.kind in "biu":
        if dtype is not None and np.dtype(dtype).kind not in "iu":
            raise TypeError(f"products of integers as {np.dtype(dtype)} (products of integers wrap at 64 bits), convert the factors")
        return Operation.SUM, _products(x, factors), None, None, dtype
    _check_result(x, dtype)
    return operation, _as_wide_as(as_float64(x), factors), factors, dtype, None


def _check_result(x: Array, dtype: Any) -> None:
    if dtype is not None and np.dtype(dtype).kind in "biu":
        raise TypeError(f"results of dtype {np.dtype(dtype)} for elements of dtype {x.dtype} (results are floating-point numbers), round the result yourself")


def _no_numbers(x: Array) -> str:
    """Returns an error text for elements that are not numbers: why they cannot be reduced, and what works instead."""
    advice = {
        "m": "are times, not numbers), reduce their ticks, x.view('i8'), and view the result as times",
        "M": "are dates, not numbers), reduce their ticks, x.view('i8'), and view the result as dates",
        "V": "are records, or of a type that is unknown here), reduce their fields, as x['name'], or convert the elements, as x.astype('f4')",
        "O": "are Python objects, not numbers), convert the elements, as np.array(x, float), or use steadfold.fsum for an iterator",
    }.get(x.dtype.kind, "are texts, not numbers), convert the elements, as np.array(x, float)")
    return f"elements of dtype {x.dtype} cannot be reduced (they {advice}"


def _not_offered(operation: Operation, dtype: np.dtype[Any]) -> str:
    name = _NAMES.get(operation, operation.name.lower())
    if dtype.kind == "c":
        why = "complex numbers have no order" if operation in (*_EXTREMES, Operation.NORMINF) else "only real numbers are"
        return f"{name} of dtype {dtype} is not supported ({why}), reduce x.real and x.imag"
    return f"{name} of dtype {dtype} is not supported (only float64 and narrower numbers are), convert the elements, as x.astype(float)"


def _as_wide_as(x: Array, factors: Array | None) -> Array:
    """Returns elements, converted to the dtype of their factors if that is wider."""
    if factors is None or x.dtype.kind not in "fc" or not are_wider(factors, x.dtype):
        return x
    return _elements.converted(x, common_dtype(factors.dtype, x.dtype))  # type: ignore[no-any-return]


def _widened(x: Array) -> Array:
    """Converts bool, and integers of 8 and 16 bits, to integers of 64 bits."""
    if x.dtype.itemsize >= 4:
        return x
    return _elements.converted(x, np.uint64 if x.dtype.kind == "u" else np.int64)  # type: ignore[no-any-return]


def _products(x: Array, y: Array) -> Array:
    common = np.result_type(x, y, np.uint8 if "u" in (x.dtype.kind, y.dtype.kind) else np.int8)
    if common.kind not in "iu":
        raise TypeError(f"products of {x.dtype} and {y.dtype} (no integer type holds both), convert one of them")
    return _elements.products(x, y, np.uint64 if common.kind == "u" else np.int64)


def _integer_quotient(
    operation: Operation, x: Array, axis: Any, dtype: Any, keepdims: bool, where: Any, labels: Any, groups: Any, comm: Any,
    options: Any, mode: int, initial: Any,
) -> Any:
    """Returns the sum of integers, for a mean divided by their number. The result is exact, and rounded once to a
    floating-point type."""
    with told(comm):
        if mode != Mode.RUN or labels is not None:
            raise TypeError(f"a {operation.name.lower()} of dtype {x.dtype} in floating point with groups, plans or started calls (it takes "
                            "several reductions), convert the elements")
        target = np.dtype(np.float64 if dtype is None else dtype).newbyteorder("=")
        if target.kind not in "fc":
            raise TypeError(f"a result of dtype {target} for a quotient of integers (quotients are rounded to floating point), convert the result")
        if target.itemsize > 8 and target.kind == "f":
            raise TypeError(f"a quotient of integers as {target} (a quotient is rounded to float64 or a narrower type), use dtype=float")
        parts = integer_parts(x, axis, keepdims, None if where is None else as_mask(where))
    if comm is not None:
        taken = {name: value for name, value in options.items() if name in ("root", "schedule", "threads")}
        parts = _core.reduce_buffer(Collective.REDUCE, parts, "sum", None, False, comm, taken, Mode.RUN)
    return None if parts is None else integer_quotients(np.asarray(parts), operation is Operation.MEAN, target)
