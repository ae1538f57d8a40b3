"""Reductions of dask arrays. Their bits do not depend on the chunks, the workers, or the order in which workers finish.

>>> import dask.array as da
>>> import steadfold.dask as sfd
>>> x = da.random.default_rng(1).standard_normal(10_000, chunks=1000) * 1e10
>>> bool(sfd.sum(x) == sfd.sum(x.rechunk(333)))
True

The functions take dask arrays and return lazy arrays. The results have the same bits as if the steadfold function of
the same name were called for the whole array in memory. Every chunk becomes exact sums (`steadfold.Accumulator`), which
are merged without rounding; integers are added as integers. An exact sum between tasks takes about 50 bytes, more if
the exponents differ widely, so reduce long axes. If every reduced axis lies in one chunk, the chunks are reduced at
once and nothing is merged.

`axis`, `dtype`, `keepdims`, `where` and `weights` have the same meaning as in `steadfold`. `split_every` is dask's: the
number of partial results that a task merges. All sums use method exact, since other methods depend on the positions of
elements. Elements are float32, float64, complex64, complex128, bool or integers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Union

import numpy as np

try:
    import dask
    import dask.array
    import dask.base
except ImportError as error:
    raise ImportError("steadfold.dask needs dask (dask is not installed), install dask: pip install 'dask[array]'") from error

from . import _convert, _keys, _operations, _reductions
from ._arrow import is_column
from ._dask_tasks import EXTREMES, Task, check_masks
from ._elements import QUOTIENTS, Array

__all__ = ["GroupBy", "dot", "group_by", "max", "mean", "min", "norm", "std", "sum", "sum_by", "var", "vdot"]

da: Any = dask.array  # dask has no types
_dask: Any = dask
Axis = Union[int, "tuple[int, ...]", None]

def _task(operation: str, x: Any, dtype: Any, factors: Any = None) -> Task:
    """Chooses the dtypes of elements and results, as steadfold's functions do."""
    kind, given = x.dtype.kind, x.dtype.newbyteorder("=")
    if kind not in "biufc" or (kind == "f" and x.dtype.itemsize not in (4, 8)) or (kind == "c" and x.dtype.itemsize > 16):
        raise TypeError(f"chunks of dtype {x.dtype} (sums take float32, float64, complex numbers of these, and integers), convert the chunks")
    complex_operand = next((each for each in (x, factors) if each is not None and each.dtype.kind == "c"), None)
    if complex_operand is not None and operation in (*EXTREMES, *QUOTIENTS):
        raise TypeError(f"{operation.replace('_', ' ')} of dtype {complex_operand.dtype} is not supported (only real numbers are), reduce x.real and x.imag")
    if operation in EXTREMES:
        return Task(operation, given, given)
    if kind in "biu":
        exact = operation == "mean" or (operation in ("sum", "dot", "vdot") and (factors is None or factors.dtype.kind in "biu"))
        elements = given if exact else np.dtype(np.float64)
        own = np.dtype(np.float64) if operation in ("mean", *QUOTIENTS) else _integer_result(given, factors)
    else:  # factors of a wider dtype widen the elements, as in memory
        is_wider = factors is not None and factors.dtype.char in "dFD"
        elements = own = np.result_type(given, factors.dtype) if is_wider else given
    if elements.kind in "fc":
        own = np.empty(0, elements).real.dtype if operation.startswith("norm") else elements
    result = own if dtype is None else np.dtype(dtype).newbyteorder("=")
    of_integers = elements.kind in "biu"
    kinds = "iuf" if of_integers and factors is None else own.kind
    if result.kind not in kinds or (result.kind == "f" and result.itemsize not in (4, 8)):
        raise TypeError(f"results of dtype {result} for elements of {x.dtype} ({operation} gives {own}), convert the elements "
                        "before, or the results")
    return Task(operation, elements, result)


def _integer_result(given: np.dtype[Any], factors: Any) -> np.dtype[Any]:
    ones = np.ones(1, given)
    one = _reductions.sum(ones) if factors is None else _operations.dot(ones, np.ones(1, factors.dtype))
    return np.asarray(one).dtype


