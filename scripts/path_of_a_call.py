"""Prints the files and functions of include/ and src/ that run in one sum of 1000 doubles, as Clang's counters tell: in
one process, and over three ranks of Open MPI, at the first call and when the call is repeated. Also prints the types
that describe a call. Usage: path_of_a_call.py [BUILD_DIRECTORY] [--list]: a build with STEADFOLD_COVERAGE=ON, by default
build/asan; --list prints the names of the files and functions."""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LLVM = 16
PROGRAM = """
#include <mpi.h>
#include <cstdlib>
#include <string>
#include <vector>
#include <steadfold/steadfold.hpp>
#include <steadfold/mpi.hpp>

extern "C" void __llvm_profile_reset_counters();
extern "C" void __llvm_profile_set_filename(const char*);
extern "C" int __llvm_profile_write_file();

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool has_ranks = std::string(words[1]) == "ranks";
  const std::vector<double> x(1000, 0.1);
  const auto sum = [&] { return has_ranks ? sf::sum(x, MPI_COMM_WORLD) : sf::sum(x); };
  for (int i = std::atoi(words[2]); i > 0; --i) sum();
  __llvm_profile_reset_counters();
  const double result = sum();
  if (rank == 0) {
    __llvm_profile_set_filename(words[3]);
    __llvm_profile_write_file();
    __llvm_profile_set_filename("/dev/null");  // the end of the program writes again
  }
  MPI_Finalize();
  return result > 0 ? 0 : 1;
}
"""


def executed(words, program, folder):
    """The functions of include/ and src/ that run in the counted call of rank 0: file -> first lines."""
    raw, profile = (folder / f"{'_'.join(words)}.{ending}" for ending in ("profraw", "profdata"))  # counters are appended
    subprocess.run(["mpirun.openmpi", "--oversubscribe", "-np", "3", program, *words, raw], check=True, cwd=folder)
    subprocess.run([f"llvm-profdata-{LLVM}", "merge", "-sparse", "-o", profile, raw], check=True)
    command = [f"llvm-cov-{LLVM}", "export", "-format=text", "-instr-profile", profile, program]
    exported = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    files = collections.defaultdict(dict)
    for function in exported["data"][0]["functions"]:
        path = Path(function["filenames"][0]).resolve()  # through the links of build/rooms
        if function["count"] and path.is_relative_to(ROOT):
            files[path.relative_to(ROOT)][function["regions"][0][0]] = function["name"]
    return files


def compiled(build, folder):
    """The program, linked with the libraries of the build."""
    source, program = folder / "program.cpp", folder / "program"
    source.write_text(PROGRAM)
    flags = ["-std=c++20", "-O1", "-fsanitize=address,undefined", "-fprofile-instr-generate", "-fcoverage-mapping"]
    archives = [build / "archive" / name for name in ("libsteadfold_openmpi.a", "libsteadfold.a")]
    command = ["mpicxx.openmpi", *flags, f"-I{ROOT}/include", source, "-o", program, *archives, "-lhwloc", "-ldl", "-lrt"]
    subprocess.run(command, check=True, env=os.environ | {"OMPI_CXX": f"clang++-{LLVM}"})
    return program


PROPERTIES = """
    operation method type result_type columns root collective layout schedule element_count blocks require threads rows
    initial intervals grid
""".split()


def members(body):
    """The data members of a type, except static ones, pointers and references: (type, name)."""
    return re.findall(r"^  (?!static )(?:const )?([\w:<>, ]+?) (\w+?)_?(?: = [^;]*|\{[^;]*)?;", body, re.M)


def forms(files):
    """The types of these files, except types inside a class, that have at least five of the properties of a call, or a
    member of a type that has."""
    found = {}
    for path in files:
        for name, body in re.findall(r"^(?:typedef )?(?:struct|class) ((?:\w+::)*\w+)[^;{]*\{\n(.*?)^\}", (ROOT / path).read_text(), re.S | re.M):
            found.setdefault(f"{path}: {name}", []).extend(members(body))
    described = {form for form, own in found.items() if len({name for _, name in own} & set(PROPERTIES)) >= 5}
    names = {form.split()[-1].split("::")[-1] for form in described}
    holders = {form for form, own in found.items() if any(set(re.findall(r"\w+", kind)) & names for kind, _ in own)}
    return sorted(described | holders)


def main():
    words = [word for word in sys.argv[1:] if word != "--list"]
    build = Path(words[0] if words else ROOT / "build/asan").resolve()
    os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        program = compiled(build, folder)
        for title, *case in (
            ("in one process, first call", "alone", "0"),
            ("in one process, repeated", "alone", "5"),
            ("over ranks, first call", "ranks", "0"),
            ("over ranks, repeated", "ranks", "5"),
        ):
            files = executed(case, program, folder)
            functions = sum(map(len, files.values()))
            parts = {path.with_suffix("") for path in files}  # a header and its source file are one part
            found = forms({*files, Path("include/steadfold/steadfold.h")})
            print(f"{title}: {len(files)} files, {len(parts)} parts, {functions} functions, {len(found)} forms of the call")
            if "--list" in sys.argv:
                print(*(f"  {path}: {len(files[path])} functions" for path in sorted(files)), sep="\n")
                print(*(f"  form {form}" for form in found), sep="\n")


if __name__ == "__main__":
    main()
