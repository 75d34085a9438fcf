#include "platform/sweep/child_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <string_view>
#include <system_error>

#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr int kWritten = 3;  ///< the child's files: statistics, profile, series
constexpr std::array<const char*, 3> kPaths = {"/proc/self/fd/3", "/proc/self/fd/4", "/proc/self/fd/5"};
constexpr std::size_t kSaid = 4096;  ///< bytes of what a child said that are kept
constexpr std::size_t kMostWritten = 1U << 30U;

int memory_file(const char* name) {
  const int file = memfd_create(name, MFD_CLOEXEC);
  if (file < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  return file;
}

/// The last `most` bytes of a file.
std::string end_of(int file, std::size_t most) {
  struct stat s {};
  if (file < 0) return {};
  if (fstat(file, &s) != 0 || s.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(s.st_size);
  std::string text(std::min(size, most), '\0');
  const ssize_t got = pread(file, text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

/// `text` as UTF-8: each byte of it that is no part of such a character is U+FFFD.
std::string utf8_of(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

/// In the child: its files, its signals, and its work.
[[noreturn]] void work(const Command& command, const std::vector<std::string>& words,
                       const std::array<int, 3>& written, int said, pid_t parent) {
  // Dies with the parent, even where that was killed before this.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  const int nothing = open("/dev/null", O_RDONLY);
  // Its files may lie where others of these go: out of the way first.
  std::array<int, 3> kept = {-1, -1, -1};
  for (std::size_t n = 0; n < kept.size(); ++n)
    if (written[n] >= 0) kept[n] = fcntl(written[n], F_DUPFD, 10);
  const int heard = fcntl(said, F_DUPFD, 10);
  dup2(nothing, 0);
  dup2(heard, 1);
  dup2(heard, 2);
  for (std::size_t n = 0; n < kept.size(); ++n) {
    const int place = kWritten + static_cast<int>(n);
    if (kept[n] >= 0) {
      dup2(kept[n], place);
    } else {
      close(place);
    }
  }
  close_range(kWritten + static_cast<unsigned>(kept.size()), ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int status = 1;
  try {
    status = command(words);
  } catch (const std::exception& e) {
    dprintf(2, "error: %s\n", e.what());
    status = 2;
  }
  // What the parent will do at its end is not the child's.
  fflush(nullptr);
  _exit(status);
}

}  // namespace

const char* ChildRun::statistics_path() {
  return kPaths[0];
}

const char* ChildRun::profile_path() {
  return kPaths[1];
}

const char* ChildRun::series_path() {
  return kPaths[2];
}

ChildRun::ChildRun(const Command& command, const std::vector<std::string>& words) {
  try {
    said_ = memory_file("said");
    for (std::size_t n = 0; n < written_.size(); ++n)
      if (std::find(words.begin(), words.end(), kPaths[n]) != words.end() || n == 0)
        written_[n] = memory_file("written");
  } catch (...) {
    close_files();
    throw;
  }
  fflush(nullptr);
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) work(command, words, written_, said_, parent);
  // By its number: the header of glibc 2.36 cannot be used from C++.
  if (child_ > 0) process_file_ = static_cast<int>(syscall(SYS_pidfd_open, child_, 0));
  // It has ended, and somebody else has heard how: a file that is readable says so, too.
  if (child_ > 0 && process_file_ < 0 && errno == ESRCH)
    process_file_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (process_file_ < 0) {
    const int why = errno;
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close_files();
    throw std::system_error(why, std::generic_category(), "a process for a run");
  }
}

ChildRun::~ChildRun() {
  if (child_ > 0) {
    ChildRun::kill();
    waitpid(child_, nullptr, 0);
  }
  close_files();
}

void ChildRun::close_files() {
  for (const int file : {process_file_, said_, written_[0], written_[1], written_[2]})
    if (file >= 0) close(file);
}

void ChildRun::kill() {
  // Its group first: it may have started others.
  ::kill(-child_, SIGKILL);
  ::kill(child_, SIGKILL);
}

bool ChildRun::ended(End& end) {
  int status = 0;
  struct rusage used {};
  if (child_ <= 0) return false;
  const pid_t got = wait4(child_, &status, WNOHANG, &used);
  if (got == 0 || (got < 0 && errno != ECHILD)) return false;
  // Somebody else has heard how it ended: it is lost.
  if (got < 0) status = SIGKILL;
  child_ = -1;
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.killed_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.wall_s = seconds();
  const auto time_of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  end.cpu_s = time_of(used.ru_utime) + time_of(used.ru_stime);
  end.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  end.statistics = end_of(written_[0], kMostWritten);
  end.profile = end_of(written_[1], kMostWritten);
  end.series = end_of(written_[2], kMostWritten);
  end.said = utf8_of(end_of(said_, kSaid));
  return true;
}

}  // namespace warpline::sweep
