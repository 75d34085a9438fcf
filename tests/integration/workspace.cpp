#include "tests/integration/workspace.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <system_error>

namespace warpline::test {
namespace fs = std::filesystem;
namespace {

/// Processor time after which a command counts as hanging, seconds; sanitizers included.
constexpr rlim_t kLimit = 300;
/// An ordinary user and group.
constexpr uid_t kNobody = 65534;
/// The command as that user finds it.
constexpr const char* kCopy = ".warpline";

/// Whether a process has a handler for a signal (proc(5), SigCgt).
bool catches(pid_t process, int signal) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);)
    if (line.rfind("SigCgt:", 0) == 0)
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U) != 0;
  return false;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

}  // namespace

Workspace::Workspace() {
  std::string pattern = (fs::temp_directory_path() / "warpline-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
  folder_ = pattern;
}

Workspace::~Workspace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Workspace::write(const std::string& name, const std::string& bytes) const {
  std::ofstream out(path(name), std::ios::binary);
  out << bytes;
  EXPECT_TRUE(out.flush().good()) << path(name);
  return path(name);
}

pid_t Workspace::start(const std::vector<std::string>& arguments, Start how) const {
  const std::string out = path(".stdout"), err = path(".stderr");
  std::vector<char*> argv;
  std::string program = how.ordinary && geteuid() == 0 ? path(kCopy) : WARPLINE_BINARY;
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    const int own_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int out_file = how.out >= 0 ? how.out : own_file;
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (chdir(folder_.c_str()) != 0 || dup2(out_file, STDOUT_FILENO) < 0 || dup2(err_file, STDERR_FILENO) < 0)
      _exit(126);
    if (how.ordinary && geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0))
      _exit(125);
    const rlimit limit{kLimit, kLimit};
    setrlimit(RLIMIT_CPU, &limit);
    execv(argv[0], argv.data());
    _exit(127);
  }
  return child;
}

Finished Workspace::finished(int status, const rusage& used) const {
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(path(".stdout")),
          read_file(path(".stderr")), static_cast<std::uint64_t>(used.ru_maxrss) * 1024};
}

Finished Workspace::warpline(const std::vector<std::string>& arguments) const {
  return wait_for(start(arguments));
}

Finished Workspace::with_output_to(const std::string& path, const std::vector<std::string>& arguments) const {
  int ends[2] = {-1, -1};
  if (path.empty()) {
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    close(ends[0]);
  } else {
    ends[1] = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
    if (ends[1] < 0) throw std::system_error(errno, std::generic_category(), path);
  }
  const pid_t child = start(arguments, {ends[1], false});
  close(ends[1]);
  return wait_for(child);
}

Finished Workspace::as_ordinary_user(const std::vector<std::string>& arguments) const {
  if (geteuid() == 0) {
    // The build may lie where others cannot look.
    if (!fs::exists(path(kCopy))) fs::copy_file(WARPLINE_BINARY, path(kCopy));
    EXPECT_EQ(chown(folder_.c_str(), kNobody, kNobody), 0);
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      EXPECT_EQ(lchown(entry.path().c_str(), kNobody, kNobody), 0) << entry.path();
  }
  return wait_for(start(arguments, {-1, true}));
}

Finished Workspace::wait_for(pid_t child) const {
  int status = 0;
  rusage used = {};
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
  }
  return finished(status, used);
}

Finished Workspace::signalled(const std::vector<std::string>& arguments, const std::vector<int>& signals,
                              const std::string& marker) const {
  const pid_t child = start(arguments);
  int status = 0;
  rusage used = {};
  for (std::size_t sent = 0; wait4(child, &status, WNOHANG, &used) == 0; usleep(1000)) {
    if (sent == signals.size()) continue;
    const bool due =
        sent == 0 ? catches(child, signals[0]) : count(read_file(path(".stderr")), marker) >= sent;
    if (due) kill(child, signals[sent++]);
  }
  return finished(status, used);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  EXPECT_TRUE(in.good()) << path;
  return bytes.str();
}

std::string in_source(const std::string& relative) {
  return std::string(WARPLINE_SOURCE_DIR "/") + relative;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace warpline::test
