warpline_systemc_test(host_cpu_test SOURCES host/software_test.cpp host/processors_bus_test.cpp host/mappings_test.cpp host/checked_sockets_test.cpp fabric/foreign_modules.cpp
                      DEPENDS warpline::host_module warpline_protocol_checker)
target_include_directories(host_cpu_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tests/unit/peer)
