warpline_systemc_test(protocol_checker_test
  SOURCES fabric/protocol_bench.cpp fabric/protocol_legal.cpp fabric/protocol_order_faults.cpp
          fabric/protocol_payload_faults.cpp fabric/protocol_time_faults.cpp fabric/protocol_checker_test.cpp
  DEPENDS warpline_protocol_checker)
# A broken rule on a checked binding fails the process, whatever its tests look at.
add_executable(checked_binding_fails fabric/checked_binding_fails.cpp ${PROJECT_SOURCE_DIR}/tests/support/systemc_main.cpp)
target_link_libraries(checked_binding_fails PRIVATE warpline_protocol_checker warpline_options GTest::gtest GTest::gmock)
add_test(NAME CheckedBinding.FailsAProcessThatBreaksTheProtocol COMMAND checked_binding_fails)
set_tests_properties(CheckedBinding.FailsAProcessThatBreaksTheProtocol PROPERTIES WILL_FAIL ON)
warpline_systemc_test(tlm_time_test SOURCES fabric/tlm_time_test.cpp fabric/engine_module_test.cpp DEPENDS warpline::fabric_module)
warpline_systemc_test(socket_foreign_test SOURCES fabric/foreign_modules.cpp fabric/socket_foreign_test.cpp
                      DEPENDS warpline::l1_lg_module warpline::crossbar_module warpline::l2_module
                              warpline::dram_module warpline::pcie_module warpline_protocol_checker)
warpline_systemc_test(control_sockets_test SOURCES fabric/control_sockets_test.cpp
                      DEPENDS warpline::texture_module warpline::l2_module warpline::dram_module warpline::pcie_module)
warpline_systemc_test(tlm_end_test SOURCES fabric/tlm_end_test.cpp DEPENDS warpline::fabric_module warpline_protocol_checker)
warpline_systemc_test(tlm_pause_test SOURCES fabric/tlm_pause_test.cpp DEPENDS warpline::fabric_module)
warpline_systemc_test(socket_unbound_test SOURCES fabric/socket_unbound_test.cpp
                      DEPENDS warpline::l2_module warpline::dram_module)

# Loosely timed access among foreign modules.
foreach(part access blocking debug direct quantum)
  warpline_systemc_test(loose_${part}_test SOURCES fabric/loose_modules.cpp fabric/loose_${part}_test.cpp
                        DEPENDS warpline::l1_lg_module warpline::texture_module warpline::constant_module
                                warpline::crossbar_module warpline::l2_module warpline::dram_module
                                warpline::pcie_module warpline_protocol_checker)
endforeach()

# A wrong bus width is found by the compiler, which says what is wrong.
foreach(width 256 32)
  add_test(NAME SocketBusWidth.${width}
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++17 -fsyntax-only -DWIDTH=${width} -DSC_CPLUSPLUS=201703L
            "-I$<JOIN:$<TARGET_PROPERTY:warpline_fabric,INTERFACE_INCLUDE_DIRECTORIES>,;-I>"
            ${CMAKE_CURRENT_SOURCE_DIR}/fabric/bus_width.cpp
    COMMAND_EXPAND_LISTS)
endforeach()
set_tests_properties(SocketBusWidth.32 PROPERTIES PASS_REGULAR_EXPRESSION "256 bits wide")
warpline_systemc_test(pins_test SOURCES fabric/pin_rules_test.cpp fabric/pin_foreign_test.cpp fabric/pin_faults_test.cpp fabric/pin_rest_test.cpp fabric/pin_again_test.cpp
                      DEPENDS warpline::fabric_module)
warpline_systemc_test(pin_sockets_test SOURCES fabric/pin_sockets_test.cpp
                      DEPENDS warpline::l2_module warpline::dram_module warpline_protocol_checker)
