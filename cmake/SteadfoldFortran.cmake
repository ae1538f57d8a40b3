# Builds programs in Fortran with the wrappers of the MPI libraries, because one build serves several MPI libraries and
# CMake's Fortran support has only one.

# steadfold_fortran_program(TARGET NAME OUTPUT SOURCES file... [LIBRARIES target...] [OPTIONS flag...]): the executable
# OUTPUT for the MPI library NAME, made by the target TARGET from the module `steadfold` and the sources. List each source
# after the sources whose modules it uses.
function(steadfold_fortran_program target name output)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "SOURCES;LIBRARIES;OPTIONS")
  string(REPLACE mpicc mpifort wrapper ${STEADFOLD_MPI_WRAPPER_${name}})
  set(module ${PROJECT_SOURCE_DIR}/fortran/steadfold.f90)
  set(room ${PROJECT_BINARY_DIR}/fortran/${target})
  get_filename_component(place ${output} DIRECTORY)
  file(MAKE_DIRECTORY ${room} ${place})
  set(libraries ${arg_LIBRARIES} steadfold_fortran steadfold_mpi_${name} steadfold)
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
  file(RELATIVE_PATH to_mpi_layer ${place} ${PROJECT_BINARY_DIR}/${STEADFOLD_MPI_PREFIX_${name}}lib)
  file(RELATIVE_PATH to_core ${place} ${PROJECT_BINARY_DIR}/lib)
  add_custom_command(OUTPUT ${output}
    COMMAND ${wrapper} -O2 -ffp-contract=off ${arg_OPTIONS} ${module} ${arg_SOURCES} -o ${output} ${files} -lstdc++
      -Wl,-rpath,$ORIGIN/${to_mpi_layer},-rpath,$ORIGIN/${to_core}
    DEPENDS ${module} ${PROJECT_SOURCE_DIR}/fortran/steadfold_operations.inc ${arg_SOURCES} ${libraries}
    WORKING_DIRECTORY ${room} COMMENT "Building Fortran program ${target}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output})
endfunction()
