"""Finds unsafe run paths of programs and libraries. An empty or relative entry means the current directory of the
process, so anybody could put another library there."""

import re
import subprocess


def faults_in(folder):
    """The number of ELF files below the folder, and a line for each file with an empty or relative entry."""
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