def _reduce(task: Task, x: Any, axis: Axis, keepdims: bool, split_every: Any, **others: Any) -> Any:
    """Makes dask's graph: tasks that reduce chunks to partial results, and da.reduction, which merges them."""
    given = {name: _as_dask(other) for name, other in others.items() if other is not None}
    check_masks(*(getattr(operand, "_meta", None) for operand in (x, *given.values())))
    for name, other in given.items():
        _check_shapes(name, other, x)
    axes = _convert.axes_of(axis, x.ndim)
    task = replace(task, names=tuple(given))
    indices = tuple(range(x.ndim))
    operands: list[Any] = [x, indices]
    for other in given.values():
        operands += [other, indices[x.ndim - other.ndim:]]
    name = f"steadfold-{task.operation}"
    meta = np.empty((0,) * x.ndim, task.result)
    common: dict[str, Any] = {"axis": axes, "dtype": task.result, "meta": meta}
    if task.groups is None and all(x.numblocks[one] == 1 for one in axes):
        kept = indices if keepdims else tuple(one for one in indices if one not in axes)
        common["meta"] = np.empty((0,) * len(kept), task.result)
        return da.blockwise(task.whole, kept, *operands, keepdims=keepdims, concatenate=True, token=name,
                            adjust_chunks={one: 1 for one in axes} if keepdims else None, **common)
    chunk, combine, aggregate = task.steps()
    parts = da.blockwise(chunk, indices, *operands, keepdims=True, token=name,
                         adjust_chunks={one: 1 for one in axes}, **common)
    return da.reduction(parts, _as_it_is, aggregate, keepdims=keepdims, combine=combine, concatenate=False, split_every=split_every,
                        name=name, **{**common, "meta": np.empty((0,) * (x.ndim if keepdims else x.ndim - len(axes)), task.result)})


