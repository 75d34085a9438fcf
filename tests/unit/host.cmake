warpline_systemc_test(host_cpu_test SOURCES host/software_test.cpp host/processors_bus_test.cpp DEPENDS warpline::host_module)
target_include_directories(host_cpu_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR}/tests/unit/peer)
