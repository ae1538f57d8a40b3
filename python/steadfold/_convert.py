"""Converts operands to NumPy arrays. An operand that is an array is copied only if its elements have to be
converted."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

try:
    from numpy.exceptions import AxisError as AxisError  # exists since NumPy 1.25
except ImportError:
    from numpy import AxisError as AxisError  # type: ignore[attr-defined,no-redef]

from . import _arrow, _core, _elements
from ._elements import Array

_DLPACK_HOST = (1, 3)  # DLPack's numbers for memory of the host, and for memory of the host pinned by CUDA

#: The fields of the results of `steadfold.statistics`, in the order of the C interface.
STATISTICS = np.dtype(
    [
        ("count", "u8"),
        ("min", "f8"),
        ("min_index", "u8"),
        ("max", "f8"),
        ("max_index", "u8"),
        ("mean", "f8"),
        ("variance", "f8"),
        ("sample_variance", "f8"),
        ("deviation", "f8"),
        ("sample_deviation", "f8"),
    ]
)


def located(value: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the dtype of a value with its index."""
    return np.dtype({"names": ["value", "index"], "formats": [value, "u8"], "offsets": [0, 8], "itemsize": 16})


def as_array(x: Any) -> Array:
    """Makes an array in the machine's byte order of any object with elements: through NumPy's protocols, the buffer
    protocol, DLPack, or Arrow's interface. Refuses a column with nulls; see `without_nulls`."""
    if isinstance(x, np.ndarray):
        array = x
    elif _arrow.is_column(x):
        array = _arrow.column_of(x).refuse_nulls()
    else:
        array = _made_array(x)
    # Dask arrays have the attribute _meta.
    if isinstance(array, np.ma.MaskedArray) or isinstance(getattr(x, "_meta", None), np.ma.MaskedArray):
        raise TypeError(f"a masked array (its mask would be ignored), {_advice_on_masks(x)}")
    array = np.asarray(array)
    return array if array.dtype.isnative else _elements.converted(array, array.dtype.newbyteorder("="))


def as_operand(x: Any) -> Any:
    """Makes a `Column` of a column of a table, which may have nulls, and an array of any other object with elements. Both
    have the attributes dtype, shape and ndim."""
    return _arrow.column_of(x) if _arrow.is_column(x) else as_array(x)


def as_doubles(operand: Any) -> Any:
    """Converts the integers of an array or a `Column` to doubles. Raises an error if an integer would be rounded."""
    if isinstance(operand, _arrow.Column):
        bits = None if operand.are_valid is None else _arrow.Bits.of(operand.are_valid)
        return _arrow.Column([_elements.as_float64(operand.with_zeros())], [bits], operand.is_nullable)
    return _elements.as_float64(operand)


def without_nulls(x: Any, factors: Any, where: Any, is_over_ranks: bool) -> tuple[Any, Any, Any]:
    """Returns elements, factors and a mask that leaves out the elements that are null, or whose factors are. Over ranks
    there is a mask if the type of a column permits nulls. Otherwise ranks with nulls and ranks without nulls would make
    different calls."""
    x, factors = (None if each is None else as_operand(each) for each in (x, factors))
    mask = None if where is None or where is True else as_mask(where)
    for column in (each for each in (x, factors) if isinstance(each, _arrow.Column)):
        are_valid = column.are_valid
        if are_valid is None and is_over_ranks and column.is_nullable:
            are_valid = np.ones(column.shape, bool)
        if are_valid is None:
            continue
        if mask is not None and mask.ndim > 0 and 1 not in (mask.shape[-1], len(are_valid)) and mask.shape[-1] != len(are_valid):
            raise ValueError(f"a mask of shape {mask.shape} for a column of shape {are_valid.shape} (every row needs an element of the mask), give a mask of one length")
        mask = are_valid if mask is None else mask & are_valid
    # The number in place of a null may be any number, which the conversion of an integer could refuse.
    x, factors = (each if not isinstance(each, _arrow.Column) else each.with_zeros() if each.dtype.kind in "iu" else each.values for each in (x, factors))
    return x, factors, mask


def as_initial(value: Any, dtype: Any, shape: tuple[int, ...]) -> Array:
    """Makes an array of one element of the result of an initial value."""
    array = as_array(value)
    if array.shape != shape:
        raise ValueError(f"an initial value of shape {array.shape} for elements of shape {shape} (every result begins with the same value), give one element")
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"an initial value of dtype {array.dtype} for results of dtype {dtype} (the value would be truncated), convert the value")
    converted: Array = _elements.converted(array, dtype)
    return converted.copy("C")


