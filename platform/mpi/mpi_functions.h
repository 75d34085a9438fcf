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
  /// As wait(), of any rank and without waiting: where a message is there, `is_there` becomes true, and
  /// take() copies it.
  const char* (*look)(unsigned* rank, std::size_t* count, bool* is_there);
  /// Whether all is on its way that was sent.
  const char* (*is_sent)(bool* all);
  /// Waits until all is on its way that was sent.
  const char* (*sent)();
  const char* (*end)();
  void (*abort)(int status);
};

/// The name of the library's function that returns them.
inline constexpr const char* kMpiFunctions = "warpline_mpi_functions";

}  // namespace warpline
