#include <cstdlib>

#include "platform/cli/command_line.h"

int main(int argc, char** argv) {
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return warpline::run_command_line(argc, argv);
}
