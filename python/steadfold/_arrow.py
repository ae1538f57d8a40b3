"""Columns of tables, read through Arrow's C data interface (https://arrow.apache.org/docs/format/CDataInterface.html).
No library of Arrow is needed. pyarrow, Polars and DuckDB export columns in this way; pandas makes columns of pyarrow.

Numbers are read where they are, in any number of chunks, and bitmaps say which are null. Where a call has other operands with
nulls or a mask, chunks are joined in a copy, and nulls become a mask."""

from __future__ import annotations

import ctypes
import functools
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _elements
from ._elements import Array

_NUMBERS = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4", "g": "f8"}
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_NULLABLE_FLAG = 2  # ARROW_FLAG_NULLABLE
_MOST_INLINE = 12  # the length up to which a string view contains its string


class _Schema(ctypes.Structure):
    """ArrowSchema: the type of a column."""


class _Data(ctypes.Structure):
    """ArrowArray: the memory of a chunk."""


class _Stream(ctypes.Structure):
    """ArrowArrayStream: a column as a sequence of chunks."""


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))), ("private_data", ctypes.c_void_p),
]
_Data._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Data))),
    ("dictionary", ctypes.POINTER(_Data)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Data))), ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Data))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))), ("private_data", ctypes.c_void_p),
]

_pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_in.restype = ctypes.c_void_p
_pointer_in.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Column:
    """A column of a table.

    parts
        The elements of each chunk; an element that is null has any value. There is at least one chunk.
    bitmaps
        For each chunk a `Bits` that is 0 for nulls, or None if it has no nulls.
    is_nullable
        Whether the type of the column permits nulls. Over ranks this decides whether a call has a mask.
    """

    def __init__(self, parts: list[Array], bitmaps: list[Bits | None], is_nullable: bool) -> None:
        self.parts = parts
        self.bitmaps = bitmaps
        self.is_nullable = is_nullable
        self.dtype = parts[0].dtype
        self.ndim = 1
        self.shape = (sum(map(len, parts)),)

    @functools.cached_property
    def values(self) -> Array:
        """The elements in one array."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)

    @functools.cached_property
    def are_valid(self) -> Array | None:
        """A mask that is False for nulls, or None if there are no nulls."""
        if not any(self.bitmaps):
            return None
        masks = [np.ones(len(part), bool) if bits is None else bits.unpacked() for part, bits in zip(self.parts, self.bitmaps)]
        return masks[0] if len(masks) == 1 else np.concatenate(masks)

    def has_only_nulls(self) -> bool:
        """Returns whether there are elements, and all of them are null."""
        return self.are_valid is not None and not self.are_valid.any()

    def refuse_nulls(self) -> Array:
        """Returns the elements, or raises an error if an element is null."""
        if self.are_valid is not None:
            count = int((~self.are_valid).sum())
            raise TypeError(f"a column with {count} {'null' if count == 1 else 'nulls'} (this call cannot leave elements out), drop the nulls, as "
                            "x.drop_nulls() or x.drop_null()")
        return self.values

    def with_zeros(self) -> Array:
        """Returns the elements. A null becomes 0."""
        return self.values if self.are_valid is None else np.where(self.are_valid, self.values, self.dtype.type(0))


class Chunks:
    """The chunks of a column as the library takes them, without a copy.

    of_shape
        An array with the shape and the type of the column, but not its elements.
    list
        The members of sf_chunk of each chunk: the address of its elements, the address of its bitmap or 0, the first bit, and the
        number of elements up to its end.
    is_nullable
        Whether the call has a mask.
    """

    def __init__(self, column: Column, is_nullable: bool) -> None:
        self.column = column  # keeps the memory alive
        self.is_nullable = is_nullable
        self.of_shape = np.broadcast_to(np.zeros((), column.dtype), column.shape)
        self.list = np.empty((len(column.parts), 4), np.uint64)
        ends = itertools.accumulate(map(len, column.parts))
        for i, (part, bits, end) in enumerate(zip(column.parts, column.bitmaps, ends)):
            place = (0, 0) if bits is None else (_address(bits.packed), bits.first)
            self.list[i] = (_address(part), *place, end)


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]  # type: ignore[no-any-return]


def is_column(x: Any) -> bool:
    """Returns whether an object is a column: it exports its memory by Arrow's interface, or is a `Column`."""
    if isinstance(x, (np.ndarray, np.generic, float, int, list, tuple)):
        return False
    return isinstance(x, Column) or _exporter_of(x) is not None


