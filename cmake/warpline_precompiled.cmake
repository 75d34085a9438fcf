# Headers that nearly every source includes are compiled once per set of options. What is compiled with that a compiler cache does not
# find again.
if(CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED CMAKE_DISABLE_PRECOMPILE_HEADERS)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()

# warpline_headers(NAME HEADERS headers... DEPENDS targets... [OPTIONS options...]): these, compiled as warpline_NAME, for
# `target_precompile_headers(... REUSE_FROM warpline_NAME)` of targets that are compiled with the same options.
function(warpline_headers name)
  cmake_parse_arguments(H "" "" "HEADERS;DEPENDS;OPTIONS" ${ARGN})
  add_library(warpline_${name} OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(warpline_${name} PRIVATE ${H_DEPENDS})
  target_compile_options(warpline_${name} PRIVATE ${H_OPTIONS})
  target_precompile_headers(warpline_${name} PRIVATE ${H_HEADERS})
endfunction()

# For the folders: hot is what runs are made of; cold is what is done once in a run, and where sanitizers are built in whatever tests
# spend little of their time in. Where little is inlined, GCC takes empty optional values for read.
set(warpline_cold_options $<$<CONFIG:Release>:-Os> $<$<AND:$<CONFIG:Release>,${gnu}>:-Wno-maybe-uninitialized> $<$<BOOL:${WARPLINE_SANITIZE}>:-O0>)
set(headers <algorithm> <array> <cstdint> <cstring> <deque> <functional> <limits> <map> <memory> <optional> <set> <string> <string_view>
            <tuple> <unordered_map> <utility> <variant> <vector>)
warpline_headers(hot_headers HEADERS ${headers} DEPENDS warpline_options)
warpline_headers(cold_headers HEADERS ${headers} DEPENDS warpline_options OPTIONS ${warpline_cold_options})
warpline_headers(systemc_headers HEADERS ${headers} <systemc> <tlm> DEPENDS warpline_options warpline::SystemC)
