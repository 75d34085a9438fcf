set(ptx_folder ${CMAKE_CURRENT_LIST_DIR}/ptx)
warpline_test(ptx_kernels_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/kernels_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_language_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/samples.cpp ${ptx_folder}/language_test.cpp
              DEPENDS warpline::programs)
warpline_test(ptx_fuzz_test SOURCES ${ptx_folder}/samples.cpp ${ptx_folder}/fuzz_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_integer_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/opcode_harness.cpp ${ptx_folder}/integer_opcode_test.cpp
              DEPENDS warpline::programs)
warpline_test(ptx_float_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/opcode_harness.cpp ${ptx_folder}/float_opcode_test.cpp
              DEPENDS warpline::programs)
warpline_test(ptx_diagnostics_test SOURCES ${ptx_folder}/diagnostics_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_policies_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/policies_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_async_copy_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/async_copy_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_texture_test SOURCES ${ptx_folder}/harness.cpp ${ptx_folder}/texture_test.cpp DEPENDS warpline::programs)
warpline_test(ptx_compiled_forms_test SOURCES ${ptx_folder}/compiled_forms_test.cpp DEPENDS warpline::programs)
