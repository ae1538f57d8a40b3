"""Data of all ranks on every rank, in rank order."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._elements import Array
from ._errors import MismatchError
from ._mode import Mode
from ._numbers import Collective

WORD = np.dtype(np.uint64)


def gathered(rows: Array, comm: Any) -> Array:
    """Returns the rows of all ranks in rank order. A row is an array of words, of the same length on all ranks."""
    if comm is None:
        return rows
    group = _core.Group(comm)
    counts = _added(np.where(np.arange(group.size) == group.rank, len(rows), 0).astype(WORD), comm)
    first = int(counts[:group.rank].sum())
    every = np.zeros((int(counts.sum()), rows.shape[1]), WORD)
    every[first:first + len(rows)] = rows
    return _added(every, comm) if every.size else every


def _added(words: Array, comm: Any) -> Array:
    """Returns the sum over the ranks. One rank at most has a word that is not 0."""
    result = _core.reduce_buffer(Collective.REDUCE, words.reshape(-1), "sum", None, False, comm, {}, Mode.RUN)
    return np.asarray(result).reshape(words.shape)


def gathered_bytes(function: str, data: bytes, comm: Any) -> list[bytes]:
    """Returns the bytes of all ranks in rank order. Raises an error on all ranks if one of them is in another function."""
    if comm is None:
        return [data]
    data = function.encode() + b"\n" + data
    sizes = gathered(np.array([[len(data)]], WORD), comm).ravel().tolist()
    words = -(-max(sizes) // WORD.itemsize)
    row = np.frombuffer(data.ljust(words * WORD.itemsize, b"\0"), WORD).reshape(1, words)
    rows = gathered(row, comm)
    parts = [rows[rank].tobytes()[:size].partition(b"\n") for rank, size in enumerate(sizes)]
    functions = {name.decode(): rank for rank, (name, _, _) in reversed(list(enumerate(parts)))}
    if len(functions) > 1:
        texts = " and ".join(f"{name} on rank {rank}" for name, rank in sorted(functions.items(), key=lambda item: item[1]))
        raise MismatchError(f"the ranks made different calls ({texts}), make the same call on every rank")
    return [content for _, _, content in parts]
