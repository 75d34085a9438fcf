warpline_test(trace_test SOURCES trace_facts_test.cpp DEPENDS warpline::programs)
