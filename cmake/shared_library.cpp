// libwarpline.so is the objects of all folders, and this.
#include <cstdio>

// Debian's SystemC has a main function that calls the program's sc_main. A program that uses no SystemC has none, and could not be
// linked with a library that needs SystemC; one that has its own never comes here.
extern "C" [[gnu::weak, gnu::visibility("default")]] int sc_main(int /*argc*/, char* /*argv*/[]) {
  std::fputs("this program has neither main() nor sc_main()\n", stderr);
  return 2;
}
