warpline_test(base_test SOURCES base/byte_mask_test.cpp base/divider_test.cpp base/glob_test.cpp base/problem_test.cpp base/types_test.cpp
              DEPENDS warpline::base)
