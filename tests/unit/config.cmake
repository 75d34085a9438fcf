warpline_test(config_test
  SOURCES config_loader_test.cpp config_preset_test.cpp expression_test.cpp launch_file_test.cpp launch_host_test.cpp config_fuzz_test.cpp
  DEPENDS warpline::config)
