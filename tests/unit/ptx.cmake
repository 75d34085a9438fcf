set(ptx_folder ${CMAKE_CURRENT_LIST_DIR}/ptx)
warpline_test(ptx_kernels_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/kernels_test.cpp DEPENDS warpline::programs)
