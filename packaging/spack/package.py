# Steadfold for Spack: a recipe to copy into a repository of your own (docs/install.md, "Spack"). Not tried by Spack yet: its
# tests here read it as Python and compare its options with those of the build.
from spack.package import *


class Steadfold(CMakePackage):
    """Reductions of distributed data with the same bits, every time: whatever the number of ranks and threads, the layout,
    the algorithm, the MPI library and the vector width. For C, C++, Fortran and Python."""

    license("Apache-2.0")

    # owner: spack
    # not set: homepage and git, so Spack fetches nothing: spack develop steadfold@=main --path CHECKOUT
    version("main")
    # end

    variant("mpi", default=True, description="Reduce over MPI; without it, in one process and by teams of threads")
    variant("programs", default=True, when="+mpi", description="Build the command and the examples")
    variant("hwloc", default=True, description="Know packages, NUMA domains and caches")
    variant("fortran", default=True, when="+mpi", description="Build the Fortran interface, for gfortran")
    variant("python", default=False, description="Build the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("highway", type="build")  # headers alone: without them the scalar reference runs
    depends_on("mpi", when="+mpi")
    depends_on("hwloc@2:", when="+hwloc")
    with when("+programs"):
        depends_on("fmt")
        depends_on("cli11@2:", type="build")
        depends_on("nlohmann-json", type="build")
        depends_on("zlib-api")
    depends_on("python@3.10:", type="build", when="~python")  # manual pages
    with when("+python"):
        extends("python@3.10:")
        depends_on("py-nanobind@3:", type="build")
        depends_on("py-numpy@2:", type="build")
        depends_on("py-numpy@1.22:", type="run")
        depends_on("py-mpi4py@3.1:", type="run", when="+mpi")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("STEADFOLD_TESTS", False),
            self.define_from_variant("STEADFOLD_HWLOC", "hwloc"),
            self.define_from_variant("STEADFOLD_PYTHON", "python"),
            self.define("STEADFOLD_PROGRAMS", self.spec.satisfies("+programs")),
            self.define("STEADFOLD_FORTRAN", self.spec.satisfies("+fortran")),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("STEADFOLD_MPI_WRAPPERS", self.spec["mpi"].mpicc))
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", python.path))
        return args

    @run_after("install", when="+python")
    def install_python_package(self):
        """The component `python`, which a plain installation leaves out."""
        with working_dir(self.build_directory):
            cmake("--install", ".", "--component", "python", "--prefix", python_platlib)
