warpline_test(litmus_test SOURCES litmus/parser_test.cpp litmus/checker_test.cpp litmus/given_tests_test.cpp litmus/own_tests_test.cpp
                                  litmus/naive_checker_test.cpp litmus/naive_checker.cpp
              DEPENDS warpline::litmus)
warpline_test(litmus_programs_test SOURCES litmus/random_programs_test.cpp litmus/random_program.cpp DEPENDS warpline::litmus)
warpline_test(litmus_kernels_test SOURCES litmus/judge_test.cpp litmus/judge_memory_test.cpp litmus/random_kernels_test.cpp litmus/random_kernel.cpp DEPENDS warpline::litmus)
