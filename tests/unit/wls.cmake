warpline_test(wls_test SOURCES wls/calls_test.cpp wls/diagnostics_test.cpp wls/language_test.cpp wls/schedule_test.cpp DEPENDS warpline::gpu)
