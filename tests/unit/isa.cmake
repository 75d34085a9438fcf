warpline_test(isa_test SOURCES isa/atomic_test.cpp isa/data_type_test.cpp isa/mem_op_test.cpp
              DEPENDS warpline::isa)
