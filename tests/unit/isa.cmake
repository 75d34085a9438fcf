warpline_test(isa_test SOURCES isa/atomic_test.cpp isa/half_atomic_test.cpp isa/cache_policy_test.cpp isa/data_type_test.cpp isa/mem_op_test.cpp isa/texel_test.cpp
                               isa/sass_cctl_test.cpp isa/sass_cctl_encoding_test.cpp
              DEPENDS warpline::isa)
target_compile_definitions(isa_test PRIVATE WARPLINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
