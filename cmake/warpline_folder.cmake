# warpline_folder(NAME [SYSTEMC] [COLD] [SETUP] [DEPENDS targets...] [MODULE_DEPENDS targets...] [PUBLIC_HEADERS files...] [PACKAGES names...])
# One target per folder, warpline::NAME, of all sources below it that are in no folder with a CMakeLists.txt of its own. An include
# names the path of a header from the top of the checkout; tests/structure says who may include whom.
# Sources called *_module.cpp need SystemC: they make a second target, NAME_module, that depends on the first and on
# MODULE_DEPENDS. With SYSTEMC all sources do, and there is one target. COLD: what is done once in a run, and is compiled faster for that.
# SETUP: so it is where sanitizers are built in, as the tests spend little of their time in it.
# Installed are PUBLIC_HEADERS, which include each other and no other header of ours (install_headers.cmake). PACKAGES are the
# pkg-config names of the libraries that the sources need besides.
#
# Every folder adds to the lists WARPLINE_TARGETS (its targets from the bottom up), WARPLINE_HEADERS and WARPLINE_PACKAGES, and its
# targets to the umbrella of its top folder: warpline::rtl_models or warpline::platform.
function(warpline_folder name)
  cmake_parse_arguments(F "SYSTEMC;COLD;SETUP" "" "DEPENDS;MODULE_DEPENDS;PUBLIC_HEADERS;PACKAGES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB_RECURSE others ${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt)
  foreach(other ${others})
    cmake_path(GET other PARENT_PATH other)
    list(FILTER sources EXCLUDE REGEX "^${other}/")
  endforeach()
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(modules "")
  if(NOT F_SYSTEMC)
    set(modules ${sources})
    list(FILTER modules INCLUDE REGEX "_module\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_module\\.cpp$")
  endif()

  warpline_library(${name} "${sources}" ${F_DEPENDS})
  if(F_SYSTEMC)
    target_link_libraries(warpline_${name} PUBLIC warpline::SystemC)
  endif()
  if(sources)
    if(F_COLD OR (F_SETUP AND WARPLINE_SANITIZE))
      target_compile_options(warpline_${name} PRIVATE ${warpline_cold_options})
      target_precompile_headers(warpline_${name} REUSE_FROM warpline_cold_headers)
      # Larger units are compiled sooner, and inlined worse: parsing a trace takes a sixth more instructions in one.
      set_target_properties(warpline_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
    elseif(F_SYSTEMC)
      target_precompile_headers(warpline_${name} REUSE_FROM warpline_systemc_headers)
    else()
      target_precompile_headers(warpline_${name} REUSE_FROM warpline_hot_headers)
    endif()
  endif()
  if(modules OR F_MODULE_DEPENDS)
    warpline_library(${name}_module "${modules}" warpline::${name} ${F_MODULE_DEPENDS} warpline::SystemC)
    if(modules)
      target_precompile_headers(warpline_${name}_module REUSE_FROM warpline_systemc_headers)
    endif()
  endif()

  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE here)
  list(TRANSFORM F_PUBLIC_HEADERS PREPEND ${here}/)
  set_property(GLOBAL APPEND PROPERTY WARPLINE_HEADERS ${F_PUBLIC_HEADERS})
  set_property(GLOBAL APPEND PROPERTY WARPLINE_PACKAGES ${F_PACKAGES})
endfunction()

# warpline_library(NAME SOURCES dependencies...): warpline::NAME of these sources, or of none.
function(warpline_library name sources)
  if(sources)
    add_library(warpline_${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(warpline_${name} PRIVATE $<BUILD_INTERFACE:warpline_options>)
    set_target_properties(warpline_${name} PROPERTIES UNITY_BUILD ${WARPLINE_UNITY} UNITY_BUILD_BATCH_SIZE 12)
  else()
    add_library(warpline_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(warpline_${name} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(warpline_${name} ${scope} ${ARGN})
  target_compile_features(warpline_${name} ${scope} cxx_std_17)
  set_target_properties(warpline_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(warpline::${name} ALIAS warpline_${name})
  set_property(GLOBAL APPEND PROPERTY WARPLINE_TARGETS warpline_${name})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE here)
  if(here MATCHES "^(rtl_models|platform)/" AND NOT warpline_${name} IN_LIST WARPLINE_APPLICATIONS)
    target_link_libraries(warpline_${CMAKE_MATCH_1} INTERFACE warpline::${name})
  endif()
endfunction()

# What is built with the library, and no part of it: the command, what it calibrates, studies and profiles with, what joins it with other processes and serves them, and what stands in for CUDA's libraries.
set(WARPLINE_APPLICATIONS warpline_cli warpline_cuda warpline_study warpline_sweep warpline_sweep_report warpline_profile warpline_metrics warpline_series warpline_search warpline_mpi warpline_live warpline_vfio_user warpline_serve)

# What users link: warpline::rtl_models, every block and its module; warpline::platform, whole machines as well.
foreach(umbrella rtl_models platform)
  add_library(warpline_${umbrella} INTERFACE)
  set_target_properties(warpline_${umbrella} PROPERTIES EXPORT_NAME ${umbrella})
  add_library(warpline::${umbrella} ALIAS warpline_${umbrella})
endforeach()
target_link_libraries(warpline_platform INTERFACE warpline::rtl_models)
