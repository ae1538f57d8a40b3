"""Data of all ranks on every rank, in rank order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._elements import Array
from ._errors import MismatchError
from ._mode import Mode
from ._numbers import Collective

WORD = np.dtype(np.uint64)


def words_of_ranks(word: int, comm: Any) -> list[int]:
    """Returns the word of every rank, in rank order: a number from 0 to 2**64 - 1."""
    if comm is None:
        return [word]
    group = _core.Group(comm)
    words = np.zeros(group.size, WORD)
    words[group.rank] = word
    return _added(words, comm).tolist()  # type: ignore[no-any-return]


def gathered(rows: Array, comm: Any) -> Array:
    """Returns the rows of all ranks in rank order. A row is an array of words, of the same length on all ranks."""
    return _concatenated(rows, words_of_ranks(len(rows), comm), comm)


def _concatenated(rows: Array, counts: list[int], comm: Any) -> Array:
    """Returns the rows of all ranks; `counts` are their numbers."""
    if comm is None:
        return rows
    first = sum(counts[:_core.Group(comm).rank])
    every = np.zeros((sum(counts), rows.shape[1]), WORD)
    every[first:first + len(rows)] = rows
    return _added(every, comm) if every.size else every


def _added(words: Array, comm: Any) -> Array:
    """Returns the sum over the ranks. At most one rank has a word other than 0."""
    result = _core.reduce_buffer(Collective.REDUCE, words.reshape(-1), "sum", None, False, comm, {}, Mode.RUN)
    return np.asarray(result).reshape(words.shape)


def gathered_bytes(function: str, data: bytes, comm: Any) -> list[bytes]:
    """Returns the bytes of all ranks in rank order. All ranks must call the same public function, whose name is `function`;
    otherwise all ranks raise."""
    if comm is None:
        return [data]
    data = function.encode() + b"\n" + data
    sizes = words_of_ranks(len(data), comm)
    counts = [-(-size // WORD.itemsize) for size in sizes]
    own = np.frombuffer(data.ljust(-(-len(data) // WORD.itemsize) * WORD.itemsize, b"\0"), WORD)
    every = _concatenated(own.reshape(-1, 1), counts, comm).tobytes()
    starts = [WORD.itemsize * sum(counts[:rank]) for rank in range(len(counts))]
    parts = [every[start:start + size].partition(b"\n") for start, size in zip(starts, sizes)]
    functions = first_places([name.decode() for name, _, _ in parts])
    if len(functions) > 1:
        raise MismatchError(f"the ranks made different calls ({listed(functions, 'rank')}), make the same call on every rank")
    return [content for _, _, content in parts]


def first_places(values: Sequence[str]) -> dict[str, int]:
    """Returns the distinct values, in order, and the first place of each."""
    return {value: values.index(value) for value in dict.fromkeys(values)}


def listed(places: dict[str, int], source: str) -> str:
    """Returns a text such as "a on rank 0 and b on rank 2", for an error."""
    return " and ".join(f"{value} on {source} {place}" for value, place in places.items())
