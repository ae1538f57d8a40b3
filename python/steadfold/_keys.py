"""The distinct keys of all ranks, or of all parts of an array."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ._arrow import Column, column_of, is_column
from ._convert import as_array, as_labels
from ._elements import Array
from ._errors import MismatchError
from ._gather import WORD, first_places, gathered, gathered_bytes, listed, words_of_ranks
from ._told import told

_NUMBERED = "labels of "  # in place of a dtype, with the number of groups
_NAMES = {"U": "str", "S": "bytes", "b1": "bool", "": "no dtype"}


def numbered(keys: Any, comm: Any) -> tuple[Array, Array]:
    """Returns the distinct keys of all ranks, in ascending order, and the number of every key's place among them (-1
    for a key that is None or NaT). Collective."""
    with told(comm):
        given = _Given(keys)
    found = given.distinct if comm is None else _united_over_ranks(given.distinct, comm)
    return _as_texts(found), given.numbers(given.places(found))


def labelled(labels: Any, groups: int, comm: Any, name: str = "keys") -> tuple[Array, Array]:
    """Returns the numbers of groups as keys, and the labels, which the caller calls `name`. Collective, as `numbered`,
    because another rank may call that."""
    with told(comm):
        array, groups = as_labels(labels, name), operator.index(groups)
        if groups < 1:
            raise ValueError(f"{groups} groups (at least one group is needed), give the number of groups")
        keys = np.arange(groups)
    kinds = [data.decode() for data in gathered_bytes("group_by", f"{_NUMBERED}{groups}".encode(), comm)]
    known = first_places(kinds)
    if len(known) > 1:
        _refuse_mixture(known, "rank")
    return keys, array.copy()  # the caller may change its array


def distinct(keys: Any) -> Array:
    """Returns the distinct keys of a part of the keys, for `united`."""
    return _Given(keys).distinct


def united(parts: Sequence[Array]) -> Array:
    """Returns the distinct keys of all parts in ascending order."""
    common = _common([_kind_of(part) for part in parts], parts[0].dtype, "part")
    to = object if common.kind in "US" else common
    return _as_texts(_distinct(np.concatenate([part.astype(to) for part in parts]))[0])


def numbers(keys: Any, found: Array) -> Array:
    """Returns the place of every key among `found`, the result of `united` (-1: no key). Raises an error if a key is not
    there, because the keys may be computed anew."""
    given = _Given(keys)
    places = given.places(found)
    if np.any(places == len(found)) or found[places].tolist() != given.distinct.tolist():
        raise ValueError("keys of which some were not there when the groups were made (the keys are computed again for every result, and "
                         "have changed), keep them: keys = keys.persist()")
    return given.numbers(places)


class _Given:
    """The keys of one process or part."""

    def __init__(self, keys: Any) -> None:
        column = column_of(keys) if is_column(keys) else None
        given = with_one_type(keys) if column is None else _keys_in(column)
        self._are_keys = _are_keys(given)
        if column is not None and column.are_valid is not None:
            self._are_keys = self._are_keys & column.are_valid
        self.distinct, self._places = _distinct(given[self._are_keys])

    def places(self, found: Array) -> Array:
        """Returns the place of every distinct key among `found`."""
        if found is self.distinct:
            return np.arange(len(found))
        as_found = object if self.distinct.dtype.kind in "OUS" else found.dtype
        return np.asarray(np.searchsorted(found.astype(as_found), self.distinct.astype(as_found)))

    def numbers(self, places: Array) -> Array:
        """Returns the place of every key, -1 for a missing key. The argument has the places of distinct keys."""
        made = np.full(self._are_keys.shape, -1, np.int64)
        made[self._are_keys] = places[self._places]
        return made


def _as_texts(keys: Array) -> Array:
    """Returns keys of objects as NumPy's strings or bytes, unless these would lose null characters at the end of a
    key."""
    if keys.dtype.kind != "O" or any(key[-1:] in ("\0", b"\0") for key in keys):
        return keys
    return keys.astype(bytes if any(isinstance(key, bytes) for key in keys) else str)


def with_one_type(given: Any) -> Array:
    """Returns keys with a dtype whose values have an order. Objects must be strings, or bytes, or None for a missing key."""
    if given is None:
        raise TypeError("keys are None (no group has an element), give an array of keys")
    keys = as_array(given)
    if not hasattr(given, "dtype"):
        if keys.size == 0:
            keys = np.empty(keys.shape, np.int64)  # as an empty list, which has no type
        elif keys.dtype.kind in "SU":
            keys = np.asarray(given, object)  # NumPy would make strings of numbers beside strings
    if keys.dtype.kind in "biuSUMm":
        return keys
    if keys.dtype.kind in "OT":
        objects = keys.astype(object)
        if set(map(type, objects.flat)) <= {str, type(None)}:
            return objects
        types = {type(key) for key in objects.flat if not _is_missing(key)}
        text: Any
        for text in (str, bytes):
            if all(issubclass(each, text) for each in types):
                made = np.empty(keys.shape, object)
                made.reshape(-1)[:] = [None if _is_missing(key) else text().join([key]) for key in objects.flat]  # subclasses as plain text
                return made
        raise TypeError(f"keys of the types {', '.join(sorted(each.__name__ for each in types))} (objects as keys must be all str or all bytes), "
                        "convert the keys, as np.array(keys, str)")
    raise TypeError(f"keys of dtype {keys.dtype} (keys are integers, bool, strings, bytes or dates), convert the keys, as keys.astype(int)")


def _keys_in(column: Column) -> Array:
    """Returns the keys of a column. Keys that are all null may be of any type."""
    return with_one_type(np.full(column.shape, None, object) if column.has_only_nulls() else column.values)


def _is_missing(key: Any) -> bool:
    """Returns whether an object is None or NaN, which pandas puts among strings."""
    return key is None or (isinstance(key, float) and key != key)


def _are_keys(keys: Array) -> Array:
    if keys.dtype.kind == "O":
        return np.array([key is not None for key in keys.flat], bool).reshape(keys.shape)
    return ~np.isnat(keys) if keys.dtype.kind in "Mm" else np.ones(keys.shape, bool)


def _distinct(keys: Array) -> tuple[Array, Array]:
    """Returns distinct keys in ascending order, and the place of every key among them."""
    if keys.dtype.kind != "O":
        found, places = np.unique(keys, return_inverse=True)
        return found, places.reshape(-1)
    ordered = sorted(set(keys))  # NumPy's strings would lose null characters at their ends
    place_of = {key: place for place, key in enumerate(ordered)}
    found = np.empty(len(ordered), object)
    found[:] = ordered
    return found, np.fromiter(map(place_of.__getitem__, keys), np.int64, len(keys))


def _united_over_ranks(own: Array, comm: Any) -> Array:
    """Returns the distinct keys of all ranks. The keys of every rank are distinct and in ascending order."""
    kinds = [data.decode() for data in gathered_bytes("group_by", _kind_of(own).encode(), comm)]
    common = _common(kinds, own.dtype, "rank")  # raises on all ranks, or on none
    with told(comm):
        packed = _packed(own, common)
    width = max(words_of_ranks(packed.shape[1], comm))
    with told(comm):
        wide = np.zeros((len(packed), width), WORD)
        wide[:, :packed.shape[1]] = packed
    return _distinct(_unpacked(gathered(wide, comm), common))[0]


def _kind_of(keys: Array) -> str:
    """Returns a text that ranks compare: the dtype, without the length of strings. Without keys it is empty."""
    if keys.size == 0:
        return ""
    if keys.dtype.kind == "O":
        return "U" if isinstance(keys[0], str) else "S"
    return keys.dtype.kind if keys.dtype.kind in "US" else keys.dtype.str[1:]


def _common(kinds: list[str], own: np.dtype[Any], source: str) -> np.dtype[Any]:
    """Returns the dtype of the keys of all ranks or parts."""
    known = first_places(kinds)
    if any(kind.startswith(_NUMBERED) for kind in known):
        _refuse_mixture(known, source)
    known.pop("", None)
    if not known:
        return own if own.kind != "O" else np.dtype(str)
    are_integers = all(kind[0] in "iu" for kind in known)
    if len(known) > 1 and not are_integers:
        _refuse_mixture(known, source)
    common = np.result_type(*known)
    if are_integers and common.kind not in "iu":
        _refuse_mixture(known, source)
    return common


def _refuse_mixture(known: dict[str, int], source: str) -> NoReturn:
    texts = listed({_NAMES.get(kind, kind): number for kind, number in known.items()}, source)
    raise MismatchError(f"keys of {texts} (all {source}s must have keys of one dtype, or give the same number of groups), convert the keys")


def _packed(keys: Array, common: np.dtype[Any]) -> Array:
    """Returns a row of words for every key. Text is UTF-8, in which strings have the same order; a number that marks
    the end makes the length known."""
    if common.kind not in "US":
        wide = {"b": "u8", "u": "u8", "i": "i8"}.get(common.kind, common)
        return keys.astype(common).astype(wide).view(WORD).reshape(-1, 1)
    texts = [key.encode("utf-8", "surrogatepass") if isinstance(key, str) else bytes(key) for key in keys.tolist()]
    words = max(map(len, texts), default=0) // WORD.itemsize + 1
    rows = np.array([text + b"\1" for text in texts], f"S{words * WORD.itemsize}")
    return rows.view(WORD).reshape(len(texts), words)


def _unpacked(rows: Array, common: np.dtype[Any]) -> Array:
    if common.kind not in "US":
        wide = {"b": "u8", "u": "u8", "i": "i8"}.get(common.kind, common)
        return rows.reshape(-1).view(wide).astype(common)
    texts = [text[:-1] for text in rows.view(f"S{rows.shape[1] * WORD.itemsize}").reshape(-1).tolist()]
    keys = np.empty(len(texts), object)
    keys[:] = [text.decode("utf-8", "surrogatepass") for text in texts] if common.kind == "U" else texts
    return keys
