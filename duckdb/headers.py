"""Writes DuckDB's headers for extensions, and its licence, into a folder: python3 duckdb/headers.py FOLDER

They come from the source distribution of the version below on PyPI, or on the index that PIP_INDEX_URL names."""

import hashlib
import io
import json
import os
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

VERSION = "2.0.1"
SHA256 = "5b3f493140e35b75298ee0fc606d98e3065e8601e64fe81b09326de7a6fd68e0"
HEADERS = ("duckdb.h", "duckdb_extension.h")


def loaded(address, accept="*/*"):
    request = urllib.request.Request(address, headers={"Accept": accept})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def source_distribution():
    """The archive's bytes."""
    name = f"duckdb-{VERSION}.tar.gz"
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/duckdb/"
    files = json.loads(loaded(index, "application/vnd.pypi.simple.v1+json"))["files"]
    addresses = [file["url"] for file in files if file["filename"] == name]
    if not addresses:
        sys.exit(f"no {name} (not at {index}), set PIP_INDEX_URL to an index that has it")
    archive = loaded(urllib.parse.urljoin(index, addresses[0]))
    if (found := hashlib.sha256(archive).hexdigest()) != SHA256:
        sys.exit(f"{name} is another file (SHA-256 {found} instead of {SHA256}), load it from https://pypi.org")
    return archive


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = {header: f"src/include/{header}" for header in HEADERS} | {"LICENSE": "LICENSE"}
    with tarfile.open(fileobj=io.BytesIO(source_distribution())) as archive:
        for name, path in paths.items():
            (folder / name).write_bytes(archive.extractfile(f"duckdb-{VERSION}/external/duckdb/{path}").read())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        write(Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"DuckDB's headers cannot be loaded ({error}), copy {' and '.join(HEADERS)} of version {VERSION} there yourself")
