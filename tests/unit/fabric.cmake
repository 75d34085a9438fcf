warpline_test(fabric_test SOURCES fabric/arbiter_test.cpp fabric/arrivals_test.cpp fabric/atomics_test.cpp fabric/calendar_test.cpp fabric/channel_test.cpp fabric/clock_test.cpp
                                  fabric/engine_test.cpp fabric/memory_image_test.cpp fabric/probe_outside_test.cpp fabric/probe_test.cpp fabric/request_test.cpp fabric/run_in_step_test.cpp fabric/wait_graph_test.cpp
              DEPENDS warpline::fabric)
