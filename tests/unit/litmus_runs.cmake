warpline_test(litmus_runs_test SOURCES litmus/machine_test.cpp litmus/outcomes_test.cpp litmus/given_runs_test.cpp
                                       litmus/mechanisms_test.cpp litmus/given_weak_test.cpp
              DEPENDS warpline::litmus)
warpline_test(litmus_command_test SOURCES litmus/litmus_command_test.cpp DEPENDS warpline::cli nlohmann_json::nlohmann_json)
warpline_systemc_test(litmus_transports_test SOURCES litmus/transports_test.cpp DEPENDS warpline::litmus warpline::gpu_module)
