find_package(nlohmann_json REQUIRED)
warpline_test(statistics_test SOURCES statistics_test.cpp DEPENDS warpline::gpu nlohmann_json::nlohmann_json)
warpline_test(run_plan_test SOURCES run_plan_test.cpp DEPENDS warpline::gpu)
warpline_test(command_line_test SOURCES command_line_test.cpp DEPENDS warpline::cli nlohmann_json::nlohmann_json)