def _as_it_is(part: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return part


def _check_shapes(name: str, other: Any, x: Any) -> None:
    """Checks that an operand can be broadcast to the elements. Sizes that dask does not know are compared in the
    tasks."""
    fits = other.ndim <= x.ndim and all(
        mine == theirs or mine == 1 or np.isnan(mine) or np.isnan(theirs)
        for mine, theirs in zip(reversed(other.shape), reversed(x.shape))
    )
    if not fits:
        raise ValueError(f"{name} of shape {other.shape} for elements of shape {x.shape} (the array is broadcast to the elements), "
                         "reshape them")


def _check_partners(name: str, other: Any, x: Any) -> None:
    """Raises an error if a single number, or a vector of one number, would be broadcast along an axis."""
    if x.ndim > 0 and other.shape in ((), (1,)) and (other.ndim == 0 or x.shape[-1] != 1):
        raise ValueError(f"{name} of 1 number for axes of {x.shape[-1]} elements (every element needs its own), give one number per element: "
                         f"da.broadcast_to({name}, x.shape)")


def _as_dask(x: Any) -> Any:
    """Makes a dask array of any object with elements. Lists of dask arrays are stacked."""
    is_sequence = isinstance(x, (list, tuple)) and not any(dask.base.is_dask_collection(row) for row in x)
    return da.asarray(_convert.as_array(x) if is_sequence or is_column(x) else x)


def sum(x: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *, weights: Any = None,
        split_every: Any = None) -> Any:
    """The sum of the elements, or of the products with `weights`, correctly rounded. Integers wrap; with a
    floating-point `dtype` their exact sum is rounded once. `where` and `weights` are dask or NumPy arrays that are
    broadcast to `x`."""
    x, factors = _as_dask(x), None if weights is None else _as_dask(weights)
    return _reduce(_task("sum", x, dtype, factors), x, axis, keepdims, split_every, factors=factors, where=where)


def dot(x: Any, y: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *,
        split_every: Any = None) -> Any:
    """The sum of the products x[i] y[i], rounded once. Complex numbers are not conjugated; see `vdot`. `y` is broadcast
    to the shape of `x`, but a single number is not."""
    x, y = _as_dask(x), _as_dask(y)
    _check_partners("y", y, x)
    return _reduce(_task("dot", x, dtype, y), x, axis, keepdims, split_every, factors=y, where=where)


def vdot(x: Any, y: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *,
         split_every: Any = None) -> Any:
    """The sum of the products conj(x[i]) y[i], rounded once."""
    x, y = _as_dask(x), _as_dask(y)
    _check_partners("y", y, x)
    return _reduce(_task("vdot", x, dtype, y), x, axis, keepdims, split_every, factors=y, where=where)


def mean(x: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *, weights: Any = None,
         split_every: Any = None) -> Any:
    """The mean of the elements, or their weighted mean with `weights`: exact sums, divided and rounded once. NaN if there
    are no elements."""
    x, factors = _as_dask(x), None if weights is None else _as_dask(weights)
    operation = "mean" if weights is None else "weighted_mean"
    return _reduce(_task(operation, x, dtype, factors), x, axis, keepdims, split_every, factors=factors, where=where)


def _spread(name: str, ddof: int) -> str:
    if ddof not in (0, 1):
        raise ValueError(f"ddof of {ddof!r} (only ddof 0 and 1 are supported), multiply the variance with ddof=0 instead")
    return f"sample_{name}" if ddof else name


def var(x: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False, where: Any = None, *,
        split_every: Any = None) -> Any:
    """The variance: computed exactly and rounded once. `ddof` is 0 or 1."""
    x = _as_dask(x)
    return _reduce(_task(_spread("variance", ddof), x, dtype), x, axis, keepdims, split_every, where=where)


def std(x: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False, where: Any = None, *,
        split_every: Any = None) -> Any:
    """The standard deviation: computed exactly and rounded once. `ddof` is 0 or 1."""
    x = _as_dask(x)
    return _reduce(_task(_spread("deviation", ddof), x, dtype), x, axis, keepdims, split_every, where=where)


def min(x: Any, axis: Axis = None, keepdims: bool = False, where: Any = None, *, split_every: Any = None) -> Any:
    """The smallest element. NaN if an element is NaN; -0.0 is below +0.0."""
    x = _as_dask(x)
    return _reduce(_task("min", x, None), x, axis, keepdims, split_every, where=where)


def max(x: Any, axis: Axis = None, keepdims: bool = False, where: Any = None, *, split_every: Any = None) -> Any:
    """The largest element. NaN if an element is NaN; -0.0 is below +0.0."""
    x = _as_dask(x)
    return _reduce(_task("max", x, None), x, axis, keepdims, split_every, where=where)


def norm(x: Any, ord: float = 2, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *,
         split_every: Any = None) -> Any:
    """A norm of the elements as one vector. `ord` is 2 (the square root of the sum of squares, rounded once) or, for
    real elements, 1."""
    x = _as_dask(x)
    if ord not in ((2,) if x.dtype.kind == "c" else (1, 2)):
        raise ValueError(f"norm of ord {ord!r} for elements of {x.dtype} (the norms are 2 and, for real elements, 1), use one of these")
    return _reduce(_task(f"norm{int(ord)}", x, dtype), x, axis, keepdims, split_every, where=where)


def sum_by(x: Any, labels: Any, groups: int, dtype: Any = None, where: Any = None, *, weights: Any = None,
           split_every: Any = None) -> Any:
    """The sum of every group, correctly rounded: an array of `groups` elements in one chunk. `labels` are integers that
    are broadcast to the elements. The label of an element is the number of its group, 0 to groups - 1; an element with
    a negative label belongs to no group."""
    return _of_labels(labels, groups, "labels").sum(x, dtype, where, weights=weights, split_every=split_every)


class GroupBy:
    """Elements of dask arrays in groups, made by `group_by`. The methods reduce all axes and return a lazy array of one
    result per group, in the order of `keys`.

    keys
        The keys in ascending order, one for each group: a NumPy array.
    labels
        The number of the group of every element, a dask array; negative for an element in no group. Labels are broadcast
        to the elements.
    """

    def __init__(self, keys: Array, labels: Any, name: str = "keys") -> None:
        self.keys = keys
        self.labels = labels
        self._name = name  # what the caller gave

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.keys)

    def _reduce(self, operation: str, x: Any, dtype: Any, where: Any, split_every: Any, factors: Any = None) -> Any:
        x, factors = _as_dask(x), None if factors is None else _as_dask(factors)
        _check_partners(self._name, self.labels, x)
        _check_shapes(self._name, self.labels, x)
        task = _task(operation, x, dtype, factors)
        if task.integers and task.quotients:
            task = replace(task, elements=np.dtype(np.float64))  # an exact sum per group, not three sums of digits
        task = replace(task, groups=len(self))
        made = _reduce(task, x, None, False, split_every, factors=factors, where=where, labels=self.labels)
        return da.map_blocks(_as_groups, made, new_axis=0, chunks=((len(self),),), dtype=task.result,
                             meta=np.empty(0, task.result))

    def count(self, where: Any = None, *, x: Any = None, split_every: Any = None) -> Any:
        """The number of elements, int64. Give the elements as `x` if the keys are broadcast to them; otherwise every key is
        counted once."""
        elements = da.ones_like(self.labels if x is None else _as_dask(x), dtype=np.int64)
        return self._reduce("sum", elements, None, where, split_every)

    def sum(self, x: Any, dtype: Any = None, where: Any = None, *, weights: Any = None, split_every: Any = None) -> Any:
        """The sum, or with `weights` the sum of the products, correctly rounded. Integers wrap."""
        return self._reduce("sum", x, dtype, where, split_every, weights)

    def dot(self, x: Any, y: Any, dtype: Any = None, where: Any = None, *, split_every: Any = None) -> Any:
        """The sum of the products x[i] y[i], rounded once."""
        x, y = _as_dask(x), _as_dask(y)
        _check_partners("y", y, x)
        return self._reduce("dot", x, dtype, where, split_every, y)

    def mean(self, x: Any, dtype: Any = None, where: Any = None, *, weights: Any = None, split_every: Any = None) -> Any:
        """The mean, or with `weights` the weighted mean, rounded once. NaN for a group without elements."""
        return self._reduce("mean" if weights is None else "weighted_mean", x, dtype, where, split_every, weights)

    def var(self, x: Any, dtype: Any = None, ddof: int = 0, where: Any = None, *, split_every: Any = None) -> Any:
        """The variance, rounded once. `ddof` is 0 or 1."""
        return self._reduce(_spread("variance", ddof), x, dtype, where, split_every)

    def std(self, x: Any, dtype: Any = None, ddof: int = 0, where: Any = None, *, split_every: Any = None) -> Any:
        """The standard deviation, rounded once. `ddof` is 0 or 1."""
        return self._reduce(_spread("deviation", ddof), x, dtype, where, split_every)

    def min(self, x: Any, where: Any = None, *, split_every: Any = None) -> Any:
        """The smallest element. NaN for a group without elements; for integers `EmptyError` is raised."""
        return self._reduce("min", x, None, where, split_every)

    def max(self, x: Any, where: Any = None, *, split_every: Any = None) -> Any:
        """The largest element. NaN for a group without elements; for integers `EmptyError` is raised."""
        return self._reduce("max", x, None, where, split_every)


