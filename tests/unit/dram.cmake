warpline_test(dram_test SOURCES dram/dram_core_test.cpp dram/dram_scheduler_test.cpp dram/dram_test.cpp
              DEPENDS warpline::dram)
