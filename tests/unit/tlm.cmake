warpline_systemc_test(protocol_checker_test
  SOURCES fabric/protocol_bench.cpp fabric/protocol_legal.cpp fabric/protocol_order_faults.cpp
          fabric/protocol_payload_faults.cpp fabric/protocol_time_faults.cpp fabric/protocol_checker_test.cpp
  DEPENDS warpline_protocol_checker)
