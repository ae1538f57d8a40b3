"""Reads the part of a file that belongs to a rank: the lines of a CSV file that begin in its share of the bytes, or its
share of the rows of a Parquet file."""

import csv
import os
import pathlib

import numpy as np
from jobs import Refusal


def read(path, key, columns, rank, count):
    """Keys as an array of strings, and the columns as arrays of float64, of part `rank` out of `count`."""
    if not os.path.isfile(path):
        raise Refusal(f"{path} is not there (a CSV or Parquet file is read), correct the name")
    reader = _parquet if pathlib.Path(path).suffix in (".parquet", ".pq") else _csv
    return reader(path, key, columns, rank, count)


def _place(path, name, names):
    if name not in names:
        raise Refusal(f"{path} has no column {name} (it has {', '.join(names)}), take one of them")
    return names.index(name)


def _csv(path, key, columns, rank, count):
    """Lines are divided by the bytes at which they begin, so fields must have no line breaks in them."""
    with open(path, "rb") as file:
        header = next(csv.reader([file.readline().decode("utf-8-sig")]), [])
        places = [_place(path, name, header) for name in (key, *columns)]
        begin, size = file.tell(), os.path.getsize(path)
        first, last = (begin + (size - begin) * (rank + side) // count for side in (0, 1))
        if first > begin:  # the line that holds the byte before is another rank's
            file.seek(first - 1)
            file.readline()
        lines = []
        while file.tell() < last:
            lines.append(file.readline().decode())
    keys, values = [], [[] for _ in columns]
    for row in csv.reader(lines):
        if not row:
            continue
        if len(row) != len(header):
            raise Refusal(f"{path} has a line of {len(row)} fields ({','.join(row)!r}, the header has {len(header)}), correct it")
        keys.append(row[places[0]])
        for column, name, place in zip(values, columns, places[1:]):
            try:
                column.append(float(row[place]))
            except ValueError:
                raise Refusal(f"{path} has {row[place]!r} as {name} (it is no number), correct it") from None
    return np.array(keys, dtype=str), [np.array(column, dtype=np.float64) for column in values]


def _parquet(path, key, columns, rank, count):
    """Row groups that a part does not touch are not read."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise Refusal(f"{path} cannot be read (pyarrow is not installed), install it, or take a CSV file") from None
    import pyarrow

    file = pyarrow.parquet.ParquetFile(path)
    for name in (key, *columns):
        _place(path, name, file.schema_arrow.names)
    rows = file.metadata.num_rows
    first, last = (rows * (rank + side) // count for side in (0, 1))
    pieces, begin = [], 0
    for group in range(file.num_row_groups):
        end = begin + file.metadata.row_group(group).num_rows
        if begin < last and end > first:
            table = file.read_row_group(group, columns=list(dict.fromkeys((key, *columns))))
            pieces.append(table.slice(max(first - begin, 0), min(last, end) - max(first, begin)))
        begin = end
    if not pieces:
        return np.array([], dtype=str), [np.array([], dtype=np.float64) for _ in columns]
    table = pyarrow.concat_tables(pieces)
    keys = np.array([str(value) for value in table[key].to_pylist()], dtype=str)
    try:
        return keys, [np.asarray(table[name].to_numpy(), dtype=np.float64) for name in columns]
    except (TypeError, ValueError):
        raise Refusal(f"{path} has columns {', '.join(columns)} that are no numbers, take others") from None


def write_sample(path, rows, seed):
    """Payments of shops: amounts of many sizes, and refunds that nearly cancel them. As CSV or Parquet, by the name."""
    random = np.random.default_rng(seed)
    shops = np.array([f"shop {number}" for number in random.integers(0, 12, rows)])
    amounts = np.round(random.lognormal(3, 4, rows), 2)
    refunds = random.integers(0, rows, rows // 3)
    amounts[refunds] = -amounts[(refunds * 7) % rows] * 1.1
    counts = random.integers(1, 9, rows)
    if pathlib.Path(path).suffix in (".parquet", ".pq"):
        import pyarrow
        import pyarrow.parquet

        table = pyarrow.table({"shop": shops, "amount": amounts, "count": counts})
        pyarrow.parquet.write_table(table, path, row_group_size=max(rows // 5, 1))
        return
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["shop", "amount", "count"])
        writer.writerows(zip(shops.tolist(), amounts.tolist(), counts.tolist()))
