warpline_test(sm_test SOURCES sm/coalescer_test.cpp sm/sm_fault_test.cpp sm/sm_issue_test.cpp sm/sm_memory_test.cpp sm/sm_ordering_test.cpp sm/sm_parts_test.cpp DEPENDS warpline::sm)
