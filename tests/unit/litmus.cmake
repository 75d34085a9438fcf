warpline_test(litmus_test SOURCES litmus/parser_test.cpp litmus/checker_test.cpp litmus/given_tests_test.cpp litmus/own_tests_test.cpp
                                  litmus/naive_checker_test.cpp litmus/naive_checker.cpp
              DEPENDS warpline::litmus)
