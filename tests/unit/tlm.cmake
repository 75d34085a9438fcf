warpline_systemc_test(protocol_checker_test
  SOURCES fabric/protocol_bench.cpp fabric/protocol_legal.cpp fabric/protocol_order_faults.cpp
          fabric/protocol_payload_faults.cpp fabric/protocol_time_faults.cpp fabric/protocol_checker_test.cpp
  DEPENDS warpline_protocol_checker)
warpline_systemc_test(tlm_time_test SOURCES fabric/tlm_time_test.cpp fabric/engine_module_test.cpp DEPENDS warpline::fabric_module)
warpline_systemc_test(socket_foreign_test SOURCES fabric/foreign_modules.cpp fabric/socket_foreign_test.cpp
                      DEPENDS warpline::l1_lg_module warpline::crossbar_module warpline::l2_module
                              warpline::dram_module warpline::pcie_module warpline_protocol_checker)
warpline_systemc_test(tlm_end_test SOURCES fabric/tlm_end_test.cpp DEPENDS warpline::fabric_module)
