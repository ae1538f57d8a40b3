# A Debian package of everything that `cmake --install` installs: cpack -G DEB, in the build directory. docs/install.md says
# how to use it, and tests/install/packages_test.py tests it.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME steadfold)
set(CPACK_PACKAGE_VENDOR "The Steadfold developers")
# owner: cpack
set(CPACK_PACKAGE_CONTACT "The Steadfold developers <not set>")
# end
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Reductions with the same bits, every time")
set(CPACK_PACKAGE_DESCRIPTION "A library over MPI that sums and reduces distributed data to the same bits, whatever the
number of ranks and threads, the layout, the algorithm, the MPI library and the vector width. With headers for C, C++ and
Fortran, the command, manual pages and completion for shells.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# dpkg-shlibdeps finds the packages of MPI, hwloc and C++. The libraries of this package are in the build directory.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
foreach(name IN LISTS STEADFOLD_MPI_LAYER_NAMES)
  if(STEADFOLD_MPI_PREFIX_${name})
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${name}/lib)
  endif()
  if(name STREQUAL mpi_abi) # whose library is no package of Debian's
    get_filename_component(directory ${STEADFOLD_MPI_WRAPPER_mpi_abi} DIRECTORY)
    list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${directory}/../lib)
  endif()
endforeach()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin | mpich")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenmpi-dev | libmpich-dev, gfortran")
include(CPack)
