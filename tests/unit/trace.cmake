find_package(LibLZMA REQUIRED)
find_package(ZLIB REQUIRED)
warpline_test(trace_test SOURCES trace_compression_test.cpp trace_facts_test.cpp trace_format_test.cpp trace_header_test.cpp
              trace_list_test.cpp trace_opcode_test.cpp trace_replay_test.cpp
              DEPENDS warpline::programs LibLZMA::LibLZMA ZLIB::ZLIB)
warpline_test(trace_fuzz_test SOURCES trace_fuzz_test.cpp DEPENDS warpline::programs LibLZMA::LibLZMA)
warpline_test(generator_test SOURCES generator_test.cpp DEPENDS warpline::programs)
