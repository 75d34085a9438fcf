#include "warpline/cli/command_line.h"

int main(int argc, char** argv) {
  return warpline::run_command_line(argc, argv);
}
