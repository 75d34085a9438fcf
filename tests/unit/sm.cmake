warpline_test(sm_test SOURCES sm/sm_fault_test.cpp sm/sm_issue_test.cpp sm/sm_ordering_test.cpp DEPENDS warpline::sm)