def _made_array(x: Any) -> Array:
    if hasattr(x, "__dlpack_device__"):
        device = x.__dlpack_device__()[0]
        if device not in _DLPACK_HOST:
            raise TypeError(f"an array of {type(x).__name__} on device {int(device)} (only memory of the host is read), copy the array to the host")
        if not hasattr(x, "__array__"):
            return np.from_dlpack(x)
    if hasattr(x, "__array__"):
        return np.asanyarray(x)  # this runs the object's code, in the caller's floating-point environment
    array = _elements.from_sequence(x)
    if _has_masked_rows(x, array.ndim - 1):
        raise TypeError("a sequence of masked arrays or of columns with nulls (their masks would be ignored), give x = np.ma.stack(...), then "
                        "x.data and where=~np.ma.getmaskarray(x)")
    return array


def _has_masked_rows(x: Any, axes: int) -> bool:
    """Returns whether a sequence contains masked arrays, or columns with nulls. The rows of the sequence have `axes` axes."""
    if axes < 1 or not isinstance(x, (list, tuple)):
        return False
    return any(isinstance(row, np.ma.MaskedArray) or _has_masked_rows(row, axes - 1)
               or (_arrow.is_column(row) and _arrow.column_of(row).are_valid is not None) for row in x)


def _advice_on_masks(x: Any) -> str:
    if isinstance(x, np.ma.MaskedArray):
        return "give x.compressed(), or x.data and where=~np.ma.getmaskarray(x)"
    if type(x).__module__.partition(".")[0] == "dask":
        return "give da.ma.getdata(x) and where=~da.ma.getmaskarray(x) to steadfold.dask"
    return f"convert the {type(x).__name__} with x = np.asanyarray(x), then give x.data and where=~np.ma.getmaskarray(x)"


def axes_of(axis: Any, count: int) -> tuple[int, ...]:
    """Returns the reduced axes of an array of `count` axes in ascending order; for None all axes."""
    if axis is None:
        return tuple(range(count))
    given = axis if isinstance(axis, tuple) else (axis,)
    for each in given:
        if not -count <= operator.index(each) < count:
            raise AxisError(each, count)
    found = tuple(sorted({each % count for each in given}))
    if len(found) != len(given):
        raise ValueError(f"axis {axis} (an axis is given twice), leave one out")
    return found


def as_mask(where: Any) -> Array:
    """Returns a mask. A null in a column of bool leaves its element out."""
    mask = as_operand(where)
    if mask.dtype.kind != "b":
        raise TypeError(f"where of dtype {mask.dtype} (a mask must have dtype bool), write where = x > 0, for example")
    return mask.with_zeros() if isinstance(mask, _arrow.Column) else mask


def as_labels(labels: Any, name: str = "labels") -> Array:
    """Returns labels, which the caller calls `name`, as integers. Integers of 32 and 64 bits, and unsigned integers of 8
    and 16 bits, are kept as they are. A null in a column means no group."""
    given = as_operand(labels)
    if given.dtype.kind not in "iu":
        raise TypeError(f"{name} of dtype {given.dtype} ({name} must be integers, 0 to groups - 1), convert the {name}")
    if isinstance(given, _arrow.Column) and given.are_valid is not None:
        return _elements.labels_with_nulls(given.with_zeros(), given.are_valid)
    array = as_array(given)
    if array.dtype.itemsize >= 4 or array.dtype.kind == "u":
        return array
    return _elements.converted(array, np.int64)  # type: ignore[no-any-return]


def _exactly(array: Array, dtype: np.dtype[Any], what: str) -> Array:
    is_safe = np.can_cast(array.dtype, dtype, "safe") and not (array.dtype.kind in "iu" and array.dtype.itemsize == 8 and dtype.kind in "fc")
    if is_safe or (array.dtype.kind in "iu" and _elements.is_exact(array, dtype)):
        return _elements.converted(array, dtype)  # type: ignore[no-any-return]
    raise TypeError(f"{what} of dtype {array.dtype} for elements of {dtype} (a conversion could change values), convert one of them")


def as_factors(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns the second factors of products, in the dtype of the elements."""
    return _exactly(array, dtype, "factors")


def common_dtype(*dtypes: np.dtype[Any]) -> np.dtype[Any] | None:
    """Returns the dtype that NumPy finds for all of these, or None if there is no common dtype. bfloat16 counts as
    float32, to which its sums are rounded."""
    try:
        return np.result_type(*(np.dtype(np.float32) if is_bfloat16(each) else each for each in dtypes))
    except TypeError:
        return None


def is_half(dtype: np.dtype[Any]) -> bool:
    """Returns whether the elements are float16 or bfloat16."""
    return dtype.itemsize == 2 and _core.dtype_of_sums(dtype) is not None


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "V" and is_half(dtype)


def are_wider(factors: Array, dtype: np.dtype[Any]) -> bool:
    """Returns whether elements of this dtype are converted to the dtype of their factors. Otherwise the factors are
    converted to the elements' dtype."""
    is_float = factors.dtype.kind in "fc" or is_bfloat16(factors.dtype)
    common = common_dtype(factors.dtype, dtype) if is_float else None
    return common is not None and common != dtype


def as_terms(array: Array, dtype: np.dtype[Any]) -> Array:
    """Returns the terms that are added to an accumulator, in the accumulator's dtype."""
    return _exactly(array, dtype, "terms")
