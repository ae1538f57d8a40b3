"""The tasks of dask's graph: partial results of chunks, how they are merged, and the results. Needs no dask."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _convert, _elements, _group_by, _operations, _reductions
from ._accumulator import Accumulator
from ._elements import QUOTIENTS, Array
from ._errors import EmptyError, InvalidArgumentError

_ALL = -1  # stands for one accumulator that has all columns of a partial result
EXTREMES = ("min", "max")


@dataclass(frozen=True)
class _Partial:
    """The partial result of some chunks: the shape of the results, and accumulators as bytes, by part (see
    `_elements.terms`) and column (_ALL, or an index of the shape in C order; a column without elements has no
    accumulator)."""

    shape: tuple[int, ...]
    sums: dict[tuple[int, int], bytes]


@dataclass(frozen=True)
class _Extremes:
    """The partial result of some chunks for min and max: values, which of them have elements, and whether there are
    elements if none is masked."""

    values: Array
    are_there: Array
    has_rows: bool


@dataclass(frozen=True)
class Task:
    """The description of a reduction of a dask array. Its methods are the tasks of dask's graph, so it must be pickled and
    has no arrays."""

    operation: str  # name of the operation: sum, dot, vdot, mean, norm1, norm2, min, max, or one of QUOTIENTS
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
        return self.integers and self.result.kind == "f"

    def steps(self) -> tuple[Any, Any, Any]:
        """Returns the tasks that reduce a chunk, merge partial results, and make the result."""
        if self.operation in EXTREMES:
            return self.chunk_of_extremes, self.combine_extremes, self.aggregate_extremes
        if self.integers:
            return self.chunk_of_integers, self.combine_integers, self.aggregate_integers
        return self.chunk, self.combine, self.aggregate

    # Reduces chunks that have all reduced elements.

    def whole(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
        check_masks(x, *others)
        given = dict(zip(self.names, others))
        where, factors = given.get("where"), given.get("factors")
        x = self._converted(x)
        if self.operation in ("norm1", "norm2"):
            return _reductions.norm(x, int(self.operation[-1]), axis, self.result, keepdims, where)
        if self.operation in EXTREMES:
            return getattr(_reductions, self.operation)(x, axis, None, keepdims, where)
        if self.operation in ("mean", "weighted_mean"):
            return _reductions.mean(x, axis, self.result, None, keepdims, where, weights=factors)
        if self.operation in QUOTIENTS:
            spread = _reductions.std if self.operation.endswith("deviation") else _reductions.var
            return spread(x, axis, self.result, None, int(self.operation.startswith("sample")), keepdims, where)
        if factors is not None and self.operation == "vdot":  # a chunk of factors may need to be broadcast
            return _operations.vdot(x, np.broadcast_to(factors, x.shape), axis, self.result, keepdims, where)
        return _reductions.sum(x, axis, self.result, None, keepdims, where, weights=factors)

    # For integers, partial results are arrays of integers.

    def chunk_of_integers(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> Array:
        check_masks(x, *others)
        given = dict(zip(self.names, others))
        if self.groups is not None:
            made = _reductions.sum_by(x, np.broadcast_to(given["labels"], x.shape), self.groups, None, None, given.get("where"),
                                      weights=given.get("factors"))
            return np.asarray(made)
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
        return _as_results(found if keepdims or self.groups is not None else np.squeeze(found, axis=axis))

    # For extremes, partial results are values.

    def chunk_of_extremes(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> _Extremes:
        check_masks(x, *others)
        given = {name: np.broadcast_to(array, x.shape) for name, array in zip(self.names, others)}
        where = _convert.as_mask(given["where"]) if "where" in given else np.broadcast_to(np.ones((), bool), x.shape)
        x = self._converted(x)
        labels = None
        if self.groups is None:
            are_there = np.asarray(np.any(where, axis=axis, keepdims=True))
        else:
            labels = _convert.as_labels(given["labels"])
            _check_labels(labels, where, self.groups)
            are_there = np.isin(np.arange(self.groups), labels[where])
        return _Extremes(self._extreme(x, axis, where, labels, are_there), are_there, all(x.shape[each] > 0 for each in axis))

    def _extreme(self, x: Array, axis: tuple[int, ...], where: Array, labels: Array | None, are_there: Array) -> Array:
        if labels is not None:
            rows = where & (labels >= 0)
            numbers = np.searchsorted(np.flatnonzero(are_there), labels[rows])  # of groups with elements: no others have an extreme
            values = np.zeros(are_there.shape, x.dtype)
            if are_there.any():
                found = getattr(_group_by.group_by(numbers, int(are_there.sum())), self.operation)(x[rows])
                values[are_there] = found
            return values
        values = np.zeros(are_there.shape, x.dtype)
        if not are_there.any():
            return values
        if are_there.all():
            return np.asarray(getattr(_reductions, self.operation)(x, axis, None, True, where))
        flat = np.moveaxis(x, axis, range(len(axis))).reshape(-1, are_there.size)
        kept = np.moveaxis(where, axis, range(len(axis))).reshape(-1, are_there.size)
        chosen = np.flatnonzero(are_there)
        values.reshape(-1)[chosen] = getattr(_reductions, self.operation)(flat[:, chosen], 0, None, False, kept[:, chosen])
        return values

    def combine_extremes(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> _Extremes:
        found = list(_flat(parts))
        values, are_there = (np.stack([getattr(one, name) for one in found]) for name in ("values", "are_there"))
        any_there = np.asarray(are_there.any(axis=0, keepdims=True))
        return _Extremes(self._extreme(values, (0,), are_there, None, any_there)[0], any_there[0], any(each.has_rows for each in found))

    def aggregate_extremes(self, parts: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        found = self.combine_extremes(parts, axis, True)
        if not found.are_there.all():
            is_single = found.values.ndim == len(axis)  # no axis is kept
            if self.result.kind in "biu" or self.groups is None and (is_single or not found.has_rows):
                raise EmptyError(f"{self.operation} of no elements (a result has no element), check the number of elements first")
            found.values[~found.are_there] = np.nan
        return _as_results(found.values if keepdims or self.groups is not None else np.squeeze(found.values, axis=axis))

    # For all other types, partial results are accumulators.

    def chunk(self, x: Array, *others: Array, axis: tuple[int, ...], keepdims: bool) -> _Partial:
        check_masks(x, *others)
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
        if self.operation in QUOTIENTS:
            values_of_sums = self._quotients(found)
            return _as_results(np.expand_dims(values_of_sums, axis) if keepdims else values_of_sums)
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

    def _quotients(self, found: _Partial) -> Array:
        """Returns the results of an operation that needs several sums. Without elements the result is NaN."""
        values = np.full(found.shape, np.nan, self.result)
        sums: dict[int, dict[int, Accumulator]] = {}
        for (part, column), data in found.sums.items():
            made = Accumulator.from_bytes(data, found.shape if column == _ALL else ())
            sums.setdefault(column, {})[part] = made
        for column, made_of in sums.items():
            rows, zeros = made_of[0].rows, np.zeros(made_of[0].shape)
            # A sum of no products is -0.0, which changes no other sum.
            has_rows = {part for part, made in made_of.items() if made.rows > 0}
            exact = [_elements.expansion(made_of[part].sum, made_of[part].subtract) if part in has_rows else [-zeros]
                     for part in range(_elements.PARTS)]
            results = _elements.quotients(self.operation, exact, rows, self.result)
            if column == _ALL:
                values[...] = results
            else:
                values.reshape(-1)[column] = results
        return values

    def _converted(self, x: Array) -> Array:
        if x.dtype == self.elements:
            return x
        is_rounded = x.dtype.kind in "biu" and not self.integers  # otherwise the byte order may differ
        return _elements.as_float64(x) if is_rounded else _elements.converted(x, self.elements)


def check_masks(*operands: Any) -> None:
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


def _check_labels(labels: Array, chosen: Array, groups: int) -> None:
    found = labels[chosen]
    if found.size and found.max() >= groups:
        raise InvalidArgumentError(f"a label of {found.max()} (there are {groups} groups: labels are 0 to {groups - 1}, or below 0 "
                                   "for none), correct it")


def _by_label(left: Array, right: Array | None, where: Array | None, labels: Array, groups: int) -> Sums:
    """Makes an accumulator for every group that has elements in this chunk."""
    chosen = labels >= 0 if where is None else (labels >= 0) & where
    found = labels[chosen]
    if found.size == 0:
        return
    _check_labels(labels, chosen, groups)
    order = np.argsort(found, kind="stable")
    found = found[order]
    elements = left[chosen][order]
    factors = None if right is None else right[chosen][order]
    starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
    for begin, end in zip(starts, [*starts[1:], found.size]):
        made = Accumulator((), left.dtype, products=right is not None)
        made.add(elements[begin:end], None if factors is None else factors[begin:end])
        yield int(found[begin]), made
