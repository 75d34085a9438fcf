warpline_test(peer_test SOURCES peer/queue_pair_test.cpp peer/command_test.cpp DEPENDS warpline::peer)
warpline_test(driver_test SOURCES peer/bring_up_test.cpp peer/commands_test.cpp peer/driver_misuse_test.cpp peer/exactly_once_test.cpp peer/faults_test.cpp peer/registers_test.cpp peer/random_access_test.cpp peer/refused_writes_test.cpp peer/tick_modes_test.cpp peer/twenty_lines.c peer/twenty_lines_test.cpp peer/two_peers_test.cpp peer/resets_test.cpp peer/interrupts_test.cpp peer/mappings_test.cpp peer/machine_test.cpp peer/switched_off_test.cpp DEPENDS warpline::host)
warpline_test(placed_rings_test SOURCES peer/placed_rings_test.cpp DEPENDS warpline::driver)
target_include_directories(driver_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/support)
