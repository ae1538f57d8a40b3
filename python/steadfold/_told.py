"""Errors before a collective call. This rank tells the other ranks of the error, because they would otherwise wait for
this rank."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from . import _core


@contextmanager
def told(comm: Any) -> Iterator[None]:
    """Tells the other ranks of `comm` of an exception that is raised inside, and raises it again."""
    try:
        yield
    except Exception as error:
        _core.refuse(comm, str(error))
        raise


def refuse(comm: Any, error: Exception) -> NoReturn:
    """Raises an error and tells the other ranks of `comm`."""
    _core.refuse(comm, str(error))
    raise error
