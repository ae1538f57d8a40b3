"""Where programs and libraries look for other libraries: an entry that is empty, or relative, means the directory that
somebody happens to be in."""

import re
import subprocess


def faults_in(folder):
    """How many files below the folder were looked at, and a line for each one with such an entry."""
    count, faults = 0, []
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        count += 1
        text = subprocess.run(["readelf", "--dynamic", path], capture_output=True, text=True).stdout
        for entries in re.findall(r"\((?:RUNPATH|RPATH)\)[^\[]*\[(.*)\]", text):
            if not all(entry.startswith(("/", "$ORIGIN")) for entry in entries.split(":")):
                faults.append(f"{path}: {entries}")
    return count, faults
