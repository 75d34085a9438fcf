#include "tests/fuzz/ordinary_user.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
  [[nodiscard]] std::string text() const {
    std::string bytes(static_cast<std::size_t>(lseek(file_, 0, SEEK_END)), '\0');
    if (pread(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail("pread");
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

void OrdinaryUser::write(const std::string& name, const std::string& bytes) const {
  std::ofstream out(folder_ / name, std::ios::binary);
  out << bytes;
  EXPECT_TRUE(out.flush().good()) << name;
}

void OrdinaryUser::become(const std::vector<std::string>& words, int out, int err) const {
  const rlimit limit{kLimit, kLimit};
  if (chdir(folder_.c_str()) != 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
      setrlimit(RLIMIT_CPU, &limit) != 0 || setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1) != 0)
    _exit(126);
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0))
    _exit(125);
  // Who has changed users is not looked into, not by the search for leaks either, until it says so.
  if (prctl(PR_SET_DUMPABLE, 1) != 0) _exit(124);
  std::vector<const char*> argv{"warpline"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  std::exit(run_command_line(static_cast<int>(argv.size()), argv.data()));
}

Ended OrdinaryUser::run(const std::vector<std::string>& words) const {
  const Capture out, err;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) become(words, out.file(), err.file());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

}  // namespace warpline::test
