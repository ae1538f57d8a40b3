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

The options are the same as for steadfold's functions. `split_every` is dask's: the number of partial results that a
task merges. All sums use method exact, since other methods depend on the positions of elements. Elements are float32,
float64, complex64, complex128, bool or integers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Union

import numpy as np

try:
    import dask.array
    import dask.base
except ImportError as error:
    raise ImportError("steadfold.dask needs dask (dask is not installed), install dask: pip install 'dask[array]'") from error

from . import _convert, _elements, _operations, _reductions
from ._accumulator import Accumulator
from ._elements import Array
from ._errors import InvalidArgumentError

__all__ = ["dot", "mean", "norm", "sum", "sum_by", "vdot"]

da: Any = dask.array  # dask.array has no types
Axis = Union[int, "tuple[int, ...]", None]

_ALL = -1  # stands for one accumulator that has all columns of a partial result


@dataclass(frozen=True)
class _Partial:
    """The partial result of some chunks: the shape of the results, and accumulators as bytes, by part (0: real, 1:
    imaginary) and column (_ALL, or an index of the shape in C order; a column without elements has no accumulator)."""

    shape: tuple[int, ...]
    sums: dict[tuple[int, int], bytes]


@dataclass(frozen=True)
class _Task:
    """The description of a reduction of a dask array. Its methods are the tasks of dask's graph, so it must be pickled and
    has no arrays."""

    operation: str  # name of the operation: sum, dot, vdot, mean, norm1 or norm2
    elements: np.dtype[Any]  # the dtype to which x is converted
    result: np.dtype[Any]
    names: tuple[str, ...] = ()  # names of the operands besides x
    groups: int | None = None

    @property
    def integers(self) -> bool:
        return self.elements.kind in "biu"

    @property
    def quotients(self) -> bool:
        """Returns whether integers give floating-point results."""
        return self.integers and self.result.kind not in "iu"

    # Reduces chunks that have all reduced elements.

    def whole(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
        _check_masks(x, *others)
        given = dict(zip(self.names, others))
        where, factors = given.get("where"), given.get("factors")
        x = self._converted(x)
        if self.operation in ("norm1", "norm2"):
            return _reductions.norm(x, int(self.operation[-1]), axis, self.result, keepdims, where)
        if self.operation == "mean":
            return _reductions.mean(x, axis, self.result, None, keepdims, where)
        if factors is not None and self.operation == "vdot":  # a chunk of factors may need to be broadcast
            return _operations.vdot(x, np.broadcast_to(factors, x.shape), axis, self.result, keepdims, where)
        return _reductions.sum(x, axis, self.result, None, keepdims, where, weights=factors)

    # For integers, partial results are arrays of integers.

    def chunk_of_integers(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
        _check_masks(x, *others)
        given = dict(zip(self.names, others))
        if self.quotients:
            return _elements.integer_parts(x, axis, True, given.get("where"))
        return np.asarray(self.whole(x, *others, axis=axis, keepdims=True))

    def combine_integers(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> Array:
        found = list(_flat(parts))
        return _elements.wrapped_sum(found)

    def aggregate_integers(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        found = self.combine_integers(parts, axis, True)
        if self.quotients:
            found = _elements.integer_quotients(found, self.operation == "mean", self.result)
        return _as_results(found if keepdims else np.squeeze(found, axis=axis))

    # For all other types, partial results are accumulators.

    def chunk(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> _Partial:
        _check_masks(x, *others)
        given = {name: np.broadcast_to(array, x.shape) for name, array in zip(self.names, others)}
        x = np.moveaxis(self._converted(x), axis, range(len(axis)))
        for name, array in given.items():
            given[name] = np.moveaxis(array, axis, range(len(axis)))
        where, labels, factors = given.get("where"), given.get("labels"), given.get("factors")
        shape = x.shape[len(axis):] if self.groups is None else (self.groups,)
        if factors is not None:
            factors = _convert.as_factors(factors, x.dtype) if factors.dtype != x.dtype else factors
        if where is not None:
            where = _convert.as_mask(where)
        sums: dict[tuple[int, int], bytes] = {}
        for part, left, right in _elements.terms(self.operation, x, factors):
            if labels is not None:
                found = _by_label(left, right, where, _convert.as_labels(labels), shape[0])
            elif where is not None and shape:
                found = _by_column(left, right, where, shape)
            elif 0 not in shape:
                found = _all_columns(left, right, where, shape)
            else:
                continue
            for column, made in found:
                known = sums.get((part, column))
                if known is not None:
                    made += Accumulator.from_bytes(known, made.shape)
                sums[part, column] = made.to_bytes()
        return _Partial(shape, sums)

    def combine(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> _Partial:
        found = list(_flat(parts))
        gathered: dict[tuple[int, int], list[bytes]] = {}
        for one in found:
            for place, data in one.sums.items():
                gathered.setdefault(place, []).append(data)
        return _Partial(found[0].shape, {place: _merged(data) for place, data in gathered.items()})

    def aggregate(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        found = self.combine(parts, axis, True)
        values = [self._rounded(found, part) for part in range(2 if self.result.kind == "c" else 1)]
        result = np.empty(found.shape, self.result)
        if len(values) == 1:
            result[...] = values[0]
        else:
            result.real, result.imag = values
        return _as_results(np.expand_dims(result, axis) if keepdims else result)

    def _rounded(self, found: _Partial, part: int) -> Array:
        """Returns the results of a part. Without elements a sum is +0.0 and a mean NaN."""
        component = np.empty(0, self.result).real.dtype
        values = np.zeros(found.shape, component)
        if self.operation == "mean":
            values[...] = np.nan
        empty = values.size > 0
        for (of_part, column), data in found.sums.items():
            if of_part != part:
                continue
            made = Accumulator.from_bytes(data, found.shape if column == _ALL else ())
            if self.operation == "mean" and made.rows == 0:
                continue
            empty = False
            rounded = getattr(made, {"mean": "mean", "norm2": "norm"}.get(self.operation, "sum"))(component)
            if column == _ALL:
                values[...] = rounded
            else:
                values.reshape(-1)[column] = rounded
        if empty and self.operation == "mean" and part == 0:
            warnings.warn("mean of no elements", RuntimeWarning, stacklevel=2)
        return values

    def _converted(self, x: Array) -> Array:
        if x.dtype == self.elements:
            return x
        return _elements.as_float64(x) if x.dtype.kind in "biu" else _elements.converted(x, self.elements)


def _check_masks(*operands: Any) -> None:
    if any(isinstance(operand, np.ma.MaskedArray) for operand in operands):
        raise TypeError("chunks that are masked arrays (their masks would be ignored), give da.ma.getdata(x) and "
                        "where=~da.ma.getmaskarray(x)")


def _flat(parts: Any) -> Iterator[Any]:
    """Iterates over the partial results in the argument of a dask task: a single result, or nested lists."""
    if isinstance(parts, list):
        for part in parts:
            yield from _flat(part)
    else:
        yield parts


def _as_results(values: Array) -> Any:
    return values[()] if values.ndim == 0 else values


def _merged(data: list[bytes]) -> bytes:
    if len(data) == 1:
        return data[0]
    made = Accumulator.from_bytes(data[0])
    for more in data[1:]:
        made += Accumulator.from_bytes(more)
    return made.to_bytes()


Sums = Iterator["tuple[int, Accumulator]"]


def _all_columns(left: Array, right: Array | None, where: Array | None, shape: tuple[int, ...]) -> Sums:
    made = Accumulator(shape, left.dtype, products=right is not None)
    made.add(left, right, where)
    yield _ALL, made


def _by_column(left: Array, right: Array | None, where: Array, shape: tuple[int, ...]) -> Sums:
    """Makes an accumulator for every column, because a mask may select different numbers of rows in different columns.
    """
    for column, index in enumerate(np.ndindex(shape)):
        at = (..., *index)
        if where[at].any():
            made = Accumulator((), left.dtype, products=right is not None)
            made.add(left[at], None if right is None else right[at], where[at])
            yield column, made


def _by_label(left: Array, right: Array | None, where: Array | None, labels: Array, groups: int) -> Sums:
    """Makes an accumulator for every group that has elements in this chunk."""
    chosen = labels >= 0 if where is None else (labels >= 0) & where
    found = labels[chosen]
    if found.size == 0:
        return
    if found.max() >= groups:
        raise InvalidArgumentError(f"a label of {found.max()} (there are {groups} groups: labels are 0 to {groups - 1}, or below 0 "
                                   "for none), correct it")
    order = np.argsort(found, kind="stable")
    found = found[order]
    elements = left[chosen][order]
    factors = None if right is None else right[chosen][order]
    starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
    for begin, end in zip(starts, [*starts[1:], found.size]):
        made = Accumulator((), left.dtype, products=right is not None)
        made.add(elements[begin:end], None if factors is None else factors[begin:end])
        yield int(found[begin]), made


def _task(operation: str, x: Any, dtype: Any, factors: Any = None) -> _Task:
    """Chooses the dtypes of elements and results, as steadfold's functions do."""
    kind, given = x.dtype.kind, x.dtype.newbyteorder("=")
    if kind not in "biufc" or (kind == "f" and x.dtype.itemsize not in (4, 8)) or (kind == "c" and x.dtype.itemsize > 16):
        raise TypeError(f"chunks of dtype {x.dtype} (sums take float32, float64, complex numbers of these, and integers), convert the chunks")
    if kind in "biu":
        exact = operation == "mean" or (operation in ("sum", "dot", "vdot") and (factors is None or factors.dtype.kind in "biu"))
        elements = given if exact else np.dtype(np.float64)
        own = np.dtype(np.float64) if operation == "mean" else _integer_result(given, factors)
    else:
        elements = own = given
    if elements.kind in "fc":
        own = np.empty(0, elements).real.dtype if operation.startswith("norm") else elements
    result = own if dtype is None else np.dtype(dtype)
    of_integers = elements.kind in "biu"
    kinds = "iuf" if of_integers and factors is None else own.kind
    if result.kind not in kinds or (result.kind == "f" and result.itemsize not in (4, 8)):
        raise TypeError(f"results of dtype {result} for elements of {x.dtype} ({operation} gives {own}), convert the elements "
                        "before, or the results")
    return _Task(operation, elements, result)


def _integer_result(given: np.dtype[Any], factors: Any) -> np.dtype[Any]:
    ones = np.ones(1, given)
    one = _reductions.sum(ones) if factors is None else _operations.dot(ones, np.ones(1, factors.dtype))
    return np.asarray(one).dtype


def _axes(axis: Axis, count: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(count))
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    for one in given:
        if not -count <= one < count:
            raise _convert.AxisError(one, count)
    found = tuple(sorted({one % count for one in given}))
    if len(found) != len(given):
        raise ValueError(f"axis {axis} (an axis is given twice), leave one out")
    return found


def _reduce(task: _Task, x: Any, axis: Axis, keepdims: bool, split_every: Any, **others: Any) -> Any:
    """Makes dask's graph: tasks that reduce chunks to partial results, and da.reduction, which merges them."""
    given = {name: _as_dask(other) for name, other in others.items() if other is not None}
    _check_masks(*(getattr(operand, "_meta", None) for operand in (x, *given.values())))
    for name, other in given.items():
        _check_shapes(name, other, x)
    axes = _axes(axis, x.ndim)
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
    integers = task.integers
    parts = da.blockwise(task.chunk_of_integers if integers else task.chunk, indices, *operands, keepdims=True, token=name,
                         adjust_chunks={one: 1 for one in axes}, **common)
    return da.reduction(parts, _as_it_is, task.aggregate_integers if integers else task.aggregate, keepdims=keepdims,
                        combine=task.combine_integers if integers else task.combine, concatenate=False, split_every=split_every,
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
    return da.asarray(_convert.as_array(x) if is_sequence else x)


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


def mean(x: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, where: Any = None, *,
         split_every: Any = None) -> Any:
    """The mean of the elements: exact sums, divided and rounded once. NaN if there are no elements."""
    x = _as_dask(x)
    return _reduce(_task("mean", x, dtype), x, axis, keepdims, split_every, where=where)


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
    x, labels = _as_dask(x), _as_dask(labels)
    _check_partners("labels", labels, x)
    if groups < 1:
        raise ValueError(f"{groups} groups (at least one group is needed), give the number of groups")
    factors = None if weights is None else _as_dask(weights)
    task = _task("sum", x, dtype, factors)
    if task.integers:
        raise TypeError(f"groups of dtype {x.dtype} (exact sums by groups need floating-point elements), convert the elements")
    task = replace(task, groups=int(groups))
    sums = _reduce(task, x, None, False, split_every, factors=factors, where=where, labels=labels)
    return da.map_blocks(partial(np.reshape, shape=(groups,)), sums, new_axis=0, chunks=((groups,),), dtype=task.result,
                         meta=np.empty(0, task.result))
