# How this project's own targets are made. Every flag here is PRIVATE: whoever links the library keeps
# their own warnings, machine level and sanitizers.

# Compiles through ccache where there is one and the caller has not chosen a launcher.
macro(liststore_use_ccache)
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(LISTSTORE_CCACHE ccache)
    mark_as_advanced(LISTSTORE_CCACHE)
    if(LISTSTORE_CCACHE)
      set(CMAKE_CXX_COMPILER_LAUNCHER "${LISTSTORE_CCACHE}")
    endif()
  endif()
endmacro()

# Language level, include roots, warnings, machine level and sanitizers of one of our targets.
function(liststore_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${target} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
    $<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wthread-safety>
    # GCC 12 sees overlapping copies in plain concatenations of std::string (PR 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    $<$<BOOL:${LISTSTORE_WERROR}>:-Werror>)
  # No path of the machine that compiles stands in what is shipped: two builds of one commit are the same bytes. The
  # second form is that of compiler caches, which make paths relative. Debuggers need the paths of other builds.
  file(RELATIVE_PATH source_from_build "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
  string(REGEX REPLACE "/$" "" source_from_build "${source_from_build}")
  foreach(map IN ITEMS "${PROJECT_SOURCE_DIR}/=" "${PROJECT_BINARY_DIR}/=build/" "${source_from_build}/=")
    if(NOT map STREQUAL "/=")
      target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-ffile-prefix-map=${map}>")
    endif()
  endforeach()
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    # There char has no sign of its own accord. What is tested on x86-64 has one.
    target_compile_options(${target} PRIVATE -fsigned-char)
  endif()
  if(LISTSTORE_MARCH)
    target_compile_options(${target} PRIVATE "-march=${LISTSTORE_MARCH}")
  endif()
  if(LISTSTORE_SANITIZE)
    target_compile_options(${target} PRIVATE
      "-fsanitize=${LISTSTORE_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer
      # Instrumented code makes GCC 12 see uninitialised members of an empty std::optional.
      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    if(LISTSTORE_SANITIZE MATCHES "address.*undefined")
      # What these would find AddressSanitizer finds as well. They were a fifth of the time to compile.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,object-size,vptr)
    endif()
    target_link_options(${target} PRIVATE "-fsanitize=${LISTSTORE_SANITIZE}")
  endif()
endfunction()

# Reading the headers is most of what a source takes to compile: sources that are compiled together share that.
# Names of anonymous namespaces are then unique in a folder, which the compiler sees to. The preset `dev`
# compiles one by one, which is quicker after a change, and shows whether a source includes what it uses.
function(liststore_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LISTSTORE_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(LISTSTORE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Types of anonymous namespaces are members of types that one source defines: GCC takes the sources
    # that are compiled together for headers.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# Of layers that every request passes through. GCC inlines less in units that it takes for large; eight sources
# together are no reason for that. Costs a tenth of the time to build, and gains 4 % of a request's instructions.
function(liststore_inlines)
  if(NOT LISTSTORE_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  foreach(name IN LISTS ARGN)
    string(REPLACE "/" "_" target "liststore_${name}")
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE --param=large-unit-insns=80000)
    endif()
  endforeach()
endfunction()

# liststore_layer(<name> LIBRARY <library> [USES <layers below>] [LINKS <libraries>] SOURCES <files>)
#
# One folder of engine/ as the object library liststore_<name>, with `_` for `/`. LIBRARY is what it ends
# up in: `liststore`, or one that stands on that; a layer of a library that is not in LISTSTORE_LIBRARIES is
# left out. USES repeats the folder's row in tools/check_layers.py;
# tests of a layer link what it may use and no more, so a forbidden dependency is a link error there.
# LINKS of a layer of `liststore` end up in the installed package files by themselves.
function(liststore_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LIBRARY" "USES;LINKS;SOURCES")
  if(NOT arg_LIBRARY)
    message(FATAL_ERROR "the layer ${name} belongs to no library")
  endif()
  list(TRANSFORM arg_SOURCES PREPEND "${name}/")
  string(REPLACE "/" "_" target "liststore_${name}")
  if(NOT arg_LIBRARY IN_LIST LISTSTORE_LIBRARIES)
    list(TRANSFORM arg_SOURCES PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
    set_property(GLOBAL APPEND PROPERTY liststore_sources_left_out ${arg_SOURCES})
    return()
  endif()
  add_library(${target} OBJECT ${arg_SOURCES})
  liststore_defaults(${target})
  liststore_unity(${target})
  if(BUILD_SHARED_LIBS)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
  endif()

  # Object files do not follow from one object library to the next: the layers and libraries that a
  # layer stands on are kept here, for liststore_link_layer.
  set(layers "${name}")
  set(links ${arg_LINKS})
  foreach(below IN LISTS arg_USES)
    get_property(layers_below GLOBAL PROPERTY liststore_layers_of_${below})
    get_property(links_below GLOBAL PROPERTY liststore_links_of_${below})
    list(APPEND layers ${layers_below})
    list(APPEND links ${links_below})
  endforeach()
  list(REMOVE_DUPLICATES layers)
  list(REMOVE_DUPLICATES links)
  target_link_libraries(${target} PUBLIC ${links})
  set_property(GLOBAL PROPERTY liststore_layers_of_${name} "${layers}")
  set_property(GLOBAL PROPERTY liststore_links_of_${name} "${links}")
  set_property(GLOBAL APPEND PROPERTY liststore_layers_in_${arg_LIBRARY} "${name}")
  set_property(GLOBAL APPEND PROPERTY liststore_links_in_${arg_LIBRARY} ${arg_LINKS})
endfunction()

# liststore_library(<name>): the layers of a library in one file, with no internals in its interface.
# Called behind the last of them; what the library links is for the caller to say.
function(liststore_library name)
  get_property(layers GLOBAL PROPERTY liststore_layers_in_${name})
  list(TRANSFORM layers REPLACE "/" "_")
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:liststore_\\1>" OUTPUT_VARIABLE objects)
  add_library(${name} ${objects})
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION}
    # Before 1.0 every minor version may change the binary interface.
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_compile_features(${name} PUBLIC cxx_std_20)
  if(LISTSTORE_SANITIZE)
    target_link_options(${name} PRIVATE "-fsanitize=${LISTSTORE_SANITIZE}")
  elseif(BUILD_SHARED_LIBS)
    # A source that is missing from the lists of engine/ is found here and not by a user.
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# Links `target` with one layer and everything that layer stands on.
function(liststore_link_layer target layer)
  get_property(layers GLOBAL PROPERTY liststore_layers_of_${layer})
  list(TRANSFORM layers REPLACE "/" "_")
  list(TRANSFORM layers PREPEND liststore_)
  target_link_libraries(${target} PRIVATE ${layers})
endfunction()

# liststore_part(<name> LAYER <layer> [USES <parts>] [LINKS <libraries>] SOURCES <files>)
#
# A part of the programs outside of engine/, as a static library that is built for what links it. LAYER is
# the highest layer that it sees, which whoever links the part links too (liststore_link_layer).
function(liststore_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LAYER" "USES;LINKS;SOURCES")
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${arg_SOURCES})
  liststore_defaults(${name})
  liststore_unity(${name})
  get_property(links GLOBAL PROPERTY liststore_links_of_${arg_LAYER})
  target_link_libraries(${name} PUBLIC ${arg_USES}
    PRIVATE ${links} ${arg_LINKS} absl::status absl::statusor absl::str_format)
endfunction()

# A source that no list names is a source that nobody compiles, and a test that nobody runs.
function(liststore_check_sources_are_listed)
  set(listed)
  liststore_collect_sources("${PROJECT_SOURCE_DIR}" listed)
  set(folders engine)
  if(TARGET liststore_programs)
    list(APPEND folders programs)
  endif()
  foreach(folder TESTS BENCH TOOLS)
    if(LISTSTORE_BUILD_${folder})
      string(TOLOWER ${folder} folder)
      list(APPEND folders ${folder})
    endif()
  endforeach()
  list(TRANSFORM folders REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/\\1/*.cc" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE present ${patterns})
  # Strangers' projects: built by their tests, outside of this build.
  list(FILTER present EXCLUDE REGEX "/tests/(install|fixtures|packages)/")
  get_property(left_out GLOBAL PROPERTY liststore_sources_left_out)
  list(REMOVE_ITEM present ${listed} ${left_out})
  if(present)
    list(JOIN present "\n  " present)
    set(kind WARNING)
    if(LISTSTORE_WERROR)
      set(kind FATAL_ERROR)
    endif()
    message(${kind} "Sources in no CMakeLists.txt:\n  ${present}")
  endif()
endfunction()

# Appends to `result` the absolute paths of all sources of all targets in a directory and below.
function(liststore_collect_sources directory result)
  set(sources ${${result}})
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(own ${target} SOURCES)
    foreach(source IN LISTS own)
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}" NORMALIZE)
      list(APPEND sources "${source}")
    endforeach()
  endforeach()
  get_property(below DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS below)
    liststore_collect_sources("${child}" sources)
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()
