"""Aggregate functions of DuckDB whose results have the same bits for any number of threads and any order of rows.

`connect` and `load` load an extension into DuckDB. Then queries can use these functions, plain, with ``GROUP BY`` and as
window functions. Results are DOUBLE, computed exactly and rounded once.

exact_sum(x)
    the sum
exact_avg(x)
    the mean
exact_dot(x, y)
    the sum of the products
exact_var_samp(x)
    the variance, with n - 1 as divisor
exact_stddev_samp(x)
    the standard deviation, with n - 1 as divisor
exact_corr(y, x)
    Pearson's correlation

Operands are integers, FLOAT, DOUBLE or DECIMAL. Rows with a NULL are left out, but not rows with a NaN. A result of no
rows is NULL, and so is a variance of one row. A correlation is NaN if all elements of a column are equal. A query fails if
an integer is not exact as a DOUBLE. DECIMAL is rounded to the nearest DOUBLE.

>>> import steadfold.duckdb
>>> connection = steadfold.duckdb.connect()
>>> connection.sql("SELECT exact_sum(x) FROM (VALUES (1e16), (1.0), (-1e16)) AS t(x)").fetchall()
[(1.0,)]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import duckdb

from ._errors import UnsupportedError

__all__ = ["connect", "extension", "load"]


def connect(
    database: str | os.PathLike[str] = ":memory:", read_only: bool = False, config: Mapping[str, Any] | None = None
) -> duckdb.DuckDBPyConnection:
    """Connects to a database as ``duckdb.connect`` does, and loads the functions.

    DuckDB is started with ``allow_unsigned_extensions``, unless ``config`` says otherwise: then `UnsupportedError` is
    raised. All connections of a process to one file must have the same configuration, so a connection by
    ``duckdb.connect`` without ``allow_unsigned_extensions`` must be closed before.

    >>> import steadfold.duckdb
    >>> connection = steadfold.duckdb.connect(config={"threads": 2})
    >>> connection.sql("SELECT exact_avg(range) FROM range(4)").fetchall()
    [(1.5,)]
    """
    extension()  # an error before a file is created
    settings = {key.lower(): value for key, value in (config or {}).items()}
    connection = duckdb.connect(os.fspath(database), read_only, {"allow_unsigned_extensions": "true", **settings})
    try:
        load(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def load(connection: duckdb.DuckDBPyConnection) -> None:
    """Loads the functions into the database of a connection. The connection keeps its transaction and its result.

    Raises `UnsupportedError` if DuckDB was not started with ``allow_unsigned_extensions``, or if it refuses the extension,
    for example because the extension was built for another version of DuckDB.

    >>> import duckdb, steadfold.duckdb
    >>> connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    >>> steadfold.duckdb.load(connection)
    >>> connection.sql("SELECT exact_stddev_samp(range) FROM range(3)").fetchall()
    [(1.0,)]
    """
    path = extension()
    cursor = connection.cursor()
    if cursor.execute("SELECT current_setting('allow_unsigned_extensions')").fetchall() != [(True,)]:
        raise UnsupportedError(
            "DuckDB does not load the functions into this connection (it was started without allow_unsigned_extensions), "
            "connect by steadfold.duckdb.connect, or give duckdb.connect config={'allow_unsigned_extensions': 'true'}"
        )
    try:
        cursor.execute("LOAD '" + path.replace("'", "''") + "'")
    except duckdb.Error as error:
        raise UnsupportedError(str(error)) from None


def extension() -> str:
    """The path of the extension, which other clients of DuckDB can load: ``LOAD 'PATH'``.

    >>> import steadfold.duckdb
    >>> steadfold.duckdb.extension().rpartition("/")[2]
    'steadfold.duckdb_extension'
    """
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "steadfold.duckdb_extension")
    if not os.path.exists(path):
        raise UnsupportedError(
            f"this installation of Steadfold has no extension for DuckDB (no {path}), install a wheel of Steadfold, or build "
            "it with the CMake option STEADFOLD_DUCKDB"
        )
    return path
