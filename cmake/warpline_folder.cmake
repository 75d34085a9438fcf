# warpline_folder(NAME [DEPENDS targets...] [MODULE_DEPENDS targets...] [PUBLIC_HEADERS files...] [PACKAGES names...])
# One target per folder, of all its sources. Its headers are reached as "warpline/NAME/x.h" through an
# include root that holds nothing but this folder, and that only targets which depend on it can see: an
# include that goes upward, or across to another block, does not compile.
# Sources called tlm_*.cpp and *_module.cpp need SystemC: they make a second target, NAME_module, that
# depends on the first and on MODULE_DEPENDS.
# Installed are all headers, or where named only PUBLIC_HEADERS. PACKAGES are the pkg-config names of the libraries that
# the sources need besides.
#
# Every folder adds to two lists: WARPLINE_TARGETS, its targets from the bottom up, and WARPLINE_PACKAGES.
function(warpline_folder name)
  cmake_parse_arguments(F "" "" "DEPENDS;MODULE_DEPENDS;PUBLIC_HEADERS;PACKAGES" ${ARGN})
  set(root ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${root}/warpline)
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/warpline/${name} SYMBOLIC)
  set(headers ${F_PUBLIC_HEADERS})
  if(NOT headers)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  endif()
  list(TRANSFORM headers PREPEND ${root}/warpline/${name}/)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  set(modules ${sources})
  list(FILTER modules INCLUDE REGEX "/(tlm_[a-z_]*|[a-z0-9_]*_module)\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "/(tlm_[a-z_]*|[a-z0-9_]*_module)\\.cpp$")
  if(sources)
    add_library(warpline_${name} STATIC ${sources})
    target_link_libraries(warpline_${name} PUBLIC ${F_DEPENDS} PRIVATE $<BUILD_INTERFACE:warpline_options>)
    target_sources(warpline_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
    target_compile_features(warpline_${name} PUBLIC cxx_std_17)
  else()
    add_library(warpline_${name} INTERFACE)
    target_link_libraries(warpline_${name} INTERFACE ${F_DEPENDS})
    target_sources(warpline_${name} INTERFACE FILE_SET HEADERS BASE_DIRS ${root} FILES ${headers})
    target_compile_features(warpline_${name} INTERFACE cxx_std_17)
  endif()
  set_target_properties(warpline_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(warpline::${name} ALIAS warpline_${name})
  set_property(GLOBAL APPEND PROPERTY WARPLINE_TARGETS warpline_${name})
  set_property(GLOBAL APPEND PROPERTY WARPLINE_PACKAGES ${F_PACKAGES})
  if(modules)
    add_library(warpline_${name}_module STATIC ${modules})
    target_link_libraries(warpline_${name}_module PUBLIC warpline::${name} ${F_MODULE_DEPENDS} PkgConfig::SYSTEMC
                                                  PRIVATE $<BUILD_INTERFACE:warpline_options>)
  elseif(F_MODULE_DEPENDS)
    add_library(warpline_${name}_module INTERFACE)
    target_link_libraries(warpline_${name}_module INTERFACE warpline::${name} ${F_MODULE_DEPENDS})
  endif()
  if(TARGET warpline_${name}_module)
    set_target_properties(warpline_${name}_module PROPERTIES EXPORT_NAME ${name}_module)
    add_library(warpline::${name}_module ALIAS warpline_${name}_module)
    set_property(GLOBAL APPEND PROPERTY WARPLINE_TARGETS warpline_${name}_module)
  endif()
endfunction()