def _as_groups(results: Array) -> Array:
    return results


def group_by(keys: Any, groups: int | None = None) -> GroupBy:
    """Groups elements by their keys, as `steadfold.group_by` does. If `groups` is given, the keys are labels, 0 to groups
    - 1, or negative for no group. Otherwise the distinct keys are computed at once: all chunks of keys are read, one
    after the other in each task.

    >>> import dask.array as da
    >>> import steadfold.dask as sfd
    >>> basins = sfd.group_by(da.from_array(["north", "south", "north"], chunks=2))
    >>> basins.keys.tolist(), basins.mean(da.from_array([1.0, 5.0, 2.0], chunks=2)).compute().tolist()
    (['north', 'south'], [1.5, 5.0])
    """
    if groups is not None:
        return _of_labels(keys, groups, "keys")
    if not dask.base.is_dask_collection(keys):
        keys = da.from_array(_keys.with_one_type(keys), chunks=-1)
    found = _keys.united(_dask.compute(*(_dask.delayed(_keys.distinct)(chunk) for chunk in keys.to_delayed().ravel())))
    return GroupBy(found, da.map_blocks(_keys.numbers, keys, found, dtype=np.int64, meta=np.empty((0,) * keys.ndim, np.int64)))


def _of_labels(labels: Any, groups: int, name: str) -> GroupBy:
    """Makes groups of labels, which the caller calls `name`."""
    if not dask.base.is_dask_collection(labels):
        labels = da.from_array(_convert.as_array(labels), chunks=-1)
    return GroupBy(_keys.labelled(np.empty(0, labels.dtype), groups, None, name)[0], labels, name)
