# steadfold_room(NAME SEES room...): a room of src/ and the rooms that its code may include.
#
# Code writes #include "order/index.hpp". Every room gets an include directory that has only a link to the room, so only
# the rooms under SEES are found.
#   steadfold_NAME_headers    to include the room and all rooms that it sees
#   steadfold_NAME            to link the room, too: a static library, so that the tests of one room need no other room
# Files named mpi*.cpp, or in a folder mpi, are left out, because they are compiled once per MPI library.
function(steadfold_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SEES")
  set(source_directory ${PROJECT_SOURCE_DIR}/src/${room})
  set(include_directory ${PROJECT_BINARY_DIR}/rooms/${room})
  file(MAKE_DIRECTORY ${include_directory})
  file(CREATE_LINK ${source_directory} ${include_directory}/${room} SYMBOLIC)

  add_library(steadfold_${room}_headers INTERFACE)
  target_include_directories(steadfold_${room}_headers INTERFACE ${include_directory})
  list(TRANSFORM arg_SEES REPLACE "(.+)" "steadfold_\\1_headers" OUTPUT_VARIABLE headers)
  list(TRANSFORM arg_SEES PREPEND steadfold_ OUTPUT_VARIABLE libraries)
  target_link_libraries(steadfold_${room}_headers INTERFACE ${headers})

  file(GLOB sources CONFIGURE_DEPENDS ${source_directory}/*.cpp ${source_directory}/*/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/mpi([^/]*|/[^/]*)\\.cpp$")
  if(NOT sources)
    add_library(steadfold_${room} INTERFACE)
    target_link_libraries(steadfold_${room} INTERFACE steadfold_${room}_headers ${libraries})
    return()
  endif()
  add_library(steadfold_${room} STATIC ${sources})
  # So that a linker can leave out functions that a program does not call (--gc-sections).
  target_compile_options(steadfold_${room} PRIVATE -ffunction-sections)
  target_link_libraries(steadfold_${room} PUBLIC steadfold_${room}_headers ${libraries} PRIVATE steadfold_options
    steadfold_coverage)
  set_property(GLOBAL APPEND PROPERTY STEADFOLD_CORE_OBJECTS $<TARGET_OBJECTS:steadfold_${room}>)
endfunction()
