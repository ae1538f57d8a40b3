"""Errors before a collective call: the other ranks are told of them, or they would wait."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from . import _core


@contextmanager
def told(comm: Any) -> Iterator[None]:
    """What is raised inside is told to the other ranks of `comm`, and raised on."""
    try:
        yield
    except Exception as error:
        _core.refuse(comm, str(error))
        raise


def refuse(comm: Any, error: Exception) -> NoReturn:
    """Raises an error, of which the other ranks of `comm` are told."""
    _core.refuse(comm, str(error))
    raise error
