# The library, static and shared, from the same object files.

# What the public headers include, and so what a program that uses them links.
set(DOVETAIL_PUBLIC_ABSL
  any_invocable core_headers function_ref status statusor)
# What only the library itself uses. A static library passes it on to the
# linker all the same.
set(DOVETAIL_PRIVATE_ABSL
  btree cord flat_hash_map flat_hash_set inlined_vector int128 optional span
  str_format strings time)

# dovetail_library(TARGET STATIC|SHARED)
function(dovetail_library target kind)
  add_library(${target} ${kind}
    $<TARGET_OBJECTS:dovetail_proto>
    $<TARGET_OBJECTS:dovetail_base>
    $<TARGET_OBJECTS:dovetail_index>
    $<TARGET_OBJECTS:dovetail_observers>
    $<TARGET_OBJECTS:dovetail_engine>)
  list(TRANSFORM DOVETAIL_PUBLIC_ABSL PREPEND absl:: OUTPUT_VARIABLE public)
  list(TRANSFORM DOVETAIL_PRIVATE_ABSL PREPEND absl:: OUTPUT_VARIABLE private)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/proto>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target}
    PUBLIC protobuf::libprotobuf ${public} Threads::Threads
    PRIVATE ${private} leveldb::leveldb OpenSSL::Crypto ZLIB::ZLIB
            PkgConfig::xxhash)
  # The objects have no language that the linker could be chosen by.
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME dovetail LINKER_LANGUAGE CXX)
  if(kind STREQUAL "SHARED")
    set(map ${PROJECT_SOURCE_DIR}/cmake/dovetail.map)
    target_link_options(${target} PRIVATE LINKER:--version-script=${map})
    if(NOT DOVETAIL_SANITIZE)
      target_link_options(${target} PRIVATE LINKER:--no-undefined)
    endif()
    # Before 1.0 a minor version may break the ABI, so it is in the name.
    set_target_properties(${target} PROPERTIES
      VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      LINK_DEPENDS ${map})
  endif()
endfunction()
