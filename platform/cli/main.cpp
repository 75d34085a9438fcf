#include <fcntl.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>

#include "platform/cli/command_line.h"

namespace {

/// A standard stream that was closed must not become the next file that is opened. It is opened the wrong way
/// round, so that its use is still an error.
void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  // A reader that goes away and a file that grows too large are errors of the write, not the end: other files
  // are still to be written. A wish for a listing that comes too early is none.
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGUSR1}) std::signal(signal, SIG_IGN);
  setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
  return warpline::run_command_line(argc, argv);
}
