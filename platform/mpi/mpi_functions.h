#pragma once

#include <cstddef>

namespace warpline {

/// What libwarpline_mpi.so does for the command, which alone knows MPI. Where something cannot be, each
/// returns why, until the next call; else null.
struct MpiFunctions {
  const char* (*start)(unsigned* rank, unsigned* ranks);
  /// Sends `bytes` to another rank, and returns at once: they stay as they are until sent().
  const char* (*send)(unsigned rank, const char* bytes, std::size_t count);
  /// Waits for the next message of a rank, of `count` bytes, which take() copies.
  const char* (*wait)(unsigned rank, std::size_t* count);
  const char* (*take)(char* bytes);
  /// Waits until all is on its way that was sent.
  const char* (*sent)();
  const char* (*end)();
  void (*abort)(int status);
};

/// The name of the library's function that returns them.
inline constexpr const char* kMpiFunctions = "warpline_mpi_functions";

}  // namespace warpline
