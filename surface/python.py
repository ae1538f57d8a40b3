"""Generates the Python files: the numbers of C's enumerations, and the functions of arrays with the usual arguments."""

import textwrap

from tables import enumerations, operations, plural

WIDTH = 128
OPENING = '''
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._numbers import Operation
from ._reductions import Axis, Method, _call

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Unpack

    from . import _core
    from ._plans import Options

Made = TypeVar("Made")
'''
FUNCTION = '''
def {name}(
    x: ArrayLike, {y}axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, method: Method = None, comm: Any = None, layout: _core.Layout | None = None,
    root: int | None = None, schedule: str | None = None, threads: int = 1, require: str | None = None,
) -> Any:
    """{doc}

    >>> import steadfold as sf
{example}
    """
    return _call(Operation.{number}, x, {factors}, axis, dtype, keepdims, where, method, comm, layout, root, schedule, threads, require)
'''
METHOD = '''
    def {name}(self, x: ArrayLike, {y}axis: Axis = None, **options: Unpack[Options]) -> Made:
        """Makes the call `steadfold.{name}`."""
        return self._reduce(Operation.{number}, x, {factors}, axis, options)
'''


def words_of(operation):
    given = operation.python
    is_pair = operation.operands == "factors"
    doc = textwrap.fill(given.get("doc", operation.doc), WIDTH - 4, initial_indent=" " * 7, subsequent_indent=" " * 4).strip()
    return {"name": given["name"], "y": "y: ArrayLike, " if is_pair else "", "factors": "y" if is_pair else "None", "doc": doc,
            "example": textwrap.indent(given["example"].strip(), "    "), "number": operation.name.upper()}


def enumeration(name, doc, entries):
    return f'\n\nclass {name}(IntEnum):\n    """{doc}"""\n\n' + "".join(f"    {each} = {number}\n" for each, number in entries)


def numbers(made):
    operation = [(name.upper(), each.number) for each in operations() for name in (each.name, each.alias) if name]
    lists = [*(plural(each).upper() for each in enumerations()), "SCHEDULES", "OPTIONS"]
    collectives = next(each for each in enumerations() if each.name == "collective")
    text = f'"""{made}\n\nThe numbers of the C interface."""\n\nfrom enum import IntEnum\n'
    text += enumeration("Operation", "sf_operation.", operation)
    text += enumeration("Collective", "sf_collective.", [(each.name.upper(), i) for i, each in enumerate(collectives.entries)])
    return text + enumeration("List", "sf_list.", [(name, number) for number, name in enumerate(lists)])


def functions(made):
    every = [words_of(each) for each in operations() if each.python is not None]
    text = f'"""{made}\n\nFunctions of arrays with the usual arguments, and the same as methods of `steadfold.plan`, `start` and `Bundle`."""\n'
    text += OPENING + "\n__all__ = [{}]\n".format(", ".join(f'"{each["name"]}"' for each in every))
    text += "".join("\n" + FUNCTION.format(**each) for each in every)
    text += '\n\nclass CallsOfOperations(Generic[Made]):\n    """The methods of `steadfold.plan`, `start` and `Bundle`."""\n'
    text += "\n    def _reduce(self, operation: Operation, x: Any, factors: Any, axis: Any, options: Options) -> Made:\n"
    text += "        raise NotImplementedError\n"
    return text + "".join(METHOD.format(**each) for each in every)


FILES = {"python/steadfold/_numbers.py": numbers, "python/steadfold/_operations.py": functions}
