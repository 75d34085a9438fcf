#include "tests/fuzz/ordinary_user.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace warpline::test {
namespace fs = std::filesystem;
namespace {

constexpr rlim_t kLimit = 300;    // seconds of processor time, sanitizers included
constexpr uid_t kNobody = 65534;  // where root runs the test

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// How one of several commands ended, and where its output does.
struct Piece {
  int status = 0;
  off_t out = 0, err = 0;
};

/// A file without a name.
class Capture {
 public:
  Capture() : file_(memfd_create("output", 0)) {
    if (file_ < 0) fail("memfd_create");
  }
  ~Capture() { close(file_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] off_t end() const {
    struct stat s = {};
    if (fstat(file_, &s) != 0) fail("fstat");
    return s.st_size;
  }
  [[nodiscard]] std::string text(off_t from, off_t to) const {
    std::string bytes(static_cast<std::size_t>(to - from), '\0');
    if (pread(file_, bytes.data(), bytes.size(), from) != to - from) fail("pread");
    return bytes;
  }

 private:
  int file_;
};

}  // namespace

OrdinaryUser::OrdinaryUser() {
  std::string pattern = (fs::temp_directory_path() / "warpline-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) fail(pattern.c_str());
  folder_ = pattern;
  if (geteuid() == 0 && chown(pattern.c_str(), kNobody, kNobody) != 0) fail(pattern.c_str());
}

OrdinaryUser::~OrdinaryUser() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

bool OrdinaryUser::write(const std::string& name, const std::string& bytes) const {
  std::ofstream out(folder_ / name, std::ios::binary);
  out << bytes;
  const bool is_whole = out.flush().good();
  EXPECT_TRUE(is_whole) << name;
  if (geteuid() == 0) {
    EXPECT_EQ(chown((folder_ / name).c_str(), kNobody, kNobody), 0) << name;
  }
  return is_whole;
}

void OrdinaryUser::become() const {
  const rlimit limit{kLimit, kLimit};
  if (chdir(folder_.c_str()) != 0 || setrlimit(RLIMIT_CPU, &limit) != 0 ||
      setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1) != 0)
    _exit(126);
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0))
    _exit(125);
  // Who has changed users is not looked into, not by the search for leaks either, until it says so.
  if (prctl(PR_SET_DUMPABLE, 1) != 0) _exit(124);
}

std::vector<Ended> OrdinaryUser::run(const std::vector<std::string>& words, const std::string& name,
                                     const std::vector<std::string>& contents) const {
  std::vector<const char*> argv{"warpline"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  std::vector<Ended> all;
  while (all.size() < contents.size()) {
    const Capture out, err;
    int statuses[2];
    if (pipe(statuses) != 0) fail("pipe");
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
      become();
      close(statuses[0]);
      if (dup2(out.file(), STDOUT_FILENO) < 0 || dup2(err.file(), STDERR_FILENO) < 0) _exit(123);
      for (std::size_t n = all.size(); n < contents.size(); ++n) {
        if (!name.empty() && !write(name, contents[n])) _exit(121);
        const int status = run_command_line(static_cast<int>(argv.size()), argv.data());
        std::fflush(nullptr);
        const Piece piece{status, lseek(STDOUT_FILENO, 0, SEEK_CUR), lseek(STDERR_FILENO, 0, SEEK_CUR)};
        if (::write(statuses[1], &piece, sizeof piece) != sizeof piece) _exit(122);
      }
      std::exit(0);
    }
    close(statuses[1]);
    Piece from, to;
    while (::read(statuses[0], &to, sizeof to) == sizeof to) {
      all.push_back({to.status, out.text(from.out, to.out), err.text(from.err, to.err)});
      from = to;
    }
    close(statuses[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    // Where all were done it is what they left behind: leaks.
    if (all.size() == contents.size()) all.pop_back();
    all.push_back({128 + (WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)),
                   out.text(from.out, out.end()), err.text(from.err, err.end())});
  }
  return all;
}

}  // namespace warpline::test
