"""Generates the Python files: the numbers of C's enumerations, and the functions of arrays with the usual arguments."""

import textwrap

from options import options, parameters
from tables import enumerations, operations, plural

WIDTH = 128
OPENING = '''
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ._numbers import Operation
from ._options import CallOptions
from ._reductions import Axis, _call, with_options

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike
    from typing_extensions import Unpack

    from ._plans import Options

Made = TypeVar("Made")
'''
FUNCTION = '''
@with_options(CallOptions)
def {name}(
    x: ArrayLike, {y}axis: Axis = None, dtype: DTypeLike | None = None, keepdims: bool = False,
    where: ArrayLike | None = None, *, comm: Any = None, **options: Unpack[CallOptions],
) -> Any:
    """{doc}

    >>> import steadfold as sf
{example}
    """
    return _call(Operation.{number}, x, {factors}, axis, dtype, keepdims, where, comm, options)
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


def call_options(made):
    """The options of Python's calls, and the limits of the parameters of methods."""
    taken = [each for each in options() if each.python]
    rooted = [each for each in taken if each.name == "root"]  # scans and reduce_scatter have none
    arrays = [each for each in taken if each.arguments == "vectors"]
    every = [each for each in taken if each not in rooted + arrays]
    defaults = ", ".join(f'"{each.name}": {each.cxx_default if each.python == "int" else None}' for each in taken)
    limits = ", ".join(f'"{each.name}": ({each.least}, {each.most})' for each in parameters() if not each.list)
    return "\n".join([
        f'"""{made}\n\nThe options of calls."""\n', "from __future__ import annotations\n", "from typing import TYPE_CHECKING, Any, TypedDict\n",
        "if TYPE_CHECKING:", "    from ._core import Layout", "    from ._method import Method\n\n", "class VectorOptions(TypedDict, total=False):",
        '    """Options of calls in MPI\'s shape."""\n', *(f"    {each.name}: {each.python}" for each in every), "\n",
        "class RootedOptions(VectorOptions, total=False):", '    """Options of calls in MPI\'s shape whose result may go to one rank."""\n',
        *(f"    {each.name}: {each.python}" for each in rooted), "\n",
        "class CallOptions(RootedOptions, total=False):", '    """Options of reductions of distributed arrays."""\n',
        *(f"    {each.name}: {each.python}" for each in arrays), "\n", "#: The values of options that are not given.",
        f"DEFAULTS: dict[str, Any] = {{{defaults}}}",
        "#: The limits of the parameters of methods.", f"LIMITS = {{{limits}}}\n"])


def option_table(made):
    """The options of Python's calls, for the extension."""
    rows = [(f'    {{"{each.name}", {str(each.kind == "number").lower()}, {str(each.arguments != "vectors").lower()}}},', each.about)
            for each in options() if each.python]
    width = max(len(code) for code, _ in rows)
    return "\n".join([f"// {made}\n//", "// The options of calls.", "#pragma once\n", "namespace steadfold::python {\n",
                      "struct Option {", "  const char* name;", "  bool is_number;", "  bool is_of_vectors;  // whether calls in MPI's shape take it", "};",
                      "inline constexpr Option option_table[] = {", *(f"{code:{width}}  // {about}" for code, about in rows), "};\n", "}  // namespace steadfold::python\n"])


FILES = {"python/steadfold/_options.py": call_options, "python/extension/options.hpp": option_table, "python/steadfold/_numbers.py": numbers, "python/steadfold/_operations.py": functions}
