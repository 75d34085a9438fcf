#include "platform/mpi/mpi_job.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <vector>

#include "platform/mpi/mpi_functions.h"

namespace warpline {
namespace {

/// Where the library lies from where the command does: as it is built, and as it is installed.
constexpr const char* kFolders[] = {"../../mpi", "../lib/warpline", "../lib/x86_64-linux-gnu/warpline"};
constexpr const char* kLibrary = "libwarpline_mpi.so";

std::string command_folder() {
  std::string command(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", command.data(), command.size());
  command.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return command.substr(0, command.rfind('/') + 1);
}

const MpiFunctions& functions() {
  const std::string command = command_folder();
  for (const char* folder : kFolders) {
    const std::string library = command + folder + "/" + kLibrary;
    if (::access(library.c_str(), F_OK) != 0) continue;
    // Open MPI looks for its parts among what is loaded for all.
    void* const loaded = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    void* const found = loaded == nullptr ? nullptr : ::dlsym(loaded, kMpiFunctions);
    if (found == nullptr) throw ExchangeError(std::string("MPI cannot be loaded: ") + ::dlerror());
    return *reinterpret_cast<const MpiFunctions* (*)()>(found)();
  }
  throw ExchangeError(std::string("this warpline was built without MPI, or ") + kLibrary +
                      " is not beside it");
}

/// `what`: "be started".
void check(const char* why, const char* what) {
  if (why != nullptr) throw ExchangeError(std::string("MPI cannot ") + what + ": " + why);
}
void check(const char* why, const char* what, unsigned rank) {
  if (why != nullptr) check(why, (std::string(what) + " " + std::to_string(rank)).c_str());
}

}  // namespace

std::shared_ptr<MpiJob> MpiJob::start() {
  std::shared_ptr<MpiJob> job(new MpiJob(functions()));
  check(job->mpi_.start(&job->rank_, &job->ranks_), "be started");
  return job;
}

void MpiJob::post(unsigned rank, std::string message) {
  const std::string& kept = posted_.emplace_back(std::move(message));
  check(mpi_.send(rank, kept.data(), kept.size()), "send to rank", rank);
}

std::optional<std::pair<unsigned, std::string>> MpiJob::next() {
  bool all = posted_.empty(), is_there = false;
  if (!all) {
    check(mpi_.is_sent(&all), "send to other ranks");
    if (all) posted_.clear();
  }
  unsigned rank = 0;
  std::size_t bytes = 0;
  check(mpi_.look(&rank, &bytes, &is_there), "hear other ranks");
  if (!is_there) return std::nullopt;
  std::string message(bytes, '\0');
  check(mpi_.take(message.data()), "hear rank", rank);
  return std::pair(rank, std::move(message));
}

void MpiJob::end() {
  if (!posted_.empty()) check(mpi_.sent(), "send to other ranks");
  posted_.clear();
  check(mpi_.end(), "be ended");
}

void MpiJob::abort(int status) {
  mpi_.abort(status);
  std::_Exit(status);
}

std::vector<std::string> MpiJob::carry(std::vector<std::string> to) {
  for (unsigned r = 0; r < ranks_; ++r)
    if (r != rank_) check(mpi_.send(r, to[r].data(), to[r].size()), "send to rank", r);
  std::vector<std::string> from(ranks_);
  for (unsigned r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    std::size_t bytes = 0;
    check(mpi_.wait(r, &bytes), "hear rank", r);
    from[r].resize(bytes);
    check(mpi_.take(from[r].data()), "hear rank", r);
  }
  check(mpi_.sent(), "send to other ranks");
  return from;
}

}  // namespace warpline
