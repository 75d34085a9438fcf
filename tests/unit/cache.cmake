warpline_test(cache_test SOURCES cache/tag_array_test.cpp cache/miss_table_test.cpp cache/read_only_cache_test.cpp
              DEPENDS warpline::cache)
