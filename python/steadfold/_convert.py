"""Operands as NumPy arrays. What is one already is never copied, unless its elements have to be converted."""

from __future__ import annotations

from typing import Any

import numpy as np

try:
    from numpy.exceptions import AxisError as AxisError  # since NumPy 1.25
except ImportError:
    from numpy import AxisError as AxisError  # type: ignore[attr-defined,no-redef]

_DLPACK_HOST = (1, 3)  # of its own, and pinned by CUDA

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
    """The dtype of a value and its index."""
    return np.dtype({"names": ["value", "index"], "formats": [value, "u8"], "offsets": [0, 8], "itemsize": 16})


def as_array(x: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """An array of what has elements: through NumPy's protocols, the buffer protocol, or DLPack."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array (its mask would not be looked at), give x.data and where=~np.ma.getmaskarray(x)")
    if hasattr(x, "__dlpack_device__"):
        device = x.__dlpack_device__()[0]
        if device not in _DLPACK_HOST:
            raise TypeError(f"an array of {type(x).__name__} on device {int(device)} (only memory of the host is read), copy it there")
        if not hasattr(x, "__array__"):
            return np.from_dlpack(x)
    return np.asarray(x)


def as_mask(where: Any) -> np.ndarray[Any, np.dtype[Any]]:
    mask = as_array(where)
    if mask.dtype.kind != "b":
        raise TypeError(f"where of dtype {mask.dtype} (it is an array of bool), write where = x > 0, say")
    return mask


def as_labels(labels: Any) -> np.ndarray[Any, np.dtype[Any]]:
    """Integers: of 32 and 64 bits, and those without a sign of 8 and 16, as they are."""
    array = as_array(labels)
    if array.dtype.kind not in "iu":
        raise TypeError(f"labels of dtype {array.dtype} (they are integers, 0 to groups - 1), convert them")
    if array.dtype.isnative and (array.dtype.itemsize >= 4 or array.dtype.kind == "u"):
        return array
    return array.astype(np.int64)


def _is_exact(array: np.ndarray[Any, np.dtype[Any]], dtype: np.dtype[Any]) -> bool:
    """Whether no integer changes when it is converted to another dtype and back."""
    converted = array.astype(dtype)
    if dtype.kind in "fc":  # what is above all of these integers has no integer to be converted back to
        converted = converted.real
        if (converted >= 2.0 ** np.iinfo(array.dtype).bits / (2 if array.dtype.kind == "i" else 1)).any():
            return False
    return bool((converted.astype(array.dtype) == array).all())


def _exactly(array: np.ndarray[Any, np.dtype[Any]], dtype: np.dtype[Any], what: str) -> np.ndarray[Any, np.dtype[Any]]:
    if np.can_cast(array.dtype, dtype, "safe"):
        if array.dtype.kind not in "iu" or array.dtype.itemsize < 8 or dtype.kind not in "fc":
            return array.astype(dtype)
    if array.dtype.kind in "iu" and _is_exact(array, dtype):
        return array.astype(dtype)
    raise TypeError(f"{what} of dtype {array.dtype} beside elements of {dtype} (a conversion could change them), convert one of them")


def as_factors(array: np.ndarray[Any, np.dtype[Any]], dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """The other factors of products: of the elements' dtype."""
    return _exactly(array, dtype, "factors")


def are_wider(factors: np.ndarray[Any, np.dtype[Any]], dtype: np.dtype[Any]) -> bool:
    """Whether elements of this dtype are converted to meet their factors, and not the other way round."""
    return factors.dtype.kind in "fc" and np.result_type(factors.dtype, dtype) != dtype


def as_terms(array: np.ndarray[Any, np.dtype[Any]], dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    """What is added to an accumulator: of its dtype."""
    return _exactly(array, dtype, "terms")