def column_of(x: Any) -> Column:
    """Reads a column, for which `is_column` is true."""
    if isinstance(x, Column):
        return x
    exporter = _exporter_of(x)
    if hasattr(exporter, "__arrow_array__"):  # an array of pandas, of which pyarrow makes the column
        exporter = exporter.__arrow_array__()
    if hasattr(exporter, "__arrow_c_stream__"):
        of_type, chunks = _read_stream(exporter.__arrow_c_stream__())
    else:
        capsules = exporter.__arrow_c_array__()
        of_type, chunks = _moved(_Schema, capsules[0], b"arrow_schema"), [_moved(_Data, capsules[1], b"arrow_array")]
    schema = of_type.struct  # released with `of_type`
    column = _only_column_of(schema, type(x).__name__)
    read = _reader_of(column)
    parts = [read(_column_in(schema, chunk), chunk) for chunk in chunks] or [read(_Data(), None)]
    return Column([values for values, _ in parts], [bits for _, bits in parts], bool(column.flags & _NULLABLE_FLAG))


def _exporter_of(x: Any) -> Any:
    """Returns the object that exports the memory of `x` by Arrow's interface or makes pyarrow export it, else None. A Series of pandas
    counts, or a frame with one, if its missing values are pandas.NA: in others NaN stands for a missing value, and is a number here."""
    if any(each.__module__.partition(".")[0] == "pandas" for each in type(x).__mro__):
        if getattr(x, "shape", ())[1:] == (1,):
            x = x.iloc[:, 0]
        missing = getattr(getattr(x, "dtype", None), "na_value", None)
        if type(missing).__name__ != "NAType":
            return None
        x = getattr(x, "array", x)
        return x if hasattr(x, "__arrow_array__") else None
    return x if hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__") else None


class _Owned:
    """A struct of Arrow's interface, which is released with this object."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct
        weakref.finalize(self, _release, struct).atexit = False  # arrays may live longer than this module


def _release(struct: Any) -> None:
    if struct.release:
        struct.release(ctypes.byref(struct))


def _moved(kind: Any, capsule: Any, name: bytes) -> _Owned:
    """Moves a struct out of a capsule, as the interface asks of readers."""
    given = kind.from_address(_pointer_in(capsule, name))
    if not given.release:
        raise ValueError("a column that another reader has taken (a capsule is read once), export the column again")
    made = _Owned(kind.from_buffer_copy(given))
    given.release = type(given.release)()
    return made


def _read_stream(capsule: Any) -> tuple[_Owned, list[_Owned]]:
    owner = _moved(_Stream, capsule, b"arrow_array_stream")
    stream = owner.struct

    def get(function: Any, struct: Any) -> _Owned:
        if function(ctypes.byref(stream), ctypes.byref(struct)) != 0:
            why = stream.get_last_error(ctypes.byref(stream)) or b"it gives no reason"
            raise RuntimeError(f"a column cannot be read ({why.decode(errors='replace')}), read the column again")
        return _Owned(struct)

    schema = get(stream.get_schema, _Schema())
    chunks = []
    while (chunk := get(stream.get_next, _Data())).struct.release:
        chunks.append(chunk)
    return schema, chunks


def _only_column_of(schema: _Schema, name: str) -> _Schema:
    """Returns the type of a column, or of the only column of a table."""
    if schema.format != b"+s":
        return schema
    if schema.n_children == 1:
        return schema.children[0].contents  # type: ignore[no-any-return]
    names = ", ".join(schema.children[i].contents.name.decode() for i in range(min(schema.n_children, 8)))
    raise TypeError(f"a {name} of {schema.n_children} columns (one column is reduced: {names or 'there is none'}), select a column")


def _column_in(schema: _Schema, chunk: _Owned) -> _Data:
    """Returns the column of a chunk; for a table its only column, with the rows of the chunk."""
    data = chunk.struct
    if schema.format != b"+s":
        return data  # type: ignore[no-any-return]
    if _valid(data, chunk) is not None:
        raise TypeError("a column of structures with nulls (columns of numbers are reduced), select a field")
    child = _Data.from_buffer_copy(data.children[0].contents)
    child.offset, child.length = child.offset + data.offset, data.length
    if child.null_count > 0:
        child.null_count = -1  # not counted: some nulls may be in other rows
    return child


class _Memory:
    """Memory of a chunk, for NumPy; keeps the owner alive."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: np.dtype[Any], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, True), "shape": shape, "typestr": dtype.str}


