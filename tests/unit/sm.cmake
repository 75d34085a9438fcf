warpline_test(sm_test SOURCES sm/sm_fault_test.cpp DEPENDS warpline::sm)
