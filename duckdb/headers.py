"""Writes DuckDB's headers for extensions, their version and DuckDB's licence into a folder:
python3 duckdb/headers.py FOLDER

They come from the source distribution of the version below on PyPI, or on the index that PIP_INDEX_URL names."""

import hashlib
import html.parser
import http.client
import io
import os
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

# The version with which the extension is built and tested. pyproject.toml names the same one.
VERSION = "2.0.1"
SHA256 = "5b3f493140e35b75298ee0fc606d98e3065e8601e64fe81b09326de7a6fd68e0"
HEADERS = ("duckdb_v2.h", "duckdb_extension_v2.h")


def loaded(address):
    """The bytes at an address, and the address that redirections led to."""
    with urllib.request.urlopen(address, timeout=120) as answer:
        return answer.read(), answer.url


class Links(html.parser.HTMLParser):
    """The addresses in a page of an index of packages."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        self.addresses += [value for key, value in attributes if (tag, key) == ("a", "href") and value]


def source_distribution():
    """The archive's bytes."""
    name = f"duckdb-{VERSION}.tar.gz"
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/duckdb/"
    page, base = loaded(index)
    links = Links()
    links.feed(page.decode(errors="replace"))
    addresses = [urllib.parse.urljoin(base, link) for link in links.addresses]
    found = [address for address in addresses if urllib.parse.urlparse(address).path.rpartition("/")[2] == name]
    if not found:
        raise ValueError(f"no {name} at {index}, set PIP_INDEX_URL to an index that has it")
    archive, _ = loaded(found[0])
    if (digest := hashlib.sha256(archive).hexdigest()) != SHA256:
        raise ValueError(f"{name} is another file: its SHA-256 is {digest} instead of {SHA256}")
    return archive


def write(folder):
    paths = {header: f"src/include/{header}" for header in HEADERS} | {"LICENSE": "LICENSE"}
    with tarfile.open(fileobj=io.BytesIO(source_distribution())) as archive:
        files = {name: archive.extractfile(f"duckdb-{VERSION}/external/duckdb/{path}").read() for name, path in paths.items()}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in {**files, "version.txt": f"{VERSION}\n".encode()}.items():  # the version last: it marks a whole folder
        part = folder / f"{name}.part"
        part.write_bytes(content)
        os.replace(part, folder / name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        write(Path(sys.argv[1]))
    except (OSError, ValueError, KeyError, http.client.HTTPException, tarfile.TarError) as error:
        sys.exit(f"DuckDB's headers cannot be loaded ({error}), put {' and '.join(HEADERS)} of version {VERSION} there yourself, and version.txt with the line {VERSION}")
