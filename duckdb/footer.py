"""Makes an extension of DuckDB from a shared library: python3 duckdb/footer.py LIBRARY EXTENSION PLATFORM VERSION

DuckDB reads the last 512 bytes of the file: eight fields of 32 bytes, the last field first, and a signature, which is
empty here. Before them, the format has the header of a section of WebAssembly."""

import sys
from pathlib import Path

INTERFACE = "v1.2.0"  # the version of DuckDB's interface in C that the extension needs


def footer(platform, version):
    fields = ["4", platform, INTERFACE, version, "C_STRUCT", "", "", ""]
    section = b"\0" + bytes([147, 4, 16]) + b"duckdb_signature" + bytes([128, 4])
    return section + b"".join(field.encode().ljust(32, b"\0") for field in reversed(fields)) + bytes(256)


if __name__ == "__main__":
    library, extension, platform, version = sys.argv[1:]
    Path(extension).write_bytes(Path(library).read_bytes() + footer(platform, version))
