warpline_test(gpu_test SOURCES gpu/tick_modes_test.cpp gpu/chase_latency_test.cpp gpu/bandwidth_test.cpp
              gpu/atomics_test.cpp gpu/cache_registers_test.cpp gpu/policies_test.cpp gpu/random_shapes_test.cpp gpu/fetch_test.cpp gpu/jitter_test.cpp gpu/cctl_state_test.cpp gpu/set_aside_test.cpp gpu/trace_modifiers_test.cpp
              DEPENDS warpline::gpu)
warpline_systemc_test(gpu_systemc_test SOURCES gpu/systemc_test.cpp gpu/system_carriers_test.cpp gpu/foreign_slice_test.cpp gpu/checked_hops_test.cpp
                                               fabric/foreign_modules.cpp
                      DEPENDS warpline::gpu_module warpline_protocol_checker)
warpline_systemc_test(memory_subsystem_test SOURCES gpu/memory_subsystem_test.cpp gpu/address_map_test.cpp fabric/foreign_modules.cpp
                      DEPENDS warpline::gpu_module warpline_protocol_checker)
warpline_test(system_test SOURCES gpu/system_test.cpp gpu/peer_test.cpp gpu/mmio_stream_test.cpp gpu/launch_gpus_test.cpp DEPENDS warpline::gpu)
find_package(nlohmann_json REQUIRED)
warpline_test(observe_test SOURCES gpu/observe_modes_test.cpp gpu/observe_wave_test.cpp gpu/observe_timeline_test.cpp
                                   ${PROJECT_SOURCE_DIR}/tests/support/vcd_reader.cpp ${PROJECT_SOURCE_DIR}/tests/support/timeline_reader.cpp
              DEPENDS warpline::gpu nlohmann_json::nlohmann_json)
target_include_directories(observe_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
warpline_systemc_test(interpose_test SOURCES gpu/interpose_test.cpp fabric/foreign_modules.cpp
                      DEPENDS warpline::gpu_module)
warpline_test(devices_test SOURCES gpu/devices_test.cpp gpu/handshake_test.cpp gpu/device_stream_test.cpp DEPENDS warpline::host)
target_compile_definitions(devices_test PRIVATE WARPLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
warpline_test(inbound_test SOURCES gpu/inbound_test.cpp gpu/inbound_order_test.cpp gpu/gpu_rings_test.cpp gpu/inbound_progress_test.cpp DEPENDS warpline::host)
target_compile_definitions(inbound_test PRIVATE WARPLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
warpline_systemc_test(devices_systemc_test SOURCES gpu/devices_carriers_test.cpp gpu/device_stream_carriers_test.cpp fabric/foreign_modules.cpp DEPENDS warpline::gpu_module warpline::host)
