#include "platform/mpi/mpi_functions.h"

#include <mpi.h>

#include <climits>
#include <string>
#include <vector>

namespace warpline {
namespace {

/// Of all messages: MPI keeps those of two processes in order, and each makes the same calls.
constexpr int kTag = 1;

std::string why;
std::vector<MPI_Request> sending;
MPI_Message waited = MPI_MESSAGE_NULL;
int waited_bytes = 0;

const char* outcome(int error) {
  if (error == MPI_SUCCESS) return nullptr;
  why.assign(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(error, why.data(), &length);
  why.resize(static_cast<std::size_t>(length));
  return why.c_str();
}

const char* start(unsigned* rank, unsigned* ranks) {
  int level = MPI_THREAD_SINGLE, own = 0, all = 1;
  // Other threads tick components, and never come here.
  if (const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level); error != MPI_SUCCESS)
    return outcome(error);
  if (level < MPI_THREAD_FUNNELED) return "it is none for programs with several threads";
  for (const int error : {MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
                          MPI_Comm_rank(MPI_COMM_WORLD, &own), MPI_Comm_size(MPI_COMM_WORLD, &all)})
    if (error != MPI_SUCCESS) return outcome(error);
  *rank = static_cast<unsigned>(own);
  *ranks = static_cast<unsigned>(all);
  return nullptr;
}

const char* send(unsigned rank, const char* bytes, std::size_t count) {
  if (count > INT_MAX) return "a message has more than 2 GiB";
  return outcome(MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, static_cast<int>(rank), kTag,
                           MPI_COMM_WORLD, &sending.emplace_back(MPI_REQUEST_NULL)));
}

const char* wait(unsigned rank, std::size_t* count) {
  MPI_Status status;
  if (const int error = MPI_Mprobe(static_cast<int>(rank), kTag, MPI_COMM_WORLD, &waited, &status);
      error != MPI_SUCCESS)
    return outcome(error);
  const int error = MPI_Get_count(&status, MPI_BYTE, &waited_bytes);
  *count = static_cast<std::size_t>(waited_bytes);
  return outcome(error);
}

const char* look(unsigned* rank, std::size_t* count, bool* is_there) {
  MPI_Status status;
  int found = 0;
  if (const int error = MPI_Improbe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &found, &waited, &status);
      error != MPI_SUCCESS)
    return outcome(error);
  *is_there = found != 0;
  if (found == 0) return nullptr;
  *rank = static_cast<unsigned>(status.MPI_SOURCE);
  const int error = MPI_Get_count(&status, MPI_BYTE, &waited_bytes);
  *count = static_cast<std::size_t>(waited_bytes);
  return outcome(error);
}

const char* take(char* bytes) {
  return outcome(MPI_Mrecv(bytes, waited_bytes, MPI_BYTE, &waited, MPI_STATUS_IGNORE));
}

const char* is_sent(bool* all) {
  int done = 0;
  const int error = MPI_Testall(static_cast<int>(sending.size()), sending.data(), &done, MPI_STATUSES_IGNORE);
  *all = done != 0;
  if (done != 0) sending.clear();
  return outcome(error);
}

const char* sent() {
  const int error = MPI_Waitall(static_cast<int>(sending.size()), sending.data(), MPI_STATUSES_IGNORE);
  sending.clear();
  return outcome(error);
}

const char* end() {
  return outcome(MPI_Finalize());
}

void abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
}

constexpr MpiFunctions kFunctions = {start, send, wait, take, look, is_sent, sent, end, abort};

}  // namespace
}  // namespace warpline

extern "C" [[gnu::visibility("default")]] const warpline::MpiFunctions* warpline_mpi_functions() {
  return &warpline::kFunctions;
}
