# liststore::shared: the shared library that is installed beside the static one.
if(NOT TARGET liststore::shared)
  get_filename_component(liststore_lib "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
  get_filename_component(liststore_include "${liststore_lib}/../include" ABSOLUTE)
  add_library(liststore::shared SHARED IMPORTED)
  set_target_properties(liststore::shared PROPERTIES
    IMPORTED_LOCATION "${liststore_lib}/libliststore.so.@VERSION@"
    IMPORTED_SONAME "@SONAME@"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_INCLUDE_DIRECTORIES "${liststore_include}"
    INTERFACE_LINK_LIBRARIES "absl::status;absl::statusor")
endif()