def _view(data: _Data, buffer: int, count: int, dtype: Any, chunk: Any, first: int = 0) -> Array:
    """Returns elements of a buffer without a copy."""
    dtype = np.dtype(dtype)
    if count == 0:
        return np.empty(0, dtype)
    address = data.buffers[buffer]
    if not address:
        raise ValueError(f"a column without memory for its {count} elements (buffer {buffer} is missing), export the column again")
    return np.asarray(_Memory(address + first * dtype.itemsize, (count,), dtype, chunk))


class Bits:
    """Bits of a chunk, one per element: bit `first` of the bytes is the bit of the first element."""

    def __init__(self, packed: Array, first: int, count: int) -> None:
        self.packed = packed
        self.first = first
        self.count = count

    @staticmethod
    def of(mask: Array) -> Bits:
        """Returns the bits of an array of bool."""
        return Bits(_elements.packed(mask), 0, len(mask))

    def unpacked(self) -> Array:
        """Returns the bits as bool."""
        return _elements.bits(self.packed, self.first, self.count)


def _bits(data: _Data, buffer: int, chunk: Any) -> Bits:
    byte, first = divmod(data.offset, 8)
    return Bits(_view(data, buffer, (first + data.length + 7) // 8, np.uint8, chunk, byte), first, data.length)


def _valid(data: _Data, chunk: Any) -> Bits | None:
    """Returns a bitmap that is 0 for nulls, or None if there are no nulls. A null count of -1 is unknown."""
    if data.null_count == 0 or data.n_buffers == 0 or not data.buffers[0] or data.length == 0:
        return None
    bits = _bits(data, 0, chunk)
    return None if data.null_count < 0 and bool(bits.unpacked().all()) else bits


Reader = Callable[[_Data, Any], "tuple[Array, Bits | None]"]


def _reader_of(schema: _Schema) -> Reader:
    """Returns the function that reads the values and the validity of a chunk."""
    form = schema.format.decode()
    if form == "n":
        return lambda data, chunk: (np.zeros(data.length), Bits.of(np.zeros(data.length, bool)) if data.length else None)
    if schema.dictionary:
        return _dictionary_reader(_NUMBERS[form], _reader_of(schema.dictionary.contents))
    values = _values_reader(form)
    if values is None:
        raise TypeError(f"a column of {_name_of_type(form)} (columns of numbers are reduced; integers, bool, strings, bytes and dates are keys), "
                        "cast the column to one of these types")
    return lambda data, chunk: (values(data, chunk), _valid(data, chunk))


def _name_of_type(form: str) -> str:
    names = {"d:": "decimals", "tt": "times of day", "+l": "lists", "+L": "lists", "+w": "lists", "+v": "lists", "+s": "structures", "+m": "maps", "w:": "binary of fixed size"}
    return names.get(form[:2], f"Arrow's type {form!r}")


def _values_reader(form: str) -> Callable[[_Data, Any], Array] | None:
    if form in _NUMBERS:
        return lambda data, chunk: _view(data, 1, data.length, _NUMBERS[form], chunk, data.offset)
    if form == "b":
        return lambda data, chunk: _bits(data, 1, chunk).unpacked() if data.length else np.empty(0, bool)
    if form == "tdD":
        return lambda data, chunk: _elements.converted(_view(data, 1, data.length, "i4", chunk, data.offset), "i8").view("M8[D]")
    ticks = "M8[ms]" if form == "tdm" else f"M8[{_UNITS[form[2]]}]" if form[:2] == "ts" else f"m8[{_UNITS[form[2]]}]" if form[:2] == "tD" else None
    if ticks is not None:
        return lambda data, chunk: _view(data, 1, data.length, "i8", chunk, data.offset).view(ticks)
    if form in ("u", "z", "U", "Z"):
        return lambda data, chunk: _objects(_texts(data, chunk, "i4" if form in "uz" else "i8"), form in "uU")
    return (lambda data, chunk: _objects(_texts_of_views(data, chunk), form == "vu")) if form in ("vu", "vz") else None


def _dictionary_reader(index: str, read: Reader) -> Reader:
    known: dict[tuple[int, ...], tuple[Any, Array, Bits | None]] = {}  # the words by their place; chunks may share them

    def words_of(data: _Data, chunk: Any) -> tuple[Array, Bits | None]:
        if not data.dictionary:
            return read(_Data(), chunk)
        words = data.dictionary.contents
        place = (words.offset, words.length, *(words.buffers[i] or 0 for i in range(words.n_buffers)))
        if place not in known:
            known[place] = (chunk, *read(words, chunk))  # the chunk, so that its memory is not given to another
        return known[place][1:]

    def read_dictionary(data: _Data, chunk: Any) -> tuple[Array, Bits | None]:
        bits = _valid(data, chunk)
        are_valid = None if bits is None else bits.unpacked()
        codes = _view(data, 1, data.length, index, chunk, data.offset)
        words, are_words = words_of(data, chunk)
        if are_valid is not None:
            codes = np.where(are_valid, codes, 0)  # the code of a null may be any number
            if not are_valid.any():
                return np.full(len(codes), 0 if words.dtype.kind != "O" else None, words.dtype), bits
        if len(codes) > 0 and not (codes.min() >= 0 and codes.max() < len(words)):
            raise ValueError(f"a column with codes from {codes.min()} to {codes.max()} for a dictionary of {len(words)} words (a code is the number of a word), correct the codes")
        if are_words is not None:
            are_there = are_words.unpacked()[codes]
            bits = Bits.of(are_there if are_valid is None else are_valid & are_there)
        return words[codes], bits

    return read_dictionary


def _objects(texts: Iterator[bytes], is_text: bool) -> Array:
    found = [text.decode(errors="surrogateescape") for text in texts] if is_text else list(texts)
    made = np.empty(len(found), object)
    made[:] = found
    return made


def _texts(data: _Data, chunk: Any, offset: str) -> Iterator[bytes]:
    if data.length == 0:
        return
    ends = _view(data, 1, data.length + 1, offset, chunk, data.offset).tolist()
    memory = _view(data, 2, ends[-1], np.uint8, chunk).tobytes()
    for begin, end in zip(ends, ends[1:]):
        yield memory[begin:end]


def _texts_of_views(data: _Data, chunk: Any) -> Iterator[bytes]:
    """Yields the strings of string views: 16 bytes each, with the length, and the string or its place in a buffer."""
    if data.length == 0:
        return
    views = _view(data, 1, 16 * data.length, np.uint8, chunk, 16 * data.offset)
    places = views.view("i4").reshape(-1, 4).tolist()
    inline = views.tobytes()
    sizes = _view(data, data.n_buffers - 1, data.n_buffers - 3, "i8", chunk).tolist()
    memory = [_view(data, 2 + i, size, np.uint8, chunk).tobytes() for i, size in enumerate(sizes)]
    bits = _valid(data, chunk)
    are_valid = None if bits is None else bits.unpacked()
    for i, (size, _, buffer, begin) in enumerate(places):
        if are_valid is not None and not are_valid[i]:
            yield b""
        elif size <= _MOST_INLINE:
            yield inline[16 * i + 4:16 * i + 4 + size]
        else:
            yield memory[buffer][begin:begin + size]
