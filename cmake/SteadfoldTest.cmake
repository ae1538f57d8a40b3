# How tests are added. Labels: core, mpi-openmpi, mpi-mpich, command, python, lab.
include(GoogleTest)
find_package(Python3 COMPONENTS Interpreter REQUIRED)
# The Python program itself. The script of a version manager takes longer to start it than most tests take.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable)" OUTPUT_VARIABLE Python3_EXECUTABLE
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

# Published data are in STEADFOLD_SHARED, or beside the checkout. Tests that need them are skipped without them. Tests do
# not use a user's network profile.
set(steadfold_test_environment XDG_CONFIG_HOME=/nowhere XDG_CONFIG_DIRS=/nowhere)
if(NOT DEFINED ENV{STEADFOLD_SHARED} AND IS_DIRECTORY ${PROJECT_SOURCE_DIR}/../shared)
  file(REAL_PATH ${PROJECT_SOURCE_DIR}/../shared shared)
  list(APPEND steadfold_test_environment STEADFOLD_SHARED=${shared})
endif()

# Allows more ranks than cores, root and containers. Open MPI does not search for networks, which would take 0.2 s per
# launch, and kills the rest of a failed job at once instead of after one or two seconds.
set(steadfold_mpi_environment
  OMPI_MCA_pml=ob1 OMPI_MCA_odls_base_sigkill_timeout=0
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_vader_single_copy_mechanism=none
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMP_NUM_THREADS=1)
# A list names memory that MPI libraries do not free. Reports name the library only if its module is still loaded.
if(STEADFOLD_SANITIZE MATCHES "address")
  list(APPEND steadfold_test_environment LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/leaks.txt
    # 12 frames, of 30: every malloc has to find them. Up to LLVM 16 the interceptor of __tls_get_addr takes some blocks of
    # threads' variables for those of an older glibc, by their addresses; LeakSanitizer crashes where it looks for them.
    ASAN_OPTIONS=malloc_context_size=12:intercept_tls_get_addr=0
    UBSAN_OPTIONS=print_stacktrace=1 STEADFOLD_TEST_LIMIT=200)
  add_library(steadfold_keep_modules OBJECT ${PROJECT_SOURCE_DIR}/tests/support/keep_modules.c)
  link_libraries(steadfold_keep_modules)
