warpline_test(l1_lg_test SOURCES l1_lg/l1_lg_cctl_test.cpp l1_lg/l1_lg_control_test.cpp l1_lg/l1_lg_core_test.cpp l1_lg/l1_lg_hints_test.cpp l1_lg/l1_lg_interleaving_test.cpp l1_lg/l1_lg_loose_test.cpp
              l1_lg/l1_lg_test.cpp DEPENDS warpline::l1_lg)
