# What libdovetail.so exports: what the public headers declare, and no more.
#
# The library's files are compiled with hidden symbols, and include each public
# header through a generated one, found first, that switches to visible symbols
# around it. So whatever a header declares is exported, without a mark at each
# declaration that could be forgotten. Who uses the library includes the
# headers themselves. What the headers include of others, and thereby make
# visible too, dovetail.map keeps local.

set(DOVETAIL_VISIBLE_DIR ${PROJECT_BINARY_DIR}/visible)

# dovetail_hide_symbols(TARGET): for each part of the library.
function(dovetail_hide_symbols target)
  set_target_properties(${target} PROPERTIES
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${target} BEFORE PRIVATE ${DOVETAIL_VISIBLE_DIR})
endfunction()

# dovetail_show_header(DIRECTORY HEADER): for each public header; it is
# DIRECTORY/HEADER, and included as HEADER.
function(dovetail_show_header directory header)
  set(visible ${DOVETAIL_VISIBLE_DIR}/${header})
  # Relative, so that a compiler cache can serve several checkouts.
  get_filename_component(from ${visible} DIRECTORY)
  file(MAKE_DIRECTORY ${from})
  file(REAL_PATH ${from} from)
  file(REAL_PATH ${directory} directory)
  file(RELATIVE_PATH path ${from} ${directory}/${header})
  file(CONFIGURE OUTPUT ${visible} @ONLY CONTENT [[
#pragma once
#pragma GCC visibility push(default)
#include "@path@"
#pragma GCC visibility pop
]])
endfunction()

file(GLOB_RECURSE headers CONFIGURE_DEPENDS
     RELATIVE ${PROJECT_SOURCE_DIR}/include
     ${PROJECT_SOURCE_DIR}/include/dovetail/*.h)
foreach(header IN LISTS headers)
  dovetail_show_header(${PROJECT_SOURCE_DIR}/include ${header})
endforeach()
