# Libraries of the system that come without a CMake package of their own on every system. Installed beside
# the package files, as who links the static server's library needs them too.

# liststore_find_library(<name> <header>): the library as the target liststore::<name>.
function(liststore_find_library name header)
  if(TARGET liststore::${name})
    return()
  endif()
  string(TOUPPER ${name} upper)
  find_path(LISTSTORE_${upper}_INCLUDE_DIR ${header} REQUIRED)
  find_library(LISTSTORE_${upper}_LIBRARY ${name} REQUIRED)
  mark_as_advanced(LISTSTORE_${upper}_INCLUDE_DIR LISTSTORE_${upper}_LIBRARY)
  add_library(liststore::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(liststore::${name} SYSTEM INTERFACE "${LISTSTORE_${upper}_INCLUDE_DIR}")
  target_link_libraries(liststore::${name} INTERFACE "${LISTSTORE_${upper}_LIBRARY}")
endfunction()
