warpline_test(tlp_test SOURCES tlp/tlp_rules_test.cpp tlp/tlp_split_test.cpp tlp/tlp_queue_test.cpp tlp/tlp_port_test.cpp tlp/tlp_traffic_test.cpp
                               tlp/config_space_test.cpp tlp/config_capabilities_test.cpp tlp/msix_test.cpp tlp/endpoint_requests_test.cpp tlp/endpoint_making_test.cpp tlp/endpoint_fuzz_test.cpp
              DEPENDS warpline::tlp)
