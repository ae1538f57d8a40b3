# Finds the MPI libraries through their compiler wrappers, so that one build serves several of them. For each NAME in
# STEADFOLD_MPI_LAYER_NAMES (openmpi, mpich, mpi_abi for the standard's binary interface, or mpi for any other) it defines
#   steadfold_mpi_library_NAME    the MPI library itself
#   STEADFOLD_MPI_PREFIX_NAME     the folder in the build directory for files that are linked to it: "" or "NAME/"
#   STEADFOLD_MPI_WRAPPER_NAME    its wrapper of the C compiler
# and for each NAME in STEADFOLD_MPI_NAMES, for which programs are built, also
#   STEADFOLD_MPI_RUN_NAME        its launcher; empty if programs are for another system

include(SteadfoldMPIName)

# steadfold_add_mpi(WRAPPER [LAYER]): adds the MPI library of a wrapper. LAYER: builds no programs for it.
function(steadfold_add_mpi wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line RESULT_VARIABLE failed ERROR_VARIABLE complaint
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "${wrapper} -show failed (${complaint}), set STEADFOLD_MPI_WRAPPERS to working MPI wrappers")
  endif()
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words) # the compiler below the wrapper
  set(includes "")
  set(definitions "")
  set(directories "")
  set(libraries "")
  set(link_flags "")
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      list(APPEND includes ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-D(.+)")
      list(APPEND definitions ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-L(.+)")
      list(APPEND directories ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-l(.+)")
      list(APPEND libraries ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-Wl,")
      list(APPEND link_flags ${word})
    endif()
  endforeach()

  find_file(header mpi.h HINTS ${includes} REQUIRED NO_CACHE)
  steadfold_mpi_name(${header} "${definitions}" name)
  if(name IN_LIST STEADFOLD_MPI_LAYER_NAMES)
    message(FATAL_ERROR "${wrapper} is a second ${name} (one build holds one of each), drop it from "
      "STEADFOLD_MPI_WRAPPERS or STEADFOLD_MPI_LAYERS")
  endif()

  add_library(steadfold_mpi_library_${name} INTERFACE)
  target_include_directories(steadfold_mpi_library_${name} SYSTEM INTERFACE ${includes})
  target_compile_definitions(steadfold_mpi_library_${name} INTERFACE ${definitions} OMPI_SKIP_MPICXX
    MPICH_SKIP_MPICXX)
  if(name STREQUAL mpi_abi)
    target_compile_definitions(steadfold_mpi_library_${name} INTERFACE STEADFOLD_MPI_ABI)
    # Layers should not have the run path of the MPI library. Programs get it from CMake.
    list(FILTER link_flags EXCLUDE REGEX "^-Wl,(-rpath|/|--enable-new-dtags)")
  endif()
  target_link_options(steadfold_mpi_library_${name} INTERFACE ${link_flags})
  foreach(library IN LISTS libraries)
    unset(path)
    find_library(path ${library} HINTS ${directories} NO_CACHE) # a full path gets its run path from CMake
    if(path)
      target_link_libraries(steadfold_mpi_library_${name} INTERFACE ${path})
    else()
      target_link_libraries(steadfold_mpi_library_${name} INTERFACE -l${library})
    endif()
  endforeach()

  set(STEADFOLD_MPI_LAYER_NAMES ${STEADFOLD_MPI_LAYER_NAMES} ${name} PARENT_SCOPE)
  set(STEADFOLD_MPI_PREFIX_${name} ${name}/ PARENT_SCOPE)
  set(STEADFOLD_MPI_WRAPPER_${name} ${wrapper} PARENT_SCOPE)
  message(STATUS "MPI library ${name}: ${wrapper} ${ARGN}")
  if(NOT ARGN)
    if(CMAKE_CROSSCOMPILING)
      set(run "") # programs look for one where they run
    else()
      get_filename_component(directory ${wrapper} DIRECTORY)
      get_filename_component(file_name ${wrapper} NAME)
      string(REPLACE mpicc mpirun launcher ${file_name})
      find_program(run NAMES ${launcher} mpirun mpiexec HINTS ${directory} REQUIRED NO_CACHE)
    endif()
    set(STEADFOLD_MPI_NAMES ${STEADFOLD_MPI_NAMES} ${name} PARENT_SCOPE)
    set(STEADFOLD_MPI_RUN_${name} ${run} PARENT_SCOPE)
  endif()
endfunction()

set(STEADFOLD_MPI_NAMES "")
set(STEADFOLD_MPI_LAYER_NAMES "")
set(wrappers ${STEADFOLD_MPI_WRAPPERS})
if(NOT wrappers AND NOT CMAKE_CROSSCOMPILING)
  foreach(candidate mpicc.openmpi mpicc.mpich)
    find_program(wrapper ${candidate} NO_CACHE)
    if(wrapper)
      list(APPEND wrappers ${wrapper})
    endif()
    unset(wrapper)
  endforeach()
  find_program(wrapper mpicc NO_CACHE)
  if(wrapper AND NOT wrappers)
    set(wrappers ${wrapper})
  endif()
  unset(wrapper)
endif()
if(wrappers STREQUAL "none")
  set(wrappers "")
endif()
foreach(candidate IN LISTS wrappers)
  find_program(wrapper ${candidate} REQUIRED NO_CACHE)
  steadfold_add_mpi(${wrapper})
  unset(wrapper)
endforeach()
set(layers ${STEADFOLD_MPI_LAYERS})
if(layers STREQUAL "none")
  set(layers "")
elseif(NOT layers AND NOT "mpi_abi" IN_LIST STEADFOLD_MPI_NAMES AND NOT CMAKE_CROSSCOMPILING)
  find_program(wrapper mpicc_abi NO_CACHE) # as the standard calls it
  if(wrapper)
    set(layers ${wrapper})
  endif()
  unset(wrapper)
endif()
foreach(candidate IN LISTS layers)
  find_program(wrapper ${candidate} REQUIRED NO_CACHE)
  steadfold_add_mpi(${wrapper} LAYER)
  unset(wrapper)
endforeach()
if(CMAKE_CROSSCOMPILING AND NOT STEADFOLD_MPI_LAYER_NAMES)
  message(STATUS "only the library free of MPI is built (for another processor, without STEADFOLD_MPI_WRAPPERS)")
elseif(NOT STEADFOLD_MPI_LAYER_NAMES AND STEADFOLD_MPI_WRAPPERS STREQUAL "none")
  message(STATUS "only the library free of MPI is built (STEADFOLD_MPI_WRAPPERS is none)")
elseif(NOT STEADFOLD_MPI_LAYER_NAMES)
  message(WARNING "no MPI library (no mpicc found), only the library free of MPI and its tests are built: install "
    "libopenmpi-dev or libmpich-dev, or set STEADFOLD_MPI_WRAPPERS")
else() # one stands where users look first: where there are programs, one that has some
  set(candidates ${STEADFOLD_MPI_NAMES} ${STEADFOLD_MPI_LAYER_NAMES})
  list(GET candidates 0 first)
  if("openmpi" IN_LIST STEADFOLD_MPI_NAMES)
    set(first openmpi)
  endif()
  set(STEADFOLD_MPI_PREFIX_${first} "")
endif()

# The target is a library over mpi_abi. It has no run path for an MPI library, because it uses the one of the program.
function(steadfold_leave_mpi_to_programs target name)
  if(name STREQUAL mpi_abi)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF)
  endif()
endfunction()

# Puts the output of a target into the folder of one MPI library, and defines the name of this library for its code.
function(steadfold_place target name)
  set(prefix ${PROJECT_BINARY_DIR}/${STEADFOLD_MPI_PREFIX_${name}})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${prefix}bin LIBRARY_OUTPUT_DIRECTORY ${prefix}lib)
endfunction()

# A symbolic link in the folder of a target's output.
function(steadfold_link target file link)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink ${file} $<TARGET_FILE_DIR:${target}>/${link})
endfunction()

# steadfold_mpi_program(NAME SOURCES file... LIBRARIES target...): an executable per MPI library, over the public API.
function(steadfold_mpi_program program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    set(target ${program}_${name})
    add_executable(${target} ${arg_SOURCES})
    steadfold_unity(${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${program})
    target_compile_definitions(${target} PRIVATE STEADFOLD_MPI_NAME="${name}"
      STEADFOLD_MPIRUN="${STEADFOLD_MPI_RUN_${name}}")
    target_link_libraries(${target} PRIVATE steadfold_options steadfold_mpi_${name} ${arg_LIBRARIES})
    steadfold_place(${target} ${name})
  endforeach()
endfunction()
