"""Reads files of test vectors (docs/how_to/vectors.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from . import _core

_MOST_BYTES = 64 << 20
_WHICH_FILES = "give files of test vectors, or none for the installed files"


def installed() -> list[Path]:
    """Returns the paths of the installed files, in the order of their names."""
    folder = Path(__file__).parent / "vectors"
    files = sorted(folder.glob("*.json"))
    if not files:
        raise RuntimeError(f"there are no installed test vectors (they are not in {folder}), install the whole package")
    return files


def _texts(given: Any, what: str) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{what} is no list of texts")
    return given


def _text(given: Any, what: str) -> str:
    if not isinstance(given, str):
        raise TypeError(f"{what} is no text")
    return given


def _file_from(json_of_file: Any) -> _core.VectorFile:
    if json_of_file["format"] != 1:
        raise ValueError(f"its format is {json_of_file['format']}, not 1")
    inputs = {}
    for name, each in json_of_file["inputs"].items():
        mask = each.get("mask", [])
        if not isinstance(mask, list) or not all(selects in (0, 1) for selects in mask):
            raise TypeError("mask is no list of 0 and 1")
        inputs[name] = (_texts(each["x"], "x"), _texts(each.get("y", []), "y"), [int(selects) for selects in mask])
    vectors = []
    for each in json_of_file["vectors"]:
        operation, result = _text(each["operation"], "operation"), _text(each["result"], "result")
        name, initial = _text(each["input"], "input"), _text(each.get("initial", ""), "initial")
        bits = {method: _text(text, "bits") for method, text in each["bits"].items()}
        vectors.append((operation, result, name, initial, bits))
    return _core.vector_file(_text(json_of_file["type"], "type"), inputs, vectors)


def read(path: Path) -> _core.VectorFile:
    """Reads a file. Raises RuntimeError if it has no test vectors."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError("it has more than 64 MiB")
        return _file_from(json.loads(content))
    except KeyError as missing:
        why = f"{missing} is missing"
    except (OSError, TypeError, ValueError, AttributeError, RecursionError) as error:
        why = str(error)
    raise RuntimeError(f"'{path}' has no test vectors ({why}), {_WHICH_FILES}")