endif()
# Waiting ranks sleep. Launchers and ranks do not scan the PCI bus, which takes a quarter of the time of a small job in
# virtual machines. Sanitized tests get neither setting: sanitizers must be loaded first, and without the scan LeakSanitizer
# crashes in some programs.
if(STEADFOLD_MPI_NAMES AND NOT STEADFOLD_SANITIZE)
  list(APPEND steadfold_mpi_environment HWLOC_COMPONENTS=-pci,-linux:pci,-linux:io)
  add_library(steadfold_nap SHARED ${PROJECT_SOURCE_DIR}/tests/support/nap.c)
  target_link_libraries(steadfold_nap PRIVATE steadfold_options ${CMAKE_DL_LIBS})
  set_target_properties(steadfold_nap PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  list(APPEND steadfold_mpi_environment LD_PRELOAD=$<TARGET_FILE:steadfold_nap>)
  # Some runs use an MPI library that is slow and reorders completions.
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    set(library steadfold_mpi_library_${name})
    add_library(steadfold_unsteady_${name} SHARED ${PROJECT_SOURCE_DIR}/tests/support/unsteady.c)
    target_include_directories(steadfold_unsteady_${name} SYSTEM PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>) # launchers load it too: not linked with MPI
    target_compile_definitions(steadfold_unsteady_${name} PRIVATE
      $<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>)
    target_link_libraries(steadfold_unsteady_${name} PRIVATE steadfold_options Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(steadfold_unsteady_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  endforeach()
endif()

# Each test has its own session directory for Open MPI's launcher. Two launchers with one directory, as in /tmp, sometimes
# remove it while the other needs it ("unable to create the desired directory").
function(steadfold_own_session test)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/session/${test})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT
    OMPI_MCA_orte_tmpdir_base=${PROJECT_BINARY_DIR}/session/${test})
endfunction()

# The folders of the tests' files.
add_library(steadfold_tests_directory OBJECT ${PROJECT_SOURCE_DIR}/tests/support/directory.cpp)
target_compile_definitions(steadfold_tests_directory PRIVATE STEADFOLD_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
target_include_directories(steadfold_tests_directory PRIVATE ${PROJECT_SOURCE_DIR}/tests
  INTERFACE ${PROJECT_SOURCE_DIR}) # program/doctor/golden.hpp
target_link_libraries(steadfold_tests_directory PRIVATE steadfold_options)

# Tests take longer to compile than to run, so only the library has full optimisation. Without any optimisation, tests
# compile in two thirds of the time, but run five times as long.
set(steadfold_test_options ${steadfold_quick})
if(STEADFOLD_SANITIZE MATCHES "address") # whose checks take long to optimise
  set(steadfold_test_options -O0)
endif()

# Precompiled headers: headers take a quarter of the compile time of tests. Targets use them if their options are the same,
# or differ only in checks for undefined behaviour, which Clang accepts.
steadfold_precompile(steadfold_test_headers HEADERS ${PROJECT_SOURCE_DIR}/tests/support/common.hpp LIBRARIES GTest::gtest
  OPTIONS ${steadfold_test_options} ${CMAKE_CXX_COMPILE_OPTIONS_PIE}) # as in programs
if(TARGET steadfold_test_headers)
  set_target_properties(steadfold_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
endif()

# Checks for the library's part of a program only: undefined behaviour, and Clang's check for uses of ended stack frames,
# which takes a quarter of the time of the address sanitizer.
add_library(steadfold_defined INTERFACE)
target_compile_options(steadfold_defined INTERFACE -fno-sanitize=undefined
  $<$<CXX_COMPILER_ID:Clang>:-fsanitize-address-use-after-return=never>)

# Freed blocks of a megabyte are used again, with their old bytes. New memory from the system would be zero, and come page
# by page, which took longer than the tests in virtual machines.
set(steadfold_kept_memory
  GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1000000000:glibc.malloc.trim_threshold=1000000000)

# Programs of teams wait as programs over MPI do. This holds for sanitized programs, too, because they are linked with the
# code and need no preloading.
add_library(steadfold_naps OBJECT ${PROJECT_SOURCE_DIR}/tests/support/nap.c)
target_link_libraries(steadfold_naps PRIVATE steadfold_options INTERFACE ${CMAKE_DL_LIBS})

# steadfold_test(NAME [PUBLIC] [WHOLE] SOURCES file... LIBRARIES target...): a GoogleTest program. Every case is one test of
# ctest. WHOLE: the caller adds tests of the whole program. PUBLIC: the whole program is checked for undefined behaviour,
# because public headers are checked wherever they are compiled. In other tests only the library's part is checked, which
# saves a third of the compile time. Several files are compiled as one, in a third of the time. So each file keeps its names
# in a namespace that has the name of the file.
function(steadfold_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PUBLIC;WHOLE" "" "SOURCES;LIBRARIES")
  add_executable(${test} ${arg_SOURCES})
  set_target_properties(${test} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${test} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${test} PRIVATE ${steadfold_test_options})
  steadfold_unity(${test})
  target_link_libraries(${test} PRIVATE steadfold_options steadfold_tests_directory ${arg_LIBRARIES} GTest::gtest_main)
  steadfold_use_precompiled(${test} steadfold_test_headers)
  if(STEADFOLD_SANITIZE MATCHES "undefined" AND NOT arg_PUBLIC)
    target_link_libraries(${test} PRIVATE steadfold_defined) # last: the last option counts
  endif()
  if(arg_WHOLE)
    return()
  endif()
  gtest_discover_tests(${test} TEST_PREFIX ${test}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS core TIMEOUT 300 ENVIRONMENT "${steadfold_test_environment};${steadfold_kept_memory}")
endfunction()

# steadfold_mpi_test(NAME [STATIC] [PLAIN] SOURCES file... [RANKS p...] [RANKS_MPICH p...] [LIBRARIES target...]
# [OPTIONS flag...]): a program with its own main, run with each number of ranks. tests/mpi/launch.py reports each of its
# GoogleTest cases. PLAIN: the program has no cases, and every rank exits with status 0 on success. STATIC: the program is
# linked with the inner rooms. OPTIONS are for compiler and linker.
set(steadfold_default_ranks 1 3 5)
set(steadfold_default_ranks_mpich 1 3) # ranks of MPICH poll
function(steadfold_mpi_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;PLAIN" "" "SOURCES;LIBRARIES;OPTIONS;RANKS;RANKS_MPICH")
  set(static "")
  if(arg_STATIC)
    set(static STATIC)
  endif()
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    set(target mpi_${test}_${name})
    steadfold_mpi_test_program(${target} ${name} ${static} OUTPUT ${test} SOURCES ${arg_SOURCES}
      LIBRARIES ${arg_LIBRARIES} OPTIONS ${arg_OPTIONS})
    set_property(TARGET ${target} PROPERTY STEADFOLD_PLAIN ${arg_PLAIN})
    steadfold_ranks_of(ranks ${name} "${arg_RANKS}" "${arg_RANKS_MPICH}")
    foreach(p IN LISTS ranks)
      steadfold_add_run(mpi.${name}.${test}.p${p} ${name} ${p} ${target} ${test})
    endforeach()
  endforeach()
endfunction()

# The numbers of ranks of a test for one MPI library: the given numbers, or the usual ones.
function(steadfold_ranks_of variable name ranks ranks_mpich)
  if(name STREQUAL mpich)
    set(ranks ${ranks_mpich})
    set(usual ${steadfold_default_ranks_mpich})
  else()
    set(usual ${steadfold_default_ranks})
  endif()
  if(NOT ranks)
    set(ranks ${usual})
  endif()
  set(${variable} ${ranks} PARENT_SCOPE)
endfunction()

# steadfold_mpi_test_program(TARGET NAME [STATIC] OUTPUT file SOURCES file... LIBRARIES target... OPTIONS flag...): a test
# program for one MPI library.
function(steadfold_mpi_test_program target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "STATIC" "OUTPUT" "SOURCES;LIBRARIES;OPTIONS")
  set(suffix "")
  if(arg_STATIC)
    set(suffix _static)
    list(APPEND arg_LIBRARIES steadfold_capi_headers steadfold_prediction_headers)
  endif()
  add_executable(${target} ${arg_SOURCES})
  steadfold_unity(${target})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/${name})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(${target} PRIVATE ${steadfold_test_options} ${arg_OPTIONS})
  target_link_libraries(${target} PRIVATE steadfold_options steadfold_tests_directory steadfold_mpi_${name}${suffix}
    ${arg_LIBRARIES} GTest::gtest)
  target_link_options(${target} PRIVATE ${arg_OPTIONS})
  if(NOT arg_OPTIONS AND NOT arg_SOURCES MATCHES "[.]c$")
    steadfold_use_precompiled(${target} steadfold_test_headers)
  endif()
endfunction()

# Adds the run of a test program with a number of ranks. Cases are reported as mpi.NAME.SUBJECT.pP.CASE, for the subjects
# that follow or for all. A plain program is reported as a whole. PATTERN: mpi.NAME.{}.pP, perhaps with a word that
# distinguishes this run from others.
function(steadfold_add_run test name p target pattern)
  get_target_property(is_plain ${target} STEADFOLD_PLAIN)
  if(is_plain)
    steadfold_add_ranks(${test} ${name} ${p} ${target})
    return()
  endif()
  set(subjects "")
  if(ARGN)
    list(JOIN ARGN , subjects)
    set(subjects --subjects ${subjects})
  endif()
  steadfold_add_ranks(${test} ${name} ${p} ${target} BEFORE ${Python3_EXECUTABLE} -B
    ${PROJECT_SOURCE_DIR}/tests/mpi/launch.py ${subjects} --report ${PROJECT_BINARY_DIR}/reports/${test}.xml
    --name mpi.${name}.${pattern}.p${p} --)
  math(EXPR cost "${p} + 50") # the longest begin first
  set_tests_properties(${test} PROPERTIES TIMEOUT 900 COST ${cost})
endfunction()

# Adds the run of a program, given as a target or a file, with one MPI library, a number of ranks, and arguments. BEFORE
# word...: another program that starts it.
function(steadfold_add_ranks test name p target)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "" "BEFORE")
  if(TARGET ${target})
    set(target $<TARGET_FILE:${target}>)
  endif()
  add_test(NAME ${test} COMMAND ${arg_BEFORE} ${STEADFOLD_MPI_RUN_${name}} -n ${p} ${target} ${arg_UNPARSED_ARGUMENTS})
  set_tests_properties(${test} PROPERTIES LABELS mpi-${name} TIMEOUT 300
    ENVIRONMENT "${steadfold_test_environment};${steadfold_mpi_environment}")
  if(test MATCHES "team_test") # other threads of a rank that naps spin
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT STEADFOLD_TEST_NAP=20000)
  endif()
  steadfold_own_session(${test})
endfunction()

# steadfold_fortran_test(NAME file RANKS p... [MODULES file...] FAILS word text...): a program in Fortran and its modules,
# for one MPI library. FAILS: with each of these words as argument, the program must fail with the text after the word.
function(steadfold_fortran_test name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "RANKS;MODULES;FAILS")
  get_filename_component(test ${file} NAME_WE)
  set(program ${PROJECT_BINARY_DIR}/tests/${name}/fortran/${test})
  steadfold_fortran_program(mpi_${test}_${name} ${name} ${program} SOURCES ${arg_MODULES} ${file}
    LIBRARIES steadfold_fortran_reference
    OPTIONS -Og -g -fopenmp -fcheck=all,no-array-temps -Wall -Wno-uninitialized -Wno-maybe-uninitialized)
  foreach(p IN LISTS arg_RANKS)
    steadfold_add_ranks(mpi.${name}.${test}.p${p} ${name} ${p} ${program})
  endforeach()
  while(arg_FAILS)
    list(POP_FRONT arg_FAILS word text)
    steadfold_add_ranks(mpi.${name}.${test}.${word}.p2 ${name} 2 ${program} ${word})
    if(name STREQUAL "mpich") # its launcher may lose what a rank wrote before it ended all others
      set_tests_properties(mpi.${name}.${test}.${word}.p2 PROPERTIES WILL_FAIL TRUE)
    else()
      set_tests_properties(mpi.${name}.${test}.${word}.p2 PROPERTIES PASS_REGULAR_EXPRESSION "steadfold: .*${text}")
    endif()
  endwhile()
endfunction()

# steadfold_mpi_test_again(NAME SUFFIX RANKS p... [RANKS_MPICH p...] [ENVIRONMENT name=value...] [UNSTEADY seed]
# [SUBJECTS name...]): the same program in another environment, with all subjects or only these. UNSTEADY: with an MPI
# library that is slow and reorders completions, at random from the seed (tests/support/unsteady.c).
function(steadfold_mpi_test_again test suffix)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "UNSTEADY" "RANKS;RANKS_MPICH;ENVIRONMENT;SUBJECTS")
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    set(ranks ${arg_RANKS})
    if(name STREQUAL mpich)
      set(ranks ${arg_RANKS_MPICH})
    endif()
    set(pattern ${test}.${suffix})
    if(arg_SUBJECTS)
      set(pattern {}.${suffix})
    endif()
    if(STEADFOLD_SANITIZE AND NOT (test STREQUAL "team_test" AND suffix STREQUAL "funneled"))
      continue() # sanitizers run less
    endif()
    foreach(p IN LISTS ranks)
      set(again mpi.${name}.${test}.${suffix}.p${p})
      steadfold_add_run(${again} ${name} ${p} mpi_${test}_${name} ${pattern} ${arg_SUBJECTS})
      set_property(TEST ${again} APPEND PROPERTY ENVIRONMENT ${arg_ENVIRONMENT})
      if(arg_UNSTEADY) # the later of two values counts
        set_property(TEST ${again} APPEND PROPERTY ENVIRONMENT STEADFOLD_TEST_UNSTEADY=${arg_UNSTEADY}
          LD_PRELOAD=$<TARGET_FILE:steadfold_unsteady_${name}>:$<TARGET_FILE:steadfold_nap>)
      endif()
    endforeach()
  endforeach()
endfunction()

# steadfold_python_test(NAME SCRIPT file): a Python script of unittest cases, run with the Python for which the package is
# built. Without the package, the test is skipped.
function(steadfold_python_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT" "")
  if(NOT TARGET steadfold_python_reference)
    steadfold_script_test(${test} SCRIPT ${PROJECT_SOURCE_DIR}/tests/python/absent.py LABEL python)
    return()
  endif()
  set(environment ${steadfold_mpi_environment} STEADFOLD_BUILD=${PROJECT_BINARY_DIR} PYTHONPATH=${PROJECT_BINARY_DIR}/python
    STEADFOLD_PYTHON_REFERENCE=$<TARGET_FILE:steadfold_python_reference>)
  foreach(name IN LISTS STEADFOLD_MPI_NAMES)
    string(TOUPPER ${name} upper)
    list(APPEND environment STEADFOLD_MPIRUN_${upper}=${STEADFOLD_MPI_RUN_${name}})
  endforeach()
  set(Python3_EXECUTABLE ${STEADFOLD_PYTHON_EXECUTABLE})
  steadfold_script_test(${test} SCRIPT ${arg_SCRIPT} LABEL python ENVIRONMENT ${environment})
endfunction()

# steadfold_script_test(NAME SCRIPT file LABEL label [CASES name...] [ENVIRONMENT name=value...]): a Python script of
# unittest cases. CASES: only these cases.
function(steadfold_script_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT;LABEL" "CASES;ENVIRONMENT")
  add_test(NAME ${test} COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/script.py ${arg_SCRIPT} ${arg_CASES})
  set_tests_properties(${test} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 900 COST 100 # the longest, which begin first
    SKIP_REGULAR_EXPRESSION "\nOK \\(skipped="
    ENVIRONMENT "${steadfold_test_environment};${arg_ENVIRONMENT}")
  steadfold_own_session(${test})
endfunction()
