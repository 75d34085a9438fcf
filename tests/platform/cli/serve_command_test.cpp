// `serve --record` and `serve --replay`, by clients of this process.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>
#include <thread>

#include "platform/cli/exit_status.h"
#include "platform/serve/record_stream.h"
#include "tests/platform/serve/served_gpu_bench.h"
#include "tests/platform/serve/served_peers.h"
#include "tests/support/command.h"

namespace warpline {
namespace serve_command_test {

using test::command;
using ::testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void copy_something(vfio_user::ClientMachine& client) {
  test::ServedDriver driver(client);
  auto* const memory = static_cast<std::uint8_t*>(client.allocate(8192));
  EXPECT_EQ(driver.copy(driver.bus(memory), driver.bus(memory) + 4096, 4096), 0);
}

/// Has software use a device that the command serves at `socket`, by a driver that copies something unless it
/// is another one. The command ends by a signal then.
test::Ended serve(const std::string& socket, const std::vector<std::string>& more,
                  const std::function<void(vfio_user::ClientMachine&)>& use = copy_something,
                  const std::string& device = "peer") {
  std::vector<std::string> words{"serve", "--socket", device + "=" + socket, "--timed"};
  words.insert(words.end(), more.begin(), more.end());
  auto ended = std::async(std::launch::async, [words] { return command(words); });
  std::error_code unknown;
  while (!std::filesystem::exists(socket, unknown) &&
         ended.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
  if (std::filesystem::exists(socket, unknown)) {
    auto client = vfio_user::ClientMachine::connect(socket, {});
    // The file is there a moment before somebody listens.
    for (unsigned tries = 0; !client.ok() && tries < 1000; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      client = vfio_user::ClientMachine::connect(socket, {});
    }
    EXPECT_TRUE(client.ok());
    if (client.ok()) use(*client.value());
    // Who has answered a client hears signals, too.
    ::kill(::getpid(), SIGTERM);
  }
  return ended.get();
}

TEST(ServeCommand, ReplaysWhatItRecorded) {
  const ScratchFolder folder;
  const std::string record = folder.path("new/record");
  const test::Ended recorded =
      serve(folder.path("socket"), {"--record", record, "--access-log", folder.path("log")});
  EXPECT_EQ(recorded.status, kDone) << recorded.err;
  const test::Ended replayed = command({"serve", "--replay", record, "--access-log", folder.path("again")});
  EXPECT_EQ(replayed.status, kDone) << replayed.err;
  EXPECT_THAT(replayed.err, HasSubstr(": all as recorded\n"));
  EXPECT_THAT(replayed.out, HasSubstr("serve.interrupts"));
  const std::string log = text_of(folder.path("log"));
  EXPECT_FALSE(log.empty());
  EXPECT_EQ(text_of(folder.path("again")), log);

  const std::string bytes = text_of(record);
  const auto with = [&](const std::string& changed) {
    std::ofstream(record, std::ios::binary) << changed;
    return command({"serve", "--replay", record, "--quiet"});
  };
  EXPECT_EQ(with(bytes.substr(0, bytes.size() - 7)).status, kDone);
  EXPECT_THAT(command({"serve", "--replay", record}).err, HasSubstr("until the recording was cut off"));
  std::string damaged = bytes;
  damaged[damaged.size() - 7] ^= 1;
  EXPECT_THAT(with(damaged).err, HasSubstr("it is damaged after"));
  EXPECT_THAT(with("warpline").err, HasSubstr("it is no record"));
  EXPECT_EQ(with("").status, kBadInput);
}

TEST(ServeCommand, ReplaysWhatGpusDid) {
  const ScratchFolder folder;
  const std::string record = folder.path("record"), one = folder.path("one");
  const auto run_kernel = [](vfio_user::ClientMachine& client) {
    test::GpuSoftware gpu(client);
    const std::uint64_t data = gpu.at(test::GpuSoftware::kData);
    EXPECT_EQ(gpu.run({test::kGpuProgram, "count", {gpu.address(data), 5}}), WL_GPU_STATE_DONE)
        << gpu.message();
    EXPECT_EQ(gpu.words(data, 1).front(), 5U);
  };
  const test::Ended recorded =
      serve(one,
            {"--socket", "gpu[0]=" + folder.path("zero"), "--socket", "nvme=" + folder.path("nvme"), "--gpu",
             "mini", "--set", "dram.channels=2", "--record", record, "--access-log", folder.path("log")},
            run_kernel, "gpu[1]");
  EXPECT_EQ(recorded.status, kDone) << recorded.err;
  EXPECT_THAT(recorded.out, HasSubstr("gpu[1].launches"));
  const test::Ended replayed = command({"serve", "--replay", record, "--access-log", folder.path("again")});
  EXPECT_EQ(replayed.status, kDone) << replayed.err;
  EXPECT_THAT(replayed.err, HasSubstr(": all as recorded\n"));
  EXPECT_THAT(replayed.out, HasSubstr("gpu[1].launches"));
  const std::string log = text_of(folder.path("log"));
  EXPECT_THAT(log, HasSubstr("gpu[1]  "));
  EXPECT_EQ(text_of(folder.path("again")), log);
}

TEST(ServeCommand, WritesWavesAndTimelinesOfRunsAndReplays) {
  const ScratchFolder folder;
  const std::string record = folder.path("record");
  const auto files = [&](const std::string& name) {
    return std::vector<std::string>{"--wave", folder.path(name + ".vcd"), "--timeline",
                                    folder.path(name + ".json")};
  };
  std::vector<std::string> words = files("run");
  words.insert(words.end(), {"--record", record});
  const test::Ended run = serve(folder.path("socket"), words);
  EXPECT_EQ(run.status, kDone) << run.err;
  const std::string seen = text_of(folder.path("run.vcd")), done = text_of(folder.path("run.json"));
  EXPECT_THAT(seen, HasSubstr("$scope module peer[0] $end"));
  EXPECT_THAT(done, HasSubstr("\"COPY\""));
  EXPECT_THAT(done, HasSubstr("vector 0"));
  EXPECT_EQ(done.substr(done.find_last_not_of(" \n")), "}\n");
  // What was recorded is seen again.
  words = {"serve", "--replay", record, "--quiet"};
  for (const std::string& word : files("replay")) words.push_back(word);
  const test::Ended again = command(words);
  EXPECT_EQ(again.status, kDone) << again.err;
  EXPECT_EQ(text_of(folder.path("replay.vcd")), seen);
  EXPECT_EQ(text_of(folder.path("replay.json")), done);
  const test::Ended bounded = command(
      {"serve", "--replay", record, "--quiet", "--timeline", folder.path("none.json"), "--window", "0:1"});
  EXPECT_EQ(bounded.status, kDone) << bounded.err;
  EXPECT_EQ(text_of(folder.path("none.json")).find("COPY"), std::string::npos);
}

TEST(ServeCommand, AReplayThatIsStoppedHasItsFiles) {
  const ScratchFolder folder;
  const std::string record = folder.path("record"), slow = folder.path("slow");
  ASSERT_EQ(serve(folder.path("socket"), {"--record", record, "--quiet"}).status, kDone);
  const std::string bytes = text_of(record);
  std::istringstream in(bytes);
  ASSERT_TRUE(RecordReader::open(in, record).ok());
  const auto heading = static_cast<std::size_t>(in.tellg());
  ASSERT_GT(bytes.size(), heading + 1);
  for (const int signal : {SIGINT, SIGTERM}) {
    std::error_code ignored;
    std::filesystem::remove(slow, ignored);
    ASSERT_EQ(mkfifo(slow.c_str(), 0600), 0);
    vfio_user::Descriptor pipe(open(slow.c_str(), O_RDWR | O_CLOEXEC));
    const auto put = [&](std::size_t from, std::size_t count) {
      EXPECT_EQ(write(pipe.number(), bytes.data() + from, count), static_cast<ssize_t>(count));
    };
    auto ended = std::async(std::launch::async, [&] {
      return command({"serve", "--replay", slow, "--wave", folder.path("wave.vcd"), "--timeline",
                      folder.path("timeline.json"), "--access-log", folder.path("log")});
    });
    // It has begun, and waits for the first event.
    put(0, heading + 1);
    struct sigaction now {};
    for (unsigned tries = 0; tries < 20'000; ++tries) {
      sigaction(signal, nullptr, &now);
      if (now.sa_handler != SIG_DFL) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const bool hears = now.sa_handler != SIG_DFL;
    EXPECT_TRUE(hears);
    if (hears) ::kill(::getpid(), signal);
    put(heading + 1, bytes.size() - heading - 1);
    pipe = {};
    const test::Ended end = ended.get();
    EXPECT_EQ(end.status, kInterrupted);
    EXPECT_THAT(end.err, HasSubstr("0 events replayed, up to cycle"));
    EXPECT_THAT(end.err, HasSubstr(": interrupted\n"));
    EXPECT_THAT(text_of(folder.path("wave.vcd")), HasSubstr("$enddefinitions $end"));
    const std::string timeline = text_of(folder.path("timeline.json"));
    EXPECT_EQ(timeline.substr(timeline.find_last_not_of(" \n")), "}\n");
    EXPECT_TRUE(std::filesystem::exists(folder.path("log"), ignored));
  }
}

/// Takes a file as its disk while somebody looks at another one for the second time, if it is quick enough.
class Rival {
 public:
  Rival(const std::string& disk, const std::string& other)
      : other_(other), file_(open(disk.c_str(), O_RDWR | O_CLOEXEC)), looks_(inotify_init1(IN_CLOEXEC)) {
    inotify_add_watch(looks_.number(), other.c_str(), IN_OPEN | IN_CLOSE_WRITE);
    thread_ = std::thread([this] {
      constexpr unsigned kOpenedAgain = 3;  // it is opened, closed, and opened
      for (unsigned seen = 0; seen < kOpenedAgain; ++seen) {
        inotify_event event{};
        if (read(looks_.number(), &event, sizeof event) != sizeof event) return;
      }
      flock(file_.number(), LOCK_EX | LOCK_NB);
    });
  }
  ~Rival() {
    // It has not seen enough of a command that ended early.
    for (unsigned i = 0; i < 2; ++i)
      const vfio_user::Descriptor look(open(other_.c_str(), O_RDWR | O_CLOEXEC));
    thread_.join();
  }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

 private:
  std::string other_;
  vfio_user::Descriptor file_, looks_;
  std::thread thread_;
};

TEST(ServeCommand, SaysSoWhenADiskIsTakenAfterItWasLookedAt) {
  const ScratchFolder folder;
  const std::string disk = folder.path("disk"), next = folder.path("next");
  for (const std::string& path : {disk, next}) std::ofstream(path) << "";
  std::filesystem::resize_file(disk, 8192);
  // To look at this one takes a while, and the first has been looked at by then.
  std::filesystem::resize_file(next, std::uintmax_t{256} << 20U);
  // Who is told before the system is made is told with the name of the key.
  std::string said;
  for (unsigned tries = 0;
       tries < 200 && said != "warpline: error: " + disk + ": is in use as somebody's disk\n"; ++tries) {
    const Rival rival(disk, next);
    const test::Ended ended = command({"serve", "--socket", folder.path("socket"), "--disk", disk, "--disk",
                                       next, "--record", "/dev/full"});
    EXPECT_EQ(ended.status, kBadInput);
    said = ended.err;
  }
  EXPECT_EQ(said, "warpline: error: " + disk + ": is in use as somebody's disk\n");
}

TEST(ServeCommand, RefusesWhatMakesNoSense) {
  const ScratchFolder folder;
  const auto refused = [](const std::vector<std::string>& words, const std::string& reason) {
    const test::Ended e = command(words);
    EXPECT_EQ(e.status, kBadInput);
    EXPECT_THAT(e.err, HasSubstr(reason));
  };
  const std::string none = folder.path("none");
  refused({"serve"}, "--socket is missing");
  refused({"serve", "--replay", none}, "No such file");
  refused({"serve", "--replay", folder.path()}, "Is a directory");
  refused({"serve", "--replay", none, "--timed"}, "--timed says nothing of a replay");
  refused({"serve", "--replay", none, "--gpu", "v100"}, "--gpu says nothing of a replay");
  refused({"serve", "--replay", none, "--socket", none}, "--socket says nothing of a replay");
  refused({"serve", "--replay", none, "--access-log", none}, "each needs a file of its own");
  const std::string socket = folder.path("socket");
  refused({"serve", "--socket", socket, "--map", "peer"}, "it names no BAR");
  refused({"serve", "--socket", socket, "--map", "nvme[0].bar[4]"}, "no such device is served");
  refused({"serve", "--socket", socket, "--map", "peer[0].bar[0]"}, "registers are there");
  refused({"serve", "--socket", socket, "--map", "peer[0].bar[2]"}, "interrupts");
  refused({"serve", "--socket", "nvme=" + socket, "--map", "nvme[0].bar[4]"}, "no such BAR");
  refused({"serve", "--socket", socket, "--map", "peer[0].bar[4]", "--record", none}, "do not go together");
  refused({"serve", "--replay", none, "--map", "peer[0].bar[4]"}, "--map says nothing of a replay");
  refused({"serve", "--socket", socket, "--window", "0:1"}, "neither is given");
  refused({"serve", "--socket", socket, "--wave", folder.path()}, folder.path());
  refused({"serve", "--socket", socket, "--wave", none, "--probe", "per*"}, "matches no block");
  refused({"serve", "--socket", "gpu=" + socket, "--timeline", none}, "it shows queue devices");
  refused({"serve", "--socket", socket, "--record", "/dev/full"}, "No space left on device");
  refused({"serve", "--socket", socket, "--record", folder.path()}, folder.path());
  const std::string gpu = "gpu[0]=" + socket;
  refused({"serve", "--socket", "gpu[8]=" + socket}, "there is no device \"gpu[8]\"");
  refused({"serve", "--socket", "gpu[x]=" + socket}, "there is no device \"gpu[x]\"");
  refused({"serve", "--socket", gpu, "--socket", "gpu=" + socket}, "gpu[0] has a socket already");
  refused({"serve", "--socket", "gpu="}, "it names no file");
  refused({"serve", "--socket", gpu, "--set", "pcie.bar_bytes=0"}, "pcie.registers: must be false");
  refused({"serve", "--socket", gpu, "--gpu", "mini", "--set", "vidmem_bytes=1310720"},
          "leave software nothing");
  refused({"serve", "--socket", gpu, "--gpu", "mini", "--set", "pcie.bar_bytes=1048576"},
          "pcie.bar_bytes: software's part");
  refused({"serve", "--socket", gpu, "--gpu", "mini", "--map", "gpu.bar[0]"}, "reached through caches");
  refused({"serve", "--socket", socket, "--map", "peer.bar[4]", "--map", "peer[0].bar[4]"}, "named twice");
}

}  // namespace serve_command_test
}  // namespace warpline
