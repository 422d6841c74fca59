# The target liststore_static: the objects of the program linked a second time, with all libraries in it, libc too,
# as build/<preset>/static/liststore. It runs on every Linux of its processor, whatever libc is there; docs/packages.md.
# Built when it is asked for, and there where all libraries have a static one beside them.

# Whether `result`, the names of the libraries without a static one, is empty.
function(liststore_find_missing_archives result)
  set(missing)
  set(root)
  if(CMAKE_SYSROOT)
    set(root "--sysroot=${CMAKE_SYSROOT}")
  endif()
  # What the program links, and what these stand on: libedit on tinfo and bsd, bsd on md.
  foreach(name IN ITEMS c stdc++ ssl crypto crypt edit tinfo bsd md lz4 snappy yaml z zstd)
    # libstdc++ and libc lie where the compiler knows.
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" ${root} "-print-file-name=lib${name}.a"
      OUTPUT_VARIABLE place OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT EXISTS "${place}")
      list(APPEND missing "lib${name}.a")
    endif()
  endforeach()
  get_target_property(absl absl::strings IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS absl)
    get_target_property(place absl::strings IMPORTED_LOCATION_${configuration})
    if(NOT place MATCHES "\\.a$")
      list(APPEND missing "libabsl_strings.a")
    endif()
  endforeach()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

function(liststore_add_static_program)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT PROJECT_IS_TOP_LEVEL OR BUILD_SHARED_LIBS OR LISTSTORE_SANITIZE)
    return()
  endif()
  liststore_find_missing_archives(missing)
  if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "No static program: there is no ${missing}")
    return()
  endif()
  # Addresses that differ from start to start, where the objects were made for that.
  include(CheckCXXSourceCompiles)
  check_cxx_source_compiles("#ifndef __PIE__\n#error\n#endif\nint main() {}" LISTSTORE_OBJECTS_ARE_PIE)
  if(LISTSTORE_OBJECTS_ARE_PIE)
    set(kind -static-pie)
  else()
    set(kind -static)
  endif()

  # The map is for tools/package, which finds in it what is inside.
  set(folder "${PROJECT_BINARY_DIR}/static")
  add_executable(liststore_static EXCLUDE_FROM_ALL
    $<TARGET_OBJECTS:liststore_program> liststore/static_program.cc)
  liststore_defaults(liststore_static)
  # Always linked behind the other one, so that an older one is known to be of an earlier build.
  add_dependencies(liststore_static liststore_program)
  set_target_properties(liststore_static PROPERTIES
    OUTPUT_NAME liststore
    RUNTIME_OUTPUT_DIRECTORY "${folder}"
    CXX_LINKER_LAUNCHER "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/link_static"
    LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/link_static")
  get_target_property(libraries liststore_program LINK_LIBRARIES)
  target_link_libraries(liststore_static PRIVATE ${libraries})
  # The shared libedit brings what it stands on; the static one is followed by it.
  set_target_properties(liststore_static PROPERTIES LISTSTORE_IS_STATIC ON)
  target_link_libraries(liststore::edit INTERFACE $<$<BOOL:$<TARGET_PROPERTY:LISTSTORE_IS_STATIC>>:tinfo$<SEMICOLON>bsd$<SEMICOLON>md>)
  target_link_options(liststore_static PRIVATE
    ${kind} -s "LINKER:--build-id=sha1,-Map=${folder}/liststore.map")
endfunction()

liststore_add_static_program()
