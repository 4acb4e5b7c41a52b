# What every target of ours is compiled with, and what the components share.

add_library(dovetail_options INTERFACE)
target_compile_features(dovetail_options INTERFACE cxx_std_20)
target_include_directories(dovetail_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/proto>)

add_library(dovetail_warnings INTERFACE)
target_compile_options(dovetail_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # g++ 12 sees an overlap in "literal" + std::string that is not there.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(dovetail_warnings INTERFACE -Werror)
endif()

if(CMAKE_UNITY_BUILD)
  # In a batch of files g++ takes what is private to one for a header's.
  target_compile_options(dovetail_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()

if(DOVETAIL_SANITIZE)
  add_compile_options(-fsanitize=${DOVETAIL_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${DOVETAIL_SANITIZE})
  # Instrumented code makes g++ warn where it does not otherwise.
  target_compile_options(dovetail_warnings INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
    $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()

# dovetail_seed_bugs(TARGET): lets the sources that ask for seeded bugs have
# them, and leaves how the others are compiled alone; see base/seeded_bug.h.
function(dovetail_seed_bugs target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    if(NOT IS_ABSOLUTE ${source})
      file(STRINGS ${source} asks REGEX "base/seeded_bug.h")
      if(asks)
        set_property(SOURCE ${source} APPEND PROPERTY
                     COMPILE_DEFINITIONS DOVETAIL_SEEDED_BUGS)
      endif()
    endif()
  endforeach()
endfunction()

# dovetail_component(TARGET): one folder of the library.
function(dovetail_component target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target}
    PUBLIC dovetail_options protobuf::libprotobuf absl::status absl::statusor
           absl::strings absl::str_format absl::flat_hash_map
           absl::flat_hash_set absl::btree absl::inlined_vector absl::span
           absl::time Threads::Threads
    PRIVATE dovetail_warnings)
  if(DOVETAIL_SEEDED_BUGS)
    dovetail_seed_bugs(${target})
  endif()
  if(NOT target STREQUAL "dovetail_proto")
    add_dependencies(${target} dovetail_proto)
  endif()
endfunction()
