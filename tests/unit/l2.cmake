warpline_test(l2_test SOURCES l2/l2_control_test.cpp l2/l2_core_test.cpp l2/l2_error_test.cpp l2/l2_hints_test.cpp l2/l2_slice_test.cpp l2/l2_flush_test.cpp DEPENDS warpline::l2)
