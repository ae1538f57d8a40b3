# All options for floating-point arithmetic and warnings. Targets get them only by linking steadfold_options.
include(CheckCXXSourceCompiles)

# Reordered, contracted or flushed arithmetic breaks every promise of the library, so a build with it stops here.
string(JOIN " " all_flags "${CMAKE_CXX_FLAGS}" "${CMAKE_C_FLAGS}" "${CMAKE_EXE_LINKER_FLAGS}"
  "${CMAKE_SHARED_LINKER_FLAGS}")
set(CMAKE_TRY_COMPILE_CONFIGURATION ${CMAKE_BUILD_TYPE})
unset(STEADFOLD_STRICT_ARITHMETIC CACHE)
set(CMAKE_REQUIRED_QUIET ON)
check_cxx_source_compiles([[
#include <cfloat>
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
#error fast-math
#elif defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error fast-math
#endif
static_assert(FLT_EVAL_METHOD == 0);
int main() {}
]] STEADFOLD_STRICT_ARITHMETIC)
unset(CMAKE_REQUIRED_QUIET)
if(NOT STEADFOLD_STRICT_ARITHMETIC OR all_flags MATCHES "-Ofast|-ffast-math|-funsafe-math|-ffp-contract=fast")
  message(FATAL_ERROR "fast-math or excess precision is on (sums would change with the compiler), "
    "remove it from CMAKE_CXX_FLAGS and the linker flags: ${all_flags}")
endif()

add_library(steadfold_options INTERFACE)
# C++20, or C++17 for a target with the property STEADFOLD_CXX17 (tests of the headers for it).
target_compile_features(steadfold_options INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:STEADFOLD_CXX17>>,cxx_std_17,cxx_std_20>)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
target_compile_options(steadfold_options INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion> # which GCC's -Wconversion leaves out
  -Wno-missing-field-initializers # designated initialisers leave members out on purpose
  # GCC 12 reports vector::insert at the end and const char* + std::string; asan looks for real ones.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${STEADFOLD_WERROR}>:-Werror>)
# The path is relative, so that ccache reuses a file in any folder.
file(RELATIVE_PATH list_of_headers ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/tests/support/system_headers.txt)
if(STEADFOLD_SANITIZE)
  target_compile_options(steadfold_options INTERFACE -fsanitize=${STEADFOLD_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  target_link_options(steadfold_options INTERFACE -fsanitize=${STEADFOLD_SANITIZE})
  target_compile_definitions(steadfold_options INTERFACE STEADFOLD_SANITIZED)
  # The address sanitizer finds these faults, too. The checks, at every access, take a third of the compile time.
  if(STEADFOLD_SANITIZE MATCHES "address,undefined")
    target_compile_options(steadfold_options INTERFACE -fno-sanitize=null,object-size,vptr
      $<$<CXX_COMPILER_ID:Clang>:-fsanitize-ignorelist=${list_of_headers}>)
  endif()
endif()

# Optimisation for code that takes longer to compile than to run. GCC compiles with -Og in a quarter less time than with
# -O1. Clang's -Og is only for debugging, so Clang gets -Os, for small wheels.
set(steadfold_quick $<$<CONFIG:Release>:$<IF:$<CXX_COMPILER_ID:GNU>,-Og,-Os>>)

# GCC collects garbage whenever its memory has doubled, which takes up to a tenth of its time. Start later if there are
# two gigabytes for each of as many compilers as processors.
if(PROJECT_IS_TOP_LEVEL)
  cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY) # in MiB
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR share "${memory} / ${processors}")
  if(share GREATER_EQUAL 2000)
    target_compile_options(steadfold_options INTERFACE
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>) # in KiB
  endif()
endif()

# steadfold_headers_of_system(TARGET SCOPE name...): for another processor or system, gives a target headers of
# /usr/include that do not depend on the processor, without the other headers of /usr/include.
function(steadfold_headers_of_system target scope)
  set(place ${PROJECT_BINARY_DIR}/headers/of_system/${target})
  file(MAKE_DIRECTORY ${place})
  foreach(name IN LISTS ARGN)
    file(CREATE_LINK /usr/include/${name} ${place}/${name} SYMBOLIC)
  endforeach()
  target_include_directories(${target} SYSTEM ${scope} ${place})
endfunction()

# Coverage, for the rooms only. Programs that link the rooms get the runtime of the counters. The options go to Clang's
# inner compiler by -Xclang, and paths are relative, so that ccache reuses a file in any folder: ccache hashes the folder
# beside -fprofile-instr-generate, and caches nothing beside -fprofile-list.
add_library(steadfold_coverage INTERFACE)
if(STEADFOLD_COVERAGE)
  target_compile_options(steadfold_coverage INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
    "SHELL:-Xclang -fprofile-instrument=clang" "SHELL:-Xclang -fcoverage-mapping" "SHELL:-Xclang -fprofile-list=${list_of_headers}")
  target_link_options(steadfold_options INTERFACE -fprofile-instr-generate)
endif()

# Headers take most of the time that a file takes to compile, so several files are compiled as one. Names in their
# anonymous namespaces must differ. Usual groups are so small that an edited file is compiled again in seconds. The preset
# large_groups has larger groups, which take an eighth less time in total.
set(STEADFOLD_UNITY 6 CACHE STRING "How many files of a library or program are compiled as one; 1: each by itself")
set(STEADFOLD_UNITY_OF_PROGRAMS "" CACHE STRING "The same of the command, examples, tests and the Python module")
if(NOT STEADFOLD_UNITY_OF_PROGRAMS)
  set(STEADFOLD_UNITY_OF_PROGRAMS ${STEADFOLD_UNITY})
endif()
# steadfold_unity(TARGET): compiles the sources of the target in groups.
function(steadfold_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${STEADFOLD_UNITY})
  # GCC takes types of a source file for types of a header if they are members of a header's templates.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# steadfold_precompile(TARGET HEADERS header... [OPTIONS flag...] [LIBRARIES target...]): headers that are compiled once, for
# each target that calls steadfold_use_precompiled(TARGET HEADERS_TARGET) and has the same flags. With a launcher such as
# ccache, headers are not precompiled, because ccache caches no files with precompiled headers.
function(steadfold_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;OPTIONS;LIBRARIES")
  file(WRITE ${PROJECT_BINARY_DIR}/headers/${target}.cpp "")
  add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/headers/${target}.cpp)
  target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  target_compile_options(${target} PRIVATE ${arg_OPTIONS})
  target_link_libraries(${target} PRIVATE steadfold_options ${arg_LIBRARIES})
endfunction()
function(steadfold_use_precompiled target headers)
  if(TARGET ${headers})
    target_precompile_headers(${target} REUSE_FROM ${headers})
  endif()
endfunction()
