"""Made by ./dev surface from the tables in surface/: edit the tables.

The options of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from ._core import Layout
    from ._method import Method


class VectorOptions(TypedDict, total=False):
    """Options of calls in MPI's shape."""

    method: Method
    schedule: str | None
    require: str | None
    threads: int


class RootedOptions(VectorOptions, total=False):
    """Options of calls in MPI's shape whose result may go to one rank."""

    root: int | None


class CallOptions(RootedOptions, total=False):
    """Options of reductions of distributed arrays."""

    layout: Layout | None


#: The values of options that are not given.
DEFAULTS: dict[str, Any] = {"method": None, "root": None, "schedule": None, "layout": None, "require": None, "threads": 1}
#: The limits of the parameters of methods.
LIMITS = {"bins": (2, 4), "lanes": (1, 1024)}
