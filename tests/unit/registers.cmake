# The generator, and whether what it makes of a description agrees: table, header and manual.
set(here ${CMAKE_CURRENT_SOURCE_DIR}/registers)
warpline_registers(every_kind_registers ${here}/every_kind.toml)
set(lists "")
foreach(block peer every_kind)
  if(block STREQUAL peer)
    set(include ${PROJECT_BINARY_DIR}/include/regs)
  else()
    set(include ${PROJECT_BINARY_DIR}/include/every_kind_registers)
  endif()
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${block}_names)
  set(table ${include}/warpline/regs/${block}.h)
  set(header ${include}_c/wl_${block}_regs.h)
  add_custom_command(OUTPUT ${list}.c ${list}.inc
    COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DHEADER=${header} -DNAME=${block} -DOUT=${list} -P ${here}/list_names.cmake
    DEPENDS ${table} ${header} ${here}/list_names.cmake VERBATIM)
  list(APPEND lists ${list}.c ${list}.inc)
endforeach()
warpline_test(registers_test SOURCES registers/agreement_test.cpp registers/described_names.cpp registers/manual_tables.cpp registers/reader_test.cpp registers/reader_fuzz_test.cpp registers/rules_test.cpp registers/program_test.cpp ${lists}
              DEPENDS warpline_registers warpline::regs warpline::regs_c every_kind_registers every_kind_registers_c)
target_include_directories(registers_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_compile_definitions(registers_test PRIVATE WARPLINE_MANUALS="${PROJECT_BINARY_DIR}/manuals"
                                                  WARPLINE_REGS_PROGRAM="$<TARGET_FILE:warpline_regs_program>")
add_dependencies(registers_test warpline_regs_program)
