warpline_test(mmio_test SOURCES mmio/register_file_test.cpp mmio/register_file_fuzz_test.cpp mmio/access_log_test.cpp DEPENDS warpline::mmio)
