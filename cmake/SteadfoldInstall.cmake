# The files of `cmake --install` and their places. The only path of this machine in them is that of the MPI library, so
# the tree may be moved. docs/install.md says how to use it, and tests/install tests it.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/steadfold)

# steadfold_install(PART TARGET...): installs targets, and the file with which find_package finds them.
function(steadfold_install part)
  install(TARGETS ${ARGN} EXPORT steadfold_${part})
  install(EXPORT steadfold_${part} NAMESPACE steadfold:: DESTINATION ${package} FILE steadfold-${part}.cmake)
endfunction()

# steadfold_pkg_config(NAME [REQUIRES name] LIBS flag...): installs a file for pkg-config.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(steadfold_pkg_config name description)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "REQUIRES" "LIBS")
  list(JOIN arg_LIBS " " libs)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/steadfold.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

set_target_properties(steadfold_headers PROPERTIES EXPORT_NAME headers)
steadfold_install(core steadfold_headers steadfold_hwloc steadfold steadfold_static)
steadfold_pkg_config(steadfold "Reductions with the same bits every time" LIBS -lsteadfold)
steadfold_pkg_config(steadfold-static "Reductions with the same bits every time, linked statically"
  LIBS -l:libsteadfold.a ${STEADFOLD_HWLOC_LIBS} -lstdc++ -lm -pthread)
foreach(name IN LISTS STEADFOLD_MPI_LAYER_NAMES)
  set_target_properties(steadfold_mpi_${name} PROPERTIES EXPORT_NAME for_${name})
  set_target_properties(steadfold_mpi_${name}_static PROPERTIES EXPORT_NAME for_${name}_static)
  steadfold_install(${name} steadfold_mpi_${name} steadfold_mpi_${name}_static)
  steadfold_pkg_config(steadfold-${name} "Steadfold over MPI, built for ${name}" REQUIRES steadfold
    LIBS -lsteadfold_${name})
  steadfold_pkg_config(steadfold-${name}-static "Steadfold over MPI, built for ${name}, linked statically"
    REQUIRES steadfold-static LIBS -l:libsteadfold_${name}.a)
  if(TARGET steadfold_command_${name})
    install(TARGETS steadfold_command_${name})
    if(NOT STEADFOLD_MPI_PREFIX_${name})
      install(FILES $<TARGET_FILE_DIR:steadfold_command_${name}>/steadfold TYPE BIN) # the link to it
    endif()
  endif()
endforeach()

# Completion scripts, with the names that the shells look for. bash needs a file for each name of the command.
if(TARGET completions)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  install(FILES ${completions}/steadfold DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    install(FILES ${completions}/steadfold RENAME steadfold.${name}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  endforeach()
  install(FILES ${completions}/_steadfold DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completions}/steadfold.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

if(TARGET steadfold_fortran)
  set_target_properties(steadfold_fortran PROPERTIES EXPORT_NAME fortran_descriptors)
  steadfold_install(fortran steadfold_fortran)
  install(FILES fortran/steadfold.f90 fortran/steadfold_operations.inc DESTINATION ${CMAKE_INSTALL_DATADIR}/steadfold)
  install(DIRECTORY fortran/drop_ins DESTINATION ${CMAKE_INSTALL_DATADIR}/steadfold)
  steadfold_pkg_config(steadfold_fortran "Steadfold from Fortran: compile its variable source with your program" REQUIRES steadfold
    LIBS -lsteadfold_fortran)
endif()

# -lsteadfold_mpi, as in the build directory: lib/ has the link for the first MPI library. lib/NAME/ has the link for any
# other MPI library, and links to all libraries that a program linked there loads.
set(links ${PROJECT_BINARY_DIR}/links)
file(REMOVE_RECURSE ${links})
file(MAKE_DIRECTORY ${links})
get_target_property(soversion steadfold SOVERSION)
foreach(name IN LISTS STEADFOLD_MPI_LAYER_NAMES)
  if(STEADFOLD_MPI_PREFIX_${name})
    file(MAKE_DIRECTORY ${links}/${name})
    foreach(file libsteadfold.so libsteadfold.so.${soversion} libsteadfold_${name}.so.${soversion})
      file(CREATE_LINK ../${file} ${links}/${name}/${file} SYMBOLIC)
    endforeach()
    file(CREATE_LINK ../libsteadfold_${name}.so ${links}/${name}/libsteadfold_mpi.so SYMBOLIC)
  elseif(NOT name STREQUAL mpi) # which has this name already
    file(CREATE_LINK libsteadfold_${name}.so ${links}/libsteadfold_mpi.so SYMBOLIC)
  endif()
endforeach()
install(DIRECTORY ${links}/ DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(module_source ${CMAKE_INSTALL_DATADIR}/steadfold/steadfold.f90)
set(drop_ins ${CMAKE_INSTALL_DATADIR}/steadfold/drop_ins)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/steadfoldConfig.cmake.in steadfoldConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS module_source drop_ins NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(steadfoldConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/steadfoldConfig.cmake ${PROJECT_BINARY_DIR}/steadfoldConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/SteadfoldMPIName.cmake DESTINATION ${package})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/steadfold TYPE INCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff SUPPORT.md SECURITY.md TYPE DOC)
install(DIRECTORY docs TYPE DOC PATTERN site EXCLUDE)
install(DIRECTORY vectors DESTINATION ${CMAKE_INSTALL_DATADIR}/steadfold) # `steadfold vectors` finds them there
install(DIRECTORY examples/first examples/languages DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# Manual pages of the C interface, made from its headers if Python is found.
find_package(Python3 COMPONENTS Interpreter)
if(Python3_FOUND)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/steadfold/*.h)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/man3/steadfold.3
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/docs/man_pages.py ${PROJECT_VERSION} ${PROJECT_BINARY_DIR}/man3
    ${headers} DEPENDS ${PROJECT_SOURCE_DIR}/docs/man_pages.py ${headers} VERBATIM)
  add_custom_target(man_pages ALL DEPENDS ${PROJECT_BINARY_DIR}/man3/steadfold.3)
  add_dependencies(steadfold_products man_pages)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
