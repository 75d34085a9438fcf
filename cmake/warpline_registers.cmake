# warpline_registers(TARGET FILE.toml... [FOLDER name] [TABLES folder] [OWN])
# Makes of each description of registers, when it has changed:
#   TABLES/FILE.h          the model's table (C++); who links TARGET includes it. TABLES is warpline/regs, if not given
#   wl_FILE_regs.h         the driver's header (C or C++); who links TARGET_c includes it
#   FILE.md                the manual; its path is added to the target's property WARPLINE_MANUALS
# FOLDER: where below the binary folder's include/ they go; TARGET, if not given. OWN: the description is Warpline's own, and
# its table includes headers of the library as other sources of it do.
function(warpline_registers target)
  cmake_parse_arguments(R "OWN" "FOLDER;TABLES" "" ${ARGN})
  if(NOT R_FOLDER)
    set(R_FOLDER ${target})
  endif()
  if(NOT R_TABLES)
    set(R_TABLES warpline/regs)
  endif()
  set(root ${PROJECT_BINARY_DIR}/include)
  set(tables "")
  set(headers "")
  set(manuals "")
  foreach(file ${R_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    cmake_path(GET file STEM name)
    set(table ${root}/${R_FOLDER}/${R_TABLES}/${name}.h)
    set(header ${root}/${R_FOLDER}_c/wl_${name}_regs.h)
    set(manual ${PROJECT_BINARY_DIR}/manuals/${name}.md)
    file(MAKE_DIRECTORY ${root}/${R_FOLDER}/${R_TABLES} ${root}/${R_FOLDER}_c ${PROJECT_BINARY_DIR}/manuals)
    add_custom_command(OUTPUT ${table} ${header} ${manual}
      COMMAND warpline::regs_program ${file} $<$<BOOL:${R_OWN}>:--own> --table ${table} --header ${header} --manual ${manual}
      DEPENDS ${file} warpline::regs_program COMMAND_EXPAND_LISTS VERBATIM COMMENT "Registers of ${name}")
    list(APPEND tables ${table})
    list(APPEND headers ${header})
    list(APPEND manuals ${manual})
  endforeach()
  add_custom_target(${target}_files ALL DEPENDS ${tables} ${headers} ${manuals})

  add_library(${target} INTERFACE)
  if(R_OWN)  # installed with the library's other headers
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${root}/${R_FOLDER}>)
  else()
    target_sources(${target} INTERFACE FILE_SET HEADERS BASE_DIRS ${root}/${R_FOLDER} FILES ${tables})
  endif()
  target_link_libraries(${target} INTERFACE warpline::registers)
  target_compile_features(${target} INTERFACE cxx_std_17)
  set_target_properties(${target} PROPERTIES WARPLINE_MANUALS "${manuals}")
  add_library(${target}_c INTERFACE)
  target_sources(${target}_c INTERFACE FILE_SET HEADERS BASE_DIRS ${root}/${R_FOLDER}_c FILES ${headers})
  add_dependencies(${target} ${target}_files)
  add_dependencies(${target}_c ${target}_files)
endfunction()
