warpline_test(crossbar_test SOURCES crossbar/crossbar_core_test.cpp crossbar/crossbar_test.cpp crossbar/crossbar_traffic_test.cpp
              DEPENDS warpline::crossbar)
