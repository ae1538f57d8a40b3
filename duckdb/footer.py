"""Makes an extension of DuckDB from a shared library: python3 duckdb/footer.py LIBRARY EXTENSION PLATFORM DUCKDB VERSION

DUCKDB is the version of DuckDB whose headers the library uses; other versions refuse the extension. VERSION is the
extension's own. DuckDB reads the last 512 bytes of the file: eight fields of 32 bytes, the last field first, and a
signature, which is empty here. Before them, the format has the header of a section of WebAssembly."""

import os
import sys
from pathlib import Path


def footer(platform, duckdb, version):
    fields = ["4", platform, duckdb, version, "C_STRUCT_UNSTABLE", "", "", ""]
    section = b"\0" + bytes([147, 4, 16]) + b"duckdb_signature" + bytes([128, 4])
    return section + b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(256)


if __name__ == "__main__":
    library, extension, platform, duckdb, version = sys.argv[1:]
    part = Path(f"{extension}.part")  # a program that has loaded the old extension keeps it
    part.write_bytes(Path(library).read_bytes() + footer(platform, duckdb, version))
    os.replace(part, extension)
