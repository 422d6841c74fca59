# Half of the time in which a program starts goes into loading Abseil's shared libraries, some thirty of
# them. Distributions that ship both kinds point CMake to the shared ones.

# Points the absl:: targets of this directory to the static libraries beside their shared ones, all of
# them or none: a program that has both kinds has two of everything.
function(liststore_use_static_absl)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX "^absl::")
  set(places)
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    if(NOT configurations)
      continue()  # headers alone
    endif()
    foreach(configuration IN LISTS configurations)
      get_target_property(shared ${target} IMPORTED_LOCATION_${configuration})
      if(NOT shared MATCHES "\\.so(\\.[0-9]+)*$")
        continue()
      endif()
      string(REGEX REPLACE "\\.so(\\.[0-9]+)*$" ".a" static "${shared}")
      if(NOT EXISTS "${static}")
        message(STATUS "Abseil stays shared: there is no ${static}")
        return()
      endif()
      list(APPEND places "${target}|${configuration}|${static}")
    endforeach()
  endforeach()
  foreach(place IN LISTS places)
    string(REPLACE "|" ";" place "${place}")
    list(POP_FRONT place target configuration static)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${static}")
  endforeach()
endfunction()
