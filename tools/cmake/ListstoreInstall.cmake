# Installs the library, include/liststore, and what find_package and pkg-config look for.
include(CMakePackageConfigHelpers)

install(TARGETS liststore EXPORT liststoreTargets FILE_SET HEADERS)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/liststore")
install(EXPORT liststoreTargets NAMESPACE liststore:: DESTINATION "${package_dir}")
# A file of its own: who wants lists alone needs nothing of what the server stands on.
if(TARGET liststore_cql_server)
  install(TARGETS liststore_cql_server EXPORT liststoreCqlServerTargets FILE_SET HEADERS)
  install(EXPORT liststoreCqlServerTargets NAMESPACE liststore:: DESTINATION "${package_dir}")
  # Optional: who builds single targets and installs need not have built this one.
  install(TARGETS liststore_testing EXPORT liststoreTestingTargets OPTIONAL FILE_SET HEADERS)
  install(EXPORT liststoreTestingTargets NAMESPACE liststore:: DESTINATION "${package_dir}")
endif()
install(FILES "${CMAKE_CURRENT_LIST_DIR}/ListstoreFindLibrary.cmake" DESTINATION "${package_dir}")

# A static library passes its own dependencies on to the final link; a shared one has resolved them.
get_property(private_links GLOBAL PROPERTY liststore_private_links)
get_property(public_links GLOBAL PROPERTY liststore_public_links)
get_target_property(kind liststore TYPE)
set(LISTSTORE_FIND_PRIVATE_DEPENDENCIES "")
set(LISTSTORE_FIND_SERVER_DEPENDENCIES "")
if(kind STREQUAL "STATIC_LIBRARY")
  string(APPEND LISTSTORE_FIND_PRIVATE_DEPENDENCIES
    "include(\"\${CMAKE_CURRENT_LIST_DIR}/ListstoreFindLibrary.cmake\")\n"
    "liststore_find_library(zstd zstd.h)\n")
  string(APPEND LISTSTORE_FIND_SERVER_DEPENDENCIES
    "liststore_find_library(crypt crypt.h)\n"
    "  liststore_find_library(lz4 lz4.h)\n"
    "  liststore_find_library(snappy snappy.h)\n"
    "  find_dependency(OpenSSL 3 COMPONENTS SSL Crypto)\n")
  if("OpenSSL::Crypto" IN_LIST private_links)
    string(APPEND LISTSTORE_FIND_PRIVATE_DEPENDENCIES "find_dependency(OpenSSL COMPONENTS Crypto)\n")
  endif()
  if("Threads::Threads" IN_LIST private_links)
    string(APPEND LISTSTORE_FIND_PRIVATE_DEPENDENCIES "find_dependency(Threads)\n")
  endif()
endif()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/liststoreConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/liststoreConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/liststoreConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/liststoreConfig.cmake"
  "${PROJECT_BINARY_DIR}/liststoreConfigVersion.cmake" DESTINATION "${package_dir}")

# CMake's name of a dependency -> pkg-config's.
function(liststore_pkg_config_names result)
  set(names ${ARGN})
  list(REMOVE_ITEM names Threads::Threads)
  list(TRANSFORM names REPLACE "^absl::" "absl_")
  list(TRANSFORM names REPLACE "^OpenSSL::Crypto$" "libcrypto")
  list(TRANSFORM names REPLACE "^liststore::zstd$" "libzstd")
  if(names MATCHES "::")
    message(FATAL_ERROR "liststore.pc: no pkg-config name is known for one of: ${names}")
  endif()
  list(JOIN names ", " names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()
liststore_pkg_config_names(LISTSTORE_PC_REQUIRES ${public_links})
liststore_pkg_config_names(LISTSTORE_PC_REQUIRES_PRIVATE ${private_links})
# Found from the file's own place, so that an installed tree can be moved.
file(RELATIVE_PATH LISTSTORE_PC_PREFIX
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" LISTSTORE_PC_PREFIX "${LISTSTORE_PC_PREFIX}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/liststore.pc.in" "${PROJECT_BINARY_DIR}/liststore.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/liststore.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET liststore_program)
  install(TARGETS liststore_program)
  # Where systemd looks for units of what is not a package's; it needs no library.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    install(FILES "${PROJECT_BINARY_DIR}/liststore.service" DESTINATION lib/systemd/system)
  endif()
endif()
