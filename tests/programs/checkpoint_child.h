#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "platform/machine/checkpoint.h"
#include "tests/programs/random_run.h"
#include "tests/support/random_drives.h"

namespace warpline::test {

/// A random program on a random machine, which is to be stopped at one of its rests. Drawn alike in every
/// process.
struct StoppedProgram {
  explicit StoppedProgram(std::uint64_t seed) : random(splitmix64(seed)), program(random_program(random)) {
    start = initial_contents(program, random);
    config = random_machine(random);
    draw_drives(random, config);
    if (random.below(2) == 0) jitter = random.below(1000);
    timing = random.below(4) == 0 ? Timing::alternating : Timing::timed;
    // Two more grids, the first again, find warm caches; a rest before everything is one, too.
    program.grids.push_back(program.grids.front());
    program.grids.push_back(program.grids.front());
    start.registers.clear();
    rest = random.below(program.grids.size() + 1);
    ptx = to_ptx(program, start);
  }
  [[nodiscard]] std::unique_ptr<Play> play(std::shared_ptr<NetlistBackend> backend) const {
    return std::make_unique<Play>(program, start, config, ptx, std::move(backend), jitter);
  }

  Random random;
  Program program;
  Contents start;
  GpuConfig config;
  std::optional<std::uint64_t> jitter;
  Timing timing = Timing::timed;
  std::size_t rest = 0;
  std::string ptx;
};

/// Everything that must not differ, as text: cycles and counters, and the memories.
inline std::string text_of(const Outcome& out, Cycle now) {
  std::ostringstream text;
  text << "now " << now << "\n";
  for (const std::string& c : out.complaints) text << "complaint: " << c << "\n";
  for (const Cycle c : out.cycles) text << "cycles " << c << "\n";
  for (const auto& [path, value] : out.counters) text << path << " " << value << "\n";
  const auto add = [&text](const char* what, const auto& values) {
    text << what;
    for (const auto v : values) text << " " << +v;
    text << "\n";
  };
  for (const auto& slices : out.contents.slices) add("slices", slices);
  for (const auto& counters : out.contents.counters) add("counters", counters);
  add("shared", out.contents.shared_counters);
  add("registers", out.contents.registers);
  return text.str();
}

/// Reads the whole of a file.
inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a process that continues is told by its environment; `seed` 0: it is no such process.
struct Continuation {
  std::uint64_t seed = 0;
  std::string folder;  ///< with `saved`; gets `again` (saved anew at once) and `ended` (text_of)
  std::string carrier;

  static Continuation asked() {
    const char* const folder = std::getenv("WARPLINE_CONTINUE_FOLDER");
    if (folder == nullptr) return {};
    return {from_environment("WARPLINE_CONTINUE_SEED", 0), folder, std::getenv("WARPLINE_CONTINUE_CARRIER")};
  }
  /// Has this program run its test `name` so in a new process. Returns its exit status.
  [[nodiscard]] int in_new_process(const std::string& name) const {
    const pid_t child = fork();
    if (child == 0) {
      setenv("WARPLINE_CONTINUE_SEED", std::to_string(seed).c_str(), 1);
      setenv("WARPLINE_CONTINUE_FOLDER", folder.c_str(), 1);
      setenv("WARPLINE_CONTINUE_CARRIER", carrier.c_str(), 1);
      const std::string filter = "--gtest_filter=" + name;
      const std::string log = folder + "/log";
      if (freopen(log.c_str(), "w", stdout) == nullptr) _exit(1);
      execl("/proc/self/exe", "test", filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
      _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }
};

/// Restores `play` from folder/saved, saves it again at once, and runs the rest.
inline void continue_there(const StoppedProgram& stopped, Play& play, const std::string& folder) {
  std::ifstream in(folder + "/saved", std::ios::binary);
  const auto checkpoint = Checkpoint::read(in);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.faults().front().text();
  const Diagnostics faults = play.platform().restore(checkpoint.value());
  ASSERT_TRUE(faults.empty()) << faults.front().text();
  std::ofstream again(folder + "/again", std::ios::binary);
  ASSERT_TRUE(play.platform().save(again, checkpoint.value().note()).empty());
  again.close();
  Outcome out;
  play.run_grids(stopped.rest, stopped.program.grids.size(), out, stopped.timing);
  play.conclude(out);
  std::ofstream(folder + "/ended") << text_of(out, play.platform().now());
}

/// Runs `stopped` up to its rest and saves it there.
inline void save_at_rest(const StoppedProgram& stopped, Play& play, const std::string& folder, Outcome& out) {
  play.run_grids(0, stopped.rest, out, stopped.timing);
  std::ofstream saved(folder + "/saved", std::ios::binary);
  ASSERT_TRUE(play.platform().save(saved, "rest").empty());
}

/// A folder of its own, which goes with it.
struct CheckpointFolder {
  CheckpointFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "warpline-checkpoint-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~CheckpointFolder() { std::filesystem::remove_all(path); }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;
  std::string path;
};

/// One program: an uninterrupted twin; the same stopped, saved, restored in a new process that runs the test
/// `child`, and continued. `saver`: on what it is saved.
inline void try_continuation(std::uint64_t seed, const std::string& child, const std::string& carrier,
                             std::shared_ptr<NetlistBackend> saver) {
  const StoppedProgram stopped(seed);
  const CheckpointFolder folder;
  Outcome whole;
  const auto twin = stopped.play(std::make_shared<DirectBackend>());
  twin->run_grids(0, stopped.program.grids.size(), whole, stopped.timing);
  twin->conclude(whole);
  ASSERT_TRUE(whole.complaints.empty()) << ::testing::PrintToString(whole.complaints);
  const Cycle end = twin->platform().now();
  whole.cycles.erase(whole.cycles.begin(), whole.cycles.begin() + static_cast<std::ptrdiff_t>(stopped.rest));

  Outcome before;
  const auto saved = stopped.play(std::move(saver));
  save_at_rest(stopped, *saved, folder.path, before);
  if (::testing::Test::HasFatalFailure()) return;
  const int status = Continuation{seed, folder.path, carrier}.in_new_process(child);
  ASSERT_EQ(status, 0) << contents_of(folder.path + "/log");
  ASSERT_TRUE(contents_of(folder.path + "/again") == contents_of(folder.path + "/saved"))
      << "a platform that is restored and saved again is another one";
  ASSERT_EQ(contents_of(folder.path + "/ended"), text_of(whole, end))
      << "rest " << stopped.rest << ", jitter " << stopped.jitter.has_value() << ", timing "
      << static_cast<int>(stopped.timing);
}

}  // namespace warpline::test
