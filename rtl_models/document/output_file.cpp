#include "rtl_models/document/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/file_identity.h"

namespace warpline {
namespace {

/// How long a FIFO is waited for that nobody reads: 10 s.
constexpr unsigned kWaits = 500;
constexpr unsigned kWaitMicroseconds = 20000;
/// Of a file's own name, what the name of its unfinished copy repeats; together they must fit 255 bytes.
constexpr std::size_t kMostOfName = 200;

/// A name under which the system knows an open file that has none.
std::string name_of(int file) {
  return "/proc/self/fd/" + std::to_string(file);
}

std::string because(const std::string& path, const char* what, int error) {
  return path + ": " + what + ": " + std::strerror(error);
}

/// Why a folder that does not exist, and in it a file, cannot be made; empty: they can. `file`: without links
/// and detours. `unused`: a name that nothing has.
std::string why_no_folder(const std::string& path, const std::filesystem::path& file,
                          const std::string& unused) {
  struct stat found = {};
  std::filesystem::path folder = folder_of(file);
  while (::stat(folder.c_str(), &found) != 0) {
    if (errno != ENOENT) return because(path, "cannot be created", errno);
    const std::filesystem::path above = folder_of(folder);
    if (above == folder) return because(path, "cannot be created", ENOENT);
    folder = above;
  }
  if (!S_ISDIR(found.st_mode)) return path + ": cannot be created: " + folder.string() + " is no folder";
  const auto refused = [&](int error) {
    return path + ": cannot be created in " + folder.string() + ": " + std::strerror(error);
  };
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return refused(errno);
  const long most = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  for (const std::filesystem::path& part : file)
    if (most > 0 && part.native().size() > static_cast<std::size_t>(most)) return refused(ENAMETOOLONG);
  // Some file systems have files and take no folders.
  const std::string trial = (folder / unused).string();
  if (::mkdir(trial.c_str(), 0700) != 0) return refused(errno);
  ::rmdir(trial.c_str());
  return {};
}

/// The number of the process's own open file that `path` names as the system lists them; -1: it names none.
int own_open_file(const std::string& path) {
  struct stat folder = {}, own = {};
  const std::filesystem::path p(path);
  if (::stat(folder_of(p).c_str(), &folder) != 0 || ::stat("/proc/self/fd", &own) != 0) return -1;
  if (folder.st_dev != own.st_dev || folder.st_ino != own.st_ino) return -1;
  return number_from<int>(p.filename().string()).value_or(-1);
}

}  // namespace

OutputFile::~OutputFile() {
  give_up();
}

void OutputFile::give_up() {
  if (file_ < 0) return;
  ::close(file_);
  if (named_) ::unlink(temporary_.c_str());
  file_ = -1;
}

std::string OutputFile::open(const std::string& path) {
  WARPLINE_EXPECT(file_ < 0, "a file is begun once");
  return begin(path, false);
}

std::string OutputFile::refusal(const std::string& path) {
  OutputFile file;
  return file.begin(path, true);
}

std::string OutputFile::begin(const std::string& path, bool only_looks) {
  path_ = path;
  if (path.empty()) return "a file without a name cannot be created";
  const std::filesystem::path target = file_place(path).path;
  if (target.empty()) return because(path, "cannot be created", ELOOP);
  if (!target.has_filename()) return path + ": is a folder, not a file";
  target_ = target.string();
  struct stat found = {};
  const bool is_there = ::stat(target_.c_str(), &found) == 0;
  if (!is_there && errno != ENOENT) return because(path, "cannot be created", errno);
  if (is_there && S_ISDIR(found.st_mode)) return path + ": is a folder, not a file";
  if (is_there && S_ISSOCK(found.st_mode) && !is_open_file(target_))
    return path + ": is a socket, not a file";
  if (is_there && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    return because(path, "cannot be written", errno);
  const std::filesystem::path folder = folder_of(target);
  const std::string unfinished =
      target.filename().string().substr(0, kMostOfName) + ".part-" + std::to_string(::getpid());
  temporary_ = (folder / unfinished).string();
  const bool is_plain = is_there && S_ISREG(found.st_mode) && !is_open_file(target_);
  if (is_there && (!is_plain || found.st_nlink > 1)) {
    if (open_through(found.st_mode, only_looks)) return {};
    if (errno == EBADF) return path + ": cannot be written: it is closed, or open for reading only";
    return S_ISFIFO(found.st_mode) && errno == ENXIO ? path + ": cannot be written: nobody reads this pipe"
                                                     : because(path, "cannot be written", errno);
  }
  if (!is_there) {
    if (temporary_.size() >= PATH_MAX) return because(path, "cannot be created", ENAMETOOLONG);
    struct stat around = {};
    if (::stat(folder.c_str(), &around) != 0) {
      if (std::string why = why_no_folder(path, target, unfinished); only_looks || !why.empty()) return why;
      std::error_code error;
      std::filesystem::create_directories(folder, error);
      if (error) return path + ": the folder " + folder.string() + " cannot be made: " + error.message();
    }
  }
  if (open_beside() && is_there) {
    // A file of somebody else's stays theirs.
    if (::fchown(file_, found.st_uid, found.st_gid) != 0 || ::fchmod(file_, found.st_mode & 07777U) != 0)
      give_up();
  }
  if (file_ >= 0) return {};
  const int error = errno;
  if (is_there && open_through(found.st_mode, only_looks)) return {};
  return because(path, "cannot be created", error);
}

bool OutputFile::open_beside() {
  if (temporary_.size() >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  named_ = !open_nameless();
  if (named_) {
    ::unlink(temporary_.c_str());  // of a process that had our number
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  return file_ >= 0;
}

bool OutputFile::open_nameless() {
  const std::filesystem::path folder = folder_of(target_);
  file_ = ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
  if (file_ < 0) return false;
  if (::access(name_of(file_).c_str(), F_OK) == 0) return true;
  ::close(file_);  // it could never be given a name
  file_ = -1;
  return false;
}

/// `kind`: the file's mode, which says what it is. A FIFO is not opened only to look: its reader would
/// notice.
bool OutputFile::open_through(mode_t kind, bool only_looks) {
  named_ = false;
  through_ = true;
  truncates_ = false;
  const bool is_open = is_open_file(target_);
  const int own = is_open ? own_open_file(target_) : -1;
  if (own >= 0 && (::fcntl(own, F_GETFL) & O_ACCMODE) == O_RDONLY) {
    errno = EBADF;
    return false;
  }
  if (only_looks && !S_ISREG(kind)) return true;
  if (is_open) {
    // Another description of the same plain file would begin at its start, over what is there.
    file_ = own >= 0 ? ::fcntl(own, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                     : ::open(target_.c_str(), O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    return file_ >= 0;
  }
  truncates_ = S_ISREG(kind);
  const int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | (S_ISFIFO(kind) ? O_NONBLOCK : 0);
  for (unsigned n = 0;; ++n) {
    file_ = ::open(target_.c_str(), flags);
    if (file_ >= 0 || errno != ENXIO || !S_ISFIFO(kind) || n == kWaits) break;
    ::usleep(kWaitMicroseconds);
  }
  if (file_ >= 0 && S_ISFIFO(kind)) ::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_NONBLOCK);
  return file_ >= 0;
}

/// A link replaces nothing, so the complete file first gets the name from which it can be renamed.
bool OutputFile::give_name() {
  ::unlink(temporary_.c_str());  // of a process that had our number
  named_ = ::linkat(AT_FDCWD, name_of(file_).c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return named_;
}

void OutputFile::flush() {
  put(buffer_);
  buffer_.clear();
}

void OutputFile::put(std::string_view rest) {
  if (truncates_ && ::ftruncate(file_, 0) != 0) failure_ = because(path_, "cannot be written", errno);
  truncates_ = false;
  while (!rest.empty() && failure_.empty() && !unread_) {
    const ssize_t n = ::write(file_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EPIPE) {
      unread_ = true;
    } else if (n < 0) {
      failure_ = because(path_, "cannot be written", errno);
    } else {
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
  }
}

std::string OutputFile::close() {
  WARPLINE_EXPECT(file_ >= 0, "a file that was begun is closed");
  flush();
  if (failure_.empty() && !through_ && !named_ && !give_name())
    failure_ = because(path_, "cannot be put in its place", errno);
  const int file = file_;
  file_ = -1;
  if (::close(file) != 0 && failure_.empty()) failure_ = because(path_, "cannot be written", errno);
  if (through_) return failure_;
  if (failure_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0)
    failure_ = because(path_, "cannot be replaced", errno);
  if (!failure_.empty() && named_) ::unlink(temporary_.c_str());
  return failure_;
}

}  // namespace warpline
